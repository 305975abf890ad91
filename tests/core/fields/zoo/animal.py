"""What an oddity of the zoo is, and the small fields that most are made from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import shapely
import xarray as xr

from deconditioning.fields.footprints.region_files import Outlines, read_outlines, regions_of
from deconditioning.tables.regions import joined
from deconditioning.tables.stations import read_stations
from deconditioning.tables.table import read_table
from tests.core.fields.samples import netcdf, region

ROWS, COLUMNS = 8, 10


@dataclass(frozen=True)
class Animal:
    """A file with one oddity, and what must come of it.

    ``make`` writes it to a path. It is read with the fields ``reads``, in order, or refused with part of the sentence
    ``refused``; ``noted`` is part of a note, ``when`` what is said of its first field. ``needs``: a package.
    ``folder``: no single file, so that no upload can be it. ``kind``: "regions", "stations", "soundings" or "region
    table", of which ``reads`` is what `summary` says, for a file of these instead of fields.
    """

    name: str
    make: Callable[[Path], object]
    reads: str = ""
    refused: str = ""
    noted: str = ""
    when: tuple[str, ...] | None = None
    select: dict = field(default_factory=dict)
    grid: str = ""
    needs: str = ""
    folder: bool = False
    kind: str = "fields"


def summary(kind: str, path: Path) -> tuple[str, tuple[str, ...]]:
    """What a file of regions or stations holds, with areas in square degrees and every station's value; its notes.

    Soundings are read with their footprints, and values of regions for the codes 01, 02, 03 and 10 in February 2001.
    """
    if kind == "region table":
        return _of_four_regions(path)
    if kind == "soundings":
        found = read_stations(path, "t", footprint="major,minor,angle")
        values = ", ".join(f"{value:g}" for value in found.value)
        return f"{len(found)} soundings: {values}; {found.footprint}", found.notes
    if kind == "stations":
        found = read_stations(path, "t")
        values = ", ".join(f"{value:g}" for value in found.value)
        return f"{len(found)} stations: {values} {found.units}".rstrip(), found.notes
    regions = regions_of(read_outlines(path), "rain")
    parts = (
        f"{value:g} on {area:g}" for value, area in zip(regions.value, shapely.area(regions.geometry), strict=True)
    )
    return f"{len(regions.value)} regions: {', '.join(parts)}", regions.notes


def _of_four_regions(path: Path) -> tuple[str, tuple[str, ...]]:
    """The values of four regions from a table in February 2001, and notes."""
    codes, month = ["01", "02", "03", "10"], "2001-02"
    squares = Outlines(shapely.box(range(4), 40, range(1, 5), 41), {"code": codes}, "four squares")
    found = regions_of(joined(squares, read_table(path), "code", month), "rain")
    values = ", ".join("none" if np.isnan(value) else f"{value:g}" for value in found.value)
    return f"{' '.join([f'{len(codes)} regions: {values}', found.units]).rstrip()} in {month}", found.notes


def of(name: str, data: xr.Dataset, reads: str = "", *, form: str = "NETCDF4", encoding: dict | None = None, **more):
    """An oddity that is a data set, written as NetCDF."""
    return Animal(f"{name}.nc", lambda path: path.write_bytes(netcdf(data, form, **(encoding or {}))), reads, **more)


def small() -> xr.Dataset:
    """8 × 10 cells of one degree with `t`, `orog` and `q`."""
    return region(ROWS, COLUMNS)


def timed(values: list[float], units: str, calendar: str = "", data: xr.Dataset | None = None) -> xr.Dataset:
    """The small fields at several times, numbers as a file holds them."""
    said = {"units": units, "standard_name": "time"} | ({"calendar": calendar} if calendar else {})
    found = (small() if data is None else data).expand_dims(time=len(values))
    return found.assign_coords(time=("time", np.asarray(values), said)).copy(deep=True)
