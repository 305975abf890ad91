"""Pairs of variables of one quantity of which one is never above the other: the lowest and the highest of a day."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deconditioning.fields.gridded import Fields

#: What names of the lower and of the upper variable differ in, anywhere in them or as a whole.
_PARTS, _WHOLE = (("min", "max"), ("mn", "mx")), {"tn": "tx"}


def upper_variables(fields: "Fields", names: Sequence[str]) -> dict[str, str]:
    """The upper variable of every lower one among ``names``.

    Both have the same units, standard name and dimensions. They also have cell methods that differ only by ``minimum``
    and ``maximum``, or names that differ only by ``min`` and ``max`` (tasmin, tasmax), ``mn`` and ``mx`` (mn2t, mx2t),
    or ``tn`` and ``tx``.
    """
    result: dict[str, str] = {}
    for lower in names:
        others = [name for name in names if name != lower and _alike(fields, lower, name)]
        by_name = [name for name in others if name.lower() in _upper_names(lower.lower())]
        found = by_name or [name for name in others if _extremes(fields, lower, name)]
        if len(found) == 1:
            result[lower] = found[0]
    return result


def _alike(fields: "Fields", lower: str, upper: str) -> bool:
    one, other = fields.check(lower), fields.check(upper)
    return (one.units, one.standard_name, one.extra) == (other.units, other.standard_name, other.extra)


def _upper_names(name: str) -> set[str]:
    """What the upper variable of this lower one may be called."""
    replaced = {name.replace(low, high) for low, high in _PARTS if low in name}
    return replaced | {_WHOLE[name]} if name in _WHOLE else replaced


def _extremes(fields: "Fields", lower: str, upper: str) -> bool:
    """Whether the cell methods say that these are the lowest and the highest values over the same times."""
    low, high = (str(fields.attributes(name).get("cell_methods", "")) for name in (lower, upper))
    return bool(re.search(r"\bminimum\b", low)) and re.sub(r"\bminimum\b", "maximum", low) == high
