"""The view Estimates: bags, both embeddings with the truth, their difference, and what they cost."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st
import torch

from deconditioning.errors import Cancelled
from deconditioning.figures.studies.embeddings import bags_plot, cost_plot, embedding_map, regressions_plot, slice_plot
from deconditioning.studies.conditional_means.settings import OWN, EstimateSettings, SliceSettings
from deconditioning.studies.conditional_means.study import (
    MOST_DENSE,
    BagLayout,
    BagSample,
    Comparison,
    compare,
    embeddings,
    sample_bags,
    true_embedding,
)
from deconditioning.studies.conditional_means.times import Cost, cheap_costs, dense_cost, extrapolated_cost, growth
from deconditioning.wording import duration, signed
from pages.kit.chart.background import get_background, session_lane
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.settings import controls
from pages.kit.layout.page_layout import explain
from pages.kit.layout.score_table import score_table
from pages.kit.layout.theme import is_dark
from pages.kit.runs.stored_results import stored
from pages.kit.tools.study_sweep import OnPage, offer

STORED = "conditional_means.json"
#: Up to here the N×N estimator is timed at once; beyond, on request.
_AT_ONCE = 1000


@st.cache_data(show_spinner=False, max_entries=24)
def _compared(layout: BagLayout) -> Comparison:
    return compare(layout)


@st.cache_data(show_spinner=False, max_entries=8)
def _sampled(layout: BagLayout) -> BagSample:
    return sample_bags(layout)


def choose() -> BagLayout:
    """Bags, points, sizes, λ, lengthscales and seed."""
    with st.sidebar:
        chosen = controls(EstimateSettings).to_dict()
    del chosen["layout"]
    return BagLayout(**chosen)


def show() -> None:
    """The whole view."""
    layout, sample, result = picture_first(estimated)
    _scores(result)
    _equation(layout, sample)
    costs(layout)
    offer(OnPage("conditional-means", others=_of_layout))


def _of_layout(held: Mapping[str, Any]) -> dict[str, Any]:
    """Bags and points of a layout by its name; those of one's own have controls."""
    chosen = EstimateSettings(layout=held[EstimateSettings.layout.key] or EstimateSettings.layout.default)
    return {} if chosen.layout == OWN else {"bags": chosen.bags, "per_bag": chosen.per_bag}


def estimated() -> tuple[BagLayout, BagSample, Comparison]:
    """The controls, and both embeddings at their values."""
    layout = choose()
    result, sample = _compared(layout), _sampled(layout)
    said, why = verdict(layout, sample, result)
    st.markdown(said)
    with st.sidebar:
        at = controls(SliceSettings).y
    dark = is_dark()
    first, second, third = st.columns([3, 4, 4])
    with first:
        points, label = sample.bags.inputs[:, 0].numpy(), sample.mediators[sample.bags.bag, 0].numpy()
        plotly_live(bags_plot(points, label, sample.bags.bag.numpy(), dark=dark), "e-data", later=True)
        lines = {name: values.numpy() for name, values in result.regressions.items()}
        plotly_live(regressions_plot(result.y.numpy(), lines, dark=dark), "e-lines", later=True)
    _maps(result, second, third, dark)
    with second:
        plotly_live(_slice(layout, sample, result, at, dark), "e-slice", later=True)
    st.markdown(why)
    return layout, sample, result


def _maps(result: Comparison, second, third, dark: bool) -> None:
    x, y = result.x.numpy(), result.y.numpy()
    both = result.standard.numpy(), result.shrinkage.numpy()
    limits = (float(min(v.min() for v in both)), float(max(v.max() for v in both)))
    gap = max(float(np.abs(both[1] - both[0]).max()), 1e-3 * limits[1])
    with second:
        plotly_live(embedding_map(both[0], x, y, title="Standard μ(x, y)", limits=limits, dark=dark), "e-standard")
    with third:
        plotly_live(embedding_map(both[1], x, y, title="Shrinkage μ(x, y)", limits=limits, dark=dark), "e-shrinkage")
        difference = embedding_map(
            both[1] - both[0], x, y, title="Shrinkage − standard", colours="diverging", limits=(-gap, gap), dark=dark
        )
        plotly_live(difference, "e-difference", later=True)


