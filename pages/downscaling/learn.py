"""Learning as a run: submit, watch, cancel, and take the learned hyperparameters into the sliders."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from deconditioning.datasets.entries import title_of
from deconditioning.downscaling import interactive
from deconditioning.downscaling.checks.few_cells import INTEGRATED
from deconditioning.downscaling.checks.learning_check import bilinear_error, compared_with_bilinear
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.duration import about_seconds
from deconditioning.downscaling.settings import CHOOSE, DownscaleSettings, LearningSettings
from deconditioning.downscaling.starting import may_average, may_choose, spec_to_settings
from deconditioning.engine.records import Run, RunSpec
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.several import keys_of
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.figures.colours import model_name
from deconditioning.figures.downscaled_maps import field_scale, mean_panel
from deconditioning.figures.maps import field_map
from deconditioning.figures.trace_lines import best_objective
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.catalogue import named
from deconditioning.models.defaults import usual_model
from deconditioning.models.learning.initial import Start
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.run_content import hyperparameters, learned_downscaling, one_scale_up_in
from deconditioning.wording import duration, signed
from pages.downscaling import cell_selection
from pages.downscaling.data import Choice, cell_values, problem_of
from pages.downscaling.distribution import warp
from pages.downscaling.distribution.view import View
from pages.downscaling.footprints import files, noises
from pages.downscaling.model import FAMILY_TITLES, family_values, slider_values, stored_model
from pages.downscaling.picture import quick_view
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.default_or_choice import OWN, default_or_choice
from pages.kit.controls.essential import group
from pages.kit.controls.program_values import set_on_next_run, set_values
from pages.kit.controls.settings import control
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.page_layout import warnings
from pages.kit.layout.theme import is_dark
from pages.kit.runs.run_panel import (
    begin_run,
    follow,
    is_busy,
    next_to_picture,
    run_of,
    show_duration,
    show_learned,
    take_once,
    trace_charts,
)
from pages.kit.session import Key
from pages.kit.state import get_engine

_LEARNING = LearningSettings
#: Which noises learning leaves alone, by the control's value.
_HOLD: dict[str, tuple[str, ...]] = {"none": (), "point_noise": ("point_noise",), "both": ("noise", "point_noise")}
#: Over which points terms of the place are summed while learning, by the control's value.
EVERY = {"every": True, "few": False}


def _hold(start: Start) -> tuple[str, ...] | None:
    names = {
        "none": "σ² and ς² are learned",
        "point_noise": "σ² learned, ς² fixed",
        "both": "σ² and ς² are fixed",
    }
    earlier = {"σ² is learned, ς² is fixed": names["point_noise"]}
    return default_or_choice(_LEARNING.hold, _HOLD, names, start.hold, earlier)


def _every_pixel(start: Start) -> bool | None:
    names = {"every": "over every pixel", "few": "over the points above"}
    return default_or_choice(_LEARNING.every_pixel, EVERY, names, start.every_pixel)


def _integrate(problem: DownscalingProblem, model: NamedModel) -> bool | None:
    """Whether hyperparameters are integrated out; no question where the cells are many."""
    if len(problem.data.targets) >= INTEGRATED or not model.on_bags:
        return None
    names = {"integrated": "averaged over", "one": "the most probable"}
    earlier = {"averaged over their posterior": names["integrated"], "the most probable ones": names["one"]}
    default = model.start(problem.matched).integrate
    return default_or_choice(_LEARNING.integrate, {"integrated": True, "one": False}, names, default, earlier)


def _average(problem: DownscalingProblem, model: NamedModel) -> bool:
    """Whether learning averages several models; it does by itself where nobody picked another model."""
    usual = model == usual_model(problem.matched, problem.spec.coordinates)
    return bool(control(_LEARNING.average.inner.copy(default=usual)))


def options(problem: DownscalingProblem, model: NamedModel) -> dict[str, Any]:
    """How to learn: controls in an expander."""
    start = model.start(problem.matched)
    with group("How to learn"):
        result: dict[str, Any] = {"stage_one": CHOOSE}
        if model.chooses_first_stage:
            result["stage_one"] = control(_LEARNING.stage_one)
        result["method"] = control(_LEARNING.method)
        result["restarts"] = control(_LEARNING.restarts.usually(start.restarts))
        result["steps"] = control(_LEARNING.steps)
        result["points"] = control(_LEARNING.points)
        result["every_pixel"] = _every_pixel(start)
        result["prior_sd"] = control(_LEARNING.prior_sd.usually(start.prior_sd))
        result["hold"] = _hold(start)
        if fixed := noises.fixed(problem):
            result["hold"] = (*(start.hold if result["hold"] is None else result["hold"]), *fixed)
        result["integrate"] = _integrate(problem, model)
        result["average"] = may_average(problem, model) and _average(problem, model)
        result["choose"] = may_choose(problem, model) and not result["average"] and control(_LEARNING.choose.inner)
    return result


def learn_button(
    choice: Choice, problem: DownscalingProblem, settings: DownscaleSettings, spec: ModelSpec, how: dict[str, Any]
) -> None:
    """The Learn button: starts a run from the sliders' values and puts it into the address; how long that takes."""
    busy = is_busy(current_run())
    pressed = st.button("Learn hyperparameters", type="primary", width="stretch", disabled=busy, key="learn")
    start = spec_to_settings(settings, spec).replace(learn=True, seed=choice.spec.seed, **how)
    if not busy:  # else the panel of the run tells more
        _show_before(choice, problem, settings, spec, start)
    if not pressed:
        return
    task = RunSpec(
        "downscale",
        {
            "model": spec.model.name,
            "source": choice.source.to_dict(),
            "problem": choice.spec.to_dict(),
            "settings": start.to_dict(),
        },
        choice.spec.seed,
        f"{model_name(spec.model.name)}, {title_of(choice.source.fields).partition(': ')[0]}",
    )
    begin_run(task)


