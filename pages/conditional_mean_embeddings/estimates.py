"""The view Estimates: groups with both regressions; below, both embeddings, their difference, and their costs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from deconditioning.errors import Cancelled
from deconditioning.figures.studies.embeddings import (
    MEANING,
    bag_regression_plot,
    cost_plot,
    embedding_map,
    slice_plot,
)
from deconditioning.figures.style import Figure
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
from deconditioning.wording import duration, number, rounded, signed
from pages.kit.chart.background import get_background, redraw_when, session_lane
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.essential import aside
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.controls.settings import controls
from pages.kit.layout.page_layout import evidence, explain, lead
from pages.kit.layout.score_table import score_table
from pages.kit.layout.theme import is_dark
from pages.kit.runs.stored_results import stored
from pages.kit.tools.study_sweep import OnPage, offer

STORED = "conditional_means.json"
#: Of the seeds 0 to 19 at the opening settings, those whose shrinkage estimate of E[X | Y = y] is the closer one.
CLOSER_SEEDS = 16
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
    _scores(layout, result)
    _equation(layout, sample)
    offer(OnPage("conditional-means", others=_of_layout))
    with evidence():
        costs(layout)


def _of_layout(held: Mapping[str, Any]) -> dict[str, Any]:
    """Bags and points of a layout by its name; those of one's own have controls."""
    chosen = EstimateSettings(layout=held[EstimateSettings.layout.key] or EstimateSettings.layout.default)
    return {} if chosen.layout == OWN else {"bags": chosen.bags, "per_bag": chosen.per_bag}


def estimated() -> tuple[BagLayout, BagSample, Comparison]:
    """The controls, and both embeddings at their values."""
    layout = choose()
    result, sample = _compared(layout), _sampled(layout)
    lead(verdict(layout, result, sample.bags.sizes))
    with st.sidebar:
        at = controls(SliceSettings).y
    dark = is_dark()
    lines = {name: values.numpy() for name, values in result.regressions.items()}
    figure = bag_regression_plot(
        sample.bags.inputs[:, 0].numpy(), sample.bags.bag.numpy(), sample.mediators[:, 0].numpy(), result.y.numpy(),
        lines, dark=dark,
    )  # fmt: skip
    plotly_live(figure, "e-groups")
    bag, x = sample.bags.bag.numpy(), sample.bags.inputs[:, 0].numpy()
    groups = np.bincount(bag, x) / np.bincount(bag), sample.mediators[:, 0].numpy()
    st.markdown(
        "**The whole embeddings** μ(x, y), the mean of k(x, X) given y: not only the mean of x, but how x is "
        "distributed at every y. The weights of the groups are those that match "
        f"cells through a mediator on page Downscaling. {MEANING}"
    )
    _maps(result, st.columns(3), groups, at, dark)
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        plotly_live(_slice(layout, sample, result, at, dark), "e-slice", later=True)
    with right:
        st.markdown(_reason(layout, result))
        if result.distance is not None:
            aside(
                "Largest distance between the two over y, in the norm of their reproducing kernel Hilbert space: "
                f"{number(result.distance, 2)}."
            )
    return layout, sample, result


def _maps(
    result: Comparison, places: Sequence[DeltaGenerator], groups: tuple[np.ndarray, np.ndarray], at: float, dark: bool
) -> None:
    """Both embeddings with the mean and label of every group, and their difference; a line at y = ``at``."""
    x, y = result.x.numpy(), result.y.numpy()
    both = result.standard.numpy(), result.shrinkage.numpy()
    limits = (float(min(v.min() for v in both)), float(max(v.max() for v in both)))
    gap = max(float(np.abs(both[1] - both[0]).max()), 1e-3 * limits[1])
    more: dict[str, Any] = {"cut": at, "bar": "μ(x, y)", "dark": dark}
    maps = {
        "e-standard": embedding_map(both[0], x, y, title="Standard μ(x, y)", limits=limits, data=groups, **more),
        "e-shrinkage": embedding_map(both[1], x, y, title="Shrinkage μ(x, y)", limits=limits, data=groups, **more),
        "e-difference": embedding_map(
            both[1] - both[0],
            x,
            y,
            title="Shrinkage − standard",
            colours="diverging",
            limits=(-gap, gap),
            **more | {"bar": "difference of μ(x, y)"},
        ),
    }
    for place, (key, figure) in zip(places, maps.items(), strict=True):
        with place:
            plotly_live(figure, key, later=key == "e-difference", on_click=partial(_cut_at_click, key))


def _cut_at_click(key: str) -> None:
    """Cut the maps where one of them was clicked, at the nearest stop of the slider."""
    setting = SliceSettings.y
    stop = setting.step * round(st.session_state[key]["click"][0] / setting.step)
    set_on_next_run({setting.key: round(min(max(stop, setting.low), setting.high), 6)})


def _slice(layout: BagLayout, sample: BagSample, result: Comparison, at: float, dark: bool) -> Figure:
    query = torch.tensor([[at]], dtype=torch.float64)
    standard, shrinkage = embeddings(layout, sample, query)
    truth = true_embedding(result.x, query[0], sample.lengthscales[0])
    at_y = {"standard": standard.kernel_mean(0), "shrinkage": shrinkage.kernel_mean(0)}
    lines = {name: mean.at(result.x[:, None]).numpy() for name, mean in at_y.items()} | {"truth": truth[:, 0].numpy()}
    return slice_plot(result.x.numpy(), lines, at, dark=dark)


