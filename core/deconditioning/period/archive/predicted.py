"""Means and sds of all pixels of a series with an archive, tile by tile."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.models.learning.repeats import gap_patterns
from deconditioning.models.spec import ModelSpec
from deconditioning.period.archive.gain import CoarseSide, FineSide, Gain
from deconditioning.period.archive.left_out import Choice, Method, left_out_errors, spread_of
from deconditioning.period.archive.outside import Outside
from deconditioning.period.archive.setting import Setting
from deconditioning.period.archive.stations import AllStations, Given, Network, Whole
from deconditioning.period.linking.archive import LinkedCells


@dataclass(frozen=True, eq=False)
class MissingCells:
    """The ``covariance`` S (m, m) of the coarse anomalies that are ``used`` (m,), by which missing ones are predicted
    from those that are known.
    """

    covariance: Float[Tensor, "m m"]
    used: Int[Tensor, " m"]

    @staticmethod
    def of(coarse: CoarseSide, choice: Choice) -> "MissingCells":
        """That of a mixture, from all training times."""
        known = coarse.anomalies(np.arange(len(coarse.z)))
        lower = known.factor(coarse, choice.mixture, choice.scale).lower
        return MissingCells(lower @ lower.T, coarse.used(choice.mixture))

    def gain(self, gain: Gain, rows: Int[Tensor, " k"]) -> Gain:
        """``S_kk⁻¹ S_k G`` from the ``rows`` that are known, for the gain G of all, whose variance grows by
        ``Gᵀ (S − S_k ᵀS_kk⁻¹ S_k) G``.
        """
        inside = torch.isin(self.used, rows)
        weights, of_known = gain.weights[self.used], self.covariance[inside]
        factor = linalg.cholesky(of_known[:, inside], "covariance of the coarse anomalies")
        known = torch.isin(rows, self.used)
        result = weights.new_zeros(len(rows), weights.shape[1])
        result[known] = factor.solve(of_known @ weights)
        left = (weights * (self.covariance @ weights)).sum(0) - factor.half_solve(of_known @ weights).square().sum(0)
        anomalies = replace(gain.known, coarse=gain.known.coarse.of(rows))
        return Gain(anomalies, result, gain.variance + left.clamp_min(0))


@dataclass(frozen=True, eq=False)
class Recipe:
    """How the pixels of a setting are predicted: the ``method`` of the mixture, ``ratio`` λ, the coarse values ``z``
    (T, M) and the ``groups`` of times with the same ones, pixels ``outside`` the archive, and stations. With cells
    ``linked`` through time there are no groups: ``times`` are those of the setting among the linked ones. ``missing``
    says what missing cells are predicted by.
    """

    setting: Setting
    method: Method
    ratio: float
    z: Float[Tensor, "T M"]
    groups: Sequence[Given]
    outside: Outside | None = None
    network: Network | None = None
    linked: LinkedCells | None = None
    times: Int[np.ndarray, " t"] | None = None
    missing: MissingCells | None = None

    @staticmethod
    def of(
        setting: Setting, method: Method, ratio: float, times: Int[np.ndarray, " t"], outside: Outside | None,
        network: Network | None, linked: LinkedCells | None = None, missing: MissingCells | None = None,
    ) -> "Recipe":  # fmt: skip
        """With the coarse values of the setting; ``times`` are its times among those of the whole series."""
        if linked is not None:
            return Recipe(setting, method, ratio, setting.of_series(), (), linked=linked, times=times)
        if network is not None:
            z, groups = network.given(times, setting.coarse)
        else:
            z, errors = setting.of_series(), setting.errors_of_series()
            groups = list[Given]()
            for rows, where in gap_patterns(z.T, None if errors is None else errors.T):
                own = None if errors is None else errors[where[0]][rows]
                groups.append(Given(rows, where, setting.coarse.some(rows).with_own(own)))
        return Recipe(setting, method, ratio, z, groups, outside, network, missing=missing)

    @property
    def spec(self) -> ModelSpec:
        """The model, with what is learned of the stations."""
        return self.setting.spec if self.network is None else self.network.spec

    @property
    def drawn(self) -> Setting:
        """The setting with the stations that most times have."""
        if self.network is None:
            return self.setting
        largest = max(self.groups, key=lambda given: len(given.times))
        if largest.cells is None:
            return self.setting
        joined = self.network.setting
        return replace(joined, coarse=largest.side, project=joined.project[:, largest.rows])


@dataclass(eq=False)
class Predicted:
    """Arrays of the result, (T, P) and (G, P), the squared standardised left-out errors (N,) behind g(t), mean and
    sd (2, P) of the training period, and the sd (P,) with all cells.
    """

    means: Float[np.ndarray, "T P"]
    spreads: Float[np.ndarray, "G P"]
    spread_of: Int[np.ndarray, " T"]
    squares: Float[np.ndarray, " N"]
    usual: Float[np.ndarray, "two P"]
    sd: Float[np.ndarray, " P"]

    def place(
        self, setting: Setting, group: int, at: tuple[np.ndarray, Tensor, Tensor], z: Tensor, gain: Gain, sd: Tensor
    ) -> None:  # fmt: skip
        """Fill in some pixels of the times of a group, which have some of the coarse values ``z``."""
        tile, where, rows = at
        times = where.cpu().numpy()
        design = setting.seasons.design([setting.series.dates[time] for time in times])
        self.spread_of[times] = group
        self.means[np.ix_(times, tile)] = gain.mean(design, z[where][:, rows]).cpu().numpy()
        self.spreads[group, tile] = sd.cpu().numpy()

    def place_linked(self, recipe: Recipe, pixels: Int[np.ndarray, " p"], tile: "_Tile") -> None:
        """Fill in some pixels of all times, whose cells are linked."""
        assert recipe.linked is not None and recipe.times is not None
        design = recipe.setting.seasons.design(recipe.setting.series.dates)
        means, added = recipe.linked.moments(tile.gain, design, recipe.times)
        self.means[:, pixels] = means.cpu().numpy()
        self.spreads[:, pixels] = (tile.square + added).sqrt().cpu().numpy()


@dataclass(frozen=True, eq=False)
class _Tile:
    """Some pixels: their ``fine`` side, and what all cells make of them, the ``square`` (p,) of the sd and the
    ``gain``; with stations also what all of them make of them.
    """

    fine: FineSide
    square: Float[Tensor, " p"]
    gain: Gain
    whole: Whole | None


def predicted(recipe: Recipe, context: Any) -> Predicted:
    """All pixels at all times of the recipe's setting."""
    setting, network, z = recipe.setting, recipe.network, recipe.z
    series, coarse, pixels = setting.series, setting.coarse, len(setting.series.problem.pixel)
    joined = setting if network is None else network.setting
    stations = None if network is None else AllStations.of(network, recipe.method, context.check)
    groups = len(series) if recipe.linked else len(recipe.groups)
    means, spreads, usual, (sd,) = (np.full((rows, pixels), np.nan) for rows in (len(series), groups, 2, 1))
    spread_of = np.arange(len(series)) if recipe.linked else np.zeros(len(series), dtype=int)
    result = Predicted(means, spreads, spread_of, np.zeros(len(coarse.z)), usual, sd)
    count, total = 0, int(setting.training.known.sum())
    for pixel, fine in joined.tiles(context.check):
        tile, squares = _tile(recipe, fine, stations)
        result.squares += squares
        result.usual[:, pixel] = torch.stack([fine.y.mean(0), fine.y.std(0, correction=0)]).cpu().numpy()
        result.sd[pixel] = tile.square.sqrt().cpu().numpy()
        count += len(pixel)
        context.report(step=count, total=total, message="Predicting pixels")
        if recipe.linked is not None:
            result.place_linked(recipe, pixel, tile)
        for n, given in enumerate(recipe.groups):
            gain, square = _of_group(recipe, given, tile)
            result.place(setting, n, (pixel, given.times, given.rows), z, gain, square.sqrt())
    if recipe.outside is not None:
        for pixel, beyond in recipe.outside.tiles(context.check):
            result.usual[:, pixel] = torch.stack(recipe.outside.usual(beyond)).cpu().numpy()
            for n, given in enumerate(recipe.groups):
                gain = recipe.outside.gain(given.side, beyond.of(given.rows))
                result.place(setting, n, (pixel, given.times, given.rows), z, gain, gain.variance.sqrt())
    result.squares /= count
    return result


