"""Series downscaled from a fine archive and from cells alone, beside BCSD and ridge regression: CRPS on later times.

Each series is cut in two: the first part is the archive, the second is predicted from its cells. Series that are not
part of the project lie in the folder that ``DECONDITIONING_FIELDS`` names; those that are not there are left out.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from deconditioning.datasets.entries import find
from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.fields.gridded import Fields
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive.climatology import with_climatology
from deconditioning.period.archive.peers.fitted import ANALOGS, DELTA, EOFS, FOREST, QUANTILES, RIDGE
from deconditioning.period.archive.predictors import read_predictors
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import read_training
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.scores import verified_result
from deconditioning.period.series import read_series
from deconditioning.period.statistics import period_draws, period_statistics
from deconditioning.studies.downscaling.given_fields import FOLDER
from deconditioning.verification.report import Verification, verify
from deconditioning.verification.series import BILINEAR, CONSERVING
from tests.benchmarks.gaps import with_gaps
from tests.benchmarks.period_case import Case, row_of_pooling, series_of, times_of
from tests.benchmarks.table import Row, keep

ARCHIVE, PREDICTED, ALONE = "archive", "archive with predictors", "cells alone"
CLIMATOLOGY = "climatology"
SETTINGS = DownscaleSettings(model="area_to_point_gp")
TITLES = {ARCHIVE: "Archive and kernel", PREDICTED: "Archive, kernel and predictors", RIDGE: "Ridge on BCSD",
          QUANTILES: "Quantile mapping", ANALOGS: "Analogs", EOFS: "EOF regression", FOREST: "Random forest",
          ALONE: "Cells alone", CLIMATOLOGY: "Cells alone with a climatology",
          CONSERVING: "Bilinear, means kept", BILINEAR: "Bilinear"}  # fmt: skip
#: Times of each series at most, and series at most: all of them.
MOST_TIMES, MOST_SERIES = 10_000, 100
#: Windows of a series that are predicted from all its other times, times and joint draws of each at most, and every
#: how many windows from cells alone; series that this is done for.
WINDOWS, WINDOW, DRAWS, ALONE_EVERY, SERIES = 6, 48, 30, 3, 3
#: Shares of the cells that are missing at random.
MISSING = (0.3, 0.7)
#: Times, evenly spread, that are predicted with a climatology as a covariate, and without one.
SPREAD = 24
#: Times, evenly spread, that are predicted by hyperparameters of all times and by those of each time alone.
SINGLE = 6
#: Joint draws whose changes in time are compared with the truth's.
MOVING = 10
SMOKE = {
    "MOST_TIMES": 40, "MOST_SERIES": 1, "WINDOWS": 2, "WINDOW": 6, "DRAWS": 3, "SERIES": 1, "MOVING": 2, "SPREAD": 3,
    "SINGLE": 2,
    "SETTINGS": DownscaleSettings(model="area_to_point_gp", restarts=1, steps=2, integrate=False),
}  # fmt: skip


def cases() -> list[Case]:
    """The bundled and the generated series, and those of the folder."""
    uk = partial(lambda: find("era5-uk").open())
    result = [Case("ERA5 British Isles, every 3 h", uk, "t2m", ("land",), block, 2 / 3) for block in (8, 4)]
    made = partial(weather_region, 730, 48)
    result.append(Case("made-up region, 48 × 48, daily", made, "t", ("orography", "land"), 8, 0.5, ("u",)))
    result.append(Case("rain in the made-up region, 48 × 48, daily", made, "pr", ("orography", "land"), 8, 0.5))
    folder = Path(os.environ.get(FOLDER, "nowhere"))
    given = (
        ("ERA5 British Isles, hourly", "era5_uk_2019-03_hourly.nc", "t2m", 8, 2 / 3),
        ("ERA5 British Isles, hourly", "era5_uk_2019-03_hourly.nc", "t2m", 4, 2 / 3),
        ("HadGEM2 North America, annual", "north_america_annual_e1.nc", "tas", 6, 0.5),
    )
    return result + [
        Case(title, partial(open_fields, str(folder / file)), target, ("orog", "land"), block, share)
        for title, file, target, block, share in given if (folder / file).exists()
    ]  # fmt: skip


def predicted(case: Case) -> dict[str, PeriodResult]:
    """The later times from an archive of the earlier ones, also with predictors, and from cells alone."""
    fields = case.open()
    count = times_of(case, fields, MOST_TIMES)
    first = round(case.share * count)
    earlier, later = [f"#0/#{first - 1}"], [f"#{first}/#{count - 1}"]
    series = series_of(case, fields, later[0])
    result = {ARCHIVE: downscale_with_archive(series, read_training(series, fields, earlier), SETTINGS)}
    if case.predictors:
        spec = series.problem.spec
        others = read_predictors(
            Source("fields"), spec, lambda key: fields, [f"#{first}/#{count - 1}"], case.predictors
        )
        training = read_training(series, fields, earlier, others)
        result[PREDICTED] = downscale_with_archive(series, training, SETTINGS)
    return {**result, ALONE: downscale_series(series, SETTINGS)}


def tendency_of_draws(result: PeriodResult) -> float:
    """The rms change of joint draws from one time to the next over that of the truth, weighted by area."""
    problem, fine = result.series.problem, result.series.fine
    assert fine is not None
    area = problem.grid.area.flat[problem.pixel]

    def squared(fields: np.ndarray) -> float:
        """The mean squared change of fields (T, P)."""
        return float(np.average((np.diff(fields, axis=0) ** 2).mean(0), weights=area))

    truth = squared(np.stack([fine(time).flat[problem.pixel] for time in range(len(result.series))]))
    drawn = [squared(draw) for draw, _ in period_draws(result, MOVING, result.series.problem.spec.seed)]
    return float(np.sqrt(np.mean(drawn) / truth))


def row_of(
    case: Case, result: PeriodResult, found: Verification, name: str, title: str, moving: dict[str, float]
) -> Row:
    """The CRPS of one method beside BCSD's; ``moving`` is by method what `tendency_of_draws` gives."""
    own, bcsd = found.scores[name].pooled, found.scores[DELTA].pooled
    problem = result.series.problem
    size = f"{case.title}: {int(problem.observed.sum())} cells, {len(result.series)} times"
    held = f", 95 % intervals hold {100 * own['coverage95']:.0f} %" if "coverage95" in own else ""
    more = {name: own[name] for name in ("rmse", "crps", "coverage95", "tendency") if name in own}
    more |= {"tendency_of_draws": moving[name]} if name in moving else {}
    cpu = (
        f"CPU time after learning {result.seconds['cpu']:.1f} s" if name == ARCHIVE and "cpu" in result.seconds else ""
    )
    return Row(
        title, size, own["crps"], f"{problem.units} (CRPS)", bcsd["crps"], "BCSD (delta method, means kept)",
        accuracy=f"RMSE {own['rmse']:.3g}{held}", note=cpu, more={"case": case.title, "method": name, **more},
    )  # fmt: skip


