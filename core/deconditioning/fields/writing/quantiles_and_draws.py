"""What a posterior leaves in a file beside its mean and sd: quantiles of every pixel and joint draws."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.target_metadata import methods_of
from deconditioning.fields.writing.export import QUANTILE, Words, fine_dimensions

if TYPE_CHECKING:
    import xarray as xr

#: The quantiles that are offered.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def checked_levels(values: Sequence[float]) -> tuple[float, ...]:
    """Levels of quantiles in order, each once; ``InputError`` if one is not in (0, 1)."""
    levels = tuple(float(level) for level in values)
    if not all(0 < level < 1 for level in levels):
        raise InputError(f"Quantiles lie between 0 and 1, got {', '.join(f'{v:g}' for v in levels)}: 0.05 is 5 %.")
    return tuple(sorted(set(levels)))


def with_quantiles(
    dataset: "xr.Dataset", problem: DownscalingProblem, quantiles: Mapping[float, np.ndarray]
) -> "xr.Dataset":  # fmt: skip
    """The dataset with ``quantiles`` (Q, H, W) of every pixel's own value along ``quantile``.

    They are given by their levels, (H, W) in the target's units.
    """
    about = {"long_name": "quantile level", "units": "1"}
    return _along(dataset, problem, "quantiles", "quantile", np.asarray(list(quantiles), dtype=float), about,
                  np.stack(list(quantiles.values())), "posterior quantiles of {}", QUANTILE)  # fmt: skip


def with_exceedance(
    dataset: "xr.Dataset", problem: DownscalingProblem, chances: Mapping[float, np.ndarray]
) -> "xr.Dataset":  # fmt: skip
    """The dataset with ``exceedance`` (threshold, …), the probability that a pixel's own value exceeds each
    ``threshold``, along the dimensions of ``mean``.

    They are given by their thresholds in the target's units.
    """
    about = Words(problem.long_name, problem.standard_name, problem.units).value("threshold of {}")
    line = np.asarray(list(chances), dtype=float)
    long_name = "probability that {} exceeds the threshold"
    values = np.stack(list(chances.values()))
    result = _along(dataset, problem, "exceedance", "threshold", line, about, values, long_name, QUANTILE)
    for name in ("standard_name", "units_metadata"):
        result["exceedance"].attrs.pop(name, None)
    result["exceedance"].attrs["units"] = "1"
    return result


def with_draws(
    dataset: "xr.Dataset", problem: DownscalingProblem, draws: np.ndarray, *, seed: int, off: float | None = None,
    point_sd: float = 0.0,
) -> "xr.Dataset":  # fmt: skip
    """The dataset with ``draws`` (D, H, W) of the latent field along ``realization``, as an ensemble has its members.

    ``off`` is the largest distance of a draw's cell average from the mean's where the cell was measured, ``point_sd``
    ς of a single pixel's noise, which is not in the draws; both in the target's units.
    """
    comment = f"joint draws, seed {seed}: all fields are equally probable, and none of them is the mean"
    if off is not None:
        comment += f"; averaged over a measured cell every draw is within {off:.2g} of the mean's average"
    if point_sd > 0:
        comment += f"; they exclude the independent noise of each pixel, sd {point_sd:.4g}"
    about = {"long_name": "number of the draw", "standard_name": "realization", "units": "1"}
    return _along(dataset, problem, "draws", "realization", np.arange(1, len(draws) + 1, dtype=np.int32), about, draws,
                  "posterior draws of {}", comment)  # fmt: skip


def _along(
    dataset: "xr.Dataset", problem: DownscalingProblem, name: str, dim: str, line: np.ndarray, about: dict[str, str],
    values: np.ndarray, long_name: str, comment: str,
) -> "xr.Dataset":  # fmt: skip
    """The dataset with a field that has one more dimension, whose coordinate is ``line``."""
    if dim in dataset.variables or name in dataset.variables:
        raise InputError(
            f"The target's file already has a coordinate `{dim}`, a name that {name} would need: rename it."
        )
    _, grid_attributes = fine_dimensions(problem)
    words = Words(problem.long_name, problem.standard_name, problem.units)
    attributes = words.value(long_name, comment=comment, cell_methods=methods_of(problem.origin))
    result = dataset.assign_coords({dim: ((dim,), line, about)})
    return result.assign({name: ((dim, *dataset["mean"].dims), values, {**attributes, **grid_attributes})})
