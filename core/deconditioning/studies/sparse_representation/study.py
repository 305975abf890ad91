"""Sparse representation of a toy function: random points, learned points, and two yardsticks that see all data."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from deconditioning.datasets.sparse_toy import HALF_WIDTH, LENGTHSCALE, VARIANCE, Toy, ToySpec, make_toy
from deconditioning.device import choose
from deconditioning.engine.reporting import NoReport, Stopwatch, peak_mb
from deconditioning.errors import InputError
from deconditioning.kernels.spec import gaussian
from deconditioning.models.catalogue import BAG_GP, VARIATIONAL_GP
from deconditioning.models.centroids import singletons
from deconditioning.models.indirect_gp import Columns
from deconditioning.models.learning.progress import evaluation_sentence
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.sparse.inducing import located
from deconditioning.models.sparse.sparse_representation import SparseRepresentation, learn_sparse, sparse_posterior
from deconditioning.models.spec import Inducing, ModelSpec
from deconditioning.observations import IndirectData
from deconditioning.plain_data import check_seed
from deconditioning.studies.sparse_representation.settings import LearningSettings, ToySettings

_COLUMNS = ("x",)
#: Version → what it is; the last two are yardsticks, not task-transformed.
VERSIONS = {
    "random": "Random points",
    "learned": "Points and hyperparameters learned",
    "learned_points": "Points learned, true hyperparameters",
    "variational_gp": "Variational GP, as many points (k-means++)",
    "exact_gp": "GP on all data",
}
#: Where points may stand that nothing has learned.
PLACES = ("random", "even")
#: An exact GP beyond this many data would take minutes.
_MOST_EXACT = 2000


@dataclass(frozen=True)
class SparseSettings:
    """Which version, how many points, and how they are learned."""

    version: str = LearningSettings.version.default
    points: int = ToySettings.points.default
    starts: int = LearningSettings.starts.default
    steps: int = LearningSettings.steps.default
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.version not in VERSIONS:
            raise InputError(f"The version '{self.version}' is unknown: choose among {', '.join(VERSIONS)}.")
        if not 1 <= self.points <= 500:
            raise InputError(f"{self.points} points are requested: give between 1 and 500.")


@dataclass(frozen=True)
class Represented:
    """``mean`` and ``sd`` on the toy's grid (P,), the ``locations`` used, the learned model where there is one."""

    mean: np.ndarray
    sd: np.ndarray
    locations: np.ndarray
    spec: SparseRepresentation | None
    evidence: float | None
    warnings: tuple[str, ...] = ()
    cancelled: bool = False

    def scores(self, toy: Toy) -> dict[str, float]:
        """RMSE, coverage and CRPS of f on the grid."""
        from deconditioning.metrics.field_scores import score_points
        from deconditioning.metrics.predictive import Predictive

        return score_points(toy.truth, Predictive(self.mean, self.sd))


def true_model(toy: Toy, locations: np.ndarray) -> SparseRepresentation:
    """The toy's own kernel and noise at given points."""
    noise = max(toy.spec.noise**2, 1e-6)
    kernel = gaussian(("x",), (LENGTHSCALE,), VARIANCE)
    return SparseRepresentation(tuple((float(v),) for v in locations), _COLUMNS, kernel, None, noise)


def places_of(toy: Toy, count: int, places: str) -> np.ndarray:
    """Where ``count`` points stand that nothing has learned: at random, or evenly."""
    if places not in PLACES:
        raise InputError(f"The positions '{places}' of the points are unknown: choose one of {', '.join(PLACES)}.")
    even = np.linspace(-0.85 * HALF_WIDTH, 0.85 * HALF_WIDTH, count) if count > 1 else np.zeros(1)
    return even if places == "even" else _random_points(count, toy.spec.seed)


def at_hyperparameters(toy: Toy, at: np.ndarray, scale: float, variance: float, noise: float) -> SparseRepresentation:
    """A representation with points ``at`` (p, 1), a Gaussian kernel of lengthscale ``scale``, and σ² = ``noise``."""
    base = true_model(toy, at)
    term = base.kernel.terms[0]
    factor = replace(term.factors[0], lengthscales=(scale,))
    return replace(base, kernel=replace(base.kernel, terms=(replace(term, factors=(factor,), scale=variance),)),
                   noise=noise)  # fmt: skip


def _random_points(count: int, seed: int) -> np.ndarray:
    """Uniform places, their own draw."""
    return np.random.default_rng([seed, 11]).uniform(-HALF_WIDTH, HALF_WIDTH, count)


