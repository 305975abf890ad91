"""What each source adds to the certainty of a map, and what one more station would."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.posterior_moments import Moments
from deconditioning.models.spec import ModelSpec

#: Pixels, evenly spread over the map's, at which variances are averaged and a station is tried.
_PIXELS = 900
#: Moments of f and the bag sums c at some pixels.
AtPixels = Callable[[Int[Tensor, " n"]], tuple[Moments, Float[Tensor, "B n"]]]


@dataclass(frozen=True)
class ExplainedVariances:
    """Variances of f, standardised and averaged over some pixels, the ``rows`` (n,) of the prediction pixels.

    ``left`` is the posterior's, ``cells`` what cells alone take from the prior's, ``further`` what each further source
    takes from the rest, in their order; ``gain`` (n,) is what ``left`` would fall by with a further station of the same
    network at each of the pixels, at the pixel's altitude, None without stations.
    """

    rows: Int[Tensor, " n"]
    left: float
    cells: float
    further: tuple[float, ...]
    gain: Float[Tensor, " n"] | None

    @property
    def prior(self) -> float:
        """The variance of the prior, of which all the others are parts."""
        return self.left + self.cells + sum(self.further)


def explained_variances(
    spec: ModelSpec, conditioning: Conditioning, problem: DownscalingProblem, at: AtPixels
) -> ExplainedVariances:
    """Of a posterior whose targets are cells and, behind them, those of further sources, with stations last.

    With ``S = F Fᵀ`` the squares of ``F⁻¹c(x)`` add up to the reduction of the variance; those of the first rows are
    that by the cells, since the first rows of F are the factor of their own covariance, and so on. A station at x′
    without an error of its own measures ``u = f(x′) + b₀`` with the offset b₀ of all stations, and takes
    ``cov(f(x), u)² / (var u + ς² + τ²)`` from the variance at x. Source: Rasmussen and Williams 2006, eq. 2.26; Krause,
    Singh and Guestrin 2008, *JMLR* 9, for the choice of a place.
    """
    points = conditioning.points
    assert points is not None
    with torch.no_grad():
        count = len(problem.pixel)
        places = np.unique(np.linspace(0, count - 1, min(_PIXELS, count)).astype(int))
        rows = torch.as_tensor(places).to(conditioning.residual.device)
        (_, variance), sums = at(rows)
        across = conditioning.weights.T @ sums
        projected = conditioning.factor.half_solve(across)
        sizes = (conditioning.cells, *points.sizes)
        cells, *further = (float(part.sum(0).mean()) for part in projected.square().split(sizes))
        if conditioning.carried is not None:  # the cells' targets are estimates
            cells -= float(conditioning.carried_by(conditioning.factor.solve(across)).mean())
        gain = None
        if problem.stations is not None:
            gain = _gain(spec, conditioning, problem, rows, sums).cpu()
        return ExplainedVariances(rows.cpu(), float(variance.mean()), cells, tuple(further), gain)


def _gain(
    spec: ModelSpec, conditioning: Conditioning, problem: DownscalingProblem, rows: Int[Tensor, " n"],
    sums: Float[Tensor, "B n"],
) -> Float[Tensor, " n"]:  # fmt: skip
    """What the mean variance would fall by with one more station u at each pixel, see `explained_variances`.

    ``2 κ cov(f, u) − κ² var u`` with the weight ``κ = cov(f, u) / var u`` that the model gives it. If the cells'
    targets are estimates, κ is that of a model that takes them for measurements, as the posterior mean does.
    """
    points, stations = conditioning.points, problem.stations
    assert points is not None and stations is not None
    first = len(points.prior) - len(stations.effects)
    inputs = problem.inputs[rows.cpu()].to(sums.device)
    prior = evaluate(spec.kernel.build(problem.columns).to(sums.device), inputs, inputs)
    effect = points.effects[:, [first]] * points.prior[first]
    of_f = conditioning.weights.T @ sums  # cov(z̃, f), and cov(z̃, u) with the offset
    of_u = of_f + torch.nn.functional.pad(effect, (0, 0, conditioning.cells, 0))
    half_f, half_u = conditioning.factor.half_solve(of_f), conditioning.factor.half_solve(of_u)
    between = prior - half_f.T @ half_u
    noise = spec.point_noise + spec.noises_of_sources[-1]
    variance = (prior.diagonal() + points.prior[first] - half_u.square().sum(0) + noise).clamp_min(1e-12)
    weight = between / variance
    if conditioning.carried is not None:
        solved = conditioning.factor.solve(of_u)
        between = between + conditioning.carried_between(conditioning.factor.solve(of_f), solved)
        variance = variance + conditioning.carried_by(solved)
    return (2 * weight * between - weight.square() * variance).mean(0)


def averaged_variances(weights: Sequence[float], parts: Sequence[ExplainedVariances]) -> ExplainedVariances:
    """The mean over several posteriors at the same pixels."""

    def mean(name: str) -> float:
        """The weighted mean of one field of the parts."""
        return float(sum(weight * getattr(part, name) for weight, part in zip(weights, parts, strict=True)))

    further = zip(*(part.further for part in parts), strict=True)
    gains = [weight * part.gain for weight, part in zip(weights, parts, strict=True) if part.gain is not None]
    return ExplainedVariances(
        parts[0].rows, mean("left"), mean("cells"),
        tuple(float(np.dot(weights, each)) for each in further), torch.stack(gains).sum(0) if gains else None,
    )  # fmt: skip
