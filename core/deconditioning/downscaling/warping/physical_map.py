"""From a Gaussian posterior of a warped target to the target's own units, with the cells' means honoured.

With the warp g and a pixel's posterior N(m, s²) of g(v), quantiles of v are ``g⁻¹(m + δ + s Φ⁻¹(q))``; its mean and
variance are integrals by Gauss-Hermite quadrature. The shift δ of each visible cell is such that the means of v average
to the cell's value; other cells have a Gaussian mean of the shifts around them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.special import ndtri

from deconditioning.fields.problem.joined_cells import Joined
from deconditioning.fields.problem.physical_limits import limits_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import fit_scale
from deconditioning.fields.problem.warp import Warp
from deconditioning.metrics.calibration import calibration, pit
from deconditioning.metrics.probabilistic import crps_gaussian

#: Nodes of the quadrature.
_NODES = 21
#: Newton steps for δ, and the error of a cell's mean, in sds of the cells, at which they end.
_STEPS, _EXACT = 60, 1e-9
#: Step of the difference quotient of a cell's mean, in sds of the warped cells.
_STEP = 1e-4
#: Sd of the Gaussian mean of shifts around hidden cells, in cells.
_AROUND = 1.0


@dataclass(frozen=True, eq=False)
class PhysicalMap:
    """``mean`` and ``sd`` (H, W) of pixels in the target's units.

    ``centre`` and ``spread`` (H, W) are those of the Gaussian in units of the warp, the centre with its shift δ;
    without a warp they are the mean and the sd.
    """

    problem: DownscalingProblem
    mean: Float[np.ndarray, "H W"]
    sd: Float[np.ndarray, "H W"]
    centre: Float[np.ndarray, "H W"]
    spread: Float[np.ndarray, "H W"]

    def quantile(self, level: float) -> Float[np.ndarray, "H W"]:
        """The quantile of every pixel, inside the target's physical limits."""
        return in_units(self.problem, self.centre + self.spread * float(ndtri(level)))

    def scores(self) -> dict[str, float]:
        """The scores of ``score_field`` against the problem's truth."""
        from deconditioning.metrics.field_scores import score_field

        assert self.problem.truth is not None
        scores = score_field(self.problem.truth, self.mean, self.sd, area=self.problem.grid.area)
        return scores | self.scores_of_quantiles(self.problem.truth)

    def scores_of_quantiles(self, truth: Float[np.ndarray, "H W"]) -> dict[str, float]:
        """Those scores that a warp changes, CRPS and coverage; none without a warp."""
        from deconditioning.metrics.field_scores import LEVELS

        if self.problem.warp is None:
            return {}
        there = np.isfinite(self.centre) & np.isfinite(truth)
        fields = (field[there] for field in (self.mean, self.sd, self.centre, self.spread))
        values, known, scores = WarpedValues(self.problem, *fields), truth[there], {}
        for ending, area in (("", None), ("_area", self.problem.grid.area[there])):
            scores[f"crps{ending}"] = values.crps(known, area)
            held = values.coverage(known, tuple(LEVELS.values()), area)
            scores |= {f"{name}{ending}": float(share) for name, share in zip(LEVELS, held, strict=True)}
        return scores


