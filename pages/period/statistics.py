"""Statistics of the whole period with their intervals, from joint draws of the series."""

import numpy as np
import streamlit as st

from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.period.run import PeriodResult
from deconditioning.period.statistics import (
    Draw,
    PeriodStatistic,
    period_draws,
    period_statistics,
    statistics_of_members,
)
from deconditioning.wording import number
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.period.maps import one_map
from pages.period.place import name_of
from pages.period.result import Choice, Shown
from pages.period.scales import field_limits, short
from pages.period.threshold import threshold

_ABOVE = "times above a threshold"
_WORDS = {"mean": "mean", "maximum": "max", "minimum": "min", _ABOVE: "above"}
#: Draws at most, and values in all of them that are held.
_MOST_DRAWS, _FEWEST_DRAWS, _MOST_VALUES = 50, 20, 64_000_000


def show(choice: Choice, shown: Shown, place: tuple[int, int]) -> None:
    """The choice of a statistic, its maps, and what it is at the place."""
    if any(each.residuals is None for each in _members(shown)):
        st.info("Statistics need joint draws, which are not available when pixels or cells change with time.")
        return
    name = widgets.segmented_control("Statistic", list(_WORDS), default="mean", key="p-statistic") or "mean"
    word = _WORDS[name]
    if name == _ABOVE:
        word = f"above={threshold(choice, shown, 'p-above')}"
    draws = _draws(choice, shown)
    if shown.members:
        (statistic,) = statistics_of_members(shown.members, [word], draws=draws)
    else:
        (statistic,) = period_statistics(shown.result, [word], draws=draws[0])
    units = statistic.statistic.units if name != _ABOVE else "times"
    _maps(shown, statistic, _quantity(shown, name, word), units)
    st.markdown(_at(shown, statistic, place, units))
    st.caption(_about(statistic, len(draws[0]), len(shown.members)))


@st.cache_resource(show_spinner="Drawing possible series …", max_entries=2)
def _draws(choice: Choice, _shown: Shown) -> list[list[Draw]]:
    """Joint draws of the series, or of that of each member, in single precision, as many as memory allows."""
    series, members = _shown.result.series, _members(_shown)
    size = len(members) * len(series) * len(series.problem.pixel)
    count = int(np.clip(_MOST_VALUES // size, _FEWEST_DRAWS, _MOST_DRAWS))
    return [
        [
            (draws.astype("f4"), None if fixed is None else fixed.astype("f4"))
            for draws, fixed in period_draws(each, count, series.problem.spec.seed)
        ]
        for each in members
    ]


def _members(shown: Shown) -> tuple[PeriodResult, ...]:
    """The members of an ensemble, or the only series."""
    return shown.members or (shown.result,)


def _quantity(shown: Shown, name: str, word: str) -> str:
    """What the maps show, such as "maximum of temperature at 2 m"."""
    problem = shown.result.series.problem
    what = problem.long_name
    return f"times {what} is above {word.partition('=')[2]} {problem.units}" if name == _ABOVE else f"{name} of {what}"


def _maps(shown: Shown, statistic: PeriodStatistic, quantity: str, units: str) -> None:
    """The statistic, the truth on the same scale, and the width of the interval."""
    grid = shown.result.series.problem.grid
    fields = {"Expected": statistic.mean[0]} | ({} if statistic.truth is None else {"Truth": statistic.truth[0]})
    low, high = field_limits(fields, difference=False)
    scale = MapScale(quantity, units, "sequential", low, high if high > low else low + 1)
    width = statistic.high[0] - statistic.low[0]
    most = short(float(np.nanpercentile(width, 99)))
    panels = [Panel(title.lower(), title, field, grid, scale) for title, field in fields.items()]
    wide = MapScale("width of the interval", units, "uncertainty", 0.0, most if most > 0 else 1.0)
    panels.append(Panel("width", "Width of the 90 % interval", width, grid, wide))
    for column, panel in zip(st.columns(len(panels)), panels, strict=True):
        with column:
            one_map(panel, "p-statistics")


def _at(shown: Shown, statistic: PeriodStatistic, place: tuple[int, int], units: str) -> str:
    mean, low, high = (float(each[0][place]) for each in (statistic.mean, statistic.low, statistic.high))
    where, unit = name_of(shown.result.series, place), plain(units)
    if not np.isfinite(mean):
        return f"There is no prediction at {where}."
    truth = "" if statistic.truth is None else f"; truth {number(statistic.truth[0][place], 4)} {unit}"
    return (
        f"At {where}: **{number(mean, 4)} {unit}**, 90 % interval {number(low, 4)} to {number(high, 4)} {unit}{truth}."
    )


def _about(statistic: PeriodStatistic, count: int, members: int) -> str:
    """How the interval was made and how often it holds the truth."""
    about = (
        f"The statistic of each of {count} joint draws of the series; nine of ten further draws would lie in the "
        "interval. Errors at neighbouring times are correlated, so the sd of a mean is larger than sd/√N."
    )
    if members:
        about = (
            f"The statistic of a further member, from {count} joint draws of each of the {members} members: the "
            "interval includes the spread between the members. Errors at neighbouring times are correlated, so the sd "
            "of a mean is larger than sd/√N."
        )
    if statistic.truth is not None:
        held = (statistic.low <= statistic.truth) & (statistic.truth <= statistic.high)
        about += (
            f" It contains the truth at {100 * float(np.mean(held[np.isfinite(statistic.truth)])):.0f} % of the pixels."
        )
    if statistic.sd_if_fixed is not None:
        between = [number(float(np.nanmean(each)), 2) for each in (statistic.sd, statistic.sd_if_fixed)]
        about += (
            " Without an archive the cells cannot show which share of the errors is constant in time, so the "
            f"interval is too narrow: the mean sd is between {between[0]}, the value used here, and {between[1]}."
        )
    return about
