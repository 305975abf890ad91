"""Which model, and its hyperparameters on sliders; learned values arrive through the same sliders."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from deconditioning.downscaling.pictures.settings import SliderSettings
from deconditioning.downscaling.presets import preset
from deconditioning.downscaling.reach import reach_sentence, sizes
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.area_to_point import is_local_slopes
from deconditioning.models.catalogue import GENERAL, MODELS
from deconditioning.models.defaults import usual_model
from deconditioning.models.named_model import NamedModel
from deconditioning.models.sparse.inducing import located
from deconditioning.models.spec import ModelSpec
from deconditioning.models.spread import Spread
from deconditioning.settings.setting import Log, Setting
from deconditioning.wording import columns_in_words
from pages.downscaling.covariate_trust import trust_slider
from pages.downscaling.data import Choice
from pages.downscaling.essentials import (
    as_noise_sd,
    as_variance,
    is_of_place,
    or_none,
    reader_of_scale,
    three_digits,
)
from pages.downscaling.footprints.noises import tau_sliders, tau_values
from pages.kit.controls.default_or_choice import OWN, default_or_choice, take_earlier_words
from pages.kit.controls.essential import aside, group
from pages.kit.controls.settings import control
from pages.kit.layout.escaping import plain
from pages.kit.record import page_record
from pages.kit.runs.mediated import lost
from pages.kit.session import Key
from pages.kit.state import log_slider, offer_only, on_sliders

#: Families with lengthscales whose every parameter is learned.
OFFERED = {
    name: family.title
    for name, family in FAMILIES.items()
    if not family.without_scales and all(each.learned for each in family.parameters)
}
_MODEL, _SLIDERS = DownscaleSettings, SliderSettings
#: The controls of the kernel's families where a model has its own.
FAMILY_TITLES = {
    _MODEL.spatial.key: OWN,
    **{each.key: each.inner.default for each in (_MODEL.kernel, _MODEL.structure, _MODEL.linear_mean)},
}
#: Noises whose sliders show sds.
_SDS = {"noise": "sd\u00a0σ", "point_noise": "Noise of each pixel, sd\u00a0ς"}
#: Nearer ends of sliders and how their values read, by their keys (`log_slider`).
_Ends = Mapping[str, Mapping[str, Any]]
_NO_ENDS: _Ends = {}
#: Between them σ² moves the mean map; it begins at its least, where the map follows the cells.
_NOISE = (1e-3, 10.0)
#: How far the essential slider goes at least below and above the opening lengthscale; further above nothing moves.
_BELOW, _ABOVE = 10.0, 3.0
#: Where the slider of ς² begins, which stands for none.
LEAST = DownscaleSettings.point_noise.low or 0.0


def choose_model(choice: Choice, problem: DownscalingProblem) -> tuple[DownscaleSettings, ModelSpec]:
    """Model controls; returns settings for learning and the model where its sliders begin."""
    usual = usual_model(problem.matched, problem.spec.coordinates)
    among = MODELS if problem.spec.coordinates else GENERAL
    offered = {name: each.title for name, each in among.items() if each.takes(problem.data)}
    offer_only(_MODEL.model.key, list(offered))
    model = MODELS[control(_MODEL.model.copy(default=usual.name, options=offered))]
    changes: dict[str, Any] = {"model": model.name, "warp": json.loads(choice.warp) if choice.warp else "none"}
    if model.uses("inducing"):
        changes["inducing"] = control(_MODEL.inducing.inner)
    with group("Kernel families"):
        own = model.start(problem.matched).spatial
        others = {name: title for name, title in OFFERED.items() if name != own}
        take_earlier_words(_MODEL.spatial.key, {})
        spatial = _family(_MODEL.spatial.inner, {OWN: OFFERED[own], **others})
        changes["spatial"] = None if spatial == OWN else spatial
        if model.has_covariate_kernel:
            changes["kernel"] = _family(_MODEL.kernel.inner, OFFERED)
            changes["structure"] = control(_MODEL.structure)
        if not model.has_linear_mean:
            changes["linear_mean"] = control(_MODEL.linear_mean)
        changes["local_slopes"] = _local_slopes(problem, model, changes.get("structure"))
        changes["local_scale"] = _local_scale(problem, model)
        if model.has_linear_mean:
            aside("An unknown mean and linear terms in the covariates are added.")
    settings = DownscaleSettings(**changes)
    start = begin(choice, problem, settings)
    _forget_stale(choice, settings, slider_values(start, problem.data.bags.count))
    return settings, start


def _local_scale(problem: DownscalingProblem, model: NamedModel) -> bool | None:
    """Whether the sd varies from place to place; no question where it can't."""
    offered = problem.spec.coordinates and model.has_local_scale(problem.matched)
    names = {"varies": "varies in space", "plain": "as the kernel has it"}
    values, earlier = {"varies": True, "plain": False}, {"varies from place to place": names["varies"]}
    own = model.start(problem.matched).local_scale
    return default_or_choice(_MODEL.local_scale, values, names, own, earlier) if offered else None