def _show_before(
    choice: Choice, problem: DownscalingProblem, settings: DownscaleSettings, spec: ModelSpec, start: DownscaleSettings
) -> None:  # fmt: skip
    """How long learning takes, and whether it has anything to change."""
    if (seconds := _last_seconds(choice)) is None:
        show_duration("Learning", about_seconds(problem, start))
    else:
        st.caption(f"Learning took {duration(seconds)} last time.")
    stored = stored_model(choice, settings)
    if stored is not None and (stored.kernel, stored.noise) == (spec.kernel, spec.noise):
        st.caption("The sliders are at learned values. Move one first to see what learning changes.")


def _last_seconds(choice: Choice) -> float | None:
    """How long the page's last finished run took, if it was about the same data."""
    run = run_of("downscale")
    if run is None or run.status != "done" or not (run.started and run.ended):
        return None
    same = (run.spec.settings["source"], run.spec.settings["problem"]) == (
        choice.source.to_dict(), choice.spec.to_dict()
    )  # fmt: skip
    return run.ended - run.started if same else None


def current_run() -> Run | None:
    """The page's run: the one named in the address, or the session's last one."""
    run = run_of("downscale")
    if run is not None:
        st.query_params["run"] = run.id
    return run


def open_run(run: Run) -> None:
    """A link ``?run=ID`` on a fresh page opens the run's own data, model and (learned) hyperparameters."""
    opened = st.session_state.setdefault(Key.OPENED_RUN, set())
    settings = run.spec.settings
    if run.id in opened:
        return
    opened.add(run.id)
    if st.session_state.get(Key.DATA) is not None:
        return
    problem, source = settings["problem"], settings["source"]
    first, *others = keys_of(source["fields"])
    values: dict[str, Any] = {
        "data": first,
        "target": problem["target"],
        "cov": list(problem["covariates"]),
        "med": list(problem["mediators"]),
        **cell_values(problem),
        **files.values_of(source),
        DownscaleSettings.warp.key: warp.value_of(settings["settings"]),
        "missing": list(problem.get("missing", [])),
        "model": settings["model"],
    }
    values |= cell_selection.values_of(DownscalingSpec.from_dict(problem))
    if others:
        values["more"] = others
    if source.get("coarse"):
        values["coarse"] = source["coarse"]
    if source.get("mediator"):
        values["third"] = source["mediator"]
    if isinstance(kernel := settings["settings"].get("kernel"), dict):
        model = named(settings["model"])
        values |= family_values(model, KernelSpec.from_dict(kernel), problem["covariates"])
        key = DownscaleSettings.spatial.key
        if all(model.start(matched).spatial == values.get(key) for matched in (True, False)):
            values[key] = OWN  # what the model has of itself is no setting of the address
        if values.get(DownscaleSettings.local_slopes.key) == "same":
            values[DownscaleSettings.local_slopes.key] = OWN
    st.session_state[Key.SELECTION] = problem["select"]
    st.session_state[Key.COARSE_SELECTION] = problem.get("coarse_select", {})
    set_values(values)


def watch(choice: Choice, problem: DownscalingProblem, spec: ModelSpec, requested_warp: str) -> None:
    """The run's panel: live while it goes on, then its outcome; ``requested_warp``: AUTO, "none" or a warp."""
    run = current_run()
    if run is None:
        return
    if run.active:

        def draw(rows: list[dict[str, Any]]) -> None:
            _picture_so_far(rows, choice, problem, spec, _same_problem(run, choice))
            trace_charts(rows)

        expected = None
        if _same_problem(run, choice):
            expected = about_seconds(problem, DownscaleSettings.from_dict(run.spec.settings["settings"]))
        with next_to_picture():
            follow(run, draw, expected_s=expected)
        return
    _take_over(run, choice, problem, spec, requested_warp)
    _ended(run, problem)


