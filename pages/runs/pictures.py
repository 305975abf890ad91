"""The maps of runs, side by side on shared scales, and what their scores say over seeds."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from deconditioning.downscaling.saved_map import FILE, SavedMap, saved_map
from deconditioning.engine.compare import over_seeds
from deconditioning.engine.records import Run
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.errors import InputError
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map
from deconditioning.metrics.significance import pairwise_wilcoxon
from deconditioning.wording import number
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.theme import is_dark
from pages.runs.names import model_title, name_of

_A_ROW = 3


@st.cache_data(show_spinner="Reading the map …", max_entries=12)
def _cached_map(run_id: str, ended: float, _engine: Visitor) -> SavedMap:
    return saved_map(_engine.file(run_id, FILE))


def maps(engine: Visitor, runs: Sequence[Run]) -> None:
    """Mean (and sd, of a single run) of those that keep a map; of one unit on one scale."""
    result: list[tuple[Run, SavedMap]] = []
    for run in runs:
        if FILE in run.files:
            try:
                result.append((run, _cached_map(run.id, run.ended or 0.0, engine)))
            except InputError as error:
                st.caption(f"This run has no map: {sentence_of(error)}")
    if not result:
        return
    panels = [
        (run.id, _panel(saved, name_of(run) if len(result) > 1 else "Posterior mean",
                        [k for _, k in result if k.units == saved.units]))
        for run, saved in result
    ]  # fmt: skip
    run, saved = result[0]
    if len(result) == 1 and saved.sd is not None:
        high = float(f"{np.nanquantile(2 * saved.sd, 0.98):.3g}") or 1.0
        scale = MapScale("2 sd", saved.units, "uncertainty", 0.0, high)
        panels.append((f"{run.id}-sd", Panel("sd", "Uncertainty: 2 sd", 2 * saved.sd, saved.grid, scale)))
    for first in range(0, len(panels), _A_ROW):
        row = panels[first : first + _A_ROW]
        for column, (name, panel) in zip(st.columns(max(len(row), min(len(panels), 2))), row, strict=False):
            with column:
                height = 380 if len(row) > 2 else 480
                plotly_live(
                    field_map(panel, height=height, dark=is_dark()), f"run-map-{name}", group="run-maps", later=True
                )


def _panel(saved: SavedMap, title: str, others: Sequence[SavedMap]) -> Panel:
    """The mean on the scale of all runs in its units."""
    ends = [np.nanquantile(each.mean, [0.002, 0.998]) for each in others if each.units == saved.units]
    low, high = (float(f"{end:.4g}") for end in (min(end[0] for end in ends), max(end[1] for end in ends)))
    scale = MapScale(saved.name, saved.units, "sequential", low, high if high > low else low + 1.0)
    return Panel("mean", title, saved.mean, saved.grid, scale)


def tests(runs: Sequence[Run], visitor_runs: Sequence[Run]) -> None:
    """Models of the compared runs against each other, over the seeds of all runs of the same data set."""
    for score, name in (("rmse", "RMSE"), ("crps", "CRPS")):
        rows = over_seeds(runs, visitor_runs)
        try:
            pairs = pairwise_wilcoxon(rows, score)
        except InputError:
            continue
        for pair in pairs:
            first, second = model_title(pair.first), model_title(pair.second)
            if pair.note:
                st.caption(f"{name}, {first} against {second}: {pair.note}")
            else:
                better = first if pair.difference < 0 else second
                st.caption(
                    f"{name} over {pair.n} common seeds: {better} is better by {number(abs(pair.difference))} in the "
                    f"median; signed-rank test with Holm correction: p = {number(pair.p_holm, 2)}."
                )
