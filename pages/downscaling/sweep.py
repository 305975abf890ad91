"""Sweep this: a grid of one or two hyperparameters on the engine, its scores and small maps; a click adopts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import streamlit as st

from core.downscaling.interactive import traced_spec
from core.downscaling.sweep import SCORES, Axis, best, check_axes, small_map, sweepable
from core.engine import Run, RunSpec
from core.errors import InputError
from core.fields import DownscalingProblem
from core.figures.sweep import small_multiples, sweep_plot
from core.models.spec import ModelSpec
from pages.downscaling.data import Choice
from pages.downscaling.model import slider_values
from pages.kit import bound
from pages.kit.asked import ask
from pages.kit.layout import refusal
from pages.kit.plotly_live import plotly_live
from pages.kit.run_panel import follow, is_busy, tell_whose
from pages.kit.state import get_engine, recall, remember, slider_text
from pages.kit.theme import is_dark
from pages.kit.words import plain, sentence_of

TITLES = {
    "evidence": "Log evidence", "left_out": "RMSE of targets left out (standardised)", "rmse": "RMSE against truth",
    "crps": "CRPS against truth", "coverage50": "Truth in 50 % intervals", "coverage95": "Truth in 95 % intervals",
}  # fmt: skip
NOTHING = "nothing else"
_RUN = "_sweep-run"


def show(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> None:
    """The switch; below it the axes, the run, what came of it."""
    about = "Every setting of a grid, computed on the engine: where the evidence and the error have their optimum"
    if not bound.toggle("Sweep settings", key="sweep", help=about):
        return
    with st.container(border=True):
        axes = _axes(problem, spec)
        run = _run(choice)
        _buttons(choice, problem, spec, axes, run)
        if run is None:
            return
        tell_whose(run)
        if run.active:
            follow(run, lambda rows: None, doing="Sweeping")
            return
        if run.status == "failed":
            refusal(run.message)
        rows = (run.result or {}).get("cells") or []
        if rows:
            _results(problem, spec, run, rows)


def _axes(problem: DownscalingProblem, spec: ModelSpec) -> list[Axis]:
    """One or two axes as the controls have them; an empty list, and a sentence, where they are none."""
    offered = sweepable(spec, problem)
    names = list(offered)
    left, right = st.columns(2)
    first = bound.selectbox("Sweep", names, key="sweep-x", index=min(1, len(names) - 1), place=left, format_func=plain)
    second = bound.selectbox("and", [NOTHING, *names], key="sweep-y", place=right, format_func=plain)
    try:
        axes = [_axis(first, offered[first], "x", left)]
        if second != NOTHING:
            axes.append(_axis(second, offered[second], "y", right))
        check_axes(axes, spec, problem)
    except InputError as error:
        refusal(error)
        return []
    return axes


def _axis(name: str, now: float, which: str, place: Any) -> Axis:
    low, high, count = place.columns(3)
    usual = float(slider_text(now))
    ends = (float(slider_text(usual / 8)), float(slider_text(usual * 8))) if usual > 1e-5 else (1e-6, 1e-2)
    mark = f"sweep-{which}-{name}"
    begin = low.number_input("from", 0.0, None, ends[0], key=f"{mark}-low", format="%.4g")
    end = high.number_input("to", 0.0, None, ends[1], key=f"{mark}-high", format="%.4g")
    many = count.number_input("values", 2, 100, 5, key=f"{mark}-count")
    log = place.toggle("evenly in logarithms", True, key=f"{mark}-log")
    return Axis(name, float(begin), float(end), int(many), bool(log))


def _run(choice: Choice) -> Run | None:
    """The sweep of the address or of this session, if it is about these cells."""
    asked = st.query_params.get("swept") or recall(_RUN)
    if not asked:
        return None
    try:
        run = get_engine().get(asked)
    except InputError:
        return None
    given = run.spec.settings
    same = given.get("problem") == choice.spec.to_dict() and given.get("source") == choice.source.to_dict()
    return run if run.spec.task == "sweep" and same else None


def _buttons(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, axes: Sequence[Axis], run: Run | None
) -> None:
    count = int(np.prod([axis.count for axis in axes])) if axes else 0
    with st.container(horizontal=True):
        busy = is_busy(run)
        if st.button(f"Sweep {count} settings", key="sweep-begin", type="primary", disabled=busy or not axes):
            settings = {"axes": [asdict(axis) for axis in axes], "model": spec.to_dict()}
            _begin(settings | {"source": choice.source.to_dict(), "problem": choice.spec.to_dict()}, problem)
        stopped = run is not None and not run.active and run.status != "done"
        if run is not None and stopped and st.button("Go on", key="sweep-on", help="Only what is missing is computed"):
            _begin(run.spec.settings | {"rows": (run.result or {}).get("cells") or []}, problem)


def _begin(settings: dict[str, Any], problem: DownscalingProblem) -> None:
    names = " × ".join(axis["name"] for axis in settings["axes"])
    try:
        run_id = get_engine().submit(RunSpec("sweep", settings, problem.spec.seed, f"Sweep of {names}"))
    except InputError as error:
        refusal(error)
        return
    remember(_RUN, run_id)
    st.query_params["swept"] = run_id
    st.rerun()


def _results(problem: DownscalingProblem, spec: ModelSpec, run: Run, rows: list[dict[str, Any]]) -> None:
    axes, names = run.spec.settings["axes"], list(rows[0]["values"])
    log = [next(axis["log"] for axis in axes if axis["name"] == name) for name in names]
    now = {name: value for name, value in sweepable(spec, problem).items() if name in names}
    chosen, scores = best(rows, "evidence"), [name for name in SCORES if best(rows, name)]
    _said(rows, names)
    for first in range(0, len(scores), 3):
        for name, column in zip(scores[first : first + 3], st.columns(3), strict=False):
            there = None if name.startswith("coverage") else best(rows, name)
            with column:
                figure = sweep_plot(rows, name, TITLES[name], (there, chosen, now), log=log, dark=is_dark())
                plotly_live(figure, f"sweep-{name}", later=True, on_click=lambda: None, clickable=True)
                _clicked(problem, spec, rows, names, f"sweep-{name}")
    st.caption("Star: best of this picture; diamond: the evidence's choice; circle: the sliders. A click adopts.")
    _pictures(rows, axes)
    _adopt(problem, spec, rows)


def _said(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Where the evidence and the error have their optimum, and what the one costs in the other."""
    chosen, nearest = best(rows, "evidence"), best(rows, "rmse")
    if chosen is None:
        st.caption("No setting of these has an evidence: raise σ².")
        return
    words = f"The evidence is highest at {_words(chosen)}"
    if nearest is not None:
        of = {tuple(row["values"].values()): row["rmse"] for row in rows if row.get("rmse") is not None}
        cost = of[tuple(chosen.values())] / of[tuple(nearest.values())] - 1
        same = "the same place" if nearest == chosen else _words(nearest)
        words += f", the error is lowest at {same}" + (
            f": the evidence's choice costs {100 * cost:.1f} %" if cost else ""
        )
    refused = sum("message" in row for row in rows)
    st.markdown(words + "." + (f" {refused} settings were refused as singular." if refused else ""))


