"""What page Likelihood-free inference says: of the method that is shown, of every method in numbers, the equation."""

import math
from collections.abc import Callable

import numpy as np
import streamlit as st

from deconditioning.studies.likelihood_free.guards import MANY, NARROW
from deconditioning.studies.likelihood_free.study import Inference
from deconditioning.wording import number, signed
from pages.kit.controls.essential import aside
from pages.kit.layout.escaping import plain, sentence_of
from pages.kit.layout.page_layout import explain, lead
from pages.kit.layout.score_table import score_table
from pages.kit.runs.stored_results import stored
from pages.likelihood_free import picture
from pages.likelihood_free.checks import LIMITS

#: An interval so many times the exact one is explained.
WIDE = 1.5
TITLES = picture.NAMES | {"exact": "Exact posterior"}
#: Methods whose title needs an article in a sentence.
_WITH_ARTICLE = ("dme", "cme", "cme_evidence", "mdn")


def _decimals(width: float) -> Callable[[float], str]:
    """How numbers of an interval are written: all with the decimals that give its width two digits."""
    places = max(0, 1 - math.floor(math.log10(width))) if width > 0 else 3
    return lambda value: signed(value, places)


def summary(inference: Inference, method: str) -> float:
    """What is simulated, observed and inferred, and what the shown method says of the first parameter.

    Returns the ratio of its interval's width to the exact one, 1 where no exact one is known.
    """
    name = picture.variables(inference)[0]
    lines, ratio = picture.intervals(inference, 0), 1.0
    low, mean, high = lines[method]
    title = TITLES[method]
    who = f"The {title[0].lower()}{title[1:]}" if method in _WITH_ARTICLE else title
    short = _decimals(high - low)
    words, more = f"{who} estimates {plain(name)} as **{short(mean)}**; its 95 % interval", []
    between = f"{short(low)} to {short(high)}"
    if "exact" in lines:
        wide = high - low
        low, mean, high = lines["exact"]
        ratio = wide / (high - low)
        widths = {name: (above - below) / (high - low) for name, (below, _, above) in lines.items() if name != "exact"}
        nearest = min(widths, key=lambda name: abs(np.log(max(widths[name], 1e-12))))
        words += f", {between}, is {number(ratio, 2)} times as wide as the exact one"
        more.append(f"Exact posterior: mean {short(mean)}, 95 % interval {short(low)} to {short(high)}.")
        if nearest != method:
            more.append(
                f"The interval of {_inside(nearest)} is closest in width: {number(widths[nearest], 2)} times the exact "
                "one."
            )
    else:
        words += f" is {between}"
        if (held := _held(inference, method)) is not None:
            words += f". The intervals of all parameters contain {held} true values"
    st.markdown(_situation(inference))
    lead(_minus(f"{words}."), help=_minus(" ".join(more)) or None)
    for other, sentence in inference.refused.items():
        st.warning(f"{TITLES[other]}: {sentence_of(sentence)}")
    return ratio


def _minus(text: str) -> str:
    """The text with true minus signs before its numbers."""
    return text.replace(" -", " −").replace("**-", "**−")


def _inside(method: str) -> str:
    """What a method is called inside a sentence."""
    title = TITLES[method]
    lower = title if title[1].isupper() or title[1].isdigit() else f"{title[0].lower()}{title[1:]}"
    return f"the {lower}" if method in _WITH_ARTICLE else lower


def _held(inference: Inference, method: str) -> str | None:
    """How many true values the method's intervals contain, as "3 of the 4"; None where the truth is not known."""
    if inference.problem.truth is None:
        return None
    truth = np.log(inference.problem.truth) if picture.in_logs(inference) else inference.problem.truth
    spans = [picture.intervals(inference, j)[method] for j in range(len(truth))]
    return (
        f"{sum(low <= value <= high for value, (low, _, high) in zip(truth, spans, strict=True))} of the {len(truth)}"
    )


def _situation(inference: Inference) -> str:
    """What is simulated, observed and inferred."""
    problem, runs = inference.problem, f"{len(inference.simulations.parameters):,}"
    count = len(problem.prior.names)
    sentences = {
        "exponential-gamma": (
            "the mean of 500 exponential waiting times, such as minutes until a bus comes, at "
            f"{runs} values of their rate θ",
            f"a mean of {number(np.exp(float(problem.observed[0])), 4)} minutes", "the rate θ, buses per minute",
        ),
        "gaussian": (f"{count} noisy numbers, at {runs} values of their means θ", f"{count} numbers", "their means θ"),
        "lotka-volterra": (
            f"numbers of predators and prey over time, at {runs} sets of four rates", "one such history",
            "the four rates",
        ),
    }  # fmt: skip
    table = f"the {runs} rows of the table", "its observed row", plain(", ".join(problem.prior.names))
    simulated, observed, inferred = sentences.get(problem.name, table)
    return f"**Simulated**: {simulated}. **Observed**: {observed}. **Inferred**: {inferred}."


def remarks(inference: Inference, method: str, ratio: float) -> None:
    """The simulations, why an interval is ``ratio`` times the exact one, and what weights sum to at the level All."""
    answer = inference.answers[method]
    st.caption(
        "The histogram shows herded samples: they reproduce averages of smooth functions, not the density itself, and "
        "may end abruptly where the density fades out. Read widths off the intervals."
    )
    single = len(picture.variables(inference)) == 1
    wide = ratio > WIDE and method in ("dme", "kbr") and single
    place = st.container()
    if single:
        beside = wide or inference.simulations.discarded
        left, place = st.columns([3, 2], vertical_alignment="center") if beside else (st.container(), place)
        with left:
            picture.simulations(inference)
    with place:
        if wide:
            st.markdown(_why_wide(inference, ratio))
        if inference.simulations.discarded:
            st.markdown(
                f"{inference.simulations.discarded} runs reached 10,000 events; they were discarded and repeated."
            )
        negative = f", the negative ones to −{number(answer.negative, 2)}." if answer.negative else "."
        aside(f"The weights sum to {answer.total:.2f}{negative}")


