"""The kernel Bayes filter: estimates a hidden state from samples alone, without a model of either noise.

Trained on one series of states and observations; a state is a weighted sample at the training states. Source: Fukumizu
et al. 2013, §4.3.
"""

from dataclasses import dataclass
from functools import cached_property

import gpytorch
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.embeddings.bayes_rule import update_by_factor, update_by_gram
from deconditioning.embeddings.kernel_mean import LEAST_TOTAL, KernelMean, preimages
from deconditioning.errors import InputError
from deconditioning.kernels.lanczos import lanczos_update
from deconditioning.kernels.low_rank import LowRank, RidgeInverse, incomplete_cholesky
from deconditioning.kernels.tiles import evaluate

#: Fewer training steps say nothing of a transition.
FEWEST = 10
#: Below this largest similarity to any training observation there is "no training data near here".
_NEAR = 1e-3

#: Kernel values between observations and training that are held at once.
MOST_NEAR = 4_000_000
#: δ of the smoother: at the filter's own, a hundred times smaller, smoothing is worse than filtering (systems a and b).
SMOOTHING = 1e-2


@dataclass(frozen=True)
class FilterState:
    """The current states of S series: ``weights`` α (S, T) on the training states; ``mass`` Σμ (S,) of the prediction;
    ``lost`` (S,) whether that vanished and the state was estimated from the observation alone; ``far`` (S,) whether no
    training observation is near. A kernel without constant functions has no mass.
    """

    weights: Float[Tensor, "S T"]
    mass: Float[Tensor, " S"]
    lost: Bool[Tensor, " S"]
    far: Bool[Tensor, " S"]


