"""The maps of runs, side by side on shared scales, and what their scores say over seeds."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from deconditioning.downscaling.saved_map import FILE, SavedMap, saved_map
from deconditioning.engine.compare import over_seeds, run_model, run_scores
from deconditioning.engine.records import Run
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.errors import InputError
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map
from deconditioning.metrics.intervals import Trust
from deconditioning.metrics.significance import pairwise_wilcoxon
from deconditioning.wording import number, rounded
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.escaping import plain, sentence_of
from pages.kit.layout.stripes import step_sentence
from pages.kit.layout.theme import is_dark
from pages.runs.names import model_title, name_of, units_of

#: Maps beside each other: those of one run, and the means of several.
_A_ROW, _MEANS_A_ROW = 4, 3
#: Share of the values within the limits of uncertainty and error.
_WITHIN = 0.98


@st.cache_data(show_spinner="Reading the map …", max_entries=12)
def _cached_map(run_id: str, ended: float, _engine: Visitor) -> SavedMap:
    return saved_map(_engine.file(run_id, FILE))


def maps(engine: Visitor, runs: Sequence[Run]) -> None:
    """Of a single run what it saw, its mean, uncertainty and error; of several their means, of one unit on one
    scale."""
    result: list[tuple[Run, SavedMap]] = []
    for run in runs:
        if FILE in run.files:
            try:
                result.append((run, _cached_map(run.id, run.ended or 0.0, engine)))
            except InputError as error:
                st.caption(f"This run has no map: {sentence_of(error)}")
    if not result:
        return
    if len(result) == 1:
        run, saved = result[0]
        panels = [(f"{run.id}-{panel.key}", panel) for panel in _all_of(saved)]
    else:
        units = {saved.units: [k for _, k in result if k.units == saved.units] for _, saved in result}
        panels = [
            (run.id, Panel("mean", name_of(run), saved.mean, saved.grid, _scale(saved, units[saved.units])))
            for run, saved in result
        ]
    _in_rows(panels, _A_ROW if len(result) == 1 else _MEANS_A_ROW)
    if len(result) == 1 and (stripes := step_sentence(result[0][1].truth, result[0][1].units)):
        st.caption(plain(stripes))


def _in_rows(panels: Sequence[tuple[str, Panel]], in_row: int) -> None:
    for first in range(0, len(panels), in_row):
        row = panels[first : first + in_row]
        for column, (name, panel) in zip(st.columns(max(len(row), min(len(panels), 2))), row, strict=False):
            with column:
                height = 412 if len(row) > 2 else 480
                plotly_live(
                    field_map(panel, height=height, dark=is_dark()), f"run-map-{name}", group="run-maps", later=True
                )


def _all_of(saved: SavedMap) -> list[Panel]:
    """Every map of one run: those that need a truth only where it has one."""
    scale, grid, units, panels = _scale(saved, [saved]), saved.grid, saved.units, list[Panel]()
    if saved.coarse is not None and saved.coarse_grid is not None:
        hidden = " (grey: hidden)" if np.isnan(saved.coarse).any() else ""
        panels.append(Panel("coarse", f"Coarse observation{hidden}", saved.coarse, saved.coarse_grid, scale))
    panels.append(Panel("mean", "Posterior mean", saved.mean, grid, scale))
    if saved.sd is not None:
        spread = MapScale("2 sd", units, "uncertainty", 0.0, _limit(2 * saved.sd))
        panels.append(Panel("sd", "Uncertainty: 2 sd", 2 * saved.sd, grid, spread))
    if saved.truth is not None:
        error = saved.mean - saved.truth
        limit = _limit(error)
        scale = MapScale("prediction − truth", units, "diverging", -limit, limit)
        panels.append(Panel("error", "Error: prediction − truth", error, grid, scale))
    return panels


def _limit(values: np.ndarray) -> float:
    """The size below which `_WITHIN` of the values lie, to three digits."""
    return float(f"{np.nanquantile(np.abs(values), _WITHIN):.3g}") or 1.0


def _scale(saved: SavedMap, others: Sequence[SavedMap]) -> MapScale:
    """One scale for the means of the runs in its units."""
    ends = [np.nanquantile(each.mean, [0.002, 0.998]) for each in others]
    low, high = (float(f"{end:.4g}") for end in (min(end[0] for end in ends), max(end[1] for end in ends)))
    return MapScale(saved.name, saved.units, "sequential", low, high if high > low else low + 1.0)


def verdict(run: Run) -> None:
    """How near the mean came to the truth, and what share of it the intervals held, in words; nothing where the run
    has no truth."""
    scores = run_scores(run)
    ours = scores.get(run_model(run), {})
    result = Trust.of_scores(ours)
    if result is None:
        return
    words, bilinear = [result.sentence], scores.get("bilinear", {}).get("rmse")
    if (rmse := ours.get("rmse")) is not None:
        units = units_of(run)
        beside = "" if bilinear is None else f", that of bilinear interpolation {rounded(bilinear)} {units}".rstrip()
        words.insert(0, f"The RMSE of the posterior mean is {rounded(rmse)} {units}".rstrip() + f"{beside}.")
    (st.success if result.right else st.warning)(plain(" ".join(words)))


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
