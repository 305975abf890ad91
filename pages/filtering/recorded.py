"""The view of one's own series: columns that are hidden, columns that are seen, the first part teaches."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.errors import InputError
from deconditioning.figures.studies.filtering import column_plot, errors_plot, plane_plot
from deconditioning.filtering.kernel_bayes_filter import FEWEST
from deconditioning.filtering.oscillator import oscillator_table
from deconditioning.filtering.series import MOST_TRAIN, Series
from deconditioning.filtering.steps import time_column
from deconditioning.studies.filtering.study import FilterSettings, Followed, follow, series_problem
from deconditioning.tables.gaps import Missing
from deconditioning.tables.table import Table, open_table
from pages.filtering import words
from pages.filtering.player import player
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.essential import labelled
from pages.kit.controls.level import at_both_levels
from pages.kit.controls.missing_switch import table_missing
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import lead, refusal
from pages.kit.layout.theme import is_dark
from pages.kit.runs.uploaded import content_bytes
from pages.kit.session import Key

#: Columns of the state that get a picture each.
_MOST_PICTURES = 3
_FILE_ORDER = "rows in file order"


@st.cache_resource(show_spinner="Reading the series …", max_entries=4)
def _opened(data: bytes, name: str, missing: Missing) -> Table:
    return open_table(data, name, missing)


@st.cache_resource(show_spinner=False)
def _example() -> Table:
    return oscillator_table()


def show() -> None:
    """Columns, the series followed, errors."""
    with st.sidebar:
        with at_both_levels("series"):
            table = _choose_table()
            states, observations = _choose_columns(table)
            series = Series.from_table(table, states, observations, _choose_time(table, [*states, *observations]))
        for note in (*table.notes, *series.notes):
            st.caption(plain(note))
        with at_both_levels("length"):
            steps = _choose_length(series)
        settings, every = words.choose_filter(), words.choose_shown()
    result = _followed(series, steps, settings)
    _write_summary(result, series, table)
    words.warnings(result)
    player(len(result.truth), lambda step, above: _draw(result, series, every, step, above))
    words.table(result, "Mean square error, in units of the training variance; milliseconds per step")
    words.equation(
        "The first part of the series provides the examples. At each later step the filter moves the weights along the "
        "transitions of the examples and updates them with the observation by kernel Bayes' rule.",
        f"The system is unknown; {len(series.state_names)} hidden and {len(series.observation_names)} observed "
        "columns, each scaled to mean 0 and sd 1 by the training part.",
        steps, settings, result,
    )  # fmt: skip


def _choose_table() -> Table:
    """An uploaded file, or the example; a bad file is refused and the last good table stays."""
    name, about = labelled("f-file", "CSV or NetCDF, one step per row")
    file = st.file_uploader(name, key="f-file", help=about)
    if file is not None:
        try:
            data = content_bytes(file)
            _opened(data, file.name, None)
            st.session_state[Key.OWN_SERIES] = (data, file.name)
        except InputError as error:
            refusal(error)
    uploaded = st.session_state.get(Key.OWN_SERIES)
    if uploaded is None:
        table = _example()
        st.caption(
            "Shown until you upload a file: a simulated Van der Pol oscillator with random forcing, of which only "
            "the position is observed."
        )
        st.download_button("This example as CSV", _as_csv(table), "oscillator.csv", "text/csv")
        return table
    data, source = uploaded
    return _opened(data, source, table_missing("f-missing"))


@st.cache_data(show_spinner=False)
def _as_csv(_table: Table) -> str:
    import pandas as pd

    return pd.DataFrame(dict(_table.columns)).to_csv(index=False, float_format="%.6g")


def _choose_columns(table: Table) -> tuple[list[str], list[str]]:
    """Hidden and observed columns; on opening the first half is hidden, clocks and counters left out."""
    names = table.numeric
    moving = [name for name in names if not _is_clock(table.columns[name])]
    half = (len(moving) + 1) // 2
    mark = f"{table.source}-{len(names)}"
    states = st.multiselect("Hidden state", names, moving[:half], key=f"f-states-{mark}")
    rest = [name for name in names if name not in states]
    observations = st.multiselect("Observed", names, moving[half:], key=f"f-seen-{mark}",
                                  help=f"Not used: {plain(', '.join(rest))}.")  # fmt: skip
    return states, observations


def _choose_time(table: Table, chosen: list[str]) -> str | None:
    """The column by which rows are sorted and gaps are found; None for rows in file order."""
    dated = [name for name, values in table.columns.items() if values.dtype.kind == "M"]
    offered = [name for name in (*dated, *table.numeric) if name not in chosen]
    guess = time_column(table, chosen)
    options = [_FILE_ORDER, *offered]
    result = st.selectbox("Time", options, options.index(guess) if guess else 0, key=f"f-time-{table.source}-{guess}",
                         help="Rows are sorted by this column; missing steps are predicted.")  # fmt: skip
    return None if result == _FILE_ORDER else result


def _is_clock(values: np.ndarray) -> bool:
    """Rising by the same amount at every step."""
    rises = np.diff(values)
    return bool(len(rises) and rises[0] > 0 and np.allclose(rises, rises[0], rtol=1e-3))


def _choose_length(series: Series) -> int:
    """Training steps; half of the series on opening."""
    most = min(MOST_TRAIN, len(series) - 2)
    if most <= FEWEST:
        return FEWEST  # too short a series is refused by `split`, with its numbers
    return int(st.slider("Training steps", FEWEST, most, min(most, max(FEWEST, len(series) // 2)),
                         key=f"f-part-{len(series)}"))  # fmt: skip


@st.cache_resource(
    show_spinner="Filtering …", max_entries=8,
    hash_funcs={Series: lambda s: (s.state_names, s.observation_names, s.states.tobytes(), s.observations.tobytes())},
)  # fmt: skip
def _followed(series: Series, steps: int, settings: FilterSettings) -> Followed:
    problem, scaling = series_problem(series, steps)
    return follow(problem, settings).in_units(scaling)


def _write_summary(followed: Followed, series: Series, table: Table) -> None:
    errors = followed.errors
    others = [f"{words.phrase(name)} {errors[name]:.3f}" for name in ("kalman", "nearest") if name in errors]
    lead(
        f"**Hidden**: {plain(', '.join(series.state_names))}. **Observed**: "
        f"{plain(', '.join(series.observation_names))}. **Given**: the first {len(followed.points)} steps of "
        f"{plain(table.source)} as examples. Over the last {len(followed.truth)} steps the mean square error of the "
        f"kernel Bayes filter is **{errors['kbr']:.3f}** training variances ({', '.join(others)})."
    )


def _draw(followed: Followed, series: Series, every: bool, step: int, above: DeltaGenerator) -> None:
    truth, means, names = followed.truth, words.shown(followed.means, every), series.state_names
    for index, name in enumerate(names[:_MOST_PICTURES]):
        columns = {key: values[:, index] for key, values in means.items()}
        figure = column_plot(truth[:, index], columns, step, name=name, names=words.NAMES,
                             height=240 if index else 330, dark=is_dark())  # fmt: skip
        with st.container() if index else above:
            plotly_live(figure, f"f-column-{index}", later=index > 0)
    if len(names) > _MOST_PICTURES:
        st.caption(f"The first {_MOST_PICTURES} of {len(names)} hidden columns are shown.")
    if len(names) > 1:
        pair = {key: values[:, :2] for key, values in means.items()}
        figure = plane_plot(truth[:, :2], None, pair, step, sample=(followed.points[:, :2], followed.weights[step]),
                            labels=(names[0], names[1]), names=words.NAMES, signs=every,
                            height=340, dark=is_dark())  # fmt: skip
        plotly_live(figure, "f-plane", later=True)
    scaled = {key: values / followed.spread for key, values in means.items()}
    figure = errors_plot(truth / followed.spread, scaled, step, names=words.NAMES, height=260, dark=is_dark())
    plotly_live(figure, "f-errors", later=True)
    words.weights_caption(followed, step)
