"""The origin of a problem's data as JSON: a data set of the catalogue or an upload stored beside the runs."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from deconditioning.downscaling.further_sources.opening import (
    STATIONS,
    choices_of_stations,
    kind_of_source,
    kind_without_fields,
    open_regions,
    open_stations,
    values_of_regions,
)
from deconditioning.engine.visitors.uploads import UPLOAD, keep_kind, path_of, stored_of_kind
from deconditioning.errors import InputError
from deconditioning.fields.footprints.further_sources import with_further_cells, with_further_regions
from deconditioning.fields.footprints.hidden_values import Value, values_of_text, with_hidden_values
from deconditioning.fields.footprints.region_data import Regions
from deconditioning.fields.footprints.regions import cells_of_regions, make_problem_from_regions
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.footprints.stations import with_further_stations, with_scored_stations, with_stations
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.target_metadata import date_of, date_of_fields
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.several import keys_of, together
from deconditioning.fields.spec import DownscalingSpec

#: What the command line calls the files of a source.
OPTIONS = {
    "fields": "input", "coarse": "coarse", "mediator": "mediator", "regions": "polygons", "units": "value_units",
    "table": "region_table", "key": "key", "region_time": "region_time", "also": "also",
    "stations": "stations", "scored": "score_stations", "station_value": "station_value",
    "station_time": "station_time", "station_footprint": "station_footprint",
    "hide_values": "hide_values",
}  # fmt: skip
#: What the store calls an upload of fields, and what a further source with fields holds.
FIELDS = "fields"
#: A name of a field or an attribute behind a file's, which may be empty.
_NAMED = re.compile(r"(.+):([^:/\\]*)")


def keep_upload(data: bytes | Path, name: str, mark: str = "") -> tuple[str, Fields]:
    """Read an uploaded file in a separate process and keep it: its key ``upload:<digest>``, and its fields.

    ``data`` are the file's bytes, or a path from which it is moved. ``mark`` is the visitor's
    (``engine.visitor``), in whose list it is to be. Raises ``InputError`` with one sentence on anything wrong with
    the file; nothing is kept then.
    """
    from deconditioning.fields.reading.upload import open_upload

    fields = open_upload(data, name)
    return keep_kind(data, name, FIELDS, mark), fields


def stored_uploads(mark: str = "") -> dict[str, str]:
    """Key → file name of every upload of fields that is kept, or of those of one visitor."""
    return stored_of_kind(FIELDS, mark)


def open_source(key: str) -> Fields:
    """The fields of a key, or of several with `` + `` between; an upload is read in a separate process."""
    if len(keys := keys_of(key)) > 1:
        return together([open_source(one) for one in keys])
    if not key.startswith(UPLOAD):
        from deconditioning.datasets.entries import find

        return find(key).open()
    from deconditioning.fields.reading.upload import open_upload

    return open_upload(*path_of(key))


@dataclass(frozen=True)
class FurtherSource:
    """A further source of the target beside the cells, with an offset and a noise of its own.

    Parameters
    ----------
    key : a file with fields on a grid, a swath, regions, or a table of stations or soundings.
    value : the field, attribute or column that measures the target; "" for that of the target's name, or the only one.
    error : the one with the standard deviations of its errors; "" for none, or the column of a table that is called so.
    footprint : what each value of a table averages over, as a Gaussian: widths in kilometres or columns with them
        (`deconditioning.tables.footprints`); "" for points.
    """

    key: str
    value: str = ""
    error: str = ""
    footprint: str = ""

    @staticmethod
    def of_text(text: str) -> "FurtherSource":
        """``FILE[:VALUE[:ERROR[:FOOTPRINT]]]``, in which names may be empty; a colon in the name of a file that exists
        is its."""
        names: list[str] = []
        while len(names) < 3 and not Path(text).exists() and (found := _NAMED.fullmatch(text)):
            text, name = found[1], found[2]
            names.insert(0, name)
        return FurtherSource(text, *names)


@dataclass(frozen=True)
class Source:
    """Files of a problem by key.

    Parameters
    ----------
    fields : the covariates, and the target where nothing else holds it.
    coarse, mediator : the target on its own coarse grid, and mediators in a file of their own. These and ``fields`` may
        name several files, see `deconditioning.fields.several`.
    regions, units : regions whose attribute named like the target is the target, and its units; "" if not known.
    table, key : a table with the regions' values, and what joins its rows to them (`deconditioning.tables.regions`).
    region_time : which of several times the table gives; "" for that of the covariates.
    also : further sources of the target beside the cells, each with an offset and a noise of its own.
    stations, scored : stations that are targets beside the cells, and stations at which the map is only scored.
    station_value : the column of their values; "" for the one named like the target or "value".
    station_time : which of several times their tables give; "" for the map's.
    station_footprint : what the targets among them average over, as the footprint of a `FurtherSource`.
    hide_values : values of the sources in addition to the cells that no model sees, as (source, value) from 1, stations
        last; as text ``2-14``.
    """

    fields: str
    coarse: str | None = None
    mediator: str | None = None
    regions: str | None = None
    units: str = ""
    table: str | None = None
    key: str = ""
    region_time: str = ""
    also: tuple[FurtherSource, ...] = ()
    stations: str | None = None
    scored: str | None = None
    station_value: str = ""
    station_time: str = ""
    station_footprint: str = ""
    hide_values: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        if self.regions and self.coarse:
            raise InputError("Regions and a coarse file both give the target: use one of them.")
        if self.table and not (self.regions and self.key):
            raise InputError(
                "A table of the regions' values needs regions and a key that joins its rows to them: give both "
                "(`--polygons`, `--key`)."
            )
        if self.station_footprint and not self.stations:
            raise InputError("A footprint needs stations that are targets: give them (`--stations`) or leave it out.")

    @property
    def target_apart(self) -> bool:
        """Whether the target is in a file of its own."""
        return bool(self.coarse or self.regions)

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "Source":
        """A source from plain data."""
        named = {each.name: value[each.name] for each in fields(Source) if value.get(each.name)}
        named["also"] = tuple(
            FurtherSource.of_text(each) if isinstance(each, str) else FurtherSource(**each)
            for each in value.get("also") or ()
        )
        hidden = value.get("hide_values") or ()
        if any(isinstance(each, str) for each in hidden):
            hidden = values_of_text(".".join(hidden))
        named["hide_values"] = tuple(sorted({(int(source), int(number)) for source, number in hidden}))
        return Source(**{**named, "fields": str(value["fields"])})

    @staticmethod
    def of_options(options: Mapping[str, Any]) -> "Source":
        """The source of a command's options."""
        return Source.from_dict({name: options.get(option) for name, option in OPTIONS.items()})

    def to_dict(self) -> dict[str, Any]:
        """Plain data, inverse of ``from_dict``; of regions and stations only what there is."""
        gridded = ("fields", "coarse", "mediator")
        further = [{name: value for name, value in asdict(each).items() if value} for each in self.also]
        plain = asdict(self) | {"also": further, "hide_values": [list(each) for each in self.hide_values]}
        return {name: value for name, value in plain.items() if value or name in gridded}


