"""Measurements of one source, in physical units and as a problem's targets beside its cells."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.fields.footprints.gaussian import GaussianFootprint
from deconditioning.observations import Bags, PointErrors

#: Pixels, the measurement of each and its weight, see `SourceTargets.footprints`.
Footprints = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Stations:
    """``S`` measurements at points, or over footprints around these, such as the cells of another grid.

    Parameters
    ----------
    latitude, longitude : (S,) degrees.
    value : (S,) what was measured.
    error : (S,) standard deviation of its error, in the same units; 0 where it is not known.
    altitude : (S,) metres, NaN where it is not known; None if it never is.
    units : of values and errors; "" for those of the target.
    source : name of the file.
    notes : sentences on how it was read.
    licence : what a figure made with them must say; "" if it is not known.
    footprint : the Gaussian response that each averages by, of one size or of one for each; None for points, and for
        cells and regions.
    """

    latitude: np.ndarray
    longitude: np.ndarray
    value: np.ndarray
    error: np.ndarray
    altitude: np.ndarray | None = None
    units: str = ""
    source: str = "the stations"
    notes: tuple[str, ...] = ()
    licence: str = ""
    footprint: GaussianFootprint | None = None

    def __len__(self) -> int:
        return len(self.value)

    def of(self, chosen: np.ndarray) -> "Stations":
        """Some of the stations, by index or mask."""
        altitude = None if self.altitude is None else self.altitude[chosen]
        return replace(
            self,
            latitude=self.latitude[chosen], longitude=self.longitude[chosen], value=self.value[chosen],
            error=self.error[chosen], altitude=altitude,
            footprint=None if self.footprint is None else self.footprint.of(chosen),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SourceTargets:
    """The measurements of one source, such as a network of stations or another grid, as targets of a problem.

    Parameters
    ----------
    measured : those that lie on prediction pixels, in the target's units.
    row : (S,) the prediction pixel of each, of a footprint that with the largest share.
    targets : (S,) standardised values.
    errors : their errors, standardised.
    effects : names of the columns of ``errors.effects``: "offset", "altitude".
    footprints : the prediction pixels (N,) that footprints contain, the measurement of each (N,), and its weight (N,),
        with sum one for a measurement; None if each measures its pixel alone.
    stations : whether they are the stations of the problem; if not, cells, regions, soundings or stations of a further
        file.
    outlines : (S,) shapely polygons in degrees of cells or regions; None for others.
    number : (S,) the place of each among the values of the file, from 0; None if it is not known.
    hidden : those that are hidden from the model by hand, which are not among the targets; None without any.
    """

    measured: Stations
    row: np.ndarray
    targets: Float[Tensor, " S"]
    errors: PointErrors
    effects: tuple[str, ...] = ("offset",)
    footprints: Footprints | None = None
    stations: bool = True
    outlines: np.ndarray | None = None
    number: np.ndarray | None = None
    hidden: "SourceTargets | None" = None

    @property
    def pixels(self) -> np.ndarray:
        """(N,) the prediction pixel of each row of `bags`."""
        return self.row if self.footprints is None else self.footprints[0]

    def bags(self, inputs: Float[Tensor, "P d"]) -> Bags:
        """The pixels of each measurement as a bag, from the inputs of all prediction pixels."""
        return bags_of_stations(inputs, self.row, self.footprints)


def bags_of_stations(inputs: Float[Tensor, "P d"], row: np.ndarray, footprints: Footprints | None) -> Bags:
    """The pixels of each measurement as a bag: of its ``row`` (S,) alone, or of its footprint (`SourceTargets`)."""
    if footprints is None:
        return Bags(inputs[row], torch.arange(len(row)), len(row))
    pixel, measurement, weight = map(torch.as_tensor, footprints)
    return Bags(inputs[pixel], measurement, len(row), weight.to(inputs))


def main_pixels(pixel: np.ndarray, measurement: np.ndarray, mass: np.ndarray, count: int) -> np.ndarray:
    """(count,) the pixel with most of each measurement, from pairs of both (N,) and their masses; −1 for none."""
    result = np.full(count, -1)
    order = np.argsort(mass, kind="stable")
    result[measurement[order]] = pixel[order]
    return result
