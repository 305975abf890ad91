"""Baselines see what the model sees; the explained share finds what was put in."""

from dataclasses import replace

import numpy as np
import pytest

from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.baselines import bicubic, bilinear, constant, lapse_rate
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.explained_variation import explained_share
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.samples import fields, plane, rectilinear, region, rotated_dataset

ALL = (constant, bilinear, bicubic)


def problem(data=None, **changes):
    spec = {"target": "t", "covariates": ("orog",), "block": (4, 6)} | changes
    return make_problem(fields(region() if data is None else data), DownscalingSpec(**spec))


def linear_region():
    data = region()
    data.t.values[:] = (2 * data.lat - 0.5 * data.lon + 280).values
    return data


@pytest.mark.parametrize("baseline", ALL)
@pytest.mark.parametrize("withhold", [0.0, 0.5])
def test_withheld_values_are_not_seen(baseline, withhold):
    found = problem(withhold=withhold)
    field = baseline(found)
    assert field.shape == found.grid.shape and np.isfinite(field).all()
    spoilt = replace(found, coarse_truth=found.coarse_truth * 0 - 999, truth=None)
    assert np.array_equal(baseline(spoilt), field)


def test_constant_reaggregates_to_what_was_seen():
    found = problem(withhold=0.4)
    field = constant(found)
    assert np.allclose(reaggregate(found, field)[found.observed], found.coarse[found.observed])
    assert set(np.round(field.ravel(), 9)) <= set(np.round(found.coarse[found.observed], 9))


@pytest.mark.parametrize("withhold", [0.0, 0.4])
def test_planes_are_exact_between_the_centres(withhold):
    found = problem(linear_region(), withhold=withhold)
    # the area-weighted mean of a plane is not the value at the middle of a cell: use the plane there
    plane = 2 * found.coarse_grid.latitude - 0.5 * found.coarse_grid.longitude + 280
    found = replace(found, coarse=np.where(found.observed, plane, np.nan))
    seen = found.coarse_grid.latitude[found.observed], found.coarse_grid.longitude[found.observed]
    y, x = found.grid.latitude, found.grid.longitude
    inside = (y > seen[0].min() + 8) & (y < seen[0].max() - 8) & (x > seen[1].min() + 12) & (x < seen[1].max() - 12)
    expected = 2 * y - 0.5 * x + 280
    assert inside.sum() > 50
    for baseline in (bilinear, bicubic):
        assert np.abs(baseline(found) - expected)[inside].max() < 1e-6


@pytest.mark.parametrize("withhold", [0.0, 0.4])
@pytest.mark.parametrize("baseline", [bilinear, bicubic])
def test_no_step_at_the_seam_of_a_global_field(baseline, withhold):
    x = np.arange(0, 360, 5.0)
    data = rectilinear(np.linspace(-87.5, 87.5, 36), x)
    data["t"] = data.t + 0.01 * data.orog  # the smooth part only
    field = baseline(problem(data, block=(4, 4), withhold=withhold))
    steps = np.abs(np.diff(np.hstack([field, field[:, :1]]), axis=1))
    assert steps[:, -1].max() < 1.5 * steps[:, :-1].max() + 1e-9
    turned = rectilinear(data.lat.values, x - 180)
    turned["t"] = turned.t + 0.01 * turned.orog
    if not withhold:
        other = baseline(problem(turned, block=(4, 4), withhold=0.0))
        assert np.allclose(np.roll(other, 36, axis=1)[4:-4], field[4:-4], atol=1e-6)


def test_other_grids():
    found = make_problem(fields(rotated_dataset()), DownscalingSpec("t", ("h",), block=(5, 5)))
    for baseline in ALL:
        field = baseline(found)
        assert np.isfinite(field).all() and field.max() <= np.nanmax(found.coarse) + 2


def test_explained_share_of_a_known_mixture():
    rng = np.random.default_rng(0)
    data = region()
    height = rng.standard_normal((36, 48))
    for weight in (0.0, 0.5, 0.9):
        noise = rng.standard_normal((36, 48))
        data.orog.values[:] = height
        data.t.values[:] = np.sqrt(weight) * height + np.sqrt(1 - weight) * noise + 5.0
        share = explained_share(problem(data, block=(4, 6)))
        assert share.basis == "truth" and share.share == pytest.approx(weight, abs=0.12)
        assert ("expect little" in share.sentence) == (weight == 0.0)
    without = replace(problem(), truth=None)
    assert (
        explained_share(without).basis == "coarse"
        and "There is no high-resolution truth" in explained_share(without).sentence
    )
    assert explained_share(problem(covariates=())).share == 0


def test_explained_share_equals_a_regression_with_cell_dummies():
    data = rectilinear(np.linspace(-60, 70, 36), np.arange(48.0))
    found = problem(data, covariates=("orog", "q"))
    cell, truth = found.cell.ravel(), found.truth.ravel()
    dummies = (cell[:, None] == np.arange(72)).astype(float)
    root = np.sqrt(found.grid.area.ravel())[:, None]
    columns = np.column_stack([data.orog.values.ravel(), data.q.values.ravel()])

    def residual(matrix):
        weighted = root * matrix
        fit = np.linalg.lstsq(weighted, root[:, 0] * truth, rcond=None)[0]
        return np.sum((root[:, 0] * truth - weighted @ fit) ** 2)

    expected = 1 - residual(np.column_stack([dummies, columns])) / residual(dummies)
    assert explained_share(found).share == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("withhold", [0.0, 0.3])
def test_the_lapse_rate_of_a_plane_with_mountains_is_found(withhold):
    data = plane()
    data.t.values[:] -= 6.5 * data.orog.values
    spec = DownscalingSpec("t", ("orog",), block=(4, 4), withhold=withhold, matching="direct")
    problem = make_problem(fields(data), spec)
    found, error = lapse_rate(problem), bilinear(problem) - problem.truth
    inner = np.s_[2:-2, 2:-2] if withhold == 0 else np.s_[8:-8, 8:-8]
    assert np.abs(found - problem.truth)[inner].max() < 0.05 * np.abs(error)[inner].max()
    hidden = replace(problem, truth=None, coarse_truth=np.full_like(problem.coarse_truth, np.nan))
    assert np.array_equal(lapse_rate(hidden), found)


def test_no_lapse_rate_without_a_temperature_over_an_orography():
    data = fields(plane())
    given = DownscalingSpec("t", ("orog",), block=(4, 4))
    assert lapse_rate(make_problem(data, given)) is not None
    assert lapse_rate(make_problem(data, replace(given, matching="indirect", withhold=0.5))) is None
    assert lapse_rate(make_problem(data, replace(given, covariates=()))) is None
    assert lapse_rate(replace(make_problem(data, given), units="mm")) is None
