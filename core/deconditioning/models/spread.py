"""The posterior spread of a model's hyperparameters: a mixture in place of one set of values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deconditioning.errors import InputError


@dataclass(frozen=True)
class Spread:
    """Equally probable sets of hyperparameters around those of a model.

    ``names`` are the hyperparameters, as learning reports them; a row of ``offsets`` (members × names) holds the
    natural logarithms of a member's values relative to the model's own, so that the members move with the model.
    """

    names: tuple[str, ...]
    offsets: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if not self.offsets or any(len(row) != len(self.names) for row in self.offsets):
            raise InputError(
                f"A spread of hyperparameters needs at least one member with {len(self.names)} numbers each: give the "
                "one that learning returned, or none."
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the inverse of ``from_dict``."""
        return {"names": list(self.names), "offsets": [list(row) for row in self.offsets]}

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> "Spread":
        """From plain data; raises ``InputError`` if it is no spread."""
        try:
            names = tuple(str(name) for name in value["names"])
            return Spread(names, tuple(tuple(float(v) for v in row) for row in value["offsets"]))
        except (KeyError, TypeError, ValueError):
            raise InputError(
                "A spread of hyperparameters needs `names` and `offsets`: give the one that learning returned, or none."
            ) from None
