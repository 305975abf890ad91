"""The kernel of anomalies, from the fine anomalies of a training period given the coarse ones.

    Σ_t Σ_q log N(r_qt; c_qᵀ S⁻¹ a_t, k_qq − c_qᵀ S⁻¹ c_q)

averaged over some times t and summed over some pixels q, so that it counts as one time beside the priors: a composite
conditional likelihood, which sees what happens inside cells, as the evidence of the cells does not. Source: Vecchia
1988, *JRSS B* 50; Varin, Reid and Firth 2011, *Statistica Sinica* 21.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross_with_gradient
from deconditioning.device import choose
from deconditioning.downscaling.learning_data import centre_of_priors
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import Check
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.kernels.tiles import diagonal
from deconditioning.models.learning.optimise import minimise
from deconditioning.models.learning.repeats import Repeats, covariance_of_targets
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.spec import ModelSpec
from deconditioning.period.learning import repeats_of

#: Where coarse values are means of the fine ones: width of the priors beside that for a single time, whose few cells
#: say less than the fine values of an archive. Elsewhere: variance of the mean of anomalies, beside that of the coarse
#: ones.
_WIDER, _MEAN_VARIANCE = 3.0, 0.01
#: Inverse slopes in the covariates where learning starts: those of anomalies are smaller than those of fields.
_INVERSE_SLOPE = 10.0
#: Pixels and times of the composite likelihood, and kernel values of a step beyond which it takes too long.
_PIXELS, _TIMES, _MOST_VALUES = 400, 24, 40_000_000


def _of_anomalies(problem: DownscalingProblem, settings: DownscaleSettings, keeps_means: bool) -> ModelSpec:
    """Where learning starts: as for one time, but with small slopes in the covariates, and without the smooth function
    of them that is the default, for that would follow single pixels.
    """
    model, left_open = settings.kind, settings.kernel is None and settings.structure == "sum"
    left_open = left_open and model.has_linear_mean and model.has_covariate_kernel
    start = starting_spec(problem, settings.replace(kernel="linear") if left_open else settings)
    return replace(start, kernel=KernelSpec(tuple(_begun(t, left_open, keeps_means) for t in start.kernel.terms)))


def _begun(term: Term, small_slopes: bool, keeps_means: bool) -> Term:
    if not keeps_means and all(factor.family == "constant" for factor in term.factors):
        return replace(term, scale=_MEAN_VARIANCE)
    factors = (
        replace(each, lengthscales=(_INVERSE_SLOPE,) * len(each.lengthscales))
        if small_slopes and each.kind.slopes_for_scales else each
        for each in term.factors
    )  # fmt: skip
    return replace(term, factors=tuple(factors))


def composite_fits(problem: DownscalingProblem, spec: ModelSpec) -> bool:
    """Whether the composite likelihood is affordable, and the model reads the bags of the cells themselves."""
    return len(problem.data.bags.inputs) * _PIXELS <= _MOST_VALUES and not spec.model.looks_at_footprints


def composite_objective(
    trainable: Trainable, known: Repeats, problem: DownscalingProblem, pixels: np.ndarray, r: Float[Tensor, "t q"],
    check: Check,
) -> Callable[[], Tensor]:  # fmt: skip
    """The negative mean log density of fine anomalies ``r`` at ``pixels``, given the coarse ones of ``known``."""
    device = r.device
    bags, inputs = sort_bags(problem.data.bags.to(device)), problem.inputs[pixels].to(device)
    between = known.bag_gram
    assert between is not None

    def loss() -> Tensor:
        """The negative mean log density at the present parameters."""
        check()
        weights, covariance = covariance_of_targets(trainable, known.data, between(trainable.kernel))
        cross = weights.T @ cross_with_gradient(trainable.kernel, bags, inputs, check=check)
        gain = linalg.cholesky(covariance, "covariance of the coarse anomalies").solve(cross)
        left = diagonal(trainable.kernel, inputs) - (gain * cross).sum(0) + trainable.point_noise
        left = left.clamp_min(1e-9)
        error = r - known.targets.T @ gain
        return 0.5 * (left.log() + error.square() / left + math.log(2 * math.pi)).mean()

    return loss


def composite_pixels(known: np.ndarray, seed: int) -> np.ndarray:
    """Some of the pixels that are ``known`` (P,), ascending, that the composite likelihood is summed over."""
    there = np.flatnonzero(known)
    return np.sort(np.random.default_rng(seed).choice(there, min(_PIXELS, len(there)), replace=False))


def learn_composite(
    problem: DownscalingProblem, settings: DownscaleSettings, a: np.ndarray, r: np.ndarray, pixels: np.ndarray,
    context: Any = None, *, keeps_means: bool = True,
) -> ModelSpec:  # fmt: skip
    """The hyperparameters that predict fine anomalies ``r`` (N, q) at ``pixels`` best from coarse ones ``a`` (N, M).

    Both are in one unit, which should be near the sd of ``a``. ``keeps_means``: coarse values are means of the fine
    ones. A change of all of them is then one of every pixel: the mean is unknown. In units of a warp it is not, and
    some of the fine values are drawn, so that priors are as narrow as usual. Raises ``InputError``, ``Cancelled``.
    """
    context = context or NoReport()
    start, columns, options = _of_anomalies(problem, settings, keeps_means), columns_of(problem), settings.learning()
    times = np.unique(np.linspace(0, len(a) - 1, min(_TIMES, len(a))).round().astype(int))
    device = choose(settings.device)
    known = repeats_of(problem, start, torch.as_tensor(a[times].T.copy()), settings, context.check)
    trainable = Trainable(
        start, known.data, columns, hold=options.hold, held_to=centre_of_priors(problem, start, problem.data.bags)
    )  # fmt: skip
    observed = torch.as_tensor(r[times]).to(device)
    objective = composite_objective(trainable, known, problem, pixels, observed, context.check)
    count = len(pixels)

    def tell(event: dict[str, Any]) -> None:
        """Report one evaluation; ``context.check`` may raise ``Cancelled``."""
        context.check()
        context.report(
            step=event["evaluation"], total=event["total"],
            message=f"Learning the kernel of anomalies: {-count * event['loss']:.4g}",
        )  # fmt: skip

    def loss() -> Tensor:
        """The negative mean log density, less the log prior of one time."""
        width = (_WIDER if keeps_means else 1.0) * options.prior_sd
        return objective() - trainable.log_prior(width) / count if width > 0 else objective()

    minimise(
        loss, trainable.vector, method=options.method, restarts=options.restarts, steps=options.steps,
        seed=options.seed, report=tell,
    )  # fmt: skip
    return replace(trainable.learned(), spread=None)
