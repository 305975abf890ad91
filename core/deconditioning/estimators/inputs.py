"""Converts the arguments of an estimator (xarray objects, files, open fields) to a downscaling problem."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

import xarray as xr

from deconditioning.downscaling.further_sources.opening import regions_at, stations_at
from deconditioning.downscaling.source import FurtherSource, Source, build_problem
from deconditioning.errors import InputError, short
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.reading.decoding import Decoded
from deconditioning.fields.reading.opening import fields_from_decoded, is_large, lazily_decoded, open_fields
from deconditioning.fields.spec import DownscalingSpec

#: Accepted forms of a field.
Gridded = xr.DataArray | xr.Dataset | Fields | str | Path
#: A further source of the target: as a command has it, or a field or table with the names of its values and of their
#: errors, and the footprint of a table.
Also = Gridded | tuple[Gridded, str] | tuple[Gridded, str, str] | tuple[str | Path, str, str, str]


class DataSettings(TypedDict, total=False):
    """Settings of the data in ``fit`` and ``downscale``; see `Downscaler.fit`."""

    target: str
    covariate_names: Sequence[str]
    mediator_names: Sequence[str]
    coarsen: tuple[int, int]
    block: tuple[int, int]
    withhold: float
    matching: str
    coordinates: bool
    select: Mapping[str, int | str]
    coarse_select: Mapping[str, int | str]
    hide: Sequence[tuple[int, int]]
    reveal: Sequence[tuple[int, int]]
    region: tuple[int, int, int, int]
    reweigh: bool
    missing: Sequence[str]
    also: "Also | Sequence[Also]"
    stations: str | Path
    hide_values: Sequence[tuple[int, int]]
    climatology: "Gridded"
    period: str | Sequence[str]


@dataclass(frozen=True, eq=False)
class Request:
    """What is to be downscaled: the problem's settings, its fields under the keys of ``source``, and a file whose
    ``climatology`` is a covariate, with the times that it comes from in words.
    """

    source: Source
    spec: DownscalingSpec
    fields: Mapping[str, Fields]
    climatology: tuple[Fields, Sequence[str]] | None = None

    def at(self, times: Sequence[str] = ()) -> "Request":
        """The request with the climatology at some times, or at one, as a covariate."""
        if self.climatology is None:
            return self
        from deconditioning.period.archive.climatology import with_climatology

        archive, words = self.climatology
        spec, fields, _ = with_climatology(self.source, self.spec, self.fields, archive, times, words)
        return replace(self, spec=spec, fields=fields, climatology=None)

    def problem(self) -> DownscalingProblem:
        """The downscaling problem."""

        def opener(key: str) -> Fields:
            """The fields of a key, or of a file."""
            return whole.fields[key] if key in whole.fields else open_fields(key)

        whole = self.at()
        return build_problem(whole.source, whole.spec, opener, regions=regions_at, stations=stations_at)


def request_of(
    coarse: Gridded, covariates: Gridded, mediator: Gridded | None, seed: int, data: DataSettings
) -> Request:
    """These fields as a request, with the command line's defaults.

    Raises ``InputError`` if the fields have no grid, or if a name or a setting is unknown.
    """
    unknown = sorted(set(data) - set(DataSettings.__annotations__))
    if unknown:
        known = ", ".join(sorted(DataSettings.__annotations__))
        raise InputError(f"The setting '{unknown[0]}' of the data is unknown: choose among {known}.")
    further, data = _further_sources(data)
    climatology, data = _climatology(data)
    if data.get("coarsen") is not None:
        request = _coarsened(coarse, covariates, mediator, seed, data)
    else:
        request = _on_another_grid(coarse, covariates, mediator, seed, data)
    source, fields = replace(request.source, **further.files), {**request.fields, **further.fields}
    return replace(request, source=source, fields=fields, climatology=climatology)


def _climatology(data: DataSettings) -> tuple[tuple[Fields, Sequence[str]] | None, DataSettings]:
    """The file of a climatology with the words of its times, if there is one, and the other settings."""
    rest: Any = {name: value for name, value in data.items() if name not in ("climatology", "period")}
    period = data.get("period") or ()
    if data.get("climatology") is None:
        if period:
            raise InputError("`period` chooses the times of `climatology` or of `archive`: give one of them.")
        return None, rest
    return (fields_of(data["climatology"], "climatology"), [period] if isinstance(period, str) else period), rest


@dataclass(frozen=True, eq=False)
class _FurtherSources:
    """The further sources of a request: ``files`` by their names in a `Source`, and the fields under their keys."""

    files: Mapping[str, Any]
    fields: Mapping[str, Fields]


def _further_sources(data: DataSettings) -> tuple[_FurtherSources, DataSettings]:
    """The further sources and stations among settings of the data, and the other settings."""
    given = data.get("also", ())
    one = isinstance(given, tuple) and len(given) in (2, 3, 4) and isinstance(given[1], str)
    each = list(given) if isinstance(given, list | tuple) and not one else [given]
    fields: dict[str, Fields] = {}
    also = []
    for number, value in enumerate(each):
        held, *names = value if isinstance(value, tuple) else (value,)
        if isinstance(held, str | Path):
            source = FurtherSource.of_text(str(held))
            also.append(FurtherSource(source.key, *names) if names else source)
            continue
        key = f"also {number + 1}"
        fields[key] = fields_of(held, key)
        also.append(FurtherSource(key, *names))
    stations = data.get("stations")
    files = {
        "also": tuple(also),
        "stations": None if stations is None else str(stations),
        "hide_values": tuple(data.get("hide_values", ())),
    }
    rest = {name: value for name, value in data.items() if name not in files}
    return _FurtherSources(files, fields), rest  # type: ignore[return-value]


def _on_another_grid(
    coarse: Gridded, covariates: Gridded, mediator: Gridded | None, seed: int, data: DataSettings
) -> Request:
    """A target on a grid of its own."""
    fine, rough = fields_of(covariates, "covariates"), fields_of(coarse, "coarse")
    matching = None if mediator is None else fields_of(mediator, "mediator")
    target = _target(rough, data.get("target"))
    mediators = _names(matching, data.get("mediator_names"), (target,))
    names = _names(fine, data.get("covariate_names"), (target, *mediators))
    settings = {"withhold": 0.0, **_others(data)}
    spec = DownscalingSpec(target, tuple(names), tuple(mediators), seed=seed, **settings)
    fields = {"covariates": fine, "coarse": rough} | ({} if matching is None else {"mediator": matching})
    return Request(Source("covariates", "coarse", None if matching is None else "mediator"), spec, fields)


def _coarsened(
    coarse: Gridded, covariates: Gridded, mediator: Gridded | None, seed: int, data: DataSettings
) -> Request:
    """A target on the covariates' grid, averaged over blocks."""
    if mediator is not None or "block" in data:
        other = "mediator" if mediator is not None else "block"
        raise InputError(f"`{other}` applies to a target on its own coarse grid: omit it, or omit `coarsen`.")
    fields, target = _together(coarse, covariates, data.get("target"))
    mediators = list(data.get("mediator_names", ()))
    names = _names(fields, data.get("covariate_names"), (target, *mediators))
    spec = DownscalingSpec(target, tuple(names), tuple(mediators), data["coarsen"], seed=seed, **_others(data))
    return Request(Source("covariates"), spec, {"covariates": fields})


