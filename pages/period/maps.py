"""Coarse values, mean, sd and truth in step, played in the browser; a click chooses the place that is looked at."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.place import latitude_words, longitude_words
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map
from deconditioning.figures.studies.period import Sheet, maps_in_step, sheet_of
from deconditioning.period.series import Series
from deconditioning.period.statistics import period_draws
from deconditioning.wording import number
from pages.kit.chart.flip_book import flip
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.chart.prepared import prepare
from pages.kit.controls import widgets
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.layout.theme import is_dark
from pages.kit.record import record_figure
from pages.period import departures
from pages.period.departures import Departure, fields_at
from pages.period.result import Choice, Shown
from pages.period.scales import short

#: The book of the fields, whose clock the sd goes by, and its maps' titles.
_FIELDS, TITLES = (
    "p-book",
    {"coarse": "Coarse values", "mean": "Posterior mean", "drawn": "A possible series", "truth": "Truth"},
)
_SD = "Uncertainty: 2 sd"
#: Bytes of a book that go to the browser at most, as values; longer series skip times.
_MOST_VALUES = 4_000_000


@dataclass(frozen=True)
class _Books:
    """The books of the fields and of their sd, which maps they hold, and which times; the first page of both; whether
    values are missing.
    """

    fields: dict[str, Any]
    sd: dict[str, Any]
    maps: tuple[str, ...]
    sheet: Sheet
    times: tuple[str, ...]
    step: int
    first: tuple[Panel, ...]
    missing: bool


def show(choice: Choice, shown: Shown, place: tuple[int, int]) -> None:
    """The books: fields on one scale, and the sd on its own."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        departure = departures.choose(shown)
    drawn = False
    if shown.result.residuals is not None:
        with right:
            drawn = widgets.toggle(
                "A possible series", value=False, key="p-drawn",
                help="One joint draw in space and time beside the mean: a field as rough as the truth, whose errors "
                "last as long as they do. None of its details is certain.",
            )  # fmt: skip
    books = _books(choice, shown, departure, bool(drawn))
    sheet = books.sheet
    with st.container(key="lab-books-period"):  # a map of the sd is as wide as one of the fields, and as far away
        left, _, right = st.columns([sheet.shape[1], sheet.gap, sheet.width], gap=None)
    with left:
        alt = f"{', '.join(books.maps)}, side by side, one time after another"
        _book(books.fields, _FIELDS, books, sheet, alt, place)
    with right:
        alone = Sheet(sheet.height, sheet.width, 1, 1)
        _book(books.sd, "p-sd", books, alone, "two standard deviations of each pixel, one time after another", place)
    _record(books.first)
    series = shown.result.series
    skipped = f" Every {books.step}th of {len(series)} times is shown." if books.step > 1 else ""
    extent = _extent(series.problem.grid, series.problem.coarse_grid)
    st.caption(
        f"{extent}Click on a map to see the time series there. The space bar "
        f"plays and pauses, the arrow keys step.{' Grey: missing.' if books.missing else ''}{skipped}"
    )


def _record(first: tuple[Panel, ...]) -> None:
    """The first page of the books, for slides and for what is pinned: neither can play."""
    for panel in first:
        record_figure(f"map-{panel.key}", prepare(field_map(panel, dark=is_dark(), height=380)))


def _extent(grid: Grid, cells: Grid) -> str:
    """Where the map lies and how wide it is, and one of its ``cells``; empty where places are not known by latitude and
    longitude.
    """
    if not grid.kind == cells.kind == "latlon":
        return ""
    south, north = (latitude_words(float(at), None) for at in (grid.latitude.min(), grid.latitude.max()))
    west, east = (longitude_words(float(at), None) for at in (grid.x.min(), grid.x.max()))
    wide = " by ".join(f"{number(float(np.median(np.diff(edges))), 3)}°" for edges in (cells.y_edges, cells.x_edges))
    return f"The maps reach from {south} to {north} and from {west} to {east}. A cell is {wide} large. "


@st.cache_data(show_spinner=False, max_entries=8)
def _books(choice: Choice, _shown: Shown, departure: Departure, drawn: bool) -> _Books:
    series, result = _shown.result.series, _shown.result
    step = max(1, -(-3 * len(series) * series.problem.grid.area.size // _MOST_VALUES))
    times = list(range(0, len(series), step))
    frames = fields_at(_shown, times)
    if drawn:
        (draw, _), *_ = period_draws(result, 1, series.problem.spec.seed)
        frames["drawn"] = np.stack([series.problem.on_grid(draw[time]) for time in times])
    frames = {name: frames[name] for name in TITLES if name in frames}  # in the order of the titles
    frames = departure.of(_shown, frames, times)
    sd = 2 * np.stack([result.sd(time) for time in times])
    grid, when, quantity, units = series.problem.grid, series.labels[0], series.problem.long_name, series.problem.units
    scale = departure.scale(quantity, units, frames)
    wide = MapScale(f"2 sd of {quantity}", units, "uncertainty", 0.0, short(float(np.nanpercentile(sd, 99))))
    first = [Panel(name, f"{TITLES[name]}, {when}", values[0], grid, scale) for name, values in frames.items()]
    measured = series.problem.stations
    stations = None if measured is None else (measured.measured.latitude, measured.measured.longitude)
    first.append(Panel("sd", f"{_SD}, {when}", sd[0], grid, wide))
    return _Books(
        maps_in_step({TITLES[name]: values for name, values in frames.items()}, grid, scale, len(frames), stations),
        maps_in_step({_SD: sd}, grid, wide, 1, stations), tuple(frames),
        sheet_of(frames, len(frames)), tuple(_clock(series, time) for time in times), step, tuple(first),
        not all(np.isfinite(values).all() for values in frames.values()),
    )  # fmt: skip


def _clock(series: Series, time: int) -> str:
    """What the player calls a time."""
    return series.labels[time] if series.dates[time] is None else f"{series.labels[time]} UTC"


def one_map(panel: Panel, group: str) -> None:
    """A map of the whole period; a click on it chooses the place, too."""
    key, grid = f"p-map-{panel.key}", panel.grid

    def chosen() -> None:
        point = st.session_state[key]["click"]
        row, column = (int(np.abs(axis - at).argmin()) for axis, at in zip((grid.y, grid.x), point[::-1], strict=True))
        set_on_next_run({"p-row": row, "p-column": column})

    plotly_live(field_map(panel, dark=is_dark(), height=380), key, group=group, on_click=chosen)


def _book(book: dict[str, Any], key: str, books: _Books, sheet: Sheet, alt: str, place: tuple[int, int]) -> None:
    def chosen(x: float, y: float) -> None:
        pixel = sheet.pixel_at(x, y)
        if pixel is not None:
            set_on_next_run({"p-row": pixel[0], "p-column": pixel[1]})

    flip(
        book, key, names=books.times, alt=alt, frame="Time", marks=sheet.marks(*place), on_click=chosen,
        follows="" if key == _FIELDS else _FIELDS, playing=False,
    )  # fmt: skip
