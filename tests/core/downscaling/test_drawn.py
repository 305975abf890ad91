"""Spectra and effective resolution of draws: waves, cell averages and shares that are known."""

from dataclasses import replace

import numpy as np
import pytest

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
    assert found.held is None and set(found.to_dict()) == {"thirds", "extrapolated", "held"}


def test_what_the_intervals_contain_of_each_draw(matched) -> None:
    there, area = matched.cell >= 0, matched.grid.area
    mean = np.where(there, 5.0, np.nan)
    half = np.cumsum(np.where(there, area, 0.0)).reshape(area.shape) <= 0.5 * area[there].sum()
    fields = [np.where(half, 5 + 2 * 1.9599, 5 - 2 * 1.9601), mean]  # half of the area inside, then all of it
    draws = Draws(np.where(there, fields, np.nan), mean, None, 1)
    found = draw_spectra(matched, draws, Predictive(mean, 0 * mean + 2))
    assert found.held == pytest.approx((area[there & half].sum() / area[there].sum(), 1.0))
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
