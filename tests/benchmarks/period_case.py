"""A series of the benchmarks of a period, and hyperparameters of all of its times beside those of each time alone."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.fields.gridded import Fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.metrics.predictive import Predictive
from deconditioning.period.run import downscale_series
from deconditioning.period.series import Series, read_series
from tests.benchmarks.table import Row


@dataclass(frozen=True)
class Case:
    """A series: what opens it, target, covariates, pixels along a cell, the share of its times that is archive, and
    variables that may predict the target.
    """

    title: str
    open: "partial[Fields]"
    target: str
    covariates: tuple[str, ...]
    block: int
    share: float
    predictors: tuple[str, ...] = ()

    @property
    def title_of_windows(self) -> str:
        """The series, and how long the sides of its cells are."""
        return f"{self.title}: cells of {self.block} × {self.block} pixels"


def times_of(case: Case, fields: Fields, most: int) -> int:
    """How many times of a series are used, at most so many."""
    (labels,) = [each for each in fields.check(case.target).extra.values() if len(each) > 1]
    return min(len(labels), most)


def series_of(case: Case, fields: Fields, times: str) -> Series:
    """The series of some times of fields that are open."""
    spec = DownscalingSpec(case.target, case.covariates, block=(case.block, case.block), withhold=0.0)
    return read_series(Source("fields"), spec, lambda key: fields, [times])


def row_of_pooling(case: Case, fields: Fields, most: int, count: int, settings: DownscaleSettings) -> Row:
    """``count`` of the later times from cells alone, by hyperparameters of all later times, and each as a single time
    with its own; ``most`` times of the series are used.
    """
    end = times_of(case, fields, most)
    first = round(case.share * end)
    some = np.unique(np.linspace(0, end - 1 - first, count).round().astype(int))
    pooled = downscale_series(series_of(case, fields, f"#{first}/#{end - 1}"), settings, times=some)
    alone, found = settings.replace(average=False, choose=False, warp="none"), list[dict[str, dict[str, float]]]()
    for place, time in enumerate(first + some):
        series = series_of(case, fields, f"#{time}")
        each = {"pooled": pooled.predictive(place), "single": downscale(series.at(0), alone).predictive}
        found.append({name: _scores(own, series) for name, own in each.items()})
    own, other = (
        {score: float(np.mean([each[name][score] for each in found])) for score in found[0][name]}
        for name in ("pooled", "single")
    )
    return Row(
        "Hyperparameters of all times", f"{case.title_of_windows}, {len(some)} times", own["crps"],
        f"{pooled.series.problem.units} (CRPS)", other["crps"], "those of each time alone",
        accuracy=f"95 % intervals hold {100 * own['coverage95']:.0f} %",
        more={"case": case.title_of_windows, "pooled": own, "single": other, "times": found},
    )  # fmt: skip


def _scores(predictive: Predictive, series: Series) -> dict[str, float]:
    """CRPS and coverage of the only time of a series, weighted by area."""
    assert series.fine is not None
    grid = series.problem.grid
    at = np.unravel_index(series.problem.pixel, grid.shape)
    truth, own, area = series.fine(0)[at], predictive[at], grid.area[at]
    low, high = own.interval(0.95)
    held = (low <= truth) & (truth <= high)
    return {
        "crps": float(np.average(own.crps(truth), weights=area)),
        "coverage95": float(np.average(held, weights=area)),
    }
