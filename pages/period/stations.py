"""Stations beside the cells of page Period: which table they are in, and what they differ by from the cells."""

from functools import partial
from typing import Any

import streamlit as st

from deconditioning.downscaling.further_sources.opening import STATIONS, choices_of_stations
from deconditioning.engine.visitors.uploads import stored_of_kind
from deconditioning.period.run import PeriodResult
from deconditioning.wording import number
from pages.kit.controls.variable_choice import pick
from pages.kit.layout.escaping import plain
from pages.kit.visitor import listed

_NONE, _BY_NAME = "(none)", "(named like the target)"


def choose() -> tuple[str, str]:
    """The key of a table with several dates among the visitor's uploads and the column of its values, "" where none is
    chosen or the table decides; no control where there is no such table.
    """
    uploads = listed(partial(stored_of_kind, STATIONS), "p-stations")
    tables = {key: name for key, name in uploads.items() if len(_choices(key)[1]) > 1}
    if not tables:
        return "", ""
    key = pick(
        "Stations", "p-stations", [_NONE, *tables], _NONE, tables,
        help="A table of stations with dates, uploaded on page Downscaling. At the times of the table their values are "
        "targets in addition to the cells.",
    )  # fmt: skip
    if key == _NONE:
        return "", ""
    columns, _ = _choices(key)
    if len(columns) < 2:
        return key, ""
    column = pick("Column of the stations' values", "p-station-value", [_BY_NAME, *columns], _BY_NAME)
    return key, "" if column == _BY_NAME else column


@st.cache_resource(show_spinner="Reading the stations …", max_entries=16)
def _choices(key: str) -> tuple[list[str], list[str]]:
    return choices_of_stations(key)


def show(result: PeriodResult) -> None:
    """How many stations there are, and their offset, effect of altitude and noise; nothing without stations."""
    found = result.diagnostics.get("stations")
    if not found:
        return
    every, units = found if isinstance(found, list) else [found], plain(result.series.problem.units)
    first, times = every[0], len(result.series)
    says = [
        f"{first['targets']} stations with values at {first['times']} of {times} times are targets in addition to the "
        "cells.",
        f"Offset from the cells: {_of(every, 'offset')} {units}.",
    ]
    if "per_100_m" in first:
        says.append(f"Effect of altitude: {_of(every, 'per_100_m')} {units} per 100 m.")
    says.append(f"Noise of a station (sd): {number(first['representativeness'], 2)} {units}.")
    st.caption(" ".join(says))


def _of(every: list[dict[str, Any]], name: str) -> str:
    """A value with its sd, or the ends of those of several members."""
    if len(every) == 1:
        return f"{number(every[0][name], 3)} ± {number(every[0][f'{name}_sd'], 2)}"
    values = [each[name] for each in every]
    return f"{number(min(values), 3)} to {number(max(values), 3)} (members)"