def _tile(recipe: Recipe, fine: FineSide, stations: AllStations | None) -> tuple[_Tile, np.ndarray]:
    """Some pixels, and the sums over these of squared standardised left-out errors (N,) of cells alone."""
    coarse = recipe.setting.coarse
    own = fine if stations is None else fine.of(torch.arange(len(coarse.cell), device=coarse.z.device))
    errors, variance = left_out_errors(coarse, own, recipe.method, recipe.setting.parts)
    sd = spread_of(errors, variance, recipe.ratio)
    gain = recipe.method(coarse, own, np.arange(len(coarse.z)))
    whole = None if stations is None else stations.at(fine)
    return _Tile(fine, sd.square(), gain, whole), (errors / sd).square().sum(1).cpu().numpy()


def _of_group(recipe: Recipe, given: Given, tile: _Tile) -> tuple[Gain, Float[Tensor, " p"]]:
    """The gain at the times of a group, and the squared sd of the pixels."""
    every, side = np.arange(len(recipe.setting.coarse.z)), given.side if given.cells is None else given.cells
    own = tile.gain
    if side is not recipe.setting.coarse and recipe.missing is not None:
        own = recipe.missing.gain(tile.gain, given.rows)
    elif side is not recipe.setting.coarse:
        own = recipe.method(side, tile.fine.of(given.rows[: len(side.cell)]), every)
    more = own.variance - tile.gain.variance
    square = torch.where(  # smaller errors of the cells leave less
        more < 0, tile.square * own.variance / tile.gain.variance, tile.square + recipe.ratio * more
    )  # fmt: skip
    if given.cells is None:
        return own, square
    assert tile.whole is not None
    gain = recipe.method(given.side, tile.fine.of(given.rows), every)
    most = (tile.gain.variance - tile.whole.variance).clamp_min(1e-300)
    share = ((own.variance - gain.variance) / most).clamp(0, 1)
    return gain, square + share * (tile.whole.square - tile.square)
