"""Scores and the equation of page Sparse representation."""

from deconditioning.datasets.sparse_toy import Toy
from deconditioning.studies.sparse_representation.study import VERSIONS, Represented
from deconditioning.wording import number
from pages.kit.layout.page_layout import explain
from pages.kit.layout.score_table import score_table
from pages.sparse_representation.picture import TITLES


def table(toy: Toy, represented: Represented, others: dict[str, Represented], places: str) -> None:
    """Scores of all that is drawn."""
    names = {**VERSIONS, **TITLES, "on_sliders": f"{places.capitalize()} points, kernel from the sliders"}
    shown = {"on_sliders": represented}
    shown |= {version: others[version] for version in VERSIONS if version in others}
    rows = {version: each.scores(toy) for version, each in shown.items()}
    score_table(rows, columns=("rmse", "mae", "bias", "crps", "coverage_2sd"), names=names,
                caption="Scores against f without noise, over the whole picture. The variational GP has the true "
                "kernel; its points are centres of the data (k-means), not learned.")  # fmt: skip


def equation(toy: Toy, count: int, represented: Represented) -> None:
    """The model with today's numbers."""
    assert represented.spec is not None
    explain(
        "The points replace both x and y: the model takes each observation for a linear combination of the values of "
        "f at the points, plus noise. Learned positions maximise the evidence. However many data there are, the "
        "matrices that are inverted have one row for each point.",
        rf"""
$$A = (L + \sigma^2 I)^{{-1}}\ell(\mathbf u, \tilde{{\mathbf y}}),\qquad
\tilde z \sim N(0, A^\top K A + \sigma^2 I),\qquad \alpha = (A A^\top K + \sigma^2 I)^{{-1}} A \tilde z$$

$$\log p(\tilde z) = -\tfrac{{1}}{{2\sigma^2}}\left(\tilde z^\top\tilde z - (A\tilde z)^\top K\alpha\right)
- \tfrac12\log\left|A A^\top K + \sigma^2 I\right| - \tfrac{{n-m}}{{2}}\log\sigma^2 - \tfrac n2\log 2\pi$$

$m = {count}$ points, $n = {toy.spec.data}$ data, $\sigma^2 = {number(represented.spec.noise)}$, $\ell = k$ (f and g are
the same function here). The time is $O(m^3 + n m^2)$; the memory is that of one chunk of data.
""",
        "Hsu and Ramos 2019, §8.2, definition 4.4 and theorem 5.3 (4)",
    )
