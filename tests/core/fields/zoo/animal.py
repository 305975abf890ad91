"""What an oddity of the zoo is, and the small fields that most are made from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import shapely
import xarray as xr

from deconditioning.fields.footprints.region_files import read_outlines, regions_of
from deconditioning.tables.stations import read_stations
from tests.core.fields.samples import netcdf, region

ROWS, COLUMNS = 8, 10


@dataclass(frozen=True)
class Animal:
    """A file with one oddity, and what must come of it.

    ``make`` writes it to a path. It is read with the fields ``reads``, in order, or refused with part of the sentence
    ``refused``; ``noted`` is part of a note, ``when`` what is said of its first field. ``needs``: a package.
    ``folder``: no single file, so that no upload can be it. ``kind``: "regions" or "stations", of which ``reads`` is
    what `summary` says, for a file of these instead of fields.
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
    """What a file of regions or stations holds, with areas in square degrees and every station's value; its notes."""
    if kind == "stations":
        found = read_stations(path, "t")
        values = ", ".join(f"{value:g}" for value in found.value)
        return f"{len(found)} stations: {values} {found.units}".rstrip(), found.notes
    regions = regions_of(read_outlines(path), "rain")
    parts = (
        f"{value:g} on {area:g}" for value, area in zip(regions.value, shapely.area(regions.geometry), strict=True)
    )
    return f"{len(regions.value)} regions: {', '.join(parts)}", regions.notes


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
