"""The made-up planet: explained share, determinism, shape of the distribution, physics, speed."""

import numpy as np
import pytest
from scipy.stats import kurtosis, skew
from sklearn.ensemble import HistGradientBoostingRegressor

from deconditioning.datasets import harmonics, planet
from deconditioning.datasets.atmosphere import make_atmosphere
from deconditioning.errors import InputError

SMALL = (90, 180)


@pytest.fixture(scope="module")
def small():
    return make_atmosphere(SMALL, seed=0)


def parts(dataset):
    """Target, its explained part recomputed from the published covariates, and area weights (H, W)."""
    latitude = dataset["latitude"].values[:, None]
    f = planet.explained_temperature(
        cover=dataset["total_cloud_cover"].values.astype(float),
        albedo=dataset["cloud_albedo"].values.astype(float),
        altitude=dataset["surface_altitude"].values.astype(float),
        latitude=latitude,
    )
    target = dataset["cloud_top_temperature"].values.astype(float)
    weights = np.broadcast_to(np.cos(np.deg2rad(latitude)), f.shape)
    return target, f, weights / weights.sum()


@pytest.mark.parametrize("explained", [0.3, 0.8, 1.0])
@pytest.mark.parametrize("seed", [0, 5])
def test_the_explained_share_is_the_setting(explained, seed):
    target, f, w = parts(make_atmosphere(SMALL, seed=seed, explained=explained))
    rest = target - f
    variance = np.sum(w * (target - np.sum(w * target)) ** 2)
    assert 1 - np.sum(w * (rest - np.sum(w * rest)) ** 2) / variance == pytest.approx(explained, abs=1e-6)
    assert np.sum(w * rest) == pytest.approx(0.0, abs=1e-3)


