"""Regions with outlines: areas in closed form, holes, islands, overlaps, files of three kinds, a map from them."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import shapely
import torch
import xarray as xr

from deconditioning.downscaling.further_sources.opening import REGIONS, keep_further_file, kind_of, open_regions
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.run import downscale, export
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_data import Regions, pixels_inside
from deconditioning.fields.footprints.region_files import read_regions
from deconditioning.fields.footprints.regions import make_problem_from_regions
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.grids.grid import make_grid
from deconditioning.fields.grids.pixel_shares import shares_between
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.remapcon.cases import GRIDS, lines
from tests.core.fields.samples import rectilinear

pytestmark = pytest.mark.usefixtures("short_chain")


def weights(grid, regions) -> np.ndarray:
    """(n, pixels) share of each pixel in each region, dense."""
    inside = pixels_inside(grid, np.array(regions, dtype=object))
    result = np.zeros((len(regions), grid.area.size))
    np.add.at(result, (inside.region, inside.pixel), inside.fraction)
    return result


def test_rectangles_are_cells_of_a_grid() -> None:
    fine = make_grid("latlon", lines(40, 50, 0.3), lines(0, 12, 0.4))
    cells = make_grid("latlon", np.arange(42, 48.0), np.arange(2, 10.0))
    boxes = [shapely.box(x - 0.5, y - 0.5, x + 0.5, y + 0.5) for y in cells.y for x in cells.x]
    shares = shares_between(fine, cells)
    wanted = np.zeros((cells.area.size, fine.area.size))
    wanted[shares.cell, shares.pixel] = shares.fraction
    assert np.abs(weights(fine, boxes) - wanted).max() < 6e-3  # shares of cells leave out half a percent
    exact = weights(fine, boxes) @ fine.steradians().ravel()
    assert np.allclose(exact, cells.steradians().ravel(), rtol=1e-12)


@pytest.mark.parametrize("name", ["fine", "rotated", "lambert", "sheet"])
def test_areas_with_holes_and_islands_are_those_of_the_sphere(name: str) -> None:
    grid = GRIDS[name]
    middle = grid.latitude.mean(), grid.longitude[grid.shape[0] // 2, grid.shape[1] // 2]
    around = shapely.Point(middle[1], middle[0]).buffer(5)
    hole, island = around.buffer(-2), around.buffer(-4)
    region = shapely.union_all([around.difference(hole), island])
    area = weights(grid, [region])[0] @ grid.steradians().ravel()
    t, s = np.linspace(0, 2 * np.pi, 65), np.linspace(0, 1, 200)[:, None]  # shapely's circles have 64 corners

    def circle(radius: float) -> float:
        """∮ sin φ dλ along the sides, which are straight in degrees."""
        x, y = np.deg2rad(middle[1] + radius * np.cos(t)), np.deg2rad(middle[0] + radius * np.sin(t))
        return abs(float(np.trapezoid(np.sin(y[:-1] + s * np.diff(y)), s * np.diff(x), axis=0).sum()))

    wanted = circle(5) - circle(3) + circle(1)
    assert area == pytest.approx(wanted, rel=6e-3 if name in ("lambert", "sheet") else 1e-3)


def test_regions_may_overlap_and_cross_the_date_line() -> None:
    turns = {}
    for turn in (10.0, 180.0):
        grid = make_grid("latlon", lines(0, 10, 0.5), turn + lines(-6, 6, 0.5))
        one, other = (np.array([[turn - 3 + by, 2], [turn + 3 + by, 2], [turn + by, 8]]) for by in (0, 1.3))
        other[:, 0] = (other[:, 0] + 180) % 360 - 180
        turns[turn] = weights(grid, [shapely.Polygon(one), shapely.Polygon(other)])
    assert (turns[10.0].sum(axis=0) > 1.5).any()
    assert np.allclose(turns[10.0], turns[180.0], atol=1e-9)


def hexagons(rows: int = 6, columns: int = 8, gap: float = 0.0) -> list[shapely.Polygon]:
    """Hexagons between 40 and 46 N, 5 and 13 E."""
    angle = np.deg2rad(60 * np.arange(6) + 30)
    return [
        shapely.Polygon(np.stack([5.8 + 0.95 * (c + 0.5 * (r % 2)) + (0.55 - gap) * np.cos(angle),
                                  40.7 + 0.82 * r + (0.55 - gap) * np.sin(angle)], axis=1))
        for r in range(rows) for c in range(columns)
    ]  # fmt: skip


def fields_and_truth(seed: int = 0):
    data = rectilinear(40.125 + 0.25 * np.arange(24), 5.125 + 0.25 * np.arange(36), seed=seed)
    return fields_from_dataset(data.drop_vars("t")), data.t.values


def means_of_hexagons() -> tuple[DownscalingProblem, np.ndarray, np.ndarray]:
    """Means over hexagons, a fifth withheld; the truth, and the area (n, pixels) of every pixel in every hexagon."""
    fields, truth = fields_and_truth()
    shapes = np.array(hexagons(), dtype=object)
    area = weights(fields.grid, shapes) * fields.grid.area.ravel()
    value = area @ truth.ravel() / area.sum(axis=1)
    regions = Regions(shapes, value, tuple(f"hexagon {n}" for n in range(len(shapes))), "K")
    return make_problem_from_regions(fields, regions, DownscalingSpec("t", ("orog",), withhold=0.2)), truth, area


def test_a_region_in_two_halves_has_its_middle_between_them_and_exchanged_coordinates_are_suspected() -> None:
    halves = shapely.MultiPolygon([shapely.box(178, 41, 180, 44), shapely.box(-180, 41, -178, 44)])
    one = shapely.Polygon([(178, 41), (-178, 41), (-178, 44), (178, 44)])
    latitude, longitude = Regions(np.array([halves, one], dtype=object), np.ones(2), ("a", "b")).middles()
    np.testing.assert_allclose(latitude, 42.5)
    np.testing.assert_allclose(np.abs(longitude), 180)
    fields, _ = fields_and_truth()
    turned = shapely.transform(np.array(hexagons(), dtype=object), lambda at: at[:, ::-1])
    for shapes, said in ((turned, "look exchanged"), (hexagons()[:1], "")):
        moved = shapes if said else shapely.transform(np.array(shapes, dtype=object), lambda at: at + 40)
        with pytest.raises(InputError, match=f"None of the .* coordinates.*{said}"):
            regions = Regions(np.array(moved, dtype=object), np.ones(len(moved)), ("a",) * len(moved))
            make_problem_from_regions(fields, regions, DownscalingSpec("t", ("orog",)))


@pytest.mark.gpu
def test_a_gpu_gives_the_same_map_from_hexagons() -> None:
    found = means_of_hexagons()[0]
    spec = starting_spec(found, DownscaleSettings())
    data = matched_data(found, spec)
    here, there = (predict(spec, data, found, device=torch.device(name)) for name in ("cpu", "cuda"))
    assert there.mean.device.type == "cuda"
    assert torch.allclose(there.mean.cpu(), here.mean, atol=1e-8) and torch.allclose(there.sd.cpu(), here.sd, atol=1e-8)


def test_a_map_from_hexagons_honours_their_means_and_beats_constants() -> None:
    found, truth, area = means_of_hexagons()
    assert found.data.bags.count == round(0.8 * len(area)) and found.units == "K"
    at = np.flatnonzero(found.observed)
    order = [int(np.flatnonzero(found.regions.cell == cell)[0]) for cell in at]
    bag = np.zeros((len(at), area.shape[1]))
    np.add.at(bag, (found.data.bags.bag.numpy(), found.pixel[found.bag_pixel]), found.data.bags.weights.numpy())
    assert np.allclose(bag, area[order] / area[order].sum(axis=1, keepdims=True), atol=1e-12)
    spec = starting_spec(found, DownscaleSettings())
    mean = found.physical_mean(predict(spec, matched_data(found, spec), found).mean)
    off = (reaggregate(found, mean) - found.coarse)[found.observed]
    assert np.abs(off).max() < 1e-3 * found.target_scale.sd
    result = downscale(found, {"steps": 5, "restarts": 1})
    covered = found.cell >= 0
    errors = {name: np.sqrt(np.mean((each - truth)[covered] ** 2)) for name, each in result.fields.items()}
    assert errors[result.spec.model.name] < 0.7 * min(errors[n] for n in ("constant", "bilinear"))
    assert result.coarse_scores["withheld"]["rmse"] < 1.0 and result.diagnostics["one_scale_up"]["cells"] > 8
    assert b"hexagon 7" in export(found, result)


def geojson(path: Path, shapes, values, **more) -> Path:
    features = [{"type": "Feature", "geometry": json.loads(shapely.to_geojson(shape)),
                 "properties": {"name": f"no {n}", "rain": value}}
                for n, (shape, value) in enumerate(zip(shapes, values, strict=True))]  # fmt: skip
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features, **more}))
    return path


def test_geojson_is_read_with_gaps_and_other_coordinates(tmp_path: Path) -> None:
    shapes = hexagons(1, 3)
    found = read_regions(geojson(tmp_path / "a.geojson", shapes, [1.5, None, "2"]), "rain")
    assert found.value[[0, 2]].tolist() == [1.5, 2.0] and np.isnan(found.value[1])
    assert found.name == ("no 0", "no 1", "no 2") and shapely.equals(found.geometry[0], shapes[0])
    from pyproj import Transformer

    flat = Transformer.from_crs("EPSG:4326", "EPSG:3035", always_xy=True)
    metres = shapely.transform(np.array(shapes, dtype=object), flat.transform, interleaved=False)
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3035"}}
    again = read_regions(geojson(tmp_path / "b.geojson", metres, [1, 2, 3], crs=crs), "rain")
    assert shapely.equals_exact(again.geometry[1], shapes[1], tolerance=1e-7) and "converted" in again.notes[0]


def test_a_geopackage_is_the_same_regions(tmp_path: Path, runs_folder: Path) -> None:
    """Also as an upload, which is read in a separate process."""
    pyogrio = pytest.importorskip("pyogrio")
    shapes = np.array(hexagons(1, 4), dtype=object)
    values = np.array([1.0, 2.0, 3.0, np.nan])
    for name in ("a.gpkg", "b.shp"):
        pyogrio.raw.write(
            tmp_path / name, shapely.to_wkb(shapes), [values, np.array(list("abcd"), dtype=object)], ["rain", "name"],
            geometry_type="Polygon", crs="EPSG:4326",
        )  # fmt: skip
        found = read_regions(tmp_path / name, "rain")
        assert shapely.equals(found.geometry, shapes).all() and found.name == tuple("abcd")
        assert np.allclose(found.value, values, equal_nan=True)
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        for path in tmp_path.glob("b.*"):
            archive.write(path, path.name)
    for name in ("a.gpkg", "c.zip"):
        data = (tmp_path / name).read_bytes()
        assert kind_of(data, name) == REGIONS
        stored = open_regions(keep_further_file(REGIONS, data, name), "rain", "mm")
        assert shapely.equals(stored.geometry, shapes).all() and stored.name == tuple("abcd")
        assert np.allclose(stored.value, values, equal_nan=True) and (stored.units, stored.source) == ("mm", name)


BOW = shapely.Polygon([(5, 41), (6, 42), (6, 41), (5, 42)])


@pytest.mark.parametrize(
    ("shapes", "values", "attribute", "said"),
    [
        ([shapely.Point(5, 41)], [1], "rain", "points are stations"),
        ([shapely.box(5e5, 4e6, 6e5, 5e6)], [1], "rain", "not in degrees"),
        (hexagons(1, 1), [1], "snow", "no attribute 'snow'"),
        (hexagons(1, 1), ["wet"], "rain", "attribute of numbers"),
    ],
)
def test_what_cannot_be_a_region_is_refused(tmp_path: Path, shapes, values, attribute: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_regions(geojson(tmp_path / "a.geojson", shapes, values), attribute)


def test_files_that_hold_no_regions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.geojson").write_text('{"type": "FeatureCollection"}')
    (tmp_path / "b.geojson").write_text("lat,lon\n1,2\n")
    for name in ("a.geojson", "b.geojson"):
        with pytest.raises(InputError, match="not GeoJSON"):
            read_regions(tmp_path / name, "rain")
    with pytest.raises(InputError, match="no file"):
        read_regions(tmp_path / "none.geojson", "rain")


def test_an_outline_that_crosses_itself_is_said(tmp_path: Path) -> None:
    found = read_regions(geojson(tmp_path / "a.geojson", [BOW], [1]), "rain")
    assert "cross themselves" in found.notes[0] and found.geometry[0].area == pytest.approx(0.5)


#: Two months, and by how much their values differ from the truth.
MONTHS = (("2020-01-01", 0), ("2020-02-01", 10))


def test_the_command_makes_a_map_from_polygons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their values are in a table of two months, whose last row has no region."""
    from deconditioning.cli.program import main

    data = rectilinear(40.125 + 0.25 * np.arange(24), 5.125 + 0.25 * np.arange(36))
    data.drop_vars(["t", "q"]).to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    fields, truth = fields_and_truth()
    shapes = hexagons()
    area = weights(fields.grid, shapes) * fields.grid.area.ravel()
    path = geojson(tmp_path / "a.geojson", shapes, [None] * len(shapes))
    means = enumerate([*(area @ truth.ravel() / area.sum(axis=1)), 0.0])
    rows = "\n".join(f"no {n},{month},{mean + shift:.6f}" for n, mean in means for month, shift in MONTHS)
    (tmp_path / "v.csv").write_text(f"name,month,rain\n{rows}")
    code = main(
        ["downscale", str(tmp_path / "fine.nc"), "--polygons", str(path), "--value", "rain", "--value-units", "K",
         "--region-table", str(tmp_path / "v.csv"), "--key", "name", "--region-time", "2020-02",
         "--covariates", "orog", "--no-learn", "--output", str(tmp_path / "out.nc"), "--json", str(tmp_path / "o.json")]
    )  # fmt: skip
    said = capsys.readouterr().err
    assert code == 0 and "48 regions" in said and "1 of 49 rows of v.csv belong to no region" in said
    assert "49 of 98 rows of v.csv are used, those of 2020-02-01 00:00" in said
    with xr.open_dataset(tmp_path / "out.nc", engine="h5netcdf") as made:
        assert str(made.time.values)[:10] == "2020-02-01"
        assert abs(float(made["mean"].mean()) - 10 - truth.mean()) < 3
