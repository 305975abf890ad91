"""``import deconditioning.accessor`` gives every ``DataArray`` the accessor ``deconditioning``.

>>> import deconditioning.accessor
>>> found = coarse.deconditioning.downscale(covariates)

It is imported by itself, as xarray's other accessors are, so that ``import deconditioning`` need not import xarray.
"""

from typing import Any

import xarray as xr

import deconditioning

__all__ = ["Accessor"]


@xr.register_dataarray_accessor("deconditioning")
class Accessor:
    """What Deconditioning Lab does with a coarse field."""

    def __init__(self, coarse: xr.DataArray) -> None:
        self._coarse = coarse

    def downscale(self, covariates: Any, **settings: Any) -> xr.Dataset:
        """`deconditioning.downscale` of this field with ``covariates`` and its other arguments."""
        return deconditioning.downscale(self._coarse, covariates, **settings)
