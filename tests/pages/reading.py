"""What a reader sees of a page in AppTest."""

import re


def as_shown(markdown: str) -> str:
    """The text of a Markdown sentence without its escapes and what cannot be seen."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown.replace("\u2060", ""))
