"""The settings of the three studies of the one-dimensional problem, and of learning its model."""

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

from deconditioning.datasets.line_settings import LineProblem
from deconditioning.downscaling.settings import KERNEL_FAMILIES
from deconditioning.plain_data import check_seed
from deconditioning.settings.setting import Choice, Integer, Linear, Log, Switch
from deconditioning.settings.settings import Settings
from deconditioning.settings.wider import Named, OrNone, Whole

if TYPE_CHECKING:  # learning imports torch, and the command's flags are made without it
    from deconditioning.models.learning.learning import LearningOptions

#: Method → what it is called. The last two are the naive ones.
TITLES = {
    "task_transformed_gp": "Task-transformed GP",
    "dme": "Deconditional mean embedding",
    "impute": "Impute",
    "cascade": "Cascade",
}
#: How a kernel's lengthscale is called in plain words.
_SMOOTH = (
    "How smooth the function is",
    "The lengthscale of the kernel k: how far apart two values of x can be and still have nearly the same f(x). A "
    "short lengthscale gives a wiggly function.",
)
_PLACE = {"k": "k", "ℓ": "l"}


def kernel(
    view: str, symbol: str, column: str, scale: float, size: float, *, family: str = "rbf",
    plain: tuple[str, str] = ("", ""), sized: bool = True, only: Mapping[str, Container[Any]] | None = None,
) -> tuple[Named, Log, Log]:  # fmt: skip
    """Family, lengthscale and variance of one kernel of a view; only one that is ``sized`` has a slider of the last."""
    key, first = f"{view}-{_PLACE[symbol]}", 4 if symbol == "k" else 5
    return (
        Named(f"Kernel {symbol} on {column}", family, options=KERNEL_FAMILIES, widget="menu", address=f"{key}-family",
              sweep=False, first=first),
        Log(f"Lengthscale of {symbol}", scale, low=2e-2, high=20.0, address=f"{key}-scale", first=first,
            plain=plain[0], plain_help=plain[1]),
        Log(f"Variance of {symbol}", size, low=1e-2, high=1e3, address=f"{key}-size" if sized else None, sweep=sized,
            first=first, only=only or {}),
    )  # fmt: skip


class LineSettings(Settings):
    """How a method is fitted; JSON-able.

    Parameters
    ----------
    method : one of `TITLES`.
    model : a whole model (``ModelSpec.to_dict``) to start from, instead of the problem's own start.
    learn, restarts, steps, optimiser : as in ``LearningOptions``; ``tied`` sets λ = σ²/n while learning, as theorem 5.3
        has it.
    """

    prefix = "o"

    method = Named(
        "Method", "task_transformed_gp", options=TITLES, widget="menu", sweep=False,
        help="The task-transformed GP adds the uncertainty of g to the noise. The embedding uses the MAP estimate of "
        "g.",
    )  # fmt: skip
    model = OrNone(Whole("Model", {}, address=None), "the problem's own start")
    learn = Switch("Learn hyperparameters", True, address=None, about="learn hyperparameters, or keep the start values")
    tied = Switch(
        "λ = σ²/n while learning", True,
        help="On: both regularisations follow from the noise (theorem 5.3). Off: λ is learned separately.",
    )  # fmt: skip
    restarts = Integer("Starts", 3, low=1, high=10, typed=True, address="o-starts",
                       about="starts of the optimiser")  # fmt: skip
    steps = Integer("Steps per start", 60, low=5, high=300, typed=True, about="steps of each start")
    optimiser = Choice("Optimiser", "lbfgs", options={"lbfgs": "L-BFGS", "adam": "Adam"}, address="o-opt")
    seed = Integer("Seed", 0, address=None, sweep=False)
    device = Choice("Device", "auto", options={"auto": "a GPU where there is one", "cpu": "CPU", "cuda": "GPU"},
                    address=None, about="where to compute; auto uses a GPU if there is one")  # fmt: skip

    def __init__(self, method: str = "task_transformed_gp", **values: Any) -> None:
        check_seed(values.get("seed", 0))
        super().__init__(method=method, **values)

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> "LineSettings":
        """Settings from plain data; unknown names are refused with a sentence."""
        return LineSettings(**value)

    @property
    def options(self) -> "LearningOptions":
        """The options of learning: everything by the evidence at once, as theorem 5.3 (3) and (4) have it."""
        from deconditioning.models.learning.learning import LearningOptions

        return LearningOptions(
            stage_one="joint", method=self.optimiser, restarts=self.restarts, steps=self.steps, seed=self.seed,
            tied=self.tied,
        )  # fmt: skip


