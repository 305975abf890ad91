"""A finished downscaling as a file: what it was conditioned on, its hyperparameters, and its posterior anywhere.

A *stored model* is small: where the fields come from, the problem, and settings that start at the learned
hyperparameters. Conditioned on a problem it becomes ``Conditioned``, which reads the posterior of

    f(x),  x = (coordinates, covariates), scaled as the problem scales them

at any pixel of the same variables, in physical units.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.offsets import Cells
from deconditioning.bag_sums.region_sums import RegionSums
from deconditioning.downscaling.checks.local_scale_inputs import LocatedScale, scale_of
from deconditioning.downscaling.pictures.regions import posterior_through
from deconditioning.downscaling.prediction import bags_inside, matched_data, reads_bags
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.downscaling.stores.shifts import Shifts, shifts_on
from deconditioning.downscaling.stores.wide_grid import WideGrid, wide_sums, widen
from deconditioning.downscaling.warping.cell_values import cell_values, mixed
from deconditioning.downscaling.warping.physical_map import Parts, in_target_units, warped
from deconditioning.errors import Check, InputError, never
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.problem.coordinates import SPHERE, CoordinateSystem
from deconditioning.fields.problem.physical_limits import limits_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import Scale, Scaling
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.indirect_gp import IndirectPosterior
from deconditioning.models.learning.integrate import members
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.posterior_moments import averaged_moments
from deconditioning.models.sparse.sparse_gp import SparsePosterior
from deconditioning.models.spec import ModelSpec


@dataclass(frozen=True)
class StoredModel:
    """Locations of the fields, the problem, and settings with the hyperparameters to use; JSON-able."""

    source: Source
    problem: DownscalingSpec
    settings: DownscaleSettings

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> "StoredModel":
        """A model from plain data; ``InputError`` if its hyperparameters have not been learned."""
        settings = DownscaleSettings.from_dict(value["settings"])
        if settings.learn:
            raise InputError(
                "The model's hyperparameters have not been learned yet (`learn` is true): give the result of a "
                "completed run."
            )
        return StoredModel(Source.from_dict(value["source"]), DownscalingSpec.from_dict(value["problem"]), settings)

    @staticmethod
    def from_document(document: Any, name: str = "The file") -> "StoredModel":
        """A model from the output of ``deconditioning downscale --json``, or of the page's button Settings."""
        try:
            if "results" not in document:
                return StoredModel.from_dict(document)
            first, settings = document["results"][0], document["settings"]
            source = Source.of_options({**settings, "input": str(settings["input"])})
            problem = DownscalingSpec.from_dict({**settings["problem"], "seed": first["seed"]})
            return StoredModel.from_dict(
                {"source": source.to_dict(), "problem": problem.to_dict(), "settings": first["settings"]}
            )
        except (KeyError, IndexError, TypeError, AttributeError):
            raise InputError(
                f"{name} is not a saved model: give the output of `deconditioning downscale … --json model.json`, or "
                "the Settings of page Downscaling."
            ) from None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, inverse of ``from_dict``."""
        return {
            "source": self.source.to_dict(),
            "problem": self.problem.to_dict(),
            "settings": self.settings.to_dict(),
        }


def read_model(path: str | Path) -> StoredModel:
    """The stored model in a JSON file; ``InputError`` if there is none."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"The model file {path} cannot be read ({error.strerror}): give its path.") from None
    except ValueError:
        raise InputError(f"The model file {path} is not valid JSON: give the output of `downscale --json`.") from None
    return StoredModel.from_document(document, str(path))


@dataclass(frozen=True, eq=False)
class Values:
    """Distributions (P,) of the pixels' own values, ``sd_latent`` of f, and how many pixels were summed pair by pair
    after all."""

    predictive: Predictive
    sd_latent: Float[np.ndarray, " P"]
    directly: int


