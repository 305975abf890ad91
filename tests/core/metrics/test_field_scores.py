"""All scores of a field together: names, area weights, gaps, a real field."""

import numpy as np
import pytest
import xarray as xr
from scores.continuous import rmse as scores_rmse
from scores.functions import create_latitude_weights

from deconditioning.metrics.field_scores import score_field, score_units
from deconditioning.metrics.pointwise import rmse
from deconditioning.metrics.predictive import Predictive
from deconditioning.metrics.probabilistic import crps

POINT = {"rmse", "mae", "bias", "pearson"}
SPREAD = {"crps", "coverage50", "coverage90", "coverage95", "coverage_2sd"}


def case(seed=0, shape=(18, 36)):
    rng = np.random.default_rng(seed)
    latitude = np.linspace(-85, 85, shape[0])
    truth = 300 - 50 * np.sin(np.deg2rad(latitude))[:, None] ** 2 + 3 * rng.standard_normal(shape)
    sd = rng.uniform(1.0, 3.0, shape)
    area = np.broadcast_to(np.cos(np.deg2rad(latitude))[:, None], shape)
    return truth, truth + sd * rng.standard_normal(shape), sd, area, latitude


def test_names_with_and_without_sd_and_area():
    truth, mean, sd, area, _ = case()
    both = POINT | SPREAD
    assert set(score_field(truth, mean)) == POINT | {"ssim", "ssim_range"}
    assert set(score_field(truth, Predictive(mean, sd))) == both | {"ssim", "ssim_range"}
    expected = both | {f"{n}_area" for n in both} | {"ssim", "ssim_range"}
    scores = score_field(truth, Predictive(mean, sd), area=area)
    assert set(scores) == expected and all(type(v) is float for v in scores.values())


def test_area_scores_against_the_package_and_equal_areas_change_nothing():
    truth, mean, sd, area, latitude = case()
    z, m = (xr.DataArray(a, dims=("lat", "lon"), coords={"lat": latitude}) for a in (truth, mean))
    other = float(scores_rmse(m, z, weights=create_latitude_weights(z.lat)))
    scores = score_field(truth, Predictive(mean, sd), area=area)
    assert scores["rmse_area"] == pytest.approx(other, rel=1e-10)
    assert scores["rmse_area"] != pytest.approx(scores["rmse"], rel=1e-4)
    equal = score_field(truth, Predictive(mean, sd), area=np.full(truth.shape, 7.0))
    for name in POINT | SPREAD:
        assert equal[f"{name}_area"] == pytest.approx(equal[name], rel=1e-12)


def test_pixels_missing_in_any_array_are_left_out_of_all_scores():
    truth, mean, sd, area, _ = case()
    gaps = np.zeros((3, *truth.shape), dtype=bool)
    for i, gap in enumerate(gaps):
        gap[i, i : i + 2] = True
    holes = [np.where(gap, np.nan, a) for gap, a in zip(gaps, (truth, mean, sd), strict=True)]
    there = ~gaps.any(axis=0)
    scores = score_field(holes[0], Predictive(*holes[1:]), area=area)
    flat = {"truth": truth[there], "mean": mean[there]}
    assert scores["rmse"] == pytest.approx(rmse(**flat), rel=1e-12)
    assert scores["crps_area"] == pytest.approx(
        crps(truth=truth[there], predicted=Predictive(mean[there], sd[there]), weights=area[there]), rel=1e-12
    )
    assert scores["ssim_range"] == pytest.approx(np.ptp(truth[there]))


def test_bias_is_prediction_minus_truth_and_range_can_be_set():
    truth, _, sd, _, _ = case()
    scores = score_field(truth, Predictive(truth + 2.5, sd), data_range=80.0)
    assert scores["bias"] == pytest.approx(2.5) and scores["ssim_range"] == 80.0
    assert scores["rmse"] == pytest.approx(2.5) and scores["pearson"] == pytest.approx(1.0)


def test_units_of_scores():
    names = ["rmse", "crps_area", "coverage95", "pearson", "ssim", "ssim_range", "mse"]
    assert score_units(names, "K") == {
        "rmse": "K", "crps_area": "K", "coverage95": "1", "pearson": "1", "ssim": "1", "ssim_range": "K", "mse": "K2",
    }  # fmt: skip
    assert score_units(["rmse", "mse"], "") == {"rmse": "1", "mse": "1"}
    assert score_units(["mse"], "W m-2") == {"mse": "(W m-2)^2"}


def test_constant_in_cell_of_era5_scores_as_the_variance_within_cells(real_data):
    """The mean of 7 × 7 cells as a prediction: unbiased, its RMSE the within-cell standard deviation, about 2.2 K."""
    with xr.open_dataset(real_data / "era5_1995-07-14T12.nc") as dataset:
        t2m = dataset["t2m"].values[:105, :231]
    cells = t2m.reshape(15, 7, 33, 7)
    mean = np.broadcast_to(cells.mean(axis=(1, 3), keepdims=True), cells.shape).reshape(t2m.shape)
    scores = score_field(t2m, mean)
    assert scores["bias"] == pytest.approx(0.0, abs=1e-9)
    assert scores["rmse"] == pytest.approx(np.sqrt(cells.var(axis=(1, 3)).mean()), rel=1e-12)
    assert 1.0 < scores["rmse"] < 2.5 and 0.3 < scores["ssim"] < 0.99
