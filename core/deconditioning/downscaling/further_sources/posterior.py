"""What a posterior says of further sources: their effects, each measurement from all others, places not used."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.downscaling.further_sources.explained import (
    AtPixels,
    ExplainedVariances,
    averaged_variances,
    explained_variances,
)
from deconditioning.fields.footprints.station_data import SourceTargets
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.leave_one_out import MOST_TARGETS, leave_one_out
from deconditioning.models.posterior_moments import Moments, averaged_moments
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import Bags


@dataclass(frozen=True)
class SourcePosterior:
    """Standardised means and variances.

    ``effects`` of the coefficients b (q,), source by source; ``left_out`` of each measurement's value from all other
    targets (S,), None if they are too many; ``scored`` of the values at stations that the posterior did not see (T,),
    None if there are none. ``representativeness`` τ² of each source. ``explained``: what each adds to the map.
    ``over_footprints`` of the mean of the pixels' values over what each measurement measures (S,), without effects and
    errors; None without a warp of the target.
    """

    effects: tuple[Float[Tensor, " q"], Float[Tensor, " q"]]
    left_out: tuple[Float[Tensor, " S"], Float[Tensor, " S"]] | None
    scored: tuple[Float[Tensor, " T"], Float[Tensor, " T"]] | None
    representativeness: tuple[float, ...]
    explained: ExplainedVariances
    over_footprints: tuple[Float[Tensor, " S"], Float[Tensor, " S"]] | None = None


def source_posterior(
    spec: ModelSpec,
    conditioning: Conditioning,
    problem: DownscalingProblem,
    at: AtPixels,
    scale: Float[Tensor, " P"] | None,
) -> SourcePosterior | None:
    """The posterior of further sources, from that of f; ``at`` gives its moments and the bag sums c at some pixels.

    With the error ``H b + e`` of the targets ``z̃``: ``E b = V Hᵀ S⁻¹ r``, ``cov b = V − V Hᵀ S⁻¹ H V`` and
    ``cov(b, f(x)) = −V Hᵀ S⁻¹ Wᵀ c(x)``. A value at a station varies by ``f``, ``h b``, ς², τ² and its own error; b and
    τ² belong to the targets' instrument, and points that are scored beside footprints, or beside cells alone, have
    neither; ``scale`` κ of f's sd (P,) applies to what is not noise. None for a problem without further sources.
    """
    stations, scored = problem.stations, problem.scored
    if not problem.sources or conditioning.points is None:
        return None
    with torch.no_grad():
        points, before = conditioning.points, conditioning.cells
        common = torch.nn.functional.pad(points.effects * points.prior, (0, 0, before, 0))
        solved = conditioning.factor.solve(common)
        coefficients = solved.T @ conditioning.residual
        spread = torch.diag(points.prior) - common.T @ solved + conditioning.carried_between(solved, solved)
        places = None
        if scored is not None:
            rows = torch.as_tensor(scored.row).to(conditioning.residual.device)
            (mean, variance), sums = at(rows)
            columns = _columns(scored, problem.sources).to(mean)
            across = conditioning.weights.T @ sums
            crossed = conditioning.carried_between(solved, conditioning.factor.solve(across)) - solved.T @ across
            more = ((columns @ spread) * columns).sum(1) + 2 * (columns * crossed.T).sum(1)
            noise = spec.point_noise + scored.errors.variance.to(mean)
            noise += spec.noises_of_sources[-1] if stations is not None and stations.footprints is None else 0.0
            kappa = 1.0 if scale is None else scale[rows].square()
            places = mean + columns @ coefficients, (kappa * (variance + more)).clamp_min(0) + noise
        left = left_out_of_sources(spec, conditioning, problem, scale)
        effects, explained = (coefficients, spread.diagonal()), explained_variances(spec, conditioning, problem, at)
        noises = spec.noises_of_sources
        noises = noises * len(problem.sources) if len(noises) == 1 else noises
        over = None if problem.warp is None else _over_footprints(spec, conditioning, problem, scale)
        return SourcePosterior(effects, left, places, noises, explained, over)


def _columns(scored: SourceTargets, sources: Sequence[SourceTargets]) -> Float[Tensor, "T q"]:
    """The effects of the sources at scored stations: those of the stations; 0 where one of these does not have it, and
    of other sources and footprints, which another instrument measures."""
    column_of = dict(zip(scored.effects, scored.errors.effects.T, strict=True))
    nothing = torch.zeros(len(scored.row), dtype=torch.float64)
    columns = [
        column_of.get(name, nothing) if each.stations and each.footprints is None else nothing
        for each in sources for name in each.effects
    ]  # fmt: skip
    return torch.stack(columns, dim=1)


def left_out_of_sources(
    spec: ModelSpec, conditioning: Conditioning, problem: DownscalingProblem, scale: Float[Tensor, " P"] | None
) -> Moments | None:
    """Each measurement from all other targets (`leave_one_out`); None if there are too many. ``scale`` is κ (P,)."""
    points = conditioning.points
    if points is None or len(conditioning.residual) > MOST_TARGETS:
        return None
    left = leave_one_out(conditioning)
    targets = torch.cat([each.targets for each in problem.sources]).to(conditioning.residual)
    mean, variance = targets - left.error[conditioning.cells :], left.variance[conditioning.cells :]
    if conditioning.carried is not None:
        solved = conditioning.factor.solve(_last(conditioning))
        variance = variance + variance.square() * conditioning.carried_by(solved)
    if scale is None:
        return mean, variance
    bags, kappa = _scaled(problem, scale)
    noise = spec.point_noise * bags.contamination + points.of_sources(spec.representativeness) + points.variance
    return mean, kappa * (variance - noise).clamp_min(0) + noise


def _last(conditioning: Conditioning) -> Float[Tensor, "M S"]:
    """The last rows' columns of the identity."""
    return torch.eye(len(conditioning.residual)).to(conditioning.residual)[:, conditioning.cells :]