@dataclass(frozen=True, eq=False)
class Conditioned:
    """A posterior with the scales of its problem: all that is needed to read it in physical units.

    Parameters
    ----------
    posterior : of standardised f.
    coordinates : the problem's coordinate system, ``None`` if coordinates do not join.
    covariates, units : names and units of the covariates.
    scaling, target : of the inputs and of the target, as the model sees it.
    wide : the grid that pixels are read on, ``None`` if it is not the model's own.
    sums : the bag sums' routes, ``None`` if the posterior is read from centroids or inducing points.
    scale : the local scale of the sd, ``None`` if the model has none.
    members : this model with each other set of its hyperparameters, where they are averaged over.
    others : the other models of an average, conditioned on the same problem, and their weights.
    warp, limits : of the target, None if there are none; ``shifts`` δ of the pixels, None without a warp.
    """

    posterior: IndirectPosterior | SparsePosterior
    coordinates: CoordinateSystem | None
    covariates: tuple[str, ...]
    units: tuple[str, ...]
    scaling: Scaling
    target: Scale
    wide: WideGrid | None = None
    sums: RegionSums | None = None
    scale: LocatedScale | None = None
    members: "tuple[Conditioned, ...]" = ()
    others: "tuple[tuple[float, Conditioned], ...]" = ()
    warp: Warp | None = None
    limits: tuple[float, float] | None = None
    shifts: Shifts | None = None

    def cell_values(self, problem: DownscalingProblem) -> Parts:
        """See `warping.cell_values`; ``problem`` is the one that the posterior is conditioned on."""
        return cell_values(problem, getattr(self.posterior, "conditioning", None))

    @property
    def jitter(self) -> float:
        """What was added to a diagonal to factorise it."""
        posterior = self.posterior
        largest = (
            posterior.conditioning.factor.jitter
            if isinstance(posterior, IndirectPosterior)
            else posterior.factor.jitter
        )
        return max([largest, *(each.jitter for each in self.members), *(each.jitter for _, each in self.others)])

    def inputs(self, latitude: np.ndarray, longitude: np.ndarray, covariates: np.ndarray) -> Float[Tensor, "P d"]:
        """Scaled inputs of pixels at true positions (P,) with covariates (P, c) in ``units``."""
        parts = [] if self.coordinates is None else [self.coordinates.of_positions(latitude, longitude)]
        values = np.concatenate([*parts, covariates], axis=1)
        return torch.as_tensor(np.ascontiguousarray(self.scaling.forward(values)))

    def cells(self, rows: slice, columns: slice, mask: np.ndarray) -> Cells | None:
        """Where on the grid a window's pixels lie that are ``mask`` (h, w); ``None`` if that is of no use."""
        return None if self.wide is None else self.wide.cells(rows, columns, mask)

    def read(
        self, inputs: Float[Tensor, "P d"], cells: Cells | None = None, check: Check = never,
        shift: Float[np.ndarray, " P"] | float = 0.0,
    ) -> Values:  # fmt: skip
        """The distributions at scaled inputs, in the target's units.

        ``mean = m + c(x)ᵀβ``, ``var = k(x, x) − ‖Aᵀc(x)‖²`` with c(x) summed once for both, tile by tile; ``cells``
        (of ``cells``) spare most kernel values. Behind a warp ``shift`` δ (of ``shift``) is added to the centres.
        """
        parts, fallen = self.standardised(inputs, cells, check)
        values, latent = (
            in_target_units(
                tuple(
                    (weight, self.target.backward(mean.cpu().numpy()) + shift, self.target.sd * sds[name].cpu().numpy())
                    for weight, mean, sds in parts
                ),
                self.warp,
                self.limits,
            )
            for name in ("sd", "sd_latent")
        )
        return Values(values, latent.sd, fallen)

    def standardised(
        self, inputs: Float[Tensor, "P d"], cells: Cells | None, check: Check
    ) -> tuple[list[tuple[float, Tensor, dict[str, Tensor]]], int]:
        """Weight, mean and sds of each model at scaled inputs, and the pixels that were summed pair by pair."""
        mean, sds, fallen = self._averaged(inputs, cells, check)
        parts = [(1.0 - sum(weight for weight, _ in self.others), mean, sds)]
        for weight, each in self.others:
            mean, sds, pairs = each._averaged(inputs, cells, check)
            parts.append((weight, mean, sds))
            fallen += pairs
        return parts, fallen

    def _averaged(
        self, inputs: Float[Tensor, "P d"], cells: Cells | None, check: Check
    ) -> tuple[Tensor, dict[str, Tensor], int]:
        """Moments over the sets of hyperparameters, and the pixels that were summed pair by pair."""
        every = [each._moments(inputs, cells, check) for each in (self, *self.members)]
        if len(every) == 1:
            return every[0]
        weights, sds = [1 / len(every)] * len(every), {}
        for name in every[0][1]:
            mean, variance = averaged_moments(weights, [(mean, each[name].square()) for mean, each, _ in every])
            sds[name] = variance.sqrt()
        return mean, sds, sum(pairs for _, _, pairs in every)

    def shift(self, rows: slice, columns: slice, mask: np.ndarray) -> Float[np.ndarray, " P"] | float:
        """δ of those pixels of a window of the store that are ``mask`` (h, w)."""
        return 0.0 if self.shifts is None else self.shifts.at(rows, columns)[mask]

    def _moments(
        self, inputs: Float[Tensor, "P d"], cells: Cells | None, check: Check
    ) -> tuple[Tensor, dict[str, Tensor], int]:
        """Standardised mean and sds of this model alone, and the pixels that were summed pair by pair."""
        posterior, sums, fallen = self.posterior, self.sums, 0

        def of_place(part: slice) -> Float[Tensor, "B n"]:
            """Bag sums (B, n) at the inputs of ``part``; counts the pixels summed pair by pair."""
            nonlocal fallen
            assert sums is not None
            result, pairs = sums.at(inputs[part], None if cells is None else cells.at(part), check)
            fallen += pairs
            return result

        if isinstance(posterior, IndirectPosterior):
            mean, variance = posterior.mean_and_variance(inputs, check, None if sums is None else of_place)
        else:
            mean, variance = posterior.mean_and_variance(inputs, check)
        if self.scale is not None:
            variance = self.scale.at(inputs).square() * variance
        return mean, {"sd": posterior.spec.value_sd(variance), "sd_latent": variance.clamp_min(0).sqrt()}, fallen

    def to(self, device: torch.device) -> "Conditioned":
        """The same on a device."""
        sums = None if self.sums is None else self.sums.to(device)
        others = tuple((weight, each.to(device)) for weight, each in self.others)
        moved, moved_members = _moved(self.posterior, device), tuple(each.to(device) for each in self.members)
        return replace(
            self, posterior=moved, sums=sums, scale=_moved(self.scale, device), members=moved_members, others=others
        )


