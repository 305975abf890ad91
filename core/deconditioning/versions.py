"""What the version of a saved result says: whether this version gives the same numbers (docs/versions.md)."""

import re

from deconditioning import __version__

#: The first version whose numbers are still this one's. Where the same settings and seed come to give other numbers,
#: it becomes the version that gives them first.
SAME_NUMBERS_SINCE = "0.1.0"
#: The version that made the runs which do not say: from 0.2.0 on, every run does.
UNSTATED = "0.1.0"


def difference(version: object) -> str:
    """One sentence where this version may give other numbers than the one that made a result; else empty."""
    made = _parts(version)
    if made is None:
        return "It does not state which version made it."
    if made < _known(SAME_NUMBERS_SINCE):
        return (
            f"Version {version} made it, and since version {SAME_NUMBERS_SINCE} the same settings give other numbers."
        )
    if made > _known(__version__):
        return f"Version {version} made it, which is newer than this one, {__version__}."
    return ""


def _parts(version: object) -> tuple[int, ...] | None:
    """The three numbers of a version; ``None`` if it is not one."""
    result = re.fullmatch(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", version, re.ASCII) if isinstance(version, str) else None
    return None if result is None else tuple(int(part) for part in result.groups())


def _known(version: str) -> tuple[int, ...]:
    parts = _parts(version)
    assert parts is not None  # our own are three numbers
    return parts