def _local_slopes(problem: DownscalingProblem, model: NamedModel, structure: Any) -> bool | None:
    """Whether slopes of the covariates vary from place to place; no question where they can't."""
    offered = model.has_linear_mean and problem.spec.covariates and structure != "product"
    names = {"vary": "vary in space", "same": "the same everywhere"}
    values, earlier = {"vary": True, "same": False}, {"vary from place to place": names["vary"]}
    return default_or_choice(_MODEL.local_slopes, values, names, False, earlier) if offered else None


def _family(setting: Setting[Any], names: dict[str, str]) -> str:
    """A kernel family among these names; it begins with the model's own where that is offered."""
    offer_only(setting.key, names)
    begin = OWN if OWN in names else setting.default
    return str(control(setting.copy(options=names, default=begin)))


def family_values(model: NamedModel, kernel: KernelSpec, covariates: Sequence[str]) -> dict[str, Any]:
    """What the controls of the kernel's families must hold to stand for ``kernel``; give it to ``set_values``."""
    trend = model.has_linear_mean
    linear_mean = any(factor.kind.without_scales for term in kernel.terms for factor in term.factors)
    others = [term for term in kernel.terms if not is_local_slopes(term)]
    lines = trend or linear_mean
    terms = [t for t in others if not (lines and len(t.factors) == 1 and t.factors[0].kind.degenerate)]
    of = (_MODEL.spatial.key, _MODEL.kernel.key)
    values = {of[set(f.columns) <= set(covariates)]: f.family for term in terms for f in term.factors}
    slopes = "vary" if len(others) < len(kernel.terms) else "same"
    return {key: family for key, family in values.items() if family in OFFERED} | {
        _MODEL.structure.key: "product" if any(len(term.factors) > 1 for term in terms) else "sum",
        **({_MODEL.local_slopes.key: slopes} if trend else {_MODEL.linear_mean.key: linear_mean}),
    }


def begin(choice: Choice, problem: DownscalingProblem, settings: DownscaleSettings) -> ModelSpec:
    """Where the sliders begin: learned values kept for the worked examples (cells hidden by hand leave them, see
    `learned_from`), else the usual start."""
    return stored_model(choice, settings) or _starting(choice.key, json.dumps(settings.to_dict()), problem)


def stored_model(choice: Choice, settings: DownscaleSettings) -> ModelSpec | None:
    """The learned model that comes with a worked example, None elsewhere."""
    return preset(choice.source.to_dict(), choice.as_drawn.spec.to_dict(), settings)


def learned_from(choice: Choice, settings: DownscaleSettings, spec: ModelSpec, bags: int) -> DownscalingSpec | None:
    """The problem whose values the hyperparameters of ``spec`` were learned from, where that is known."""
    now = slider_values(spec, bags)
    if _agree(now, st.session_state.get(Key.LEARNED_SLIDERS, {})):
        result = st.session_state.get(Key.LEARNED_FROM)
        return None if result is None else DownscalingSpec.from_dict(result)
    stored = stored_model(choice, settings)
    return choice.as_drawn.spec if stored is not None and _agree(now, slider_values(stored, bags)) else None


@st.cache_resource(show_spinner=False, max_entries=32)
def _starting(key: str, settings: str, _problem: DownscalingProblem) -> ModelSpec:
    return located(starting_spec(_problem, DownscaleSettings.from_dict(json.loads(settings))), _problem.data.bags)


