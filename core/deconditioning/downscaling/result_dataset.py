"""A result as a dataset for export: the map, its uncertainty, the observed cells and further requested fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning import __version__
from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.downscaling.drawn.draw_spectra import DrawSpectra, draw_spectra
from deconditioning.downscaling.drawn.effective_resolution import FEWEST, at_resolution, sd_ratio
from deconditioning.downscaling.draws import Draws, exact_draws
from deconditioning.downscaling.interactive import picture_or_none
from deconditioning.downscaling.prediction import matched_data
from deconditioning.errors import Check, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.writing.delivery import Delivery
from deconditioning.fields.writing.export import to_dataset
from deconditioning.fields.writing.file_names import drs_name
from deconditioning.fields.writing.quantiles_and_draws import with_draws, with_exceedance, with_quantiles
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.spec import ModelSpec

if TYPE_CHECKING:
    import xarray as xr

#: Gives so many joint draws from a seed.
_Drawing = Callable[[int, int], Draws]


@dataclass(frozen=True)
class ResultDataset:
    """A map (H, W) with what goes along, in the target's units; see `deconditioning.fields.to_dataset`."""

    problem: DownscalingProblem
    spec: ModelSpec
    predictive: Predictive
    settings: dict[str, Any]
    sd_latent: np.ndarray | None = None
    local_scale: np.ndarray | None = None
    baselines: Mapping[str, np.ndarray] = field(default_factory=dict)
    checked: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()

    def drawing(self, check: Check = never) -> _Drawing:
        """Joint draws from newly computed sums; a page with cached sums has a faster way."""

        def draw(count: int, seed: int) -> Draws:
            """``count`` joint draws with ``seed``, matched to the cells as the map is."""
            data = matched_data(self.problem, self.spec, check)
            sums, store = picture_or_none(self.problem, self.spec), SumsStore()
            draws = exact_draws(self.spec, data, self.problem, "", store, sums, count=count, seed=seed, check=check)
            return draws.around(self.problem, self.predictive.mean)

        return draw

    def drawn(self, delivery: Delivery) -> tuple[_Drawing | None, DrawSpectra | None]:
        """What gives the requested draws, made once, and their power spectra; None if none are requested."""
        if not delivery.draws and delivery.resolution is None:
            return None, None
        draws = self.drawing()(delivery.draws or FEWEST, self.problem.spec.seed)
        if delivery.resolution is None:
            spectra = draw_spectra(self.problem, draws, self.predictive)
        else:
            spectra = draw_spectra(self.problem, at_resolution(self.problem, draws, delivery.resolution))
        return (lambda count, seed: draws), spectra

    def dataset(self, delivery: Delivery, drawing: _Drawing | None = None) -> "xr.Dataset":
        """The dataset with the requested draws and quantiles, all of them at the requested effective resolution."""
        draws, ratio = None, None
        if delivery.draws or delivery.resolution is not None:
            draws = (drawing or self.drawing())(delivery.draws or FEWEST, self.problem.spec.seed)
        if draws is not None and delivery.resolution is not None:
            damped = at_resolution(self.problem, draws, delivery.resolution)
            draws, ratio = damped, sd_ratio(self.problem, draws, damped)
        mean, sd = self.predictive.mean, self.predictive.sd
        sd = sd if ratio is None else sd * ratio
        result = to_dataset(
            self.problem,
            mean,
            sd,
            sd_latent=self.sd_latent if self.sd_latent is None or ratio is None else self.sd_latent * ratio,
            local_scale=self.local_scale,
            baselines=dict(self.baselines),
            settings=self.settings,
            model=self.spec.model.name,
            seed=self.problem.spec.seed,
            version=__version__,
            checked=self.checked,
            warnings=self.warnings,
            method="; ".join(dict.fromkeys(each.model.source for _, each in self.spec.components)),
        )
        if delivery.quantiles:
            result = with_quantiles(result, self.problem, self._quantiles(delivery.quantiles, ratio))
        if delivery.thresholds:
            result = with_exceedance(result, self.problem, self._exceedance(delivery.thresholds, ratio))
        if delivery.resolution is not None:
            result = result.assign_attrs(effective_resolution_km=delivery.resolution)
        if delivery.draws and draws is not None:
            point_sd = self.spec.point_noise**0.5 * self.problem.target_sd
            result = with_draws(
                result, self.problem, draws.fields, seed=draws.seed, off=draws.off, point_sd=point_sd
            )  # fmt: skip
        return result

    def _quantiles(self, levels: tuple[float, ...], ratio: np.ndarray | None) -> dict[float, np.ndarray]:
        """The quantiles (H, W) by level, their distances from the mean times ``ratio``."""
        mean, each = self.predictive.mean, {level: self.predictive.quantile(level) for level in levels}
        if ratio is None:
            return each
        low, high = self.predictive.limits or (-np.inf, np.inf)
        return {level: np.clip(mean + ratio * (values - mean), low, high) for level, values in each.items()}

    def _exceedance(self, thresholds: tuple[float, ...], ratio: np.ndarray | None) -> dict[float, np.ndarray]:
        """Probabilities (H, W) that a pixel exceeds thresholds, distances from the mean taken times ``ratio``."""
        predictive = self.predictive
        if ratio is None:
            return {value: predictive.exceedance(value) for value in thresholds}
        away = np.where(ratio > 0, ratio, np.nan)
        return {
            value: predictive.exceedance(predictive.mean + (value - predictive.mean) / away) for value in thresholds
        }

    @property
    def drs_name(self) -> str:
        """The file's name by the data reference syntax, without ending."""
        return drs_name(self.problem.origin, self.problem.spec.target, self.spec.model.name, __version__)
