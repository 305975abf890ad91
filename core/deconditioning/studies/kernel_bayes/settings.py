"""The settings of kernel Bayes' rule on the Gaussian problem."""

from typing import Any

from deconditioning.settings.setting import Choice, Integer, Linear, Log
from deconditioning.settings.settings import Settings

#: Dimensions in which one chosen observation is answered and drawn; where the page opens; all others.
FEW, _SEVERAL = (1, 2), 6
_MANY = range(max(FEW) + 1, 10_000)
#: Observations of one problem in several dimensions, each with its own exact posterior.
OBSERVATIONS = 50


class KernelBayesSettings(Settings):
    """The Gaussian problem of Fukumizu et al. 2013, §5.1, an observation, and the rule's numbers."""

    prefix = "k"

    dimension = Integer("Dimension", _SEVERAL, offered=(*FEW, _SEVERAL), least=1, symbol="d", sweep=False,
                        address="k-dim", about="dimension of X and of Y", plain="How many unknown numbers",
                        plain_help="d, the dimension of X and of Y.")  # fmt: skip
    y1 = Linear("Observed y₁", 4.0, low=-8.0, high=8.0, step=0.1, only={"dimension": FEW}, address="k-y0",
                otherwise={"dimension": {1: {"title": "Observed y"}}},
                plain="Observation", plain_help="y (in two dimensions its first coordinate).")  # fmt: skip
    y2 = Linear("Observed y₂", 4.0, low=-8.0, high=8.0, step=0.1, only={"dimension": FEW[1:]}, address="k-y1")
    observation = Integer("Observation", 5, low=1, high=OBSERVATIONS, least=1, sweep=False, only={"dimension": _MANY},
                          address="k-obs", plain="Which observation",
                          plain_help="One of fifty, each with its own exact posterior.")  # fmt: skip
    pairs = Integer("Pairs (X, Y)", 200, first=4, low=10, high=500, step=10, least=4, symbol="n", log=True, draws=True,
                    address="k-n", plain="How many examples",
                    plain_help="n, the number of pairs (X, Y) from which the rule learns.")  # fmt: skip
    prior = Integer("Draws of the prior", 200, first=5, low=10, high=500, step=10, least=1, symbol="ℓ", log=True,
                    draws=True, address="k-l")  # fmt: skip
    seed = Integer("Seed", 26, low=0, high=9999, typed=True, sweep=False)
    scale = Log("Lengthscales", 1.0, first=3, low=0.05, high=5.0, unit="median distances", symbol="β", address="k-beta")
    epsilon = Log(
        "ε", 5e-5, first=2, low=1e-8, high=1.0, symbol="ε", about="regularisation of the prior's weights, as nε",
        address="k-eps", help=lambda now: f"It enters as nε, with n = {now.pairs}.", plain="Regularisation",
        plain_help=(
            "ε, the regularisation of the prior's weights. If it is small, the rule trusts every example; "
            "if it is large, it trusts none."
        ),
    )  # fmt: skip
    delta = Log("δ", 1e-4, first=1, low=1e-10, high=1.0, symbol="δ", about="regularisation of the squared evidence")
    prior_weights = Choice(
        "Prior's weights μ̂", "one", options={"one": "sum to one", "n": "as printed, × n"}, address="k-norm",
        help=lambda now: "The paper's operators and equation 18 give μ̂ without a factor n: it then sums to about one. "
        "Equation 12 and Figure 1 print it with the factor; against the squared evidence δ is then "
        f"n² = {now.pairs**2:,} times smaller.",
    )  # fmt: skip

    @property
    def printed(self) -> bool:
        """Whether μ̂ has the factor n of equation 12 and Figure 1."""
        return self.prior_weights == "n"

    @property
    def observed(self) -> tuple[float, ...]:
        """The chosen observation in few dimensions."""
        return (self.y1, self.y2)[: self.dimension]

    @property
    def rule(self) -> dict[str, Any]:
        """The rule's numbers, as `answers` and `kernel_means` take them."""
        return {"scale": self.scale, "epsilon": self.epsilon, "delta": self.delta, "printed": self.printed}


class AnswerSettings(Settings):
    """What stands beside the rule in few dimensions, and which answer is shown."""

    prefix = "k"

    bandwidth = Log("Bandwidth of the densities", 0.7, low=0.05, high=20.0, address="k-h")
    form = Choice("Shown", "kbr", options={
        "kbr": "(b), on the pairs", "kbr_a": "(a), on the prior", "cme": "conditional mean",
    })  # fmt: skip
    herded = Integer("Samples (kernel herding)", 100, low=10, high=300, step=10, address="k-herd")


class ComparisonSettings(Settings):
    """What a comparison of all rules over many observations takes besides."""

    tests = Integer("Values of y at which means are compared", 1000, least=1, address=None)
    simulations = Integer("Simulations of rejection ABC", 20_000, least=2, address=None)
