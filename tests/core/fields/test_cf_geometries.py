"""CF geometries: holes, islands, open and closed rings, several times, projections; what contradicts itself."""

from pathlib import Path

import numpy as np
import pytest
import shapely
import xarray as xr

from deconditioning.downscaling.further_sources.opening import REGIONS, keep_further_file, kind_of, open_regions
from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_files import read_outlines, read_regions
from deconditioning.fields.reading.opening import open_fields
from tests.core.fields.zoo.outlines import container, square

#: A square with a hole and an island in it, a region of two islands, one without an outline, and a triangle.
RINGS = [
    [(square(0, 0, 6), 0), (square(1, 1, 4)[::-1], 1), (square(2, 2, 1), 0)],
    [(square(10, 0, 1), 0), (square(12, 0, 2), 0)],
    [],
    [([(20, 0), (23, 0), (20, 4)], 0)],
]
AREAS = [36 - 16 + 1, 1 + 4, 6]


def written(folder: Path, data: xr.Dataset) -> Path:
    data.to_netcdf(folder / "regions.nc", engine="h5netcdf")
    return folder / "regions.nc"


def regions(**more) -> xr.Dataset:
    data = container(RINGS, **more)
    rain = {"geometry": "shapes", "units": "mm"}
    data["rain"] = ("region", [1.0, 2.0, 3.0, np.nan], rain)
    data["name"] = ("region", np.array(["a", "b", "c", "d"], dtype=object))
    return data


@pytest.mark.parametrize("closed", [False, True])
def test_holes_islands_and_gaps_are_those_of_the_file(tmp_path: Path, closed: bool) -> None:
    found = read_regions(written(tmp_path, regions(closed=closed)), "rain")
    assert shapely.area(found.geometry).tolist() == AREAS and shapely.is_valid(found.geometry).all()
    assert found.name == ("a", "b", "d") and found.units == "mm"
    np.testing.assert_array_equal(found.value, [1, 2, np.nan])
    assert any("1 of 4 regions of regions.nc have no outline" in note for note in found.notes)
    x, y = np.random.default_rng(0).uniform((0, 0), (24, 6), (4000, 2)).T  # by the parity of crossings, hole or not
    for shape, rings in zip(found.geometry, [RINGS[0], RINGS[1], RINGS[3]], strict=True):
        crossings = sum(odd(np.array(ring), x, y) for ring, _ in rings)
        np.testing.assert_array_equal(shapely.contains_xy(shape, x, y), crossings % 2 == 1)


