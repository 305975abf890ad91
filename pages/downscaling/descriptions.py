"""Sentences and the equation of page Downscaling, with today's numbers in them."""

from collections.abc import Callable

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import heading
from deconditioning.figures.printed.coverage import TITLE
from deconditioning.kernels.spec import Factor
from deconditioning.metrics.intervals import Trust
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import columns_in_words, number, signed
from pages.downscaling.distribution.view import View
from pages.downscaling.essentials import as_variance, reader_of_scale
from pages.downscaling.footprints.noises import noises_of
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import explain
from pages.kit.record import page_record

_KAPPA = (
    "$\\kappa(x)$ is the local scale: leave-one-out residuals of the cells are modelled as $N(0, \\kappa_j^2)$ with "
    "$\\log\\kappa^2$ a Gaussian process of location and of the local roughness of the covariates (Laplace's "
    "approximation)."
)
_PSEUDO = (
    "The targets $\\tilde z_j$ are pseudo-targets, $E[g(y_j)]$ of a Gaussian process $g$ of the mediators that is "
    "learned from the coarse values; $C$ is their covariance, propagated by the law of total variance, with "
    "$a(x) = S^{-1} W^\\top c(x)$."
)
#: The longest name of a covariate that a sentence uses.
_LONGEST = 40
PARTS = {0.25: "A quarter of", 0.5: "Half of", 0.75: "Three quarters of"}


def first_sentence() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Places for the page's first sentence and, beside it, for the control of what is hidden from the model."""
    sentence, hidden = st.columns([9, 4], gap="medium", vertical_alignment="top")
    return sentence, hidden


def situation(problem: DownscalingProblem, spec: ModelSpec) -> None:
    """What is given, what is hidden and what is asked."""
    bags, targets = problem.data.bags.count, len(problem.data.targets)
    what = plain(", ".join(_called(problem, name) for name in problem.spec.covariates)) or "coordinates only"
    stations = f"; and {plain(sources_in_words(problem))}" if problem.sources else ""
    offset = " Stations and other sources may read too high or too low by an offset, which is learned." * bool(stations)
    if problem.matched:
        how = f"{targets} coarse values, each the mean over {problem.pixels_of_a_cell}{stations}"
    else:
        through = plain(", ".join(problem.mediator_columns).replace("_", " "))
        how = f"{targets} coarse values and {bags} other cells with covariates, matched only through {through}"
        how += stations
    pixels = f"{len(problem.pixel):,}"
    hidden = f"{hidden_cells(problem)} " if problem.drawn.any() else ""  # what is done by hand stands above the maps
    st.markdown(
        f"**{plain(heading(problem))}.** {_invented(problem)}{hidden}Data: {how}. From these and {what}, "
        f"{_estimator(spec)} estimates {pixels} pixels.{offset}{_scale(problem)}"
    )


def sources_in_words(problem: DownscalingProblem) -> str:
    """How many values of which sources join the cells."""
    return " and ".join(
        f"{len(each.row)} {'stations' if each.stations else f'values of {each.measured.source}'}"
        for each in problem.sources
    )


def _best(problem: DownscalingProblem) -> str:
    """What the posterior mean is, and of what."""
    also = f", {plain(sources_in_words(problem))}" if problem.sources else ""
    return f"The posterior mean is the best estimate of the fine field given coarse values{also} and covariates."


def _invented(problem: DownscalingProblem) -> str:
    """That places on the map of a synthetic field mean nothing, where they could seem to."""
    return "The landscape is invented. " if problem.source.startswith("synthetic") else ""


def _called(problem: DownscalingProblem, name: str) -> str:
    """A covariate by its long name where that is short, else by its name."""
    known = problem.covariates.get(name)
    words = "" if known is None else known.long_name
    if not words or len(words) > _LONGEST:
        words = name
    return (words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}").replace("_", " ")


def _estimator(spec: ModelSpec) -> str:
    """The model, or the average of several with their weights."""
    parts = sorted(spec.components, key=lambda part: -part[0])
    if len(parts) == 1:
        return f"the {spec.model.phrase}"
    named = [f"the {each.model.phrase} ({100 * weight:.0f} %)" for weight, each in parts]
    return f"an average of {', '.join(named[:-1])} and {named[-1]}"


