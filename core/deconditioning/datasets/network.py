"""A generated field seen by coarse cells and by a network of stations, whose truth is known.

A temperature falls with height and has a rough rest (exponential covariance). A station measures its pixel with an
error and a difference of its own, and all stations may differ from the cells by an offset. A swath of soundings
measures means over ellipses.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from deconditioning.fields.footprints.region_files import Outlines
    from deconditioning.fields.footprints.station_data import Stations
    from deconditioning.fields.gridded import Fields

#: Pixels each way, pixels of a cell each way, stations that are seen and scored.
SIZE, BLOCK, SEEN, SCORED = 72, 18, 50, 300
#: Corner of the invented landscape (degrees): in the Atlantic, where maps have neither coasts nor cities.
SOUTH, WEST = 45, -40
#: K per metre of height; sd and range (pixels) of the rough rest; sds of a station's error and of its own difference.
LAPSE, ROUGH, RANGE, ERROR, OWN = -0.0065, 1.5, 24.0, 0.1, 0.15
#: By how much (K) all stations of the bundled example differ from the cells.
OFFSET = 0.8
#: Rows of soundings and soundings in a row; full widths at half maximum (km), of the narrowest and the widest; sd of a
#: sounding's error, and by how much (K) all differ from the cells.
SOUNDINGS, WIDTHS, SWATH_ERROR, SWATH_OFFSET = (9, 5), (20.0, 35.0), 0.3, -1.2
#: Regions of the bundled example.
_DISTRICTS = 40


@dataclass(frozen=True, eq=False)
class Network:
    """``fields`` with temperature ``t`` (K) and height ``altitude`` (m), the stations that are ``targets`` and those at
    which it is ``scored``."""

    fields: "Fields"
    targets: "Stations"
    scored: "Stations"


#: Names of the two sources, and by what each differs from the cells (K).
_STATIONS, _SWATH = "the synthetic network", "a synthetic satellite swath"
TRUE_OFFSETS = {_STATIONS: OFFSET, _SWATH: SWATH_OFFSET}


@lru_cache(maxsize=4)
def network(seed: int = 0, offset: float = OFFSET) -> Network:
    """One draw; ``offset`` (K) is what all stations differ by from the cells."""
    import xarray as xr

    from deconditioning.fields.footprints.station_data import Stations
    from deconditioning.fields.from_dataset import fields_from_dataset

    rng = np.random.default_rng(seed)
    height = 300 + 250 * _rough(rng, 10.0, 2.0)
    truth = 288 + LAPSE * height + ROUGH * _rough(rng, RANGE, 1.0)
    lines = {"lat": ("lat", SOUTH + 0.05 * np.arange(SIZE), {"units": "degrees_north"}),
             "lon": ("lon", WEST + 0.05 * np.arange(SIZE), {"units": "degrees_east"})}  # fmt: skip
    temperature = {"units": "K", "long_name": "synthetic air temperature"}
    data = {"t": (("lat", "lon"), truth, temperature), "altitude": (("lat", "lon"), height, {"units": "m"})}
    dataset, source = xr.Dataset(data, lines), "synthetic temperature and altitude"
    fields = fields_from_dataset(dataset, source=source, licence="none needed: synthetic")
    pixel = rng.choice(truth.size, SEEN + SCORED, replace=False)
    value = truth.flat[pixel] + offset + np.hypot(ERROR, OWN) * rng.standard_normal(len(pixel))
    every = Stations(
        fields.grid.latitude.flat[pixel], fields.grid.longitude.flat[pixel], value, np.full(len(pixel), ERROR),
        units="K", source=_STATIONS,
    )  # fmt: skip
    return Network(fields, every.of(np.arange(SEEN)), every.of(np.arange(SEEN, len(pixel))))


def swath(seed: int = 0, offset: float = SWATH_OFFSET) -> "Stations":
    """Soundings of the same draw: rows across a slanted track, each the mean over an ellipse that widens towards the
    sides of the track, with an error; ``offset`` (K) is what all differ by from the cells."""
    from deconditioning.fields.footprints.gaussian import GaussianFootprint, footprint_pixels
    from deconditioning.fields.footprints.station_data import Stations

    fields, rng = network(seed).fields, np.random.default_rng((seed, 1))
    rows, across = SOUNDINGS
    along, side = np.meshgrid(np.linspace(0.04, 0.96, rows), np.linspace(-1, 1, across), indexing="ij")
    extent = 0.05 * (SIZE - 1)
    latitude = SOUTH + extent * (along + 0.05 * side).clip(0, 1).ravel()
    longitude = WEST + extent * (0.35 + 0.25 * along + 0.25 * side).ravel()
    widths = WIDTHS[0] + (WIDTHS[1] - WIDTHS[0]) * np.abs(side).ravel()
    footprint = GaussianFootprint(widths, np.full(widths.size, WIDTHS[0]), np.full(widths.size, 100.0))
    grid = fields.grid
    pairs = footprint_pixels(grid, np.arange(grid.area.size), latitude, longitude, footprint)
    truth = fields.values("t", {}).ravel()
    sums, mass = (np.bincount(pairs.measurement, pairs.mass * each, widths.size) for each in (truth[pairs.pixel], 1.0))
    value = sums / mass + offset + SWATH_ERROR * rng.standard_normal(widths.size)
    return Stations(
        latitude, longitude, value, np.full(widths.size, SWATH_ERROR), units="K", source=_SWATH,
        footprint=footprint,
    )  # fmt: skip


def districts(seed: int = 0) -> "Outlines":
    """``_DISTRICTS`` Voronoi polygons of random points over the same draw, with the mean of its temperature (K) in each
    as attribute ``temperature``."""
    import shapely

    from deconditioning.fields.footprints.region_data import pixels_inside
    from deconditioning.fields.footprints.region_files import Outlines

    fields = network(seed).fields
    grid, truth = fields.grid, fields.values("t", {}).ravel()
    whole = shapely.box(grid.x_edges[0], grid.y_edges[0], grid.x_edges[-1], grid.y_edges[-1])
    rng = np.random.default_rng(seed)
    low, high = (np.array([line[end] for line in (grid.x_edges, grid.y_edges)]) for end in (0, -1))
    points = shapely.multipoints(rng.uniform(low, high, (_DISTRICTS, 2)))
    outlines = shapely.intersection(shapely.get_parts(shapely.voronoi_polygons(points, extend_to=whole)), whole)
    inside = pixels_inside(grid, outlines)
    mass = inside.fraction * grid.area.ravel()[inside.pixel]
    sums = (np.bincount(inside.region, mass * each, _DISTRICTS) for each in (truth[inside.pixel], np.ones(len(mass))))
    total, area = sums
    names = [f"District {number}" for number in range(1, _DISTRICTS + 1)]
    return Outlines(outlines, {"name": names, "temperature": (total / area).tolist()}, "the synthetic districts")


def _rough(rng: np.random.Generator, radius: float, order: float) -> np.ndarray:
    """A field (n, n) of sd about one with the spectrum ``(1 + (reach k)²)^{−(order/2 + 1)}``: Matérn of order/2."""
    n = 4 * SIZE
    k = 2 * np.pi * np.fft.fftfreq(n)
    power = (1 + radius**2 * (k[:, None] ** 2 + k[None] ** 2)) ** (-(0.5 * order + 1))
    noise = np.fft.fft2(rng.standard_normal((n, n)))
    field = np.fft.ifft2(np.sqrt(power / power.mean()) * noise).real
    return field[:SIZE, :SIZE]
