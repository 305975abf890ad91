"""Base class of the estimators: parameters, representation, and an error if they are used before ``fit``."""

from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from deconditioning.errors import InputError


class Estimator:
    """Base of the estimators, which are dataclasses whose fields are the parameters in scikit-learn's sense.

    Parameters are stored as given and checked in ``fit``; names of fitted attributes end in ``_``. scikit-learn's
    ``clone`` works on every estimator.
    """

    #: Name of an attribute that ``fit`` sets.
    _fitted_by: ClassVar[str]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; ``deep`` has no effect and exists for compatibility with scikit-learn."""
        return {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters and return the estimator; raises ``InputError`` for an unknown parameter."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter '{name}': choose among {', '.join(sorted(known))}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{item.name}={getattr(self, item.name)!r}" for item in fields(self)  # type: ignore[arg-type]
            if getattr(self, item.name) != item.default
        ]  # fmt: skip
        return f"{type(self).__name__}({', '.join(changed)})"

    def _check_fitted(self) -> None:
        if not hasattr(self, self._fitted_by):
            raise InputError(f"This {type(self).__name__} is not fitted yet: call `fit` first.")


def matrix(values: Any, name: str, *, gaps: bool = False) -> np.ndarray:
    """Convert to float64 rows (n, d); a vector becomes one column. ``gaps`` allows missing numbers (NaN).

    Raises ``InputError`` for text, more than two dimensions, no rows, and missing or infinite numbers.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` contains something that is not a number: give an array of numbers.") from None
    if array.ndim not in (1, 2) or not array.size:
        raise InputError(f"`{name}` has shape {array.shape}: give one row of numbers per case.")
    array = array[:, None] if array.ndim == 1 else array
    bad = np.isinf(array) if gaps else ~np.isfinite(array)
    if bad.any():
        what = "infinite" if gaps else "missing or infinite"
        raise InputError(f"{int(bad.sum())} numbers of `{name}` are {what}: leave those rows out or fill them in.")
    return np.ascontiguousarray(array)
