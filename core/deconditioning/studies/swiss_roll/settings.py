"""The settings of the swiss roll: how it is cut, the model and its hyperparameters, how these are learned."""

from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deconditioning.settings.lazily import Lazily
from deconditioning.settings.setting import Choice, Integer, Linear, Log
from deconditioning.settings.settings import Settings

if TYPE_CHECKING:
    from deconditioning.models.named_model import Hyperparameter, NamedModel

#: Points on the roll and starts of the optimiser in the benchmark; the page has fewer of both.
BENCHMARK_POINTS, BENCHMARK_STARTS = 5000, 6
_MATCHING = (
    "Direct: every slice has its points and its mean. Indirect: half of the slices keep their points, the other "
    "half their means; only the height connects them."
)


def _models() -> dict[str, str]:
    from deconditioning.models.catalogue import GENERAL

    return {name: model.title for name, model in GENERAL.items()}


@dataclass(frozen=True)
class Using(Container[str]):
    """Names of the models that have a hyperparameter."""

    what: "Hyperparameter"

    def __contains__(self, name: object) -> bool:
        from deconditioning.models.catalogue import GENERAL

        return name in GENERAL and GENERAL[str(name)].uses(self.what)


class ProblemSettings(Settings):
    """The roll, how it is cut (Chau et al. 2021, §5.1), and the model."""

    prefix = "r"

    matching = Choice("Matching", "direct", options={"direct": "direct", "indirect": "indirect"}, address="r-match",
                      about="direct: each slice has points and a mean; indirect: one or the other", help=_MATCHING,
                      plain="Matching of points and means", plain_help=_MATCHING)  # fmt: skip
    points = Integer("Points on the roll", 2000, low=200, high=5000, step=100, log=True, draws=True, first=10)
    slices = Integer("Slices", 50, low=2, high=100, log=True, draws=True, first=9, address="r-bags", flag="bags",
                     plain="How many slices",
                     plain_help="B: the number of horizontal slices the roll is cut into.")  # fmt: skip
    slice_noise = Linear("Noise of a slice mean (sd)", 0.05, low=0.0, high=1.0, step=0.05, draws=True, first=11,
                         address="r-noise", flag="noise", plain="How noisy the means are",
                         plain_help="The standard deviation of the noise on a slice's mean.")  # fmt: skip
    seed = Integer("Seed", 0, low=0, high=9999, typed=True, sweep=False)
    model = Choice("Model", "cmp", options=Lazily(_models), widget="menu")
    inducing = Integer("Inducing points", 200, low=5, high=1000, step=25, log=True, draws=True, first=12, typed=True,
                       address="r-induce", about="of sparse models", only={"model": Using("inducing")})  # fmt: skip

    @property
    def kind(self) -> "NamedModel":
        """The model itself."""
        from deconditioning.models.catalogue import GENERAL

        return GENERAL[self.model]


class SwissRollSettings(ProblemSettings):
    """All that can be swept; hyperparameters begin near what learning finds for the matching."""

    prefix = "r"

    regularisation = Log(
        "λ", 1e-5, low=1e-9, high=1.0, first=2, symbol="λ", otherwise={"matching": {"indirect": {"default": 1e-3}}},
        only={"model": Using("regularisation")}, address="r-lam", about="its starting value",
        help="Inside Nλ (CMP) or Bλ (shrinkage CMP).", plain="How strongly slices are blended",
        plain_help="λ, the regularisation of the conditional mean operator: the larger it is, the more a slice also "
        "represents its neighbours. Models without mediation have none.",
    )  # fmt: skip
    l_scale = Log("Lengthscale of ℓ (height)", 0.1, low=2e-2, high=5.0, first=3,
                  otherwise={"matching": {"indirect": {"default": 0.5}}}, only={"model": Using("mediator_kernel")},
                  address="r-ell")  # fmt: skip
    l_size = Log("Variance of ℓ", 1.0, low=1e-3, high=1e3, first=4, only={"model": Using("mediator_variance")},
                 address="r-ls")  # fmt: skip
    k_x = Log("Lengthscale of k: x", 1.9, low=5e-2, high=50.0, first=5, draws=True, address="r-k0",
              otherwise={"matching": {"indirect": {"default": 1.1}}})  # fmt: skip
    k_width = Log("Lengthscale of k: width", 2.9, low=5e-2, high=50.0, first=6, draws=True, address="r-k1",
                  otherwise={"matching": {"indirect": {"default": 1.4}}})  # fmt: skip
    k_height = Log("Lengthscale of k: height", 1.9, low=5e-2, high=50.0, first=7, draws=True, address="r-k2",
                   otherwise={"matching": {"indirect": {"default": 0.95}}})  # fmt: skip
    k_size = Log("Variance of k", 3.5, low=1e-2, high=100.0, first=8, address="r-s",
                 otherwise={"matching": {"indirect": {"default": 1.4}}})  # fmt: skip
    noise = Log("σ²", 3e-3, low=1e-5, high=10.0, first=1, symbol="σ²", address="r-n", flag="noise-variance",
                otherwise={"matching": {"indirect": {"default": 7e-2}}},
                help="Noise variance of a slice's mean.")  # fmt: skip


class LearningSettings(Settings):
    """How the hyperparameters are learned."""

    prefix = "r"

    stage_one = Choice("Stages", "joint", widget="menu", address="r-stage", about="how ℓ and λ are learned", options={
        "joint": "All jointly, by the evidence",
        "leave_one_bag_out": "λ and ℓ by leaving slices out, then k",
        "target_gp": "ℓ from the GP of means on heights, then k",
    })  # fmt: skip
    method = Choice("Optimiser", "lbfgs", options={"lbfgs": "L-BFGS", "adam": "Adam"}, address="r-opt")
    bound = Choice(
        "Bound", "collapsed", options={"collapsed": "collapsed", "stochastic": "stochastic"},
        help="Collapsed: the optimal q(u) in closed form. Stochastic: minibatches of the ELBO by Adam.",
    )  # fmt: skip
    restarts = Integer("Starts", 3, low=1, high=10, typed=True, sweep=False, address="r-starts",
                       about="of the optimiser")  # fmt: skip
    steps = Integer("Steps per start", 60, low=5, high=300, typed=True, sweep=False)