def _moved(value: Any, device: torch.device) -> Any:
    """A record with all its tensors on a device."""
    if isinstance(value, Tensor):
        return value.to(device)
    if is_dataclass(value) and not isinstance(value, type):
        moved = {item.name: _moved(getattr(value, item.name), device) for item in fields(value) if item.init}
        return replace(value, **moved)
    return value


def condition_on_problem(
    problem: DownscalingProblem,
    settings: DownscaleSettings,
    units: tuple[str, ...],
    device: torch.device,
    grid: Grid | None = None,
    check: Check = never,
) -> Conditioned:
    """Condition the model of ``settings`` on a problem, hyperparameters as given there; the result is on the CPU.

    ``units`` of the covariates; ``grid`` that pixels will be read on, the problem's own where not given. Raises
    ``InputError`` as ``named_posterior`` does.
    """
    if isinstance(settings.warp, dict):
        problem = warped(problem, Warp.from_dict(settings.warp))
    spec = starting_spec(problem, settings)
    wide = widen(problem.grid, grid or problem.grid)
    parts, of_cells = [], []
    for weight, single in spec.components:
        first, *more = [
            _condition(problem, each, units, device, wide, check) for each in members(single, problem.columns)
        ]
        parts.append((weight, replace(first, members=tuple(more))))
        of_cells += [(weight / (1 + len(more)), each.cell_values(problem)) for each in (first, *more)]
    result = replace(parts[0][1], others=tuple(parts[1:]))
    if problem.warp is None:
        return replace(result, limits=limits_of(problem))
    cells = None if wide is None else wide.cells_of_pixels(problem).to(device)
    there, _ = result.to(device).standardised(problem.inputs.to(device), cells, check)
    several = [(weight, mean, sds["sd"]) for weight, mean, sds in there]
    return replace(result, warp=problem.warp, shifts=shifts_on(problem, several, mixed(of_cells), grid or problem.grid))


def _condition(
    problem: DownscalingProblem, spec: ModelSpec, units: tuple[str, ...], device: torch.device, wide: WideGrid | None,
    check: Check,
) -> Conditioned:  # fmt: skip
    """One model conditioned on a problem, on the CPU."""
    cpu = torch.device("cpu")
    data = matched_data(problem, spec, check).to(device)
    sums = _sums(spec, problem, wide, device, check)
    if sums is None:
        posterior = named_posterior(spec, data, columns_of(problem), check)
    else:
        posterior = posterior_through(sums, spec, data, problem, check)
    scale = scale_of(spec, problem, posterior.conditioning) if isinstance(posterior, IndirectPosterior) else None
    return Conditioned(
        _moved(posterior, cpu),
        _system(problem) if problem.spec.coordinates else None,
        problem.spec.covariates,
        units,
        problem.input_scaling,
        problem.target_scale,
        wide,
        None if sums is None else sums.to(cpu),
        _moved(scale, cpu),
    )


def _sums(
    spec: ModelSpec, problem: DownscalingProblem, wide: WideGrid | None, device: torch.device, check: Check
) -> RegionSums | None:
    through_footprints = spec.model.looks_at_footprints or bool(problem.sources)
    if through_footprints or not (reads_bags(spec) and bags_inside(problem)):
        return None
    return wide_sums(spec.kernel, problem, wide, device, check)


def _system(problem: DownscalingProblem) -> CoordinateSystem:
    """The problem's coordinate system, without the arrays of its grid where a formula does."""
    grid = problem.grid
    if grid.kind != "curvilinear":
        none = np.empty((0, 0))
        grid = replace(grid, latitude=none, longitude=none, area=none)
    return CoordinateSystem(grid, SPHERE[0] in problem.columns)
