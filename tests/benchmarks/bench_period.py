"""Series downscaled from a fine archive and from cells alone, beside BCSD and ridge regression: CRPS on later times.

Each series is cut in two: the first part is the archive, the second is predicted from its cells. Series that are not
part of the project lie in the folder that ``DECONDITIONING_FIELDS`` names; those that are not there are left out.
"""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from deconditioning.datasets.entries import find
from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.fields.gridded import Fields
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive.peers import DELTA, RIDGE
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import read_training
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.scores import verified_result
from deconditioning.studies.downscaling.given_fields import FOLDER
from deconditioning.verification.report import Verification, verify
from deconditioning.verification.series import BILINEAR, CONSERVING
from tests.benchmarks.table import Row, keep

ARCHIVE, ALONE = "archive", "cells alone"
TITLES = {ARCHIVE: "Archive and kernel", RIDGE: "Ridge on BCSD", ALONE: "Cells alone",
          CONSERVING: "Bilinear, means kept", BILINEAR: "Bilinear"}  # fmt: skip
#: Times of each series at most: all of them.
MOST_TIMES = 10_000
SMOKE = {"MOST_TIMES": 40}


@dataclass(frozen=True)
class Case:
    """A series: what opens it, target, covariates, pixels along a cell, and the share of its times that is archive."""

    title: str
    open: "partial[Fields]"
    target: str
    covariates: tuple[str, ...]
    block: int
    share: float


def cases() -> list[Case]:
    """The bundled and the generated series, and those of the folder."""
    uk = partial(lambda: find("era5-uk").open())
    result = [Case("ERA5 British Isles, every 3 h", uk, "t2m", ("land",), block, 2 / 3) for block in (8, 4)]
    made = partial(weather_region, 730, 48)
    result.append(Case("made-up region, 48 × 48, daily", made, "t", ("orography", "land"), 8, 0.5))
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


def predicted(case: Case) -> tuple[PeriodResult, PeriodResult]:
    """The later times from an archive of the earlier ones, and from cells alone."""
    fields = case.open()
    spec = DownscalingSpec(case.target, case.covariates, block=(case.block, case.block), withhold=0.0)
    (labels,) = [each for each in fields.check(case.target).extra.values() if len(each) > 1]
    count = min(len(labels), MOST_TIMES)
    first = round(case.share * count)
    series = read_series_of(fields, spec, f"#{first}/#{count - 1}")
    training, settings = (
        read_training(series, fields, [f"#0/#{first - 1}"]),
        DownscaleSettings(model="area_to_point_gp"),
    )
    return downscale_with_archive(series, training, settings), downscale_series(series, settings)


def read_series_of(fields: Fields, spec: DownscalingSpec, times: str):
    """The series of some times of fields that are open."""
    from deconditioning.period.series import read_series

    return read_series(Source("fields"), spec, lambda key: fields, [times])


def row_of(case: Case, result: PeriodResult, found: Verification, name: str, title: str) -> Row:
    """The CRPS of one method beside BCSD's."""
    own, bcsd = found.scores[name].pooled, found.scores[DELTA].pooled
    problem = result.series.problem
    size = f"{case.title}: {int(problem.observed.sum())} cells, {len(result.series)} times"
    held = f", 95 % intervals hold {100 * own['coverage95']:.0f} %" if "coverage95" in own else ""
    more = {name: own[name] for name in ("rmse", "crps", "coverage95", "tendency") if name in own}
    cpu = (
        f"CPU time after learning {result.seconds['cpu']:.1f} s" if name == ARCHIVE and "cpu" in result.seconds else ""
    )
    return Row(
        title, size, own["crps"], f"{problem.units} (CRPS)", bcsd["crps"], "BCSD (delta method, means kept)",
        accuracy=f"RMSE {own['rmse']:.3g}{held}", note=cpu, more={"case": case.title, "method": name, **more},
    )  # fmt: skip


def rows_of(case: Case) -> list[Row]:
    """A row for each method."""
    archive, alone = predicted(case)
    found = verify(verified_result(archive, ARCHIVE))
    other = verify(verified_result(alone, ALONE))
    joined = Verification(found.given, {**found.scores, ALONE: other.scores[ALONE]}, (), {})
    return [row_of(case, archive, joined, name, title) for name, title in TITLES.items()]


def bench_period() -> None:
    """Every series, kept as soon as it is measured."""
    rows: list[Row] = []
    for case in cases():
        rows += rows_of(case)
        keep("period", rows)
