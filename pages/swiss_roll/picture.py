"""The roll in space, from the side, and what the posterior makes of it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.datasets.swiss_roll import RollSpec, SwissRoll, make_swiss_roll
from deconditioning.errors import Check, InputError, never
from deconditioning.figures.studies.distribution_regression import predicted_plot
from deconditioning.figures.studies.swiss_roll import roll_from_the_side, roll_in_space
from deconditioning.metrics.intervals import trust
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.catalogue import BAG_GP
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData
from deconditioning.studies.swiss_roll.settings import ProblemSettings, SwissRollSettings
from deconditioning.studies.swiss_roll.study import data_for, inducing_points, posterior_at_points, score
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.page_layout import lead
from pages.kit.layout.theme import is_dark
from pages.swiss_roll import controls

#: Height of the pictures in space.
_HEIGHT = 400
#: Points of the prediction against the truth, drawn without WebGL.
_MOST_DRAWN = 1000
RIGHT = ("Prediction", "Truth", "Error", "2 sd", "Recovered share")


@dataclass(frozen=True)
class View:
    """Posterior mean and sd at every point (N,), the prior's sd, the scores against t."""

    mean: np.ndarray
    sd: np.ndarray
    prior_sd: float
    scores: dict[str, float]


@st.cache_resource(show_spinner=False, max_entries=8)
def roll_of(spec: RollSpec) -> SwissRoll:
    """The roll; the same object for the same settings."""
    return make_swiss_roll(spec)


@st.cache_resource(show_spinner="Pseudo-targets for unmatched slices …", max_entries=16)
def _data(spec: RollSpec, pseudo: bool) -> IndirectData:
    roll = roll_of(spec)
    return data_for(roll, BAG_GP) if pseudo else roll.data


@st.cache_resource(show_spinner=False, max_entries=16, hash_funcs={NamedModel: lambda model: model.name})
def _located(spec: RollSpec, model: NamedModel, count: int, seed: int) -> tuple[tuple[float, ...], ...]:
    """Inducing points of a model on a roll: they stay where they are while sliders move."""
    return inducing_points(roll_of(spec), model, count, seed)


@st.cache_resource(show_spinner=False)
def _sums() -> SumsStore:
    """Bag sums of every roll and kernel shown lately."""
    return SumsStore(100_000_000)


def _posterior(roll: SwissRoll, spec: ModelSpec, data: IndirectData, sums: SumsStore, check: Check = never) -> View:
    mean, sd = posterior_at_points(spec, data, roll.inputs, roll.points, check, (sums, repr(roll.spec)))
    return View(mean.numpy(), sd.numpy(), float(spec.kernel.variance**0.5), score(roll, mean, sd))


@st.cache_data(show_spinner=False, max_entries=64)
def _view(roll_spec: RollSpec, spec_text: str) -> View:
    spec = ModelSpec.from_dict(json.loads(spec_text))
    data = _data(roll_spec, not spec.model.reads(roll_of(roll_spec).data))
    return _posterior(roll_of(roll_spec), spec, data, _sums())


def _placed(roll_spec: RollSpec, spec: ModelSpec) -> ModelSpec:
    """The model with its inducing points, where it has any."""
    if not spec.model.uses("inducing"):
        return spec
    rows = _located(roll_spec, spec.model, spec.inducing.count, spec.inducing.seed)
    return replace(spec, inducing=replace(spec.inducing, locations=rows))


def _view_of(roll_spec: RollSpec, spec: ModelSpec) -> View:
    """The posterior of a model at given hyperparameters; raises ``InputError`` with a sentence."""
    return _view(roll_spec, json.dumps(_placed(roll_spec, spec).to_dict(), sort_keys=True))


def scores_later(roll_spec: RollSpec, specs: Sequence[ModelSpec]) -> Callable[[Check], list[dict[str, float] | str]]:
    """Work for the background: the scores of every model, or the sentence that refuses it."""
    roll, sums = roll_of(roll_spec), _sums()
    specs_and_data = [(_placed(roll_spec, spec), _data(roll_spec, not spec.model.reads(roll.data))) for spec in specs]

    def work(check: Check) -> list[dict[str, float] | str]:
        result: list[dict[str, float] | str] = []
        for spec, data in specs_and_data:
            try:
                result.append(_posterior(roll, spec, data, sums, check).scores)
            except InputError as error:
                result.append(str(error))
        return result

    return work


def draw(roll: SwissRoll, problem: ProblemSettings) -> tuple[ModelSpec, View]:
    """The posterior, large, beside what is known and its error; returns the model and its posterior."""
    truth = roll.truth.numpy()
    limits = (float(truth.min()), float(truth.max()))
    shown = widgets.segmented_control(
        "Picture", RIGHT, default="Prediction", key="r-right", label_visibility="collapsed"
    )
    left, right = st.columns(2)
    with left:
        spec, view = picture_first(lambda: _posterior_picture(roll, problem, shown or "Prediction", limits))
    with right:
        beside = _right("Prediction" if shown == "Truth" else "Truth", truth, view, limits)
        figure = roll_in_space(roll.inputs.numpy(), **beside, height=_HEIGHT, dark=is_dark())
        plotly_live(figure, "roll-beside", later=True)
    left, right = st.columns(2)
    with left:
        _draw_data(roll, limits)
    with right:
        _draw_against_truth(spec, view, truth)
    return spec, view


