"""The evidence lower bound with a free ``q(u)``, over all targets or a minibatch of them, and its maximisation by Adam.

``ELBO = Σ_m { log N(r_m; a_mᵀE[v], 1) − ½ [k_m − ‖a_m‖² + a_mᵀ Cov[v] a_m] } − ½ log|Σ| − KL(q ‖ N(0, I))`` for targets
whitened by a root of Σ (``r``, ``a``, ``k`` as in ``sparse_gp``): a sum over targets, so a minibatch scaled by M/b is
unbiased. Sources: Chau et al. 2021, App. B and E.2.2; Hensman et al. 2013.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.errors import Cancelled, Check, InputError, never
from deconditioning.models.indirect_gp import Columns
from deconditioning.models.learning.objectives import projected
from deconditioning.models.learning.optimise import Report
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.sparse.bag_prior import BagPrior
from deconditioning.models.sparse.sparse_gp import WhitenedGaussian
from deconditioning.models.sparse.target_summary import WhitenedTargets
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData


@dataclass(frozen=True)
class StochasticOptions:
    """Options of the optimisation: ``steps`` of Adam at ``rate``, ``batch`` targets per step.

    ``sampled_bags`` > 0 draws this many bags per step for W (the public research code draws 400 pixels, each with its
    bag's mediator). That gradient is biased, because W of some bags is not a part of W of all. 0 uses all bags.
    """

    steps: int = 300
    rate: float = 0.02
    batch: int = 64
    sampled_bags: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.steps, self.batch) < 1 or self.sampled_bags < 0 or not self.rate > 0:
            raise InputError(
                f"{self.steps} steps of {self.batch} targets at rate {self.rate} with {self.sampled_bags} sampled "
                "bags were requested: give positive numbers (0 bags means all of them)."
            )


@dataclass(frozen=True)
class StochasticFit:
    """Learned ``spec``, the final ``q``, the last minibatch ELBO per target, and whether it was cancelled."""

    spec: ModelSpec
    q: WhitenedGaussian
    last: float
    cancelled: bool


def elbo(
    projection: Float[Tensor, "p M"],
    prior_variances: Float[Tensor, " M"],
    targets: WhitenedTargets,
    q: WhitenedGaussian,
    chosen: Int[Tensor, " b"] | None = None,
) -> Float[Tensor, ""]:
    """The lower bound, from all targets or an unbiased estimate from those ``chosen``."""
    count = len(targets.residual)
    rows = torch.arange(count, device=projection.device) if chosen is None else chosen
    a = projection[:, rows]
    misfit = (targets.residual[rows] - a.T @ q.mean).square()
    spread = prior_variances[rows] - a.square().sum(0) + (q.root.T @ a).square().sum(0)
    fit = -0.5 * (misfit + spread).sum() * (count / len(rows))
    return fit + targets.constant() - q.divergence()


def minibatches(count: int, size: int, generator: torch.Generator) -> Iterator[Int[Tensor, " b"]]:
    """Endless minibatches without replacement, each epoch shuffled anew; a last short one is kept."""
    while True:
        yield from torch.randperm(count, generator=generator).split(min(size, count))


def fit_stochastic(
    spec: ModelSpec,
    data: IndirectData,
    columns: Columns,
    options: StochasticOptions | None = None,
    *,
    joint: bool = False,
    regularisation: bool = True,
    hold: tuple[str, ...] = (),
    report: Report = lambda event: None,
    check: Check = never,
) -> StochasticFit:
    """Learn k, σ², ς² (unless in ``hold``; with ``joint`` also ℓ and λ) and a free ``q(u)`` by minibatches of the ELBO.

    ``q`` starts at its optimum for the starting hyperparameters. ``Cancelled`` returns the current state. Raises
    ``InputError`` for an exact model.
    """
    options = options or StochasticOptions()
    trainable = Trainable(spec, data, columns, joint=joint, regularisation=regularisation, hold=hold)
    if trainable.inducing is None:
        raise InputError(
            f"The model '{spec.model.name}' has no inducing points: choose variational_cmp, variational_shrinkage_cmp "
            "or vbagg."
        )
    climb = _Climb(trainable, data, options, report, check)
    cancelled = False
    try:
        climb.run()
    except Cancelled:
        cancelled = True
    return StochasticFit(trainable.learned(), climb.q(detached=True), climb.last, cancelled)


class _Climb:
    """Adam on hyperparameters, mean and lower triangular root of q."""

    def __init__(
        self, trainable: Trainable, data: IndirectData, options: StochasticOptions, report: Report, check: Check
    ) -> None:
        self.trainable, self.data, self.options = trainable, data, options
        self.report, self.check, self.last = report, check, math.nan
        self.generator = torch.Generator().manual_seed(options.seed)
        with torch.no_grad():
            start = self._start()
        self._mean = start.mean.clone().requires_grad_(True)
        self._lower = start.root.clone().requires_grad_(True)

    def _start(self) -> WhitenedGaussian:
        targets, projection, _ = self._terms(self.data)
        best = WhitenedGaussian.optimal(projection, targets.residual)
        covariance = linalg.cholesky_exact(best.root @ best.root.T, "posterior of the inducing values")
        return WhitenedGaussian(best.mean, covariance.lower)

    def _terms(self, data: IndirectData) -> tuple[WhitenedTargets, Tensor, Tensor]:
        prior = BagPrior.of(data.bags, whole=self.trainable.model.mediated)
        return projected(self.trainable, data, sort_bags(data.bags), prior, self.check, singly=True)

    def q(self, *, detached: bool = False) -> WhitenedGaussian:
        """The present q."""
        q = WhitenedGaussian(self._mean, self._lower.tril())
        return WhitenedGaussian(q.mean.detach(), q.root.detach()) if detached else q

    def _estimate(self, rows: Int[Tensor, " b"]) -> Tensor:
        """The ELBO estimated from the targets ``rows``; where W = I only their own bags are looked at."""
        data, count = self.data, len(self.data.targets)
        if self.trainable.model.mediated:
            some = self._sampled(data)
            targets, projection, variances = self._terms(some)
            return elbo(projection, variances, targets, self.q(), rows)
        part = matched_subset(data, rows)
        targets, projection, variances = self._terms(part)
        q, scale = self.q(), count / len(rows)
        return scale * (elbo(projection, variances, targets, q) + q.divergence()) - q.divergence()

    def _sampled(self, data: IndirectData) -> IndirectData:
        size = self.options.sampled_bags
        if not 0 < size < data.bags.count:
            return data
        chosen = torch.randperm(data.bags.count, generator=self.generator)[:size].to(data.targets.device)
        # matched data stay indirect here: all targets are kept, some bags are not
        query = data.query_mediators.clone() if data.matched else data.query_mediators
        return replace(data, bags=data.bags.subset(chosen), mediators=data.mediators[chosen], query_mediators=query)

    def run(self) -> None:
        """All steps, each reported; ``check`` may end them early."""
        options, vector = self.options, self.trainable.vector
        raw = [p.raw for p in vector.parameters]
        optimiser = torch.optim.Adam([*raw, self._mean, self._lower], lr=options.rate)
        batches = minibatches(len(self.data.targets), options.batch, self.generator)
        smooth: float | None = None
        for step in range(1, options.steps + 1):
            self.check()
            rows = next(batches).to(self.data.targets.device)
            optimiser.zero_grad()
            value = self._estimate(rows) / len(self.data.targets)
            (-value).backward()
            optimiser.step()
            vector.set(vector.get())  # back inside the bounds
            self.last = float(value.detach())
            smooth = self.last if smooth is None else 0.9 * smooth + 0.1 * self.last
            self.report(
                {
                    "evaluation": step, "total": options.steps, "restart": 0, "loss": -self.last, "best_loss": -smooth,
                    "hyperparameters": vector.values(),
                }
            )  # fmt: skip


def matched_subset(data: IndirectData, rows: Int[Tensor, " b"]) -> IndirectData:
    """Matched data of the bags ``rows`` alone."""
    mediators = data.mediators[rows]
    return IndirectData(data.bags.subset(rows), mediators, mediators, data.targets[rows])
