"""Errors that carry a sentence for the person at the screen."""

import re
from collections.abc import Callable

_LONGEST_WORD = 120
#: How Python writes bytes in an error's words.
_BYTES = re.compile(r"""b(['"])(?:\\.|(?!\1).)*\1""")


class InputError(ValueError):
    """Bad input: one sentence that says what was found, what was expected and what to do."""


class Cancelled(Exception):
    """Raised inside a computation when its user asked it to stop."""


#: What long work calls now and then; it raises `Cancelled` once its user has asked it to stop.
Check = Callable[[], None]


def never() -> None:
    """The check of work that nobody stops."""


def one_line(text: str, most: int = 500) -> str:
    """Text on one line, with a question mark for what cannot be printed, long words and long lines cut."""
    words = (word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}…" for word in text.split())
    line = "".join(letter if letter.isprintable() else "?" for letter in " ".join(words))
    return line if len(line) <= most else f"{line[:most].rstrip(' .')} …."


def short(error: BaseException, most: int = 120) -> str:
    """A library's words on one printable line of at most ``most`` characters, for use inside a sentence."""
    text = one_line(_BYTES.sub("some bytes", str(error)), 10**6) or type(error).__name__
    return text if len(text) <= most else text[: most - 1] + "…"
