"""What other tools say of the exported file: iris, cf-xarray, xarray and the CF checker, on every kind of grid."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.fields.problem.baselines import bilinear
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.writing.delivery import Delivery, delivered, to_netcdf_bytes
from deconditioning.fields.writing.export import to_dataset
from deconditioning.fields.writing.quantiles_and_draws import with_draws, with_quantiles
from tests.core.fields.samples import fields, region, rotated_dataset
from tests.core.fields.zoo.grids import _plane, sheet

METHODS = "time: mean area: mean"
#: The file holds a fine and a coarse grid, each with a grid mapping of its own; the checker counts axes of the file.
TWO_GRIDS = "requires exactly one variable with standard_name"


def dated(data: xr.Dataset, target: str) -> xr.Dataset:
    """With a month's mean at 2 m, its bounds, and whose run it is."""
    import cftime

    dates = [cftime.Datetime360Day(2001, 2, day) for day in (1, 16, 30)]
    data = data.copy()
    data[target] = data[target].expand_dims(time=1).assign_attrs(
        data[target].attrs, cell_methods="time: mean", units="K", standard_name="air_temperature")  # fmt: skip
    about = {"standard_name": "time", "bounds": "time_bnds", "axis": "T"}
    data = data.assign_coords(time=("time", np.array(dates[1:2]), about))
    data = data.assign_coords(
        height=((), 2.0, {"standard_name": "height", "units": "m", "positive": "up", "axis": "Z"})
    )
    data["time_bnds"] = (("time", "bnds"), np.array([[dates[0], dates[2]]]))
    return data.assign_attrs(tracking_id="hdl:21.14100/7", experiment_id="historical", institution="A centre")


def projected() -> xr.Dataset:
    return _plane(
        {"grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [46.0, 48.0], "earth_radius": 6371229.0,
         "latitude_of_projection_origin": 47.0, "longitude_of_central_meridian": 10.0}, size=(24, 30),
    )  # fmt: skip


MADE = {
    "latlon": (lambda: dated(region(24, 32), "t"), "t", ("orog",)),
    "rotated": (lambda: dated(rotated_dataset(), "t"), "t", ("h",)),
    "projected": (lambda: dated(projected(), "t"), "t", ()),
    "curvilinear": (lambda: dated(sheet(24, 30), "sst"), "sst", ()),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Kind of grid → (the problem, the file)."""
    found = {}
    for kind, (make, target, covariates) in MADE.items():
        problem = make_problem(fields(make()), DownscalingSpec(target, covariates, block=(4, 5)))
        mean = bilinear(problem)
        data = to_dataset(problem, mean, 0.5 + 0 * mean, baselines={"bilinear": mean}, settings={}, model="bag_gp",
                          seed=0, version="1")  # fmt: skip
        path = tmp_path_factory.mktemp("out") / f"{kind}.nc"
        path.write_bytes(to_netcdf_bytes(data))
        sd, members = data["sd"].values, mean + np.arange(3)[:, None, None]
        full = with_draws(
            with_quantiles(data, problem, {0.05: mean - sd, 0.95: mean + sd}), problem, members, seed=0, off=0.01
        )
        delivered(full, Delivery(single=kind != "latlon", apart=True), path.with_name(f"{kind}-apart.nc"))
        found[kind] = (problem, path)
    return found


CHECKED = [*(f"{kind}-apart" for kind in MADE), "rotated-apart_coarse", "curvilinear-apart_coarse", "rotated"]


@pytest.mark.parametrize("name", CHECKED)
def test_the_checker_finds_no_error(name, written, tmp_path):
    """None at all where each grid has a file of its own; of two grids in one file it is told of the second's axes."""
    pytest.importorskip("compliance_checker", reason="compliance-checker is not installed")
    import json

    from compliance_checker.runner import CheckSuite, ComplianceChecker

    CheckSuite.load_all_available_checkers()
    out = tmp_path / "said.json"
    file = written[name.partition("-")[0]][1].with_name(f"{name}.nc")
    ComplianceChecker.run_checker(str(file), ["cf:1.11"], 0, "normal", output_filename=str(out),
                                  output_format="json")  # fmt: skip
    said = json.loads(out.read_text())["cf:1.11"]
    told = [message for entry in said["high_priorities"] for message in entry["msgs"]]
    assert [message for message in told if "apart" in name or TWO_GRIDS not in message] == []
    assert "apart" in name or told, "the checker has nothing against two grids any more: say so in docs/files.md"


@pytest.mark.parametrize("kind", MADE)
def test_iris_finds_place_date_and_bounds(kind, written):
    iris = pytest.importorskip("iris", reason="iris is not installed")
    problem, path = written[kind]
    cube = next(cube for cube in iris.load(path) if cube.var_name == "mean")
    system = cube.coord_system()
    wanted = {"latlon": "NoneType", "rotated": "RotatedGeogCS", "projected": "LambertConformal",
              "curvilinear": "NoneType"}  # fmt: skip
    assert type(system).__name__ == wanted[kind]
    date = cube.coord("time")
    assert str(date.cell(0).point)[:10] == "2001-02-16" and date.units.calendar == "360_day" and date.has_bounds()
    assert cube.coord("height").points[0] == 2 and str(cube.units) == "K"
    assert " ".join(str(method) for method in cube.cell_methods).replace(": ", ":") == METHODS.replace(": ", ":")
    if kind != "latlon":
        corners = cube.coord("latitude").bounds
        assert corners.shape == (*problem.grid.shape, 4)
        assert np.allclose(corners.mean(axis=-1), problem.grid.latitude, atol=0.1)
    assert cube.attributes["input_tracking_id"] == "hdl:21.14100/7"


def test_iris_finds_the_members_and_the_quantiles(written):
    iris = pytest.importorskip("iris", reason="iris is not installed")
    cubes = {cube.var_name: cube for cube in iris.load(written["rotated"][1].with_name("rotated-apart.nc"))}
    assert cubes["draws"].coord("realization").points.tolist() == [1, 2, 3] and str(cubes["draws"].units) == "K"
    assert type(cubes["draws"].coord_system()).__name__ == "RotatedGeogCS" and cubes["draws"].dtype == np.float32
    assert cubes["quantiles"].coord("quantile level").points.tolist() == [0.05, 0.95]
    assert cubes["draws"].coord("time").has_bounds()


@pytest.mark.parametrize("kind", MADE)
def test_xarray_and_cf_xarray_read_it_back(kind, written):
    import cf_xarray  # noqa: F401

    problem, path = written[kind]
    with xr.open_dataset(path, engine="h5netcdf", use_cftime=True) as back:
        assert back["mean"].attrs["cell_methods"] == METHODS
        said = back["mean"].encoding.get("coordinates", "")
        assert "crs" not in said and "time" in said and "height" in said
        assert ("crs" in back.data_vars) == (kind in ("rotated", "projected"))
        assert back["mean"].cf["latitude"].shape in (problem.grid.shape, problem.grid.shape[:1])
        assert back.time.item().day == 16 and [d.day for d in back.time_bnds.values] == [1, 30]
        assert back.attrs["input_experiment_id"] == "historical"
