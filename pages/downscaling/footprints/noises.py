"""The noise τ² of each source: a slider for each, and which of them learning keeps fixed."""

import streamlit as st

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.learning.initial import ONE_SOURCE
from deconditioning.models.spec import ModelSpec
from pages.downscaling.essentials import as_noise_sd
from pages.kit.controls.settings import control
from pages.kit.controls.variable_choice import several
from pages.kit.layout.escaping import plain

_TAU = DownscaleSettings.representativeness.inner
_FIXED = "tau-fixed"


def tau_sliders(problem: DownscalingProblem, start: ModelSpec) -> dict[str, float | tuple[float, ...]]:
    """τ² of every source as a change of a model, from a slider for each that begins at its value in ``start``; nothing
    without sources."""
    count = len(problem.sources)
    if not count:
        return {}
    values = []
    for number, tau in enumerate(noises_of(problem, start)):
        title = f"Noise of {plain(problem.names_of_sources[number])} (sd\u00a0τ)"
        setting = _TAU.copy(title=title, address=_key(number, count), default=max(tau, _TAU.low))
        values.append(float(control(setting, reads=as_noise_sd(problem))))
    return {"representativeness": tuple(values) if count > 1 else values[0]}


def noises_of(problem: DownscalingProblem, spec: ModelSpec) -> tuple[float, ...]:
    """τ² of every source of a problem; a model of other sources gives all the last of its own."""
    each, count = spec.noises_of_sources, len(problem.sources)
    return each if len(each) == count else each[-1:] * count


def _key(number: int, count: int) -> str:
    """The key of a source's slider; the last one, the stations', has that of the only source."""
    return _TAU.key if number == count - 1 else f"{_TAU.key}-{number + 1}"


def tau_values(spec: ModelSpec) -> dict[str, float]:
    """What the sliders must hold to stand for a model."""
    each = spec.noises_of_sources
    return {_key(number, len(each)): max(tau, _TAU.low) for number, tau in enumerate(each) if tau}


def fixed(problem: DownscalingProblem) -> tuple[str, ...]:
    """The names of the sources' noises that learning keeps at the sliders' values, as a setting has them."""
    names = dict(zip(ONE_SOURCE, problem.names_of_sources, strict=False))
    if not names:
        st.session_state.pop(_FIXED, None)
        return ()
    return tuple(several("Sources whose τ² is fixed", _FIXED, list(names), [], names))