def represent(toy: Toy, settings: SparseSettings, context: Any = None) -> Represented:
    """One version of the representation, read on the grid."""
    if settings.version in ("exact_gp", "variational_gp"):
        return _yardstick(toy, settings)
    context = context or NoReport()
    device = choose(settings.device)
    inputs, targets = toy.inputs.to(device), toy.targets.to(device)
    spec, more = true_model(toy, _random_points(settings.points, settings.seed)), {}
    if settings.version != "random":
        learned = learn_sparse(
            spec,
            inputs,
            targets,
            hyperparameters=settings.version == "learned",
            steps=settings.steps,
            starts=settings.starts,
            seed=settings.seed,
            report=lambda event: _tell(context, event),
            check=context.check,
        )
        spec, more = learned.spec, {"warnings": learned.warnings, "cancelled": learned.cancelled}
    return read(toy, spec, inputs, targets, **more)


def read(toy: Toy, spec: SparseRepresentation, inputs: Any = None, targets: Any = None, **more: Any) -> Represented:
    """The posterior of a given representation on the grid."""
    inputs, targets = (toy.inputs, toy.targets) if inputs is None else (inputs, targets)
    result, at = sparse_posterior(spec, inputs, targets), toy.grid.to(targets.device)
    places = np.array(spec.locations)[:, 0]
    mean, sd = result.mean(at).cpu().numpy(), result.variance(at).sqrt().cpu().numpy()
    return Represented(mean, sd, places, spec, result.evidence, **more)


def _tell(context: Any, event: dict[str, Any]) -> None:
    context.check()
    context.report(
        step=min(event["evaluation"], event["total"]),
        total=event["total"],
        message=f"start {event['restart'] + 1}: {evaluation_sentence(event)}",
        stage="evidence",
        restart=event["restart"],
        quantity=event["quantity"],
        value=event["value"],
        best=event["best"],
        hyperparameters=event["hyperparameters"],
        locations=[row[0] for row in event["locations"]],
    )


def _yardstick(toy: Toy, settings: SparseSettings) -> Represented:
    """Gaussian process regression with the toy's own hyperparameters, exact or by the collapsed bound."""
    exact = settings.version == "exact_gp"
    if exact and len(toy.targets) > _MOST_EXACT:
        raise InputError(f"An exact GP of {len(toy.targets)} data is left out: at most {_MOST_EXACT}.")
    data = IndirectData(singletons(toy.inputs), toy.inputs, toy.inputs, toy.targets)
    noise = max(toy.spec.noise**2, 1e-6)
    count = min(settings.points, len(toy.targets))
    model = BAG_GP if exact else VARIATIONAL_GP
    spec = ModelSpec(
        model, gaussian(("x",), (LENGTHSCALE,), VARIANCE), noise=noise, inducing=Inducing(count, seed=settings.seed)
    )
    spec = spec if exact else located(spec, data.bags)
    result = named_posterior(spec, data, Columns(_COLUMNS, _COLUMNS))
    places = np.empty(0) if exact else np.array(spec.inducing.locations)[:, 0]
    mean, variance = result.mean_and_variance(toy.grid)
    return Represented(mean.numpy(), variance.sqrt().numpy(), places, None, None)


def _spec_to_dict(spec: SparseRepresentation) -> dict[str, Any]:
    """A JSON-able description of a learned representation, inverse of ``spec_from_dict``."""
    ell = spec.mediator_kernel.to_dict() if spec.mediator_kernel else None
    return {**asdict(spec), "kernel": spec.kernel.to_dict(), "mediator_kernel": ell}


def spec_from_dict(value: dict[str, Any]) -> SparseRepresentation:
    """From ``_spec_to_dict``."""
    from deconditioning.kernels.spec import KernelSpec

    ell = value.get("mediator_kernel")
    return SparseRepresentation(
        tuple(tuple(row) for row in value["locations"]),
        tuple(value["columns"]),
        KernelSpec.from_dict(value["kernel"]),
        KernelSpec.from_dict(ell) if ell else None,
        value["noise"],
    )


def sparse_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: ``settings`` holds ``toy`` (a ``ToySpec``) and ``settings`` (``SparseSettings``)."""
    toy, chosen = make_toy(ToySpec(**settings["toy"])), SparseSettings(**settings["settings"])
    context.report(message=f"{toy.spec.data} data, {chosen.points} points")
    return summary_of(toy, chosen, context)


def summary_of(toy: Toy, settings: SparseSettings, context: Any = None) -> dict[str, Any]:
    """Represent and keep what the closed form does not give again."""
    watch = Stopwatch()
    represented = represent(toy, settings, context)
    return {
        "cancelled": represented.cancelled,
        "model": settings.version,
        "scores": represented.scores(toy),
        "learned": _spec_to_dict(represented.spec) if represented.spec else None,
        "evidence": represented.evidence,
        "warnings": list(represented.warnings),
        "seconds": watch.seconds(),
        "peak_mb": peak_mb(choose(settings.device)),
    }
