"""Kernel, noise, rank and densities on sliders; learning them by the evidence."""

import hashlib
import time
from concurrent.futures import Future
from dataclasses import dataclass

import streamlit as st

from deconditioning.distribution_regression.spectrum import Learned
from deconditioning.errors import Cancelled, InputError
from deconditioning.figures.colours import model_name
from deconditioning.settings.setting import Log, Switch
from deconditioning.studies.distribution_regression.compare import learn_settings
from deconditioning.studies.distribution_regression.settings import FurtherSettings, ModelSettings, SweptSettings
from deconditioning.studies.distribution_regression.study import MethodSettings
from deconditioning.wording import signed
from pages.distribution_regression.data import Chosen, start_values
from pages.kit.chart.background import get_background, session_lane
from pages.kit.controls import widgets
from pages.kit.controls.essential import group
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.controls.settings import control, controls
from pages.kit.layout.escaping import plain, sentence_of
from pages.kit.runs.run_panel import next_to_picture
from pages.kit.session import Key
from pages.kit.state import forget, on_sliders

#: What is drawn beside the Gaussian process on opening.
BESIDE = ("kde", "bdr10")


@dataclass(frozen=True)
class Model:
    """The settings of all methods, whether covariates count, and which methods are ``drawn`` beside the Gaussian "
    "process."""

    settings: MethodSettings
    use_covariates: bool
    drawn: tuple[str, ...] = ()


def choose_model(chosen: Chosen) -> Model:
    """The model at the sliders' values; the sliders' ends follow the data's units."""
    model = controls(ModelSettings, in_units(chosen))
    drawn = widgets.multiselect(
        "Shown together with the Gaussian process", chosen.prepared.methods[1:],
        [m for m in BESIDE if m in chosen.prepared.methods],
        key="d-beside", format_func=model_name,
    )  # fmt: skip
    with group("Densities, embeddings, covariates"):
        more = controls(FurtherSettings)
        intercept = control(_intercept(chosen), more)
        names = chosen.prepared.subjects.covariate_names
        use = bool(names) and widgets.toggle(f"Covariates: {plain(', '.join(names))}", True, key="d-cov")
    settings = MethodSettings(
        model.family, model.scale, model.size, model.noise, model.noise_by, model.rank or None, more.bandwidth,
        more.reflect, intercept, more.eta if more.eta_given else None,
    )  # fmt: skip
    return Model(settings, bool(use), tuple(drawn))


def in_units(chosen: Chosen) -> dict[str, Log]:
    """Lengthscale, variance and noise in the units of the data: the simulation's as declared, others' by their spread.

    Simulations share their sliders; every other data set has its own.
    """
    declared: dict[str, Log] = {
        "scale": ModelSettings.scale, "size": ModelSettings.size, "noise": ModelSettings.noise
    }  # fmt: skip
    if chosen.spec is not None:
        return declared
    start = start_values(chosen)
    return {name: each.around(start[name], f"d-{_kind(chosen)}-{name}") for name, each in declared.items()}


def _intercept(chosen: Chosen) -> Switch:
    declared = SweptSettings.intercept
    return declared if chosen.spec is not None else declared.copy(default=True, address=f"d-{_kind(chosen)}-intercept")


def _kind(chosen: Chosen) -> str:
    return hashlib.blake2b(chosen.key.encode(), digest_size=3).hexdigest()


def learning(chosen: Chosen, model: Model) -> None:
    """The button that learns kernel and noise, in the background; the sliders follow."""
    requested, begun = st.session_state.get(Key.DISTRIBUTION_LEARNING, ("", 0.0))
    key = f"distribution {chosen.key} {model.settings.family} {model.settings.intercept} {model.use_covariates}"
    if st.button("Learn kernel and noise", key="d-learn", type="primary", width="stretch", disabled=requested == key):
        st.session_state[Key.DISTRIBUTION_LEARNING] = (key, time.time())
        st.rerun()
    if requested == key:
        with next_to_picture():
            _await(chosen, model, key, begun)
    for word in st.session_state.get(Key.DISTRIBUTION_LEARNED, {}).get(chosen.key, ()):
        st.caption(sentence_of(word))


def _job(chosen: Chosen, model: Model, key: str) -> "Future[tuple[MethodSettings, Learned]]":
    return get_background().request(
        key, session_lane("distribution"), lambda check: learn_settings(chosen.prepared, model.settings, check)
    )


def _await(chosen: Chosen, model: Model, key: str, begun: float) -> None:
    @st.fragment(run_every=0.4)
    def wait() -> None:
        job = _job(chosen, model, key)
        if not job.done():
            seconds = round(time.time() - begun)
            st.caption(f"Learning: one eigendecomposition for each lengthscale · {seconds} s so far")
            if st.button("Cancel", key="d-cancel"):
                _stop()
                st.rerun(scope="app")
            return
        _take(chosen, job)
        forget(Key.DISTRIBUTION_LEARNING)
        st.rerun(scope="app")

    wait()


def _stop() -> None:
    """Nothing of this lane is wanted any more: the job ends at its next check."""
    forget(Key.DISTRIBUTION_LEARNING)
    get_background().drop(session_lane("distribution"), unless="")


def _take(chosen: Chosen, job: "Future[tuple[MethodSettings, Learned]]") -> None:
    try:
        settings, result = job.result()
    except Cancelled:
        return  # the sliders stay as they are
    except InputError as error:
        st.session_state.setdefault(Key.DISTRIBUTION_LEARNED, {})[chosen.key] = (str(error),)
    else:
        sentence = f"Learned from {result.evaluations} lengthscales: log evidence {signed(result.evidence, 1)}."
        st.session_state.setdefault(Key.DISTRIBUTION_LEARNED, {})[chosen.key] = (sentence, *result.warnings)
        values = {"scale": settings.lengthscale, "size": settings.variance, "noise": settings.noise}
        sliders = on_sliders({each.key: values[name] for name, each in in_units(chosen).items()})
        set_on_next_run(sliders | ModelSettings.on_controls(noise_by="given"))
