"""Similarity of spatial patterns: the structural similarity index."""

import numpy as np

from deconditioning.errors import InputError

_WINDOW = 7


def ssim(
    *, truth: np.ndarray, mean: np.ndarray, data_range: float | None = None, window: int = _WINDOW
) -> tuple[float, float]:
    """Mean structural similarity of two (H, W) fields, and the data range R that was used; 1 is best.

    In each window of ``window``² pixels, with means μ, sample variances s² and covariance, ``SSIM = (2μ_m μ_z + C₁)(2
    s_mz + C₂) / ((μ_m² + μ_z² + C₁)(s_m² + s_z² + C₂))``, ``C₁ = (.01 R)²``, ``C₂ = (.03 R)²``. R is in the field's
    units, by default the span of the scored truth, and must be reported with the score, which depends on it. Only
    windows without missing pixels count; NaN if there are none or if R is 0. On a grid smaller than the window, the
    largest odd side is used.

    Raises `InputError` for fields that are not two-dimensional or differ in shape, or a range that is not positive.
    Source: Wang et al. 2004, eq. 13; computed by scikit-image.
    """
    from scipy.ndimage import minimum_filter
    from skimage.metrics import structural_similarity

    z, m = np.asarray(truth, dtype=float), np.asarray(mean, dtype=float)
    if z.ndim != 2 or z.shape != m.shape:
        raise InputError(f"`truth` has the shape {z.shape}, `mean` {m.shape}: give two fields of rows and columns.")
    if data_range is not None and not data_range > 0:
        raise InputError(f"`data_range` is {data_range:g}: give the span of the field, above 0.")
    there = np.isfinite(z) & np.isfinite(m)
    if not there.any():
        return float("nan"), float("nan" if data_range is None else data_range)
    R = float(np.ptp(z[there]) if data_range is None else data_range)
    side = min(window, *z.shape)
    side -= 1 - side % 2
    edge = side // 2
    whole = minimum_filter(there.astype(np.uint8), size=side, mode="constant", cval=0).astype(bool)
    inner = (slice(edge, z.shape[0] - edge), slice(edge, z.shape[1] - edge))
    if side < 3 or R == 0 or not whole[inner].any():
        return float("nan"), R
    fill = z[there].mean()
    _, local = structural_similarity(
        np.where(there, z, fill), np.where(there, m, fill), win_size=side, data_range=R, full=True
    )
    return float(local[inner][whole[inner]].mean()), R