def _forget_stale(choice: Choice, settings: DownscaleSettings, start: dict[str, float]) -> None:
    """Sliders of other columns or families start anew, and those of other cells that nobody moved by hand: values
    learned from cells that are hidden now would know what they may not. Where single cells are hidden or revealed on
    the map only the usual start follows, and values that know too much are reported. A link that is opened keeps its
    values."""
    mark = json.dumps(
        [choice.source.to_dict(), choice.spec.target, choice.spec.covariates, choice.spec.mediators, choice.spec.select,
         choice.spec.coarse_select, settings.model, settings.kernel, settings.spatial, settings.structure,
         settings.linear_mean, *filter(None, [choice.warp])]
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
    model, bags, changes = start.model, problem.data.bags.count, dict[str, Any]()
    if model.uses("regularisation"):
        declared = _MODEL.regularisation.inner.copy(title="λ·B", default=start.regularisation * bags)
        times_bags = control(declared, reads=three_digits)
        changes["regularisation"] = times_bags / bags
        if not problem.matched and (sentence := lost(model.name)):
            st.caption(f"Results on six fields (page Benchmarks): {sentence}")
    changes["kernel"] = _kernel_sliders("k", start.kernel, shown=_in_units(problem, start.kernel))
    _say_reach(problem, changes["kernel"])
    changes["kernel"] = trust_slider(problem, start, changes["kernel"])
    ends = {} if page_record().shows_all else {"shown": _NOISE}
    for name, reads in (("noise", as_noise_sd(problem)), ("point_noise", or_none(as_noise_sd(problem), LEAST))):
        setting = _MODEL.declaration(name).inner.copy(default=max(getattr(start, name), LEAST))
        changes[name] = control(setting.copy(title=_SDS[name]), reads=reads, **(ends if name == "noise" else {}))
    if changes["point_noise"] <= LEAST * (1 + 1e-6):
        changes["point_noise"] = 0.0
    changes |= tau_sliders(problem, start)
    if model.uses("mediator_kernel") and start.mediator_kernel is not None:
        with group("Mediator kernel ℓ"):
            changes["mediator_kernel"] = _kernel_sliders("l", start.mediator_kernel, scales=model.has_unknown_part)
    return replace(start, spread=_spread(problem, model), **changes)


def _spread(problem: DownscalingProblem, model: NamedModel) -> Spread | None:
    """The spread of the hyperparameters that this model learned from these cells; it moves with the sliders."""
    learner, spread = st.session_state.get(Key.LEARNED_SPREAD, (None, None))
    same = learner == (model.name, problem.warp) and st.session_state.get(Key.LEARNED_FROM) == problem.spec.to_dict()
    return spread if same else None


def as_learned(problem: DownscalingProblem, spec: ModelSpec) -> ModelSpec:
    """The average of models that was learned from these cells, where the sliders stand at its values; else ``spec``."""
    name, others = st.session_state.get(Key.LEARNED_OTHERS) or ("", ())
    same = name == spec.model.name and st.session_state.get(Key.LEARNED_FROM) == problem.spec.to_dict()
    unchanged = same and _agree(slider_values(spec, problem.data.bags.count), st.session_state[Key.LEARNED_SLIDERS])
    return replace(spec, others=others) if unchanged else spec


def _say_reach(problem: DownscalingProblem, kernel: KernelSpec) -> None:
    """How far values resemble each other, below the slider of smoothness."""
    first = kernel.terms[0].factors[0]
    if is_of_place(problem, first) and not page_record().shows_all:
        st.caption(reach_sentence(first, sizes(problem)))


def _in_units(problem: DownscalingProblem, kernel: KernelSpec) -> _Ends:
    """How the sliders of k read, each in its own units; at the level Essential the slider of smoothness has nearer
    ends, the opening value well inside."""
    result: dict[str, dict[str, Any]] = {}
    for index, term in enumerate(kernel.terms):
        result[slider_key("k", "s", index)] = {"reads": as_variance(problem)}
        for i, factor in enumerate(term.factors):
            for j in range(len(factor.lengthscales)):
                result[slider_key("k", "l", index, i, j)] = {"reads": reader_of_scale(problem, factor, j)}
    smooth, first = _SLIDERS.lengthscale.key, kernel.terms[0].factors[0]
    if is_of_place(problem, first) and not page_record().shows_all:
        (low, high), opening = sizes(problem).lengthscales(), first.lengthscales[0]
        result[smooth]["shown"] = min(low, opening / _BELOW), max(high, opening * _ABOVE)
    return result


def _kernel_sliders(prefix: str, kernel: KernelSpec, *, scales: bool = True, shown: _Ends = _NO_ENDS) -> KernelSpec:
    terms = []
    for index, term in enumerate(kernel.terms):
        scale = term.scale
        about = " · ".join(_words(factor) for factor in term.factors)
        if (scales or index > 0) and not any(factor.kind.slopes_for_scales for factor in term.factors):
            symbol = "k" if prefix == "k" else "ℓ"
            what = f"{symbol}: {about}" if any(factor.lengthscales for factor in term.factors) else "the unknown mean"
            key = slider_key(prefix, "s", index)
            scale = _slider(_SLIDERS.variance, f"Variance of {what}", key, term.scale, **shown.get(key, {}))
        factors = tuple(_factor_sliders(prefix, (index, i), f, shown) for i, f in enumerate(term.factors))
        terms.append(Term(factors, scale))
    return KernelSpec(tuple(terms))


def slider_key(prefix: str, name: str, term: int, factor: int = 0, column: int = 0) -> str:
    """A slider's name in the address: ``l1`` the lengthscale of k's second term, ``m-l0`` that of ℓ's first one."""
    inside = f"-{factor}-{column}" if factor or column else ""
    return f"{'' if prefix == 'k' else 'm-'}{name}{term}{inside}"


def _words(factor: Factor) -> str:
    return plain(columns_in_words(factor.columns))


def _factor_sliders(prefix: str, place: tuple[int, int], factor: Factor, shown: _Ends) -> Factor:
    several = len(factor.lengthscales) > 1
    one = _SLIDERS.slope if factor.kind.slopes_for_scales else _SLIDERS.lengthscale
    scales = []
    for index, value in enumerate(factor.lengthscales):
        of = plain(columns_in_words([factor.columns[index]])) if several else _words(factor)
        key = slider_key(prefix, "l", *place, index)
        moved = _slider(one, f"{one.title}: {of}", key, _turned(factor, value), **shown.get(key, {}))
        scales.append(_turned(factor, moved))
    parameters = {
        each.name: log_slider(
            f"{each.symbol} of {factor.kind.title}: {_words(factor)}", slider_key(prefix, each.name, *place), each.low,
            each.high, factor.numbers[each.name], help=each.help,
        )
        for each in factor.kind.parameters
    }  # fmt: skip
    return replace(factor, lengthscales=tuple(scales), parameters=parameters)


def _slider(setting: Log, title: str, key: str, start: float, **more: Any) -> float:
    return float(control(setting.copy(title=title, address=key, default=start), **{"reads": three_digits, **more}))


def _turned(factor: Factor, value: float) -> float:
    """A lengthscale as its slider shows it, or back: of straight lines, the sd of their slope."""
    return 1 / value if factor.kind.slopes_for_scales else value


def slider_values(spec: ModelSpec, bags: int) -> dict[str, float]:
    """What the sliders must hold to stand for ``spec``; give it to ``set_values``."""
    values = {_MODEL.noise.key: max(spec.noise, LEAST), _MODEL.point_noise.key: max(spec.point_noise, LEAST)}
    values |= tau_values(spec)
    values[_SLIDERS.trust.key] = 1.0
    if spec.model.uses("regularisation"):
        values[_MODEL.regularisation.key] = spec.regularisation * bags
    for prefix, kernel in (("k", spec.kernel), ("l", spec.mediator_kernel)):
        for index, term in enumerate(kernel.terms if kernel else ()):
            values[slider_key(prefix, "s", index)] = term.scale
            for i, factor in enumerate(term.factors):
                for j, scale in enumerate(factor.lengthscales):
                    values[slider_key(prefix, "l", index, i, j)] = _turned(factor, scale)
                values |= {slider_key(prefix, name, index, i): value for name, value in factor.numbers.items()}
    return on_sliders(values)
