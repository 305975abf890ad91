"""Markdown with $…$ as HTML with MathML, which browsers draw by themselves."""

import re
from html import escape
from typing import Literal

from latex2mathml.converter import convert

from pages.kit.layout.mathematics import in_parts

_DISPLAYED = re.compile(r"\$\$\n(.+?)\n\$\$", re.DOTALL)
_INLINE = re.compile(r"(?<!\\)\$(.+?)(?<!\\)\$", re.DOTALL)
_STRONG = re.compile(r"\*\*(.+?)\*\*")
_NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'


def html(markdown: str) -> str:
    """Prose as paragraphs, displayed formulas as blocks; ``**…**`` is bold."""
    return "".join(map(_part, in_parts(markdown)))


def _part(part: str) -> str:
    formulas = _DISPLAYED.findall(part)
    return "".join(_mathml(formula, "block") for formula in formulas) if formulas else f"<p>{inline(part)}</p>"


def inline(text: str) -> str:
    """One paragraph's text with its formulas."""
    pieces = _INLINE.split(text)
    return "".join(
        _mathml(piece, "inline") if at % 2 else _STRONG.sub(r"<b>\1</b>", escape(piece, quote=False))
        for at, piece in enumerate(pieces)
    )


def _mathml(formula: str, display: Literal["block", "inline"]) -> str:
    """A formula; inside a page it needs no namespace."""
    return convert(formula.strip(), display=display).replace(_NAMESPACE, "")
