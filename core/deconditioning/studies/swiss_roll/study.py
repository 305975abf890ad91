"""The swiss roll experiment: fit a named model to slices, read it at every point, score it against the truth."""

from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.bag_sums.pixel_sums import Picture
from deconditioning.datasets.swiss_roll import INPUTS, MEDIATORS, RollSpec, SwissRoll, make_swiss_roll
from deconditioning.device import choose
from deconditioning.downscaling.prediction import posterior_of_sums, reads_bags, sums_fit_in_memory
from deconditioning.engine.reporting import NoReport, Stopwatch, peak_mb
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec, gaussian
from deconditioning.models.catalogue import GENERAL, named
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.indirect_gp import Columns
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.learning.progress import learning_reporter
from deconditioning.models.named_model import NamedModel
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.pseudo_targets import with_pseudo_targets
from deconditioning.models.sparse.coreset import coreset
from deconditioning.models.sparse.inducing import fitting, located
from deconditioning.models.spec import Inducing, ModelSpec
from deconditioning.observations import IndirectData
from deconditioning.plain_data import check_seed, from_known
from deconditioning.studies.swiss_roll.settings import (
    BENCHMARK_STARTS,
    LearningSettings,
    ProblemSettings,
    SwissRollSettings,
)

COLUMNS = Columns(INPUTS, MEDIATORS)
#: λ to start from and width of the priors. Matched slices ask for W near the identity; between slices of the other half
#: W must smooth, and half as many targets hold the kernels less firmly (ablation: docs/swiss_roll.md).
_START_REGULARISATION = {"direct": 1e-5, "indirect": 1e-2}
_PRIOR_SD = {"direct": 1.5, "indirect": 1.0}
_START_NOISE = 0.1


@dataclass(frozen=True)
class RollSettings:
    """A model of the roll and how it is learned; JSON-able.

    Parameters
    ----------
    model : name in the catalogue.
    lengthscale, mediator_lengthscale : where k (one a coordinate) and ℓ start; ``kernel`` and ``mediator_kernel``
        are whole kernels (``KernelSpec.to_dict``) that win over them.
    regularisation, noise, point_noise : λ (None: by the matching), σ², ς².
    inducing : inducing points of a sparse model, at most as many as there are points; ``inducing_learned`` moves them.
    learn, stage_one, learn_regularisation, restarts, steps, method, bound : as in ``LearningOptions``;
        ``prior_sd`` the width of the log-normal priors that hold kernels near their start (0: none, None: by the
        matching).
    points : points a slice while learning (k-means coreset); the posterior uses all.
    """

    model: str = ProblemSettings.model.default
    lengthscale: float = 1.0
    mediator_lengthscale: float = 1.0
    regularisation: float | None = None
    noise: float = _START_NOISE
    point_noise: float = 0.0
    kernel: dict[str, Any] | None = None
    mediator_kernel: dict[str, Any] | None = None
    inducing: int = ProblemSettings.inducing.default
    inducing_learned: bool = False
    learn: bool = True
    stage_one: str = LearningSettings.stage_one.default
    learn_regularisation: bool = True
    restarts: int = BENCHMARK_STARTS
    steps: int = LearningSettings.steps.default
    method: str = LearningSettings.method.default
    bound: str = LearningSettings.bound.default
    prior_sd: float | None = None
    points: int = 20
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.kind.name not in GENERAL:
            raise InputError(
                f"The model '{self.model}' applies only to spatial fields: choose one of {', '.join(GENERAL)}."
            )
        if self.points < 1:
            raise InputError(f"`points` is {self.points}: give at least one point per slice.")

    @property
    def kind(self) -> NamedModel:
        """The model itself."""
        return named(self.model)

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "RollSettings":
        """Settings from plain data; unknown names are refused with a sentence."""
        return from_known(RollSettings, value)

    def learning(self, matching: str) -> LearningOptions:
        """The options of learning."""
        return LearningOptions(
            stage_one=self.stage_one, method=self.method, restarts=self.restarts, steps=self.steps, seed=self.seed,
            learn_regularisation=self.learn_regularisation, bound=self.bound,
            prior_sd=_PRIOR_SD[matching] if self.prior_sd is None else self.prior_sd,
        )  # fmt: skip


