"""Scores of a field and its uncertainty: pointwise, probabilistic, spatial, calibration, significance.

Error is prediction − truth everywhere. Weights (cell areas) are normalised over the points that are scored and applied
outside the square. Scipy, scikit-image and scoringrules are imported by the functions that need them.
"""

from core.metrics.calibration import calibration, pit
from core.metrics.field_scores import score_field, score_points, score_units
from core.metrics.pointwise import bias, mae, pearson, rmse
from core.metrics.probabilistic import coverage, coverage_sd, crps_ensemble, crps_gaussian
from core.metrics.significance import Comparison, holm, pairwise_wilcoxon
from core.metrics.spatial import ssim
from core.metrics.summarise import summarise
from core.metrics.trust import Trust, trust

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
