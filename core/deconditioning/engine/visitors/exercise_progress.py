"""The exercises that a visitor has done, with the page's verdict: ``exercises/<mark>/done.json`` beside the runs."""

import json
import re
from pathlib import Path

from deconditioning.engine import disk
from deconditioning.engine.visitors.visitor_id import own_folder
from deconditioning.errors import InputError

#: Exercises that are kept, letters of one's name and of what was said, bytes of the file.
MOST, LONGEST_SAID, _MOST_BYTES = 100, 400, 100_000
_NAME = "done.json"
_KEY = re.compile(r"[a-z][a-z-]{0,39}")


class Progress:
    """That of one visitor, in their own folder.

    Parameters
    ----------
    root : the runs folder.
    mark : the visitor's mark (``deconditioning.engine.visitors.visitor``); empty where the machine is one person's.
    """

    def __init__(self, root: Path, mark: str = "") -> None:
        self.folder = own_folder(root, "exercises", mark)

    def done(self) -> dict[str, str]:
        """Exercises done, by their keys, with what the page said then; those of a damaged file are none."""
        try:
            data = json.loads(disk.read(self.folder, _NAME, _MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        kept = data.get("done") if isinstance(data, dict) else None
        rows = kept.items() if isinstance(kept, dict) else ()
        return {key: said[:LONGEST_SAID] for key, said in rows if _KEY.fullmatch(key) and isinstance(said, str)}

    def keep(self, key: str, said: str) -> None:
        """An exercise is done. Raises ``InputError`` where it cannot be kept."""
        if _KEY.fullmatch(key) is None:
            raise InputError(f"{key[:40]!r} is not an exercise: give a name of letters and hyphens.")
        result = self.done() | {key: said[:LONGEST_SAID]}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            disk.write_json(self.folder, _NAME, {"done": dict(list(result.items())[-MOST:])})
        except OSError as error:
            raise InputError(f"The tick cannot be saved ({error.strerror}): free space in the runs folder.") from None

    def forget(self) -> None:
        """No exercise is done."""
        (self.folder / _NAME).unlink(missing_ok=True)
