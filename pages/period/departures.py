"""What the maps show: values, or their departures from the period's own mean or from the archive's climatology."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from deconditioning.fields.problem.baselines import constant
from deconditioning.figures.map_panel import MapScale
from deconditioning.period.series import Series
from pages.kit.controls import widgets
from pages.kit.state import offer_only
from pages.period.result import Shown
from pages.period.scales import field_limits

_KEY = "p-maps"
_VALUES, _PERIOD, _CLIMATE = "values", "minus period mean", "minus climatology"


@dataclass(frozen=True)
class Departure:
    """What is subtracted from every map, and in the words of a scale; "" for nothing."""

    words: str = ""

    def of(self, shown: Shown, fields: dict[str, np.ndarray], times: Sequence[int]) -> dict[str, np.ndarray]:
        """The fields (t, H, W) of some ``times`` of the period, less what is subtracted."""
        if self.words == _PERIOD:
            return {name: values - _mean(values) for name, values in fields.items()}
        if self.words != _CLIMATE or shown.climate is None:
            return fields
        series, (pixels, targets) = shown.result.series, shown.climate
        fine = np.stack([series.problem.on_grid(pixels[time]) for time in times])
        coarse = np.stack([_on_cells(series, time, targets[time]) for time in times])
        return {name: values - (coarse if name == "coarse" else fine) for name, values in fields.items()}

    def scale(self, quantity: str, units: str, fields: dict[str, np.ndarray]) -> MapScale:
        """One colour scale for all fields, symmetric for departures."""
        name = f"{quantity} {self.words}".strip()
        limits = field_limits(fields, bool(self.words))
        return MapScale(name, units, "diverging" if self.words else "sequential", *limits)


def choose(shown: Shown) -> Departure:
    """The control; climatology is on offer where there is an archive."""
    options = [_VALUES, _PERIOD, *([_CLIMATE] if shown.climate is not None else [])]
    offer_only(_KEY, options)
    widgets.segmented_control(
        "Maps show", options, default=_VALUES, key=_KEY,
        help="Values; or each map minus the mean of all maps of the period, which shows changes instead of the mean "
        "pattern; or minus the archive's climatology of that date and hour (harmonics of the year and the day at each "
        "pixel), which shows the weather that is unusual for the season.",
    )  # fmt: skip
    return current()


def current() -> Departure:
    """What the control says, for pictures below the maps."""
    chosen = st.session_state.get(_KEY)
    return Departure("" if chosen in (None, _VALUES) else str(chosen))


def fields_at(shown: Shown, times: Sequence[int]) -> dict[str, np.ndarray]:
    """(t, H, W) coarse values, NaN in cells that are missing, mean and, if it is known, truth at some times of the
    period.
    """
    result, series = shown.result, shown.result.series
    cell = series.problem.cell
    coarse = [np.where((cell >= 0) & np.isnan(series.coarse[time][cell]), np.nan, constant(series.at(time)))
              for time in times]  # fmt: skip
    fields = {"coarse": np.stack(coarse), "mean": result.means[list(times)]}
    if series.fine is not None:
        fields["truth"] = np.stack([series.fine(time) for time in times])
    return fields


def _mean(values: np.ndarray) -> np.ndarray:
    """(H, W) means over the times at which there are values (t, H, W)."""
    known = np.isfinite(values)
    return np.where(known, values, 0.0).sum(0) / np.where(known.any(0), known.sum(0), np.nan)


def _on_cells(series: Series, time: int, targets: np.ndarray) -> np.ndarray:
    """(H, W) values (M,) of the targets at the pixels of their cells."""
    problem = series.at(time)
    cells = np.full(problem.coarse.shape, np.nan)
    cells.flat[problem.target_cell] = targets
    return constant(replace(problem, coarse=cells))
