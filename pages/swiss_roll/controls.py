"""Controls of page Swiss roll: how the roll is cut, which model, and its hyperparameters on sliders."""

from dataclasses import replace
from typing import Any

import streamlit as st

from deconditioning.datasets.swiss_roll import INPUTS, MATCHINGS, MEDIATORS, RollSpec
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.catalogue import GENERAL
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spec import Inducing, ModelSpec
from deconditioning.studies.swiss_roll.study import RollSettings
from pages.kit.controls import widgets
from pages.kit.controls.essential import group
from pages.kit.session import Key
from pages.kit.state import log_slider, on_sliders

#: Where the sliders stand on opening, near what learning finds: λ, σ², variance of k, its lengthscales, that of ℓ.
START: dict[str, tuple[float, float, float, tuple[float, float, float], float]] = {
    "direct": (1e-5, 3e-3, 3.5, (1.9, 2.9, 1.9), 0.1),
    "indirect": (1e-3, 7e-2, 1.4, (1.1, 1.4, 0.95), 0.5),
}


def choose_roll() -> RollSpec:
    """Points, slices, noise, seed and matching; raises ``InputError`` for what cannot be cut."""
    matching = widgets.segmented_control(
        "Matching", list(MATCHINGS), default="direct", key="r-match",
        help=(
            "Direct: every slice has its points and its mean. Indirect: half of the slices keep their points, the "
            "other half their means; only the height connects them."
        ),
    )  # fmt: skip
    points = widgets.slider("Points on the roll", 200, 5000, 2000, 100, key="r-points")
    bags = widgets.slider("Slices", 2, 100, 50, 1, key="r-bags")
    noise = widgets.slider("Noise of a slice mean (sd)", 0.0, 1.0, 0.05, 0.05, key="r-noise")
    seed = widgets.number_input("Seed", 0, 9999, 0, key="r-seed")
    return RollSpec(int(points), int(bags), float(noise), matching or "direct", int(seed))


def choose_model(roll: RollSpec) -> tuple[NamedModel, Inducing]:
    """Which model, and its inducing points where it has any."""
    name = widgets.selectbox(
        "Model", list(GENERAL), index=list(GENERAL).index("cmp"), key="r-model",
        format_func=lambda option: GENERAL[option].title,
    )  # fmt: skip
    model, inducing = GENERAL[name], Inducing()
    if model.uses("inducing"):
        asked = widgets.number_input("Inducing points", 5, 1000, 200, step=25, key="r-induce")
        inducing = Inducing(int(asked), seed=roll.seed)
    _start_anew(roll.matching)
    return model, inducing


def hyperparameters(roll: RollSpec, model: NamedModel, inducing: Inducing) -> ModelSpec:
    """The model at the sliders' values."""
    lam, noise, variance, lengths, ell = START[roll.matching]
    if model.uses("regularisation"):
        lam = log_slider("λ", "r-lam", 1e-9, 1.0, lam, help="Inside Nλ (CMP) or Bλ (shrinkage CMP).")
        ell = log_slider("Lengthscale of ℓ (height)", "r-ell", 2e-2, 5.0, ell)
    spread = log_slider("Variance of ℓ", "r-ls", 1e-3, 1e3, 1.0) if model.uses("mediator_variance") else 1.0
    scales = tuple(
        log_slider(f"Lengthscale of k: {column}", f"r-k{index}", 5e-2, 50.0, lengths[index])
        for index, column in enumerate(INPUTS)
    )
    variance = log_slider("Variance of k", "r-s", 1e-2, 100.0, variance)
    noise = log_slider("σ²", "r-n", 1e-5, 10.0, noise, help="Noise variance of a slice's mean.")
    return ModelSpec(
        model,
        KernelSpec((Term((Factor("rbf", INPUTS, scales),), variance),)),
        KernelSpec((Term((Factor("rbf", MEDIATORS, (ell,)),), spread),)),
        lam,
        noise,
        inducing=inducing,
    )


def _start_anew(matching: str) -> None:
    """Another matching starts from its own values; a link that is being opened keeps what it asks for."""
    before = st.session_state.get(Key.ROLL_MATCHING)
    if before is not None and before != matching:
        lam, noise, variance, lengths, ell = START[matching]
        values = {"r-lam": lam, "r-n": noise, "r-s": variance, "r-ell": ell}
        values |= {f"r-k{index}": length for index, length in enumerate(lengths)}
        st.session_state.update(on_sliders(values))
    st.session_state[Key.ROLL_MATCHING] = matching


def slider_values(spec: ModelSpec) -> dict[str, float]:
    """What the sliders must hold to stand for ``spec``; give it to ``set_values``."""
    term = spec.kernel.terms[0]
    values = {"r-n": spec.noise, "r-s": term.scale}
    values |= {f"r-k{index}": length for index, length in enumerate(term.factors[0].lengthscales)}
    if spec.model.uses("mediator_kernel") and spec.mediator_kernel is not None:
        values |= {"r-lam": spec.regularisation, "r-ell": spec.mediator_kernel.terms[0].factors[0].lengthscales[0]}
    if spec.model.uses("mediator_variance") and spec.mediator_kernel is not None:
        values["r-ls"] = spec.mediator_kernel.terms[0].scale
    return on_sliders(values)


def learning(roll: RollSpec, spec: ModelSpec) -> RollSettings:
    """How to learn, starting from the sliders' values: controls in an expander."""
    with group("How to learn"):
        stage = widgets.selectbox(
            "Stages", ["joint", "leave_one_bag_out", "target_gp"], key="r-stage",
            format_func=lambda option: {
                "joint": "All jointly, by the evidence",
                "leave_one_bag_out": "λ and ℓ by leaving slices out, then k",
                "target_gp": "ℓ from the GP of means on heights, then k",
            }[option],
        )  # fmt: skip
        method = widgets.segmented_control("Optimiser", ["lbfgs", "adam"], default="lbfgs", key="r-opt")
        evidence: str | None = "collapsed"
        if spec.model.uses("inducing"):
            evidence = widgets.segmented_control(
                "Bound", ["collapsed", "stochastic"], default="collapsed", key="r-bound",
                help="Collapsed: the optimal q(u) in closed form. Stochastic: minibatches of the ELBO by Adam.",
            )  # fmt: skip
        restarts = widgets.number_input("Starts", 1, 10, 3, key="r-starts")
        steps = widgets.number_input("Steps per start", 5, 300, 60, key="r-steps")
    start: dict[str, Any] = {
        "kernel": spec.kernel.to_dict(),
        "mediator_kernel": spec.mediator_kernel.to_dict() if spec.mediator_kernel else None,
    }
    return replace(
        RollSettings(model=spec.model.name, seed=roll.seed, **start),
        regularisation=spec.regularisation,
        noise=spec.noise,
        inducing=spec.inducing.count,
        stage_one=stage,
        method=method or "lbfgs",
        bound=evidence or "collapsed",
        restarts=int(restarts),
        steps=int(steps),
    )
