"""Page settings saved under a name: an address, its description in words, a small picture.

They are stored beside the runs as ``favourites/<mark>/<id>.json``, with one folder per visitor's mark. An address
remains valid in a new version of the app: settings that a page no longer has or allows are ignored, as for any link.
"""

import base64
import binascii
import contextlib
import json
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deconditioning.engine import disk
from deconditioning.engine.visitors.visitor_id import visitor_folder
from deconditioning.errors import InputError

#: Favourites of one visitor; letters of a name and of an address; settings that are listed; bytes of a picture.
MOST, LONGEST_NAME, LONGEST_QUERY, _MOST_TOLD, LARGEST_PICTURE = 100, 80, 4000, 40, 40_000
#: Letters of a setting's name or value, in words.
_LONGEST_TOLD = 80
_MOST_BYTES = 200_000
_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
_PAGE = re.compile(r"[a-z][a-z0-9-]{0,39}")
_PNG = b"\x89PNG\r\n\x1a\n"
#: Deleted ones that can be brought back: so many, so many seconds.
_ASIDE, _KEPT_ASIDE, _KEPT_S = ".deleted", 20, 24 * 3600.0

_Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Favourite:
    """A page's settings under a name.

    ``page`` is the page's address without its host, ``query`` what follows it as (key, value), a key again for each of
    several values; ``told`` what differs from the worked example as (setting, value) in words; ``picture`` a PNG or
    empty. Raises ``InputError`` for what is not an address, too long or too much.
    """

    page: str
    query: _Pairs
    name: str
    told: _Pairs = ()
    picture: bytes = b""
    id: str = ""
    created: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", " ".join(self.name.split()))
        values = tuple((key[:_LONGEST_TOLD], value[:_LONGEST_TOLD]) for key, value in self.told[:_MOST_TOLD])
        object.__setattr__(self, "told", values)
        if not self.name:
            raise InputError("The favourite has no name: give it one.")
        if len(self.name) > LONGEST_NAME:
            raise InputError(f"The name has {len(self.name)} characters; the limit is {LONGEST_NAME}: shorten it.")
        if _PAGE.fullmatch(self.page) is None:
            raise InputError(f"{self.page[:40]!r} is not a page of this app: save favourites on a page with controls.")
        if (length := sum(len(key) + len(value) for key, value in self.query)) > LONGEST_QUERY:
            raise InputError(
                f"The settings have {length} characters; the limit is {LONGEST_QUERY}: change fewer settings."
            )
        if self.picture and (not self.picture.startswith(_PNG) or len(self.picture) > LARGEST_PICTURE):
            raise InputError(
                f"The picture is not a PNG of at most {LARGEST_PICTURE} bytes: save the favourite without it."
            )

    def to_dict(self) -> dict[str, Any]:
        """The favourite as plain JSON data, without its id."""
        return {
            "page": self.page,
            "query": [list(pair) for pair in self.query],
            "name": self.name,
            "told": [list(pair) for pair in self.told],
            "picture": base64.b64encode(self.picture).decode("ascii"),
            "created": self.created,
        }

    @classmethod
    def from_dict(cls, data: Any) -> "Favourite":
        """From `to_dict`; ``InputError`` if the data are not one."""
        if not isinstance(data, Mapping):
            raise InputError("This is not a favourite: give a JSON object.")
        created = data.get("created")
        good = isinstance(created, int | float) and not isinstance(created, bool) and 0 <= created < 1e11
        try:
            picture = base64.b64decode(str(data.get("picture") or ""), validate=True)
        except binascii.Error:
            raise InputError("The picture of a favourite is damaged.") from None
        text = {name: data.get(name) for name in ("page", "name")}
        if not all(isinstance(value, str) for value in text.values()):
            raise InputError("This is not a favourite: its page or name is missing.")
        return cls(
            str(text["page"]),
            _pairs(data.get("query")),
            _whole(str(text["name"])),
            _pairs(data.get("told")),
            picture,
            created=float(created) if good else 0.0,  # type: ignore[arg-type]
        )


