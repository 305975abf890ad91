"""Page Kernel Bayes' rule: a posterior made of samples alone, moved by its observation."""

import numpy as np
import streamlit as st
import torch

from core.errors import InputError
from core.figures.embedding import embedding_map
from core.figures.line import embeddings_plot, pairs_plot, posterior_plot, signed_weights_plot
from core.studies.kernel_bayes.one_observation import ABC_DRAWS, ABC_SHARE, Answer, answers, normal_density
from core.studies.kernel_bayes.study import (
    GaussianProblem,
    GaussianSpec,
    exact_embedding,
    lengthscale_of,
)
from pages.kernel_bayes import errors, prior, several
from pages.kernel_bayes.controls import (
    choose_by_validation,
    choose_observation,
    choose_rule,
    choose_samples,
    problem_of,
)
from pages.kernel_bayes.errors import TITLES
from pages.kit.layout import explain, page_header, refusals, score_table
from pages.kit.picture_first import picture_first
from pages.kit.plotly_live import plotly_live
from pages.kit.state import apply_values, log_slider
from pages.kit.theme import is_dark
from pages.kit.words import sentence_of

#: Where the page opens: several dimensions, in which the rule is worth it; one and two can be drawn.
SEVERAL = 6
DIMENSIONS = (1, 2, SEVERAL)
MORE = {"dimension": "error against d", "size": "error against n and time", "prior": "what is left of the prior"}
FORMS = {"kbr": "(b), on the pairs", "kbr_a": "(a), on the prior", "cme": "conditional mean"}


def main() -> None:
    """Read the controls, apply every rule, draw."""
    page_header("Kernel Bayes' rule", "A posterior made only of samples, moved by what is observed.")
    apply_values()
    with refusals():
        body()


def body() -> None:
    """When the rule is worth it; one observation; below, measured errors."""
    with st.sidebar:
        dimension = int(
            st.segmented_control("Dimension", DIMENSIONS, default=SEVERAL, key="k-dim", bind="query-params") or SEVERAL
        )
    st.markdown(errors.worth_it())
    if dimension == SEVERAL:
        spec, y, values = several.show(dimension)
    else:
        spec, y, values, found = picture_first(lambda: observed(dimension))
        table(found, problem_of(spec).posterior(y)[0])
    equation(spec, values)
    more(spec, y)


def observed(dimension: int) -> tuple[GaussianSpec, np.ndarray, tuple[float, float, float, float], dict[str, Answer]]:
    """The controls, what the chosen rule says at their values, and its pictures."""
    with st.sidebar:
        y = choose_observation(dimension)
        spec = choose_samples(dimension, tests=1)
        scale, epsilon, delta = choose_rule(spec)
        values = scale, epsilon, delta, log_slider("Bandwidth of the densities", "k-h", 0.05, 20.0, 0.7)
        choose_by_validation(spec)
        form = st.segmented_control("Shown", list(FORMS), default="kbr", key="k-form", bind="query-params",
                                    format_func=FORMS.__getitem__) or "kbr"  # fmt: skip
        herded = int(st.slider("Herded samples", 10, 300, 100, 10, key="k-herd", bind="query-params"))
    problem = problem_of(spec)
    found = _answers(spec, tuple(y.tolist()), *values)
    if form not in found:
        raise InputError("This rule has no answer at these values: raise ε or δ, or choose another form.")
    mean, _ = problem.posterior(y)
    said(found, form, mean, y)
    (line if spec.dimension == 1 else plane)(problem, found[form], y, herded)
    return spec, y, values, found


def more(spec: GaussianSpec, y: np.ndarray) -> None:
    """Measured errors and the prior's effect, one at a time."""
    st.divider()
    views = {
        "dimension": errors.against_dimension,
        "size": lambda: errors.against_size(spec.dimension),
        "prior": lambda: prior.show(spec, float(y[0])),
    }
    chosen = st.segmented_control("Measured", list(views), default="dimension", key="k-more", bind="query-params",
                                  format_func=MORE.__getitem__) or "dimension"  # fmt: skip
    views[chosen]()


@st.cache_resource(show_spinner=False, max_entries=32)
def _answers(
    spec: GaussianSpec, y: tuple[float, ...], scale: float, epsilon: float, delta: float, bandwidth: float
) -> dict[str, Answer]:
    return answers(problem_of(spec), np.array(y), scale=scale, epsilon=epsilon, delta=delta, bandwidth=bandwidth)


def said(found: dict[str, Answer], form: str, exact: np.ndarray, y: np.ndarray) -> None:
    """What the rule says, beside the exact mean."""
    sample = found[form].sample
    assert sample is not None
    st.markdown(
        f"Given y = {_vector(y)} the exact posterior mean is {_vector(exact)}; {TITLES[form]} says "
        f"**{_vector(found[form].mean)}**. Its weights sum to {sample.total:.3f}, the negative "
        f"ones to −{sample.negative:.2g}: they are no probabilities."
    )


def _vector(values: np.ndarray) -> str:
    inside = ", ".join(f"{value:.2f}" for value in values)
    return inside if len(values) == 1 else f"({inside})"


def _herded(answer: Answer, count: int, candidates: torch.Tensor) -> np.ndarray:
    assert answer.sample is not None
    try:
        return answer.sample.herd(count, candidates).numpy()
    except InputError as error:
        st.warning(f"No samples can be herded here. {sentence_of(error)}")
        return np.empty((0, candidates.shape[1]))