def roll_spec(settings: ProblemSettings) -> RollSpec:
    """The roll of these settings; raises ``InputError`` for one that cannot be cut."""
    return RollSpec(settings.points, settings.slices, settings.slice_noise, settings.matching, settings.seed)


def model_spec(settings: SwissRollSettings) -> ModelSpec:
    """The model at these hyperparameters."""
    scales = settings.k_x, settings.k_width, settings.k_height
    k = gaussian(COLUMNS.inputs, scales, settings.k_size)
    ell = gaussian(COLUMNS.mediators, (settings.l_scale,), settings.l_size)
    spec = ModelSpec(settings.kind, k, ell, settings.regularisation, settings.noise)
    inducing = Inducing(settings.inducing, seed=settings.seed)
    return replace(spec, inducing=inducing) if spec.model.uses("inducing") else spec


@dataclass(frozen=True)
class RollFit:
    """A fitted model: posterior ``mean`` and ``sd`` of f at every point (N,), ``scores``, the model ``spec`` used,
    ``seconds`` (cpu, wall), ``peak_mb``, sentences, and whether learning was cut short."""

    mean: Float[Tensor, " N"]
    sd: Float[Tensor, " N"]
    scores: dict[str, float]
    spec: ModelSpec
    seconds: dict[str, float]
    peak_mb: float
    warnings: tuple[str, ...] = ()
    cancelled: bool = False


def mediator_kernel(lengthscale: float) -> KernelSpec:
    """The Gaussian ℓ on slice heights."""
    return gaussian(COLUMNS.mediators, (lengthscale,))


def starting_spec(roll: SwissRoll, settings: RollSettings) -> ModelSpec:
    """The model at its given hyperparameters."""
    k = gaussian(COLUMNS.inputs, (settings.lengthscale,) * 3)
    ell = mediator_kernel(settings.mediator_lengthscale)
    return ModelSpec(
        settings.kind,
        KernelSpec.from_dict(settings.kernel) if settings.kernel else k,
        KernelSpec.from_dict(settings.mediator_kernel) if settings.mediator_kernel else ell,
        _START_REGULARISATION[roll.spec.matching] if settings.regularisation is None else settings.regularisation,
        settings.noise,
        settings.point_noise,
        inducing=Inducing(_inducing_count(roll, settings), learned=settings.inducing_learned, seed=settings.seed),
    )


def _inducing_count(roll: SwissRoll, settings: RollSettings) -> int:
    """As many as asked for where there are enough points; on centroids at most one a bag."""
    model, requested = settings.kind, settings.inducing
    return model.inducing_count(requested, roll.data.bags) if model.uses("inducing") else requested


def data_for(roll: SwissRoll, model: NamedModel, check: Check = never) -> IndirectData:
    """The data a model can use: as they are, or with pseudo-targets, each given to its own bag, where it needs them."""
    if model.reads(roll.data):
        return roll.data
    return with_pseudo_targets(mediator_kernel(1.0), roll.data, COLUMNS, LearningOptions(restarts=2), check=check)


def fit_roll(roll: SwissRoll, settings: RollSettings, context: Any = None) -> RollFit:
    """Learn (if asked) on a coreset of each bag, condition on all points, score at every point of the roll."""
    context = context or NoReport()
    watch, device = Stopwatch(), choose(settings.device)
    data = data_for(roll, settings.kind, context.check).to(device)
    spec, cancelled = starting_spec(roll, settings), False
    warnings: tuple[str, ...] = ()
    if settings.learn:
        options = settings.learning(roll.spec.matching)
        small = replace(data, bags=coreset(data.bags, settings.points, settings.seed))
        start = replace(spec, inducing=fitting(spec.inducing, small.bags))
        reporter = learning_reporter(context, spec.model, options)
        learned = learn(start, small, COLUMNS, options, report=reporter, check=context.check)
        spec, warnings, cancelled = learned.spec, learned.warnings, learned.cancelled
    mean, sd = posterior_at_points(spec, data, roll.inputs.to(device), roll.points.to(device))
    seconds = watch.seconds()
    return RollFit(mean, sd, score(roll, mean, sd), spec, seconds, peak_mb(device), warnings, cancelled)


