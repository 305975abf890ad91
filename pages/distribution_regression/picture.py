"""What is drawn of one data set: densities, f with its band, held-out predictions, every method's numbers, a link."""

from dataclasses import replace

import numpy as np
import streamlit as st

from deconditioning.bag_sums.routes import Route
from deconditioning.distribution_regression.simulate import regression_function
from deconditioning.distribution_regression.single_index import SingleIndex
from deconditioning.distribution_regression.stand_in import LABEL
from deconditioning.distribution_regression.subjects import Subjects
from deconditioning.figures.studies.distribution_regression import link_plot, predicted_plot, ridge_plot
from deconditioning.figures.studies.one_dimension import function_plot
from deconditioning.figures.style import Figure, legend_below
from deconditioning.studies.distribution_regression.compare import Comparison, Prepared, compare, find_link, ridges
from deconditioning.studies.distribution_regression.settings import LinkSettings, ValidationSettings
from deconditioning.studies.distribution_regression.study import MethodSettings
from deconditioning.studies.distribution_regression.validation import (
    PREDICTORS,
    WITHOUT_KERNEL,
    Validated,
    cross_validate,
)
from deconditioning.wording import number
from pages.distribution_regression.data import Chosen
from pages.distribution_regression.model import Model, choose_model
from pages.distribution_regression.paper_results import on_accelerometers
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.essential import aside, group
from pages.kit.controls.settings import controls
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import explain
from pages.kit.layout.score_table import score_table
from pages.kit.layout.theme import is_dark
from pages.kit.runs.stored_results import stored

#: The stored table of the stand-in.
_STAND_IN = "distribution_regression_stand_in.json"
ROUTES = {
    Route.CHEBYSHEV: "Chebyshev interpolation at {nodes} nodes, error {error}",
    Route.SORTED: "sorting, exact",
    Route.DIRECT: "summing every pair",
}


@st.cache_resource(show_spinner=False, max_entries=6)
def _without_covariates(key: str, _prepared: Prepared) -> Prepared:
    subjects = _prepared.subjects
    return Prepared(replace(subjects, covariates=subjects.covariates[:, :0], covariate_names=()))


def _used(chosen: Chosen, model: Model) -> Prepared:
    """The subjects with or without their covariates."""
    if model.use_covariates or not chosen.prepared.subjects.covariate_names:
        return chosen.prepared
    return _without_covariates(chosen.key, chosen.prepared)


def _key(chosen: Chosen, model: Model) -> str:
    return f"{chosen.key} {model.use_covariates}"


@st.cache_resource(show_spinner=False, max_entries=24)
def _compared(
    key: str, settings: MethodSettings, known: bool, methods: tuple[str, ...] | None, _prepared: Prepared
) -> Comparison:
    return compare(_prepared, settings, regression_function if known else None, methods)


def compared(chosen: Chosen, model: Model) -> Comparison:
    """Every method at the model's settings."""
    return _compared(_key(chosen, model), model.settings, chosen.spec is not None, None, _used(chosen, model))


