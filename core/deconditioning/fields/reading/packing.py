"""Converts a packed variable's attributes to CF form: ``scale_factor`` and ``add_offset``, however a file calls them.

CF conventions, section 8.1: value = stored · ``scale_factor`` + ``add_offset``. HDF files call them ``Slope`` and
``Intercept``, ``SCALING_FACTOR`` or ``Offset``, and some products divide, or subtract the offset first.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.fields.writing.attributes import plain_text

if TYPE_CHECKING:
    import xarray as xr

PACKING = (("scale_factor", 1.0), ("add_offset", 0.0))
#: Other spellings of CF's names, in small letters and with ``_`` for spaces.
_SPELLED = {
    "scale_factor": ("scale_factor", "scalefactor", "scale_fact", "_scale_factor"),
    "add_offset": ("add_offset", "addoffset", "add_off", "_add_offset"),
}
#: Other names of the same; those that are clear say by which formula.
_NAMED = {
    "scale_factor": ("slope", "cal_slope", "scale", "scaling_factor", "scalingfactor", "scaling_slope"),
    "add_offset": ("intercept", "offset", "cal_offset", "scaling_offset", "scaling_intercept"),
}
_CLEAR = ("slope", "cal_slope", "scaling_slope", "intercept", "scaling_intercept")
#: Attributes of MODIS's atmosphere products, which subtract the offset first, and of HDF4's calibration.
_SUBTRACTS = ({"parameter_type", "geolocation_pointer"}, {"cell_along_swath_sampling"})
_HDF4 = {"scale_factor_err", "add_offset_err", "calibrated_nt"}
_LOGARITHMIC = re.compile(r"log|\*\*|\^|base", re.IGNORECASE)
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:inf|infinity|nan))(?:[bsfl]|ub|us|ul)?", re.I)
#: Scale factors of whole numbers from which on they may be meant to divide.
_DIVIDES = 100.0


def numbers_of(value: Any) -> list[float] | None:
    """The numbers of an attribute, written as such or as text (``0, 100``, ``[0 100]``, ``0s, 100s``, ``0 to 100``);
    None if it is not a number."""
    result = []
    for one in np.ravel(np.asarray(value)).tolist():
        for part in re.split(r"[\s,;]+|\.\.+", re.sub(r"\bto\b", " ", str(plain_text(one)).strip(" \t[](){}\n"))):
            if part and (number := _NUMBER.fullmatch(part)) is None:
                return None
            result += [float(number[1])] if part and number else []
    return result or None


def packing_in(attributes: Mapping[Any, Any]) -> tuple[float, float]:
    """The scale and the offset of packed values by CF's attributes; 1 and 0 where there are none."""
    scale, offset = ((numbers_of(attributes.get(side, usual)) or [usual])[0] for side, usual in PACKING)
    return scale, offset


def in_small_letters(name: Any) -> str:
    """An attribute's name in small letters, with ``_`` for spaces: ``SCALE FACTOR`` is ``scale_factor``."""
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def usual_packing(name: str, variable: "xr.Variable") -> tuple[dict[Any, Any], list[str], str]:
    """Attributes of a raw variable with its packing as CF has it, sentences, and why it cannot be read; "" if it can.

    Raw values that are no whole numbers are packed by CF's names alone.
    """
    attributes, notes = dict(variable.attrs), list[str]()
    whole = variable.dtype.kind in "iu"
    if variable.dtype.kind not in "iuf":
        return attributes, [], ""
    named: dict[str, tuple[str, float]] = {}
    for side, usual in PACKING:
        for key, words, number, why in _candidates(variable.attrs, side):
            if why:
                return attributes, [], why if whole else ""
            if side in attributes:
                declared = numbers_of(attributes[side])
                if declared and declared[0] != number:
                    notes.append(f"`{name}`: its `{key}` {number:g} is not applied; its `{side}` {declared[0]:g} is.")
            elif words not in _SPELLED[side] and not whole:
                if number != usual:
                    notes.append(f"`{name}`: its `{key}` {number:g} is not applied, as its values are not packed.")
            else:
                attributes[side] = number
                named |= {side: (key, number)} if number != usual else {}
            if attributes.get(side) is not variable.attrs.get(key):
                attributes.pop(key, None)
    if named:
        if why := _unclear(named, variable):
            return attributes, [], why
        packed = " and ".join(f"`{key}` {number:g}" for key, number in named.values())
        notes.append(f"`{name}` is packed by {packed}: value = {_formula(attributes)}.")
    elif whole and not notes:
        notes += _by_product(name, attributes)
    return attributes, notes, ""


