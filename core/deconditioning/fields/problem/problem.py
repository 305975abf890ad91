"""A downscaling problem: the model's data, and the arrays that a map needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_data import Regions
from deconditioning.fields.footprints.station_data import SourceTargets
from deconditioning.fields.gridded import Variable
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.pixel_shares import Shares
from deconditioning.fields.problem.scaling import Scale, Scaling
from deconditioning.fields.problem.target_metadata import Origin
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.observations import Bags, IndirectData, PointErrors


@dataclass(frozen=True, eq=False)
class DownscalingProblem:
    """The model's data (scaled tensors) and the arrays that a map needs (physical units).

    Parameters
    ----------
    spec : the settings of the problem.
    grid : (H, W) high-resolution grid, cut to whole blocks.
    cell : (H, W) row-major index of the coarse cell with the centre of every pixel, −1 for none.
    shares : share of every pixel in the coarse cells; a pixel across edges has several, one that was not averaged none.
    coarse_grid, coarse_shape : grid and (ny, nx) of the coarse cells.
    coarse : (ny, nx) coarse values that the model sees, physical units, NaN where withheld or missing.
    coarse_truth : (ny, nx) all known coarse values, including the withheld ones.
    observed : (ny, nx) cells whose value the model (and every baseline) sees.
    truth : (H, W) high-resolution target in physical units, ``None`` if unknown.
    inputs : (P, d) float64 tensor, scaled inputs of the pixels with complete covariates.
    pixel : (P,) flat index of those pixels in (H, W).
    columns, mediator_columns : names of the columns of inputs and mediators.
    data : bags weighted by area, scaled mediators, standardised targets.
    matched : whether bags and targets are the same cells.
    bag_cell, target_cell : (B,), (M,) coarse cell of every bag (−1: outside) and target.
    bag_pixel : (N,) the prediction pixel of each row of the bags; a pixel across an edge is in several bags.
    input_scaling : converts coordinates and covariates in physical units to ``inputs``, column by column.
    target_scale : converts standardised values to physical ones.
    units, long_name, standard_name, source, licence : of the target and its file.
    notes : one message for every choice made while building the problem.
    hidden : number of cells with a value that is withheld, by the seed or by the user.
    drawn : (ny, nx) cells that the seed withholds, before the user's changes.
    whole_shape, corner : (rows, columns) of coarse cells of the whole field, and the first one of this problem.
    when_and_where : date, level and other selections of the target, in words.
    origin : the same as coordinates, with the target's cell methods and origin, for exported files.
    warp : the function of the target whose standardised values the model sees, None if it sees the target itself.
    unwarped : the same problem without the warp, None if there is none.
    covariates : long names and units of the covariates, by name.
    regions : the outlines of the cells, where these are no grid's.
    weights : (H, W) weights of the pixels in means over cells and regions, in addition to their area; None for one.
    sources : further sources of targets beside the cells, in one posterior, with stations last; ``scored``: stations
        that are only scored.
    """

    spec: DownscalingSpec
    grid: Grid
    cell: np.ndarray
    shares: Shares
    coarse_shape: tuple[int, int]
    coarse_grid: Grid
    coarse: np.ndarray
    coarse_truth: np.ndarray
    observed: np.ndarray
    truth: np.ndarray | None
    inputs: Float[Tensor, "P d"]
    pixel: np.ndarray
    columns: tuple[str, ...]
    mediator_columns: tuple[str, ...]
    data: IndirectData
    matched: bool
    bag_cell: np.ndarray
    target_cell: np.ndarray
    bag_pixel: np.ndarray
    input_scaling: Scaling
    target_scale: Scale
    units: str
    long_name: str
    standard_name: str
    source: str
    licence: str
    notes: tuple[str, ...] = field(default=())
    hidden: int = 0
    drawn: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    whole_shape: tuple[int, int] = (0, 0)
    corner: tuple[int, int] = (0, 0)
    when_and_where: tuple[str, ...] = field(default=())
    origin: Origin = field(default_factory=Origin)
    warp: Warp | None = None
    unwarped: "DownscalingProblem | None" = None
    covariates: Mapping[str, Variable] = field(default_factory=dict)
    regions: Regions | None = None
    weights: np.ndarray | None = None
    sources: tuple[SourceTargets, ...] = ()
    scored: SourceTargets | None = None

    @property
    def stations(self) -> SourceTargets | None:
        """The stations among the sources."""
        return next((each for each in self.sources if each.stations), None)

    @property
    def names_of_sources(self) -> list[str]:
        """What each source is called: the stations, or its file, counted where several have one name."""
        names = ["stations" if each.stations else each.measured.source for each in self.sources]
        before = [names[:number].count(name) for number, name in enumerate(names)]
        return [f"{name} ({1 + count})" if count else name for name, count in zip(names, before, strict=True)]

    @cached_property
    def joint_data(self) -> IndirectData:
        """All that a posterior sees: ``data``, and behind the cells those of every source."""
        return self.with_sources(self.data)

    def with_sources(self, data: IndirectData) -> IndirectData:
        """Data of the cells, such as their pseudo-targets, and behind them those of every source."""
        if not self.sources:
            return data
        bags = Bags.joined([each.bags(self.inputs) for each in self.sources])
        targets = torch.cat([each.targets for each in self.sources])
        return data.with_points(bags, targets, PointErrors.joined([each.errors for each in self.sources]))

    @property
    def joint_pixel(self) -> np.ndarray:
        """The prediction pixel of each row of the bags of ``joint_data``."""
        return np.concatenate([self.bag_pixel, *(each.pixels for each in self.sources)])

    def shares_of_pixels(self) -> tuple[np.ndarray, Shares]:
        """Shares of the prediction pixels in the coarse cells: the pixel of each share, and the shares."""
        return self.shares.of(self.pixel, self.grid.area.size)

    def on_grid(self, values: Any) -> np.ndarray:
        """(H, W) map of values (P,) at the prediction pixels, NaN elsewhere."""
        values = values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
        if values.shape != self.pixel.shape:
            raise InputError(f"There are {len(self.pixel)} prediction pixels, got values of shape {values.shape}.")
        out = np.full(self.grid.shape, np.nan)
        out.flat[self.pixel] = values
        return out

    def standardised(self, values: np.ndarray) -> np.ndarray:
        """Values of the target as the model sees them: warped where it has a warp, and standardised."""
        return self.target_scale.forward(values if self.warp is None else self.warp.forward(values))

    def standardised_errors(self, values: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """Sds of ``standardised`` values whose errors have these sds in the target's units."""
        return (errors if self.warp is None else self.warp.errors(values, errors)) / self.target_scale.sd

    def physical_mean(self, mean: Any) -> np.ndarray:
        """(H, W) posterior mean in the target's units, from standardised values (P,)."""
        self._check_unwarped("mean", "sd")
        return self.target_scale.backward(self.on_grid(mean))

    def physical_sd(self, sd: Any) -> np.ndarray:
        """(H, W) posterior standard deviation in the target's units, from standardised values (P,)."""
        self._check_unwarped("sd", "mean")
        return self.target_scale.sd * self.on_grid(sd)

    def _check_unwarped(self, moment: str, other: str) -> None:
        if self.warp is not None:
            raise ValueError(f"the {moment} of a warped target depends on the {other} too: use `physical_map`")

    @property
    def target_sd(self) -> float:
        """What one standardised unit of the target is in its own units, near the middle if it is warped."""
        if self.warp is None:
            return self.target_scale.sd
        low, high = self.warp.backward(self.target_scale.backward(np.array([-0.5, 0.5])))
        return float(high - low)

    @property
    def pixels_of_a_cell(self) -> str:
        """What a coarse value is a mean over; cells of a coarse file hold as many pixels as lie in them."""
        if self.regions is not None:
            return "the pixels inside its region"
        if self.matched and self.truth is None:
            return "the pixels inside its cell"
        rows, columns = self.spec.block
        return f"the {rows} × {columns} pixels of its cell"

    @property
    def plain(self) -> "DownscalingProblem":
        """The problem of the target itself, without a warp."""
        return self.unwarped or self
