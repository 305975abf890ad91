"""Learning of hyperparameters: λ and ℓ by leave-one-bag-out, then k and the noise variances by the evidence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from deconditioning import linalg
from deconditioning.bag_sums.moving import BagGram, over_pairs
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.catalogue import BAG_GP
from deconditioning.models.centroids import singletons
from deconditioning.models.indirect_gp import Columns, mediator_grams
from deconditioning.models.learning.initial import ONE_SOURCE
from deconditioning.models.learning.objectives import collapsed_objective, exact_objective
from deconditioning.models.learning.optimise import Optimum, Report, minimise
from deconditioning.models.learning.parameters import (
    NOISE,
    ParameterVector,
    kernel_parameters,
    log_parameter,
    log_prior,
)
from deconditioning.models.learning.repeats import Repeats, averaged_objective
from deconditioning.models.learning.trainable import NOISES, Trainable
from deconditioning.models.mediation import leave_one_bag_out
from deconditioning.models.sparse.stochastic import StochasticOptions, fit_stochastic
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData

#: ``λ·B`` stays inside these bounds in stage one; towards zero the weights interpolate.
_REGULARISATION_TIMES_BAGS = (1e-8, 1e-1)
#: Prior variance (in units of the targets' variance) above which learning counts as run away.
RUNAWAY_VARIANCE = 100.0


@dataclass(frozen=True)
class LearningOptions:
    """Options of learning.

    ``stage_one``: "leave_one_bag_out" (default), "target_gp" (ℓ from the GP of z̃ on ỹ, λ fixed), or "joint"
    (everything by the evidence at once, which can diverge on real data); ``learn_regularisation``: whether "joint"
    learns λ too. ``bound``: sparse models maximise the "collapsed" bound, or its minibatch form ("stochastic", with the
    steps of ``stochastic``). ``prior_sd`` > 0 adds log-normal priors of that width on lengthscales and variances
    (maximum a posteriori), centred on the start or as given to `learn`: few targets alone do not determine them.
    ``tied`` sets λ = σ²/B in "joint" (Hsu and Ramos 2019, theorem 5.3 (4)). ``hold`` names noise variances that are not
    learned, "noise" (σ²) and "point_noise" (ς²): coarse targets cannot distinguish either from roughness of f inside
    the cells. "representativeness" (τ²) is that of every source beside the cells, "representativeness-2" of the second.
    """

    stage_one: str = "leave_one_bag_out"
    method: str = "lbfgs"
    restarts: int = 3
    steps: int = 40
    seed: int = 0
    learn_regularisation: bool = True
    bound: str = "collapsed"
    prior_sd: float = 0.0
    tied: bool = False
    hold: tuple[str, ...] = ()
    stochastic: StochasticOptions = field(default_factory=StochasticOptions)

    def __post_init__(self) -> None:
        if self.stage_one not in ("leave_one_bag_out", "target_gp", "joint"):
            raise InputError(
                f"The first stage '{self.stage_one}' is unknown: choose leave_one_bag_out, target_gp or joint."
            )
        if self.bound not in ("collapsed", "stochastic"):
            raise InputError(f"The bound '{self.bound}' is unknown: choose collapsed or stochastic.")
        if not 0 <= self.prior_sd < math.inf:
            raise InputError(f"`prior_sd` is {self.prior_sd}: give a positive number, or 0 for no priors.")
        _check_hold(self.hold)
        if self.restarts < 1 or self.steps < 1:
            raise InputError(f"{self.restarts} restarts of {self.steps} steps were requested: give at least one each.")


def _check_hold(hold: tuple[str, ...]) -> tuple[str, ...]:
    """The noise variances that are not learned; ``InputError`` for an unknown name."""
    unknown = [name for name in hold if name not in NOISES and name not in ONE_SOURCE]
    if unknown:
        raise InputError(
            f"`{unknown[0]}` cannot be fixed while learning: choose from {', '.join(NOISES)}, or "
            "representativeness-2 for the second source."
        )
    return hold


@dataclass(frozen=True)
class Learned:
    """Result of learning: the new ``spec``, its log evidence, messages for the user, and whether it was cancelled."""

    spec: ModelSpec
    evidence: float
    warnings: tuple[str, ...]
    cancelled: bool
    stages: dict[str, Any] = field(default_factory=dict)


def learn(
    spec: ModelSpec,
    data: IndirectData,
    columns: Columns,
    options: LearningOptions | None = None,
    *,
    report: Report = lambda event: None,
    check: Check = never,
    bag_gram: BagGram | None = None,
    held_to: KernelSpec | None = None,
    repeats: Sequence[Repeats] = (),
    smoothest: float = math.inf,
) -> Learned:
    """Learn a model's hyperparameters from indirect data.

    Mediated models learn in two stages, because the evidence of z̃ prefers a large λ and can diverge on real data:
    first ``ℓ`` and ``λ`` by the leave-one-bag-out loss with ``k`` fixed, then ``k``, ``σ²``, ``ς²`` by the evidence
    with W fixed. Other models have only the second stage; a model whose Σ depends on ℓ learns it jointly; sparse models
    maximise a lower bound on the evidence. K̄ comes from ``bag_gram`` if given (never for sparse models), otherwise
    from every pair of the bags' points. ``held_to`` is a kernel of the same structure with the centres of the priors of
    k. With ``repeats`` the evidence is the mean over their times, and ``data`` only gives W of stage one. ``smoothest``
    is the largest exponent α of a powered exponential. ``report`` receives a dict per evaluation with the ``stage``,
    the ``quantity``, its ``value``, the ``best`` so far and the hyperparameters; ``check`` may cancel.

    ``value`` and ``best`` are ``factor`` times the loss: the loss is the negative log evidence per target, the reported
    values are for all targets.

    All covariates share ℓ; each is standardised. W regresses the embedding of these covariates. λ at its lower bound
    means that mediators determine them exactly, and is not a warning.
    """
    options, model = options or LearningOptions(), spec.model
    work = _Work(model.sees(data), columns, options, report, check, bag_gram, held_to, tuple(repeats), smoothest)
    stages: dict[str, Any] = {}
    warnings: list[str] = []
    cancelled = False
    if model.learns_mediation_first(options.stage_one):
        stage = _stage_one if options.stage_one == "leave_one_bag_out" else _target_gp
        stage = _covariate_gp if model.partial else stage
        spec, optimum, hits = stage(spec, work)
        stages["stage_one"], cancelled = _summary(optimum), optimum.cancelled
        warnings += [f"Stage one ended with {hit}." for hit in hits]
    if cancelled:
        return Learned(spec, math.nan, tuple(warnings), True, stages)
    joint = model.mediated and not model.partial and options.stage_one == "joint"
    stage_two = _stochastic_stage if options.bound == "stochastic" and model.sparse else _evidence_stage
    spec, optimum, hits = stage_two(spec, work, joint=joint)
    stages["stage_two"] = _summary(optimum)
    warnings += [f"Learning ended with {hit}." for hit in hits]
    warnings += _runaway(spec)
    return Learned(spec, -optimum.loss * len(data.targets), tuple(warnings), optimum.cancelled, stages)


@dataclass(frozen=True)
class _Work:
    """What all stages look at, and whom they tell."""

    data: IndirectData
    columns: Columns
    options: LearningOptions
    report: Report
    check: Check
    bag_gram: BagGram | None = None
    held_to: KernelSpec | None = None
    repeats: tuple[Repeats, ...] = ()
    smoothest: float = math.inf

    @property
    def device(self) -> torch.device:
        return self.data.targets.device

    def reporter(self, stage: str, quantity: str, factor: float) -> Report:
        """A report that says of which ``stage`` and ``quantity`` an evaluation is.

        ``value`` and ``best`` are ``factor`` times the loss that is minimised: log evidences are per target and negated
        there, their values here are those of all targets.
        """

        def tell(event: dict[str, Any]) -> None:
            """Pass an evaluation on with its stage, quantity and signed values."""
            value = {"value": factor * event["loss"], "best": factor * event["best_loss"]}
            self.report({"stage": stage, "quantity": quantity, **value, **event})

        return tell

    def run(self, loss: Any, vector: ParameterVector, report: Report) -> Optimum:
        """Minimise, as the options say."""
        o = self.options
        return minimise(loss, vector, method=o.method, restarts=o.restarts, steps=o.steps, seed=o.seed, report=report)


#: The model, the optimum and which hyperparameters ended at a bound.
_Stage = tuple[ModelSpec, Optimum, tuple[str, ...]]


def _summary(optimum: Optimum) -> dict[str, Any]:
    return {
        "loss": optimum.loss,
        "evaluations": optimum.evaluations,
        "restart_losses": list(optimum.restart_losses),
    }


def _runaway(spec: ModelSpec) -> list[str]:
    if spec.kernel.variance <= RUNAWAY_VARIANCE:
        return []
    ratio = math.sqrt(spec.kernel.variance)
    return [
        f"The prior standard deviation grew to {ratio:.0f} times that of the targets: the model exaggerates the fine "
        "field to compensate for shrunken weights. Fix λ at a smaller value or shorten the mediator lengthscales."
    ]


def _stage_one(spec: ModelSpec, work: _Work) -> _Stage:
    """``ℓ`` and ``λ`` by the leave-one-bag-out loss; k fixed, ℓ's first scale fixed (only its ratio to λ matters)."""
    assert spec.mediator_kernel is not None
    data, columns, model = work.data.cells_alone, work.columns, spec.model
    with torch.no_grad():
        kernel = spec.kernel.build(columns.inputs).to(work.device)
        between = (work.bag_gram or over_pairs(data.bags, work.check))(kernel)[: data.bags.count, : data.bags.count]
    ell = spec.mediator_kernel.build(columns.mediators).to(work.device)
    low, high = (bound / data.bags.count for bound in _REGULARISATION_TIMES_BAGS)
    lam = log_parameter("regularisation λ", spec.regularisation, (low, high), work.device)
    vector = ParameterVector((*kernel_parameters("ℓ", spec.mediator_kernel, ell, fix_first_scale=True), lam))
    nothing = data.targets.new_zeros(data.bags.count)
    within = replace(data, query_mediators=data.mediators, targets=nothing, footprints=None)
    sizes = model.weighs_bags_by(data.bags.sizes)
    if data.importance is not None:
        sizes = data.importance if sizes is None else sizes * data.importance

    def loss() -> Tensor:
        """The leave-one-bag-out loss at the present ℓ and λ."""
        work.check()
        grams = mediator_grams(spec, within, columns, ell)
        return leave_one_bag_out(between, model.weights(grams, lam.raw.exp()).T, sizes)

    optimum = work.run(loss, vector, work.reporter("stage one", "leave-one-bag-out loss", 1))
    learned = replace(
        spec, mediator_kernel=spec.mediator_kernel.updated(ell), regularisation=float(lam.raw.detach().exp())
    )
    return learned, optimum, vector.at_bounds()