@dataclass(frozen=True)
class KernelBayesFilter:
    """The trained filter.

    Parameters
    ----------
    states : X_1 … X_{T+1} (T + 1, d), in order.
    observations : Y_1 … Y_T (T, q).
    begins : rows of ``states`` (T,) that have an observation and whose next row follows one step later, if the series
        has gaps.
    kernel, observation_kernel : kernels on states and on observations.
    regularisation, second_regularisation : ε (which enters as Tε) and δ.
    tolerance : share of the trace that the low-rank factors may omit; 0 for dense matrices.
    state_tolerance : the same for the states' factor alone, if given: a kernel with few features, such as Tr(ABᵀ), has
        a low rank that should not be reduced.
    iterative : accuracy of Lanczos steps with the full ``G_Y`` in the update (in single precision, or directly if they
        do not converge), because noisy observations of many numbers have no low rank; 0: by the factor.

    Raises ``InputError`` for fewer than 10 steps, gaps, or lengths that do not match.
    """

    states: Float[Tensor, "T1 d"]
    observations: Float[Tensor, "T q"]
    kernel: gpytorch.kernels.Kernel
    observation_kernel: gpytorch.kernels.Kernel
    regularisation: float
    second_regularisation: float
    tolerance: float = 1e-4
    state_tolerance: float | None = None
    iterative: float = 0.0
    begins: Int[Tensor, " T"] | None = None

    def __post_init__(self) -> None:
        steps = len(self.observations)
        if len(self.states) != steps + 1 and self.begins is None:
            raise InputError(
                f"There are {len(self.states)} states and {steps} observations: give one state more than observations."
            )
        if steps < FEWEST:
            raise InputError(f"A series of {steps} steps was given: at least {FEWEST} are needed for training.")
        for name in ("states", "observations"):
            values = getattr(self, name)
            if not bool(torch.isfinite(values).all()):
                raise InputError(f"`{name}` has gaps or infinite values: fill or cut them out first.")
            if not bool((values.std(0) > 0).any()):
                raise InputError(f"`{name}` never change, so there is nothing to filter: give a series that varies.")
        if not (self.regularisation > 0 and self.second_regularisation > 0):
            raise InputError("ε and δ must both be positive: raise them.")
        if not 0 <= self.iterative < 1:
            raise InputError(f"An accuracy of {self.iterative} was given for Lanczos steps: choose from 0 to below 1.")

    @property
    def _rows(self) -> Tensor | slice:
        """Rows of the states that a step begins from."""
        return slice(0, -1) if self.begins is None else self.begins

    @property
    def now(self) -> Float[Tensor, "T d"]:
        """X_t of every training step."""
        return self.states[self._rows]

    @property
    def after(self) -> Float[Tensor, "T d"]:
        """X_{t+1} of every training step."""
        return self.states[1:][self._rows if self.begins is not None else slice(None)]

    @property
    def length(self) -> int:
        """The number of training steps T."""
        return len(self.observations)

    @property
    def _ridge(self) -> float:
        return self.length * self.regularisation

    @cached_property
    def state_factor(self) -> LowRank:
        """One factor of the Gram matrix of X_1 … X_{T+1}."""
        tolerance = self.tolerance if self.state_tolerance is None else self.state_tolerance
        return incomplete_cholesky(self.kernel, self.states, tolerance)

    @cached_property
    def observation_factor(self) -> LowRank:
        """Factor of ``G_Y``."""
        return incomplete_cholesky(self.observation_kernel, self.observations, self.tolerance)

    @property
    def ranks(self) -> tuple[int, int]:
        """Ranks of both factors; T + 1 and T where matrices are dense."""
        if not self.tolerance:
            return len(self.states), self.length
        return self.state_factor.rank, self.length if self.iterative else self.observation_factor.rank

    @cached_property
    def _now_and_next(self) -> tuple[Tensor, Tensor]:
        """Factors C of X_1 … X_T and C₊ of X_2 … X_{T+1}; dense: any root of the joint Gram matrix serves."""
        if self.tolerance:
            root = self.state_factor.factor
        else:
            with torch.no_grad():
                gram = evaluate(self.kernel, self.states, self.states)
            root = linalg.root(gram, "kernel matrix of the states")
        return root[self._rows], root[1:] if self.begins is None else root[self.begins + 1]

    @cached_property
    def _observation_root(self) -> Tensor:
        if self.tolerance:
            return self.observation_factor.factor
        return linalg.root(self._observation_gram, "kernel matrix of the observations")

    @cached_property
    def _observation_gram(self) -> Tensor:
        with torch.no_grad():
            return evaluate(self.observation_kernel, self.observations, self.observations)

    @cached_property
    def _single_gram(self) -> Tensor:
        return self._observation_gram.float()

    @cached_property
    def _state_ridge(self) -> RidgeInverse:
        return RidgeInverse(self._now_and_next[0], self._ridge, "kernel matrix of the states")

    @cached_property
    def _observation_ridge(self) -> RidgeInverse | linalg.Factor:
        if self.iterative:
            gram = self._observation_gram
            return linalg.cholesky_exact(
                gram + self._ridge * linalg.identity(gram.shape[1], gram), "kernel matrix of the observations"
            )
        return RidgeInverse(self._observation_root, self._ridge, "kernel matrix of the observations")

    @cached_property
    def _regress(self) -> tuple[Tensor, Tensor]:
        """``M⁻¹Cᵀ`` (r, T) with ``M = CᵀC + TεI``, and ``M⁻¹ C₊ᵀ C`` (r, r)."""
        now, after = self._now_and_next
        inner = self._state_ridge.inner
        return inner.solve(now.T), inner.solve(after.T @ now)

    def transition_weights(self, weights: Float[Tensor, "S T"]) -> Float[Tensor, "S T"]:
        """``(G_X + TεI)⁻¹ G_X α``: weights on X_2 … X_{T+1}, the embedding one step ahead."""
        now, _ = self._now_and_next
        return (weights @ self._regress[0].T) @ now.T

    def prior_weights(self, weights: Float[Tensor, "S T"]) -> Float[Tensor, "S T"]:
        """``μ = (G_X + TεI)⁻¹ G_{XX₊} (G_X + TεI)⁻¹ G_X α``: the prediction on the training pairs, for Bayes' rule."""
        now, _ = self._now_and_next
        regress, shift = self._regress
        return ((weights @ regress.T) @ shift.T) @ now.T

    def near(self, observation: Float[Tensor, "S q"]) -> Float[Tensor, "S T"]:
        """``k(Y_i, ỹ)`` of each series."""
        if observation.ndim != 2 or observation.shape[1] != self.observations.shape[1]:
            raise InputError(
                f"Observations of shape {tuple(observation.shape)} were given, but training observations have "
                f"{self.observations.shape[1]} numbers each: give equally many."
            )
        if not bool(torch.isfinite(observation).all()):
            raise InputError("An observation is missing or infinite: leave that step out with `predict`.")
        with torch.no_grad():
            return evaluate(self.observation_kernel, observation, self.observations)

    def update(self, weights: Float[Tensor, "S T"], near: Float[Tensor, "S T"]) -> Float[Tensor, "S T"]:
        """``ΛG_Y((ΛG_Y)² + δI)⁻¹Λk_Y`` for each series, through ``S = C_YᵀΛC_Y`` or ``iterative``."""
        if self.iterative:
            return torch.stack([self._whole_update(*each) for each in zip(weights, near, strict=True)])
        return update_by_factor(self._observation_root, weights, near[:, None], self.second_regularisation)[:, 0]

    def _whole_update(self, weights: Tensor, near: Tensor) -> Tensor:
        delta = self.second_regularisation
        result = lanczos_update(self._single_gram, weights, near, delta, self.iterative)
        if result is not None:
            return result.to(weights.dtype)
        return update_by_gram(self._observation_gram, weights, near[:, None], delta)[:, 0]

    def from_observation(self, near: Float[Tensor, "S T"]) -> Float[Tensor, "S T"]:
        """``(G_Y + TεI)⁻¹ k_Y``: the conditional mean embedding of the state given one observation alone."""
        return self._observation_ridge.solve(near.T).T

    def start(self, observation: Float[Tensor, "S q"]) -> FilterState:
        """The state after the first observation, without a prior."""
        return self._started(self.near(observation))

    def _started(self, near: Tensor) -> FilterState:
        weights = self.from_observation(near)
        none = torch.zeros(len(near), dtype=torch.bool, device=near.device)
        return FilterState(weights, torch.ones_like(near[:, 0]), none, near.amax(1) < _NEAR)

    def start_from(self, prior: KernelMean, observation: Float[Tensor, "S q"]) -> FilterState:
        """The state after the first observation, from a prior of the state."""
        weights = self._state_ridge.solve(prior.at(self.now))
        return self._observed(weights.expand(len(observation), -1), self.near(observation))

    def step(self, state: FilterState, observation: Float[Tensor, "S q"]) -> FilterState:
        """One step: predict, then update by the observation. If the prediction lost its mass (for a kernel that
        ``has_mass``), or weights are not finite, the state is estimated from the observation alone, and ``lost`` is
        set.
        """
        return self._stepped(state, self.near(observation))

    def _stepped(self, state: FilterState, near: Tensor) -> FilterState:
        return self._observed(self.prior_weights(state.weights), near)

    def _observed(self, prior: Tensor, near: Tensor) -> FilterState:
        mass = prior.sum(1)
        lost = self._massless(prior)
        usable = torch.where(lost[:, None], torch.ones_like(prior) / self.length, prior)
        weights = self.update(usable, near)
        lost = lost | self._massless(weights)
        if bool(lost.any()):
            weights = torch.where(lost[:, None], self.from_observation(near), weights)
        return FilterState(weights, mass, lost, near.amax(1) < _NEAR)

    @cached_property
    def has_mass(self) -> bool:
        """Whether Σμ is meaningful: whether the states' kernel can represent the constant 1, which Tr(ABᵀ) on all of
        SO(3) cannot.
        """
        even = torch.full_like(self.now[:, 0], 1 / self.length)
        return float(self.transition_weights(even[None]).sum()) > 0.5

    def _massless(self, weights: Float[Tensor, "S T"]) -> Bool[Tensor, " S"]:
        infinite = ~torch.isfinite(weights).all(1)
        return infinite | ~(weights.sum(1) > LEAST_TOTAL) if self.has_mass else infinite

    def skip(self, state: FilterState) -> FilterState:
        """A step without an observation: the prediction, as weights on the training states."""
        prior = self.prior_weights(state.weights)
        lost = self._massless(prior)
        return FilterState(prior, prior.sum(1), lost, torch.zeros_like(lost))

    def predict(self, state: FilterState, steps: int = 1) -> list[KernelMean]:
        """Embeddings of the state ``steps`` steps ahead, one per series."""
        if steps < 1:
            raise InputError(f"A prediction {steps} steps ahead was requested: give at least one.")
        for _ in range(steps - 1):
            state = self.skip(state)
        weights = self.transition_weights(state.weights)
        return [KernelMean(self.after, row, self.kernel) for row in weights]

    def smooth(self, states: list[FilterState], regularisation: float = SMOOTHING) -> list[Float[Tensor, "S T"]]:
        """Weights of every step given all observations, backwards by Bayes' rule on the transition: ``β_t = ΛG₊((ΛG₊)²
        + δI)⁻¹ΛG₊ₓ β_{t+1}``, ``Λ = diag((G_X + TεI)⁻¹G_X α_t)``, ``β_end = α_end``.

        ``regularisation`` δ is separate for the smoother.
        """
        now, after = self._now_and_next
        out = [states[-1].weights]
        for state in reversed(states[:-1]):
            weights = self.transition_weights(state.weights)
            result = update_by_factor(after, weights, ((out[0] @ now) @ after.T)[:, None], regularisation)[:, 0]
            good = ~self._massless(result)
            out.insert(0, torch.where(good[:, None], result, state.weights))
        return out

    def embeddings(self, weights: Float[Tensor, "S T"]) -> list[KernelMean]:
        """One weighted sample per series."""
        return [KernelMean(self.now, row, self.kernel) for row in weights]

    def estimate(self, weights: Float[Tensor, "S T"], *, ahead: bool = False) -> Float[Tensor, "S d"]:
        """Point estimates by the pre-image (Gaussian k), one a row of weights on X_1 … X_T, or on X_2 … X_{T+1} where
        they look ``ahead`` (``transition_weights``)."""
        return torch.stack(
            [image.point for image in preimages(self.after if ahead else self.now, weights, self.kernel)]
        )

    def run(self, observations: Float[Tensor, "S n q"]) -> list[FilterState]:
        """All states of S series of n observations; steps with a missing observation (NaN) are predicted without
        update.

        Before the first observation all training states have equal weights.
        """
        states: list[FilterState] = []
        there = torch.isfinite(observations).all(-1)
        observations = torch.where(there[:, :, None], observations, torch.zeros_like(observations))
        series, count = observations.shape[:2]
        block = max(1, MOST_NEAR // (series * self.length))
        for begin in range(0, count, block):  # kernels of many steps at once: one at a time costs as much as the rest
            near = self.near(observations[:, begin : begin + block].flatten(0, 1)).unflatten(0, (series, -1))
            for step, row in enumerate(near.unbind(1), begin):
                result = self._started(row) if not step else self._stepped(states[-1], row)
                if not bool(there[:, step].all()):
                    missed = self.skip(states[-1]) if step else self._anywhere(series)
                    result = _chosen(there[:, step], result, missed)
                states.append(result)
        return states

    def _anywhere(self, series: int) -> FilterState:
        even = torch.full((series, self.length), 1 / self.length, dtype=self.states.dtype, device=self.states.device)
        none = torch.zeros(series, dtype=torch.bool, device=self.states.device)
        return FilterState(even, even.sum(1), none, none)


def _chosen(which: Tensor, one: FilterState, other: FilterState) -> FilterState:
    """For each series one state or the other."""
    pairs = ((getattr(one, name), getattr(other, name)) for name in ("weights", "mass", "lost", "far"))
    return FilterState(*(torch.where(which[:, None] if a.ndim > 1 else which, a, b) for a, b in pairs))
