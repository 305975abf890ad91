"""Converts a file's missing-value attributes to CF form: in the type of the data, under CF's names.

CF conventions, section 2.5.1: ``_FillValue`` and ``missing_value`` have the type of the (packed) data. Files give them
as text, as a double that no single equals, in unpacked units, or under another name; times lack them.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.backends.common import AbstractDataStore

from deconditioning.fields.reading.packing import PACKING, in_small_letters, numbers_of, packing_in, usual_packing
from deconditioning.fields.times import usual_spelling
from deconditioning.fields.writing.attributes import plain_text

if TYPE_CHECKING:
    import xarray as xr

MARKS = ("_FillValue", "missing_value")
#: Names, in small letters, by which other tools give the same.
_OTHER_NAMES = (
    "fillvalue", "fill_value", "_fillvalue", "_fill_value", "missing_values", "missingvalue", "missing_data",
    "_missing_value", "nodata", "no_data", "nodata_value", "nodatavalue", "no_data_value", "_nodata",
)  # fmt: skip
#: Spellings of CF's valid range, in small letters.
_RANGES = {
    "valid_range": "valid_range", "validrange": "valid_range", "valid_min": "valid_min", "validmin": "valid_min",
    "valid_minimum": "valid_min", "valid_max": "valid_max", "validmax": "valid_max", "valid_maximum": "valid_max",
}  # fmt: skip
#: Values of a time that are looked at.
_MOST_TIMES = 1_000_000


class Repaired(AbstractDataStore):
    """A store of raw variables whose packing and marks of missing values are such that decoding finds them.

    ``notes`` say which; ``left`` are variables whose packing is not clear, with the reason.
    """

    def __init__(self, store: AbstractDataStore) -> None:
        self.store = store
        self.notes: list[str] = []
        self.left: dict[str, str] = {}
        self._found: dict[str, xr.Variable] | None = None

    def get_variables(self) -> dict[str, "xr.Variable"]:
        """Variables by name, each repaired once."""
        if self._found is None:
            self._found = {}
            for name, variable in self.store.get_variables().items():
                variable = variable.copy(deep=False)
                variable.attrs = _spelled(variable.attrs)
                variable.attrs, of_packing, why = usual_packing(str(name), variable)
                if why:
                    self.left[str(name)] = why
                    continue
                self._found[str(name)], notes = repaired(str(name), variable)
                self.notes += of_packing + notes
        return {name: variable.copy(deep=False) for name, variable in self._found.items()}

    def get_attrs(self) -> Any:
        """Global attributes."""
        return self.store.get_attrs()

    def get_dimensions(self) -> Any:
        """Sizes of dimensions."""
        return self.store.get_dimensions()

    def close(self) -> None:
        """Close the file."""
        self.store.close()


def _spelled(attributes: Mapping[Any, Any]) -> dict[Any, Any]:
    """Attributes as decoding knows them: ``_Unsigned`` in small letters, packing as numbers, units of time."""
    result = dict(attributes)
    if "_Unsigned" in result:
        result["_Unsigned"] = str(result["_Unsigned"]).strip().lower()
    for key, _ in PACKING:
        if isinstance(text := result.get(key), str) and len(numbers := numbers_of(text) or []) == 1:
            result[key] = numbers[0]  # no number: reported where it is decoded
    for key in list(result):
        if in_small_letters(key) in ("units", "unit") and isinstance(result[key], str):
            result.setdefault("units", result[key])
        if usual := _RANGES.get(in_small_letters(key)):
            result.setdefault(usual, result[key])
            result |= {} if key == usual else {key: None}
    return usual_spelling({key: value for key, value in result.items() if value is not None})


def repaired(name: str, variable: "xr.Variable") -> "tuple[xr.Variable, list[str]]":
    """The variable with ``_FillValue`` and ``missing_value`` in the type of its data, and sentences."""
    kind = variable.dtype
    if kind.kind not in "iuf" or str(variable.attrs.get("_Unsigned", "")).lower() in ("true", "false"):
        return variable, []
    attributes, notes, others = dict(variable.attrs), list[str](), list[Any]()
    for key in list(variable.attrs):
        if str(key) not in MARKS and in_small_letters(key) not in _OTHER_NAMES:
            continue
        attribute = attributes.pop(key)
        marks, why = _marks(attribute, kind, variable.attrs)
        words = ", ".join(f"{mark:g}" for mark in numbers_of(attribute) or [])
        if str(key) not in MARKS and marks:
            others += marks
            notes.append(f"`{name}`: {words}, its `{key}`, counts as missing.")
        elif marks:
            attributes[key] = marks[0] if len(marks) == 1 else np.array(marks, dtype=kind)
            notes += [f"`{name}`: {words}, its `{key}` ({why}), counts as missing."] if why else []
        elif why:
            notes.append(f"`{name}`: its `{key}` {str(plain_text(attribute))[:40]!r} {why}, and is not applied.")
    if others:
        known = np.ravel(attributes.get("missing_value", np.array([], dtype=kind)))
        attributes["missing_value"] = np.unique([*known, *others]).astype(kind)
    notes += _on_codes(name, attributes)
    if _lacks_a_mark(variable, attributes):
        attributes["_FillValue"] = np.iinfo(kind).min
    result = variable.copy(deep=False)
    result.attrs = attributes
    return result, notes


def _on_codes(name: str, attributes: Mapping[Any, Any]) -> list[str]:
    """A sentence on codes among packed values, such as 254 for land, that no valid range leaves out."""
    codes, (scale, offset) = numbers_of(attributes.get("flag_values", "")), packing_in(attributes)
    if not codes or (scale, offset) == (1.0, 0.0) or {"valid_range", "valid_min", "valid_max"} & set(attributes):
        return []
    values = ", ".join(f"{code * scale + offset:g}" for code in codes[:8])
    words = str(plain_text(attributes.get("flag_meanings", "flag_values")))[:80]
    return [
        f"`{name}`: {values} are codes ({words}) and count as data: name those that mark missing values with "
        "`--missing`."
    ]


def _marks(value: Any, kind: np.dtype, attributes: Mapping[Any, Any]) -> tuple[list[Any], str]:
    """The marks in the type of the data, with what was odd about them in words; why where there are none."""
    numbers = numbers_of(value)
    if numbers is None:
        return [], "is not a number"
    text = np.asarray(value).dtype.kind in "SUO"
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            result = {kind.type(one) for number in numbers for one in _spellings(number, kind)}
        return sorted(result), "given as text" if text else ""
    packed, marks, stored = False, set(), np.asarray(value)
    if {stored.dtype.kind, kind.kind} == {"i", "u"} and stored.dtype.itemsize == kind.itemsize:
        numbers = stored.ravel().astype(kind).tolist()  # the same bits: −1 of signed bytes is 255 of unsigned ones
    for number in numbers:
        whole, unpacked = _as_packed(number, kind, attributes)
        packed |= unpacked
        if whole is not None:
            marks.add(kind.type(whole))
    words = " and ".join(["given as text"] * text + ["in the units of the unpacked values"] * packed)
    none = "" if all(np.isnan(numbers)) else "cannot occur in its data"
    return sorted(marks), words if marks else none


def _spellings(number: float, kind: np.dtype) -> Iterator[float]:
    """A number as the data may hold it: doubles were often singles before, or the mark is a single."""
    yield number
    if kind.itemsize > 4 and np.isfinite(np.float32(number)):
        yield float(np.float32(number))
        yield float(str(np.float32(number)))


def _as_packed(number: float, kind: np.dtype, attributes: Mapping[Any, Any]) -> tuple[int | None, bool]:
    """The whole number of packed data that a mark means, and whether it was in unpacked units."""
    limits = np.iinfo(kind)
    if np.isfinite(number) and number == round(number) and limits.min <= number <= limits.max:
        return int(number), False
    scale, offset = packing_in(attributes)
    raw = (number - offset) / scale if scale else np.inf
    near = np.isfinite(raw) and abs(raw - round(raw)) < 1e-3 and limits.min <= round(raw) <= limits.max
    return (round(raw), True) if near else (None, False)


def _lacks_a_mark(variable: "xr.Variable", attributes: Mapping[Any, Any]) -> bool:
    """Whether whole numbers of times hold the smallest one, numpy's "not a time", without saying so."""
    if " since " not in str(attributes.get("units", "")) or variable.dtype.kind != "i" or set(MARKS) & set(attributes):
        return False
    if not 0 < variable.size <= _MOST_TIMES:
        return False
    try:
        return bool((np.asarray(variable.values) == np.iinfo(variable.dtype).min).any())
    except (OSError, ValueError, RuntimeError, TypeError, IndexError):
        return False  # damaged: reported when it is read