@st.cache_resource(show_spinner=False, max_entries=24)
def _validated(
    key: str, settings: MethodSettings, repeats: int, nested: bool, _prepared: Prepared
) -> dict[str, Validated]:
    methods = tuple(name for name in PREDICTORS if name in (*_prepared.methods, *WITHOUT_KERNEL))
    subjects = _prepared.subjects
    folds = min(ValidationSettings.folds.default, max(2, subjects.count // 2))
    return cross_validate(subjects, settings, methods, folds=folds, repeats=repeats, learned=nested, prepared=_prepared)


def validated(chosen: Chosen, model: Model, how: ValidationSettings) -> dict[str, Validated]:
    """Cross-validation of every method at the model's settings, or learned anew in every fold."""
    return _validated(_key(chosen, model), model.settings, how.repeats, how.nested, _used(chosen, model))


@st.cache_resource(show_spinner=False, max_entries=8)
def _ridges(key: str, _subjects: Subjects) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return ridges(_subjects)


def densities(chosen: Chosen) -> None:
    """Some subjects' distributions."""
    subjects = chosen.prepared.subjects
    grid, density, rows = _ridges(chosen.key, subjects)
    y = subjects.outcomes.numpy(force=True)
    names = [subjects.names[i] for i in rows]
    if chosen.spec is not None:
        names = [f"subject {name}" for name in names]
    figure = ridge_plot(grid, density, names, y[rows], title=f"Measurements of {len(rows)} of {len(y)} subjects",
                        labels=(subjects.columns[0], f"outcome {subjects.outcome_name}, in order"),
                        dark=is_dark())  # fmt: skip
    plotly_live(figure, "d-ridges")


def function(chosen: Chosen) -> Model:
    """The model's controls, and f at their values as the methods find it that are drawn; returns the model."""
    with st.sidebar:
        model = choose_model(chosen)
    drawn, prepared = ("gpdr", *model.drawn), _used(chosen, model)
    result = _compared(_key(chosen, model), model.settings, False, drawn, prepared)  # no risk is drawn
    plotly_live(_function(chosen, result, model, is_dark()), "d-function")
    return model


def predictions(chosen: Chosen, scores: dict[str, Validated]) -> None:
    """What was predicted of subjects held out."""
    subjects = chosen.prepared.subjects
    y = subjects.outcomes.numpy(force=True)
    figure = predicted_plot(y, scores["gpdr"].predicted, title="Held-out subjects",
                            labels=(f"observed {subjects.outcome_name}", f"predicted {subjects.outcome_name}"),
                            height=380, dark=is_dark())  # fmt: skip
    plotly_live(figure, "d-predicted")


def remark(chosen: Chosen) -> None:
    """What the pictures are, and are not."""
    columns = chosen.prepared.subjects.columns
    st.caption(
        "The densities of single subjects are smoothed for display; the estimate uses the measurements as they are. "
        + ("" if len(columns) == 1 else f"Shown along {plain(columns[0])}, with the other columns at their medians.")
    )
    if LABEL in chosen.words:
        st.markdown(on_accelerometers(stored(_STAND_IN)["results"]))


def _function(chosen: Chosen, result: Comparison, model: Model, dark: bool) -> Figure:
    posterior, centred = result.curves["gpdr"], model.settings.intercept
    lines = {name: curve.mean for name, curve in result.curves.items() if name in model.drawn}
    known = chosen.spec is not None and not centred
    label = "f(x) minus its mean over subjects" if centred else "f(x)"
    if known:
        lines = {"truth": regression_function(result.at), **lines}
    low, high = (
        float((posterior.mean - 2 * posterior.sd).min()),
        float((posterior.mean + 2 * posterior.sd).max()),
    )
    figure = function_plot(
        result.at, posterior.mean, posterior.sd, lines, title="Effect of a measurement", model="gpdr",
        name="Gaussian process ±2 sd", labels=(chosen.prepared.subjects.columns[0], label),
        limits=None if known else (low, high), height=380, dark=dark,
    )  # fmt: skip
    legend_below(figure["layout"])
    return figure


def table(result: Comparison, scores: dict[str, Validated], how: ValidationSettings) -> None:
    """Every method's risk, R² and time."""
    rows: dict[str, dict[str, float | None]] = {}
    several = len({number(curve.noise) for curve in result.curves.values()}) > 1
    for name, score in scores.items():
        curve = result.curves.get(name)
        low, high = score.interval
        rows[name] = {
            "posterior_risk": curve.risk if curve else None, "r2": float(score.r2.mean()),
            "r2_low": low if how.repeats > 1 else None, "r2_high": high if how.repeats > 1 else None,
            "noise": curve.noise if curve and several else None, "ms": 1000 * curve.seconds if curve else None,
        }  # fmt: skip
    score_table(rows, columns=("posterior_risk", "r2", "r2_low", "r2_high", "noise", "ms"), caption=_caption(how))
    if result.embeddings is not None:
        st.caption(_shrinkage(*result.embeddings))
    if result.drawn is not None:
        st.caption(
            f"σ²: {len(result.drawn.noises)} Gibbs draws with an effective sample size of {result.drawn.effective:.0f}."
        )


def _shrinkage(scale: float, smallest: float, largest: float) -> str:
    remaining = f"{100 * smallest:.0f} %" if abs(smallest - largest) < 0.005 else (
        f"{100 * smallest:.0f} % (the smallest) to {100 * largest:.0f} % (the largest)"
    )  # fmt: skip
    return (
        f"BDR shrinks the embeddings of subjects with few measurements: with η = {number(scale)}, "
        f"subjects keep {remaining} of their distance from the overall mean."
    )


def _caption(how: ValidationSettings) -> str:
    learned = (
        "Kernel and noise are learned in every fold."
        if how.nested
        else "If the hyperparameters were learned, it was on all subjects, so R² is slightly too good."
    )
    times = "one partition"
    if how.repeats > 1:
        times = f"{how.repeats} partitions (the interval is over the partitions only)"
    return (
        f"R² at subjects that were held out: 5-fold cross-validation on {times}. {learned} "
        "Functional linear: regression on the measurements in their order."
    )


@st.cache_resource(show_spinner=False, max_entries=8)
def _link(
    key: str, settings: MethodSettings, rank: int, _prepared: Prepared
) -> tuple[SingleIndex, np.ndarray, np.ndarray]:
    return find_link(_prepared, settings, rank)


def link(chosen: Chosen, model: Model) -> None:
    """The single-index regression, where it is asked for."""
    with group("An unknown link ρ between E f and the outcome"):
        requested = controls(LinkSettings)
        if not requested.estimated:
            aside("y = ρ(E f) + ε: Ichimura's estimator on the leading eigenvectors, compared with a straight line.")
            return
        result, fitted, left_out = _link(chosen.key, model.settings, requested.eigenvectors, chosen.prepared)
        y, index = result.outcomes.numpy(force=True), result.index.numpy(force=True)
        at = np.linspace(index.min(), index.max(), 160)
        line = np.polynomial.Polynomial.fit(index, fitted, 1)(at)
        rho = result.link(result.index.new_tensor(at)).numpy(force=True)
        left, right = st.columns([3, 2])
        with left:
            name = chosen.prepared.subjects.outcome_name
            plotly_live(link_plot(index, y, at, rho, line, labels=("index Z'w", name), dark=is_dark()), "d-link-plot")
        with right:
            spread = float(((y - y.mean()) ** 2).mean())
            bent, straight = 1 - result.loss / spread, 1 - float(((y - left_out) ** 2).mean()) / spread
            st.markdown(
                f"Left-out R² with the link **{bent:.3f}**, without {straight:.3f}: "
                + ("the link appears to be nonlinear." if bent > straight + 0.02 else "no link function is needed.")
                + (
                    f" Bandwidth {result.bandwidth:.2f} sd of the index, {len(result.weights)} eigenvectors. The "
                    "direction of the index was fitted to the same subjects, which favours the link slightly."
                )
            )
            st.caption("Source: Tang et al., eq. 16-19; Ichimura 1993")


def _sums(result: Comparison) -> str:
    """How the sums over the measurements were computed."""
    return " ".join(
        f"Kernel sums: {ROUTES[each.route].format(nodes=each.nodes, error=number(each.error, 1))}."
        for each in result.routes
    )


def equation(chosen: Chosen, model: Model, result: Comparison) -> None:
    """The posterior with today's numbers."""
    subjects, settings = chosen.prepared.subjects, model.settings
    low, high = float(subjects.bags.sizes.min()), float(subjects.bags.sizes.max())
    m = f"{low:.0f}" if low == high else rf"{low:.0f} \ldots {high:.0f}"
    rank = f"$k = {settings.rank}$ leading eigenvectors of $M$ carry the posterior (15)." if settings.rank else ""
    explain(
        "Each outcome is the mean of f over the measurements of the subject, plus noise. The posterior of f needs no "
        "density.",
        rf"""
$$y_i \sim N\Big(\beta^\top W_i + \tfrac1{{m_i}}\textstyle\sum_j f(x_{{ij}}),\ \sigma^2\Big),\qquad f \sim GP(0, K)$$

$$n = {subjects.count},\quad m_i = {m},\quad \sigma^2 = {number(result.curves["gpdr"].noise)}$$

$$E f(s) = l(s)^\top(M + \sigma^2 I)^{{-1}}y,\qquad
\mathrm{{Var}}\, f(s) = K(s, s) - l(s)^\top(M + \sigma^2 I)^{{-1}}l(s)$$

$$l_i(s) = \tfrac1{{m_i}}\textstyle\sum_j K(x_{{ij}}, s),\qquad
M_{{ij}} = \tfrac1{{m_i m_j}}\textstyle\sum_{{uv}} K(x_{{iu}}, x_{{jv}})$$

$K$: lengthscale {number(settings.lengthscale)}, variance {number(settings.variance)}. {rank} {_sums(result)}
With an intercept or covariates, β has a flat prior, and f is conditioned on the part of the outcomes that they cannot
explain. Density estimation replaces the measurements by Gaussian kernel estimates (21). Bayesian linear regression
(BLR) represents f by the kernel at 10 or 50 landmarks $u$ with independent weights α. Functional linear regression
treats the order of the measurements as time. The paper calls the Gaussian process GPDR (GP distribution regression).

Bayesian distribution regression (BDR) estimates an embedding $\mu_i(u) = E_{{z_i}}K(\cdot, u)$ from
its $m_i$ measurements; the fewer, the more it is shrunk:

$$\mu_i \mid \hat\mu_i \sim N\big(m_0 + \eta R(\eta R + \tfrac{{\Sigma}}{{m_i}})^{{-1}}(\hat\mu_i - m_0),\ C_i\big),
\qquad C_i = \eta R - \eta R(\eta R + \tfrac{{\Sigma}}{{m_i}})^{{-1}}\eta R$$

$$y_i \mid \alpha \sim N(\alpha^\top E\mu_i,\ \alpha^\top C_i\,\alpha + \sigma^2)$$

$R$: covariance of $K(x, u)$ under a uniform $x$; $\Sigma$: the same within a subject. α and all $\mu_i$ are drawn in
turn (Gibbs).
""",
        "Tang et al., eq. 6-7, 13-15, 21 and §4.3, §5; Law et al. 2018, §3 (BLR, BDR)",
    )
