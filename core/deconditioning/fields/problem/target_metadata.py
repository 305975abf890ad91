"""Metadata of a target from its file: date, level, member, cell methods and origin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deconditioning.fields.gridded import Fields, Variable
from deconditioning.fields.grids.bounds import bounds_of
from deconditioning.fields.grids.roles import role
from deconditioning.fields.store import plain_words
from deconditioning.fields.times import is_dates, labels_of

#: Global attributes that are passed on as ``input_…``, from CMIP's and CORDEX's vocabularies and from CF.
_PROVENANCE = (
    "tracking_id", "experiment_id", "experiment", "institution", "institution_id", "institute_id", "source_id",
    "model_id", "driving_model_id", "driving_source_id", "driving_experiment_name", "variant_label",
    "driving_variant_label", "driving_model_ensemble_member", "activity_id", "mip_era", "project_id", "product",
    "frequency", "grid_label", "table_id", "domain_id", "CORDEX_domain", "rcm_version_id", "version_realization",
    "further_info_url", "license", "references", "doi", "contact", "creation_date",
)  # fmt: skip
_KEPT = ("standard_name", "long_name", "units", "axis", "positive")
#: Units in which dates are written.
_SINCE = "days since 1850-01-01"


@dataclass(frozen=True, eq=False)
class Origin:
    """Coordinates without a dimension as name → (value, attributes), bounds as name → the two ends of one of them, the
    target's ``cell_methods``, and global ``attributes`` under the names that they leave by.
    """

    coordinates: dict[str, tuple[Any, dict[str, Any]]] = field(default_factory=dict)
    bounds: dict[str, Any] = field(default_factory=dict)
    cell_methods: str = ""
    attributes: dict[str, str] = field(default_factory=dict)


def _origin_of(fields: Fields, name: str, select: Mapping[str, int | str]) -> Origin:
    """What of a file belongs to the chosen field of it."""
    holder, there = fields.at(name, select)
    dataset, chosen = holder.dataset, holder.chosen(name, there)
    edges = bounds_of(dataset)
    coordinates: dict[str, tuple[Any, dict[str, Any]]] = {}
    bounds: dict[str, Any] = {}
    for key, variable in dataset.coords.variables.items():
        if str(key) in edges or variable.ndim > 1 or not {str(d) for d in variable.dims} <= set(chosen):
            continue
        if role(str(key), variable) is not None or not (is_dates(variable.values) or variable.dtype.kind in "fiuSU"):
            continue
        at = tuple(chosen[str(dim)] for dim in variable.dims)
        described = {word: variable.attrs[word] for word in _KEPT if word in variable.attrs}
        for word in ("bounds", "climatology"):
            ends = dataset.variables.get(str(variable.attrs.get(word, "")))
            if ends is not None and ends.dims[:-1] == variable.dims and ends.shape[-1] == 2:
                bounds[f"{key}_bnds"], described[word] = ends.values[at], f"{key}_bnds"
        coordinates[str(key)] = (variable.values[at], plain_words(described))
    methods = str(dataset.variables[name].attrs.get("cell_methods", "")).strip()
    attributes = {f"input_{word}": str(dataset.attrs[word]) for word in _PROVENANCE if dataset.attrs.get(word)}
    return Origin(coordinates, bounds, methods, attributes)


def date_of(origin: Origin) -> str:
    """The target's date as lists show it, ``2001-02-30 06:00``; "" where it has none."""
    dates = (np.asarray(value).ravel() for value, _ in origin.coordinates.values())
    return next((labels_of(each[:1])[0] for each in dates if is_dates(each)), "")


def date_of_fields(fields: Fields, names: Sequence[str], select: Mapping[str, int | str]) -> str:
    """The date of the first of some fields that has one, at what is selected of it; "" for none."""
    times = (fields.time_of(name, select) for name in names)
    return next((labels_of(np.array([time]))[0] for time in times if time is not None), "")


def covariates_of(fields: Fields, names: Sequence[str]) -> dict[str, Variable]:
    """Long names and units of a problem's covariates, by name."""
    known = fields.variables()
    return {name: known[name] for name in names if name in known}


def about_target(
    fields: Fields, name: str, select: Mapping[str, int | str], covariates: Sequence[str] = ()
) -> dict[str, Any]:
    """What a problem says of its target beside the values: date and level in words, and its `Origin`; and of
    ``covariates`` in the same fields their names and units."""
    named = {"covariates": covariates_of(fields, covariates)} if covariates else {}
    return {"when_and_where": fields.when_and_where(name, select), "origin": _origin_of(fields, name, select)} | named


def methods_of(origin: Origin, more: str = "area: mean") -> str:
    """The target's cell methods, continued by a mean over area where they have none: ``time: mean area: mean``."""
    methods = origin.cell_methods
    return methods if "area:" in methods else f"{methods} {more}".strip()


def variables_of(origin: Origin) -> tuple[dict[str, Any], dict[str, Any]]:
    """The coordinates and the bounds as xarray variables, dates as numbers in the calendar that they have."""
    import xarray as xr

    coordinates, ends = {}, {}
    for name, (value, attributes) in origin.coordinates.items():
        one = np.asarray(value)
        at, attrs = one, dict(attributes)
        dates = is_dates(np.array([value], dtype=one.dtype))
        if dates:
            at, encoded = _numbers(one)
            attrs = {"standard_name": "time", **attrs, **encoded} if name == "time" else {**attrs, **encoded}
        coordinates[name] = xr.Variable((), at, attrs)
        if f"{name}_bnds" in origin.bounds:
            both = np.asarray(origin.bounds[f"{name}_bnds"])
            ends[f"{name}_bnds"] = xr.Variable("bnds", _numbers(both)[0] if is_dates(both) else both)
    return coordinates, ends


def _numbers(dates: np.ndarray) -> tuple[np.ndarray, dict[str, str]]:
    """Dates as days since 1850 in their own calendar, and the attributes that say so."""
    from xarray.coding.times import encode_cf_datetime

    calendar = "standard" if dates.dtype.kind == "M" else str(next(d.calendar for d in dates.flat))
    result, units, calendar_name = encode_cf_datetime(np.atleast_1d(dates), _SINCE, calendar, dtype=np.dtype("f8"))
    return np.asarray(result, dtype=float).reshape(dates.shape), {"units": str(units), "calendar": str(calendar_name)}
