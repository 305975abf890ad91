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

from core.errors import InputError
from core.experiments.prediction import matched_data
from core.experiments.settings import DownscaleSettings, columns_of, starting_spec
from core.experiments.source import Source
from core.fields import DownscalingProblem, DownscalingSpec, Scale, Scaling
from core.fields.coordinates import SPHERE, CoordinateSystem
from core.kernels.bag_mean import Check, cross, never
from core.kernels.tiles import diagonal
from core.models.indirect_gp import POINTS, IndirectPosterior
from core.models.named_posterior import named_posterior
from core.models.sparse_gp import SparsePosterior

#: Entries of the bag sums (B, P) of one tile of pixels (float64: 32 MB).
_SUMS = 1 << 22


@dataclass(frozen=True)
class StoredModel:
    """Where the fields lie, the problem made of them, and settings at the hyperparameters to use; JSON-able."""

    source: Source
    problem: DownscalingSpec
    settings: DownscaleSettings

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> "StoredModel":
        """A model from plain data; ``InputError`` where its hyperparameters are still to be learned."""
        settings = DownscaleSettings.from_dict(value["settings"])
        if settings.learn:
            raise InputError(
                "The model's hyperparameters are still to be learned (`learn` is true): give the result of a learning."
            )
        return StoredModel(Source.from_dict(value["source"]), DownscalingSpec.from_dict(value["problem"]), settings)

    @staticmethod
    def from_document(document: Any, name: str = "The file") -> "StoredModel":
        """A model from what ``python -m core downscale --json`` wrote, or the page's button Settings."""
        try:
            if "results" not in document:
                return StoredModel.from_dict(document)
            first, given = document["results"][0], document["settings"]
            source = Source(str(given["input"]), given["coarse"], given["mediator"])
            problem = DownscalingSpec.from_dict({**given["problem"], "seed": first["seed"]})
            return StoredModel.from_dict(
                {"source": source.to_dict(), "problem": problem.to_dict(), "settings": first["settings"]}
            )
        except (KeyError, IndexError, TypeError, AttributeError):
            raise InputError(
                f"{name} is no stored model: give what `python -m core downscale … --json model.json` wrote, or the "
                "Settings of page Downscaling."
            ) from None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, inverse of ``from_dict``."""
        return {
            "source": self.source.to_dict(),
            "problem": self.problem.to_dict(),
            "settings": self.settings.to_dict(),
        }


def read_model(path: str | Path) -> StoredModel:
    """The stored model in a JSON file; ``InputError`` with one sentence where there is none."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"The model file {path} cannot be read ({error.strerror}): give its path.") from None
    except ValueError:
        raise InputError(f"The model file {path} is no JSON: give what `downscale --json` wrote.") from None
    return StoredModel.from_document(document, str(path))


@dataclass(frozen=True, eq=False)
class Conditioned:
    """A posterior with the scales of its problem: all that is needed to read it in physical units.

    Parameters
    ----------
    posterior : of standardised f.
    coordinates : the problem's coordinate system, ``None`` where coordinates do not join.
    covariates, units : names and units of the covariates.
    scaling, target : of the inputs and of the target.
    """

    posterior: IndirectPosterior | SparsePosterior
    coordinates: CoordinateSystem | None
    covariates: tuple[str, ...]
    units: tuple[str, ...]
    scaling: Scaling
    target: Scale

    @property
    def jitter(self) -> float:
        """What was added to a diagonal to factorise it."""
        given = self.posterior
        return given.conditioning.factor.jitter if isinstance(given, IndirectPosterior) else given.factor.jitter

    def inputs(self, latitude: np.ndarray, longitude: np.ndarray, covariates: np.ndarray) -> Float[Tensor, "P d"]:
        """Scaled inputs of pixels at true positions (P,) with covariates (P, c) in ``units``."""
        parts = [] if self.coordinates is None else [self.coordinates.of_positions(latitude, longitude)]
        values = np.concatenate([*parts, covariates], axis=1)
        return torch.as_tensor(np.ascontiguousarray(self.scaling.forward(values)))

    def read(self, inputs: Float[Tensor, "P d"], check: Check = never) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and sd of the latent field (P,) at scaled inputs, in the target's units.

        ``mean = m + c(x)ᵀβ``, ``var = k(x, x) − ‖Aᵀc(x)‖²`` with c(x) summed once for both, tile by tile.
        """
        given = self.posterior
        with torch.no_grad():
            if isinstance(given, IndirectPosterior):
                mean, variance = _from_bags(given, inputs, check)
            else:
                mean, variance = given.mean(inputs, check), given.variance(inputs, check)
        sd = variance.clamp_min(0).sqrt().cpu().numpy()
        return self.target.backward(mean.cpu().numpy()), self.target.sd * sd

    def to(self, device: torch.device) -> "Conditioned":
        """The same on a device."""
        return replace(self, posterior=_moved(self.posterior, device))


def _from_bags(given: IndirectPosterior, inputs: Tensor, check: Check) -> tuple[Tensor, Tensor]:
    kernel = given.spec.kernel.build(given.columns.inputs).to(inputs.device)
    means, variances = [], []
    for tile in inputs.split(max(256, min(POINTS, _SUMS // given.bags.bags.count))):
        sums = cross(kernel, given.bags, tile, check=check)
        means.append(given.conditioning.mean(sums) + given.spec.mean)
        variances.append(diagonal(kernel, tile) - given.conditioning.reduction(sums))
    return torch.cat(means), torch.cat(variances)


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
    check: Check = never,
) -> Conditioned:
    """Condition the model of ``settings`` on a problem, hyperparameters as given there; the result is on the CPU.

    ``units`` of the covariates. Raises ``InputError`` as ``named_posterior`` does.
    """
    spec = starting_spec(problem, settings)
    data = matched_data(problem, spec, check).to(device)
    given = named_posterior(spec, data, columns_of(problem), check)
    return Conditioned(
        _moved(given, torch.device("cpu")),
        _system(problem) if problem.spec.coordinates else None,
        problem.spec.covariates,
        units,
        problem.input_scaling,
        problem.target_scale,
    )


def _system(problem: DownscalingProblem) -> CoordinateSystem:
    """The problem's coordinate system, without the arrays of its grid where a formula does."""
    grid = problem.grid
    if grid.kind != "curvilinear":
        none = np.empty((0, 0))
        grid = replace(grid, latitude=none, longitude=none, area=none)
    return CoordinateSystem(grid, SPHERE[0] in problem.columns)
