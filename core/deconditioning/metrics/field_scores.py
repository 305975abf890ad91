"""All scores of one predicted field, with their names on the command line."""

from collections.abc import Iterable

import numpy as np

from deconditioning.metrics import pointwise, probabilistic
from deconditioning.metrics.points import Points, Predicted, scored_points
from deconditioning.metrics.predictive import Predictive
from deconditioning.metrics.spatial import ssim

_POINTWISE = ("rmse", "mae", "bias", "pearson")
_LEVELS = {"coverage50": 0.50, "coverage90": 0.90, "coverage95": 0.95}
_IN_FIELD_UNITS = {
    "rmse", "mae", "bias", "crps", "ssim_range", "interval_low", "interval_high", "posterior_mean", "wasserstein",
    "q01", "q05", "q50", "q95", "q99",
}  # fmt: skip


def score_field(
    truth: np.ndarray,
    predicted: Predicted,
    *,
    area: np.ndarray | None = None,
    data_range: float | None = None,
) -> dict[str, float]:
    """Scores over the pixels where truth and prediction have values; the error is prediction − truth.

    Parameters
    ----------
    truth, predicted : (H, W) in one unit; of a prediction without distributions, crps and coverage are omitted.
    area : (H, W) relative cell areas; every score except SSIM is then also given with area weights, under a name ending
        in ``_area``.
    data_range : range for SSIM (by default the span of the scored truth), returned as ``ssim_range``.

    Returns
    -------
    rmse, mae, bias, pearson, crps, coverage50, coverage90, coverage95, coverage_2sd (and ``_area``), ssim, ssim_range.
        NaN if a score is undefined (correlation of a constant field). Raises `InputError` if no pixel has all values.
    """
    z = np.asarray(truth, dtype=float)
    points = scored_points(truth=z, predicted=predicted)
    scores = _scores(points)
    if area is not None:
        weighted = scored_points(truth=z, predicted=predicted, weights=area).among(points)
        scores |= {f"{name}_area": value for name, value in _scores(weighted).items()}
    mean = predicted.mean if isinstance(predicted, Predictive) else predicted
    value, span = ssim(truth=np.where(points.there, z, np.nan), mean=mean, data_range=data_range)
    return scores | {"ssim": value, "ssim_range": span}


def score_points(truth: np.ndarray, predicted: Predicted) -> dict[str, float]:
    """The scores of ``score_field`` that need no neighbours, for points without a grid; all (n,)."""
    return _scores(scored_points(truth=truth, predicted=predicted))


def _scores(p: Points) -> dict[str, float]:
    scores = {name: getattr(pointwise, name)(truth=p.truth, mean=p.mean, weights=p.weights) for name in _POINTWISE}
    if p.distributions is None:
        return scores
    scores["crps"] = probabilistic.crps_of(p)
    scores |= {name: probabilistic.coverage_of(p, level) for name, level in _LEVELS.items()}
    scores["coverage_2sd"] = probabilistic.coverage_sd_of(p, 2.0)
    return scores


def score_units(names: Iterable[str], units: str) -> dict[str, str]:
    """The unit of each score: the field's for errors, its square for mse, "1" for shares and correlations."""
    base = {name: name.removesuffix("_area") for name in names}
    square = f"({units})^2" if " " in units else f"{units}2" if units not in ("", "1") else "1"
    return {
        name: (units or "1") if stem in _IN_FIELD_UNITS else square if stem == "mse" else "1"
        for name, stem in base.items()
    }
