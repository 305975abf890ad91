"""The exercises that a visitor has done, with the page's verdict, the settings and the visitor's own answer:
``exercises/<mark>/done.json`` beside the runs."""

import json
import re
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from deconditioning.engine import disk
from deconditioning.engine.visitors.visitor_id import visitor_folder
from deconditioning.errors import InputError

#: Exercises that are kept, letters of one's name and of each text of it, bytes of the file.
_MOST, LONGEST_SAID, _MOST_BYTES = 100, 1000, 500_000
_NAME = "done.json"
_KEY = re.compile(r"[a-z][a-z-]{0,39}")


@dataclass(frozen=True)
class Done:
    """An exercise that is done.

    Parameters
    ----------
    said : the page's verdict.
    settings, address : what the page was set to, in words and as its address from the slash on.
    when : date and time, UTC.
    answer : what the visitor wrote about it.
    """

    said: str
    settings: str = ""
    address: str = ""
    when: str = ""
    answer: str = ""


class Progress:
    """That of one visitor, in their own folder.

    Parameters
    ----------
    root : the runs folder.
    mark : the visitor's mark (``deconditioning.engine.visitors.visitor``); empty if the machine is one person's.
    """

    def __init__(self, root: Path, mark: str = "") -> None:
        self.folder = visitor_folder(root, "exercises", mark)

    def done(self) -> dict[str, Done]:
        """Exercises done, by their keys; those of a damaged file are none."""
        try:
            data = json.loads(disk.read(self.folder, _NAME, _MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        stored = data.get("done") if isinstance(data, dict) else None
        rows = stored.items() if isinstance(stored, dict) else ()
        read = {key: _read(row) for key, row in rows if _KEY.fullmatch(key)}
        return {key: each for key, each in read.items() if each is not None}

    def keep(self, key: str, done: Done) -> None:
        """An exercise is done. Raises ``InputError`` if it cannot be saved."""
        if _KEY.fullmatch(key) is None:
            raise InputError(f"{key[:40]!r} is not an exercise: give a name of letters and hyphens.")
        result = self.done() | {key: done}
        rows = {name: _short(asdict(each)) for name, each in list(result.items())[-_MOST:]}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            disk.write_json(self.folder, _NAME, {"done": rows})
        except OSError as error:
            raise InputError(f"The tick cannot be saved ({error.strerror}): free space in the runs folder.") from None

    def answer(self, key: str, text: str) -> None:
        """Keep what the visitor writes about an exercise that is done."""
        if key in (done := self.done()):
            self.keep(key, replace(done[key], answer=text))

    def forget(self) -> None:
        """No exercise is done."""
        (self.folder / _NAME).unlink(missing_ok=True)


def _read(row: Any) -> Done | None:
    """One row of the file; earlier versions kept the verdict alone."""
    row = {"said": row} if isinstance(row, str) else row
    if not isinstance(row, dict) or not isinstance(row.get("said"), str):
        return None
    return Done(**_short({each.name: row[each.name] for each in fields(Done) if isinstance(row.get(each.name), str)}))


def _short(row: dict[str, str]) -> dict[str, str]:
    return {name: text[:LONGEST_SAID] for name, text in row.items()}
