"""Which model, and its hyperparameters on sliders; learned values arrive through the same sliders."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from deconditioning.downscaling.presets import preset
from deconditioning.downscaling.settings import DownscaleSettings, starting_spec
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.catalogue import GENERAL, MODELS
from deconditioning.models.defaults import usual_model
from deconditioning.models.named_model import NamedModel
from deconditioning.models.sparse.inducing import located
from deconditioning.models.spec import ModelSpec
from pages.downscaling.data import Choice
from pages.kit.controls import widgets
from pages.kit.controls.essential import aside, group
from pages.kit.layout.escaping import plain
from pages.kit.record import page_record
from pages.kit.runs.mediated import lost
from pages.kit.session import Key
from pages.kit.state import log_slider, offer_only, on_sliders

#: Families with lengthscales whose every parameter is learned.
OFFERED = {
    name: family.title
    for name, family in FAMILIES.items()
    if not family.without_scales and all(own.learned for own in family.own)
}
#: Stands for the family that the model has of itself.
OWN = "own"
#: The controls of the kernel's families where a model has its own.
OWN_FAMILIES = {"place": OWN, "fam": "rbf", "struct": "sum", "linmean": False}
#: Where the sliders of the noises begin.
LEAST = 1e-6


def choose_model(choice: Choice, problem: DownscalingProblem) -> tuple[DownscaleSettings, ModelSpec]:
    """Model controls; returns settings for learning and the model where its sliders begin."""
    usual = usual_model(problem.matched, problem.spec.coordinates)
    among = MODELS if problem.spec.coordinates else GENERAL
    offered = {name: model for name, model in among.items() if model.takes(problem.data)}
    offer_only("model", list(offered))
    name = widgets.selectbox(
        "Model",
        list(offered),
        index=list(offered).index(usual.name),
        key="model",
        format_func=lambda option: offered[option].title,
    )
    model, inducing = offered[name], 200
    if model.uses("inducing"):
        inducing = int(
            widgets.number_input("Inducing points", 5, 2000, 200, step=50, key="induce",
                            help=(
                                "Number of inducing points, placed by k-means. Models on centroids use at most one per "
                                "cell."
                            ))
        )  # fmt: skip
    own = model.start(problem.matched).spatial
    with group("Kernel families"):
        place = _family("Coordinates", "place", OWN, {OWN: f"The model's own: {OFFERED[own]}", **OFFERED})
        settings = DownscaleSettings(
            model=name,
            inducing=inducing,
            kernel=_family("Covariates", "fam", "rbf", OFFERED) if model.has_covariate_kernel else None,
            spatial=None if place == OWN else place,
            structure=_structure() if model.has_covariate_kernel else "sum",
            linear_mean=not model.has_linear_mean and _linear_mean(),
            local_scale=_local_scale(problem, model),
        )
        if model.has_linear_mean:
            aside("An unknown mean and linear terms in the covariates are added.")
    start = begin(choice, problem, settings)
    _forget_stale(choice, settings, slider_values(start, problem.data.bags.count))
    return settings, start


def own_choice(label: str, key: str, values: Mapping[str, Any], names: Mapping[str, str], own: Any, about: str) -> Any:
    """One of ``values`` by a control whose options have these ``names``; None for the model's ``own``."""
    words = {"own": f"The model's own: {next(names[name] for name in values if values[name] == own)}", **names}
    chosen = widgets.selectbox(label, ["own", *values], key=key, format_func=lambda option: words[option], help=about)
    return values.get(chosen)


def _linear_mean() -> bool:
    return widgets.checkbox(
        "A prior mean linear in the covariates",
        False,
        key="linmean",
        help="Off: f varies around zero, the mean of the standardised targets. On: f varies around b₀ + Σ bⱼcⱼ, "
        "whose unknown coefficients are integrated out; cells and mediators average it as they average f.",
    )


def _local_scale(problem: DownscalingProblem, model: NamedModel) -> bool | None:
    """Whether the sd varies from place to place; no question where it can't."""
    if not (problem.spec.coordinates and model.has_local_scale(problem.matched)):
        return None
    about = (
        "A factor κ on the sd: intervals become wider where cells are predicted badly from the others and narrower "
        "where they are predicted well. κ varies smoothly in space and with the roughness of the covariates."
    )
    names = {"varies": "varies from place to place", "plain": "as the kernel has it"}
    own = model.start(problem.matched).local_scale
    return own_choice("The sd", "local", {"varies": True, "plain": False}, names, own, about)


def _family(label: str, key: str, default: str, names: dict[str, str]) -> str:
    offer_only(key, names)
    return widgets.selectbox(
        label,
        list(names),
        index=list(names).index(default),
        key=key,
        format_func=lambda option: names[option],
    )