def odd(ring: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How many sides of a ring lie east of points."""
    count = np.zeros(len(x), dtype=int)
    for (x0, y0), (x1, y1) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        if y0 != y1:
            count += ((y >= min(y0, y1)) & (y < max(y0, y1))) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return count


def test_an_upload_is_the_same_and_fields_say_what_it_is(tmp_path: Path, runs_folder: Path) -> None:
    path = written(tmp_path, regions())
    assert kind_of(path, path.name) is None
    stored = open_regions(keep_further_file(REGIONS, path.read_bytes(), path.name), "rain")
    here = read_regions(path, "rain")
    assert shapely.equals(stored.geometry, here.geometry).all() and stored.units == "mm" and stored.name == here.name
    with pytest.raises(InputError, match="--polygons"):
        open_fields(path)


def test_several_times_are_attributes_and_classic_files_do_as_well(tmp_path: Path) -> None:
    data = regions().drop_vars("name")
    data["t"] = (("time", "region"), np.arange(8.0).reshape(2, 4), {"geometry": "shapes", "units": "K"})
    data.to_netcdf(tmp_path / "a.nc", engine="scipy")
    found = read_outlines(tmp_path / "a.nc")
    assert found.numeric == ["rain", "t[0]", "t[1]"] and found.attributes["t[1]"] == [4, 5, 7]
    assert found.units["t[0]"] == "K" and "called t[0] to t[1]" in " ".join(found.notes)


@pytest.mark.parametrize("units", ["m", "km"])
def test_projected_corners_lie_where_pyproj_puts_them(tmp_path: Path, units: str) -> None:
    from pyproj import CRS, Transformer

    scale = 1e-3 if units == "km" else 1.0
    metres = [(4e6 + dx, 3e6 + dy) for dx, dy in ((0, 0), (5e4, 0), (5e4, 7e4))]
    data = container([[([(x * scale, y * scale) for x, y in metres], 0)]], units=(units, units))
    data["shapes"].attrs["grid_mapping"] = "crs"
    data["crs"] = ((), 0, CRS.from_epsg(3035).to_cf())
    (found,) = read_outlines(written(tmp_path, data)).geometry
    to_degrees = Transformer.from_crs("EPSG:3035", "EPSG:4326", always_xy=True)
    wanted = [to_degrees.transform(*corner) for corner in metres]
    np.testing.assert_allclose(shapely.get_coordinates(found)[:3], wanted, atol=1e-9)


def changed(**attributes) -> xr.Dataset:
    data = regions()
    data["shapes"].attrs |= attributes
    return data


def short(name: str) -> xr.Dataset:
    data = regions()
    data[name].values[0] += 1
    return data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (changed(geometry_type="point"), "points are stations"),
        (changed(node_count="nowhere"), "names `nowhere`, which is missing"),
        (changed(node_coordinates="x"), "one list of x and one of y"),
        (short("counts"), "contradict each other"),
        (short("parts"), "contradict each other"),
        (regions(units=("m", "m")), "without a grid mapping"),
        (container([[(square(0, 0, 1), 1)]]), "Region 1 of regions.nc begins with a hole"),
        (container([[([(0, 0), (1, 1)], 0)]]), "Ring 1 of regions.nc has 2 corners"),
        (container([[]]), "No region of regions.nc has an outline"),
        (xr.Dataset({"t": ("x", [1.0])}), "no geometry container"),
        (regions().assign(other=regions()["shapes"]), "the geometry containers"),
    ],
)
def test_what_contradicts_itself_is_refused_with_a_sentence(tmp_path: Path, data: xr.Dataset, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_outlines(written(tmp_path, data))


@pytest.mark.parametrize("units", ["degrees", "radian"])
def test_soundings_are_the_hulls_of_their_corners(tmp_path: Path, units: str) -> None:
    """Turned rectangles, by which random points lie within half a length along and half a width across."""
    rng = np.random.default_rng(0)
    count, size = 40, np.array([0.4, 0.15])
    middle = np.column_stack([rng.uniform(-3, 3, count), rng.uniform(44, 48, count)])
    turn = rng.uniform(0, 2 * np.pi, count)
    axes = np.stack([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]).transpose(2, 0, 1)
    signs = np.array([(-1, -1), (1, 1), (-1, 1), (1, -1)])  # not the order around the rectangle
    corners = middle[:, None] + np.einsum("cs,nsd->ncd", signs * size / 2, axes)
    scale = np.pi / 180 if units == "radian" else 1.0
    sides = {
        f"clat{end}": (("cell", *more), scale * values, {"units": units, "standard_name": "latitude", **about})
        for end, more, values, about in (("", (), middle[:, 1], {"bounds": "clat_corner_sheet"}),
                                         ("_corner_sheet", ("k",), corners[..., 1], {}))
    }  # fmt: skip
    sides |= {
        name.replace("lat", "lon"): (dims, scale * values, {"units": units, "standard_name": "longitude", **about})
        for name, dims, values, about in (
            ("clat", ("cell",), middle[:, 0], {"bounds": "clon_corner_sheet"}),
            ("clat_corner_sheet", ("cell", "k"), corners[..., 0], {}),
        )
    }
    data = xr.Dataset({**sides, "t": ("cell", np.arange(count) + 280.0, {"units": "K"})})
    found = read_regions(written(tmp_path, data), "t")
    assert found.units == "K" and found.value.tolist() == (np.arange(count) + 280.0).tolist()
    points = rng.uniform((-4, 43), (4, 49), (4000, 2))
    for shape, at, own in zip(found.geometry, middle, axes, strict=True):
        inside = (np.abs((points - at) @ own.T) < size / 2).all(axis=1)
        np.testing.assert_array_equal(shapely.contains_xy(shape, *points.T), inside)
    with pytest.raises(InputError, match="40 soundings or cells of a mesh with their corners"):
        open_fields(tmp_path / "regions.nc")


def test_corners_that_are_no_angles_are_refused(tmp_path: Path) -> None:
    about = {"units": "m"}
    data = xr.Dataset({
        "t": ("n", np.ones(20)), "lat": ("n", np.ones(20), {"units": "degrees_north"}),
        "lon": ("n", np.ones(20), {"units": "degrees_east"}),
        "lat_bnds": (("n", "nv"), np.ones((20, 4)), about), "lon_bnds": (("n", "nv"), np.ones((20, 4)), about),
    })  # fmt: skip
    with pytest.raises(InputError, match=r"`lat_bnds` of regions.nc are in 'm', which is no angle"):
        read_regions(written(tmp_path, data), "t")
