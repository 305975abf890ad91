"""Scores of a field and its uncertainty: pointwise, probabilistic, spatial, calibration, significance.

Error is prediction − truth everywhere. Weights (cell areas) are normalised over the points that are scored and applied
outside the square. Scipy, scikit-image and scoringrules are imported by the functions that need them.
"""
