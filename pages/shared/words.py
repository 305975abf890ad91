"""Words of others on a page: what comes from a file, an address, a run or a person is shown as it is.

Streamlit reads Markdown, and more (mathematics, colours, icons, emoji, links), in nearly every text: labels, tooltips,
captions, messages. A name in a file could so draw a picture from elsewhere into everybody's browser.
"""

import re
import unicodedata

#: Longer texts of others are cut here: no label or sentence needs more.
MOST_CHARACTERS = 1500
#: Invisible, and no letter: after it a colon begins no directive, icon, emoji or address.
_JOINER = "\u2060"
_PUNCTUATION = re.compile(r"[\\`*_\[\]<$~&]")
_BEGINS_BLOCK = re.compile(r"^([-+=#>]|\d+(?=[.)]))")
_BEGINS_DIRECTIVE = re.compile(r":(?=[\w+/-])(?!\d{1,2}(?!\w))|@(?=\w)|(?i:\bwww)(?=\.)")
_TURNS_TEXT = re.compile("[\u202a-\u202e\u2066-\u2069]")


def plain(text: object) -> str:
    """``text`` as Markdown that shows it as it is, on one line: for every Streamlit text that reads Markdown.

    Options of a select box and cells of a data frame are shown as they are without it.
    """
    line = _TURNS_TEXT.sub("", " ".join(str(text).split()))
    line = "".join(letter for letter in line if unicodedata.category(letter) != "Cc")
    if len(line) > MOST_CHARACTERS:
        line = line[: MOST_CHARACTERS - 1] + "…"
    line = _BEGINS_DIRECTIVE.sub(lambda found: found.group() + _JOINER, line)
    line = _PUNCTUATION.sub(r"\\\g<0>", line)
    return _BEGINS_BLOCK.sub(lambda found: _first_escaped(found.group()), line)


def _first_escaped(begin: str) -> str:
    """A mark that would begin a list or a rule, told to be text: ``\\-``, or ``1\\`` before the dot of ``1.``"""
    return f"{begin}\\" if begin[0].isdigit() else f"\\{begin}"
