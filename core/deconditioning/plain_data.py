"""Dataclasses from plain data, as JSON and the command line bring it."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypeVar

from deconditioning.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_T = TypeVar("_T", bound="DataclassInstance")
#: The largest seed that every generator takes.
MOST_SEED = 2**32 - 1


def from_known(kind: type[_T], value: Mapping[str, Any]) -> _T:
    """``kind(**value)`` of a dataclass; ``InputError`` names the first unknown setting and those there are."""
    known = {item.name for item in fields(kind)}
    unknown = [name for name in value if name not in known]
    if unknown:
        raise InputError(f"The setting '{unknown[0]}' is unknown: choose among {', '.join(sorted(known))}.")
    return kind(**value)


def changed(record: "DataclassInstance") -> dict[str, Any]:
    """The fields of a record that differ from its defaults: fields that a later version adds leave it as it is."""
    default = {item.name: item.default for item in fields(record)}
    return {name: value for name, value in asdict(record).items() if value != default[name]}


def check_seed(value: Any, name: str = "seed") -> None:
    """``InputError`` if a seed is not a whole number from 0 to 2³² − 1."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not 0 <= value <= MOST_SEED:
        sentence = repr(value)[:40] if not whole or abs(value) < 10**30 else f"a number of {value.bit_length()} bits"
        raise InputError(f"`{name}` is {sentence}: give a whole number from 0 to {MOST_SEED}.")