def family_values(model: NamedModel, kernel: KernelSpec, covariates: Sequence[str]) -> dict[str, Any]:
    """What the controls of the kernel's families must hold to stand for ``kernel``; give it to ``set_values``."""
    trend = model.has_linear_mean
    linear_mean = any(factor.kind.without_scales for term in kernel.terms for factor in term.factors)
    terms = [
        term
        for term in kernel.terms
        if not ((trend or linear_mean) and len(term.factors) == 1 and term.factors[0].kind.degenerate)
    ]
    factors = [factor for term in terms for factor in term.factors]
    values = {"fam" if set(f.columns) <= set(covariates) else "place": f.family for f in factors}
    return {key: family for key, family in values.items() if family in OFFERED} | {
        "struct": "product" if any(len(term.factors) > 1 for term in kernel.terms) else "sum",
        **({} if trend else {"linmean": linear_mean}),
    }


def _structure() -> str:
    found = widgets.segmented_control("Together they form a", ["sum", "product"], default="sum", key="struct")
    return found or "sum"


def begin(choice: Choice, problem: DownscalingProblem, settings: DownscaleSettings) -> ModelSpec:
    """Where the sliders begin: learned values kept for the worked examples, else the usual start.

    Cells hidden by hand leave learned values as they are (`learned_from` tells): what moves is what their targets told.
    """
    return _kept(choice, settings) or _starting(choice.key, json.dumps(settings.to_dict()), problem)


def _kept(choice: Choice, settings: DownscaleSettings) -> ModelSpec | None:
    return preset(choice.source.to_dict(), choice.as_drawn.spec.to_dict(), settings)


def learned_from(choice: Choice, settings: DownscaleSettings, spec: ModelSpec, bags: int) -> DownscalingSpec | None:
    """The problem whose values the hyperparameters of ``spec`` were learned from, where that is known."""
    now = slider_values(spec, bags)
    if _agree(now, st.session_state.get(Key.LEARNED_SLIDERS, {})):
        found = st.session_state.get(Key.LEARNED_FROM)
        return None if found is None else DownscalingSpec.from_dict(found)
    stored = _kept(choice, settings)
    return choice.as_drawn.spec if stored is not None and _agree(now, slider_values(stored, bags)) else None


@st.cache_resource(show_spinner=False, max_entries=32)
def _starting(key: str, settings: str, _problem: DownscalingProblem) -> ModelSpec:
    return located(starting_spec(_problem, DownscaleSettings.from_dict(json.loads(settings))), _problem.data.bags)


def _forget_stale(choice: Choice, settings: DownscaleSettings, start: dict[str, float]) -> None:
    """Sliders of other columns or families start anew, and those of other cells that nobody moved by hand: values
    learned from cells that are hidden now would know what they may not. Where single cells are hidden or revealed on
    the map only the usual start follows, and values that know too much are told. A link that is opened keeps its
    values."""
    mark = json.dumps(
        [choice.source.to_dict(), choice.spec.target, choice.spec.covariates, choice.spec.mediators, choice.spec.select,
         choice.spec.coarse_select, settings.model, settings.kernel, settings.spatial, settings.structure,
         settings.linear_mean]
    )  # fmt: skip
    spec = choice.spec
    cells = [spec.withhold, spec.block, spec.seed, spec.coordinates, spec.matching, spec.region, spec.reweigh,
             spec.missing]  # fmt: skip
    on_map = [spec.hide, spec.reveal]
    before = st.session_state.get(Key.MODEL_SLIDERS)
    if before is not None and (
        before[0] != mark
        or (before[1] != cells and _stand_at(before[2], st.session_state.get(Key.LEARNED_SLIDERS, {})))
        or (before[3] != on_map and _stand_at(before[2]))
    ):
        st.session_state.update(start)
    st.session_state[Key.MODEL_SLIDERS] = (mark, cells, start, on_map)


def _stand_at(start: dict[str, float], *more: dict[str, float]) -> bool:
    """Whether the sliders stand where the program has put them: at the start, or at others such as those learned."""
    now = {key: st.session_state.get(key, value) for key, value in start.items()}
    return any(_agree(now, put_there) for put_there in (start, *more))


def _agree(now: dict[str, float], other: dict[str, float]) -> bool:
    return all(math.isclose(value, other.get(key, math.nan), rel_tol=1e-3) for key, value in now.items())