def posterior_at_points(
    spec: ModelSpec,
    data: IndirectData,
    inputs: Float[Tensor, "N 3"],
    points: Int[Tensor, " n"] | None = None,
    check: Check = never,
    cache: tuple[SumsStore, str] | None = None,
) -> tuple[Float[Tensor, " N"], Float[Tensor, " N"]]:
    """Posterior mean and sd of f at given points, on the CPU.

    Where ``points`` tell which row of ``inputs`` each row of the bags is, every pair of points is evaluated once, and
    not even that where ``cache``, a store and the problem's name in it, holds the sums.
    """
    _, mean, variance = conditioned(spec, data, inputs, points, check, cache)
    return mean.cpu(), variance.sqrt().cpu()


def conditioned(
    spec: ModelSpec,
    data: IndirectData,
    inputs: Float[Tensor, "N 3"],
    points: Int[Tensor, " n"] | None = None,
    check: Check = never,
    cache: tuple[SumsStore, str] | None = None,
) -> tuple[Conditioning | None, Float[Tensor, " N"], Float[Tensor, " N"]]:
    """What conditioning gives where the sums of pairs of points are kept, and the moments of `posterior_at_points`."""
    if points is not None and reads_bags(spec) and sums_fit_in_memory(data.bags, len(inputs)):
        picture = Picture(inputs, COLUMNS.inputs, data.bags, points)
        store, name = cache or (SumsStore(), "")
        return posterior_of_sums(spec, data, COLUMNS, store.parts(name, spec.kernel, picture, check))
    fitted = named_posterior(spec, data, COLUMNS, check)
    return (None, *fitted.mean_and_variance(inputs, check))


def inducing_points(roll: SwissRoll, model: NamedModel, count: int, seed: int) -> tuple[tuple[float, ...], ...]:
    """Places of a sparse model's inducing points on a roll, whatever its hyperparameters are."""
    bags = roll.data.bags
    count = model.inducing_count(count, bags)
    any_kernel = gaussian(("x",), (1.0,))
    return located(ModelSpec(model, any_kernel, inducing=Inducing(count, seed=seed)), bags).inducing.locations


def score(roll: SwissRoll, mean: Tensor, sd: Tensor) -> dict[str, float]:
    """RMSE, MAE, bias, correlation, coverage and CRPS of the posterior of f against t at every point."""
    from deconditioning.metrics.field_scores import score_points
    from deconditioning.metrics.predictive import Predictive

    return score_points(roll.truth.numpy(), Predictive(mean.numpy(), sd.numpy()))


def roll_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: ``settings`` holds ``roll`` (a ``RollSpec``) and ``settings`` (``RollSettings``)."""
    roll = make_swiss_roll(RollSpec(**settings["roll"]))
    chosen = RollSettings.from_dict(settings["settings"])
    context.report(message=f"{roll.data.bags.count} bags, {len(roll.data.targets)} targets")
    return _summary_of(fit_roll(roll, chosen, context))


def _summary_of(roll_fit: RollFit) -> dict[str, Any]:
    """What is kept of a fit: everything but the fields, which the learned model gives again in closed form."""
    return {
        "cancelled": roll_fit.cancelled,
        "model": roll_fit.spec.model.name,
        "scores": roll_fit.scores,
        "learned": roll_fit.spec.to_dict(),
        "warnings": list(roll_fit.warnings),
        "seconds": roll_fit.seconds,
        "peak_mb": roll_fit.peak_mb,
    }
