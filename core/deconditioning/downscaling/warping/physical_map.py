"""From a posterior of standardised values to predictive distributions in the target's units, cells' means honoured.

With the warp g and a pixel's posterior N(m, s²) of g(v), quantiles of v are ``g⁻¹(m + δ + s Φ⁻¹(q))``; its mean and
variance are integrals by Gauss-Hermite quadrature. The shift δ of each visible cell is such that the means of v average
to the cell's value; other cells have a Gaussian mean of the shifts around them. A mixture has one shift for all of its
parts.

A cell whose value z has an error of the known sd e is seen as g(z) with an error of the sd ``g′(z) e`` (delta method),
and the means of v average to ``E g⁻¹(u)``, where u is the posterior of g(z) less that error (`cell_values`). Source:
Oehlert 1992, *A note on the delta method*.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int

from deconditioning.fields.footprints.stations import standardised_again
from deconditioning.fields.problem.joined_cells import Joined
from deconditioning.fields.problem.physical_limits import limits_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import fit_scale
from deconditioning.fields.problem.warp import Warp
from deconditioning.metrics.predictive import Part, Predictive, moment_behind

#: Newton steps for δ, and the error of a cell's mean, in sds of the cells, at which they end.
_STEPS, _EXACT = 60, 1e-9
#: Step of the difference quotient of a cell's mean, in sds of the warped cells.
_STEP = 1e-4
#: Sd of the Gaussian mean of shifts around hidden cells, in cells.
_AROUND = 1.0
#: Weights w_k, means and sds of standardised values, a part of a mixture each.
Parts = Sequence[tuple[float, Any, Any]]


def physical_map(problem: DownscalingProblem, parts: Parts, cells: Parts = ()) -> Predictive:
    """Distributions (H, W) of the pixels' values, from standardised means and sds (P,).

    ``cells`` are those of the cells' values less their errors (M,), needed behind a warp where these have some.
    """
    several = in_warp_units(problem, parts)
    if problem.warp is not None:
        several = _moved(several, shifts(problem, several, cells))
    return in_target_units(several, problem.warp, limits_of(problem))


def in_warp_units(problem: DownscalingProblem, parts: Parts) -> tuple[Part, ...]:
    """Standardised means and sds (P,) as maps (H, W) in units of the warp."""
    scale = problem.target_scale
    return tuple(
        (weight, scale.backward(problem.on_grid(mean)), scale.sd * problem.on_grid(sd)) for weight, mean, sd in parts
    )


def in_target_units(
    parts: tuple[Part, ...], warp: Warp | None, limits: tuple[float, float] | None = None
) -> Predictive:
    """Distributions of a mixture of Gaussians in units of the warp; without one the mean is moved into the limits."""
    if warp is not None:
        return Predictive.behind(warp, parts, (warp.low, warp.high))
    _, mean, sd = parts[0]
    if len(parts) > 1:
        mean = np.sum([weight * centre for weight, centre, _ in parts], axis=0)
        spread = np.sum(
            [weight * (spread_of_part**2 + (centre - mean) ** 2) for weight, centre, spread_of_part in parts], axis=0
        )
        sd = np.sqrt(spread)
    return Predictive(mean if limits is None else np.clip(mean, *limits), sd, parts, limits=limits)


def _moved(parts: Sequence[Part], delta: Float[np.ndarray, "*n"]) -> tuple[Part, ...]:
    """The Gaussians with δ added to their centres."""
    return tuple((weight, centre + delta, spread) for weight, centre, spread in parts)


def physical_values(
    problem: DownscalingProblem, parts: Parts, joined: Joined, at: Int[np.ndarray, " n"],
    means: Float[np.ndarray, " G"], alone: Parts,
) -> Predictive:  # fmt: skip
    """Distributions of values (n,), the members ``at`` of ``joined`` cells, whose ``means`` they honour.

    ``parts`` are standardised means and sds (n,) with their weights, ``alone`` the same without known errors of the
    values. The shift δ of all members of a joined cell makes their mean without errors, weighted by their shares, that
    of the cell.
    """
    scale, warp = problem.target_scale, problem.warp
    several, free = (
        tuple((weight, scale.backward(mean), scale.sd * sd) for weight, mean, sd in each) for each in (parts, alone)
    )
    if warp is None:
        return in_target_units(several, None)
    group, share = joined.group[at], joined.share[at]
    if problem.matched:
        mass = np.bincount(group, share, len(means))

        def averaged(values: np.ndarray) -> np.ndarray:
            """Mean of values (n,) over the members of each joined cell, by their shares."""
            return np.bincount(group, share * values, len(means)) / np.maximum(mass, 1e-300)

        delta = np.zeros(len(means))
        for _ in range(_STEPS):
            value, above = (moment_behind(warp, _moved(free, delta[group] + h)) for h in (0.0, _STEP * scale.sd))
            off = np.where(mass > 0, means - averaged(value), 0.0)
            delta = delta + _newton(off, averaged(above - value), scale.sd)
        several = _moved(several, delta[group])
    return in_target_units(several, warp)


def _newton(off: np.ndarray, above: np.ndarray, sd: float) -> np.ndarray:
    """Steps of δ that remove the errors ``off`` of means that grow by ``above`` for `_STEP` sds, at most one sd."""
    slope = above / (_STEP * sd)
    return np.clip(np.divide(off, slope, where=slope > 1e-12, out=np.zeros_like(off)), -sd, sd)


def physical_draw(problem: DownscalingProblem, draw: object, cells: Parts = ()) -> Float[np.ndarray, "H W"]:
    """A draw of standardised values (P,) in the target's units, whose averages are the visible cells' values, or those
    of ``cells`` as in `physical_map`."""
    values = problem.target_scale.backward(problem.on_grid(draw))
    if problem.warp is None:
        return in_units(problem, values)
    return in_units(problem, values + shifts(problem, [(1.0, values, np.zeros_like(values))], cells))


def in_units(problem: DownscalingProblem, values: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """Values of the warped target in the target's own units; without a warp none beyond its physical limits."""
    if problem.warp is not None:
        return problem.warp.backward(values)
    limits = limits_of(problem)
    return values if limits is None else np.clip(values, *limits)


