"""A visitor's mark, which identifies what belongs to them: 64 hexadecimal digits."""

import re
from pathlib import Path

from deconditioning.errors import InputError

_MARK = re.compile(r"[0-9a-f]{64}")


def is_mark(text: str) -> bool:
    """Whether a text is a visitor's mark."""
    return _MARK.fullmatch(text) is not None


def visitor_folder(root: Path, kind: str, mark: str) -> Path:
    """Where things of a kind lie that are one visitor's: ``root/kind/mark``, ``here`` where the mark is empty.

    Raises ``InputError`` for anything else, so that no mark leads out of the folder.
    """
    if mark and not is_mark(mark):
        raise InputError("The visitor's mark is invalid: give 64 hexadecimal digits.")
    return root / kind / (mark or "here")
