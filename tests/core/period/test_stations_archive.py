"""Stations beside cells with an archive: dense matrices of all times, one time, what is learned, files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr
from scipy import stats

from deconditioning import downscale
from deconditioning.cli.program import main
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError, never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.kernels.tiles import evaluate
from deconditioning.period.archive.gain import NOISE
from deconditioning.period.archive.joint import residuals_of_archive
from deconditioning.period.archive.left_out import choose_mixture, error_ratio, left_out_errors, mixed, spread_of
from deconditioning.period.archive.pair import downscale_pair
from deconditioning.period.archive.predicted import Recipe, predicted
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.setting import prepare
from deconditioning.period.archive.stations import Network
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.ensemble import downscale_ensemble, read_ensemble
from deconditioning.period.run import PeriodResult, of_a_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws
from tests.core.period.made import SPEC, UNLEARNED, made_dataset
from tests.core.period.test_ensemble import of_members
from tests.core.period.test_stations import NOISE as STATION_NOISE
from tests.core.period.test_stations import OFFSET, table_of

LATER = "#48/#59"


@pytest.fixture(scope="module")
def dataset() -> xr.Dataset:
    return made_dataset(60).drop_vars("wind")


@pytest.fixture(scope="module")
def table(dataset: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    later = dataset.isel(time=slice(48, 60))
    return table_of(later, tmp_path_factory.mktemp("stations") / "stations.csv", altitude=True)


def read(dataset: xr.Dataset, table: Path | None, words: str = LATER) -> tuple[Series, Training]:
    fields = fields_from_dataset(dataset)
    source = Source("x", stations=None if table is None else str(table))
    series = read_series(source, SPEC, lambda key: fields, [words])
    return series, read_training(series, fields, ["#0/#47"])


@pytest.fixture(scope="module")
def both(dataset: xr.Dataset, table: Path) -> tuple[Series, Training]:
    """With a cell that is missing at one time."""
    series, training = read(dataset, table)
    coarse = series.coarse.copy()
    coarse[5, 7] = np.nan
    return replace(series, coarse=coarse), training


@pytest.fixture(scope="module")
def result(both: tuple[Series, Training]) -> PeriodResult:
    return downscale_with_archive(*both, UNLEARNED)


@pytest.fixture(scope="module")
def recipe(both: tuple[Series, Training]) -> Recipe:
    """The parts that the prediction is made of."""
    series, training = both
    settings = of_a_series(series, UNLEARNED, len(series))
    setting = prepare(series, training, settings, NoReport())
    some = setting.some(4000, never)
    choice = choose_mixture(setting.coarse, some, never)
    method = mixed(choice, setting.coarse, some, setting.parts)
    ratio = error_ratio(*left_out_errors(setting.coarse, some, method, setting.parts))
    network = Network.of(setting, choice, ratio, settings)
    return Recipe.of(setting, method, ratio, np.arange(len(series)), None, network, None)


def network_of(recipe: Recipe) -> Network:
    assert recipe.network is not None
    return recipe.network


def dense(recipe: Recipe, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Covariances of all targets (32, 32), of targets with pixels (32, 320), and variances of pixels (320,), without
    the effects of stations, from the definition.
    """
    setting, network = recipe.setting, network_of(recipe)
    problem, mixture = setting.series.problem, network.choice.mixture
    kernel = evaluate(setting.spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    average = (np.arange(20)[:, None] == problem.cell.ravel()) * problem.grid.area.ravel()
    average /= average.sum(1, keepdims=True)
    (source,) = problem.sources
    every = np.vstack([average, np.eye(320)[source.row]])
    y, h = setting.training.fine[rows] / setting.unit, setting.coarse.design[rows]
    r = y - h @ np.linalg.lstsq(h, y, rcond=None)[0]
    free, w = len(rows) - h.shape[1], mixture.share
    rho = np.exp(-0.5 * (setting.coarse.distance.numpy() / (mixture.reach or np.inf)) ** 2)
    at = problem.cell.ravel()
    cell = np.concatenate([np.arange(20), at[source.row]])
    scale, spec = network.choice.scale, setting.spec
    single = np.repeat([spec.noise, 0.0], [20, 12]) + spec.point_noise * (every**2).sum(1)
    a = r @ every.T
    gram = w * a.T @ a / free * rho[cell][:, cell] + (1 - w) * scale * (every @ kernel @ every.T + np.diag(single))
    cross = w * a.T @ r / free * rho[cell][:, at] + (1 - w) * scale * every @ kernel
    prior = w * (r**2).sum(0) / free + (1 - w) * scale * np.diag(kernel)
    return gram, cross, prior


def errors_of(recipe: Recipe, gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Variances (32,) of the targets' errors and H (32, 2), in units of the setting."""
    network, series = network_of(recipe), recipe.setting.series
    square, (source,) = (series.scale / recipe.setting.unit) ** 2, series.problem.sources
    of_stations = square * (recipe.setting.spec.noises_of_sources[0] + source.errors.variance.numpy())
    least = network.ratio * NOISE * np.diag(gram)[:20].mean()
    return least + np.concatenate([np.zeros(20), of_stations]), np.vstack([np.zeros((20, 2)), source.errors.effects])


def test_means_and_variances_are_those_of_dense_matrices_of_all_times(recipe: Recipe, result: PeriodResult) -> None:
    """All targets of all times and the effects in one Gaussian: anomalies independent between times, b common."""
    setting, network = recipe.setting, network_of(recipe)
    series, every = setting.series, np.arange(48)
    gram, cross, prior = dense(recipe, every)
    variances, effects = errors_of(recipe, gram)
    b = (series.scale / setting.unit) ** 2 * series.problem.sources[0].errors.prior.numpy()
    h, h_t = setting.coarse.design, setting.seasons.design(series.dates)
    fit = np.linalg.inv(h.T @ h) @ h.T
    (source,) = series.problem.sources
    of_pixels = fit @ setting.training.fine / setting.unit
    climate = np.hstack([fit @ setting.training.cells / setting.unit, of_pixels[:, source.row]])
    assert series.stations is not None
    left = np.hstack([series.coarse, series.stations]) / setting.unit - h_t @ climate
    known = [np.flatnonzero(np.isfinite(row)) for row in left]
    begin = np.cumsum([0, *map(len, known)])
    single = network.ratio * gram + np.diag(variances)
    covariance = np.zeros((begin[-1], begin[-1]))
    for time, rows in enumerate(known):
        covariance[begin[time] : begin[time + 1], begin[time] : begin[time + 1]] = single[np.ix_(rows, rows)]
    shared = np.vstack([effects[rows] for rows in known])
    covariance += (shared * b) @ shared.T
    values = np.concatenate([left[time, rows] for time, rows in enumerate(known)])
    fine = network.setting.some(10**6, never)
    for time, rows in enumerate(known):
        between = np.zeros((len(values), 320))
        between[begin[time] : begin[time + 1]] = network.ratio * cross[rows]
        solved = np.linalg.solve(covariance, between)
        mean = setting.unit * (h_t[time] @ of_pixels + values @ solved)
        np.testing.assert_allclose(result.means[time].ravel(), mean, rtol=0, atol=1e-8)
        given = next(each for each in recipe.groups if time in each.times)
        gain = recipe.method(given.side, fine.of(given.rows), every)
        stated = network.ratio * prior - (between * solved).sum(0)
        np.testing.assert_allclose(network.ratio * gain.variance, stated, rtol=0, atol=1e-8)
    posterior = b * (shared.T @ np.linalg.solve(covariance, values))
    spread = np.diag(b) - (b[:, None] * shared.T) @ np.linalg.solve(covariance, shared * b)
    about = result.diagnostics["stations"]
    assert about["offset"] == pytest.approx(setting.unit * posterior[0], abs=1e-8)
    assert about["per_100_m_sd"] == pytest.approx(setting.unit * np.sqrt(spread[1, 1]), abs=1e-8)


def test_a_time_without_stations_is_that_of_cells_alone(both: tuple[Series, Training], result: PeriodResult) -> None:
    series, training = both
    alone = replace(series, problem=replace(series.problem, sources=()), stations=None)
    cells = downscale_with_archive(alone, training, UNLEARNED)
    np.testing.assert_allclose(result.means[3], cells.means[3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(result.sd(3), cells.sd(3), rtol=0, atol=1e-9)
    assert np.abs(result.means[2] - cells.means[2]).max() > 0.1 and result.sd(2).mean() < cells.sd(2).mean()


def test_the_sd_with_all_stations_is_that_of_left_out_times(recipe: Recipe, result: PeriodResult) -> None:
    """Each half of the archive predicted from the other, its values at the stations drawn with their errors."""
    setting, network = recipe.setting, network_of(recipe)
    fine = network.setting.some(10**6, never)
    side = network.side(network.effects[0])
    weights = recipe.method(side, fine, np.arange(48)).weights.numpy()
    errors, variance = left_out_errors(side, fine, recipe.method, setting.parts)
    assert side.errors is not None and side.carried is not None
    rng = np.random.default_rng(0)
    own = network.ratio * (np.diag(side.errors.numpy()) + side.carried.numpy() @ side.carried.numpy().T)[20:, 20:]
    drawn = rng.multivariate_normal(np.zeros(12), own, 20000) @ weights[20:]
    more = torch.as_tensor((drawn**2).mean(0))
    ratio = float(((errors**2).mean(0) + more).mean() / variance.mean())
    expected = spread_of(errors, variance, ratio, more).numpy()
    filled = replace(setting, series=replace(setting.series, stations=np.nan_to_num(setting.series.stations, nan=280.0),
                                             coarse=np.nan_to_num(setting.series.coarse, nan=280.0)))  # fmt: skip
    full = replace(network, setting=replace(network.setting, series=filled.series),
                   values=torch.nan_to_num(network.values, nan=280.0 / setting.unit))  # fmt: skip
    whole = Recipe.of(filled, recipe.method, recipe.ratio, np.arange(12), None, full, None)
    assert len(whole.groups) == 1
    found = predicted(whole, NoReport()).spreads[0]
    np.testing.assert_allclose(found, expected, rtol=0.02)


def test_noise_and_scale_have_the_largest_evidence_of_dense_matrices(both: tuple[Series, Training]) -> None:
    """log N(stations | cells) of every time, b integrated out, and the prior of λ."""
    series, training = both
    settings = DownscaleSettings(model="area_to_point_gp", local_scale=False, device="cpu", steps=5)
    learned = downscale_with_archive(series, training, settings)
    setting = prepare(series, training, learned.settings.replace(learn=False), NoReport())
    some = setting.some(4000, never)
    choice = choose_mixture(setting.coarse, some, never)
    method = mixed(choice, setting.coarse, some, setting.parts)
    usual = error_ratio(*left_out_errors(setting.coarse, some, method, setting.parts))
    network = Network.of(setting, choice, usual, learned.settings)
    assert network is not None
    recipe = Recipe.of(setting, method, usual, np.arange(12), None, network, None)
    gram, _, _ = dense(recipe, np.arange(48))
    h, h_t = setting.coarse.design, setting.seasons.design(series.dates)
    y = np.hstack([training.cells, training.fine[:, series.problem.sources[0].row]])
    left = (np.hstack([series.coarse, series.stations]) - h_t @ np.linalg.lstsq(h, y, rcond=None)[0]) / setting.unit
    square, errors = (series.scale / setting.unit) ** 2, series.problem.sources[0].errors
    common = np.vstack([np.zeros((20, 2)), errors.effects])
    added = square * (
        (common * errors.prior.numpy()) @ common.T + np.diag(np.concatenate([np.zeros(20), errors.variance]))
    )
    least = NOISE * np.diag(gram)[:20].mean() * np.eye(32)

    def evidence(ratio: float, tau: float) -> float:
        """That of all times less that of the cells."""
        covariance = ratio * (gram + least) + added + np.diag(np.repeat([0.0, square * tau], [20, 12]))
        total = -0.5 * (np.log(ratio / usual) / 0.5) ** 2
        for values in left:
            every, cells = np.isfinite(values), np.isfinite(values) & (np.arange(32) < 20)
            if every.sum() > cells.sum():
                parts = [stats.multivariate_normal(cov=covariance[np.ix_(at, at)]).logpdf(values[at])
                         for at in (every, cells)]  # fmt: skip
                total += parts[0] - parts[1]
        return float(total)

    tau = learned.spec.noises_of_sources[0]
    best = evidence(network.ratio, tau)
    assert tau == pytest.approx(network.tau / square, rel=1e-9)
    for ratio, noise in ((1.05, 1.0), (0.95, 1.0), (1.0, 1.1), (1.0, 0.9)):
        assert evidence(ratio * network.ratio, noise * tau) < best


def test_a_run_with_the_learned_settings_repeats_it(both: tuple[Series, Training]) -> None:
    settings = DownscaleSettings(model="area_to_point_gp", local_scale=False, device="cpu", steps=5)
    learned = downscale_with_archive(*both, settings)
    again = downscale_with_archive(*both, learned.settings.replace(learn=False))
    np.testing.assert_allclose(again.means, learned.means, rtol=0, atol=1e-5)
    np.testing.assert_allclose(again.sd(2), learned.sd(2), rtol=1e-4)


def test_some_times_are_those_of_all(both: tuple[Series, Training], result: PeriodResult) -> None:
    some = np.array([2, 3, 7])
    part = downscale_with_archive(*both, UNLEARNED, times=some)
    np.testing.assert_allclose(part.means, result.means[some], rtol=0, atol=1e-9)
    for n, time in enumerate(some):
        np.testing.assert_allclose(part.sd(n) / part.amplitude[n], result.sd(time) / result.amplitude[time], rtol=1e-9)


def test_draws_have_the_sd_that_is_stated(result: PeriodResult) -> None:
    assert result.residuals is not None
    errors = result.residuals.draw(3000, torch.Generator().manual_seed(0))
    assert float(errors.var(0).mean()) == pytest.approx(1, abs=0.02)
    assert len(list(period_draws(result, 2, 0))) == 2


def test_draws_have_the_covariance_of_dense_matrices(recipe: Recipe) -> None:
    """Errors of some pixels given the cells and stations that most times have."""
    network, pixels = network_of(recipe), np.array([3, 40, 41, 200, 319])
    largest = max(recipe.groups, key=lambda given: len(given.times))
    rows = largest.rows.numpy()
    gram, cross, _ = dense(recipe, np.arange(48))
    variances, effects = errors_of(recipe, gram)
    solved = np.linalg.solve(network.ratio * gram[np.ix_(rows, rows)] + np.diag(variances[rows]),
                             network.ratio * cross[np.ix_(rows, pixels)])  # fmt: skip
    carried = effects[rows] @ network.effects[0].covariance.numpy() @ effects[rows].T
    reduction = network.ratio * cross[np.ix_(rows, pixels)].T @ solved - solved.T @ carried @ solved
    draw = residuals_of_archive(recipe.setting, network.choice, None, recipe.drawn).draw
    errors = draw(6000, torch.Generator().manual_seed(1)).numpy()[:, pixels]
    prior = prior_of(recipe, pixels)
    posterior = network.ratio * prior - reduction
    sd = np.sqrt(np.diag(posterior))
    np.testing.assert_allclose(np.cov(errors.T), posterior / np.outer(sd, sd), atol=0.06)


def prior_of(recipe: Recipe, pixels: np.ndarray) -> np.ndarray:
    """C of some pixels."""
    setting, mixture = recipe.setting, network_of(recipe).choice.mixture
    problem, choice = setting.series.problem, network_of(recipe).choice
    inputs = problem.inputs[torch.as_tensor(pixels)]
    kernel = evaluate(setting.spec.kernel.build(problem.columns), inputs, inputs).detach().numpy()
    y, h = setting.training.fine[:, pixels] / setting.unit, setting.coarse.design
    r, at = y - h @ np.linalg.lstsq(h, y, rcond=None)[0], problem.cell.ravel()[pixels]
    rho = np.exp(-0.5 * (setting.coarse.distance.numpy()[at][:, at] / (mixture.reach or np.inf)) ** 2)
    archive = r.T @ r / (len(y) - h.shape[1]) * rho
    return mixture.share * archive + (1 - mixture.share) * choice.scale * kernel


def test_they_make_maps_better_and_find_the_offset_and_with_a_stated_noise_intervals_hold(tmp_path: Path) -> None:
    """Also where they are: intervals hold the truth at their own pixels. A learned noise is said to be uncertain."""
    dataset = made_dataset(120).drop_vars("wind")
    table = str(table_of(dataset.isel(time=slice(80, 120)), tmp_path / "many.csv", 40))
    fields, found = fields_from_dataset(dataset), {}
    settings = DownscaleSettings(model="area_to_point_gp", local_scale=False, device="cpu", steps=20)
    times = [time for time in range(40) if time != 3]
    for name, stations in (("alone", None), ("learned", table), ("stated", table)):
        series = read_series(Source("x", stations=stations), SPEC, lambda key: fields, ["#80/#119"])
        if name == "stated":
            tau = (STATION_NOISE / series.scale) ** 2
            settings = settings.replace(representativeness=tau, hold=("representativeness",))
        result = downscale_with_archive(series, read_training(series, fields, ["#0/#79"]), settings)
        assert series.fine is not None
        off = np.stack([series.fine(time) - result.means[time] for time in times])
        sd = np.stack([result.sd(time) for time in times])
        found[name] = result, float(np.sqrt(np.mean(off**2))), (np.abs(off / sd) < 1.96).reshape(len(times), -1)
    for name in ("learned", "stated"):
        result, error, _ = found[name]
        assert error < 0.9 * found["alone"][1]
        offset = result.diagnostics["stations"]["offset"]  # errors of the climatology last, and look like an offset
        assert offset == pytest.approx(OFFSET, abs=0.2)
        assert any("noise of the stations is learned" in each for each in result.warnings) == (name == "learned")
    result, _, inside = found["stated"]
    assert result.diagnostics["stations"]["representativeness"] == pytest.approx(STATION_NOISE)
    assert 0.9 < inside.mean() < 0.99 and 0.9 < inside[:, series.problem.sources[0].row].mean() < 0.99


def test_every_member_has_effects_of_its_own(table: Path) -> None:
    """The second member is too warm everywhere: its stations differ from its cells by as much less."""
    dataset = of_members(60, changed=0.0)
    dataset["t"][1] += 1.0
    fields = fields_from_dataset(dataset)
    ensemble = read_ensemble(Source("x", stations=str(table)), SPEC, lambda key: fields, [LATER])
    assert ensemble is not None
    training = read_training(ensemble.pooled, fields_from_dataset(made_dataset(60)), ["#0/#47"])
    first, second, third = downscale_ensemble(ensemble, UNLEARNED, training=training).members
    np.testing.assert_allclose(first.means, third.means, rtol=0, atol=1e-8)
    assert first.diagnostics["stations"] == pytest.approx(third.diagnostics["stations"], abs=1e-8)
    apart = first.diagnostics["stations"]["offset"] - second.diagnostics["stations"]["offset"]
    assert abs(apart) < 1.0 + 0.05 and apart > 0.5


def test_stations_on_pixels_that_the_archive_lacks_are_left_out(dataset: xr.Dataset, table: Path) -> None:
    series, whole = read(dataset, table)
    row = int(series.problem.sources[0].row[0])
    fine = whole.fine.copy()
    fine[:, row] = np.nan
    result = downscale_with_archive(series, replace(whole, fine=fine), UNLEARNED)
    assert any("1 stations lie on pixels that the archive lacks" in each for each in result.warnings)
    assert result.diagnostics["stations"]["targets"] == 12 and np.isnan(result.means[0].flat[row])
    with pytest.raises(InputError, match="All 12 stations lie on pixels that the archive lacks"):
        fine[:, series.problem.sources[0].row] = np.nan
        downscale_with_archive(series, replace(whole, fine=fine), UNLEARNED)


def test_the_command_and_the_function_take_both(dataset: xr.Dataset, table: Path, tmp_path: Path, capsys) -> None:
    dataset.to_netcdf(tmp_path / "made.nc", engine="h5netcdf")
    words = ["downscale", tmp_path / "made.nc", "--target", "t", "--covariates", "orog", "--block", 4, 4]
    words += ["--withhold", 0, "--model", "area_to_point_gp", "--no-learn", "--times", LATER, "--stations", table]
    words += ["--archive", tmp_path / "made.nc", "--output", tmp_path / "out.nc", "--statistics", "mean"]
    assert main([*map(str, words)]) == 0
    found = capsys.readouterr()
    assert '"offset_sd"' in found.out and "12 stations of" in found.err
    settings = {"model": "area_to_point_gp", "learn": False, "coarsen": (4, 4), "withhold": 0.0, "times": LATER}
    function = downscale(
        dataset, dataset, target="t", covariate_names=["orog"], stations=table, archive=dataset, **settings
    )
    with xr.open_dataset(tmp_path / "out.nc") as written:
        np.testing.assert_allclose(function["mean"], written["mean"], atol=1e-8)
        assert "period_mean_sd" in written


def test_what_cannot_be_combined_is_refused(dataset: xr.Dataset, both: tuple[Series, Training]) -> None:
    series, training = both
    with pytest.raises(InputError, match="need an archive of the whole region"):
        downscale_with_archive(series, replace(training, covers_part=True), UNLEARNED)
    with pytest.raises(InputError, match="cannot be combined with an archive if the target has a warp"):
        downscale_with_archive(series, training, UNLEARNED.replace(warp="box-cox"))
    with pytest.raises(InputError, match="downscale each variable by itself"):
        downscale_pair(series, series, (training, training), UNLEARNED)