def rows_of(case: Case) -> list[Row]:
    """A row for each method."""
    results = predicted(case)
    found = {name: verify(verified_result(result, name)) for name, result in results.items()}
    scores = {**found[ARCHIVE].scores, **{name: each.scores[name] for name, each in found.items()}}
    joined = Verification(found[ARCHIVE].verified, scores, (), {})
    moving = {name: tendency_of_draws(result) for name, result in results.items()}
    return [
        row_of(case, results[ARCHIVE], joined, name, title, moving) for name, title in TITLES.items() if name in scores
    ]


def bench_period() -> None:
    """Every series, kept as soon as it is measured."""
    rows: list[Row] = []
    for case in cases()[:MOST_SERIES]:
        rows += rows_of(case)
        keep("period", rows)


def held_by_statistics(result: PeriodResult, values: np.ndarray) -> dict[str, float]:
    """Share of the pixels whose 90 % interval of a statistic holds the truth; thresholds are the tenths at either end
    of ``values``.
    """
    low, high = np.nanquantile(values, (0.1, 0.9))
    words = ["mean", "max", "min", f"above={high:.2f}", f"below={low:.2f}", "trend"]
    found = period_statistics(result, words, DRAWS)
    return {
        word.partition("=")[0]: float(np.mean((each.low <= each.truth) & (each.truth <= each.high)))
        for word, each in zip(words, found, strict=True)
    }