@dataclass(frozen=True, eq=False)
class WarpedValues:
    """Predictive distributions of some values (n,): as in `PhysicalMap`, without places."""

    problem: DownscalingProblem
    mean: Float[np.ndarray, " n"]
    sd: Float[np.ndarray, " n"]
    centre: Float[np.ndarray, " n"]
    spread: Float[np.ndarray, " n"]

    def _warped(self, known: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """What is known, in units of the warp, where predictions are Gaussian."""
        return known if self.problem.warp is None else self.problem.warp.forward(known)

    def coverage(
        self, known: Float[np.ndarray, " n"], levels: Sequence[float], weights: Float[np.ndarray, " n"] | None
    ) -> Float[np.ndarray, " L"]:
        """Shares of what is known in the central intervals."""
        return calibration(self._warped(known), self.centre, self.spread, levels, weights=weights)

    def pit(self, known: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"] | None) -> Float[np.ndarray, " b"]:
        """Counts of the probability integral transform."""
        return pit(self._warped(known), self.centre, self.spread, weights=weights)

    def crps(self, known: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"] | None) -> float:
        """CRPS in the target's units; with a warp twice the mean quantile loss at 99 levels."""
        if self.problem.warp is None:
            return crps_gaussian(truth=known, mean=self.mean, sd=self.sd, weights=weights)
        levels = np.arange(1, 100) / 100
        losses = np.zeros_like(known)
        for level, z in zip(levels, ndtri(levels), strict=True):
            off = known - in_units(self.problem, self.centre + z * self.spread)
            losses += 2 * np.maximum(level * off, (level - 1) * off) / len(levels)
        return float(np.average(losses, weights=weights))


def physical_values(
    problem: DownscalingProblem, result: tuple[np.ndarray, np.ndarray], joined: Joined,
    at: Int[np.ndarray, " n"], means: Float[np.ndarray, " G"],
) -> WarpedValues:  # fmt: skip
    """Values from standardised means and sds (n,) of members ``at`` of ``joined`` cells, whose ``means`` they honour.

    The shift δ of all members of a joined cell makes their mean, weighted by their shares, that of the cell.
    """
    scale = problem.target_scale
    centre, spread = scale.backward(result[0]), scale.sd * result[1]
    if problem.warp is None:
        return WarpedValues(problem, centre, spread, centre, spread)
    group, share = joined.group[at], joined.share[at]
    if problem.matched:
        mass = np.bincount(group, share, len(means))

        def averaged(values: np.ndarray) -> np.ndarray:
            return np.bincount(group, share * values, len(means)) / np.maximum(mass, 1e-300)

        delta = np.zeros(len(means))
        for _ in range(_STEPS):
            value, above = (_moments(problem, centre + delta[group] + h, spread)[0] for h in (0.0, _STEP * scale.sd))
            off = np.where(mass > 0, means - averaged(value), 0.0)
            delta = delta + _newton(off, averaged(above - value), scale.sd)
        centre = centre + delta[group]
    first, second = _moments(problem, centre, spread)
    return WarpedValues(problem, first, np.sqrt(np.maximum(second - first**2, 0.0)), centre, spread)


def _newton(off: np.ndarray, above: np.ndarray, sd: float) -> np.ndarray:
    """Steps of δ that remove the errors ``off`` of means that grow by ``above`` for `_STEP` sds, at most one sd."""
    slope = above / (_STEP * sd)
    return np.clip(np.divide(off, slope, where=slope > 1e-12, out=np.zeros_like(off)), -sd, sd)


def physical_map(problem: DownscalingProblem, mean: object, sd: object) -> PhysicalMap:
    """The map of standardised posterior means and sds (P,)."""
    scale = problem.target_scale
    centre, spread = scale.backward(problem.on_grid(mean)), scale.sd * problem.on_grid(sd)
    if problem.warp is None:
        return PhysicalMap(problem, in_units(problem, centre), spread, centre, spread)
    centre = centre + shifts(problem, centre, spread)
    first, second = _moments(problem, centre, spread)
    return PhysicalMap(problem, first, np.sqrt(np.maximum(second - first**2, 0.0)), centre, spread)


def physical_draw(problem: DownscalingProblem, draw: object) -> Float[np.ndarray, "H W"]:
    """A draw of standardised values (P,) in the target's units, whose averages are the visible cells' values."""
    values = problem.target_scale.backward(problem.on_grid(draw))
    if problem.warp is None:
        return in_units(problem, values)
    return in_units(problem, values + shifts(problem, values, np.zeros_like(values)))


def in_units(problem: DownscalingProblem, values: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """Values of the warped target in the target's own units; without a warp none beyond its physical limits."""
    if problem.warp is not None:
        return problem.warp.backward(values)
    limits = limits_of(problem)
    return values if limits is None else np.clip(values, *limits)


def warped(problem: DownscalingProblem, warp: Warp, said: str = "") -> DownscalingProblem:
    """The problem whose model sees the standardised values of ``warp``, as if cells were means of the warped field.

    ``said`` is a note on the choice. Raises ``InputError`` if the warped values are constant.
    """
    values = warp.forward(problem.coarse.flat[problem.target_cell])
    scale = fit_scale(values, problem.spec.target, "target")
    targets = torch.as_tensor(scale.forward(values)).to(problem.data.targets)
    return replace(
        problem, data=replace(problem.data, targets=targets), target_scale=scale, warp=warp, unwarped=problem.plain,
        notes=(*problem.notes, said) if said else problem.notes,
    )  # fmt: skip


@cache
def _nodes() -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the integral over a standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()


def _moments(problem: DownscalingProblem, centre: np.ndarray, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second moment of g⁻¹ of N(centre, spread²)."""
    first, second = np.zeros_like(centre), np.zeros_like(centre)
    for node, weight in zip(*_nodes(), strict=True):
        value = in_units(problem, centre + node * spread)
        first += weight * value
        second += weight * value**2
    return first, second


def shifts(
    problem: DownscalingProblem, centre: Float[np.ndarray, "H W"], spread: Float[np.ndarray, "H W"]
) -> Float[np.ndarray, "H W"]:
    """δ of every pixel: that of its cell, or the mean over its cells by their shares."""
    if not problem.matched:  # the posterior does not honour the cells either
        return np.zeros_like(centre)
    row, shares = problem.shares_of_pixels()
    area, pixels = shares.areas(problem.grid.area), len(problem.pixel)
    part = np.maximum(np.bincount(row, shares.fraction, pixels), 1e-300)
    mass = np.bincount(shares.cell, area, shares.count)
    seen = problem.observed.ravel() & (mass > 0)
    c, s = centre.flat[problem.pixel], spread.flat[problem.pixel]
    aim, sd = np.nan_to_num(problem.coarse.ravel()), problem.target_scale.sd
    tolerance = _EXACT * float(problem.coarse[problem.observed].std())
    delta, own = np.zeros(shares.count), np.zeros(pixels)

    def averaged(values: np.ndarray) -> np.ndarray:
        return np.bincount(shares.cell, area * values[row], shares.count) / np.maximum(mass, 1e-300)

    for _ in range(_STEPS):
        value, above = (_moments(problem, c + own + step, s)[0] for step in (0.0, _STEP * sd))
        off = np.where(seen, aim - averaged(value), 0.0)
        if np.abs(off).max() <= tolerance:
            break
        delta = np.where(seen, delta + _newton(off, averaged(above - value), sd), 0.0)
        delta = _around(delta, seen, problem.coarse_shape)
        own = np.bincount(row, shares.fraction * delta[shares.cell], pixels) / part
    result = np.full(problem.grid.shape, np.nan)
    result.flat[problem.pixel] = own
    return result


def _around(delta: np.ndarray, seen: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The shifts, those of hidden cells a Gaussian mean of the visible ones."""
    from scipy.ndimage import gaussian_filter

    weight = gaussian_filter(seen.astype(float).reshape(shape), _AROUND, mode="constant").ravel()
    total = gaussian_filter(np.where(seen, delta, 0.0).reshape(shape), _AROUND, mode="constant").ravel()
    return np.where(seen, delta, total / np.maximum(weight, 1e-12) * (weight > 1e-12))