def _others(data: DataSettings) -> dict[str, Any]:
    """The settings that `DownscalingSpec` takes by the same name."""
    return {k: v for k, v in data.items() if k not in ("target", "covariate_names", "mediator_names", "coarsen")}


def fields_of(value: Gridded, role: str) -> Fields:
    """The fields of an xarray object, a file or a URL, with the checks of a file; ``role`` names it in errors.

    Raises ``InputError`` for anything else, and for fields without a grid.
    """
    if isinstance(value, Fields):
        return value
    if isinstance(value, str | Path):
        return open_fields(value)
    dataset = _dataset_of(value, role)
    source = Path(str(dataset.encoding.get("source") or "")).name or f"`{role}`"
    try:
        if is_large(dataset) or any(variable.chunks for variable in dataset.variables.values()):
            return lazily_decoded(dataset, source)
        return fields_from_decoded(Decoded(dataset), source)
    except InputError as error:
        raise InputError(f"`{role}` cannot be used. {error}") from error


def _dataset_of(value: Any, role: str) -> xr.Dataset:
    """A shallow copy of an xarray object as a dataset, with bounds and grid mappings where the reader expects them.

    A ``DataArray`` without a name is named after its role.
    """
    if isinstance(value, xr.DataArray):
        name = role if value.name is None else str(value.name)
        if name in value.coords:
            raise InputError(f"`{role}` is the coordinate `{name}`, not a field on the grid: give a data variable.")
        value = value.to_dataset(name=name)
        value.encoding["source"] = value[name].encoding.get("source")
    if not isinstance(value, xr.Dataset):
        raise InputError(
            f"`{role}` is a {type(value).__name__}: give an xarray DataArray or Dataset, a file's name, or what "
            "`open_fields` returns."
        )
    stacked = [str(name) for name, index in value.xindexes.items() if isinstance(index, xr.indexes.PandasMultiIndex)]
    if stacked:
        raise InputError(f"`{role}` has the stacked index `{stacked[0]}`: call `unstack` first.")
    dataset = value.copy(deep=False)
    dataset.encoding = dict(value.encoding)
    mappings = [name for name in dataset.coords if {"grid_mapping_name", "crs_wkt"} & set(dataset[name].attrs)]
    dataset = dataset.reset_coords(mappings)
    for key, variable in dataset.variables.items():
        # xarray's decode_coords="all" moves these from the attributes to the encoding
        moved = {k: variable.encoding[k] for k in ("bounds", "grid_mapping") if k in variable.encoding}
        if moved:
            dataset[key].attrs = moved | variable.attrs
    return dataset