def _words(values: Mapping[str, float]) -> str:
    return ", ".join(f"{plain(name)} = {slider_text(value)}" for name, value in values.items())


def _pictures(rows: Sequence[Mapping[str, Any]], axes: Sequence[Mapping[str, Any]]) -> None:
    there = [row for row in rows if "picture" in row]
    if there:
        columns = next((axis["count"] for axis in axes if axis["name"] == list(rows[0]["values"])[-1]), len(there))
        words = [", ".join(slider_text(value) for value in row["values"].values()) for row in there]
        figure = small_multiples([small_map(row["picture"]) for row in there], words, min(columns, 8), dark=is_dark())
        plotly_live(figure, "sweep-maps", later=True)


def _clicked(
    problem: DownscalingProblem, spec: ModelSpec, rows: Sequence[Mapping[str, Any]], names: Sequence[str], key: str
) -> None:
    """Put the sliders to the setting that is nearest to a new click."""
    state = recall(key)
    point = state.get("click") if state else None
    if not point or recall(f"_{key}-click") == point:
        return
    remember(f"_{key}-click", point)

    def away(row: Mapping[str, Any]) -> float:
        pairs = zip((row["values"][name] for name in names), point, strict=False)
        return float(sum(abs(np.log(value / at)) for value, at in pairs))

    _put(problem, spec, min(rows, key=away)["values"])


def _adopt(problem: DownscalingProblem, spec: ModelSpec, rows: Sequence[Mapping[str, Any]]) -> None:
    """The same by a list and a button."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        usual = best(rows, "evidence")
        index = next((i for i, row in enumerate(rows) if row["values"] == usual), 0)
        pick = st.selectbox("Setting", range(len(rows)), index, lambda i: _label(rows[i]), key="sweep-pick")
        if st.button("Adopt", key="sweep-adopt"):
            _put(problem, spec, rows[pick]["values"])


def _label(row: Mapping[str, Any]) -> str:
    scores = [f"{TITLES[name]} {row[name]:.4g}" for name in ("evidence", "rmse") if row.get(name) is not None]
    values = ", ".join(f"{name} = {slider_text(value)}" for name, value in row["values"].items())
    return f"{values} ({'; '.join(scores) or sentence_of(row.get('message', ''))})"


def _put(problem: DownscalingProblem, spec: ModelSpec, values: Mapping[str, float]) -> None:
    ask(slider_values(traced_spec(spec, problem, dict(values)), problem.data.bags.count))
    st.rerun()
