"""The equation of page Kernel Bayes' rule, with today's numbers."""

from deconditioning.studies.kernel_bayes.one_observation import ABC_DRAWS, ABC_SHARE
from deconditioning.studies.kernel_bayes.settings import KernelBayesSettings
from deconditioning.wording import number
from pages.kit.layout.page_layout import explain


def equation(settings: KernelBayesSettings) -> None:
    """The rule with today's numbers."""
    factor = "n" if settings.printed else ""
    explain(
        "The draws of the prior give weights to the pairs, and the observation updates these weights. No density is "
        "evaluated, and no likelihood is known.",
        rf"""
$$\hat\mu = {factor}(G_X + n\varepsilon I)^{{-1}}\Big(\tfrac1\ell\textstyle\sum_j k(X_i, U_j)\Big)_i,\qquad
\Lambda = \mathrm{{diag}}(\hat\mu),\qquad n\varepsilon = {number(settings.pairs * settings.epsilon)}$$

$$\rho = \Lambda G_Y\left((\Lambda G_Y)^2 + \delta I\right)^{{-1}}\Lambda\,k_Y(y),\qquad
\delta = {number(settings.delta)},\qquad
\hat m_{{X|y}} = \textstyle\sum_i \rho_i\, k(X_i, \cdot)$$

$n = {settings.pairs}$ pairs from $N((0, 1), V)$, $\ell = {settings.prior}$ draws of the prior $N(0, V_{{XX}}/2)$.
Another form of the rule puts its weights on the draws of the prior. The paper's operators and its filter (18) give
$\hat\mu$ without a factor $n$; equation (12) and Figure 1 print it with that factor, which is the same rule at
$\delta/n^2$. The conditional mean simulates at those draws. Density estimation weights them by a kernel estimate of
the likelihood. ABC simulates at {ABC_DRAWS:,} draws of its own and keeps the nearest {number(100 * ABC_SHARE, 6)} %.
""",
        "Fukumizu et al. 2013, §3 and §5.1-5.2; Song et al. 2013",
    )
