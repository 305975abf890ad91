"""The view Recover f: two scatters, the hidden function with its posterior, weights, evidence, errors."""

import hashlib
import json
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.datasets.one_dimension import Line, LineSpec
from deconditioning.engine.records import Run, RunSpec
from deconditioning.errors import Cancelled
from deconditioning.figures.studies.awaited import awaited_plot
from deconditioning.figures.studies.one_dimension import (
    EVIDENCE,
    error_band_plot,
    function_plot,
    surface_plot,
    weights_plot,
)
from deconditioning.models.learning.learning_time import expected_seconds
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.one_dimension.evidence_surface import AXES, Surface, evidence_surface, read
from deconditioning.studies.one_dimension.problem import (
    NAIVE,
    LineFit,
    cascade,
    condition_line,
    impute,
    on_grid,
)
from deconditioning.studies.one_dimension.settings import TITLES, LineSettings
from deconditioning.studies.run_content import hyperparameters
from deconditioning.wording import signed
from pages.kit.chart.background import ended, get_background, redraw_when, session_lane
from pages.kit.chart.picture_first import part_first, picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.page_layout import explain, lead
from pages.kit.layout.score_table import score_table
from pages.kit.layout.theme import is_dark
from pages.kit.record import record_numbers
from pages.kit.runs import run_panel
from pages.kit.runs.run_panel import begin_run, is_busy, run_of, show_duration
from pages.kit.session import Key
from pages.kit.state import get_engine
from pages.kit.tools import study_sweep
from pages.one_dimension import controls, scatters, sweep
from pages.one_dimension.edits import edited
from pages.one_dimension.scatters import line_of
from pages.one_dimension.words import FUNCTION, explanation

TASK = "one-dimension"
#: The other lines beside the posterior.
_LINES = {
    "truth": "hidden f (truth)", "impute": "impute: z first",
    "cascade": "cascade:<br>y, then z",
}  # fmt: skip
#: What the table calls the methods.
_ROWS = TITLES | {"impute": "Impute: z first", "cascade": "Cascade: y, then z"}
SCORES = ("rmse", "mae", "bias", "crps", "coverage_2sd")
_KERNELS = "k is the kernel of f, on x; ℓ that of the link, on y."
#: Points a side of the evidence picture: a quick one, then a fine one unless matrices are large.
COARSE, FINE, LARGE = 11, 21, 250


@st.cache_data(show_spinner=False, max_entries=64)
def _fit(spec: LineSpec, text: str) -> tuple[LineFit, np.ndarray]:
    line, model = line_of(spec), ModelSpec.from_dict(json.loads(text))
    indirect_posterior = condition_line(line, model)
    return on_grid(line, indirect_posterior, model), indirect_posterior.conditioning.weights.numpy()


def show() -> None:
    """The whole view."""
    with st.sidebar:
        drawn = controls.choose_problem()
        method = controls.choose_method()
    sentence = st.container()  # not empty: on the next run it keeps its words until the new ones come
    line, model, result, weights = picture_first(lambda: _pictures(drawn, method))
    with st.sidebar:
        settings = controls.learning(line.spec, method, model)
        _learn_button(line.spec, settings)
    scores, naive = result.scores(line), _naive(line.spec)
    with sentence:
        _sentence(method, result, scores)
    _watch(line.spec, method)
    _scores(line, {method: scores}, naive)
    _second_row(line, method, model, result, weights)
    explain(*explanation(line, method, model.regularisation, model.noise))
    study_sweep.offer(sweep.RECOVER)
    if naive is None:  # last: what is drawn keeps its place when this goes
        redraw_when(lambda: _naive(line.spec) is not None, lambda: None)


def _pictures(drawn: LineSpec, method: str) -> tuple[Line, ModelSpec, LineFit, np.ndarray]:
    """Both scatters, edited, the model's controls and its posterior of f; returns the problem, the model, fit and W."""
    edit, sentence = scatters.above()
    line = line_of(edited(drawn, sentence))
    left, right = st.columns([5, 3])
    with left, st.container(key="lab-beside" if edit else None):  # on a phone it stays in sight (layout.css)
        model, result, weights = part_first(lambda: _function(line, method))
    scatters.given(line, line_of(drawn), edit, right, right)
    return line, model, result, weights


def _function(line: Line, method: str) -> tuple[ModelSpec, LineFit, np.ndarray]:
    """The model's controls and its posterior of f; returns the model, the fit and W."""
    with st.sidebar:
        model = controls.choose_model(line.spec, method)
    result, weights = _fit(line.spec, json.dumps(model.to_dict(), sort_keys=True))
    naive = _known_naive(line.spec) or {}
    unknown = np.full(len(line.grid), np.nan)  # in the legend already: the picture keeps its size
    lines = {"truth": line.truth.numpy()} | {
        name: naive[name].mean.numpy() if name in naive else unknown for name in ("impute", "cascade")
    }
    figure = function_plot(
        line.grid.numpy(), result.mean.numpy(), result.sd.numpy(), lines, title=FUNCTION, model=method,
        name="posterior:<br>mean ± 2 sd", labels=("x", "z = f(x)"), limits=_window(line), names=_LINES,
        height=430, dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "o-function")
    return model, result, weights