def _target_gp(spec: ModelSpec, work: _Work) -> _Stage:
    """``ℓ`` from Gaussian process regression of z̃ on ỹ, its amplitude then set to one; λ stays as given."""
    assert spec.mediator_kernel is not None
    fitted, optimum, hits = fit_target_gp(
        spec.mediator_kernel, work.data.cells_alone, work.columns, work.options, work.report, work.check
    )
    total = fitted.kernel.variance
    terms = tuple(replace(term, scale=term.scale / total) for term in fitted.kernel.terms)
    return replace(spec, mediator_kernel=replace(fitted.kernel, terms=terms)), optimum, hits


def _covariate_gp(spec: ModelSpec, work: _Work) -> _Stage:
    """``ℓ`` and ``λ`` from Gaussian process regression of the bags' mean covariates on mediators, noise variance Bλ.

    All covariates share ℓ; each is standardised. The embedding that W regresses is that of these covariates. λ at its
    lower bound says that mediators tell them exactly, and is no warning.
    """
    assert spec.mediator_kernel is not None
    data, columns, options = work.data.cells_alone, work.columns, work.options
    rest = [column for column, name in enumerate(columns.inputs) if name not in columns.place]
    values = data.bags.mean(data.bags.inputs[:, rest])
    values = (values - values.mean(0)) / values.std(0).clamp_min(1e-12)
    ell = spec.mediator_kernel.build(columns.mediators).to(work.device)
    low, high = (bound / data.bags.count for bound in NOISE)
    lam = log_parameter("regularisation λ", spec.regularisation, (low, high), work.device)
    vector = ParameterVector((*kernel_parameters("ℓ", spec.mediator_kernel, ell), lam))
    starts = [p.raw.detach().clone() for p in vector.parameters]
    identity = linalg.identity(data.bags.count, values)

    def loss() -> Tensor:
        """Minus the log posterior density of ℓ and λ per bag."""
        work.check()
        covariance = evaluate(ell, data.mediators, data.mediators) + data.bags.count * lam.raw.exp() * identity
        factor = linalg.cholesky(covariance, "covariance of the bags' covariates")
        density = torch.stack([linalg.log_normal_density(column, factor) for column in values.T]).sum()
        if options.prior_sd > 0:
            density = density + log_prior(vector.parameters, starts, options.prior_sd)
        return -density / data.bags.count

    optimum = work.run(
        loss, vector, work.reporter("stage one", "log evidence of the covariates + log prior", -data.bags.count)
    )
    lam_learned = float(lam.raw.detach().exp())
    learned = replace(spec, mediator_kernel=spec.mediator_kernel.updated(ell), regularisation=lam_learned)
    return learned, optimum, tuple(hit for hit in vector.at_bounds() if "λ at its lower" not in hit)


