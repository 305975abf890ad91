"""The name of a file by the data reference syntax of downscaled output, as CORDEX has it."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from deconditioning.fields.problem.target_metadata import Origin
from deconditioning.fields.times import is_dates, text_of

#: For each element of the name the attributes of the input that may say it, the first that does.
_ELEMENTS = {
    "domain": ("CORDEX_domain", "domain_id"),
    "driving model": ("driving_source_id", "driving_model_id", "source_id", "model_id"),
    "experiment": ("driving_experiment_name", "experiment_id", "experiment"),
    "member": ("driving_variant_label", "driving_model_ensemble_member", "variant_label"),
}
_FREQUENCY = ("frequency", "table_id")
#: Digits of a date by what the frequency begins with: 195001, 1950, else 19500101 or to the minute.
_DIGITS = {"mon": 6, "Amon": 6, "Omon": 6, "yr": 4, "day": 8}


def drs_name(origin: Origin, target: str, model: str, version: str) -> str:
    """``tas_EUR-11_MPI-ESM-LR_rcp85_r1i1p1_DeconditioningLab-bag-gp_v0-1-0_mon_200101-200101``, without ending.

    Elements are ``variable_domain_driving-model_experiment_member_method_version_frequency_dates``, those that the
    target's file does not say left out, each of letters, digits and hyphens only. A regional model's own name joins
    that of the model that drives it. Source: Christensen et al. 2020, *CORDEX Archive Design*.
    """
    attributes = {name.removeprefix("input_"): value for name, value in origin.attributes.items()}
    sentences = [_first(attributes, names) for names in _ELEMENTS.values()]
    regional = _first(attributes, ("source_id", "model_id"))
    if regional and regional != sentences[1]:
        sentences[1] = f"{sentences[1]}-{regional}"
    frequency = _first(attributes, _FREQUENCY)
    method = (f"DeconditioningLab-{model}", f"v{version}")
    parts = (target, *sentences, *method, frequency, _dates(origin, frequency))
    return "_".join(word for word in map(_word, parts) if word)


def _first(attributes: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((attributes[name] for name in names if attributes.get(name)), "")


def _word(text: str) -> str:
    """Letters, digits and hyphens only."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")


def _dates(origin: Origin, frequency: str) -> str:
    """First and last date of what was downscaled, one of them where it is a moment; nothing without a date."""
    coordinates = [(name, value) for name, (value, _) in origin.coordinates.items() if is_dates(_one(value))]
    name, date = next(((n, v) for n, v in coordinates if n == "time"), (coordinates or [("", None)])[0])
    if date is None:
        return ""
    digits = next((n for start, n in _DIGITS.items() if frequency.startswith(start)), 12)
    ends = origin.bounds.get(f"{name}_bnds") if digits == 12 else None
    both = [date, date] if ends is None else list(np.asarray(ends).ravel())
    first, last = (re.sub(r"[^0-9]", "", text_of(each))[:digits] for each in both)
    return f"{first}-{last}"


def _one(value: Any) -> np.ndarray:
    return np.array([value], dtype=np.asarray(value).dtype)