def verdict(layout: BagLayout, result: Comparison, sizes: torch.Tensor) -> str:
    """Which estimate of the mean of x is closer to the truth, over the picture."""
    if not layout.unequal and layout.alike:
        return (
            "With groups of equal size both estimators give the same curve, up to rounding error (RMSE "
            f"**{number(result.difference, 2)}** between the two embeddings)."
        )
    first, second = result.regression_rmse["standard"], result.regression_rmse["shrinkage"]
    estimates = {f"**{rounded(second)}** if every group counts once (shrinkage)": second,
            f"**{rounded(first)}** if every point counts once (standard)": first}  # fmt: skip
    better, worse = sorted(estimates, key=estimates.__getitem__)
    each = f"{layout.per_bag} points each"
    spread = f"{int(sizes.min())} to {int(sizes.max())} points, {layout.per_bag} on average" if layout.unequal else each
    return (
        f"{layout.bags} groups of {spread}, such as pixels in cells: the error of the estimated mean of x (RMSE) is "
        f"{better} and {worse}."
    )


def _reason(layout: BagLayout, result: Comparison) -> str:
    """How far the embeddings lie apart, from each other and from the truth, and why."""
    if not layout.unequal and layout.alike:
        return "The two estimators differ if the groups have unequal sizes or if the two are regularised differently."
    why = [
        "the standard estimator weights a group by its number of points, the shrinkage estimator weights all equally"
    ] * layout.unequal + ["the same number on both diagonals regularises the shrinkage estimator more"] * (
        not layout.alike
    )
    first, second = result.embedding_rmse["standard"], result.embedding_rmse["shrinkage"]
    equal = " With groups of equal size they are identical." if layout.unequal and layout.alike else ""
    return (
        f"The RMSE between the two embeddings is **{number(result.difference, 2)}** over the maps. Against the truth, "
        f"whose maximum is {number(float(result.truth.max()), 2)}, it is {number(second)} (shrinkage) and "
        f"{number(first)} (standard). They differ because {', and '.join(why)}.{equal}"
    )


def _scores(layout: BagLayout, result: Comparison) -> None:
    rows = {
        model: {"RMSE of E[X | Y = y]": result.regression_rmse[name], "RMSE of μ(x, y)": result.embedding_rmse[name]}
        for model, name in (("cme", "standard"), ("shrinkage_cmp", "shrinkage"))
    }
    first, last = (signed(float(result.y[end]), 2) for end in (0, -1))
    score_table(
        rows,
        columns=("RMSE of E[X | Y = y]", "RMSE of μ(x, y)"),
        names={"cme": "Standard", "shrinkage_cmp": "Shrinkage"},
        caption=f"Against the truth, for y from {first} to {last}. At the ends there are few groups, and "
        f"both estimates are over-smoothed.{_of_seeds(layout)}",
    )


def _of_seeds(layout: BagLayout) -> str:
    """How typical the opening draw is; nothing elsewhere."""
    opening = EstimateSettings().to_dict()
    del opening["layout"]
    if replace(layout, seed=0) != BagLayout(**opening | {"seed": 0}):
        return ""
    return f" Of the seeds 0 to 19, shrinkage estimates E[X | Y = y] more accurately with {CLOSER_SEEDS}."


def _equation(layout: BagLayout, sample: BagSample) -> None:
    first = layout.regularisation * (layout.points if layout.alike else 1)
    second = layout.regularisation * (layout.bags if layout.alike else 1)
    k, ell = sample.lengthscales
    explain(
        "Both estimators are weighted sums of the mean embeddings of the bags; they differ in the weights. An "
        "embedding is not a density: its values are means of k(x, X). The dotted truth is known in closed form.",
        rf"""
$$\hat\mu_{{X|Y=y}} = \sum_j W_j(y)\,\hat\mu_j,\qquad \hat\mu_j = \tfrac1{{n_j}}\textstyle\sum_i k(x_j^i, \cdot)$$

$$W_\mathrm{{standard}} = (L + {number(first)}\,D^{{-1}})^{{-1}}\ell(\mathbf y, y),\qquad
W_\mathrm{{shrinkage}} = (L + {number(second)}\,I)^{{-1}}\ell(\mathbf y, y)$$

$D = \mathrm{{diag}}(n_j)$, $B = {layout.bags}$ bags, $N = {layout.points}$ points; Gaussian kernels with lengthscales
{number(k)} (k) and {number(ell)} (ℓ). The first equals the estimator with labels replicated over bags:
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
    measured_costs = _costs(layout.bags, layout.per_bag, layout.seed)
    stored_costs = [Cost(**row) for row in stored(STORED)["times"]]
    left, right = st.columns(2)
    with left:
        plotly_live(cost_plot(_rows(stored_costs), _rows(measured_costs), dark=is_dark()), "e-costs")
    with right:
        slot = st.empty()
        if _AT_ONCE < layout.points <= MOST_DENSE:
            measured = _measure_dense(layout)
            measured_costs = [measured, *measured_costs[1:]] if measured else measured_costs
        slot.markdown(_costs_sentence(layout, measured_costs))
        st.caption(
            "The lines were measured with `deconditioning conditional-means --times` (50 bags, at 25,000 points also "
            f"500; hollow marks are extrapolated); the N×N time grows as the power {growth(stored_costs):.1f} of N. "
            "Large marks: the data above, on this server."
        )


def _rows(result: list[Cost]) -> list[tuple[str, float, float, bool]]:
    return [(row.route, row.points, row.seconds, row.extrapolated) for row in result]


def _costs_sentence(layout: BagLayout, times: list[Cost]) -> str:
    """The costs in words: as written, at bag level, shrinkage."""
    dense, level, shrunk = times
    how = "measured here"
    if dense.extrapolated:
        size = f"{number(8e-9 * layout.points**2, 2)} GB"
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

    def ready() -> bool:
        return get_background().request(key, session_lane("dense-cost"), lambda check: dense_cost(timed)).done()

    redraw_when(ready, lambda: st.caption("Measuring the N×N estimator …"))
    return None