def line(problem: GaussianProblem, answer: Answer, y: np.ndarray, herded: int) -> None:
    """Pairs with the observation, posterior, embedding and weights in one dimension."""
    dark, sample = is_dark(), answer.sample
    assert sample is not None
    reach = 3.2 * float(np.sqrt(problem.xx[0, 0]))
    grid = np.linspace(-reach, reach, 400)[:, None]
    mean, covariance = problem.posterior(y)
    left, right = st.columns(2)
    with left:
        figure = pairs_plot(problem.inputs[:, 0], problem.observations[:, 0], title="Pairs, and what was observed",
                            labels=("x", "y"), rule=float(y[0]), height=320, dark=dark)  # fmt: skip
        plotly_live(figure, "k-pairs", later=True)
        scale = lengthscale_of(sample.kernel)
        lines = {
            "this rule": sample.at(torch.from_numpy(grid)).numpy(),
            "exact": exact_embedding(problem, y, grid, scale),
        }
        plotly_live(
            embeddings_plot(grid[:, 0], lines, title="Embedding of X given Y = y", variable="x", dark=dark),
            "k-embedding",
            later=True,
        )
    with right:
        chosen = _herded(answer, herded, torch.from_numpy(grid))[:, 0]
        prior = normal_density(np.zeros(1), problem.xx / 2, grid)
        figure = posterior_plot(
            grid[:, 0], normal_density(mean, covariance, grid), prior, chosen, variable="x", dark=dark
        )
        plotly_live(figure, "k-posterior")
        figure = signed_weights_plot(
            sample.points[:, 0].numpy(), sample.weights.numpy(), title="Weights, negative ones in their own colour",
            variable="x", height=320, dark=dark,
        )  # fmt: skip
        plotly_live(figure, "k-weights", later=True)


def plane(problem: GaussianProblem, answer: Answer, y: np.ndarray, herded: int) -> None:
    """Embedding and exact density over the plane, with herded samples said in numbers."""
    dark, sample = is_dark(), answer.sample
    assert sample is not None
    reach = 3.0 * np.sqrt(np.diag(problem.xx) / 2)
    axes = [np.linspace(-r, r, 70) for r in reach]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 2)
    scale = lengthscale_of(sample.kernel)
    pictures = {
        "Embedding by this rule": sample.at(torch.from_numpy(grid)).numpy(),
        "Exact embedding": exact_embedding(problem, y, grid, scale),
        "Exact posterior density": normal_density(*problem.posterior(y), grid),
    }
    for column, (title, values) in zip(st.columns(3), pictures.items(), strict=True):
        with column:
            figure = embedding_map(values.reshape(70, 70), axes[0], axes[1], title=title, dark=dark)
            figure["layout"]["xaxis"]["title"]["text"], figure["layout"]["yaxis"]["title"]["text"] = "x₂", "x₁"
            plotly_live(figure, f"k-{title}")
    chosen = _herded(answer, herded, torch.from_numpy(grid))
    if len(chosen):
        mean, covariance = problem.posterior(y)
        st.markdown(
            f"{len(chosen)} herded samples have mean {_vector(chosen.mean(0))} and sd {_vector(chosen.std(0))}; exact: "
            f"{_vector(mean)} and {_vector(np.sqrt(np.diag(covariance)))}."
        )


def table(found: dict[str, Answer], exact: np.ndarray) -> None:
    """How far each rule's mean lies from the exact one, and its time."""
    rows = {
        name: {"distance": float(np.linalg.norm(answer.mean - exact)), "ms": 1000 * answer.seconds}
        for name, answer in found.items()
    }
    score_table(
        rows,
        columns=("distance", "ms"),
        names=TITLES,
        caption=f"Distance of the posterior mean from the exact one; ABC has {ABC_DRAWS:,} simulations",
    )


def equation(spec: GaussianSpec, values: tuple[float, ...]) -> None:
    """The rule with today's numbers."""
    _, epsilon, delta, *_ = values
    explain(
        "The prior's draws are carried over to the pairs, whose weights the observation then changes; no density is "
        "evaluated and no likelihood known.",
        rf"""
$$\hat\mu = (G_X + n\varepsilon I)^{{-1}}\Big(\tfrac1\ell\textstyle\sum_j k(X_i, U_j)\Big)_i,\qquad
\Lambda = \mathrm{{diag}}(\hat\mu),\qquad n\varepsilon = {spec.pairs * epsilon:.3g}$$

$$\rho = \Lambda G_Y\left((\Lambda G_Y)^2 + \delta I\right)^{{-1}}\Lambda\,k_Y(y),\qquad \delta = {delta:.3g},\qquad
\hat m_{{X|y}} = \textstyle\sum_i \rho_i\, k(X_i, \cdot)$$

$n = {spec.pairs}$ pairs from $N((0, 1), V)$, $\ell = {spec.prior}$ draws of the prior $N(0, V_{{XX}}/2)$. Form (a) puts
its weights on the prior's draws. The conditional mean simulates at those draws; densities weigh them by a kernel
estimate of the likelihood; ABC simulates at {ABC_DRAWS:,} draws of its own and keeps the nearest {100 * ABC_SHARE:g} %.
""",
        "Fukumizu et al. 2013, §3 and §5.1-5.2; Song et al. 2013",
    )


main()
