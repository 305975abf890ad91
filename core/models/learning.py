"""Learning hyperparameters: λ and ℓ by leaving bags out, then k and the noises by the evidence."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from core.errors import InputError
from core.kernels.bag_mean import Check, _never, gram, sort_bags
from core.models.catalogue import named
from core.models.conditioning import log_evidence, observation_noise
from core.models.indirect_gp import Columns, mediation_weights, mediator_grams, singletons
from core.models.mediation import leave_one_bag_out
from core.models.optimise import Optimum, Report, minimise
from core.models.parameters import NOISE, ParameterVector, kernel_parameters, log_parameter
from core.models.spec import ModelSpec
from core.observations import IndirectData

#: ``λ·B`` stays inside these bounds in stage one; towards zero the weights interpolate.
REGULARISATION_TIMES_BAGS = (1e-8, 1e-1)
#: Prior variance (in units of the targets' variance) above which learning is said to have run away.
RUNAWAY_VARIANCE = 100.0


@dataclass(frozen=True)
class LearningOptions:
    """How to learn. ``stage_one``: "leave_one_bag_out" (default), "target_gp" (ℓ from the GP of z̃ on ỹ, λ kept), or
    "joint" (everything by the evidence at once, which can run away on real data)."""

    stage_one: str = "leave_one_bag_out"
    method: str = "lbfgs"
    restarts: int = 3
    steps: int = 40
    seed: int = 0

    def __post_init__(self) -> None:
        if self.stage_one not in ("leave_one_bag_out", "target_gp", "joint"):
            raise InputError(
                f"The first stage '{self.stage_one}' is unknown: choose leave_one_bag_out, target_gp or joint."
            )
        if self.restarts < 1 or self.steps < 1:
            raise InputError(f"{self.restarts} restarts of {self.steps} steps were asked for: give at least one each.")


@dataclass(frozen=True)
class Learned:
    """What learning found: the new ``spec``, its log evidence, sentences for the user, and whether it was cut short."""

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
    check: Check = _never,
) -> Learned:
    """Learn a model's hyperparameters from indirect data.

    Mediated models in two stages (METHODS: the evidence of z̃ prefers a large λ and runs away on real data): first
    ``ℓ`` and ``λ`` by the leave-one-bag-out loss with ``k`` as it stands, then ``k``, ``σ²``, ``ς²`` by the evidence
    with W frozen. Others in the second stage only. ``report`` gets a dict per evaluation; ``check`` may cancel.
    """
    options = options or LearningOptions()
    stages: dict[str, Any] = {}
    warnings: list[str] = []
    cancelled = False
    mediated = named(spec.model).mediated
    if mediated and options.stage_one != "joint":
        stage = _stage_one if options.stage_one == "leave_one_bag_out" else _target_gp
        spec, optimum, hits = stage(spec, data, columns, options, report, check)
        stages["stage_one"], cancelled = _summary(optimum), optimum.cancelled
        warnings += [f"Stage one ended with {hit}." for hit in hits]
    if cancelled:
        return Learned(spec, math.nan, tuple(warnings), True, stages)
    joint = mediated and options.stage_one == "joint"
    spec, optimum, hits = _evidence_stage(spec, data, columns, options, report, check, joint=joint)
    stages["stage_two"] = _summary(optimum)
    warnings += [f"Learning ended with {hit}." for hit in hits]
    warnings += _runaway(spec)
    return Learned(spec, -optimum.loss * len(data.targets), tuple(warnings), optimum.cancelled, stages)


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
        f"The prior standard deviation ran away to {ratio:.0f} times that of the targets: the fine field is being "
        "sharpened to make up for weights that shrink; fix λ nearer interpolation or shorten the mediator lengthscales."
    ]


def _stage_one(
    spec: ModelSpec, data: IndirectData, columns: Columns, options: LearningOptions, report: Report, check: Check
) -> tuple[ModelSpec, Optimum, tuple[str, ...]]:
    """``ℓ`` and ``λ`` by the leave-one-bag-out loss; k fixed, ℓ's first scale fixed (only its ratio to λ matters)."""
    assert spec.mediator_kernel is not None
    device, model = data.targets.device, named(spec.model)
    with torch.no_grad():
        bag_gram = gram(spec.kernel.build(columns.inputs).to(device), sort_bags(data.bags), check=check)
    ell = spec.mediator_kernel.build(columns.mediators).to(device)
    low, high = (bound / data.bags.count for bound in REGULARISATION_TIMES_BAGS)
    lam = log_parameter("regularisation λ", spec.regularisation, (low, high), device)
    vector = ParameterVector((*kernel_parameters("ℓ", spec.mediator_kernel, ell, fix_first_scale=True), lam))
    within = replace(data, query_mediators=data.mediators, targets=data.targets.new_zeros(data.bags.count))
    sizes = data.bags.sizes if model.replicated else None

    def loss() -> Tensor:
        check()
        grams = mediator_grams(spec, within, columns, ell)
        return leave_one_bag_out(bag_gram, model.weights(grams, lam.raw.exp()).T, sizes)

    optimum = _run(loss, vector, options, report, "stage one: leave-one-bag-out loss")
    learned = replace(
        spec, mediator_kernel=spec.mediator_kernel.updated(ell), regularisation=float(lam.raw.detach().exp())
    )
    return learned, optimum, vector.at_bounds()


