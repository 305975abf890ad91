"""Spectra and effective resolution of draws: waves, cell averages and shares that are known."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.downscaling.drawn.draw_spectra import draw_spectra
from deconditioning.downscaling.drawn.effective_resolution import at_resolution, sd_ratio
from deconditioning.downscaling.draws import Draws
from deconditioning.downscaling.result_dataset import ResultDataset
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.errors import InputError
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.coordinates import steps_in_km
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.writing.delivery import Delivery
from deconditioning.figures.scores import power_spectra
from deconditioning.metrics.predictive import Predictive
from deconditioning.metrics.spectrum import spectrum
from deconditioning.wording import number
from tests.core.downscaling.test_averaging import problem


@pytest.fixture(scope="module")
def matched() -> DownscalingProblem:
    return problem()


@pytest.fixture(scope="module")
def leaving(matched) -> ResultDataset:
    spec = starting_spec(matched, DownscaleSettings(model="area_to_point_gp"))
    flat = np.where(matched.cell >= 0, 1.0, np.nan)
    return ResultDataset(matched, spec, Predictive(flat, flat), {})


def test_steps_are_great_circles(matched) -> None:
    from math import cos, radians

    down, along = steps_in_km(matched.grid)
    latitude = matched.grid.latitude
    degree = 6371.0 * np.pi / 180
    assert down == pytest.approx(abs(latitude[1, 0] - latitude[0, 0]) * degree, rel=1e-3)
    step = abs(matched.grid.longitude[0, 1] - matched.grid.longitude[0, 0])
    assert along == pytest.approx(step * degree * cos(radians(float(np.median(latitude)))), rel=1e-2)


def test_half_of_the_power_of_a_wave_of_that_length_is_kept() -> None:
    given = problem(mediators=("orog",), withhold=0.5)  # no cell averages to be restored
    down, _ = steps_in_km(given.grid)
    rows = np.indices(given.grid.shape)[0]
    wave = np.sin(2 * np.pi * rows / 6)
    draws = Draws(np.stack([wave, 2 * wave]), np.zeros(wave.shape), None, 1)
    inner = slice(6, -6)
    for share, length in ((0.5, 6 * down), (0.5**4, 12 * down), (0.5**0.25, 3 * down)):
        damped = at_resolution(given, draws, length)
        kept = np.mean(damped.fields[:, inner] ** 2) / np.mean(draws.fields[:, inner] ** 2)
        assert kept == pytest.approx(share, rel=0.02)


def test_damped_draws_keep_the_averages_of_measured_cells_and_lose_their_finest_power(matched, leaving) -> None:
    draws = leaving.drawing()(12, 3)
    down, _ = steps_in_km(matched.grid)
    damped = at_resolution(matched, draws, 4 * down)
    spread = np.nanstd(draws.fields - draws.mean)
    for field in damped.fields:
        off = np.abs(reaggregate(matched, field - damped.mean))[matched.observed]
        assert np.nanmax(off) < draws.off + 0.02 * spread
    assert damped.off == pytest.approx(
        max(np.nanmax(np.abs(reaggregate(matched, f - damped.mean))[matched.observed]) for f in damped.fields)
    )
    before, after = (draw_spectra(matched, each) for each in (draws, damped))
    own = before.thirds["mean"][2]
    assert after.thirds["mean"] == before.thirds["mean"]
    assert after.thirds["draws"][2] - own < 0.3 * (before.thirds["draws"][2] - own)
    ratio = sd_ratio(matched, draws, damped)
    assert np.nanmean(ratio) == pytest.approx(
        np.sqrt(np.nanmean(damped.fields.var(0)) / np.nanmean(draws.fields.var(0))), rel=0.1
    )
    same = at_resolution(matched, draws, 0.01 * down)
    assert same.fields == pytest.approx(draws.fields, abs=1e-4 * spread, nan_ok=True)


def test_the_share_that_is_extrapolated_and_the_finest_power_are_those_of_made_up_draws(matched) -> None:
    rng = np.random.default_rng(0)
    shape, cell = matched.grid.shape, matched.cell
    inside = np.where(cell >= 0, rng.standard_normal(shape), np.nan)
    for index in np.unique(cell[cell >= 0]):
        inside[cell == index] -= inside[cell == index].mean()
    draws = Draws(np.stack([3 * inside, -inside]), inside, None, 1)  # apart from the mean: 2 and −2 times it
    found = draw_spectra(replace(matched, truth=inside + 7), draws)
    assert found.extrapolated == pytest.approx(4 / 5) and "80 % of the variance" in found.sentence
    assert found.finest == pytest.approx((9 + 1) / 2) and "too rough" in found.sentence
    assert draw_spectra(replace(matched, truth=None), draws).finest is None
    assert found.held is None and set(found.to_dict()) == {"thirds", "extrapolated", "held", "roughest_covariate"}


def waves(shape: tuple[int, int], slope: float, seed: int) -> np.ndarray:
    """A periodic random field whose power density falls as the wavenumber to the power −slope."""
    rng = np.random.default_rng(seed)
    rows, columns = (np.fft.fftfreq(size) for size in shape)
    radius = np.hypot(rows[:, None], columns)
    radius[0, 0] = np.inf
    return np.fft.ifft2(np.fft.fft2(rng.standard_normal(shape)) * radius ** (-slope / 2)).real


def with_covariates(given: DownscalingProblem, **fields: np.ndarray) -> DownscalingProblem:
    """The problem with these fields (H, W) as covariates."""
    values = torch.as_tensor(np.stack([field.ravel()[given.pixel] for field in fields.values()], axis=1))
    inputs, names = torch.cat([given.inputs[:, :2], values], dim=1), (*given.columns[:2], *fields)
    return replace(given, inputs=inputs, columns=names, spec=replace(given.spec, covariates=tuple(fields)))


def test_draws_at_the_resolution_that_is_suggested_are_as_rough_as_the_roughest_covariate() -> None:
    given = problem(mediators=("orog",), withhold=0.5)  # no cell averages to be restored
    shape = given.grid.shape
    mask = np.where(np.indices(shape).sum(0) % 2, 1.0, 0.0)  # the roughest of all, but two values tell no roughness
    smooth, smoother = waves(shape, 5.0, 1), waves(shape, 7.0, 2)
    given = with_covariates(given, smoother=smoother, smooth=smooth, mask=mask)
    draws = Draws(np.stack([waves(shape, 2.0, seed) for seed in range(10, 30)]), np.zeros(shape), None, 1)

    def roughness(fields: list[np.ndarray]) -> float:
        thirds = np.mean([spectrum(field, steps_in_km(given.grid)).thirds for field in fields], axis=0)
        return thirds[2] / thirds[1]

    found = draw_spectra(given, draws).roughest
    assert found.name == "smooth"
    assert found.times == pytest.approx(roughness(list(draws.fields)) / roughness([smooth]))
    damped = at_resolution(given, draws, found.kilometres)
    assert roughness(list(damped.fields)) == pytest.approx(roughness([smooth]), rel=0.2)
    sentence = draw_spectra(given, draws).sentence
    assert "roughest covariate, `smooth`" in sentence and f"resolution of {number(found.kilometres, 2)} km" in sentence
    assert "roughest covariate" not in draw_spectra(given, damped).sentence


def test_nothing_is_suggested_where_a_covariate_is_as_rough_or_the_mean_is_rougher() -> None:
    given = problem(mediators=("orog",), withhold=0.5)
    shape = given.grid.shape
    rough = with_covariates(given, rough=waves(shape, 1.0, 1))
    draws = Draws(np.stack([waves(shape, 2.0, seed) for seed in range(10, 20)]), np.zeros(shape), None, 1)
    found = draw_spectra(rough, draws)
    assert found.roughest.times < 1 and found.roughest.kilometres is None and not found.roughest.sentence
    mean = 5 * waves(shape, 0.5, 3)
    smooth, above = with_covariates(given, smooth=waves(shape, 5.0, 1)), Draws(draws.fields + mean, mean, None, 1)
    found = draw_spectra(smooth, above)
    assert found.roughest.times > 2 and found.roughest.kilometres is None and not found.roughest.sentence
    mask = with_covariates(given, mask=np.where(np.indices(shape).sum(0) % 2, 1.0, 0.0))
    assert draw_spectra(mask, draws).roughest is None


def test_what_the_intervals_contain_of_each_draw(matched) -> None:
    there, area = matched.cell >= 0, matched.grid.area
    mean = np.where(there, 5.0, np.nan)
    half = np.cumsum(np.where(there, area, 0.0)).reshape(area.shape) <= 0.5 * area[there].sum()
    fields = [np.where(half, 5 + 2 * 1.9599, 5 - 2 * 1.9601), mean, mean]  # half of the area inside, then all of it
    draws = Draws(np.where(there, fields, np.nan), mean, None, 1)
    found = draw_spectra(matched, draws, Predictive(mean, 0 * mean + 2))
    assert found.held == pytest.approx((area[there & half].sum() / area[there].sum(), 1.0, 1.0))
    assert "intervals contain 50 to 100 % of single draws" in found.sentence


def test_the_figure_draws_every_spectrum_on_wavelengths() -> None:
    figure = power_spectra([0.01, 0.1], {"mean": [4.0, 1e-3], "draws": [5.0, 0.0], "truth": [4.0, 0.5]}, units="K")
    assert [trace["name"] for trace in figure["data"]] == ["Posterior mean", "Draws", "Truth"]
    assert figure["data"][0]["customdata"] == ["100", "10"]
    assert "finest wavelength, 10 km" in figure["layout"]["meta"]["alt"]


def test_a_file_at_an_effective_resolution_says_so_and_its_sd_follows_its_draws(matched, leaving) -> None:
    down, _ = steps_in_km(matched.grid)
    delivery = Delivery(draws=20, quantiles=(0.05, 0.95), resolution=4 * down)
    drawing, spectra = leaving.drawn(delivery)
    whole = leaving.dataset(replace(delivery, resolution=None), drawing)
    damped = leaving.dataset(delivery, drawing)
    assert damped.attrs["effective_resolution_km"] == pytest.approx(4 * down) and spectra is not None
    shrunk = float((damped["sd"] / whole["sd"]).mean())
    assert shrunk == pytest.approx(
        float(damped["draws"].std("realization").mean() / whole["draws"].std("realization").mean()), rel=0.1
    )
    width = [float((each["quantiles"][1] - each["quantiles"][0]).mean()) for each in (damped, whole)]
    assert width[0] / width[1] == pytest.approx(shrunk, rel=1e-2) and shrunk < 0.95
    with pytest.raises(InputError, match="positive number"):
        Delivery(resolution=-1.0)