def _scale(problem: DownscalingProblem) -> str:
    """On which scale values are modelled, where that is not their own."""
    return "" if problem.warp is None else f" {problem.warp.sentence}"


def hidden_cells(problem: DownscalingProblem) -> str:
    """How many cells are hidden from the model, and what for."""
    known = int(np.isfinite(problem.coarse_truth).sum())
    by_hand = problem.spec.hide or problem.spec.reveal
    share = f"{problem.hidden} of" if by_hand else PARTS.get(problem.spec.withhold, f"{problem.hidden} of")
    if problem.matched:
        verb = "is" if share == "1 of" else "are"
        return f"{share} the {known} coarse cells {verb} hidden from the model to test it."
    return f"{share} the {known} coarse cells keep covariates only, the others keep targets only."


def what_it_shows(problem: DownscalingProblem, spec: ModelSpec, view: View, held: Trust | None) -> None:
    """The sentence beside the maps, and the equation with the page's own numbers."""
    bags, targets = problem.data.bags.count, len(problem.data.targets)
    points = float(problem.data.bags.sizes.sum())
    counts = [len(each.row) for each in problem.sources]
    model = spec.model
    weights = model.formula
    if model.ridge:
        times = {"N": points, "B": bags}[model.ridge]
        weights += rf",\quad {model.ridge}\lambda = {number(spec.regularisation * times)}"
    kappa, notes = (r"\kappa(x)^2\,", f"{_KAPPA} ") if spec.local_scale else ("", "")
    carried = ""
    if not model.reads(problem.data):
        carried, notes = r" + a(x)^\top C\,a(x)", f"{notes}{_PSEUDO} "
    evidence = (
        f" The {model.quantity} of the {targets + sum(counts)} targets is {signed(view.evidence, 2)}."
        if view.evidence is not None and page_record().shows_all
        else ""
    )
    explain(
        f"{_best(problem)} {_probably(problem, held)}{evidence}",
        rf"""
$$\tilde z = W^\top \bar f + e,\quad e \sim N(0, \Sigma),\qquad
\Sigma = \sigma^2 I + \varsigma^2 W^\top \mathrm{{diag}}\big(\textstyle\sum_i w_i^2\big) W{model.unknown_formula}$$

$$\mathrm{{mean}}(x) = c(x)^\top W S^{{-1}}\tilde z,\quad
\mathrm{{var}}(x) = k(x,x) - c(x)^\top W S^{{-1}} W^\top c(x){carried},\quad S = W^\top \bar K W + \Sigma,\quad
\mathrm{{sd}}(x) = \sqrt{{{kappa}\mathrm{{var}}(x) + \varsigma^2}}$$

$${weights},\qquad \sigma^2 = {number(spec.noise)},\quad \varsigma^2 = {number(spec.point_noise)},\quad
B = {bags},\quad M = {" + ".join(map(str, [targets, *counts]))}{f" = {targets + sum(counts)}" if counts else ""}$$

{_further(problem, spec)}

{model.approximation(len(spec.inducing.locations) or spec.inducing.count)}

{notes}$\bar f_j = \sum_i w_i f(x_i)$ is the area-weighted mean of $f$ over cell $j$, $\bar K$ its covariance and
$c_j(x)$ its covariance with $f(x)$: {_kernel(problem, spec)}. {_standardised(problem)}
""",
        f"{model.source}; high-resolution noise: Chau et al. 2021, App. E.2",
    )