def _window(line: Line) -> tuple[float, float]:
    """The truth with half as much room again: the picture keeps its scale while sliders move."""
    low, high = float(line.truth.min()), float(line.truth.max())
    room = max(0.25 * (high - low), 0.3)
    return low - room, high + room


def _sentence(method: str, line_fit: LineFit, scores: dict[str, float]) -> None:
    if line_fit.evidence is not None:
        record_numbers(evidence=line_fit.evidence)
    title = f"{TITLES[method][0].lower()}{TITLES[method][1:]}"
    lead(
        f"**Known**: pairs (x, y) and, at other y, pairs (y, z), such as altitude x, pressure y and temperature z. "
        f"**Unknown**: the function z = f(x). The {title} "
        f"recovers f with RMSE **{scores['rmse']:.3f}**; its band of ±2 sd {_covers(scores['coverage_2sd'])}. The log "
        f"evidence is **{signed(line_fit.evidence, 1)}**."
    )


def _covers(share: float) -> str:
    """How much of the one curve a band covers."""
    return "covers the whole curve" if share == 1 else f"covers {100 * share:.0f} % of the curve"


def _learn_button(line: LineSpec, settings: LineSettings) -> None:
    run = run_of(TASK)
    if st.button("Learn hyperparameters", type="primary", width="stretch", disabled=is_busy(run)):
        run_settings = {"line": line.to_dict(), "settings": vars(settings), "model": settings.method}
        begin_run(RunSpec(TASK, run_settings, line.seed, f"{TITLES[settings.method]}: one dimension"))
    pairs = line.n + line.m
    show_duration("Learning", expected_seconds(pairs, pairs, settings.restarts, settings.steps))


def _watch(line: LineSpec, method: str) -> None:
    """The run's panel; learned values go to the sliders, once, if the page still shows their problem."""

    def take(run: Run, learned: dict[str, Any]) -> dict[str, float] | None:
        run_settings = run.spec.settings
        fits = run_settings["settings"]["method"] == method and LineSpec.from_dict(run_settings["line"]) == line
        return controls.slider_values(ModelSpec.from_dict(learned)) if fits else None

    run_panel.watch(TASK, take)


def _naive(spec: LineSpec) -> dict[str, LineFit] | None:
    """Impute and cascade of this problem, learned in the background; None until they are there."""
    get_background().request(f"naive-{spec}", session_lane("line-naive"), lambda check: _fit_naive(spec, check))
    return _known_naive(spec)


def _known_naive(spec: LineSpec) -> dict[str, LineFit] | None:
    """Impute and cascade of this problem, if they have been learned."""
    job = get_background().known(f"naive-{spec}")
    if job is None or not job.done() or isinstance(job.exception(), Cancelled):
        return None
    return job.result()


def _fit_naive(spec: LineSpec, check: Any) -> dict[str, LineFit]:
    line, context = line_of(spec), _Checked(check)
    return {"impute": impute(line, NAIVE, context), "cascade": cascade(line, NAIVE, context)}


class _Checked:
    """What a fit asks of a context: only whether it is still wanted."""

    def __init__(self, check: Any) -> None:
        self.check = check


def _scores(line: Line, rows: dict[str, dict[str, float]], naive: dict[str, LineFit] | None) -> None:
    """Of all three methods; while the naive ones are being learned their rows say so."""
    known = {name: fit.scores(line) for name, fit in (naive or {}).items()}
    late = {} if naive else {name: f"{_ROWS[name]}, being learned …" for name in ("impute", "cascade")}
    score_table(
        rows | {name: known.get(name, {}) for name in ("impute", "cascade")}, columns=SCORES, names=_ROWS | late,
        caption="Scores against the noise-free f, over the central 95 % of x. Impute: one GP predicts z at the "
        "y of data set 1, another learns f from these z. Cascade: one GP predicts y from x, another z from that "
        "y. Coverage: the share of this one curve in the band, which is no test of calibration.",
    )  # fmt: skip


def _second_row(
    line: Line, method: str, model: ModelSpec, line_fit: LineFit, weights: np.ndarray
) -> None:  # fmt: skip
    first, second, third = st.columns(3)
    with second:
        plotly_live(weights_plot(weights, line.mediators.numpy(), line.query.numpy(), dark=is_dark()), "o-weights",
                    later=True)  # fmt: skip
        st.caption(
            "Each column belongs to one observation z̃ of data set 2: it is taken for an average of f at the x of data "
            "set 1, and these are their weights. Those whose y is near ỹ count most."
        )
    with third:
        error = (line_fit.mean - line.truth).numpy()
        plotly_live(
            error_band_plot(line.grid.numpy(), error, line_fit.sd.numpy(), model=method, dark=is_dark()),
            "o-error",
            later=True,
        )
        share = float((abs(error) <= 2 * line_fit.sd.numpy()).mean())
        st.caption(f"The band {_covers(share)}.")
    with first:
        _surface(line, model)


