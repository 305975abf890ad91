"""What leaves: draws against a dense posterior, quantiles, precision, Zarr, a file a grid, names and citation."""

import zipfile
from io import BytesIO
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
import torch
import xarray as xr
import yaml

import deconditioning
from deconditioning.downscaling.draws import exact_draws
from deconditioning.downscaling.result_dataset import ResultDataset
from deconditioning.downscaling.run import DownscalingResult, downscale, leaving
from deconditioning.downscaling.starting import columns_of
from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.target_metadata import Origin
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.writing.citation import PAPERS, TITLE, citation, references_of
from deconditioning.fields.writing.delivery import FILL, Delivery, attributes_of_text, delivered, packed
from deconditioning.fields.writing.file_names import drs_name
from deconditioning.kernels.tiles import evaluate
from tests.core.fields.samples import fields, region

COUNT = 400


@pytest.fixture(scope="module")
def problem() -> DownscalingProblem:
    return make_problem(fields(region(24, 24)), DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.3))


@pytest.fixture(scope="module")
def result(problem: DownscalingProblem) -> DownscalingResult:
    return downscale(problem, {"model": "area_to_point_gp", "learn": False, "noise": 1e-3})


@pytest.fixture(scope="module")
def full(problem: DownscalingProblem, result: DownscalingResult) -> xr.Dataset:
    return leaving(problem, result).dataset(Delivery(draws=COUNT, quantiles=(0.05, 0.5, 0.95)))


def averages(problem: DownscalingProblem) -> np.ndarray:
    """(M, P) what averages pixels over the measured cells, from the grid's areas."""
    cells = np.flatnonzero(problem.observed.ravel())
    inside = problem.cell.flat[problem.pixel] == cells[:, None]
    weights = inside * problem.grid.area.flat[problem.pixel]
    return weights / weights.sum(1, keepdims=True)


def dense(problem: DownscalingProblem, result: DownscalingResult) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance (P, P) of the draws, by matrices of all pixels: κ, then back to the cells' averages."""
    x, A, spec = problem.inputs, averages(problem), result.spec
    with torch.no_grad():
        K = evaluate(spec.kernel.build(columns_of(problem).inputs), x, x).numpy()
    gain = np.linalg.solve(A @ K @ A.T + spec.noise * np.eye(len(A)), A @ K).T
    C = K - gain @ A @ K
    seen = problem.target_scale.forward(problem.coarse[problem.observed])
    kappa = result.local_scale.flat[problem.pixel]
    move = np.diag(kappa) - gain @ A @ (np.diag(kappa) - np.eye(len(K)))
    scale = problem.target_scale
    return scale.backward(spec.mean + gain @ (seen - spec.mean)), scale.sd**2 * move @ C @ move.T


def test_draws_have_the_dense_mean_and_covariance_and_honour_the_cells(problem, result, full):
    mean, C = dense(problem, result)
    drawn = full["draws"].values.reshape(COUNT, -1)[:, problem.pixel]
    sd = np.sqrt(np.diag(C))
    np.testing.assert_allclose(full["mean"].values.flat[problem.pixel], mean, atol=1e-6 * sd.max())
    assert np.abs(drawn.mean(0) - mean).max() < 4.5 * (sd / COUNT**0.5).max()
    some = np.arange(3, len(sd), 41)
    apart = np.cov(drawn[:, some].T) - C[np.ix_(some, some)]
    assert np.abs(apart / np.outer(sd[some], sd[some])).max() < 0.3
    assert np.sqrt((drawn.var(0, ddof=1) / sd**2).mean()) == pytest.approx(1, abs=0.04)
    # κ is in them, and what it does to the cells' averages is taken back: only the noise of the targets is left
    assert sd == pytest.approx(full["sd"].values.flat[problem.pixel], rel=0.1)
    A = averages(problem)
    left = (drawn - mean) @ A.T
    expected = np.sqrt(np.diag(A @ C @ A.T))
    assert np.sqrt((left.std(0) ** 2).mean() / (expected**2).mean()) == pytest.approx(1, abs=0.05)
    assert expected.max() < 1.1 * 1e-3**0.5 * problem.target_scale.sd
    assert f"{np.abs(left).max():.2g}"[:3] in full["draws"].attrs["comment"]


def test_the_same_seed_gives_the_same_draws_and_too_many_are_refused(problem, result, full):
    again = leaving(problem, result).drawing()(2, problem.spec.seed)
    assert again.fields.shape == (2, *problem.grid.shape) and again.stride == 1
    with pytest.raises(InputError, match="do not fit into memory at once: request at most 104166"):
        exact_draws(result.spec, problem.data, problem, "", None, None, count=200_000, seed=0)
    with pytest.raises(InputError, match="1 draws cannot show the spread"):
        Delivery(draws=1)


def test_quantiles_are_those_of_the_normal_distribution(problem, result, full):
    at = full["quantiles"].isel(lat=5, lon=7)
    pixel = NormalDist(float(full["mean"][5, 7]), float(full["sd"][5, 7]))
    assert at.values.tolist() == pytest.approx([pixel.inv_cdf(q) for q in (0.05, 0.5, 0.95)])
    assert full["quantile"].values.tolist() == [0.05, 0.5, 0.95] and at.attrs["units"] == "K"
    with pytest.raises(InputError, match="between 0 and 1, got 5"):
        Delivery(quantiles=(5.0,))


