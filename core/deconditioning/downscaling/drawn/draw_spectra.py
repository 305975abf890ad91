"""Power spectra of the posterior mean, of draws and of the truth, how much of the draws is extrapolated, and how much
of a draw the intervals contain."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.downscaling.drawn.roughest_covariate import RoughestCovariate, roughest_covariate
from deconditioning.downscaling.draws import Draws
from deconditioning.fields.problem.coordinates import steps_in_km
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.calibration import calibration
from deconditioning.metrics.intervals import LEVELS
from deconditioning.metrics.predictive import Predictive
from deconditioning.metrics.spectrum import LEAST, spectrum
from deconditioning.wording import number

#: Shares of the truth's power between which that of the draws counts as right.
_RIGHT = (0.5, 2.0)


@dataclass(frozen=True)
class DrawSpectra:
    """Radial power spectra over the same pixels.

    Parameters
    ----------
    wavenumber : (K,) cycles per km.
    power : power densities (K,) of "mean", "draws" (their average) and, where it is known, "truth".
    thirds : power (3,) in the lower, middle and upper third of the wavenumbers, in squared units of the target.
    extrapolated : share of the draws' variance inside the cells that the mean does not have, None without variance.
    held : of every draw the share of its area inside the 95 % intervals (D,), ascending; None if the intervals are
        not those of the draws. If the model is right the truth is one more draw, and its coverage is below or above
        those of D draws with probability 2/(D + 1).
    roughest : the draws beside the roughest covariate; None without covariates.
    """

    wavenumber: tuple[float, ...]
    power: dict[str, tuple[float, ...]]
    thirds: dict[str, tuple[float, ...]]
    extrapolated: float | None
    held: tuple[float, ...] | None = None
    roughest: RoughestCovariate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data: powers in thirds, the share that is extrapolated, what the intervals contain of draws, and the
        roughest covariate."""
        thirds = {name: list(values) for name, values in self.thirds.items()}
        held = None if self.held is None else list(self.held)
        roughest = None if self.roughest is None else self.roughest.to_dict()
        return {"thirds": thirds, "extrapolated": self.extrapolated, "held": held, "roughest_covariate": roughest}

    @property
    def finest(self) -> float | None:
        """Power of the draws in the upper third, relative to the truth's; None without a truth that has power there."""
        truth = self.thirds.get("truth")
        return self.thirds["draws"][2] / truth[2] if truth and truth[2] > 0 else None

    @property
    def sentence(self) -> str:
        """What the draws know inside the cells, how rough they are beside the truth, and how far coverage varies."""
        text = ""
        if self.extrapolated is not None:
            text = (
                f"{100 * self.extrapolated:.0f} % of the variance of the draws inside the cells is extrapolated: it "
                "follows from the roughness between the cells, not from observations or covariates inside them."
            )
        if self.finest is not None:
            right = _RIGHT[0] <= self.finest <= _RIGHT[1]
            text += (
                f" In the finest third of wavenumbers the draws have {number(self.finest, 2)} times the power of the "
                f"truth" + ("." if right else f": they are too {'rough' if self.finest > 1 else 'smooth'}.")
            )
        rough = "" if self.roughest is None or not text else self.roughest.sentence
        return (text + rough + self._varying()).strip()

    def _varying(self) -> str:
        if self.held is None:
            return ""
        low, high = (f"{100 * share:.0f}" for share in (self.held[0], self.held[-1]))
        return (
            f" The 95 % intervals contain {low} to {high} % of single draws. If the model is right, the truth is like "
            "one of them: a coverage in this range shows no fault of the intervals."
        )


def draw_spectra(problem: DownscalingProblem, draws: Draws, predictive: Predictive | None = None) -> DrawSpectra | None:
    """The spectra of some draws at their own resolution; None if the grid has too few pixels.

    ``predictive`` are the distributions (H, W) of which these are the draws, if their intervals are to be judged.
    """
    every = slice(None, None, draws.stride)
    fields = {"mean": [draws.mean], "draws": list(draws.fields)}
    if problem.truth is not None:
        fields["truth"] = [np.where(np.isfinite(draws.mean), problem.truth[every, every], np.nan)]
    if min(draws.mean.shape) < LEAST or not np.isfinite(draws.mean).any():
        return None
    down, along = (draws.stride * step for step in steps_in_km(problem.grid))
    spectra = {name: [spectrum(each, (down, along)) for each in values] for name, values in fields.items()}
    return DrawSpectra(
        tuple(map(float, spectra["mean"][0].wavenumber)),
        {name: _average([each.power for each in values]) for name, values in spectra.items()},
        {name: _average([each.thirds for each in values]) for name, values in spectra.items()},
        _extrapolated(problem.cell[every, every], draws),
        None if predictive is None else _coverages(draws, predictive[every, every], problem.grid.area[every, every]),
        roughest_covariate(problem, draws, (down, along), spectra["mean"][0], spectra["draws"]),
    )


def _average(values: list[np.ndarray]) -> tuple[float, ...]:
    return tuple(map(float, np.mean(values, axis=0)))


def _coverages(draws: Draws, predictive: Predictive, area: np.ndarray) -> tuple[float, ...]:
    """The coverage of every draw by the 95 % intervals, ascending."""
    return tuple(sorted(float(calibration(field, predictive, LEVELS[-1:], weights=area)[0]) for field in draws.fields))


def _extrapolated(cell: np.ndarray, draws: Draws) -> float | None:
    """``E var_cell(f − m) / (E var_cell(f − m) + var_cell(m))`` over the draws f with mean m."""
    there = (cell >= 0) & np.isfinite(draws.mean)
    group = np.unique(cell[there], return_inverse=True)[1]
    count = np.bincount(group)

    def inside(values: np.ndarray) -> float:
        """Mean squared deviation of values from the mean of their cell."""
        means = np.bincount(group, values) / count
        return float(np.mean((values - means[group]) ** 2))

    unknown = float(np.mean([inside((field - draws.mean)[there]) for field in draws.fields]))
    whole = unknown + inside(draws.mean[there])
    return unknown / whole if whole > 0 else None
