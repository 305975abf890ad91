"""Dataclasses from plain data, as JSON and the command line bring it."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


def from_known(kind: type[T], value: Mapping[str, Any]) -> T:
    """``kind(**value)`` of a dataclass; ``InputError`` names the first unknown setting and those there are."""
    known = {item.name for item in fields(kind)}
    unknown = [name for name in value if name not in known]
    if unknown:
        raise InputError(f"The setting '{unknown[0]}' is unknown: choose among {', '.join(sorted(known))}.")
    return kind(**value)