class Favourites:
    """Those of one visitor, in their own folder: nobody else's can be read or changed through it.

    Parameters
    ----------
    root : the runs folder.
    mark : the visitor's mark (``deconditioning.engine.visitors.visitor``); empty if the machine is one person's.
    """

    def __init__(self, root: Path, mark: str = "") -> None:
        self.folder = visitor_folder(root, "favourites", mark)

    def all(self) -> tuple[tuple[Favourite, ...], tuple[str, ...]]:
        """``(favourites, damaged)``: the newest first, and the ids of those whose file cannot be read."""
        result, damaged = [], []
        for one in self._ids(".json"):
            try:
                result.append(self.get(one))
            except InputError:
                damaged.append(one)
        return tuple(sorted(result, key=lambda one: (one.created, one.id), reverse=True)), tuple(damaged)

    def get(self, favourite_id: str) -> Favourite:
        """One of them; ``InputError`` if there is none of that id, or its file is damaged."""
        name = f"{_checked(favourite_id)}.json"
        try:
            data = disk.read(self.folder, name, _MOST_BYTES + 1)
        except OSError:
            raise InputError("There is no such favourite: it may have been deleted since.") from None
        try:
            if len(data) > _MOST_BYTES:
                raise ValueError
            return replace(Favourite.from_dict(json.loads(data)), id=favourite_id)
        except (ValueError, RecursionError):
            raise InputError(f"The favourite's file {name} is damaged: delete it.") from None

    def keep(self, favourite: Favourite) -> str:
        """Keep it, as of now; its id. Raises ``InputError`` if there are too many, or the folder is full."""
        if len(self._ids(".json")) >= MOST:
            raise InputError(f"{MOST} favourites are already saved, the limit: delete one on page Runs.")
        made = time.time()
        favourite_id = time.strftime("%Y%m%d-%H%M%S-", time.gmtime(made)) + secrets.token_hex(4)
        self._write(favourite_id, replace(favourite, created=made))
        return favourite_id

    def rename(self, favourite_id: str, name: str) -> None:
        """Give it another name."""
        self._write(favourite_id, replace(self.get(favourite_id), name=name))

    def delete(self, favourite_id: str) -> None:
        """Take it, damaged or not, from the list; for a day (and 20 later ones) `restore` brings it back."""
        self._move(favourite_id, ".json", _ASIDE)
        self._empty()

    def restore(self, favourite_id: str) -> None:
        """Bring back one that was deleted."""
        self._move(favourite_id, _ASIDE, ".json")

    def _ids(self, ending: str) -> list[str]:
        names = (name.removesuffix(ending) for name in disk.names(self.folder) if name.endswith(ending))
        return [name for name in names if _ID.fullmatch(name)]

    def _write(self, favourite_id: str, favourite: Favourite) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            disk.write_json(self.folder, f"{favourite_id}.json", favourite.to_dict())
        except OSError as error:
            raise InputError(
                f"The favourite cannot be saved ({error.strerror}): free space in the runs folder."
            ) from None

    def _move(self, favourite_id: str, before: str, after: str) -> None:
        path = self.folder / f"{_checked(favourite_id)}{before}"
        try:
            path.rename(path.with_suffix(after))
        except OSError:
            raise InputError("There is no such favourite: it has been restored or permanently deleted.") from None
        with contextlib.suppress(OSError):  # the time only says when it may be emptied
            path.with_suffix(after).touch()

    def _empty(self) -> None:
        """Delete for good what was deleted long ago, or before many others."""
        aside = [self.folder / f"{each}{_ASIDE}" for each in self._ids(_ASIDE)]
        with contextlib.suppress(OSError):  # tried again with the next deletion
            aside.sort(key=lambda path: path.lstat().st_mtime, reverse=True)
            for index, path in enumerate(aside):
                if index >= _KEPT_ASIDE or path.lstat().st_mtime < time.time() - _KEPT_S:
                    path.unlink()


def _checked(favourite_id: str) -> str:
    if _ID.fullmatch(str(favourite_id)) is None:
        raise InputError(f"There is no favourite {str(favourite_id)[:40]!r}: choose one on page Runs.")
    return favourite_id


def _pairs(data: Any) -> _Pairs:
    """(key, value) pairs of text; ``InputError`` if the data are not one."""
    if data is None:
        return ()
    good = isinstance(data, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair) for pair in data
    )
    if not good:
        raise InputError("The settings of a favourite are damaged.")
    return tuple((_whole(key), _whole(value)) for key, value in data)


def _whole(text: str) -> str:
    """Text without halves of characters, which no page can show."""
    return text.encode("utf-8", "replace").decode()