def windows_of(case: Case, fields: Fields) -> Iterator[tuple[str, list[str]]]:
    """The times of each window, and all others."""
    end = times_of(case, fields, MOST_TIMES) - 1
    for window in np.array_split(np.arange(end + 1), WINDOWS):
        first, last = int(window[0]), int(window[:WINDOW][-1])
        yield f"#{first}/#{last}", [f"#0/#{first - 1}"] * (first > 0) + [f"#{last + 1}/#{end}"] * (last < end)


def held_in_windows(case: Case) -> dict[str, list[dict[str, float]]]:
    """What the intervals of each window hold, from an archive of all other times, and from cells alone."""
    fields, result = case.open(), {ARCHIVE: [], ALONE: []}
    for number, (times, others) in enumerate(windows_of(case, fields)):
        series = series_of(case, fields, times)
        training = read_training(series, fields, others)
        given = downscale_with_archive(series, training, SETTINGS)
        result[ARCHIVE].append(held_by_statistics(given, training.fine))
        if number % ALONE_EVERY == 0:
            result[ALONE].append(held_by_statistics(downscale_series(series, SETTINGS), training.fine))
    return result


def held_with_climatology(case: Case) -> dict[str, list[dict[str, float]]]:
    """What the intervals of some windows hold from cells alone, with the climatology of all other times."""
    fields, result = case.open(), list[dict[str, float]]()
    for times, others in list(windows_of(case, fields))[::ALONE_EVERY]:
        spec, given = climatology_of(case, fields, [times], others)
        series = read_series(Source("fields"), spec, given.__getitem__, [times])
        values = read_training(series_of(case, fields, times), fields, others).fine
        result.append(held_by_statistics(downscale_series(series, SETTINGS), values))
    return {CLIMATOLOGY: result}


def bench_period_statistics() -> None:
    """What 90 % intervals of period statistics hold, on the series that are part of the project."""
    for file, held in (
        ("period_statistics", held_in_windows),
        ("period_statistics_climatology", held_with_climatology),
    ):
        rows: list[Row] = []
        for case in cases()[:SERIES]:
            rows += [row_of_statistics(case, method, windows) for method, windows in held(case).items()]
            keep(file, rows)


def row_of_statistics(case: Case, method: str, windows: list[dict[str, float]]) -> Row:
    """The largest difference of any statistic from 90 %."""
    held = {name: float(np.mean([each[name] for each in windows])) for name in windows[0]}
    told = ", ".join(f"{name} {100 * share:.0f} %" for name, share in held.items())
    worst = max(abs(100 * share - 90) for share in held.values())
    return Row(
        f"Intervals of period statistics, {TITLES[method].lower()}", case.title_of_windows, worst, "points from 90 %",
        accuracy=told, note=f"{len(windows)} windows", more={"method": method, "held": held, "windows": windows},
    )  # fmt: skip


def row_of_gaps(title: str, case: Case, share: float, linked: PeriodResult, alone: PeriodResult) -> Row:
    """Cells linked through time beside each time by itself."""
    more, series = {}, linked.series
    for name, each in {"linked": linked, "alone": alone}.items():
        pooled = verify(verified_result(each, ALONE)).scores[ALONE].pooled
        more[name] = {score: pooled[score] for score in ("rmse", "crps", "coverage95")}
        more[name] |= {"tendency": tendency_of_draws(each)} if each.residuals else {}
    own = more["linked"]
    return Row(
        title, f"{case.title_of_windows}, {100 * share:.0f} % of them missing, {len(series)} times", own["crps"],
        f"{series.problem.units} (CRPS)", more["alone"]["crps"], "each time by itself",
        accuracy=f"RMSE {own['rmse']:.3g}, 95 % intervals hold {100 * own['coverage95']:.0f} %",
        note="" if "linked" in linked.diagnostics else "not linked",
        more={"case": case.title_of_windows, "missing": share, **more},
    )  # fmt: skip