def _further(problem: DownscalingProblem, spec: ModelSpec) -> str:
    """How stations and other further sources join the cells: their targets, offsets and noises; empty without any."""
    if not problem.sources:
        return ""
    taus = ",\\quad ".join(
        rf"\tau^2 = {number(tau)}" + (rf"\ \text{{({plain(name)})}}" if len(problem.sources) > 1 else "")
        for name, tau in zip(problem.names_of_sources, noises_of(problem, spec), strict=True)
    )
    names = ", then ".join(
        f"{len(each.row)} {'stations' if each.stations else f'values of {plain(name)}'}"
        for each, name in zip(problem.sources, problem.names_of_sources, strict=True)
    )
    altitude = (
        " and an effect of their altitude above the pixel"
        if any("altitude" in each.effects for each in problem.sources)
        else ""
    )
    return rf"""
$$\tilde z_i = \bar f_i + (H b)_i + e_i,\quad b \sim N(0, \operatorname{{diag}} v),\quad
\operatorname{{var}} e_i = \varsigma^2 \textstyle\sum w^2 + \tau^2 + \epsilon_i^2,\qquad {taus}$$

The $M$ targets are {len(problem.data.targets)} cells, then {names}. For these, $W$ continues with $I$, $\bar f_i$ is
$f$ at a station's pixel or the mean of $f$ over a footprint, $H b$ is an offset of each source{altitude}, $\tau^2$ the
variance by which a value differs from $\bar f_i$, and $\epsilon_i$ the stated sd of its error;
$H \operatorname{{diag}}(v) H^\top$ is added to $\Sigma$.
"""


def _probably(problem: DownscalingProblem, held: Trust | None) -> str:
    """Where the true value of a pixel is, with the share where that is known to be so, unless the truth shows that the
    intervals are too narrow to say so."""
    if held is not None and held.verdict != "too narrow":
        return f"The true value of a pixel is inside its 95 % interval for {100 * held.held[-1]:.0f} % of the area."
    verb, doubt = "probably lies", "."
    if held is not None and held.verdict == "too narrow":
        verb, doubt = "should lie", f", but the intervals here are too narrow; see *{TITLE}*."
    if problem.warp is None:
        return f"The true value of a pixel {verb} within two standard deviations of it{doubt}"
    return f"The true value of a pixel {verb} in its 95 % interval, which is not symmetric around the mean{doubt}"


def _standardised(problem: DownscalingProblem) -> str:
    """How targets are standardised, and behind a warp how maps are converted back."""
    scale, units = problem.target_scale, plain(problem.units)
    if problem.warp is None:
        return (
            f"Targets are standardised with mean {number(scale.mean, 5)} and sd {number(scale.sd, 4)} {units}, taken "
            "from visible cells only."
        )
    return (
        f"The model uses {plain(problem.warp.formula)} =: $g(v)$ of the values, standardised with mean "
        f"{number(scale.mean, 5)} and sd {number(scale.sd, 4)}, taken from visible cells only. The quantiles of a "
        "pixel are $g^{-1}(m + \\delta + s\\,\\Phi^{-1}(q))$ with the mean $m$ and the sd $s$ of $g(v)$; the shift "
        "$\\delta$ of a cell is such that the means of its pixels average to its value."
    )


def _kernel(problem: DownscalingProblem, spec: ModelSpec) -> str:
    terms, variance = [], as_variance(problem)
    for term in spec.kernel.terms:
        factors = " × ".join(_factor(problem, factor) for factor in term.factors)
        straight = any(factor.kind.slopes_for_scales for factor in term.factors)
        terms.append(f"{_beside(term.scale, None if straight else variance)} × {factors}")
    return "k = " + " + ".join(terms)


def _factor(problem: DownscalingProblem, factor: Factor) -> str:
    kind = factor.kind
    if kind.without_scales:
        return kind.title
    numbers = [1 / v if kind.slopes_for_scales else v for v in factor.lengthscales]
    scales = ", ".join(_beside(v, reader_of_scale(problem, factor, j)) for j, v in enumerate(numbers))
    further = "".join(f", {each.symbol} {number(factor.numbers[each.name])}" for each in kind.parameters)
    what = "sd of the slope" if kind.slopes_for_scales else "lengthscale"
    return f"{kind.title} on {plain(columns_in_words(factor.columns))} ({what} {scales}{further})"


def _beside(value: float, reads: Callable[[float], str] | None) -> str:
    """A hyperparameter in standardised units and, where it reads otherwise there, as its slider has it."""
    words = "" if reads is None else reads(value)
    return f"{number(value)} = {plain(words)}" if any(map(str.isalpha, words)) else number(value)
