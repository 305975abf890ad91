"""A map's values with the meaning of its colours, the same on screen and in print."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deconditioning.fields.grids.grid import Grid
from deconditioning.figures.colours import Colours
from deconditioning.wording import number

Extend = Literal["neither", "min", "max", "both"]


@dataclass(frozen=True)
class MapScale:
    """What the colours of a map mean.

    Parameters
    ----------
    name, units : the quantity, such as "prediction − truth" and "K".
    colours : "sequential" for fields, "diverging" for errors, "uncertainty" for standard deviations, "terrain" for the
        altitude of land, "coast" where its low end is water, "relief" for that of land and sea floor.
    low, high : limits; values beyond them take the colour of the nearer end.
    """

    name: str
    units: str
    colours: Colours
    low: float
    high: float

    @property
    def label(self) -> str:
        """Name and units, for the colour bar."""
        return f"{self.name}, {self.units}" if self.name and self.units else self.name or self.units

    def extend(self, values: np.ndarray) -> Extend:
        """At which ends values lie beyond the limits, by more than rounding."""
        rounding = 1e-6 * (self.high - self.low)
        below, above = (values < self.low - rounding).any(), (values > self.high + rounding).any()
        return "both" if below and above else "min" if below else "max" if above else "neither"

    def ticks(self, extend: Extend = "neither") -> list[tuple[float, str]]:
        """Places and words of the colour bar's ticks: round numbers between both limits.

        A limit with values beyond it says so: "≥ 4.7".
        """
        span = self.high - self.low
        step = round_step(span / 5)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        inner = [step * i for i in range(first, last + 1) if 0.13 * span < step * i - self.low < 0.87 * span]
        below, above = ("≤ " if extend in ("min", "both") else ""), ("≥ " if extend in ("max", "both") else "")
        ends = (self.low, below + number(self.low, 6)), (self.high, above + number(self.high, 6))
        return [ends[0], *((at, number(round(at, 12), 6)) for at in inner), ends[1]]


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten from ``least`` on."""
    decade = 10.0 ** math.floor(math.log10(least))
    return next(step * decade for step in (1.0, 2.0, 5.0, 10.0) if step * decade >= least * (1 - 1e-9))


@dataclass(frozen=True, eq=False)
class Panel:
    """One map: its values (H, W) on a grid, NaN for missing, its title and what its colours mean.

    ``key`` names the panel among those of one figure.
    """

    key: str
    title: str
    values: np.ndarray
    grid: Grid
    scale: MapScale
