"""One observation of one or two dimensions: every rule's answer, its pictures, its distance from the exact one."""

from typing import Any

import numpy as np
import streamlit as st
import torch

from deconditioning.errors import InputError
from deconditioning.figures.studies.embeddings import embedding_map
from deconditioning.figures.studies.one_dimension import pairs_plot
from deconditioning.figures.studies.posteriors import embeddings_plot, posterior_plot, signed_weights_plot
from deconditioning.studies.kernel_bayes.one_observation import ABC_DRAWS, Answer, answers, normal_density
from deconditioning.studies.kernel_bayes.settings import AnswerSettings, KernelBayesSettings
from deconditioning.studies.kernel_bayes.study import (
    GaussianProblem,
    GaussianSpec,
    exact_embedding,
    gaussian_spec,
)
from deconditioning.wording import signed
from pages.kernel_bayes.controls import RULE, choose_by_validation, move_observation, problem_of
from pages.kernel_bayes.errors import TITLES
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.settings import controls
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.page_layout import lead
from pages.kit.layout.score_table import score_table
from pages.kit.layout.theme import is_dark
from pages.kit.layout.weight_words import weights_sentence


def observed(dimension: int) -> tuple[KernelBayesSettings, dict[str, Answer]]:
    """The controls, what the chosen rule says at their values, and its pictures."""
    with st.sidebar:
        settings = controls(RULE, dimension=dimension)
        choose_by_validation(settings, tests=1)
        shown = controls(AnswerSettings)
    spec, y = gaussian_spec(settings, 1), np.array(settings.observed)
    problem, form = problem_of(spec), shown.form
    result = _answers(spec, settings.observed, shown.bandwidth, settings.rule)
    if form not in result:
        raise InputError("This rule has no solution at these values: increase ε or δ, or choose another form.")
    mean, _ = problem.posterior(y)
    summary(settings, result[form], mean)
    (line if spec.dimension == 1 else plane)(problem, result[form], y, shown.herded)
    return settings, result


@st.cache_resource(show_spinner=False, max_entries=32)
def _answers(
    spec: GaussianSpec, y: tuple[float, ...], bandwidth: float, rule: dict[str, Any]
) -> dict[str, Answer]:  # fmt: skip
    return answers(problem_of(spec), np.array(y), bandwidth=bandwidth, **rule)


def summary(settings: KernelBayesSettings, answer: Answer, exact: np.ndarray) -> None:
    """What is hidden, seen and given, and what the rule says beside the exact mean."""
    y = _vector(np.array(settings.observed))
    lead(
        f"**Hidden**: x. **Observed**: y = {y}. **Given**: {settings.pairs} examples of both, and {settings.prior} "
        f"draws of the prior of x. By the rule, the posterior mean of x is **{_vector(answer.mean)}**; the exact value "
        f"is {_vector(exact)}."
    )


def _vector(values: np.ndarray) -> str:
    inside = ", ".join(signed(float(value), 2) for value in values)
    return inside if len(values) == 1 else f"({inside})"


def _herded(answer: Answer, count: int, candidates: torch.Tensor) -> np.ndarray:
    assert answer.sample is not None
    try:
        return answer.sample.herd(count, candidates).numpy()
    except InputError as error:
        st.warning(f"No samples can be drawn here. {sentence_of(error)}")
        return np.empty((0, candidates.shape[1]))