def _candidates(attributes: Mapping[Any, Any], side: str) -> Iterator[tuple[str, str, float, str]]:
    """Attributes by which a file means ``scale_factor`` or ``add_offset``: the name as it is and in small letters, the
    number, and why it is none that can be used."""
    for key, value in attributes.items():
        words = in_small_letters(key)
        if str(key) == side or words not in (*_SPELLED[side], *_NAMED[side]):
            continue
        numbers = numbers_of(value)
        if numbers is None:
            continue
        many = len(set(numbers)) > 1
        why = f"its `{key}` has {len(numbers)} different values: write the field unpacked, in its units" if many else ""
        yield str(key), words, numbers[0], why


def _unclear(named: Mapping[str, tuple[str, float]], variable: "xr.Variable") -> str:
    """Why a packing under other names than CF's has no clear formula; "" if it has."""
    kind = {in_small_letters(key): str(value) for key, value in variable.attrs.items()}
    equation = kind.get("scaling_equation", "")
    if "log" in kind.get("scaling", "").lower() or (equation and _LOGARITHMIC.search(equation)):
        return "it is packed by a logarithm: write the field unpacked, in its units"
    plain = {side: in_small_letters(key) for side, (key, _) in named.items()}
    key, scale = named.get("scale_factor", ("", 1.0))
    if key and plain["scale_factor"] not in (*_CLEAR, *_SPELLED["scale_factor"]) and abs(scale) > 1:
        return f"its `{key}` {scale:g} may multiply or divide: name it `scale_factor` if it multiplies"
    key, offset = named.get("add_offset", ("", 0.0))
    if key and plain["add_offset"] not in (*_CLEAR, *_SPELLED["add_offset"]) and offset == round(offset):
        return (
            f"its `{key}` {offset:g} may be added to the scaled values or subtracted from the stored ones: name it "
            "`add_offset` if it is added"
        )
    return ""


def _formula(attributes: Mapping[Any, Any]) -> str:
    scale, offset = (attributes.get(side, usual) for side, usual in PACKING)
    scaled = "stored" if scale == 1 else f"stored · {scale:g}"
    return scaled + ("" if not offset else f" {'+' if offset > 0 else '−'} {abs(offset):g}")


def _by_product(name: str, attributes: dict[Any, Any]) -> list[str]:
    """Sentences on CF's names under which a product means another formula; ``attributes`` get that of CF."""
    known = {str(key).lower() for key in attributes}
    sides = [numbers_of(attributes.get(side, usual)) for side, usual in PACKING]
    if any(numbers is None or len(numbers) != 1 for numbers in sides):
        return []
    scale, offset = (numbers[0] for numbers in sides if numbers)
    if scale > 1 and not offset and known & _HDF4:
        attributes["scale_factor"] = 1 / scale
        return [f"`{name}`: its `scale_factor` {scale:g} divides, as in HDF4 products: value = stored / {scale:g}."]
    if offset and any(names <= known for names in _SUBTRACTS):
        attributes["add_offset"] = -scale * offset
        return [
            f"`{name}`: its `add_offset` {offset:g} is subtracted first, as in MODIS products: value = (stored "
            f"{'−' if offset > 0 else '+'} {abs(offset):g}) · {scale:g}."
        ]
    if offset and known & _HDF4:
        return [
            f"`{name}`: its `add_offset` {offset:g} is added to the scaled values, as in the CF conventions; some HDF4 "
            "products subtract it from the stored ones."
        ]
    if scale >= _DIVIDES and not offset and np.log10(scale) == round(np.log10(scale)):
        return [
            f"`{name}`: its `scale_factor` {scale:g} multiplies, as in the CF conventions; some products intend a "
            "division."
        ]
    return []
