"""Measurements at points, in physical units and as a problem's targets."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from torch import Tensor

from deconditioning.observations import PointErrors


@dataclass(frozen=True, eq=False)
class Stations:
    """``S`` measurements at points.

    Parameters
    ----------
    latitude, longitude : (S,) degrees.
    value : (S,) what was measured.
    error : (S,) standard deviation of its error, in the same units; 0 where it is not known.
    altitude : (S,) metres, NaN where it is not known; None if it never is.
    units : of values and errors; "" for those of the target.
    source : name of the file.
    notes : sentences on how it was read.
    """

    latitude: np.ndarray
    longitude: np.ndarray
    value: np.ndarray
    error: np.ndarray
    altitude: np.ndarray | None = None
    units: str = ""
    source: str = "the stations"
    notes: tuple[str, ...] = ()

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
    row : (S,) the prediction pixel of each.
    targets : (S,) standardised values.
    errors : their errors, standardised.
    effects : names of the columns of ``errors.effects``: "offset", "altitude".
    """

    stations: Stations
    row: np.ndarray
    targets: Float[Tensor, " S"]
    errors: PointErrors
    effects: tuple[str, ...] = ("offset",)
