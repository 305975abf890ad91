"""Scores of a field and its uncertainty: pointwise, probabilistic, spatial, calibration, significance.

Error is prediction − truth everywhere. Weights (cell areas) are normalised over the points that are scored and applied
outside the square. Scipy, scikit-image and scoringrules are imported by the functions that need them.
"""

from typing import TYPE_CHECKING

from deconditioning.lazy import lazily

if TYPE_CHECKING:
    from deconditioning.metrics.calibrating import calibration, pit
    from deconditioning.metrics.field_scores import score_field, score_points, score_units
    from deconditioning.metrics.pointwise import bias, mae, pearson, rmse
    from deconditioning.metrics.probabilistic import coverage, coverage_sd, crps_ensemble, crps_gaussian
    from deconditioning.metrics.significance import Comparison, holm, pairwise_wilcoxon
    from deconditioning.metrics.spatial import ssim
    from deconditioning.metrics.summary import summarise
    from deconditioning.metrics.trusting import Trust, trust

_MODULES = {
    "calibration": "calibrating",
    "pit": "calibrating",
    "score_field": "field_scores",
    "score_points": "field_scores",
    "score_units": "field_scores",
    "bias": "pointwise",
    "mae": "pointwise",
    "pearson": "pointwise",
    "rmse": "pointwise",
    "coverage": "probabilistic",
    "coverage_sd": "probabilistic",
    "crps_ensemble": "probabilistic",
    "crps_gaussian": "probabilistic",
    "Comparison": "significance",
    "holm": "significance",
    "pairwise_wilcoxon": "significance",
    "ssim": "spatial",
    "summarise": "summary",
    "Trust": "trusting",
    "trust": "trusting",
}

__all__ = [
    "Comparison",
    "Trust",
    "bias",
    "calibration",
    "coverage",
    "coverage_sd",
    "crps_ensemble",
    "crps_gaussian",
    "holm",
    "mae",
    "pairwise_wilcoxon",
    "pearson",
    "pit",
    "rmse",
    "score_field",
    "score_points",
    "score_units",
    "ssim",
    "summarise",
    "trust",
]

__getattr__ = lazily(__name__, _MODULES)