class RecoverSettings(LineProblem):
    """The hidden function recovered, at given hyperparameters."""

    method = LineSettings.method.copy()
    k_family, k_scale, k_size = kernel("o", "k", "x", 1.0, 2.1, plain=_SMOOTH)
    l_family, l_scale, l_size = kernel("o", "ℓ", "y", 0.4, 2.0, only={"method": ("task_transformed_gp",)})
    regularisation = Log("λ", 1e-3, low=1e-9, high=1.0, symbol="λ", address="o-lam", first=2,
                         help=lambda line: f"Enters as nλ, n = {line.counts[0]}.")  # fmt: skip
    noise = Log("σ²", 0.2, low=1e-4, high=10.0, symbol="σ²", first=1, help="Noise variance of z; ε = σ²/m.",
                plain="How noisy the measured values are",
                plain_help="σ, the standard deviation of the noise of z that the model assumes; the equation has its "
                "square. If it is small, the model trusts every value; if it is large, it trusts none.")  # fmt: skip


class BayesSettings(LineProblem):
    """Bayes' rule from samples: y, given one x."""

    prior = Choice("Prior of y", "uniform", address="b-prior", sweep=False, widget="menu",
                   options={name: name for name in ("uniform", "left", "centre", "two hills")},
                   plain="Prior",
                   plain_help="The distribution of y before x is observed.")  # fmt: skip
    x = Linear("Observed x", 1.0, low=-4.0, high=4.0, step=0.05, address="b-x", first=3, plain="Observation",
               plain_help="x, the simulated outcome whose cause y is to be inferred.")  # fmt: skip
    k_family, k_scale, k_size = kernel("b", "k", "x", 0.6, 1.0, sized=False)
    l_family, l_scale, l_size = kernel("b", "ℓ", "y", 0.5, 1.0, sized=False)
    regularisation = Log("λ, of the simulation", 1e-5, low=1e-9, high=1.0, symbol="λ", address="b-lam", first=2)
    second_regularisation = Log("ε, of the inverse", 1e-2, low=1e-9, high=1.0, symbol="ε", address="b-eps", first=1)
    herded = Integer("Samples (kernel herding)", 200, low=10, high=500, step=10, log=True, address="b-herd")


class TripSettings(LineProblem):
    """A function there and back: conditioned on Y, then deconditioned."""

    drawn = Switch("f is a draw from k", False, address=None, sweep=False)
    draw = Integer("Draw", 0, low=0, high=9999, typed=True, address="t-draw", sweep=False)
    k_family, k_scale, k_size = kernel("t", "k", "x", 0.8, 1.0, plain=_SMOOTH, sized=False)
    l_family, l_scale, l_size = kernel("t", "ℓ", "y", 0.5, 1.0, family="matern12", sized=False)
    regularisation = Log("λ, of the first stage", 1e-6, low=1e-14, high=1.0, symbol="λ", address="t-lam", first=1)
    second_regularisation = Log(
        "ε, of the second stage", 2e-2, low=1e-12, high=1.0, symbol="ε", address="t-eps", first=2,
        plain="Regularisation",
        plain_help="ε, the regularisation of the second stage. If it is small, everything that can be recovered is "
        "recovered, including noise.",
    )  # fmt: skip


class TripShown(Settings):
    """What of a function's way there and back is drawn besides."""

    x = Linear("x of the embedding", 1.0, low=-4.0, high=4.0, step=0.05, address="t-x", sweep=False)