def hyperparameters(problem: DownscalingProblem, start: ModelSpec) -> ModelSpec:
    """The sliders; returns the model at their values."""
    if page_record().shows_all:
        st.markdown("**Hyperparameters**")
    model = start.model
    bags = problem.data.bags.count
    changes: dict[str, Any] = {}
    if model.uses("regularisation"):
        times_bags = log_slider(
            "λ·B", "lam", 1e-8, 1.0, start.regularisation * bags,
            help="Regularisation of the conditional mean operator; it enters multiplied by the number of bags. As λ "
                 "→ 0 the mediation weights W interpolate; a large λ shrinks them.",
        )  # fmt: skip
        changes["regularisation"] = times_bags / bags
        if not problem.matched and (said := lost(model.name)):
            st.caption(f"Results on six fields (page Benchmarks): {said}")
    changes["kernel"] = _kernel_sliders("k", start.kernel)
    changes["noise"] = log_slider(
        "σ²", "noise", LEAST, 10.0, max(start.noise, LEAST), help="Noise variance of a standardised coarse target."
    )
    point_noise = log_slider(
        "ς²", "point", LEAST, 10.0, max(start.point_noise, LEAST),
        help="Variance of the independent noise of each pixel. It enters a cell mean divided by the number of "
             "pixels, so coarse data say little about it, but enters the sd of a pixel in full. The lowest value "
             "means none.",
    )  # fmt: skip
    changes["point_noise"] = point_noise if point_noise > LEAST * (1 + 1e-6) else 0.0
    if model.uses("mediator_kernel") and start.mediator_kernel is not None:
        with group("Mediator kernel ℓ"):
            changes["mediator_kernel"] = _kernel_sliders("l", start.mediator_kernel, scales=model.knows_unknown)
    return replace(start, **changes)


def _kernel_sliders(prefix: str, kernel: KernelSpec, *, scales: bool = True) -> KernelSpec:
    terms = []
    for index, term in enumerate(kernel.terms):
        scale = term.scale
        about = " · ".join(_words(factor) for factor in term.factors)
        if (scales or index > 0) and not any(factor.kind.slopes_for_scales for factor in term.factors):
            symbol = "k" if prefix == "k" else "ℓ"
            what = f"{symbol}: {about}" if any(factor.lengthscales for factor in term.factors) else "the unknown mean"
            scale = log_slider(f"Variance of {what}", _key(prefix, "s", index), 1e-3, 1e3, term.scale)
        factors = tuple(_factor_sliders(prefix, (index, i), f) for i, f in enumerate(term.factors))
        terms.append(Term(factors, scale))
    return KernelSpec(tuple(terms))


def _key(prefix: str, name: str, term: int, factor: int = 0, column: int = 0) -> str:
    """A slider's name in the address: ``l1`` the lengthscale of k's second term, ``m-l0`` that of ℓ's first one."""
    inside = f"-{factor}-{column}" if factor or column else ""
    return f"{'' if prefix == 'k' else 'm-'}{name}{term}{inside}"


def _words(factor: Factor) -> str:
    return ", ".join(_spoken(name) for name in factor.columns)


def _spoken(name: str) -> str:
    return plain(name.replace("_", " "))


def _factor_sliders(prefix: str, place: tuple[int, int], factor: Factor) -> Factor:
    several = len(factor.lengthscales) > 1
    what = "Sd of the slope" if factor.kind.slopes_for_scales else "Lengthscale"
    scales = []
    for index, value in enumerate(factor.lengthscales):
        of = _spoken(factor.columns[index]) if several else _words(factor)
        shown = log_slider(f"{what}: {of}", _key(prefix, "l", *place, index), 2e-2, 5e1, _turned(factor, value))
        scales.append(_turned(factor, shown))
    own = {
        each.name: log_slider(
            f"{each.symbol} of {factor.kind.title}: {_words(factor)}", _key(prefix, each.name, *place), each.low,
            each.high, factor.numbers[each.name], help=each.help,
        )
        for each in factor.kind.own
    }  # fmt: skip
    return replace(factor, lengthscales=tuple(scales), own=own)


def _turned(factor: Factor, value: float) -> float:
    """A lengthscale as its slider shows it, or back: of straight lines, the sd of their slope."""
    return 1 / value if factor.kind.slopes_for_scales else value


def slider_values(spec: ModelSpec, bags: int) -> dict[str, float]:
    """What the sliders must hold to stand for ``spec``; give it to ``set_values``."""
    values = {"noise": max(spec.noise, LEAST), "point": max(spec.point_noise, LEAST)}
    if spec.model.uses("regularisation"):
        values["lam"] = spec.regularisation * bags
    for prefix, kernel in (("k", spec.kernel), ("l", spec.mediator_kernel)):
        for index, term in enumerate(kernel.terms if kernel else ()):
            values[_key(prefix, "s", index)] = term.scale
            for i, factor in enumerate(term.factors):
                for j, scale in enumerate(factor.lengthscales):
                    values[_key(prefix, "l", index, i, j)] = _turned(factor, scale)
                values |= {_key(prefix, name, index, i): value for name, value in factor.numbers.items()}
    return on_sliders(values)