def line(problem: GaussianProblem, answer: Answer, y: np.ndarray, herded: int) -> None:
    """Posterior and pairs with the observation; below, embedding and weights, in one dimension."""
    dark, sample = is_dark(), answer.sample
    assert sample is not None
    limit = 3.2 * float(np.sqrt(problem.xx[0, 0]))
    grid = np.linspace(-limit, limit, 400)[:, None]
    mean, covariance = problem.posterior(y)
    left, right = st.columns([5, 3])
    with left:
        chosen = _herded(answer, herded, torch.from_numpy(grid))[:, 0]
        prior = normal_density(np.zeros(1), problem.xx / 2, grid)
        figure = posterior_plot(
            grid[:, 0], normal_density(mean, covariance, grid), prior, chosen, variable="x",
            title=f"Posterior of x given y = {signed(y[0], 2)}", height=430, dark=dark,
        )  # fmt: skip
        plotly_live(figure, "k-posterior")
    with right:
        figure = pairs_plot(
            problem.inputs[:, 0], problem.observations[:, 0], title="Examples and the observed y (drag the line)",
            labels=("x, hidden", "y, observed"), rule=float(y[0]), height=430, dark=dark,
        )  # fmt: skip
        plotly_live(figure, "k-pairs", later=True, on_rule=move_observation)
    left, right = st.columns(2)
    with left:
        lines = {
            "this rule": sample.at(torch.from_numpy(grid)).numpy(),
            "exact": exact_embedding(problem, y, grid, sample.kernel),
        }
        figure = embeddings_plot(grid[:, 0], lines, title="Embedding of the posterior", variable="x", height=280,
                                 dark=dark)  # fmt: skip
        plotly_live(figure, "k-embedding", later=True)
    with right:
        figure = signed_weights_plot(
            sample.points[:, 0].numpy(), sample.weights.numpy(), title="Weights of the samples", variable="x",
            height=280, dark=dark,
        )  # fmt: skip
        plotly_live(figure, "k-weights", later=True)
        st.caption(weights_sentence(sample))


def plane(problem: GaussianProblem, answer: Answer, y: np.ndarray, herded: int) -> None:
    """The rule's embedding over the plane, the exact one and the exact density; herded samples in numbers."""
    dark, sample = is_dark(), answer.sample
    assert sample is not None
    limit = 3.0 * np.sqrt(np.diag(problem.xx) / 2)
    axes = [np.linspace(-r, r, 70) for r in limit]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 2)
    pictures = {
        "Posterior embedding by this rule": sample.at(torch.from_numpy(grid)).numpy(),
        "Exact embedding": exact_embedding(problem, y, grid, sample.kernel),
        "Exact posterior density": normal_density(*problem.posterior(y), grid),
    }
    embedded = list(pictures.values())[:2]
    limits = min(float(each.min()) for each in embedded), max(float(each.max()) for each in embedded)
    for index, (column, (title, values)) in enumerate(zip(st.columns(3), pictures.items(), strict=True)):
        with column:
            figure = embedding_map(
                values.reshape(70, 70).T, axes[1], axes[0], title=title, names=("x₂", "x₁"), height=320, dark=dark,
                limits=limits if index < len(embedded) else None,
            )  # fmt: skip
            figure["layout"]["xaxis"]["title"]["text"], figure["layout"]["yaxis"]["title"]["text"] = "x₁", "x₂"
            plotly_live(figure, f"k-{title}", later=index > 0)
    chosen = _herded(answer, herded, torch.from_numpy(grid))
    if len(chosen):
        mean, covariance = problem.posterior(y)
        st.markdown(
            f"{len(chosen)} samples (kernel herding) have mean {_vector(chosen.mean(0))} and sd "
            f"{_vector(chosen.std(0))}; exact: {_vector(mean)} and {_vector(np.sqrt(np.diag(covariance)))}."
        )


def table(result: dict[str, Answer], exact: np.ndarray, sd: np.ndarray) -> None:
    """How far each rule's mean lies from the exact one, whose posterior has these sds, and its time."""
    rows = {
        name: {"distance": float(np.linalg.norm(answer.mean - exact)), "ms": 1000 * answer.seconds}
        for name, answer in result.items()
    }
    score_table(
        rows,
        columns=("distance", "ms"),
        names=TITLES,
        caption=f"Distance of the posterior mean from the exact one, with these examples; the exact posterior has sd "
        f"{_vector(sd)}. Kernel Bayes' rule and density estimation have the examples alone. The conditional mean is a "
        f"kernel regression of x on y over pairs simulated anew at the draws of the prior; ABC simulates {ABC_DRAWS:,} "
        "times. A simulation costs next to nothing here: with a slow simulator neither would be as fast.",
    )