def _target_gp(
    spec: ModelSpec, data: IndirectData, columns: Columns, options: LearningOptions, report: Report, check: Check
) -> tuple[ModelSpec, Optimum, tuple[str, ...]]:
    """``ℓ`` from Gaussian process regression of z̃ on ỹ, its amplitude then set to one; λ stays as given."""
    assert spec.mediator_kernel is not None
    fitted, optimum, hits = fit_target_gp(spec.mediator_kernel, data, columns, options, report, check)
    total = fitted.kernel.variance
    terms = tuple(replace(term, scale=term.scale / total) for term in fitted.kernel.terms)
    return replace(spec, mediator_kernel=replace(fitted.kernel, terms=terms)), optimum, hits


def fit_target_gp(
    kernel: Any, data: IndirectData, columns: Columns, options: LearningOptions, report: Report, check: Check
) -> tuple[ModelSpec, Optimum, tuple[str, ...]]:
    """``g ~ GP(0, ℓ)`` fitted to ``z̃ = g(ỹ) + e`` by its evidence: a model spec whose kernel is ℓ."""
    query = data.query_mediators
    regression = IndirectData(singletons(query), query, query, data.targets)
    start = ModelSpec("bag_gp", kernel, noise=0.1)
    return _evidence_stage(
        start, regression, Columns(columns.mediators), options, report, check, joint=False, label="GP of z̃ on ỹ"
    )


def _evidence_stage(
    spec: ModelSpec,
    data: IndirectData,
    columns: Columns,
    options: LearningOptions,
    report: Report,
    check: Check,
    *,
    joint: bool,
    label: str = "evidence",
) -> tuple[ModelSpec, Optimum, tuple[str, ...]]:
    """Maximise ``log N(z̃; Wᵀm̄, S)`` over k, σ², ς² (W frozen), and over ℓ and λ too if ``joint``."""
    device, bags, model = data.targets.device, sort_bags(data.bags), named(spec.model)
    kernel = spec.kernel.build(columns.inputs).to(device)
    noise = log_parameter("noise σ²", max(spec.noise, NOISE[0]), NOISE, device)
    parameters = [*kernel_parameters("k", spec.kernel, kernel), noise]
    point_noise = log_parameter("point noise ς²", max(spec.point_noise, NOISE[0]), NOISE, device)
    if spec.point_noise > 0:
        parameters.append(point_noise)
    frozen = mediation_weights(spec, data, columns)
    ell = lam = None
    if joint and spec.mediator_kernel is not None:
        ell = spec.mediator_kernel.build(columns.mediators).to(device)
        lam = log_parameter("regularisation λ", spec.regularisation, (1e-8 / bags.bags.count, 1.0), device)
        parameters += [*kernel_parameters("ℓ", spec.mediator_kernel, ell, fix_first_scale=True), lam]
    vector = ParameterVector(tuple(parameters))

    def loss() -> Tensor:
        check()
        weights = frozen
        if ell is not None and lam is not None:
            weights = model.weights(mediator_grams(spec, data, columns, ell), lam.raw.exp())
        varsigma = point_noise.raw.exp() if spec.point_noise > 0 else 0.0
        sigma = observation_noise(weights, noise.raw.exp(), varsigma, data.bags.contamination)
        residual = data.targets - spec.mean * weights.sum(0)
        return -log_evidence(gram(kernel, bags, check=check), weights, sigma, residual) / len(residual)

    optimum = _run(loss, vector, options, report, label)
    learned = replace(spec, kernel=spec.kernel.updated(kernel), noise=float(noise.raw.detach().exp()))
    if spec.point_noise > 0:
        learned = replace(learned, point_noise=float(point_noise.raw.detach().exp()))
    if ell is not None and lam is not None and spec.mediator_kernel is not None:
        learned = replace(
            learned, mediator_kernel=spec.mediator_kernel.updated(ell), regularisation=float(lam.raw.detach().exp())
        )
    return learned, optimum, vector.at_bounds()


def _run(loss: Any, vector: ParameterVector, options: LearningOptions, report: Report, label: str) -> Optimum:
    return minimise(
        loss,
        vector,
        method=options.method,
        restarts=options.restarts,
        steps=options.steps,
        seed=options.seed,
        report=lambda event: report({"stage": label, **event}),
    )
