"""Identifies invalid values of a field: those outside its declared valid range, and undeclared missing-value codes.

CF conventions, section 2.5.1 (missing data, valid and actual range of data).
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.fields.reading.packing import numbers_of, packing_in
from deconditioning.fill_values import LARGEST, FillValue, equals_fill_value, find_fill_values

if TYPE_CHECKING:
    import xarray as xr

#: Values of at least this size are missing where others are far smaller: NetCDF's default fill value is 9.97e36, often
#: left without an attribute.
UNMARKED_FILL = 1e30
#: Values above ``UNMARKED_FILL`` are data where they follow smaller ones within this factor, ...
_FOLLOWS = 1e3
#: ... or where all are as large and more than so many differ; these alone then are marks.
_FEW = 3
_RANGE = ("valid_range", "valid_min", "valid_max")
#: In sentences on values that count as data and may be none.
DOUBTFUL = "look like missing values"
_MOST_NOTES = 12
_Bounds = tuple[float, float]
#: What looks like marks of missing values, by field.
Marks = Mapping[str, tuple[FillValue, ...]]


def valid_bounds(attributes: Mapping[Any, Any], encoding: Mapping[Any, Any]) -> tuple[float, float] | None:
    """Lowest and highest valid value in the units of the decoded data; ``None`` if the file names none.

    ``encoding`` says how the data were packed: then the range is in packed units, unless it has the type of
    ``scale_factor`` and ``add_offset`` and that is wider than the packed type (NetCDF Users' Guide, appendix A), or has
    fractions or goes beyond the packed type, as whole packed numbers cannot. Bounds are widened by half a packed step,
    or by rounding. Raises ``ValueError`` where the attributes make no range.
    """
    declared = {name: _numbers(attributes[name], encoding) for name in _RANGE if name in attributes}
    if not declared:
        return None
    both = declared.get("valid_range", np.array([-np.inf, np.inf]))
    low, high = declared.get("valid_min", both[:1]), declared.get("valid_max", both[1:])
    if "valid_range" in declared:
        low, high = both[:1], both[1:]
    if len(both) != 2 or len(low) != 1 or len(high) != 1 or not low[0] <= high[0]:
        raise ValueError(", ".join(f"{name} = {np.ravel(attributes[name]).tolist()}" for name in declared))
    kind = np.result_type(*(np.asarray(attributes[name]).dtype for name in declared))
    bounds, step = np.array([low[0], high[0]], dtype=float), 0.0
    if _is_packed(kind, encoding) and _may_be_stored(bounds[np.isfinite(bounds)], encoding):
        scale, offset = float(encoding.get("scale_factor", 1.0)), float(encoding.get("add_offset", 0.0))
        bounds, step = np.sort(bounds * scale + offset), abs(scale) / 2 * (_raw(encoding).kind in "iu")
    slack = np.maximum(step, 1e-6 * np.abs(np.where(np.isfinite(bounds), bounds, 0.0)))
    return float(bounds[0] - slack[0]), float(bounds[1] + slack[1])


def _raw(encoding: Mapping[Any, Any]) -> np.dtype:
    try:
        return np.dtype(encoding.get("dtype", "f8"))
    except TypeError:
        return np.dtype("f8")


def _numbers(value: Any, encoding: Mapping[Any, Any]) -> np.ndarray:
    result, raw = np.ravel(np.asarray(value)), _raw(encoding)
    if result.dtype.kind in "USO":
        result = np.array(numbers_of(value) or [np.nan])
    if result.dtype.kind not in "iuf" or np.isnan(result.astype(float)).any():
        raise ValueError(f"{str(value)[:40]!r} is not a range of numbers")
    if str(encoding.get("_Unsigned", "")).lower() == "true" and raw.kind == "i" and result.dtype.kind == "i":
        return result.astype(raw).view(raw.str.replace("i", "u")).astype(float)
    return result.astype(float)


def _may_be_stored(bounds: np.ndarray, encoding: Mapping[Any, Any]) -> bool:
    """Whether the packed type holds all of these numbers, apart from its sign."""
    raw = _raw(encoding)
    if raw.kind not in "iu":
        return True
    return bool((bounds == np.round(bounds)).all() and np.abs(bounds).max(initial=0) <= 2 ** (8 * raw.itemsize))


def _is_packed(kind: np.dtype, encoding: Mapping[Any, Any]) -> bool:
    """Whether a range of this type is in the units of the packed data."""
    packing = [np.asarray(encoding[name]).dtype for name in ("scale_factor", "add_offset") if name in encoding]
    if not packing:
        return False
    unpacked = np.result_type(*packing)
    same = kind.kind == unpacked.kind and kind.itemsize == unpacked.itemsize
    return not (same and kind.itemsize > _raw(encoding).itemsize)


def look_at_values(dataset: "xr.Dataset", names: list[str], lazy: bool) -> tuple["xr.Dataset", list[str], Marks]:
    """The dataset with every field's valid range in the units of its data as attribute ``valid_range``, sentences, and
    what looks like a mark of missing values.

    The sentences tell what ``only_valid`` takes for missing, and what looks like missing values but counts as data.
    With ``lazy``, values are on disk and not looked at.
    """
    notes: list[str] = []
    marks: dict[str, tuple[FillValue, ...]] = {}
    dataset = dataset.copy()
    for name in names:
        variable = dataset.variables[name]
        declared = {key: variable.attrs[key] for key in _RANGE if key in variable.attrs}
        attributes = {key: value for key, value in variable.attrs.items() if key not in _RANGE}
        bounds = None
        try:
            bounds = valid_bounds(variable.attrs, variable.encoding)
        except ValueError as error:
            notes.append(f"`{name}`: its valid range ({error}) is not understood, so it is not applied.")
        if bounds is not None and lazy:
            notes.append(f"`{name}`: values outside its valid range {_words(bounds)} are taken as missing.")
        if not lazy and variable.dtype.kind in "fiu":
            bounds, result, suspects = look(name, variable.values, bounds, packing_in(variable.encoding))
            notes += result
            marks |= {name: suspects} if suspects else {}
        if bounds is not None:
            attributes["valid_range"] = list(bounds)
        if declared:
            dataset[name].attrs = attributes
    more = len(notes) - _MOST_NOTES
    shown_notes = notes if more <= 0 else [*notes[:_MOST_NOTES], f"{more} more notes of this kind are not shown."]
    return dataset, shown_notes, marks


def look(
    name: str, values: np.ndarray, bounds: _Bounds | None, packing: tuple[float, float] = (1.0, 0.0)
) -> tuple[_Bounds | None, list[str], tuple[FillValue, ...]]:
    """The bounds where any value lies within them, sentences on the values, and what looks like missing ones.

    ``packing`` as in `deconditioning.fill_values.find_fill_values`.
    """
    notes = []
    large = too_large(values)
    if large.any():
        notes.append(
            f"`{name}`: {_count(large)} of {float(values[large].flat[0]):.3g} or so are too large to be data and "
            "count as missing."
        )
    good = np.isfinite(values) & ~large
    if bounds is not None:
        valid = good & (values >= bounds[0]) & (values <= bounds[1])
        if good.any() and not valid.any():
            notes.append(f"`{name}`: no value is in its valid range {_words(bounds)}, so the range is not applied.")
            bounds = None
        else:
            if (outside := good & ~valid).any():
                words = f"{_count(outside)} outside its valid range {_words(bounds)}"
                notes.append(f"`{name}`: {words} are taken as missing.")
            good = valid
    marks = tuple(find_fill_values(values, good, packing))
    return bounds, notes + [doubt_of(name, mark) for mark in marks], marks


def suspicion(name: str, mark: FillValue) -> str:
    """What is odd about a mark that counts as data, without the full stop."""
    return f"`{name}`: {_counted(mark.count)} of {mark.text}, far from all others, count as data but {DOUBTFUL}"


def doubt_of(name: str, mark: FillValue) -> str:
    """The sentence on a mark that counts as data, with the controls that change it."""
    return (
        f"{suspicion(name, mark)}: if they are, choose '{mark.text}' under 'Count as missing' on the page, or give "
        f"`--missing={mark.text}`."
    )


def marked_missing(name: str, mark: float, count: int) -> str:
    """The sentence on a mark that the user counts as missing."""
    return (
        f"`{name}`: {_counted(count)} of {FillValue(mark, count, True).text} {'is' if count == 1 else 'are'} taken as "
        "missing, as requested ('Count as missing' on the page, `--missing` of a command)."
    )


def unfound(missing: Collection[str], notes: Collection[str]) -> list[str]:
    """Sentences on numbers that are to be missing and are in none of the fields whose ``notes`` these are."""
    requested = " ".join(note for note in notes if "as missing, as requested" in note)
    numbers = {each: each.rpartition("=")[2] for each in missing}
    return [
        f"No value used here is {number}, so `--missing={each}` has no effect."
        for each, number in numbers.items()
        if f" of {number} " not in requested
    ]


def too_large(values: np.ndarray) -> np.ndarray:
    """Where values are marks of missing ones by their size: from 1e30 on, unless others lead up to them."""
    with np.errstate(invalid="ignore"):
        size = np.abs(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype="f4")
        large = size >= UNMARKED_FILL
    if not large.any():
        return large
    large &= np.isfinite(size)
    below = size[np.isfinite(size) & (size < UNMARKED_FILL) & (size > 0)]
    follows = below.size and size[large].min(initial=np.inf) < _FOLLOWS * below.max()
    if follows or (not below.size and len(np.unique(size[large])) > _FEW):
        return large & np.logical_or.reduce([np.isclose(size, mark, rtol=1e-6, atol=0) for mark in LARGEST])
    return large


def _count(where: np.ndarray) -> str:
    return _counted(int(np.count_nonzero(where)))


def _counted(count: int) -> str:
    return f"{count:,} value{'s' if count != 1 else ''}"


def _words(bounds: _Bounds) -> str:
    low, high = bounds
    if not np.isfinite(low):
        return f"up to {high:g}"
    return f"{low:g} to {high:g}" if np.isfinite(high) else f"from {low:g}"


def only_valid(values: np.ndarray, attributes: Mapping[Any, Any], missing: Collection[float] = ()) -> np.ndarray:
    """Float64 values of a field, changed in place: NaN where they are one of the ``missing`` numbers, too large to be a
    value, or outside ``valid_range``."""
    for mark in missing:
        values[equals_fill_value(values, mark)] = np.nan
    values[too_large(values) | ~np.isfinite(values)] = np.nan
    bounds = attributes.get("valid_range")
    if bounds is not None:
        values[(values < bounds[0]) | (values > bounds[1])] = np.nan
    return values
