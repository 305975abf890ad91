"""Two variables, one never above the other: their order, against samples of the joint model, and each by itself."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from deconditioning import downscale
from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive import run, setting, warp_choice
from deconditioning.period.archive.pair import Pair, downscale_pair
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.dataset import pair_dataset
from deconditioning.period.scores import verified_result
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws, period_statistics
from deconditioning.verification.report import verify
from tests.core.period.made import UNLEARNED

SPEC = DownscalingSpec("tmin", ("orography", "land"), block=(4, 4), withhold=0.0)


@pytest.fixture(scope="module")
def region() -> Fields:
    return weather_region(300, 16)


@pytest.fixture(scope="module")
def both(region: Fields) -> list[tuple[Series, Training]]:
    result = []
    for name in ("tmin", "tmax"):
        series = read_series(Source("x"), replace(SPEC, target=name), lambda key: region, ["#240/#299"])
        result.append((series, read_training(series, region)))
    return result


@pytest.fixture(scope="module")
def pair(both: list[tuple[Series, Training]]) -> Pair:
    (lower, known), (upper, known_upper) = both
    return downscale_pair(lower, upper, (known, known_upper), UNLEARNED)


def test_the_lower_one_is_never_above_the_upper_one(pair: Pair) -> None:
    assert (pair.lower.means <= pair.upper.means).all()
    for time in range(0, 60, 11):
        low, high = pair.lower.predictive(time), pair.upper.predictive(time)
        for level in (1e-4, 0.025, 0.5, 0.975, 1 - 1e-4):
            assert (low.quantile(level) <= high.quantile(level) + 1e-9).all()
    for (low, _), (high, _) in zip(period_draws(pair.lower, 3, 5), period_draws(pair.upper, 3, 5), strict=True):
        assert (low <= high).all() and (high - low).std() > 0.5


def test_the_order_holds_where_the_difference_is_small(pair: Pair) -> None:
    """With sds ten times as large the difference is often zero, and the order still holds."""
    wide = []
    for end in (pair.lower, pair.upper):
        ends = end.behind.ends  # type: ignore[union-attr]
        span = ends.span
        latent = replace(span.behind.latent, amplitude=10 * span.behind.latent.amplitude)
        behind = replace(span.behind, latent=latent)
        wide.append(replace(end.behind, ends=replace(ends, span=replace(span, behind=behind))))  # type: ignore[type-var]
    for level in (0.001, 0.2, 0.9):
        low, high = (each.predictive(3).quantile(level) for each in wide)
        assert (low <= high + 1e-9).all()
    low, high = (next(iter(each.draws(1, 0))) for each in wide)
    assert (low <= high).all() and (high - low).min() < 1e-9


def test_cells_keep_their_means(pair: Pair, both: list[tuple[Series, Training]]) -> None:
    for result, (series, _) in zip((pair.lower, pair.upper), both, strict=True):
        problem = series.problem
        draw = next(iter(period_draws(result, 1, 2)))[0]
        for field in (result.means[7], problem.on_grid(draw[7])):
            cells = problem.shares.mean(field, problem.grid.area)[problem.target_cell]
            assert np.allclose(cells, series.coarse[7][problem.target_cell], atol=0.02)


def test_distributions_are_those_of_samples_of_the_joint_model(pair: Pair) -> None:
    """Middle and difference drawn with their correlation, a hundred thousand times at four pixels."""
    ends, rng, time = pair.upper.behind.ends, np.random.default_rng(0), 4  # type: ignore[union-attr]
    problem = pair.upper.series.problem
    z, e = rng.normal(size=(2, 100_000))
    centre, spread = ends.span.behind.gaussian(time)
    for pixel in (0, 77, 130, 255):
        at = problem.pixel[pixel]
        rho, s = ends.correlation[pixel], ends.middle.sd(time).flat[at]
        middle = ends.middle.means[time].flat[at] + s * (rho * z + np.sqrt(1 - rho**2) * e)
        n = round(1 / ends.span.behind.warp.power)
        difference = np.maximum(1 + (centre[pixel] + spread[pixel] * z) / n, 0) ** n
        for result, sample in ((pair.lower, middle - difference / 2), (pair.upper, middle + difference / 2)):
            found = result.predictive(time)
            assert found.mean.flat[at] == pytest.approx(sample.mean(), abs=0.02)
            assert found.sd.flat[at] == pytest.approx(sample.std(), rel=0.02)
            for level in (0.025, 0.5, 0.975):
                assert found.quantile(level).flat[at] == pytest.approx(np.quantile(sample, level), abs=0.04)


def test_draws_have_the_sd_that_is_stated(pair: Pair) -> None:
    for result in (pair.lower, pair.upper):
        draws = np.stack([draw for draw, _ in period_draws(result, 30, 1)])
        stated = np.stack([result.sd(time).ravel() for time in range(60)])
        assert np.sqrt((draws.var(0, ddof=1)).mean() / (stated**2).mean()) == pytest.approx(1, abs=0.12)


def test_missing_cells_are_linked_through_time(both: list[tuple[Series, Training]]) -> None:
    """Each part with the cells of the other as predictors that are missing at the same times; the order holds."""
    missing = np.random.default_rng(0).uniform(size=both[0][0].coarse.shape) < 0.5
    (lower, known), (upper, known_upper) = (
        (replace(series, coarse=np.where(missing, np.nan, series.coarse)), training) for series, training in both
    )
    linked, alone = (downscale_pair(lower, upper, (known, known_upper), UNLEARNED, link=link) for link in (None, False))
    assert "Of the middle: Missing cells are linked" in linked.upper.diagnostics["linked"]
    crps = [verify(verified_result(each.upper)).scores["prediction"].pooled["crps"] for each in (linked, alone)]
    assert crps[0] < 0.99 * crps[1] and (linked.lower.means <= linked.upper.means).all()
    draws = [np.stack([draw for draw, _ in period_draws(each, 10, 1)]) for each in (linked.lower, linked.upper)]
    assert (draws[0] <= draws[1]).all()
    stated = np.stack([linked.lower.sd(time).ravel() for time in range(60)])
    assert np.sqrt(draws[0].var(0, ddof=1).mean() / (stated**2).mean()) == pytest.approx(1, abs=0.15)


def test_the_share_of_wrong_orders_is_that_of_independent_draws(pair: Pair) -> None:
    """Against draws of independent Gaussians of the stated means and sds; both variables state the same share."""
    rng, wrong = np.random.default_rng(0), []
    for time in range(60):
        low, high = (
            each.means[time] + each.sd(time) * rng.normal(size=(300, *each.means[time].shape))
            for each in (pair.lower, pair.upper)
        )
        wrong.append((low > high).mean())
    share = pair.lower.diagnostics["share_above_if_independent"]
    assert share == pytest.approx(np.mean(wrong), abs=2e-4) and 0.01 < share < 0.02
    assert pair.upper.diagnostics["order"] == pair.lower.diagnostics["order"] == (
        "Daily minimum temperature is never above daily maximum temperature; if both were drawn independently, with "
        f"the same means and sd, it would be above at {100 * share:.2g} % of all pixels and times."
    )  # fmt: skip


def test_neither_is_worse_than_by_itself(pair: Pair, both: list[tuple[Series, Training]]) -> None:
    for result, (series, training) in zip((pair.lower, pair.upper), both, strict=True):
        together = verify(verified_result(result)).scores["prediction"].pooled
        alone = verify(verified_result(downscale_with_archive(series, training, UNLEARNED))).scores["prediction"].pooled
        assert together["crps"] <= 1.01 * alone["crps"]
        assert 0.9 < together["coverage95"] < 0.98


def test_the_file_has_both(pair: Pair, region: Fields) -> None:
    """Fields and statistics of the upper one beside those of the lower one; the function gives the same."""
    statistics = [period_statistics(each, ["max"], 4, 0) for each in (pair.lower, pair.upper)]
    dataset = pair_dataset(pair.lower, pair.upper, (statistics[0], statistics[1]))
    assert (dataset["mean"] <= dataset["upper_mean"]).all()
    assert {"sd", "upper_sd", "upper_coarse", "upper_truth", "period_max", "upper_period_max_low"} <= set(dataset)
    assert bool((dataset["period_max"] <= dataset["upper_period_max"]).all())
    settings = UNLEARNED.to_dict()
    found = downscale(
        region.dataset, region.dataset, model="area_to_point_gp", target="tmin", upper="tmax", times="#240/#299",
        archive=region.dataset, covariate_names=["orography", "land"], coarsen=(4, 4), learn=settings["learn"],
        local_scale=False, withhold=0.0,
    )  # fmt: skip
    assert np.allclose(found["upper_mean"], dataset["upper_mean"], atol=1e-6)


def test_what_is_no_pair_is_refused(both: list[tuple[Series, Training]], region: Fields) -> None:
    (lower, known), (upper, known_upper) = both
    with pytest.raises(InputError, match="`tmax` is above `tmin` by up to"):
        downscale_pair(upper, lower, (known_upper, known), UNLEARNED)
    other = replace(upper, problem=replace(upper.problem, units="degC"))
    with pytest.raises(InputError, match="give both in one unit"):
        downscale_pair(lower, other, (known, known_upper), UNLEARNED)
    with pytest.raises(InputError, match="not known at the same times"):
        downscale_pair(lower, upper.only(np.arange(5)), (known, known_upper), UNLEARNED)
    with pytest.raises(InputError, match="`other_method` need both"):
        downscale(region.dataset, region.dataset, target="tmin", upper="tmax", coarsen=(4, 4))


def test_sums_and_left_out_moments_are_computed_once(
    both: list[tuple[Series, Training]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One kernel has one set of sums for all warps; moments once for the middle, twice for each warp, drawn or not."""
    (lower, known), (upper, known_upper) = both
    counts = {"sums": 0, "moments": 0}

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            counts[name] += 1
            return function(*args, **more)

        return call

    monkeypatch.setattr(setting, "pixel_sums", counted("sums", setting.pixel_sums))
    moments = counted("moments", warp_choice.left_out_moments)
    monkeypatch.setattr(warp_choice, "left_out_moments", moments)
    monkeypatch.setattr(run, "left_out_moments", moments)
    downscale_pair(lower, upper, (known, known_upper), UNLEARNED)
    assert counts == {"sums": 2, "moments": 7}