def _together(coarse: Gridded, covariates: Gridded, target: str | None) -> tuple[Fields, str]:
    """A fine target and its covariates as fields of one grid, and the target's name."""
    plain = isinstance(coarse, str | Path) and isinstance(covariates, str | Path) and str(coarse) == str(covariates)
    if plain or coarse is covariates:
        fields = fields_of(covariates, "covariates")
        return fields, _target(fields, target)
    if any(isinstance(each, Fields | str | Path) for each in (coarse, covariates)):
        raise InputError("With `coarsen`, give the target and the covariates as xarray objects, or both in one file.")
    fine, coarse_dataset = _dataset_of(covariates, "covariates"), _dataset_of(coarse, "coarse")
    name = _target(fields_of(coarse_dataset, "coarse"), target)
    try:
        fine, coarse_dataset = xr.align(fine, coarse_dataset, join="exact", copy=False)
        held = [name, *(n for n in coarse_dataset.data_vars if n not in fine.variables and coarse_dataset[n].ndim < 2)]
        joined = fine.drop_vars(name, errors="ignore").merge(coarse_dataset[held], join="exact", compat="no_conflicts")
    except ValueError as error:
        raise InputError(
            f"With `coarsen` the target must lie on the covariates' grid, but it does not ({short(error)}): leave "
            "`coarsen` out for a target on its own grid."
        ) from error
    return fields_of(joined, "covariates"), name


def _target(fields: Fields, target: str | None) -> str:
    """The target's name: the given one, or that of the only field."""
    there = list(fields.variables())
    if target is not None:
        fields.check(target)
        return target
    if len(there) != 1:
        raise InputError(f"The target could be any of {', '.join(there) or 'no fields'}: name it with `target`.")
    return there[0]


def _names(fields: Fields | None, names: Sequence[str] | None, without: Sequence[str]) -> list[str]:
    """The given names, or those of all fields except ``without``."""
    if isinstance(names, str):
        raise InputError(f"Names of variables are given as a list: write ['{names}'].")
    if names is not None:
        return list(names)
    return [] if fields is None else [name for name in fields.variables() if name not in without]
