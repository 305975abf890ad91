"""Further sources of a warped target: predicted values in its units, and what of a source's offset comes of the warp.

The model takes cells and footprints as means of g(v), though they are g of means of v. The map is moved by δ so that
its means of v are those of the cells (`warping.physical_map`); a source's offset contains the same difference.
"""

from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Float

from deconditioning.downscaling.further_sources.posterior import SourcePosterior
from deconditioning.downscaling.warping.physical_map import in_target_units
from deconditioning.fields.footprints.station_data import SourceTargets
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.predictive import Part, Predictive, moment_behind
from deconditioning.models.posterior_moments import Moments, averaged_moments


def predicted_values(problem: DownscalingProblem, moments: Moments) -> Predictive:
    """The distributions of values in the target's units, from their standardised means and variances (n,)."""
    mean, variance = (values.cpu().numpy() for values in moments)
    scale = problem.target_scale
    spread = scale.sd * np.sqrt(np.maximum(variance, 0))
    return in_target_units(((1.0, scale.backward(mean), spread),), problem.warp)


def map_at(problem: DownscalingProblem, predictive: Predictive, scored: SourceTargets) -> Predictive:
    """The map (H, W) of a warped target at the pixels (T,) of scored stations, with the errors of their values."""
    at, error = problem.pixel[scored.row], problem.target_scale.sd * scored.errors.variance.sqrt().numpy()
    parts = tuple(
        (weight, centre.flat[at], np.hypot(spread.flat[at], error)) for weight, centre, spread in predictive.parts
    )
    return in_target_units(parts, problem.warp)


def map_with_effects(
    problem: DownscalingProblem, predictive: Predictive, scored: SourceTargets,
    effects: Mapping[str, float], variance: Float[np.ndarray, " T"],
) -> Predictive:  # fmt: skip
    """The map of a warped target at scored stations, plus the standardised ``effects`` of stations like them, by name.

    The ``variance`` (T,) is that of a standardised value at each.
    """
    column_of = dict(zip(scored.effects, scored.errors.effects.numpy().T, strict=True))
    more = np.sum([effect * column_of[name] for name, effect in effects.items() if name in column_of], axis=0)
    centre, _ = _moments_of(predictive.parts)
    sd = problem.target_scale.sd
    parts = ((1.0, centre[problem.pixel[scored.row]] + sd * more, sd * np.sqrt(np.maximum(variance, 0))),)
    return in_target_units(parts, problem.warp)


def differences_by_warp(
    problem: DownscalingProblem, moments: SourcePosterior, predictive: Predictive
) -> list[Float[np.ndarray, " S"]]:
    """What each value of each source would differ by if the map were right, standardised; 0 without a warp.

    ``g(v̄) − Σ_i w_i m_i`` with the posterior mean m of the warped field and ``v̄ = Σ_i w_i E[v_i]`` from the map, whose
    distributions are taken about the mean over the footprint, without its variance. For a single pixel it is
    the shift δ of the map there.
    """
    if problem.warp is None or moments.over_footprints is None:
        return [np.zeros(len(each.row)) for each in problem.sources]
    scale, warp = problem.target_scale, problem.warp
    means, variances = (values.cpu().numpy() for values in moments.over_footprints)
    centre, spread = _moments_of(predictive.parts)
    result, first = [], 0
    for source in problem.sources:
        bags, rows = source.bags(problem.inputs), slice(first, first + len(source.row))
        at, value = problem.pixel[source.pixels], bags.bag.numpy()
        about = np.maximum(spread[at] ** 2 - scale.sd**2 * variances[rows][value], 0.0)
        pixels = moment_behind(warp, [(1.0, centre[at], np.sqrt(about))])
        mean = np.bincount(value, bags.weights.numpy() * pixels, bags.count)
        result.append(scale.forward(warp.forward(mean)) - means[rows])
        first = rows.stop
    return result


def _moments_of(parts: tuple[Part, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sd (P,) of a mixture at every pixel of a map."""
    weights = [weight for weight, _, _ in parts]
    flat = [(torch.as_tensor(centre).flatten(), torch.as_tensor(spread).flatten()) for _, centre, spread in parts]
    mean, variance = averaged_moments(weights, [(centre, spread.square()) for centre, spread in flat])
    return mean.numpy(), variance.sqrt().numpy()