def warped(problem: DownscalingProblem, warp: Warp, note: str = "") -> DownscalingProblem:
    """The problem whose model sees the standardised values of ``warp``, as if cells were means of the warped field.

    So are values over footprints; those at points are values of the warped field. What all values of a source differ by
    is part of its offset, see `further_sources.posterior`. Errors of cells e become ``g′(z) e``. ``note`` is a note on
    the choice. Raises ``InputError`` if the values leave the warp's domain or the warped ones are constant.
    """
    plain, values = problem.plain, problem.coarse.flat[problem.target_cell]
    warp.check(values)
    scale = fit_scale(warp.forward(values), problem.spec.target, "target")
    targets, errors = torch.as_tensor(scale.forward(warp.forward(values))), plain.data.errors
    if errors is not None:
        sds = plain.target_scale.sd * errors.sqrt().cpu().numpy()
        errors = torch.as_tensor((warp.errors(values, sds) / scale.sd) ** 2).to(errors)
    data = replace(problem.data, targets=targets.to(problem.data.targets), errors=errors)
    result = replace(
        problem, data=data, target_scale=scale, warp=warp, unwarped=plain,
        notes=(*problem.notes, note) if note else problem.notes,
    )  # fmt: skip
    scored = None if result.scored is None else standardised_again(result, result.scored)
    return replace(result, sources=tuple(standardised_again(result, each) for each in result.sources), scored=scored)


def shifts(problem: DownscalingProblem, parts: Sequence[Part], cells: Parts = ()) -> Float[np.ndarray, "H W"]:
    """δ of every pixel: that of its cell, or the mean over its cells by their shares; ``cells`` as in `physical_map`.

    A pixel in whose cell the target was measured elsewhere moves with the cell.
    """
    warp = problem.warp
    if not problem.matched or warp is None:  # unmatched, the posterior does not honour the cells either
        return np.zeros_like(parts[0][1])
    row, shares = problem.shares_of_pixels()
    area, pixels = shares.areas(problem.grid.area), len(problem.pixel)
    part, main = np.maximum(np.bincount(row, shares.fraction, pixels), 1e-300), problem.cell.flat[problem.pixel]
    unseen = np.flatnonzero((np.bincount(row, minlength=pixels) == 0) & (main >= 0))
    mass = np.bincount(shares.cell, area, shares.count)
    observed = problem.observed.ravel() & (mass > 0)
    at = [(weight, centre.flat[problem.pixel], spread.flat[problem.pixel]) for weight, centre, spread in parts]
    aim, sd = np.nan_to_num(_means(problem, cells).ravel()), problem.target_scale.sd
    tolerance = _EXACT * float(problem.coarse[problem.observed].std())
    delta, pixel_delta = np.zeros(shares.count), np.zeros(pixels)

    def averaged(values: np.ndarray) -> np.ndarray:
        """Mean of values (P,) at the pixels over each cell, by area."""
        return np.bincount(shares.cell, area * values[row], shares.count) / np.maximum(mass, 1e-300)

    for _ in range(_STEPS):
        value, above = (moment_behind(warp, _moved(at, pixel_delta + step)) for step in (0.0, _STEP * sd))
        off = np.where(observed, aim - averaged(value), 0.0)
        if np.abs(off).max() <= tolerance:
            break
        delta = np.where(observed, delta + _newton(off, averaged(above - value), sd), 0.0)
        delta = _around(delta, observed, problem.coarse_shape)
        pixel_delta = np.bincount(row, shares.fraction * delta[shares.cell], pixels) / part
        pixel_delta[unseen] = delta[main[unseen]]
    result = np.full(problem.grid.shape, np.nan)
    result.flat[problem.pixel] = pixel_delta
    return result


def _means(problem: DownscalingProblem, cells: Parts) -> Float[np.ndarray, "ny nx"]:
    """The means of a warped map in its cells: their values, or where these have errors ``E g⁻¹(u)`` of ``cells``."""
    if problem.data.errors is None:
        return problem.coarse
    if not cells:
        raise ValueError("the cells have errors: give what the posterior says of their values")
    means = problem.coarse.copy()
    means.flat[problem.target_cell] = means_behind(problem, cells)
    return means


def means_behind(problem: DownscalingProblem, parts: Parts) -> Float[np.ndarray, " n"]:
    """``E g⁻¹`` of standardised values of a warped target (n,), from their means and sds."""
    assert problem.warp is not None
    scale = problem.target_scale
    several = [(weight, scale.backward(np.asarray(mean)), scale.sd * np.asarray(sd)) for weight, mean, sd in parts]
    return moment_behind(problem.warp, several)


def _around(delta: np.ndarray, observed: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The shifts, those of hidden cells a Gaussian mean of the visible ones."""
    from scipy.ndimage import gaussian_filter

    weight = gaussian_filter(observed.astype(float).reshape(shape), _AROUND, mode="constant").ravel()
    total = gaussian_filter(np.where(observed, delta, 0.0).reshape(shape), _AROUND, mode="constant").ravel()
    return np.where(observed, delta, total / np.maximum(weight, 1e-12) * (weight > 1e-12))