def test_a_learner_that_knows_no_formula_finds_about_the_same_share(small):
    """Second route: boosted trees from covariates and latitude, learnt on half of the planet, scored on the rest."""
    names = ["total_cloud_cover", "cloud_albedo", "surface_altitude"]
    latitude = np.broadcast_to(small["latitude"].values[:, None], SMALL)
    x = np.stack([*(small[name].values for name in names), latitude], axis=-1)
    target, _, w = parts(small)
    blocks = (np.arange(SMALL[1]) // 15) % 2 == 0
    model = HistGradientBoostingRegressor(max_iter=60, random_state=0)
    model.fit(x[:, blocks].reshape(-1, 4), target[:, blocks].ravel(), sample_weight=w[:, blocks].ravel())
    y, v = target[:, ~blocks].ravel(), w[:, ~blocks].ravel() / w[:, ~blocks].sum()
    rest = y - model.predict(x[:, ~blocks].reshape(-1, 4))
    share = 1 - np.sum(v * rest**2) / np.sum(v * (y - np.sum(v * y)) ** 2)
    assert 0.65 < share < 0.87


def test_covariates_also_tell_within_cells(small):
    """At the worked example's blocks the explained part holds inside cells too, the unexplained part has a share."""
    target, f, _ = parts(small)

    def anomaly(a):
        cells = a.reshape(18, 5, 36, 5)
        return (cells - cells.mean(axis=(1, 3), keepdims=True)).ravel()

    share = 1 - np.var(anomaly(target - f)) / np.var(anomaly(target))
    assert 0.5 < share < 0.9


def test_same_seed_same_planet_other_seed_another(small):
    again, other = make_atmosphere(SMALL, seed=0), make_atmosphere(SMALL, seed=1)
    assert small.identical(again)
    assert np.corrcoef(small["surface_altitude"].values.ravel(), other["surface_altitude"].values.ravel())[0, 1] < 0.5


def test_the_small_planet_is_the_large_one_smoothed(small):
    large = make_atmosphere((180, 360), seed=0)["cloud_top_temperature"].values
    mean = large.reshape(90, 2, 180, 2).mean(axis=(1, 3))
    assert np.corrcoef(mean.ravel(), small["cloud_top_temperature"].values.ravel())[0, 1] > 0.85


def test_fields_are_physical(small):
    v = {name: small[name].values.astype(float) for name in small}
    latitude = small["latitude"].values[:, None]
    assert 160 < v["cloud_top_temperature"].min() and v["cloud_top_temperature"].max() < 325
    assert v["total_cloud_cover"].min() >= 0 and v["total_cloud_cover"].max() <= 100
    assert v["cloud_albedo"].min() > 0 and v["cloud_albedo"].max() < 1
    assert v["surface_altitude"].min() == 0 and 2000 < v["surface_altitude"].max() < 7500
    assert (v["cloud_top_pressure"] <= planet.surface_pressure(v["surface_altitude"], latitude) * 1.0001).all()
    assert planet.area_mean((v["surface_altitude"] > 0).astype(float), latitude) == pytest.approx(0.29, abs=0.01)
    assert np.corrcoef(v["cloud_top_pressure"].ravel(), v["cloud_top_temperature"].ravel())[0, 1] > 0.7


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_target_is_not_gaussian(seed):
    """Against a Gaussian field of the same angular spectrum: two-peaked over the planet, skewed along the tropics."""
    dataset = make_atmosphere(SMALL, seed=seed)
    field = dataset["cloud_top_temperature"].values.astype(float)
    basis = harmonics.legendre(dataset["latitude"].values, 80)
    power = harmonics.angular_power(field - field.mean(), basis)[None]
    draw = harmonics.draw_coefficients(np.random.default_rng(seed + 100), 1, 80)
    gaussian = harmonics.synthesise(draw, power, SMALL, basis)[0]

    def tropics(a):
        return skew(((a - a.mean(axis=1, keepdims=True)) / a.std(axis=1, keepdims=True))[30:60].ravel())

    assert kurtosis(field.ravel()) < -0.7 < -0.45 < kurtosis(gaussian.ravel())
    assert tropics(field) < -0.35 and abs(tropics(gaussian)) < 0.25


def test_the_pressure_mediator_knows_of_the_unexplained_part(small):
    target, f, _ = parts(small)
    latitude = small["latitude"].values[:, None]
    expected = planet.profile_pressure(f, latitude)
    assert np.corrcoef((small["cloud_top_pressure"].values - expected).ravel(), (target - f).ravel())[0, 1] > 0.6


def test_radiation_balance_has_its_limits():
    """Thick cloud hides the ground; no cloud shows it; p → T → p comes back."""
    place = {"altitude": np.array(500.0), "latitude": np.array(40.0)}
    thick = planet.explained_temperature(cover=np.array(100.0), albedo=np.array(0.95), **place)
    clear = planet.explained_temperature(cover=np.array(0.0), albedo=np.array(1e-9), **place)
    assert clear == pytest.approx(float(planet.surface_temperature(**place)), abs=1e-4)
    p_t, p_s = planet.tropopause_pressure(place["latitude"]), planet.surface_pressure(**place)
    top = p_s - planet.cloud_depth(np.array(100.0), np.array(0.95), place["latitude"]) * (p_s - p_t)
    assert thick == pytest.approx(float(planet.profile_temperature(top, place["latitude"])), abs=1e-6)
    assert planet.profile_pressure(thick, place["latitude"]) == pytest.approx(float(top), rel=1e-9)


def test_full_size_carries_cf_attributes():
    dataset = make_atmosphere()
    assert dataset["cloud_top_temperature"].shape == (360, 720) and len(dataset.data_vars) == 5
    assert all(dataset[n].attrs["units"] and dataset[n].attrs["standard_name"] for n in dataset.data_vars)
    assert dataset["latitude"].attrs["units"] == "degrees_north" and (np.diff(dataset["latitude"]) > 0).all()
    assert np.isfinite(dataset.to_dataarray()).all()


@pytest.mark.parametrize("bad", [{"explained": 0.0}, {"explained": 1.2}, {"shape": (4, 8)}, {"shape": (90.5, 180)}])
def test_bad_settings_are_a_sentence(bad):
    with pytest.raises(InputError, match=r"`(explained|shape)` is .*: give"):
        make_atmosphere(**bad)
