"""The times of a field: along which dimension they lie, and which of them a text means."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.matching import place_matching
from deconditioning.fields.selecting import is_dated, what_there_is

#: An index, or a stretch of indices with both ends.
_INDEX = re.compile(r"#\s*(\d+)")
_ALL = "all"


def time_dimension(fields: Fields, name: str) -> str:
    """The dimension of a field that holds its times: the one with several dates, or else the one that the file calls
    so, by its name, ``axis`` or ``standard_name``.

    Raises ``InputError`` if there is none.
    """
    extra = {dim: labels for dim, labels in fields.check(name).extra.items() if len(labels) > 1}
    dated = [dim for dim, labels in extra.items() if is_dated(labels)]
    result = [dim for dim in dated if dim in ("time", "valid_time")] or dated
    result = result or [dim for dim in extra if _is_called_time(fields, dim)]
    if not result:
        dims = ", ".join(f"`{dim}`" for dim in extra) or "none"
        raise InputError(
            f"`{name}` of {fields.name} has no dimension of several times (dimensions with several values: {dims}): "
            "leave the times out to downscale one field."
        )
    return result[0]


def _is_called_time(fields: Fields, dim: str) -> bool:
    attributes = fields.dataset[dim].attrs if dim in fields.dataset.coords else {}
    return dim.lower() == "time" or attributes.get("axis") == "T" or attributes.get("standard_name") == "time"


def first_used(name: str, dim: str, labels: Sequence[str], where: str = "") -> str:
    """A note that the first of several values along a dimension of a variable is used, as nothing else is selected."""
    return f"Dimension `{dim}`{where} has {len(labels)} values; the first, {labels[0]}, is used for `{name}`."


def chosen_times(labels: Sequence[str], words: Sequence[str]) -> list[int]:
    """The indices of the times that ``words`` mean, earliest first (`in_order`); each of the words is one of

    ``all``; the beginning of dates, ``2019-03`` or ``2019-03-04T12``; both ends of a stretch, ``2019-03-01/2019-03-10``
    (either may be empty); an index ``#5``, or a stretch of indices ``#0/#9``. Both ends are included.

    Raises ``InputError`` if a word means none of the ``labels``, which are dates as `fields.times.labels_of` writes
    them.
    """
    result: set[int] = set()
    for word in words:
        chosen = _indices(labels, word.strip())
        if not chosen:
            raise InputError(
                f"No time matches '{word}': there are {what_there_is(labels)}. Give {_ALL}, dates such as "
                f"{labels[0][:10]}, a range such as {labels[0][:10]}/{labels[-1][:10]}, or indices such as "
                f"#0/#{len(labels) - 1}."
            )
        result.update(chosen)
    return in_order(labels, result)


def in_order(labels: Sequence[str], indices: Iterable[int]) -> list[int]:
    """Some indices, earliest date first, also where a file has its times in another order; ascending without dates."""
    return sorted(indices, key=lambda n: (labels[n], n)) if is_dated(labels) else sorted(indices)


def _indices(labels: Sequence[str], word: str) -> list[int]:
    if word == _ALL:
        return list(range(len(labels)))
    begin, stretch, end = (part.strip() for part in word.partition("/"))
    indices = [_INDEX.fullmatch(part) for part in (begin, end if stretch else begin)]
    if all(indices):
        first, last = (int(index[1]) for index in indices if index)
        return [n for n in range(first, last + 1) if n < len(labels)]
    if not is_dated(labels) or not (begin or end):
        return [n for n, label in enumerate(labels) if label == word]
    low, high = _as_label(begin), _as_label(end if stretch else begin)
    return [n for n, label in enumerate(labels) if label >= low and (not high or label[: len(high)] <= high)]


def _as_label(word: str) -> str:
    return re.sub(r"(?<=\d)[T_](?=\d)", " ", word).removesuffix("Z")


def places_of_times(labels: Sequence[str], requested: Sequence[str]) -> list[int | None]:
    """The place of each of the ``requested`` times among ``labels`` (`place_matching`), None where there is none, and
    where others would have the same one: the only day of a month in a file is not the value of all its days.
    """
    places, known = [place_matching(labels, each) for each in requested], set(labels)
    count = Counter(places)
    return [
        place if each in known or count[place] == 1 else None for each, place in zip(requested, places, strict=True)
    ]
