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
class Sources:
    """Variances of f, standardised and averaged over some pixels, the ``rows`` (n,) of the prediction pixels.

    ``left`` is the posterior's, ``cells`` what cells alone take from the prior's, ``stations`` what stations take from
    the rest; ``gain`` (n,) is what ``left`` would fall by with a further station of the same network at each of the
    pixels, at the pixel's altitude.
    """

    rows: Int[Tensor, " n"]
    left: float
    cells: float
    stations: float
    gain: Float[Tensor, " n"]


def sources_of(spec: ModelSpec, conditioning: Conditioning, problem: DownscalingProblem, at: AtPixels) -> Sources:
    """Of a posterior with W = I whose targets are cells and, behind them, stations.

    With ``S = F Fᵀ`` the squares of ``F⁻¹c(x)`` add up to the reduction of the variance; those of the first rows are
    that by the cells, since the first rows of F are the factor of their own covariance. A station at x′ without an
    error of its own measures ``u = f(x′) + b₀`` with the offset b₀ of all stations, and takes ``cov(f(x), u)² /
    (var u + ς² + τ²)`` from the variance at x. Source: Rasmussen and Williams 2006, eq. 2.26; Krause, Singh and
    Guestrin 2008, *JMLR* 9, for the choice of a place.
    """
    points = conditioning.points
    assert points is not None
    with torch.no_grad():
        count = len(problem.pixel)
        places = np.unique(np.linspace(0, count - 1, min(_PIXELS, count)).astype(int))
        rows = torch.as_tensor(places).to(conditioning.residual.device)
        (_, variance), sums = at(rows)
        projected = conditioning.root.T @ sums
        reduction = projected.square()
        inputs = problem.inputs[rows.cpu()].to(sums.device)
        between = evaluate(spec.kernel.build(problem.columns).to(sums.device), inputs, inputs) - projected.T @ projected
        common = torch.nn.functional.pad(points.effects[:, 0] * points.prior[0], (conditioning.cells, 0))  # cov(z̃, b₀)
        along = conditioning.factor.half_solve(common)
        crossed = -(along @ projected)  # cov(b₀, f(x))
        offset = points.prior[0] - along @ along
        measured = variance + 2 * crossed + offset + spec.point_noise + spec.representativeness
        gain = (between + crossed[:, None]).square().mean(0) / measured.clamp_min(1e-12)
        cells, stations = (
            float(part.sum(0).mean()) for part in (reduction[: conditioning.cells], reduction[conditioning.cells :])
        )
        return Sources(rows.cpu(), float(variance.mean()), cells, stations, gain.cpu())


def averaged_sources(weights: Sequence[float], parts: Sequence[Sources]) -> Sources:
    """The mean over several posteriors at the same pixels."""

    def mean(name: str) -> float:
        """The weighted mean of one field of the parts."""
        return float(sum(weight * getattr(part, name) for weight, part in zip(weights, parts, strict=True)))

    gain = torch.stack([weight * part.gain for weight, part in zip(weights, parts, strict=True)]).sum(0)
    return Sources(parts[0].rows, mean("left"), mean("cells"), mean("stations"), gain)
