"""Measurements at points or over Gaussian footprints, in physical units and as a problem's targets."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.fields.footprints.gaussian import GaussianFootprint
from deconditioning.observations import Bags, PointErrors

#: Pixels, the measurement of each and its weight, see `StationTargets.footprints`.
Footprints = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Stations:
    """``S`` measurements at points, or over footprints around these.

    Parameters
    ----------
    latitude, longitude : (S,) degrees.
    value : (S,) what was measured.
    error : (S,) standard deviation of its error, in the same units; 0 where it is not known.
    altitude : (S,) metres, NaN where it is not known; None if it never is.
    units : of values and errors; "" for those of the target.
    source : name of the file.
    notes : sentences on how it was read.
    footprint : what each of them averages over; None for points.
    """

    latitude: np.ndarray
    longitude: np.ndarray
    value: np.ndarray
    error: np.ndarray
    altitude: np.ndarray | None = None
    units: str = ""
    source: str = "the stations"
    notes: tuple[str, ...] = ()
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
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class StationTargets:
    """Stations as targets of a problem.

    Parameters
    ----------
    stations : those that lie on prediction pixels, in the target's units.
    row : (S,) the prediction pixel of each, of a footprint that with the largest share.
    targets : (S,) standardised values.
    errors : their errors, standardised.
    effects : names of the columns of ``errors.effects``: "offset", "altitude".
    footprints : the prediction pixels (N,) that footprints contain, the measurement of each (N,), and its weight (N,),
        with sum one for a measurement; None where each measures its pixel alone.
    """

    stations: Stations
    row: np.ndarray
    targets: Float[Tensor, " S"]
    errors: PointErrors
    effects: tuple[str, ...] = ("offset",)
    footprints: Footprints | None = None

    @property
    def pixels(self) -> np.ndarray:
        """(N,) the prediction pixel of each row of `bags`."""
        return self.row if self.footprints is None else self.footprints[0]

    def bags(self, inputs: Float[Tensor, "P d"]) -> Bags:
        """The pixels of each measurement as a bag, from the inputs of all prediction pixels."""
        return bags_of_stations(inputs, self.row, self.footprints)


def bags_of_stations(inputs: Float[Tensor, "P d"], row: np.ndarray, footprints: Footprints | None) -> Bags:
    """The pixels of each measurement as a bag: of its ``row`` (S,) alone, or of its footprint (`StationTargets`)."""
    if footprints is None:
        return Bags(inputs[row], torch.arange(len(row)), len(row))
    pixel, measurement, weight = map(torch.as_tensor, footprints)
    return Bags(inputs[pixel], measurement, len(row), weight.to(inputs))