def _surface(line: Line, model: ModelSpec) -> None:
    """Evidence over two hyperparameters; computed in the background, the last picture stays meanwhile."""
    offered = [name for name in AXES if model.model.uses("mediator_variance") or name != "ℓ1 variance"]
    for key, usual in (("o-across", "k1 lengthscale [x]"), ("o-up", "ℓ1 lengthscale [y]")):
        if st.session_state.get(key) not in (None, *offered):
            st.session_state[key] = usual
    names, place = list(AXES), st.container()
    pick = st.columns(2)  # below the picture, which so stands beside its neighbours also where these are not shown
    across = widgets.selectbox("Across", offered, index=0, key="o-across", place=pick[0], format_func=_plain)
    up = widgets.selectbox("Up", offered, index=offered.index(names[2]), key="o-up", place=pick[1], format_func=_plain)
    with place:
        _surface_of(line, model, across, up)


def _surface_of(line: Line, model: ModelSpec, across: str, up: str) -> None:
    """The picture over these two, or what is there of it."""
    if across == up:
        st.caption("Both axes show the same hyperparameter: choose two different ones.")
        return
    sizes = (COARSE, FINE) if max(line.spec.counts) <= LARGE else (COARSE,)
    requested = [_requested(line, model, across, up, size) for size in sizes]
    waiting = [key for key in requested if key is not None]
    shown: Surface | None = st.session_state.get(Key.SURFACE)
    drawn = shown is not None and shown.names == (across, up)
    if shown is not None and drawn:
        _draw_surface(shown, model, line.spec, final=not waiting)
    else:
        plotly_live(awaited_plot(EVIDENCE, (_plain(across), _plain(up)), dark=is_dark()), "o-surface", later=True)
    if waiting:
        words = "A finer picture follows …" if drawn else f"The evidence picture is being computed … {_KERNELS}"
        redraw_when(lambda: ended(waiting[0]), lambda: st.caption(words), every=0.4)


def _requested(line: Line, model: ModelSpec, across: str, up: str, size: int) -> str | None:
    """Ask for a picture; None when it is there (and kept for drawing), otherwise the key to wait for."""
    frozen = json.dumps([line.spec.to_dict(), _without(model, across, up), across, up, size], sort_keys=True)
    key = "surface-" + hashlib.blake2b(frozen.encode(), digest_size=12).hexdigest()
    job = get_background().request(
        key,
        session_lane(f"line-surface-{size}"),
        lambda check: evidence_surface(line, model, across, up, size, check=check),
    )
    if not job.done() or isinstance(job.exception(), Cancelled):
        return key
    st.session_state[Key.SURFACE] = job.result()
    return None


def _draw_surface(shown: Surface, model: ModelSpec, line: LineSpec, *, final: bool) -> None:
    """The picture; a ``final`` one is the finest, of the sliders that it does not move itself."""
    if not np.isfinite(shown.values).any():
        st.caption("The covariance is not positive definite at any point of this picture: increase σ² or λ.")
        return
    path = _path(shown.names, line)
    now = (read(model, shown.names[0]), read(model, shown.names[1]))
    figure = surface_plot(
        shown.first, shown.second, shown.values, names=(_plain(shown.names[0]), _plain(shown.names[1])), now=now,
        best=shown.best, path=path, dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "o-surface", later=True)
    if final:
        record_numbers(best_evidence=float(np.nanmax(shown.values)))
    st.caption(
        f"Star: highest evidence in this picture ({signed(float(np.nanmax(shown.values)), 1)}); circle: the sliders"
        f"{'; line: the path of learning' if path is not None else ''}. {_KERNELS}"
    )


def _path(names: tuple[str, str], line: LineSpec) -> np.ndarray | None:
    """Where the first start of this problem's learning went, in the picture's hyperparameters."""
    run = run_of(TASK)
    if run is None or LineSpec.from_dict(run.spec.settings["line"]) != line:
        return None
    rows = [row["hyperparameters"] for row in hyperparameters(get_engine().trace(run.id))]
    path = [[row[name] for name in names] for row in rows if all(row.get(name, 0) > 0 for name in names)]
    return np.array(path) if path else None


def _without(model: ModelSpec, *names: str) -> dict[str, Any]:
    """The model's description without what the axes move, so that moving along the picture keeps it."""
    from deconditioning.studies.one_dimension.evidence_surface import moved

    for name in names:
        model = moved(model, name, 1.0)
    return model.to_dict()


def _plain(name: str) -> str:
    return {
        "k1 lengthscale [x]": "lengthscale of k",
        "k1 variance": "variance of k",
        "ℓ1 lengthscale [y]": "lengthscale of ℓ",
        "ℓ1 variance": "variance of ℓ",
        "regularisation λ": "λ",
        "noise σ²": "σ²",
    }[name]
