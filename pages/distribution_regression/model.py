"""Kernel, noise, rank and densities on sliders; learning them by the evidence."""

import hashlib
from concurrent.futures import Future
from dataclasses import dataclass

import streamlit as st

from deconditioning.distribution_regression.density import BANDWIDTHS
from deconditioning.distribution_regression.spectrum import Learned
from deconditioning.errors import Cancelled, InputError
from deconditioning.figures.colours import model_name
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.studies.distribution_regression.compare import learn_settings
from deconditioning.studies.distribution_regression.study import KERNELS, MethodSettings
from deconditioning.wording import signed
from pages.distribution_regression.data import Chosen, start_values
from pages.kit.chart.background import get_background, session_lane
from pages.kit.controls import widgets
from pages.kit.controls.essential import group
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.layout.escaping import plain, sentence_of
from pages.kit.session import Key
from pages.kit.state import forget, log_slider, on_sliders

NOISES = {"given": "given", "learned": "learned", "gibbs": "Gibbs"}
#: What is drawn beside GPDR on opening.
BESIDE = ("kde", "bdr10")
RULES = {"silverman": "Silverman, 1.06 sd", "silverman_0.9": "Silverman, 0.9", "scott": "Scott"}


@dataclass(frozen=True)
class Model:
    """The settings of all methods, whether covariates count, and which methods are ``drawn`` beside GPDR."""

    settings: MethodSettings
    use_covariates: bool
    drawn: tuple[str, ...] = ()


def choose_model(chosen: Chosen) -> Model:
    """The model at the sliders' values; the sliders' ends follow the data's units."""
    start = start_values(chosen)
    family = widgets.selectbox("Kernel K", KERNELS, key="d-family", format_func=lambda name: FAMILIES[name].title)
    kind = _kind(chosen)
    scale = _slider("Lengthscale", f"d-{kind}-scale", start["scale"], 1.5)
    size = _slider("Variance of f", f"d-{kind}-size", start["size"], 3.0)
    noise_by = widgets.segmented_control(
        "Noise σ²", list(NOISES), default="given", key="d-noise-by",
        format_func=NOISES.__getitem__,
        help=(
            "Learned: the value with the highest evidence for this kernel. Gibbs: integrated out with an inverse-gamma "
            "prior IG(1, var y)."
        ),
    ) or "given"  # fmt: skip
    noise = start["noise"]
    if noise_by == "given":
        noise = _slider("σ²", f"d-{kind}-noise", start["noise"], 2.5)
    low = widgets.toggle("Low rank (15)", False, key="d-low")
    rank = int(widgets.slider("k, eigenvectors", 1, 40, 10, key="d-rank")) if low else None
    drawn = widgets.multiselect(
        "Shown with GPDR", chosen.prepared.methods[1:], [m for m in BESIDE if m in chosen.prepared.methods],
        key="d-beside", format_func=model_name,
    )  # fmt: skip
    with group("Densities, embeddings, covariates"):
        rule = widgets.selectbox(
            "Bandwidth of the densities", list(BANDWIDTHS), key="d-rule", format_func=RULES.__getitem__
        )
        reflect = widgets.toggle("Reflect densities at the ends", False, key="d-reflect")
        eta = _embedding_scale()
        intercept = widgets.toggle("Intercept", chosen.spec is None, key=f"d-{kind}-intercept")
        names = chosen.prepared.subjects.covariate_names
        use = bool(names) and widgets.toggle(f"Covariates: {plain(', '.join(names))}", True, key="d-cov")
    settings = MethodSettings(
        str(family), scale, size, noise, str(noise_by), rank, str(rule), bool(reflect), bool(intercept), eta
    )  # fmt: skip
    return Model(settings, bool(use), tuple(drawn))


def _embedding_scale() -> float | None:
    """η of uncertain embeddings: None leaves it to their evidence."""
    given = widgets.toggle(
        "Give the embeddings' scale η", False, key="d-eta-given",
        help=(
            "How different the embeddings of subjects may be, for BDR. Off: the η with the highest evidence given the "
            "measurements."
        ),
    )  # fmt: skip
    return log_slider("η", "d-eta", 1e-3, 10.0, 1.0) if given else None


def _kind(chosen: Chosen) -> str:
    """Simulations share their sliders; every other data set has its own, in its own units."""
    return "s" if chosen.spec is not None else hashlib.blake2b(chosen.key.encode(), digest_size=3).hexdigest()


def _slider(label: str, key: str, middle: float, decades: float) -> float:
    """A log slider around a value of the data's own size."""
    low, high = (float(f"{middle * 10**way:.3g}") for way in (-decades, decades))
    return log_slider(label, key, low, high, float(f"{middle:.3g}"))


def learning(chosen: Chosen, model: Model) -> None:
    """The button that learns kernel and noise, in the background; the sliders follow."""
    asked = st.session_state.get(Key.DISTRIBUTION_LEARNING)
    key = f"distribution {chosen.key} {model.settings.family} {model.settings.intercept} {model.use_covariates}"
    if st.button("Learn kernel and noise", key="d-learn", width="stretch", disabled=asked == key):
        st.session_state[Key.DISTRIBUTION_LEARNING] = key
        st.rerun()
    if asked == key:
        _await(chosen, model, key)
    for word in st.session_state.get(Key.DISTRIBUTION_LEARNED, {}).get(chosen.key, ()):
        st.caption(sentence_of(word))


def _job(chosen: Chosen, model: Model, key: str) -> "Future[tuple[MethodSettings, Learned]]":
    return get_background().request(
        key, session_lane("distribution"), lambda check: learn_settings(chosen.prepared, model.settings, check)
    )


def _await(chosen: Chosen, model: Model, key: str) -> None:
    @st.fragment(run_every=0.4)
    def wait() -> None:
        job = _job(chosen, model, key)
        if not job.done():
            st.caption("Learning (each lengthscale needs one eigendecomposition) …")
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
    kind = _kind(chosen)
    try:
        settings, found = job.result()
    except Cancelled:
        pass
    except InputError as error:
        st.session_state.setdefault(Key.DISTRIBUTION_LEARNED, {})[chosen.key] = (str(error),)
    else:
        said = f"Learned from {found.evaluations} lengthscales: log evidence {signed(found.evidence, 1)}."
        st.session_state.setdefault(Key.DISTRIBUTION_LEARNED, {})[chosen.key] = (said, *found.warnings)
        values = {"scale": settings.lengthscale, "size": settings.variance, "noise": settings.noise}
        sliders = on_sliders({f"d-{kind}-{name}": value for name, value in values.items()})
        set_on_next_run(sliders | {"d-noise-by": "given"})