def rows_of_gaps(title: str, case: Case, name: str) -> list[Row]:
    """Later times of which some cells are missing, by the earlier times as an archive, as a climatology that is a
    covariate, or from cells alone.
    """
    fields = case.open()
    count = times_of(case, fields, MOST_TIMES)
    first = round(case.share * count)
    predict = partial(downscale_series, settings=SETTINGS)
    if name == CLIMATOLOGY:
        times = [f"#{first}/#{min(first + WINDOW, count) - 1}"]
        spec, given = climatology_of(case, fields, times, [f"#0/#{first - 1}"])
        series = read_series(Source("fields"), spec, given.__getitem__, times)
    else:
        series = series_of(case, fields, f"#{first}/#{count - 1}")
    if name == ARCHIVE:
        training = read_training(series, fields, [f"#0/#{first - 1}"])
        predict = partial(downscale_with_archive, training=training, settings=SETTINGS)
    parts = {share: with_gaps(series, share) for share in MISSING}
    return [
        row_of_gaps(title, case, share, *(predict(part, link=link) for link in (None, False)))
        for share, part in parts.items()
    ]  # fmt: skip


def bench_period_gaps() -> None:
    """The series that are part of the project, of whose cells some are missing: alone, and with earlier fine values."""
    title = "Missing cells linked through time"
    for name, file, added in ((ALONE, "period_gaps", ""), (ARCHIVE, "period_gaps_archive", ", with an archive"),
                              (CLIMATOLOGY, "period_gaps_climatology", ", with a climatology")):  # fmt: skip
        rows: list[Row] = []
        for case in cases()[:SERIES]:
            rows += rows_of_gaps(title + added, case, name)
            keep(file, rows)


def climatology_of(
    case: Case, fields: Fields, times: list[str], others: list[str]
) -> tuple[DownscalingSpec, dict[str, Fields]]:  # fmt: skip
    """Settings and files with the climatology of other times as a covariate."""
    spec = DownscalingSpec(case.target, case.covariates, block=(case.block, case.block), withhold=0.0)
    return with_climatology(Source("fields"), spec, {"fields": fields}, fields, times, others)[:2]


def row_of_climatology(case: Case) -> Row:
    """Some of the later times from cells alone, with the climatology of the earlier ones as a covariate and without."""
    fields = case.open()
    count = times_of(case, fields, MOST_TIMES)
    first = round(case.share * count)
    times = [f"#{time}" for time in np.unique(np.linspace(first, count - 1, SPREAD).round().astype(int))]
    spec, given = climatology_of(case, fields, times, [f"#0/#{first - 1}"])
    found = {}
    for name, each in {"with": spec, "without": replace(spec, covariates=case.covariates)}.items():
        series = read_series(Source("fields"), each, given.__getitem__, times)
        pooled = verify(verified_result(downscale_series(series, SETTINGS), ALONE)).scores[ALONE].pooled
        found[name] = {score: pooled[score] for score in ("rmse", "crps", "coverage95")}
    own = found["with"]
    return Row(
        "Climatology as a covariate", f"{case.title_of_windows}, {len(times)} times", own["crps"],
        f"{series.problem.units} (CRPS)", found["without"]["crps"], "without it",
        accuracy=f"RMSE {own['rmse']:.3g}, 95 % intervals hold {100 * own['coverage95']:.0f} %",
        more={"case": case.title_of_windows, **found},
    )  # fmt: skip


def bench_period_climatology() -> None:
    """Some of the later times of every series of temperatures, from cells alone."""
    rows: list[Row] = []
    for case in [each for each in cases() if each.target != "pr"][:MOST_SERIES]:
        rows.append(row_of_climatology(case))
        keep("period_climatology", rows)


def bench_period_pooled() -> None:
    """Some of the later times of every series of temperatures, from cells alone."""
    rows: list[Row] = []
    for case in [each for each in cases() if each.target != "pr"][:MOST_SERIES]:
        rows.append(row_of_pooling(case, case.open(), MOST_TIMES, SINGLE, SETTINGS))
        keep("period_pooled", rows)
