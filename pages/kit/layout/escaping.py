"""Words of others on a page: what comes from a file, an address, a run or a person is shown as it is.

Streamlit reads Markdown, and more (mathematics, colours, icons, emoji, links), in nearly every text: labels, tooltips,
captions, messages. A name in a file could so draw a picture from elsewhere into everybody's browser.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from deconditioning.wording import table_cell

#: Longer texts of others are cut here: no label or sentence needs more.
MOST_CHARACTERS = 1500
#: Invisible, and no letter: after it a colon begins no directive, icon, emoji or address.
_JOINER = "\u2060"
_PUNCTUATION = re.compile(r"[\\`*_\[\]<$~&]")
_BEGINS_BLOCK = re.compile(r"^([-+=#>]|\d+(?=[.)]))")
_MARKS, _ESCAPE = re.compile(r"\*\*|(?<!\\)[`$]|</?[a-z]+ ?/?>"), re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"`([^`]+)`")
_BEGINS_DIRECTIVE = re.compile(r":(?=[\w+/-])(?!\d{1,2}(?!\w))|@(?=\w)|(?i:\bwww)(?=\.)")
_TURNS_TEXT = re.compile("[\u202a-\u202e\u2066-\u2069]")


def plain(text: object) -> str:
    """``text`` as Markdown that shows it as it is, on one line: for every Streamlit text that reads Markdown.

    Options of a select box and cells of a data frame are shown as they are without it.
    """
    return _begun(_escaped(_line(text)))


def sentence_of(text: object) -> str:
    """A sentence of `core`, which may quote others, as Markdown: as `plain`, but `` `names` `` stand as code."""
    parts = _CODE.split(_line(text))
    return _begun("".join(f"`{part}`" if index % 2 else _escaped(part) for index, part in enumerate(parts)))


#: What a table shows where there is no value.
MISSING = "–"


def cells(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows for `st.dataframe`, whose button saves them as CSV: texts that a spreadsheet would run are plain text."""
    return [{table_cell(name): _cell(value) for name, value in row.items()} for row in rows]


def _cell(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_cell(each) for each in value]
    return table_cell(value) if isinstance(value, str) else value


def unformatted(markdown: str) -> str:
    """A sentence of ours without its marks and escapes, for what is no Markdown."""
    return _ESCAPE.sub(r"\1", _MARKS.sub("", markdown)).replace(_JOINER, "")


def _line(text: object) -> str:
    """One line without control characters, not too long."""
    line = _TURNS_TEXT.sub("", " ".join(str(text).split()))
    line = "".join(letter for letter in line if unicodedata.category(letter) != "Cc")
    return line if len(line) <= MOST_CHARACTERS else line[: MOST_CHARACTERS - 1] + "…"


def _escaped(line: str) -> str:
    return _PUNCTUATION.sub(r"\\\g<0>", _BEGINS_DIRECTIVE.sub(lambda match: match.group() + _JOINER, line))


def _begun(line: str) -> str:
    """The line, whose first mark begins no list, heading, quotation or rule: ``\\-``, ``1\\.``."""
    return _BEGINS_BLOCK.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", line)