def test_single_precision_has_a_fill_value_that_is_a_number(problem, result, tmp_path):
    holed = leaving(problem, result).dataset(Delivery())
    holed["mean"][0, 0] = np.nan
    (path,) = delivered(holed, Delivery(single=True), tmp_path / "out.nc")
    with xr.open_dataset(path, engine="h5netcdf", mask_and_scale=False) as raw:
        assert raw["mean"].dtype == np.float32 and raw["mean"].values[0, 0] == FILL == raw["mean"].attrs["_FillValue"]
        assert raw["lat"].dtype == np.float64
    assert np.isnan(open_fields(path).values("mean")[0, 0])


def test_a_store_is_consolidated_and_holds_the_same(full, tmp_path):
    (store,) = delivered(full, Delivery(store=True, attributes={"doi": "10.1/2"}), tmp_path / "out.zarr")
    assert (store / ".zmetadata").is_file() and open_fields(store).variables()["draws"].extra["realization"][0] == "1"
    with xr.open_zarr(store, consolidated=True) as back, xr.open_dataset(
        BytesIO(packed(full, Delivery(), "x")[0]), engine="h5netcdf") as file:  # fmt: skip
        xr.testing.assert_equal(back.load(), file.load())
        assert back.attrs["doi"] == "10.1/2" and back["draws"].attrs == file["draws"].attrs
    with pytest.raises(InputError, match=r"out\.zarr already exists"):
        delivered(full, Delivery(store=True), tmp_path / "out.zarr")


def test_a_file_a_grid_leaves_nothing_out(full, tmp_path):
    data, name = packed(full.isel(realization=slice(2)), Delivery(apart=True), "t")
    assert name == "t.zip"
    zipfile.ZipFile(BytesIO(data)).extractall(tmp_path)
    fine, cells = (xr.open_dataset(tmp_path / f"t{more}.nc", engine="h5netcdf") for more in ("", "_coarse"))
    assert not [n for n in fine.variables if n.startswith("coarse")] and set(cells.data_vars) >= {
        "coarse",
        "coarse_known",
    }
    np.testing.assert_array_equal(cells["coarse"], full["coarse"])
    assert cells["coarse"].dims == ("lat", "lon") and cells.lat.attrs["bounds"] == "lat_bnds" in cells
    gone = set(full.variables) - set(fine.variables) - {f"coarse_{n}" for n in cells.variables} - set(cells.variables)
    assert not gone


def test_names_follow_what_the_input_says():
    date = (np.datetime64("2001-02-14T12:00"), {"standard_name": "time"})
    said = {
        "driving_model_id": "MPI-M-MPI-ESM-LR",
        "model_id": "SMHI-RCA4",
        "experiment_id": "rcp85",
        "CORDEX_domain": "EUR-11",
        "driving_model_ensemble_member": "r1i1p1",
        "frequency": "mon",
    }
    origin = Origin({"time": date}, attributes={f"input_{word}": value for word, value in said.items()})
    name = drs_name(origin, "tas", "bag_gp", "0.1.0")
    assert name == (
        "tas_EUR-11_MPI-M-MPI-ESM-LR-SMHI-RCA4_rcp85_r1i1p1_DeconditioningLab-bag-gp_v0-1-0_mon_200102-200102"
    )
    ends = {"time_bnds": np.array(["2001-02-14T06:00", "2001-02-14T18:00"], dtype="M8[ns]")}
    assert drs_name(Origin({"time": date}, ends), "air_temp 2m", "cmp", "1") == (
        "air-temp-2m_DeconditioningLab-cmp_v1_200102140600-200102141800"
    )
    assert drs_name(Origin(), "t", "cmp", "1") == "t_DeconditioningLab-cmp_v1"


def test_what_is_cited_is_what_the_citation_file_says(full):
    with open(Path(deconditioning.__file__).parents[2] / "CITATION.cff", encoding="utf-8") as file:
        cff = yaml.safe_load(file)
    assert cff["title"] == TITLE and cff["cff-version"] == "1.2.0" and "version" not in cff
    dois = {entry["doi"] for entry in cff["references"]}
    assert all(any(doi in paper for paper in PAPERS.values()) for doi in dois) and len(dois) == 4
    assert "doi:10.1007/s11004-007-9129-1" in full.attrs["references"] and "Chau" in full.attrs["references"]
    assert "Hsu" not in references_of("Law et al. 2018; exact form")
    assert full.attrs["citation"].startswith(f"{TITLE} {deconditioning.__version__}")
    assert citation("1", "ERA5", "https://doi.org/10.24381/cds.1").endswith("data: ERA5, doi:10.24381/cds.1")


def test_attributes_of_ones_own_are_checked():
    assert attributes_of_text(["doi=10.1/2", "contact = a=b"]) == {"doi": "10.1/2", "contact": "a=b"}
    with pytest.raises(InputError, match="`doi` is not an attribute: write NAME=VALUE"):
        attributes_of_text(["doi"])
    for name in ("seed", "with space"):
        with pytest.raises(InputError, match="cannot be one of your own attributes"):
            Delivery(attributes={name: "x"})


def test_noise_of_a_pixel_is_said_and_not_drawn(problem, result):
    from dataclasses import replace

    noisy = ResultDataset(problem, replace(result.spec, point_noise=0.04), result.predictive, {})
    drawn = noisy.drawing()(3, 0)
    comment = noisy.dataset(Delivery(draws=3), lambda count, seed: drawn)["draws"].attrs["comment"]
    assert f"exclude the independent noise of each pixel, sd {0.2 * problem.target_scale.sd:.4g}" in comment