def _posterior_picture(
    roll: SwissRoll, problem: ProblemSettings, shown: str, limits: tuple[float, float]
) -> tuple[ModelSpec, View]:
    """The sliders, and the right picture at their values."""
    with st.sidebar:
        spec = controls.hyperparameters(problem)
    view = _view_of(roll.spec, spec)
    right = _right(shown, roll.truth.numpy(), view, limits)
    figure = roll_in_space(roll.inputs.numpy(), **right, height=_HEIGHT, dark=is_dark())
    plotly_live(figure, "roll-right")
    lead(_sentence(shown, spec, view, roll.truth.numpy()) + _blended(roll.spec, spec))
    return spec, view


def _draw_data(roll: SwissRoll, limits: tuple[float, float]) -> None:
    data = (roll.with_points.tolist(), roll.with_means.tolist())
    figure = roll_from_the_side(
        roll.inputs.numpy(), roll.slice.numpy(), roll.heights.numpy(), roll.means.numpy(), data, limits, height=300,
        dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "roll-side")


def _draw_against_truth(spec: ModelSpec, view: View, truth: np.ndarray) -> None:
    some = np.linspace(0, len(truth) - 1, min(len(truth), _MOST_DRAWN)).round().astype(int)
    figure = predicted_plot(
        truth[some], view.mean[some], title="Every point: recovered against true position",
        labels=("true position t", "recovered position"), model=spec.model.name, of="points", height=300,
        dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "roll-against", later=True)


def _right(shown: str, truth: np.ndarray, view: View, limits: tuple[float, float]) -> dict[str, Any]:
    if shown == "Error":
        error = view.mean - truth
        far = max(float(np.quantile(np.abs(error), 0.98)), 1e-9)
        return {
            "values": error, "title": "Error of the prediction", "label": "Prediction − truth",
            "colours": "diverging", "limits": (-far, far),
        }  # fmt: skip
    if shown == "Truth":
        return {
            "values": truth, "title": "True position of each point, unknown to the model",
            "label": "Position t along the roll", "colours": "sequential", "limits": limits,
        }  # fmt: skip
    if shown == "2 sd":
        top = float(np.quantile(2 * view.sd, 0.99))
        return {
            "values": 2 * view.sd, "title": "Uncertainty: 2 sd", "label": "2 standard deviations",
            "colours": "uncertainty", "limits": (0.0, max(top, 1e-9)),
        }  # fmt: skip
    if shown == "Recovered share":
        return {
            "values": 1 - (view.sd / view.prior_sd) ** 2, "title": "Reconstruction quality", "limits": (0.0, 1.0),
            "label": "Share of the prior variance removed", "colours": "uncertainty",
        }  # fmt: skip
    return {
        "values": view.mean, "title": "Recovered position of each point",
        "label": "Position t along the roll", "colours": "sequential", "limits": limits,
    }  # fmt: skip


def _blended(roll: RollSpec, spec: ModelSpec) -> str:
    """Why more slices may give a larger error: at 78 and 100 of them the RMSE falls with λ, to that of the bag GP."""
    if roll.matching != "direct" or not spec.model.ridge or roll.bags <= ProblemSettings.slices.default:
        return ""
    label = SwissRollSettings.regularisation.plain
    return f" The more slices, the closer they lie, and the more the same λ blends them: reduce *{label}*."


def _sentence(shown: str, spec: ModelSpec, view: View, truth: np.ndarray) -> str:
    scores, title = view.scores, spec.model.title
    if shown == "Error":
        return f"Prediction − truth of the {spec.model.phrase}: RMSE **{scores['rmse']:.3f}** over all points."
    if shown == "Truth":
        return f"True positions; the {spec.model.phrase} recovers them with RMSE **{scores['rmse']:.3f}**."
    if shown == "2 sd":
        return f"The 95 % intervals contain the truth at **{100 * scores['coverage95']:.0f} %** of the points."
    if shown == "Recovered share":
        quality = float(np.mean(1 - (view.sd / view.prior_sd) ** 2))
        return (
            "1 − k_d(x, x)/k(x, x), where k_d = k − ⟨k_x, D̂Ĉ k_x⟩ is the part of the kernel that is lost by "
            f"conditioning and deconditioning. On average **{100 * quality:.0f} %** is recovered."
        )
    intervals = trust(truth, Predictive(view.mean, view.sd)).sentence
    return f"{title}: RMSE **{scores['rmse']:.3f}** (t has mean 0 and sd 1); {intervals}"