def fit_target_gp(
    kernel: KernelSpec, data: IndirectData, columns: Columns, options: LearningOptions, report: Report, check: Check
) -> _Stage:
    """Fit ``g ~ GP(0, ℓ)`` to ``z̃ = g(ỹ) + e`` by its evidence; the result is a model specification with kernel ℓ."""
    query = data.query_mediators
    regression = IndirectData(singletons(query), query, query, data.targets, errors=data.errors)
    work = _Work(regression, Columns(columns.mediators), replace(options, hold=()), report, check)
    return _evidence_stage(ModelSpec(BAG_GP, kernel, noise=0.1), work, joint=False, label="GP of z̃ on ỹ")


def _evidence_stage(spec: ModelSpec, work: _Work, *, joint: bool, label: str = "evidence") -> _Stage:
    """Maximise the evidence (sparse models: the collapsed bound) over k, σ², ς², and over ℓ and λ too if ``joint``."""
    data, options, count = work.data, work.options, len(work.data.targets)
    trainable = Trainable(
        spec, data, work.columns, joint=joint, regularisation=options.learn_regularisation, tied=options.tied,
        hold=options.hold, held_to=work.held_to, smoothest=work.smoothest,
    )  # fmt: skip
    if work.repeats:
        objective = averaged_objective(trainable, work.repeats, work.check)
    elif trainable.model.sparse:
        objective = collapsed_objective(trainable, data, work.check)
    else:
        objective = exact_objective(trainable, data, work.check, work.bag_gram)

    def log_prior() -> Tensor:
        """The log prior per target at the present parameters."""
        return trainable.log_prior(options.prior_sd) / count

    if options.prior_sd > 0:
        tell = work.reporter(label, f"{trainable.model.quantity} + log prior", -count)
        optimum = work.run(lambda: objective() - log_prior(), trainable.vector, tell)
        optimum = replace(optimum, loss=optimum.loss + float(log_prior().detach()))
    else:
        optimum = work.run(objective, trainable.vector, work.reporter(label, trainable.model.quantity, -count))
    return trainable.learned(), optimum, trainable.vector.at_bounds()


def _stochastic_stage(spec: ModelSpec, work: _Work, *, joint: bool) -> _Stage:
    """The same by minibatches of the ELBO; its last smoothed value stands for the bound."""
    options, count = work.options, len(work.data.targets)
    fitted = fit_stochastic(
        spec,
        work.data,
        work.columns,
        options.stochastic,
        joint=joint,
        regularisation=options.learn_regularisation,
        hold=options.hold,
        report=work.reporter("ELBO", "estimated bound on the log evidence", -count),
        check=work.check,
    )
    steps = options.stochastic.steps
    return fitted.spec, Optimum(np.empty(0), -fitted.last, steps, (-fitted.last,), fitted.cancelled), ()