def _slice(layout: BagLayout, sample: BagSample, result: Comparison, at: float, dark: bool):
    query = torch.tensor([[at]], dtype=torch.float64)
    standard, shrinkage = embeddings(layout, sample, query)
    truth = true_embedding(result.x, query[0], sample.lengthscales[0])
    at_y = {"standard": standard.kernel_mean(0), "shrinkage": shrinkage.kernel_mean(0)}
    lines = {name: mean.at(result.x[:, None]).numpy() for name, mean in at_y.items()} | {"truth": truth[:, 0].numpy()}
    return slice_plot(result.x.numpy(), lines, at, dark=dark)


def verdict(layout: BagLayout, sample: BagSample, result: Comparison) -> tuple[str, str]:
    """How far the estimates lie apart and which is nearer to the truth; why."""
    if not layout.unequal and layout.alike:
        return (
            "With equal bags and λ scaled in the same way the two estimators are identical: they differ by RMSE "
            f"**{result.difference:.2g}** over the grid{_apart(result)}, which is rounding error.",
            "With unequal bags they differ.",
        )
    sizes, first, second = sample.bags.sizes, result.embedding_rmse["standard"], result.embedding_rmse["shrinkage"]
    spread = (
        f"bags of {int(sizes.min())} to {int(sizes.max())} points"
        if layout.unequal
        else "equal bags but λ not scaled in the same way,"
    )
    why = [
        "the standard estimator weights a bag by its number of points, the shrinkage estimator weights all bags equally"
    ] * layout.unequal + [("the same number on both diagonals regularises the shrinkage estimator more")] * (
        not layout.alike
    )
    nearer = "shrinkage" if second < first else "the standard estimator"
    return (
        f"With {spread} the two estimates differ by RMSE **{result.difference:.2g}**; {nearer} is closer to the truth "
        f"(RMSE of μ: {second:.2g} shrinkage, {first:.2g} standard).",
        f"The reason for the difference: {', and '.join(why)}. Over the grid it is {result.difference:.2g}"
        f"{_apart(result)}; the maximum of μ is {float(result.truth.max()):.2g}."
        + (
            " The estimates become identical with bags of equal size, a switch on the left."
            if layout.unequal and layout.alike
            else ""
        ),
    )


def _apart(result: Comparison) -> str:
    return "" if result.distance is None else f" (at most {result.distance:.2g} in the RKHS)"


def _scores(result: Comparison) -> None:
    rows = {
        model: {"of E[X | Y = y]": result.regression_rmse[name], "of μ(x, y)": result.embedding_rmse[name]}
        for model, name in (("cmp", "standard"), ("shrinkage_cmp", "shrinkage"))
    }
    first, last = (signed(float(result.y[end]), 2) for end in (0, -1))
    score_table(
        rows,
        columns=("of E[X | Y = y]", "of μ(x, y)"),
        names={"cmp": "Standard", "shrinkage_cmp": "Shrinkage"},
        caption=f"RMSE against the truth, over y from {first} to {last}",
    )


def _equation(layout: BagLayout, sample: BagSample) -> None:
    first = layout.regularisation * (layout.points if layout.alike else 1)
    second = layout.regularisation * (layout.bags if layout.alike else 1)
    k, ell = sample.lengthscales
    explain(
        "Both estimators are weighted sums of the mean embeddings of the bags; they differ in the weights. An "
        "embedding is not a density: its values are means of k(x, X). The dotted truth is known in closed form.",
        rf"""
$$\hat\mu_{{X|Y=y}} = \sum_j W_j(y)\,\hat\mu_j,\qquad \hat\mu_j = \tfrac1{{n_j}}\textstyle\sum_i k(x_j^i, \cdot)$$

$$W_\mathrm{{standard}} = (L + {first:.3g}\,D^{{-1}})^{{-1}}\ell(\mathbf y, y),\qquad
W_\mathrm{{shrinkage}} = (L + {second:.3g}\,I)^{{-1}}\ell(\mathbf y, y)$$

$D = \mathrm{{diag}}(n_j)$, $B = {layout.bags}$ bags, $N = {layout.points}$ points; Gaussian kernels with lengthscales
{k:.3g} (k) and {ell:.3g} (ℓ). The first equals the estimator with labels replicated over bags:
$(L_\mathrm{{rep}} + cI)^{{-1}}P = P(LD + cI)^{{-1}}$. Data: $y \sim N(0, 2)$, $x \mid y \sim N(y \sin y, 0.5^2)$.
""",
        "Chau et al. 2021, eq. 10, App. C and C.2",
    )