def build_problem(
    source: Source, spec: DownscalingSpec, opener: Any = open_source, *,
    regions: Callable[..., Regions] = open_regions, stations: Callable[..., Stations] = open_stations,
) -> DownscalingProblem:  # fmt: skip
    """The downscaling problem of a source; ``opener``, ``regions`` and ``stations`` give what its keys stand for, which
    are names of files where they open files."""
    if source.regions:
        covariates = opener(source.fields)
        problem = make_problem_from_regions(covariates, _regions(source, spec, covariates, regions), spec)
    elif source.coarse:
        mediator = opener(source.mediator) if source.mediator else None
        problem = make_problem_from_files(opener(source.fields), opener(source.coarse), mediator, spec)
    else:
        problem = make_problem(opener(source.fields), spec)
    time = source.station_time or date_of(problem.origin)
    read_stations = partial(stations, time=time)
    for each in source.also:
        problem = _with_further(problem, each, opener, regions, read_stations)
    if source.stations:
        width = source.station_footprint
        problem = with_stations(
            problem, read_stations(source.stations, spec.target, source.station_value, footprint=width)
        )
    if source.hide_values:
        problem = with_hidden_values(problem, source.hide_values)
    if source.scored:
        problem = with_scored_stations(problem, read_stations(source.scored, spec.target, source.station_value))
    return problem


def _regions(source: Source, spec: DownscalingSpec, covariates: Fields, regions: Callable[..., Regions]) -> Regions:
    """The regions of a source with their values, of several times at its time or else at that of the covariates."""
    time = source.region_time
    if source.table and not time:
        time = date_of_fields(covariates, spec.covariates, spec.select)
    return regions(source.regions, spec.target, source.units, spec.error, source.table, source.key, time)


def _with_further(
    problem: DownscalingProblem, further: FurtherSource, opener: Any, regions: Callable[..., Regions],
    stations: Callable[..., Stations],
) -> DownscalingProblem:  # fmt: skip
    """The problem with a further source, whose file holds fields or, where it holds none, regions, soundings or a
    table."""
    kind, fields = _opened(further.key, opener)
    target = problem.spec.target
    if further.footprint and kind != STATIONS:
        raise InputError(
            f"The footprint {further.footprint[:40]!r} was given for a further source that has cells or outlines: "
            "leave it out, or give a table of values at points."
        )
    if kind == STATIONS:
        names = {"error": further.error, "footprint": further.footprint}
        return with_further_stations(problem, stations(further.key, target, further.value, **names))
    if fields is not None:
        return with_further_cells(problem, fields, further.value, further.error)
    return with_further_regions(problem, regions(further.key, further.value or target, "", further.error or None))


def _opened(key: str, opener: Any) -> tuple[str, Fields | None]:
    """What a further source's file holds (`FIELDS`, `REGIONS` or `STATIONS`), and its fields."""
    kind = kind_of_source(key)
    if kind is not None:
        return kind, None
    try:
        return FIELDS, opener(key)
    except InputError:
        kind = kind_without_fields(key)
        if kind is None:
            raise
        return kind, None


def names_in_source(key: str, opener: Any = open_source) -> tuple[str, list[str]]:
    """What the file of a further source holds (`FIELDS`, `REGIONS` or `STATIONS`), and the names of the fields,
    attributes or columns in it that may be its values or their errors; none for a data set's stations."""
    kind, fields = _opened(key, opener)
    if kind == STATIONS:
        return kind, choices_of_stations(key)[0]
    return kind, values_of_regions(key) if fields is None else list(fields.variables())


def cells_shape(source: Source, spec: DownscalingSpec, opener: Any = open_source) -> tuple[int, int]:
    """(rows, columns) of the coarse cells of the whole field that a source has, whatever region is kept of them."""
    from deconditioning.fields.problem.coarsened import cells_of_fields
    from deconditioning.fields.problem.two_files import cells_of_files

    if source.regions:
        return cells_of_regions(_regions(source, spec, opener(source.fields), open_regions))
    if not source.coarse:
        return cells_of_fields(opener(source.fields), spec)
    return cells_of_files(opener(source.fields), opener(source.coarse), spec)
