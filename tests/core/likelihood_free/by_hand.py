"""A Gaussian kernel written out."""

import numpy as np


def gauss(a: np.ndarray, b: np.ndarray, scale: np.ndarray | float) -> np.ndarray:
    """``exp(−‖a − b‖²/2s²)`` of all rows of both."""
    return np.exp(-0.5 * (((a[:, None] - b[None]) / scale) ** 2).sum(-1))
