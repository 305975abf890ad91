"""The user's label of a run: a name, a star, tags, stored in ``label.json``."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deconditioning.errors import InputError

#: Letters of a name and of a tag, and tags of a run.
LONGEST_NAME, LONGEST_TAG, MOST_TAGS = 80, 24, 8


@dataclass(frozen=True)
class Label:
    """An empty ``name`` means the run's own title. Raises ``InputError`` if a name or tag is too long or there are too
    many.
    """

    name: str = ""
    star: bool = False
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", " ".join(str(self.name).split()))
        tags = dict.fromkeys(" ".join(str(tag).split()) for tag in self.tags)
        object.__setattr__(self, "tags", tuple(tag for tag in tags if tag))
        if len(self.name) > LONGEST_NAME:
            raise InputError(f"The name has {len(self.name)} characters; the limit is {LONGEST_NAME}: shorten it.")
        if len(self.tags) > MOST_TAGS:
            raise InputError(f"There are {len(self.tags)} tags; the limit is {MOST_TAGS}: remove some.")
        for tag in self.tags:
            if len(tag) > LONGEST_TAG:
                raise InputError(f"A tag has {len(tag)} characters; the limit is {LONGEST_TAG}: shorten it.")

    def to_dict(self) -> dict[str, Any]:
        """The label as plain JSON data."""
        return asdict(self) | {"tags": list(self.tags)}

    @classmethod
    def read(cls, data: Any) -> "Label":
        """The label in JSON data; an empty one if it cannot be read."""
        if not isinstance(data, Mapping):
            return cls()
        tags = data.get("tags")
        try:
            tag_names = tuple(map(str, tags)) if isinstance(tags, list) else ()
            return cls(str(data.get("name") or ""), data.get("star") is True, tag_names)
        except InputError:
            return cls()
