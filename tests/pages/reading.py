"""What a reader sees of a page in AppTest."""

import re
from collections.abc import Iterator
from typing import Any


def as_shown(markdown: str) -> str:
    """The text of a Markdown sentence without its escapes and what cannot be seen."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown.replace("\u2060", ""))


def elements(block: Any) -> Iterator[Any]:
    """What Streamlit sends for every element and block below one, such as `AppTest._tree`."""
    for child in getattr(block, "children", {}).values():
        if getattr(child, "proto", None) is not None:
            yield child.proto
        yield from elements(child)
