"""SSIM: scikit-image where there is no gap, written out by hand where there is one."""

import numpy as np
import pytest
from skimage.metrics import structural_similarity

from deconditioning.errors import InputError
from deconditioning.metrics.spatial import ssim


def two_fields(shape=(30, 41), seed=0):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[0], : shape[1]]
    truth = 280 + 10 * np.sin(x / 5.0) * np.cos(y / 7.0)
    return truth, truth + 2 * rng.standard_normal(shape)


def by_hand(truth, mean, span, side=7):
    """Every window without a gap, one after the other."""
    c1, c2 = (0.01 * span) ** 2, (0.03 * span) ** 2
    values = []
    for i in range(truth.shape[0] - side + 1):
        for j in range(truth.shape[1] - side + 1):
            a, b = (f[i : i + side, j : j + side].ravel() for f in (mean, truth))
            if np.isnan(a).any() or np.isnan(b).any():
                continue
            cov = np.cov(a, b)
            luminance = (2 * a.mean() * b.mean() + c1) / (a.mean() ** 2 + b.mean() ** 2 + c1)
            values.append(luminance * (2 * cov[0, 1] + c2) / (cov[0, 0] + cov[1, 1] + c2))
    return np.mean(values)


def test_without_gaps_it_is_scikit_image_with_the_span_of_the_truth():
    truth, mean = two_fields()
    value, span = ssim(truth=truth, mean=mean)
    assert span == np.ptp(truth)
    assert value == pytest.approx(structural_similarity(truth, mean, data_range=span), abs=1e-12)
    assert value == pytest.approx(by_hand(truth, mean, span), abs=1e-9)


def test_with_gaps_only_whole_windows_count():
    truth, mean = two_fields()
    gappy = truth.copy()
    gappy[3:6, 10:14] = gappy[20, 30] = gappy[-1, :] = np.nan
    holes = mean.copy()
    holes[12, 20] = np.inf
    value, span = ssim(truth=gappy, mean=holes, data_range=25.0)
    assert span == 25.0
    assert value == pytest.approx(by_hand(gappy, np.where(np.isfinite(holes), holes, np.nan), 25.0), abs=1e-9)


def test_range_changes_the_score_and_identity_is_one():
    truth = np.where(np.arange(60)[:, None] < 30, 270.0, 290.0) * np.ones(60)
    mean = truth + 0.3 * np.random.default_rng(0).standard_normal((60, 60))
    right, wrong = ssim(truth=truth, mean=mean)[0], ssim(truth=truth, mean=mean, data_range=1.0)[0]
    assert right > 0.7 and wrong < 0.3
    assert ssim(truth=truth, mean=truth)[0] == pytest.approx(1.0, abs=1e-12)


def test_small_grids_take_a_smaller_window_and_too_small_ones_none():
    truth, mean = two_fields((5, 6))
    assert ssim(truth=truth, mean=mean)[0] == pytest.approx(by_hand(truth, mean, np.ptp(truth), side=5), abs=1e-9)
    assert np.isnan(ssim(truth=truth[:2], mean=mean[:2])[0])


def test_where_it_does_not_exist():
    truth, mean = two_fields((20, 20))
    striped = np.where(np.arange(20)[:, None] % 3 == 0, np.nan, truth)
    assert np.isnan(ssim(truth=striped, mean=mean)[0])
    assert np.isnan(ssim(truth=np.full((20, 20), 280.0), mean=mean)[0])
    with pytest.raises(InputError, match="`data_range` is -1"):
        ssim(truth=truth, mean=mean, data_range=-1.0)
    with pytest.raises(InputError, match="two fields of rows and columns"):
        ssim(truth=truth[0], mean=mean[0])