def _why_wide(inference: Inference, ratio: float) -> str:
    """Why an interval is wider than the exact one: how far simulations lie apart, how wide ℓ is, what stored runs with
    more herding and with a narrower k say."""
    exact, u = inference.exact, inference.simulations.parameters[:, 0]
    assert exact is not None
    low, high = inference.problem.prior.working(exact.interval[0][:, None])[:, 0]
    inside = int(((u >= low) & (u <= high)).sum())
    length = inference.settings.lengthscales[0] / ((high - low) / (2 * 1.96))
    rows = [row for row in stored(LIMITS)["results"] if row["model"] == "dme" and row["scores"]]
    narrow, many = ([row["scores"]["width"] for row in rows if row["way"] == way] for way in (NARROW, MANY))
    return (
        f"**Why {number(ratio, 2)} times the exact width**: of the {len(u):,} simulations only {inside} lie inside the "
        f"exact interval, and the kernel ℓ that bridges the gaps between them is {length:.1f} times the exact sd "
        f"wide. In the "
        "paper, too, most methods give wider intervals than the exact one with so few simulations. More samples "
        f"(kernel herding) do not help (median {np.median(many):.1f} with 1,000). A k half as wide gives a median of "
        f"{np.median(narrow):.1f}, but {max(narrow):.1f} on the worst of {len(narrow)} runs (preset *A narrower "
        "kernel*). More simulations help."
    )


def table(inference: Inference) -> None:
    """Means and intervals of every method, a table a parameter."""
    exact = inference.exact
    names = picture.variables(inference)
    places = st.columns(2) if len(names) > 1 else [st.container()]
    for index, name in enumerate(names):
        rows = {}
        for method, (low, mean, high) in picture.intervals(inference, index).items():
            answer = inference.answers.get(method)
            rows[method] = {
                "mean": mean, "from": low, "to": high,
                "width / exact": (high - low) / float(np.diff(exact.interval[index])[0]) if exact else None,
                "sum of weights": answer.total if answer else None, "ms": 1000 * answer.seconds if answer else None,
            }  # fmt: skip
        columns = ("mean", "from", "to", "width / exact", "sum of weights", "ms")
        with places[index % len(places)]:
            score_table(rows, columns=columns, names=TITLES, caption=f"{name}: mean and central 95 % interval")


def equation(inference: Inference, gap: float) -> None:
    """The rule with today's numbers, and the ``gap`` to theorem 6.1's condition."""
    settings, data = inference.settings, inference.data
    scales = ", ".join(number(value) for value in settings.lengthscales)
    n, m = len(data.u), len(data.prior)
    explain(
        "The simulations show how a parameter becomes data, and the draws of the prior show which parameters are "
        "plausible. The deconditional operator, which undoes the average over simulations, turns the observation into "
        "a weight for each draw; kernel herding picks samples that stand for these weights.",
        rf"""
$$\bar\mu(\theta^\star) = \tilde L^{{\star\top}} A^\top\left[KAA^\top + m\delta I\right]^{{-1}} k(\mathbf y),\qquad
A = (L + n\lambda I)^{{-1}}\tilde L,\qquad n\lambda = {number(n * settings.regularisation)},\quad
m\delta = {number(m * settings.second_regularisation)}$$

$$\hat\theta_{{s}} = \arg\max_{{\theta^\star}}\ \bar\mu(\theta^\star) - \tfrac1s\textstyle\sum_{{r<s}}
\ell'(\theta^\star, \hat\theta_r),\qquad
\bar q = \tfrac1m\textstyle\sum_{{j}}\sum_i A_{{ij}}\,\kappa_\varepsilon(\mathbf y, \mathbf x_i)$$

$n = {n}$ simulations, $m = {m}$ draws of the prior, restricted to the simulations' support. Lengthscales of $\ell$:
{scales}; of $k$: {number(settings.kernel_scale)} and $\varepsilon = {number(settings.epsilon)}$ in standard deviations
of the summaries. The weights of $\bar\mu$ are normalised before herding, which measures distances by $\ell'$, with
$4^{{-1/p}}$ of the lengthscales of $\ell$ for $p$ parameters. Kernel Bayes' rule uses the same kernels with
$\varepsilon = \lambda$ and $\delta^2$; the conditional mean weights the simulations by prior over design; ABC keeps the
$\lceil\sqrt n\rceil$ nearest.

The rule is exactly Bayes' rule if the parameters determine the summaries (theorem 6.1). The distance from that case,
$0$ if they do, is

$$\lVert C_{{X|\Theta}}C_{{\Theta|X}}C_{{XX}} - C_{{XX}}\rVert\,/\,\lVert C_{{XX}}\rVert = {number(gap, 2)}$$

With $\tilde\theta = \theta$ and $\lambda \to 0$ it becomes the conditional mean (theorem 6.2), and its evidence that of
a Gaussian process on the summaries with the features of $\ell$ as targets: *Conditional mean by its own evidence* uses
the $k$ and $\lambda$ that maximise it.
""",
        "Hsu and Ramos 2019, §8.3 and Algorithm 8.1; Chen, Welling and Smola 2010; Fukumizu et al. 2013",
    )
