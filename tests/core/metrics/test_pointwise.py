"""Pointwise scores: by hand, against the packages of the field, weights against repeated points."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scores.continuous import additive_bias
from scores.continuous import mae as scores_mae
from scores.continuous import rmse as scores_rmse
from scores.continuous.correlation import pearsonr

from deconditioning.errors import InputError
from deconditioning.metrics import pointwise
from deconditioning.metrics.pointwise import bias, mae, pearson, rmse

NAMES = ("rmse", "mae", "bias", "pearson")


def two_fields(seed=0, shape=(6, 8)):
    rng = np.random.default_rng(seed)
    truth = 280 + 8 * rng.standard_normal(shape)
    return truth, truth + 1.5 + 2 * rng.standard_normal(shape), rng.uniform(0.1, 3.0, shape)


def test_by_hand():
    truth, mean = np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.0, 2.0])
    w = np.array([1.0, 2.0, 1.0])
    assert rmse(truth=truth, mean=mean) == pytest.approx(np.sqrt(5 / 3))
    assert mae(truth=truth, mean=mean) == pytest.approx(1.0)
    assert bias(truth=truth, mean=mean) == pytest.approx(-1 / 3)  # prediction − truth
    assert rmse(truth=truth, mean=mean, weights=w) == pytest.approx(np.sqrt(5 / 4))
    assert bias(truth=truth, mean=mean, weights=w) == pytest.approx(-1 / 4)
    assert np.isnan(pearson(truth=truth, mean=mean))


def test_package_scores_gives_the_same_numbers():
    truth, mean, _ = two_fields()
    z, m = (xr.DataArray(a, dims=("y", "x")) for a in (truth, mean))
    assert rmse(truth=truth, mean=mean) == pytest.approx(float(scores_rmse(m, z)), rel=1e-12)
    assert mae(truth=truth, mean=mean) == pytest.approx(float(scores_mae(m, z)), rel=1e-12)
    assert bias(truth=truth, mean=mean) == pytest.approx(float(additive_bias(m, z)), rel=1e-12)
    assert pearson(truth=truth, mean=mean) == pytest.approx(float(pearsonr(m, z)), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_whole_weights_are_repeated_points(name):
    truth, mean, _ = two_fields()
    count = np.random.default_rng(3).integers(1, 5, truth.shape)
    repeated = {"truth": np.repeat(truth, count.ravel()), "mean": np.repeat(mean, count.ravel())}
    score = getattr(pointwise, name)
    assert score(truth=truth, mean=mean, weights=count) == pytest.approx(score(**repeated), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_missing_points_and_points_of_no_weight_are_as_if_taken_out(name):
    truth, mean, w = two_fields()
    gap = np.random.default_rng(4).random(truth.shape) < 0.3
    score = getattr(pointwise, name)
    kept = score(truth=truth[~gap], mean=mean[~gap], weights=w[~gap])
    assert score(truth=np.where(gap, np.nan, truth), mean=mean, weights=w) == pytest.approx(kept, rel=1e-12)
    assert score(truth=truth, mean=mean, weights=np.where(gap, 0.0, w)) == pytest.approx(kept, rel=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.floats(1e-3, 1e3), st.sampled_from(NAMES))
def test_only_the_proportions_of_the_weights_count(seed, factor, name):
    truth, mean, w = two_fields(seed, (3, 5))
    score = getattr(pointwise, name)
    one, other = (score(truth=truth, mean=mean, weights=v) for v in (w, factor * w))
    assert one == pytest.approx(other, rel=1e-9, abs=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_inequalities_between_scores(seed):
    truth, mean, w = two_fields(seed, (3, 5))
    value = {name: getattr(pointwise, name)(truth=truth, mean=mean, weights=w) for name in NAMES}
    assert abs(value["bias"]) <= value["mae"] + 1e-12 and value["mae"] <= value["rmse"] + 1e-12
    assert -1 - 1e-12 <= value["pearson"] <= 1 + 1e-12


def test_correlation_in_large_offsets_and_of_constants():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(500)
    assert pearson(truth=1e6 + z, mean=1e6 + 3 * z) == pytest.approx(1.0, abs=1e-9)
    assert np.isnan(pearson(truth=z, mean=np.full(500, 271.3)))


@pytest.mark.parametrize(
    "change, words",
    [
        ({"mean": np.zeros((2, 3))}, r"`mean` has the shape \(2, 3\), `truth` \(2, 2\)"),
        ({"weights": np.array([[1.0, -1.0], [1.0, 1.0]])}, "`weights` has a negative value, -1"),
        ({"truth": np.full((2, 2), np.nan)}, "no pixels in common"),
    ],
)
def test_bad_arrays_are_a_sentence(change, words):
    arrays = {"truth": np.zeros((2, 2)), "mean": np.ones((2, 2)), "weights": np.ones((2, 2))} | change
    with pytest.raises(InputError, match=words):
        rmse(**arrays)
