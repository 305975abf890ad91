"""A generated field whose mediator depends on the covariate, on the target itself, or on both.

Cells are independent of each other, so that coordinates carry no information. The covariate is ``x = c + 0.7 e`` with a
value c of each cell and white noise e. The target is ``sin 2x + x/2 + u`` with a part u of each cell, of sd
``unexplained``, that no covariate explains. The mediator of a cell is ``cos(aπ/2) x̄ + sin(aπ/2) z̄ + 0.3 e′`` with both
means standardised: with ``a = 0`` it depends on the target through the covariate alone, with ``a = 1`` on the target
itself.
"""

from typing import TYPE_CHECKING

import numpy as np

from deconditioning.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

#: Pixels of a side, and of that of a cell.
SIDE, CELL = 96, 4
#: Sd of the covariate inside a cell, and of the mediator's own noise.
_INSIDE, NOISE = 0.7, 0.3


def make_mediated(dependence: float, unexplained: float, seed: int = 0) -> "xr.Dataset":
    """``target``, ``covariate`` and ``mediator`` on a regular grid; ``dependence`` is a, from 0 to 1."""
    import xarray as xr

    if not 0 <= dependence <= 1:
        raise InputError(f"`dependence` is {dependence:g}: give a number from 0 to 1.")
    rng, cells = np.random.default_rng(seed), (SIDE // CELL, SIDE // CELL)
    covariate = _spread(rng.standard_normal(cells)) + _INSIDE * rng.standard_normal((SIDE, SIDE))
    target = np.sin(2 * covariate) + 0.5 * covariate + unexplained * _spread(rng.standard_normal(cells))
    x, z = _standardised(_means(covariate)), _standardised(_means(target))
    angle = dependence * np.pi / 2
    mediator = np.cos(angle) * x + np.sin(angle) * z + NOISE * rng.standard_normal(cells)
    values = {"target": target, "covariate": covariate, "mediator": _spread(mediator)}
    along = {"latitude": np.linspace(-10, 10, SIDE), "longitude": np.linspace(0, 20, SIDE)}
    units = {"latitude": "degrees_north", "longitude": "degrees_east"}
    return xr.Dataset(
        {name: (tuple(along), each, {"units": "1"}) for name, each in values.items()},
        {name: (name, each, {"units": units[name]}) for name, each in along.items()},
    )


def _spread(cells: np.ndarray) -> np.ndarray:
    return np.kron(cells, np.ones((CELL, CELL)))


def _means(pixels: np.ndarray) -> np.ndarray:
    return pixels.reshape(SIDE // CELL, CELL, SIDE // CELL, CELL).mean(axis=(1, 3))


def _standardised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()