def _same_problem(run: Run, choice: Choice) -> bool:
    """Whether the run is about the fields and cells on the page."""
    settings = run.spec.settings
    return (
        settings["source"] == choice.source.to_dict()
        and settings["problem"] == RunSpec("downscale", choice.spec.to_dict()).settings
    )


def one_scale_up(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> OneScaleUp | None:
    """What the page's run found one scale up, where it is about the fields, cells and model on the page."""
    run = current_run()
    if run is None or not _same_problem(run, choice):
        return None
    if choice.warp != warp.of_learned((run.result or {}).get("learned") or {}):
        return None
    one_scale_up = one_scale_up_in(run.result, problem.coarse.size)
    return one_scale_up if one_scale_up is not None and one_scale_up.model == spec.model.name else None


def _best(rows: list[dict[str, Any]]) -> Mapping[str, Any]:
    """The hyperparameters of the best evaluation of the latest stage."""
    values = hyperparameters(rows)
    if not values:
        return {}
    stage = [row for row in values if row.get("stage") == values[-1].get("stage")]
    reached = [row for row in stage if row.get("value") == row.get("best")]
    return (reached or stage)[-1]["hyperparameters"]


def _picture_so_far(
    rows: list[dict[str, Any]], choice: Choice, problem: DownscalingProblem, spec: ModelSpec, same: bool
) -> None:
    best = _best(rows)
    if not best or not same:
        return
    latest_warp = next((row["warp"] for row in reversed(rows) if "warp" in row), None)
    if latest_warp is not None:
        choice = replace(choice, warp=warp.of_learned({"warp": latest_warp}))
        problem = problem_of(choice)
    view = quick_view(choice, problem, interactive.traced_spec(spec, problem, dict(best)))
    panel = mean_panel(problem, field_scale(problem), view.mean, "Posterior mean so far")
    figure = field_map(panel, dark=is_dark(), height=260, every=view.every)
    plotly_live(figure, "map-so-far")


def _take_over(run: Run, choice: Choice, problem: DownscalingProblem, spec: ModelSpec, requested_warp: str) -> None:
    """The learned values go into the sliders, once, when the page still shows the same problem and model."""
    learned = (run.result or {}).get("learned")
    if not learned or not _same_problem(run, choice):
        return
    if learned["model"] != spec.model.name:
        _switch_model(run, spec.model.name, str(learned["model"]))
        return
    warp.take(choice, requested_warp, learned)
    if choice.warp != warp.of_learned(learned):
        return

    def values(learned: Any) -> dict[str, float] | None:
        model_spec = learned_downscaling(learned)
        if len(model_spec.kernel.terms) != len(spec.kernel.terms):
            return None
        st.session_state[Key.LEARNED_SLIDERS] = slider_values(model_spec, problem.data.bags.count)
        st.session_state[Key.LEARNED_FROM] = choice.spec.to_dict()
        st.session_state[Key.LEARNED_SPREAD] = ((model_spec.model.name, problem.warp), model_spec.spread)
        st.session_state[Key.LEARNED_OTHERS] = (model_spec.model.name, model_spec.others)
        return st.session_state.get(Key.LEARNED_SLIDERS)

    take_once(run, values)


def _switch_model(run: Run, shown: str, chosen: str) -> None:
    """The model that learning has chosen goes onto its controls, once; its values follow in the next run."""
    switched = st.session_state.setdefault(Key.SWITCHED_RUNS, set())
    if run.spec.settings["model"] != shown or run.id in switched:
        return
    set_on_next_run({DownscaleSettings.model.key: chosen, DownscaleSettings.local_scale.key: OWN, **FAMILY_TITLES})
    switched.add(run.id)
    st.rerun()


@st.cache_resource(show_spinner=False, max_entries=8)
def _bilinear(key: str, _problem: DownscalingProblem) -> float:
    return bilinear_error(_problem)


def unlearned(choice: Choice, settings: DownscaleSettings, start: ModelSpec, spec: ModelSpec) -> bool:
    """Whether the sliders stand at the usual start, which nobody has learned."""
    bags = problem_of(choice).data.bags.count
    now, usual = slider_values(spec, bags), slider_values(start, bags)
    there = all(math.isclose(value, now.get(name, math.nan), rel_tol=1e-3) for name, value in usual.items())
    return there and stored_model(choice, settings) is None


def warn(choice: Choice, problem: DownscalingProblem, spec: ModelSpec, view: View) -> None:
    """A warning where bilinear interpolation predicts the visible cells better than the picture's model does."""
    if view.left_out is None:
        return
    warnings(compared_with_bilinear(problem, spec.model, view.left_out, _bilinear(choice.key, problem)).sentences)


def _ended(run: Run, problem: DownscalingProblem) -> None:
    notes = [note for note in (run.result or {}).get("notes", ()) if note not in problem.notes]
    for note in notes:
        st.caption(sentence_of(str(note)))
    best = best_objective(get_engine().trace(run.id))
    more = f" · best {best[0]} {signed(best[1], 2)}" if best is not None else ""
    show_learned(run, more=more)