@st.cache_data(show_spinner=False, max_entries=32)
def _costs(bags: int, per_bag: int, seed: int) -> list[Cost]:
    """Measured here; the N×N route by extrapolation from 1,000 points where there are more."""
    layout = BagLayout(bags, per_bag, seed=seed)
    if layout.points <= _AT_ONCE:
        return [dense_cost(layout), *cheap_costs(layout)]
    base = dense_cost(BagLayout(min(bags, _AT_ONCE), max(1, _AT_ONCE // bags), seed=seed))
    return [extrapolated_cost(base, layout.points, bags), *cheap_costs(layout)]


def costs(layout: BagLayout) -> None:
    """CPU time of the three routes to the weights, beside the kept table."""
    here = _costs(layout.bags, layout.per_bag, layout.seed)
    kept = [Cost(**row) for row in stored(STORED)["times"]]
    left, right = st.columns(2)
    with left:
        plotly_live(cost_plot(_rows(kept), _rows(here), dark=is_dark()), "e-costs")
    with right:
        slot = st.empty()
        if _AT_ONCE < layout.points <= MOST_DENSE:
            measured = _measure_dense(layout)
            here = [measured, *here[1:]] if measured else here
        slot.markdown(_costs_said(layout, here))
        st.caption(
            "The lines were measured with `deconditioning conditional-means --times` (50 bags, at 25,000 points also "
            f"500; hollow marks are extrapolated); the N×N time grows as the power {growth(kept):.1f} of N. Large "
            "marks: the data above, on this server."
        )


def _rows(result: list[Cost]) -> list[tuple[str, float, float, bool]]:
    return [(row.route, row.points, row.seconds, row.extrapolated) for row in result]


def _costs_said(layout: BagLayout, here: list[Cost]) -> str:
    """The costs in words: as written, at bag level, shrinkage."""
    dense, level, shrunk = here
    how = "measured here"
    if dense.extrapolated:
        size = f"{8e-9 * layout.points**2:.2g} GB"
        how = f"extrapolated as N³ from 1,000 points, which overestimates it; the matrix needs {size}"
        if layout.points > MOST_DENSE:
            how += ", too large to run here"
    ratio = dense.seconds / max(shrunk.seconds, 1e-6)
    gain = f"about {float(f'{ratio:.1g}'):,.0f} times faster" if ratio >= 2 else "no faster here"
    return (
        f"CPU time of the weights at 60 values of y. Standard estimator as printed, N×N with N = {layout.points:,}: "
        f"**{duration(dense.seconds)}** ({how}). The same numbers at bag level: **{duration(level.seconds)}**. "
        f"Shrinkage estimator: **{duration(shrunk.seconds)}**. It is {gain} than the standard estimator as printed, "
        "and not faster than its bag-level form."
    )


def _measure_dense(layout: BagLayout) -> Cost | None:
    """On request, the N×N estimator timed in the background; None until it is."""
    key = f"dense-{layout.bags}-{layout.per_bag}-{layout.seed}"
    job = get_background().known(key)
    if job is not None and job.done() and not isinstance(job.exception(), Cancelled):
        return job.result()
    timed = BagLayout(layout.bags, layout.per_bag, seed=layout.seed)
    if job is None and not st.button(f"Measure N×N with {layout.points:,} points", key="e-measure"):
        return None

    @st.fragment(run_every=0.5)
    def wait() -> None:
        running = get_background().request(key, session_lane("dense-cost"), lambda check: dense_cost(timed))
        if running.done():
            st.rerun()
        st.caption("Measuring the N×N estimator …")

    wait()
    return None
