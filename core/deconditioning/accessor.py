"""Registers the accessor ``deconditioning`` for every xarray ``DataArray``.

>>> import deconditioning.accessor
>>> result = coarse.deconditioning.downscale(covariates)

It is a separate import, like other xarray accessors, so that ``import deconditioning`` does not import xarray.
"""

from typing import Any

import xarray as xr

import deconditioning

__all__ = ["Accessor"]


@xr.register_dataarray_accessor("deconditioning")
class Accessor:
    """Deconditioning Lab's methods for a coarse field."""

    def __init__(self, coarse: xr.DataArray) -> None:
        self._coarse = coarse

    def downscale(self, covariates: Any, **settings: Any) -> xr.Dataset:
        """Downscale this field: `deconditioning.downscale` with ``covariates`` and its other arguments."""
        return deconditioning.downscale(self._coarse, covariates, **settings)
