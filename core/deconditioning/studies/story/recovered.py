"""A curve recovered from its cell means by deconditioning: the bag engine on a transect.

``z = Wᵀf + e`` with W the cells' averages, ``f ~ GP`` with a Matérn kernel along the line and, where the ground's
altitude is told, a straight line in it. The scale of the kernel is the one of highest evidence, ``s² = rᵀS⁻¹r/n``.
Source: Chau et al. 2021, §3; Rasmussen and Williams 2006, §5.4 (evidence).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.catalogue import BAG_GP
from deconditioning.models.indirect_gp import Columns, IndirectPosterior, posterior
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import Bags, IndirectData
from deconditioning.studies.story.transect import Cells, Transect, through_cells

#: Variance of the cells' own noise, as share of the kernel's: next to nothing, so that cells are honoured.
NOISE = 1e-8
#: Prior variance of the straight line in altitude, as share of the rest's.
SLOPE = 10.0
#: Lengths in km among which the evidence chooses.
LENGTHS = tuple(float(f"{length:.3g}") for length in np.geomspace(2.0, 400.0, 28))
_PLACE, _HEIGHT = "km", "altitude"
#: Families of the kernel along the line: as rough as such fields are, and smoother.
_ROUGH, SMOOTH = "matern12", "matern32"


@dataclass(frozen=True)
class Recovered:
    """A transect recovered from its cells: posterior ``mean`` and ``sd`` (P,) in the values' units, the ``evidence`` of
    the standardised cell means at the best scale, ``off``: how far averages of the mean are from the cell means."""

    transect: Transect
    cells: Cells
    length: float
    posterior: IndirectPosterior
    scale: float
    evidence: float

    @property
    def _unit(self) -> tuple[float, float]:
        return float(self.cells.means.mean()), float(self.cells.means.std())

    @property
    def _inputs(self) -> torch.Tensor:
        return _inputs(self.transect, len(self.posterior.columns.inputs) > 1)

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        (centre, unit), (mean, variance) = self._unit, self.posterior.mean_and_variance(self._inputs)
        return centre + unit * mean.numpy(), unit * np.sqrt(self.scale * variance.numpy())

    @property
    def mean(self) -> np.ndarray:
        """``E[f | z]``."""
        return self._moments[0]

    @property
    def sd(self) -> np.ndarray:
        """Standard deviation of f given z."""
        return self._moments[1]

    @property
    def rmse(self) -> float:
        """Root mean square distance of the mean from the truth."""
        return rmse(self.mean, self.transect.values)

    @property
    def held(self) -> float:
        """Share of the truth within two sd of the mean."""
        return float((np.abs(self.mean - self.transect.values) <= 2 * self.sd).mean())

    @property
    def off(self) -> float:
        """Largest distance of an average of the mean from the cell's mean."""
        return off_cells(self.mean, self.cells)

    def rivals(self, count: int, seed: int) -> np.ndarray:
        """``count`` joint draws of f given z (count, P)."""
        spec = self.posterior.spec
        terms = tuple(replace(term, scale=term.scale * self.scale) for term in spec.kernel.terms)
        scaled = replace(spec, kernel=KernelSpec(terms), noise=spec.noise * self.scale)
        scaled_posterior = posterior(
            scaled, _data(self.transect, self.cells, _HEIGHT in self.posterior.columns.inputs), self.posterior.columns
        )
        centre, unit = self._unit
        draws = scaled_posterior.sample(self._inputs, count, torch.Generator().manual_seed(seed))
        return centre + unit * draws.numpy()


def rmse(values: np.ndarray, truth: np.ndarray) -> float:
    """Root mean square difference between two arrays of one shape, in their units."""
    return float(np.sqrt(np.mean((values - truth) ** 2)))


def off_cells(values: np.ndarray, cells: Cells) -> float:
    """Largest distance of the values' cell averages from the cells' means."""
    means = np.bincount(cells.cell, values) / np.bincount(cells.cell)
    return float(np.abs(means - cells.means).max())


@one_thread()
def recover(
    transect: Transect, size: int, length: float, *, with_altitude: bool = False, family: str = _ROUGH
) -> Recovered:
    """The posterior from averages over ``size`` places, with a kernel of that ``family`` and ``length`` in km."""
    cells = through_cells(transect, size)
    columns = Columns((_PLACE, _HEIGHT) if with_altitude else (_PLACE,))
    terms = [Term((Factor(family, (_PLACE,), (length,)),), 1.0)]
    if with_altitude:
        terms.append(Term((Factor("linear", (_HEIGHT,), (1.0,)),), SLOPE))
    spec = ModelSpec(BAG_GP, KernelSpec(tuple(terms)), noise=NOISE)
    fitted = posterior(spec, _data(transect, cells, with_altitude), columns)
    residual, count = fitted.conditioning.residual, len(cells.means)
    square = float(residual @ fitted.conditioning.factor.solve(residual))
    scale = square / count
    evidence = fitted.evidence + 0.5 * square - 0.5 * count * (1 + math.log(scale))
    return Recovered(transect, cells, length, fitted, scale, evidence)


def evidence_of(transect: Transect, size: int, *, with_altitude: bool = False) -> np.ndarray:
    """Log evidence at each of `LENGTHS`."""
    return np.array([recover(transect, size, length, with_altitude=with_altitude).evidence for length in LENGTHS])


def _inputs(transect: Transect, with_altitude: bool) -> torch.Tensor:
    columns = [transect.km]
    if with_altitude:
        columns.append((transect.altitude - transect.altitude.mean()) / transect.altitude.std())
    return torch.from_numpy(np.stack(columns, axis=1))


def _data(transect: Transect, cells: Cells, with_altitude: bool) -> IndirectData:
    """Cells as bags, their standardised means as targets; no mediators."""
    count = len(cells.means)
    none = torch.zeros(count, 0, dtype=torch.float64)
    bags = Bags(_inputs(transect, with_altitude), torch.from_numpy(cells.cell), count)
    targets = (cells.means - cells.means.mean()) / cells.means.std()
    return IndirectData(bags, none, none, torch.from_numpy(targets))
