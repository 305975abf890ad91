"""Deconditioning Lab: kernel conditioning and deconditioning of aggregated data.

Downscale a coarse field with high-resolution covariates:

>>> import xarray as xr
>>> import deconditioning
>>> result = deconditioning.downscale(coarse, covariates)  # DataArrays, each on its own grid
>>> result["mean"], result["sd"]

Names are imported when they are first used, so ``import deconditioning`` is fast. Invalid input raises ``InputError``,
whose message says what was found, what was expected and what to do. ``import deconditioning.accessor`` adds
``DataArray.deconditioning.downscale`` to xarray.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deconditioning.errors import InputError
    from deconditioning.estimators.distribution_regression import DistributionRegression
    from deconditioning.estimators.downscaling import (
        CMP,
        AreaToPointGP,
        BagGP,
        Downscaler,
        PartialCMP,
        RegressionKriging,
        ShrinkageCMP,
        TaskTransformedGP,
        VariationalCMP,
        downscale,
    )
    from deconditioning.estimators.kernel_bayes import KernelBayesFilter, KernelBayesRule
    from deconditioning.estimators.likelihood_free import LikelihoodFree
    from deconditioning.fields.reading.opening import open_fields

__version__ = "0.2.0"

__all__ = [
    "CMP",
    "AreaToPointGP",
    "BagGP",
    "DistributionRegression",
    "Downscaler",
    "InputError",
    "KernelBayesFilter",
    "KernelBayesRule",
    "LikelihoodFree",
    "PartialCMP",
    "RegressionKriging",
    "ShrinkageCMP",
    "TaskTransformedGP",
    "VariationalCMP",
    "__version__",
    "downscale",
    "open_fields",
]

_ELSEWHERE = {
    "DistributionRegression": "estimators.distribution_regression",
    "InputError": "errors",
    "KernelBayesFilter": "estimators.kernel_bayes",
    "KernelBayesRule": "estimators.kernel_bayes",
    "LikelihoodFree": "estimators.likelihood_free",
    "open_fields": "fields.reading.opening",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'estimators.downscaling')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