def _scaled(problem: DownscalingProblem, scale: Float[Tensor, " P"]) -> tuple[Bags, Float[Tensor, " S"]]:
    """The bags of all measurements, and the mean of κ² over each."""
    bags = Bags.joined([each.bags(problem.inputs) for each in problem.sources]).to(scale.device)
    pixels = torch.as_tensor(np.concatenate([each.pixels for each in problem.sources])).to(scale.device)
    return bags, bags.mean(scale[pixels].square())


def _over_footprints(
    spec: ModelSpec, conditioning: Conditioning, problem: DownscalingProblem, scale: Float[Tensor, " P"] | None
) -> Moments:
    """Of the last rows of ``u = Wᵀf̄``: ``E u = z̃ − Σ S⁻¹ r``, ``cov u = Σ − Σ S⁻¹ Σ``, and the point noise's share."""
    rows = slice(conditioning.cells, None)
    noise = conditioning.noise[:, rows]
    targets = torch.cat([each.targets for each in problem.sources]).to(noise)
    mean = targets - noise.T @ conditioning.factor.solve(conditioning.residual)
    variance = (noise[rows].diagonal() - conditioning.factor.half_solve(noise).square().sum(0)).clamp_min(0)
    if conditioning.carried is not None:
        variance = variance + conditioning.carried_by(_last(conditioning) - conditioning.factor.solve(noise))
    everywhere = torch.ones(len(problem.pixel), dtype=noise.dtype, device=noise.device)
    bags, kappa = _scaled(problem, everywhere if scale is None else scale)
    return mean, kappa * variance + spec.point_noise * bags.contamination


def averaged_posteriors(weights: Sequence[float], parts: Sequence[SourcePosterior | None]) -> SourcePosterior | None:
    """The moments of the mixture of several posteriors; None if one has no further sources."""
    there = [part for part in parts if part is not None]
    if len(there) < len(parts):
        return None

    def mixed(name: str) -> Moments | None:
        """The mixture's moments of one field; None if a part lacks it."""
        every = [moments for part in there if (moments := getattr(part, name)) is not None]
        return averaged_moments(weights, every) if len(every) == len(there) else None

    effects = mixed("effects")
    assert effects is not None
    noise = tuple(float(np.dot(weights, each)) for each in zip(*(p.representativeness for p in there), strict=True))
    explained = averaged_variances(weights, [part.explained for part in there])
    return SourcePosterior(effects, mixed("left_out"), mixed("scored"), noise, explained, mixed("over_footprints"))
