"""The words of page One dimension that its static copy has, too."""

from typing import NamedTuple

from deconditioning.datasets.one_dimension import Line
from deconditioning.wording import number

#: The question of each view; the first view is the one that the page opens with.
QUESTIONS = {
    "Find the function": (
        "Two data sets share no points, only a third variable. Can the function that connects them be recovered?"
    ),
    "There and back": "A function is averaged and then recovered. What is lost on the way?",
    "Bayes' rule": "Which y produced the observed x, if only simulated pairs of both are available?",
}


class ScatterWords(NamedTuple):
    """What stands over, beside and below a scatter of pairs, and the name of the curve in it."""

    title: str
    labels: tuple[str, str]
    curve: str
    caption: str


FIRST = ScatterWords(
    "Data set 1: x against y", ("y", "x"), "mean of x given y", "Simulated pairs (x, y); grey: ± 2 sd of x given y."
)
SECOND = ScatterWords(
    "Data set 2: z against y", ("y", "z"), "mean of z given y", "Pairs (y, z) at other y; grey: ± 2 sd of z given y."
)
FUNCTION = "The hidden function z = f(x) and its posterior"
#: Below both scatters.
SCATTERS_CAPTION = "Dots: data. Dotted: the mean given y; grey: ± 2 sd."


def explanation(line: Line, method: str, regularisation: float, noise: float) -> tuple[str, str, str]:
    """A sentence, the equations with the page's own numbers, and their source."""
    n, m = line.spec.counts
    unknown = (
        r"\tilde{\tilde L} + \sigma^2 I - \tilde L^\top (L + n\lambda I)^{-1}\tilde L"
        if method == "task_transformed_gp"
        else r"\sigma^2 I"
    )
    return (
        "W distributes each ỹ over the values of y with known x; the posterior undoes this averaging.",
        rf"""
$$x_i = r(y_i) + \eta_i,\quad \tilde z_j = f(r(\tilde y_j) + \tilde\eta_j) + \tilde\xi_j,\qquad
W = (L + n\lambda I)^{{-1}}\tilde L,\quad n\lambda = {number(n * regularisation)}$$

$$\tilde z \sim N(W^\top f(\mathbf x), \Sigma),\quad \Sigma = {unknown},\quad \sigma^2 = {number(noise)},\quad
\varepsilon = \sigma^2/m = {number(noise / m)}$$

$$E[f(x)] = k(x)^\top W (W^\top K W + \Sigma)^{{-1}}\tilde z$$

$n = {n}$, $m = {m}$, $L = \ell(\mathbf y, \mathbf y)$, $\tilde L = \ell(\mathbf y, \tilde{{\mathbf y}})$. Impute takes
the mean of a GP of $\tilde z$ on $\tilde y$ for $z$; cascade predicts $y$ from $x$, then $z$ from that $y$.
""",
        "Hsu and Ramos 2019, §5.2, theorem 5.3 and §8.1",
    )
