"""Cells that are missing at some times, linked through time: what a cell was before and will be after counts as well.

Every field is a level of its time, the kernel's constant term, new at every time, and a rest h with the kernel k. With
K̄ and c(x) those of h, the patterns U of the cells and their variances λ₁ ≥ λ₂ ≥ …, ``K̄ = U diag(λ) Uᵀ``, the cells are
``u_t = U diag(√λ) v_t``. The amplitude of each pattern is a Markov chain, and large patterns last longer:

    corr(v_jt, v_js) = exp(−|t − s|/τ_j),      τ_j = τ (λ_j/λ₁)^β,

for β = 0 the separable covariance ``k(x, x′) exp(−|Δt|/τ)``. Given the cells of a time, a pixel depends on no other
time, so that with the moments m_t, P_t of v_t given everything and ``A = diag(1/√λ) Uᵀ c(x)``

    mean_t(x) = Aᵀm_t,      var_t(x) = k(x, x) − AᵀA + AᵀP_tA.

The level of a time is that of its visible cells, relative to what h says of these: cells that are missing do not shift
it. Without missing cells and noise, the mean is that of each time by itself; noise is told from what lasts.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import minimize
from torch import Tensor

from deconditioning import linalg
from deconditioning.errors import Check, never
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.spec import ModelSpec
from deconditioning.period.correlation import days_of
from deconditioning.period.effects import SharedEffects
from deconditioning.period.joint import kernel_draws
from deconditioning.period.posterior import PixelSums, Together
from deconditioning.period.series import Series
from deconditioning.period.space_time import (
    Chain,
    Filtered,
    drawn_chain,
    filtered_chain,
    moments_beside,
    smoothed_chain,
)

#: Times, one after another, that τ, β and σ² are learned from and that cells are left out of, at most.
MOST_TIMES = 60
#: Share of the values that is missing and times from which linking is tried, and T M² numbers up to which it is; from
#: so many times β is learned.
_LEAST_MISSING, LEAST_TIMES, MOST_NUMBERS = 0.02, 8, 3e7
#: One value in so many is left out, and the CRPS of these has to be smaller by this share.
_LEFT_OUT, MARGIN = 10, 0.01
#: Evaluations of the evidence, and the smallest σ².
_STEPS, _LEAST_NOISE = 60, 1e-6
#: Bounds of log τ in steps and of β, and where their search begins.
BOUNDS, START = ((math.log(0.2), math.log(500.0)), (0.0, 2.0)), (math.log(5.0), 0.3)


@dataclass(frozen=True)
class Lasting:
    """How long patterns last: τ of the largest one in ``days``, and the ``exponent`` β of the others."""

    days: float
    exponent: float = 0.0

    def kept(
        self, days: Float[np.ndarray, " T"], member: Int[np.ndarray, " T"], values: Float[Tensor, " d"]
    ) -> Float[Tensor, "T d"]:
        """The correlation of each pattern, of variance ``values`` λ, with the time before."""
        scales = self.days * (values / values[0]) ** self.exponent
        return torch.stack([torch.as_tensor(_kept_between(days, member, float(s))) for s in scales], 1).to(values)

    def median(self, values: Float[Tensor, " d"]) -> float:
        """How long a pattern of median size lasts, in days."""
        return self.days * float(values[len(values) // 2] / values[0]) ** self.exponent


@dataclass(frozen=True)
class Root:
    """``diag(√λ)`` and U of a covariance ``U diag(λ) Uᵀ``, from the factor of its Cholesky decomposition."""

    values: Float[Tensor, " M"]
    vectors: Float[Tensor, "M M"]
    jitter: float

    @staticmethod
    def of(covariance: Float[Tensor, "M M"]) -> "Root":
        """That of a covariance of cells."""
        factor = linalg.cholesky(covariance, "covariance of the cells")
        vectors, sizes, _ = linalg.singular(factor.lower, "covariance of the cells")
        return Root(sizes.square(), vectors, factor.jitter)

    @property
    def loading(self) -> Float[Tensor, "M M"]:
        """``U diag(√λ)``."""
        return self.vectors * self.values.sqrt()

    def half_solve(self, right: Float[Tensor, "M p"]) -> Float[Tensor, "M p"]:
        """``diag(1/√λ) Uᵀ B``."""
        return (self.vectors / self.values.sqrt()).T @ right


@dataclass(frozen=True)
class Cells:
    """What of the kernel links cells and, behind them, stations.

    Parameters
    ----------
    root : patterns of K̄ without the constant term, and their sizes.
    level : the variance of that term.
    noise : the covariance of the targets' errors for σ² = 0, (M, M), or (T, M, M) if those of the cells are known.
    common : H diag(√V) (M, q), what stations have of the effects that all times share; 0 for cells.
    count : the cells, which alone have σ².
    """

    root: Root
    level: float
    noise: Float[Tensor, "*t M M"]
    common: Float[Tensor, "M q"]
    count: int

    def chain(self, days: np.ndarray, member: np.ndarray, lasting: Lasting | None, variance: float) -> Chain:
        """The chain of the states at times in ``days``: h, which is ``lasting`` or, for None, new at every time, the
        level, and the shared effects; ``variance`` is σ².
        """
        level = math.sqrt(self.level) * torch.ones_like(self.root.values)[:, None]
        loading = torch.cat([self.root.loading, level, self.common], dim=1)
        return self.chain_with(loading, days, member, lasting, variance)

    def chain_with(
        self, loading: Float[Tensor, "*t M d"], days: np.ndarray, member: np.ndarray, lasting: Lasting | None,
        variance: float,
    ) -> Chain:  # fmt: skip
        """The chain with this ``loading`` of the patterns, of what lasts as the largest one, the level, and the shared
        effects.
        """
        values, fixed, size = self.root.values, self.common.shape[1], loading.shape[-1]
        between = loading.new_zeros(len(days), size)
        if lasting is not None:
            between[:, : size - fixed - 1] = lasting.kept(days, member, values[:1])
            between[:, : len(values)] = lasting.kept(days, member, values)
        between[:, size - fixed :] = torch.as_tensor(_kept_between(days, member, math.inf)).to(loading)[:, None]
        of_cells = (torch.arange(len(values)) < self.count).to(loading)
        return Chain(loading, between, self.noise + variance * torch.diag(of_cells))

    def only(self, times: Int[np.ndarray, " t"]) -> "Cells":
        """Those of some of the times."""
        return self if self.noise.ndim == 2 else replace(self, noise=self.noise[times])


@dataclass(frozen=True, eq=False)
class Linked:
    """Cells of all times of a series, linked through time.

    ``cells``, their standardised ``targets`` (M, T), the moments ``given`` of their states at all times, how long they
    are ``lasting``, the ``noise`` σ², and the ``chain`` of the states.
    """

    cells: Cells
    targets: Float[Tensor, "M T"]
    given: Filtered
    lasting: Lasting
    noise: float
    chain: Chain

    @property
    def jitter(self) -> float:
        """The largest number that a factorisation needed on its diagonal."""
        return max(self.cells.root.jitter, self.given.jitter)

    def effects(self, prior: Float[Tensor, " q"], member: np.ndarray) -> tuple[SharedEffects, ...]:
        """The posterior of what the times of each member share, of the variances ``prior`` V."""
        root, result = prior.sqrt().to(self.given.mean), list[SharedEffects]()
        for number in range(int(member.max()) + 1):
            last = int(np.flatnonzero(member == number)[-1])
            mean, covariance = self.given.mean[last, -len(root) :], self.given.covariance[last][-len(root) :]
            result.append(SharedEffects(root * mean, root[:, None] * covariance[:, -len(root) :] * root))
        return tuple(result)

    @property
    def report(self) -> dict[str, str]:
        """A sentence for the diagnostics."""
        return {
            "linked": f"Cells are linked through time: the largest pattern lasts τ = {self.lasting.days:.3g} days, one "
            f"of median size {self.lasting.median(self.cells.root.values):.2g} days, and σ = "
            f"{math.sqrt(self.noise):.2g} of the standardised cells."
        }

    def moments(
        self, sums: PixelSums, times: np.ndarray, check: Check = never
    ) -> tuple[Float[Tensor, "t P"], list[Float[Tensor, " P"]]]:
        """Posterior mean minus prior mean at some times, and var f of each."""
        means = torch.empty(len(times), sums.pixels, dtype=torch.float64)
        variances = torch.empty(len(times), sums.pixels, dtype=torch.float64, device=sums.gram.device)
        with torch.no_grad():
            for part, cross, prior in sums.tiles(check):
                _, of_state, inside = self._at(cross, prior)
                means[:, part] = (self.given.mean[times] @ of_state).cpu()
                for row, time in enumerate(times):
                    known = (self.given.covariance[time] @ of_state).mul_(of_state).sum(0)
                    variances[row, part] = (inside + known).clamp_min(0)
        return means, list(variances)

    def draws(
        self, spec: ModelSpec, series: Series, sums: PixelSums
    ) -> Callable[[int, torch.Generator], Float[Tensor, "count T P"]]:
        """What draws errors of all times of a series from the joint posterior, over the sd of each pixel and time.

        ``Aᵀ(v_t − m_t) + h_t(x) − Aᵀ diag(1/√λ) Uᵀ h̄_t`` with joint draws of the states v and of h, whose part that the
        cells do not know is independent of v and lasts as the largest pattern does.
        """
        chain, times = self.chain, len(series)
        root = root_between(series, self.lasting.days).to(chain.loading)
        varying = [t for t in spec.kernel.terms if any(f.family != "constant" for f in t.factors)]
        of_rest = replace(spec, kernel=replace(spec.kernel, terms=tuple(varying)))

        def draw(count: int, generator: torch.Generator) -> Float[Tensor, "count T P"]:
            """Standardised errors (count, T, P)."""
            states = drawn_chain(chain, self.targets, count, generator) - self.given.mean[:, :, None]
            prior, means = kernel_draws(of_rest, series.problem, count * times, generator)
            known = self.cells.root.half_solve(means.to(root))
            result = torch.empty(count, times, sums.pixels, dtype=torch.float64)
            for part, cross, variance in sums.tiles():
                of_cells, of_state, inside = self._at(cross, variance)
                rest = (prior[part].T.to(root) - known.T @ of_cells).reshape(count, times, -1)
                errors = torch.einsum("tdn,dp->ntp", states, of_state) + root @ rest
                result[:, :, part] = (errors / self._variances(of_state, inside).sqrt().clamp_min(1e-12)).cpu()
            return result

        return draw

    def _at(
        self, cross: Float[Tensor, "M p"], prior: Float[Tensor, " p"]
    ) -> tuple[Float[Tensor, "M p"], Float[Tensor, "d p"], Float[Tensor, " p"]]:
        """A and, with the level behind it, what some pixels have of the states; the variance that cells leave."""
        of_cells = self.cells.root.half_solve(cross - self.cells.level)
        inside = prior - self.cells.level - of_cells.square().sum(0)
        level, nothing = math.sqrt(self.cells.level) * torch.ones_like(prior)[None], self.cells.common.shape[1]
        return of_cells, torch.cat([of_cells, level, level.new_zeros(nothing, len(prior))]), inside

    def _variances(self, of_state: Float[Tensor, "d p"], inside: Float[Tensor, " p"]) -> Float[Tensor, "T p"]:
        """var f of some pixels at all times."""
        known = [(covariance @ of_state).mul_(of_state).sum(0) for covariance in self.given.covariance]
        return (inside + torch.stack(known)).clamp_min(0)


def single_times(groups: Sequence[Together]) -> list[Together]:
    """The same times, each in a group of its own, in their order."""
    every = [
        replace(
            group, times=group.times[n : n + 1], residual=group.residual[:, n : n + 1], duals=group.duals[:, n : n + 1]
        )
        for group in groups
        for n in range(len(group.times))
    ]
    return sorted(every, key=lambda group: int(group.times[0]))


def worth_trying(targets: Float[Tensor, "M T"], members: int, *, noisy: bool = False) -> bool:
    """Whether enough is missing or cells are ``noisy``, few enough cells are to be linked, and each of the ``members``
    has enough times.
    """
    cells, times = targets.shape
    few = times * cells**2 <= MOST_NUMBERS
    missing = float(targets.isnan().double().mean()) >= _LEAST_MISSING
    return few and times // members >= LEAST_TIMES and (noisy or missing)


def _kept_between(days: np.ndarray, member: np.ndarray, scale: float | None) -> np.ndarray:
    """``exp(−Δt/τ)`` between each time and the one before, 0 for the first of each member of an ensemble, and for all
    without a ``scale``.
    """
    same = np.concatenate([[False], np.diff(member) == 0])
    lag = np.abs(np.diff(days, prepend=days[0]))
    return np.where(same, np.exp(-lag / scale), 0.0) if scale else np.zeros(len(days))


def root_between(series: Series, scale: float | None) -> Float[Tensor, "T T"]:
    """The root of ``exp(−|Δt|/τ)`` between the times of a series, 0 between members, and between all times without a
    ``scale``.
    """
    days = days_of(series.dates)
    lag = np.abs(np.subtract.outer(days, days))
    between = np.exp(-lag / scale) * np.equal.outer(series.member, series.member) if scale else np.eye(len(days))
    return linalg.root(torch.as_tensor(between), "correlation in time")


def most_missing(targets: Float[Tensor, "M T"], member: np.ndarray) -> np.ndarray:
    """The times, one after another and of the first member, at which the most values are missing."""
    count = int((member == 0).sum())
    length = min(count, MOST_TIMES)
    missing = targets[:, :count].isnan().sum(0).cpu().numpy()
    begin = int(np.convolve(missing, np.ones(length), "valid").argmax())
    return np.arange(begin, begin + length)


def learned(
    cells: Cells, targets: Float[Tensor, "M T"], days: np.ndarray, noise: float, *, separable: bool = False,
    learn: bool, check: Check,
) -> tuple[Lasting, float]:  # fmt: skip
    """τ and β, 0 if the covariance is to be ``separable``, and σ² of the largest evidence."""
    step, member = float(np.median(np.diff(days))), np.zeros(len(days), dtype=int)

    def values(at: np.ndarray) -> tuple[Lasting, float]:
        """From log τ/step, and β and log σ² where they are free."""
        lasting = Lasting(step * math.exp(at[0]), 0.0 if separable else float(at[1]))
        return lasting, math.exp(at[-1]) if learn else noise

    def loss(at: np.ndarray) -> float:
        """Minus the log evidence."""
        check()
        return -float(filtered_chain(cells.chain(days, member, *values(at)), targets).evidence.sum())

    free = 2 - separable
    start = [*START[:free], math.log(max(noise, _LEAST_NOISE))][: free + learn]
    bounds = [*BOUNDS[:free], (math.log(_LEAST_NOISE), 0.0)][: free + learn]
    simplex = np.array([start, *(np.array(start) + np.diag([1.0, 0.3, 1.0][:free] + [1.0] * learn))])
    options = {"maxfev": _STEPS, "initial_simplex": simplex, "xatol": 0.02, "fatol": 0.01}
    return values(minimize(loss, start, method="Nelder-Mead", bounds=bounds, options=options).x)


def pays(
    cells: Cells, targets: Float[Tensor, "M T"], days: np.ndarray, noise: float, found: tuple[Lasting, float]
) -> bool:
    """Whether values that are left out of all times have a smaller CRPS if times are linked.

    Each time by itself is the chain whose states are new at every time.
    """
    known = (~targets.isnan()).cpu().numpy()
    out = np.random.default_rng(0).permutation(np.flatnonzero(known))[: max(1, known.sum() // _LEFT_OUT)]
    left_out, scores = np.zeros(known.shape, dtype=bool), list[float]()
    left_out.flat[out] = True
    less, member = targets.masked_fill(torch.as_tensor(left_out).to(targets.device), math.nan), np.zeros(len(days), int)
    for lasting, variance in ((None, noise), found):
        chain = cells.chain(days, member, lasting, variance)
        given, crps = smoothed_chain(chain, less), list[np.ndarray]()
        for time in np.flatnonzero(left_out.any(0)):
            rows, (loading, errors) = np.flatnonzero(left_out[:, time]), chain.seen(int(time))
            parts = loading[rows].T, errors[:, rows], errors[rows, rows]
            mean, spread = (each.cpu().numpy() for each in moments_beside(chain, given, less, int(time), parts))
            crps.append(Predictive(mean, np.sqrt(spread)).crps(targets[rows, time].cpu().numpy()))
        scores.append(float(np.mean(np.concatenate(crps))))
    return scores[1] < (1 - MARGIN) * scores[0]
