"""Where a map is in doubt: hatched where the posterior's sd is a large share of what the map shows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids.grid import Grid
from deconditioning.wording import number

#: The share that is offered first.
USUAL_SHARE = 0.5
#: Of the hatching's lines.
_INK, _WIDTH = (0.0, 0.0, 0.0, 0.55), 0.6


@dataclass(frozen=True)
class Doubt:
    """The posterior's ``sd`` on ``grid``, which is hatched where it exceeds ``share`` of the ``signal``.

    The signal is the standard deviation of the posterior mean over the map, in its units: how much the map varies. A
    pixel whose own uncertainty is of that size says little about how it differs from the others.
    """

    sd: np.ndarray
    grid: Grid
    signal: float
    share: float = USUAL_SHARE

    def __post_init__(self) -> None:
        if not (np.isfinite(self.share) and self.share > 0):
            raise InputError(
                f"The share of the signal is {number(self.share, 6)}: give a number above 0, for example 0.5."
            )

    @classmethod
    def of(cls, mean: np.ndarray, sd: np.ndarray, grid: Grid, share: float = USUAL_SHARE) -> "Doubt":
        """From the posterior's mean and sd on one grid."""
        return cls(sd, grid, float(np.nanstd(mean)), share)

    @property
    def where(self) -> np.ndarray:
        """Pixels in doubt; none if the sd is missing."""
        return np.nan_to_num(self.sd, nan=-1.0) > self.share * self.signal

    def sentence(self, units: str) -> str:
        """What the hatching means, and how much of the map has it."""
        part = 100 * self.where.sum() / max(int(np.isfinite(self.sd).sum()), 1)
        signal = f"{number(self.signal)} {units}".rstrip()
        limit = f"{number(100 * self.share)} % of the sd of the map, {signal}"
        return f"Hatched where the sd exceeds {limit}: {number(part)} % of the pixels"


def hatch(axes: Any, doubt: Doubt, projection: Any) -> None:
    """Hatch the pixels in doubt on a map whose grid's own coordinates are those of ``projection``."""
    if not doubt.where.any():
        return
    grid = doubt.grid
    if grid.kind in ("rotated", "projected"):
        across, up = np.meshgrid(_middles(grid.x_edges), _middles(grid.y_edges))
    else:
        across, up = grid.longitude, grid.latitude
    drawn = axes.contourf(
        across, up, doubt.where.astype(float), levels=[0.5, 1.5], colors="none", hatches=["//////"],
        transform=projection,
    )  # fmt: skip
    drawn.set_edgecolor(_INK)
    drawn.set_linewidth(0.0)
    drawn.set_hatch_linewidth(_WIDTH)


def _middles(edges: np.ndarray) -> np.ndarray:
    return (edges[1:] + edges[:-1]) / 2
