"""What the page takes from the training period beside the result: the climatology, and where the period leaves it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from deconditioning.fields.times import MONTHS
from deconditioning.period.archive.seasons import Seasons, climatology
from deconditioning.period.archive.training import Training
from deconditioning.period.series import Series
from deconditioning.wording import number

#: Pixels whose archive is held at once.
_PIXELS_AT_ONCE = 4000
#: Share of the coarse values outside their range in the training period from which on the page warns. Of values alike,
#: a share of 2/(N + 1) is outside that of N.
_OUTSIDE = 0.05


def climatologies(training: Training, dates: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Climatology of pixels (T, P) and targets (T, M) at these dates."""
    pixels = np.array_split(np.arange(len(training.known)), -(-len(training.known) // _PIXELS_AT_ONCE))
    fine = [climatology(training.dates, training.at(some), dates) for some in pixels]
    return np.concatenate(fine, axis=1), climatology(training.dates, training.coarse, dates)


def left_behind(training: Training, series: Series) -> tuple[str, ...]:
    """A sentence where downscaled dates are in months without training, and where coarse values are beyond those."""
    return (*_months(training.dates, series.dates), *_beyond(training, series))


def _months(known: Sequence[Any], dates: Sequence[Any]) -> tuple[str, ...]:
    if any(date is None for date in (*known, *dates)) or Seasons.of(known, dates).annual:
        return ()  # with waves of the year, the result's own warnings name these months
    unseen = [MONTHS[month - 1] for month in Seasons(1, 0).unseen_months(known, dates)]
    if not unseen:
        return ()
    names = " and ".join(filter(None, (", ".join(unseen[:-1]), unseen[-1])))
    return (
        f"The training period has no {names}, and its climatology is the same all year: maps of these months may be "
        "biased.",
    )


def _beyond(training: Training, series: Series) -> tuple[str, ...]:
    """A sentence if many coarse values are lower or higher than all of the same cell in the training period."""
    values = series.coarse[:, series.problem.target_cell]
    low, high = training.coarse.min(0), training.coarse.max(0)
    below, above = (float(np.nansum(each) / np.isfinite(values).sum()) for each in (values < low, values > high))
    if below + above < _OUTSIDE:
        return ()
    most = max(float(np.nanmax(values - high)), float(np.nanmax(low - values)))
    shares = f"{number(100 * below, 2)} % are lower and {number(100 * above, 2)} % higher"
    return (
        f"The coarse values leave the training period: {shares} than every value of their cell there, by up to "
        f"{number(most, 2)} {series.problem.units}. There the map extrapolates what was learned.",
    )
