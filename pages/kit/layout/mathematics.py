"""Prose and formulas, written as one text, as Streamlit's Markdown wants them."""

import re

_BETWEEN_DOLLARS = re.compile(r"(?<!\\)(\$\$?)(.+?)(?<!\\)\1", re.DOTALL)
_POWER_OF_TEN = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)")
_GROUP = re.compile(r"(?<!\\)\$\$(.+?)(?<!\\)\$\$", re.DOTALL)
_NEXT = re.compile(r"(?<=,)\s*\\q?quad\b|\\qquad\b")


def in_parts(text: str) -> list[str]:
    """Markdown, part by part: prose with ``$…$`` in it, or the formulas of one ``$$ … $$``, each displayed.

    Streamlit displays a formula only between lines that hold nothing but ``$$``. In a group, ``,\\quad`` or
    ``\\qquad`` ends one formula and begins the next: they stand side by side where there is room. Numbers such as
    ``1e-05`` are written as powers of ten.
    """
    pieces = _GROUP.split(_BETWEEN_DOLLARS.sub(_with_powers, text))
    parts = [_displayed(piece) if index % 2 else piece.strip() for index, piece in enumerate(pieces)]
    return [part for part in parts if part]


def _displayed(group: str) -> str:
    return "\n".join(f"$$\n{formula.strip()}\n$$" for formula in _NEXT.split(group) if formula.strip())


def _with_powers(result: re.Match[str]) -> str:
    return result[1] + _POWER_OF_TEN.sub(_power, result[2]) + result[1]


def _power(result: re.Match[str]) -> str:
    times = "" if result[1] == "1" else rf"{result[1]} \cdot "
    return rf"{times}10^{{{int(result[2])}}}"
