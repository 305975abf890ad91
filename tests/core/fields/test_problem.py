"""Way (a): what the model sees, what it must not see, and what is refused."""

import numpy as np
import pytest
import torch

from deconditioning.errors import InputError
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.samples import fields, rectilinear, region, rotated_dataset

SPEC = {"target": "t", "covariates": ("orog",), "block": (4, 6)}


def problem(data=None, **changes):
    return make_problem(fields(region() if data is None else data), DownscalingSpec(**{**SPEC, **changes}))


def test_direct_bags_are_the_cells_with_a_target():
    found = problem(withhold=0.25, seed=3)
    assert found.coarse_shape == (9, 8) and found.matched and found.data.matched
    assert found.data.query_mediators is found.data.mediators
    assert found.observed.sum() == len(found.target_cell) == 54
    assert np.array_equal(found.bag_cell, found.target_cell)
    assert np.isnan(found.coarse[~found.observed]).all() and np.isfinite(found.coarse_truth).all()
    assert np.allclose(found.target_scale.backward(found.data.targets.numpy()), found.coarse[found.observed])
    assert found.data.targets.mean() == pytest.approx(0, abs=1e-12)
    assert found.data.targets.std(correction=0) == pytest.approx(1)


def test_indirect_bags_are_the_withheld_cells():
    found = problem(mediators=("q",), withhold=0.5)
    assert not found.matched and not set(found.bag_cell) & set(found.target_cell)
    assert len(found.bag_cell) + len(found.target_cell) == 72
    assert found.columns == ("latitude", "longitude", "orog") and found.mediator_columns == (
        "latitude",
        "longitude",
        "q",
    )
    both = torch.cat([found.data.mediators, found.data.query_mediators])[:, 2]
    assert both.mean() == pytest.approx(0, abs=1e-12) and both.std(correction=0) == pytest.approx(1)


@pytest.mark.parametrize("changes", [{}, {"mediators": ("q",)}])
def test_rows_of_a_bag_are_its_pixels_in_order(changes):
    found = problem(**changes)
    bags = found.data.bags
    for j in (0, 5, bags.count - 1):
        rows = found.bag_pixel[bags.bag == j]
        assert torch.equal(found.inputs[rows], bags.inputs[bags.bag == j]) and (np.diff(rows) > 0).all()
        assert np.array_equal(found.cell.flat[found.pixel[rows]], np.full(24, found.bag_cell[j]))
    assert bags.mean(torch.ones(len(bags.inputs), 1, dtype=torch.float64)) == pytest.approx(1)


def test_bag_means_of_the_truth_are_the_targets():
    found = problem(rectilinear(np.linspace(-70, 80, 36), np.arange(48.0)))  # weights matter here
    bags = found.data.bags
    truth = torch.as_tensor(found.truth.flat[found.pixel[found.bag_pixel]])
    assert np.allclose(bags.mean(truth), found.coarse.flat[found.target_cell], atol=1e-9)
    assert np.allclose(reaggregate(found, found.truth), found.coarse_truth)
    unweighted = found.truth.reshape(9, 4, 8, 6).mean(axis=(1, 3))
    assert np.abs(unweighted - found.coarse_truth).max() > 0.01


def test_scaling_sees_only_the_bags():
    data = region()
    base = problem(data, withhold=0.5, seed=1)
    hidden = np.isin(base.cell, np.setdiff1d(np.arange(72), base.bag_cell))
    changed = data.copy(deep=True)
    changed.orog.values[hidden] = 9e4
    changed.t.values[hidden] = 400.0
    other = problem(changed, withhold=0.5, seed=1)
    assert other.target_scale == base.target_scale
    assert torch.equal(other.data.bags.inputs, base.data.bags.inputs) and torch.equal(
        other.data.targets, base.data.targets
    )


def test_one_scale_for_all_coordinates():
    found = problem(mediators=("q",))
    inputs, grid = found.inputs.numpy()[:, :2], found.grid
    rows = grid.y[found.pixel // 48], grid.x[found.pixel % 48]
    slope = [np.polyfit(position, column, 1)[0] for position, column in zip(rows, inputs.T, strict=True)]
    assert slope[0] == pytest.approx(slope[1])
    # a coarse coordinate is the mean of its pixels' coordinates, on the same scale
    means = found.data.bags.mean(found.data.bags.inputs[:, 1])
    assert np.allclose(means, found.data.mediators[:, 1], atol=1e-9)


def test_global_fields_sit_on_the_sphere():
    data = rectilinear(np.linspace(-87.5, 87.5, 36), np.arange(0, 360, 5.0))
    found = problem(data, block=(4, 6))
    assert found.columns[:3] == ("sphere_x", "sphere_y", "sphere_z")
    x = found.inputs.numpy().reshape(36, 72, -1)[18, :, :3]
    steps = np.linalg.norm(np.diff(np.vstack([x, x[:1]]), axis=0), axis=1)
    assert np.allclose(steps, steps[0])  # no jump at the seam


def test_rotated_fields_use_their_own_coordinates():
    found = make_problem(fields(rotated_dataset()), DownscalingSpec("t", ("h",), block=(5, 5)))
    assert found.columns == ("grid_latitude", "grid_longitude", "h") and found.grid.shape == (30, 40)
    assert any("cropped to 30 × 40" in note for note in found.notes)


def test_missing_pixels_and_cells():
    data = region()
    data.t.values[:4, :3] = np.nan  # half of cell 0: still there
    data.t.values[4:8, :4] = np.nan  # two thirds of cell 8: missing
    data.orog.values[8:12, :5] = np.nan  # no bag at cell 16, and no prediction there
    found = problem(data, withhold=0.0)
    assert np.isfinite(found.coarse_truth[0, 0]) and np.isnan(found.coarse_truth[1, 0])
    assert 16 not in found.bag_cell and len(found.bag_cell) == 70 and found.inputs.shape[0] == 36 * 48 - 20
    field = found.physical_mean(torch.zeros(len(found.pixel)))
    assert np.isnan(field[9, 2]) and np.nanmax(np.abs(field - found.target_scale.mean)) < 1e-9
    assert np.nanmax(found.physical_sd(np.ones(len(found.pixel)))) == pytest.approx(found.target_scale.sd)
    assert any("1 of 72 cells are missing" in n for n in found.notes) and any(
        "20 pixels lack" in n for n in found.notes
    )


def test_seed_and_withheld_fraction():
    one, two, three = (problem(withhold=0.3, seed=s) for s in (0, 0, 1))
    assert np.array_equal(one.observed, two.observed) and not np.array_equal(one.observed, three.observed)
    assert (~one.observed).sum() == round(0.3 * 72)


def test_only_coordinates_and_no_coordinates():
    assert problem(covariates=()).columns == ("latitude", "longitude")
    found = problem(coordinates=False, mediators=("q",))
    assert found.columns == ("orog",) and found.mediator_columns == ("q",)
    assert problem(coordinates=False).matched


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"covariates": ("t",)}, "is among the covariates"),
        ({"mediators": ("t",)}, "is among the mediators"),
        ({"covariates": ("orog", "orog")}, "twice"),
        ({"covariates": ("none",)}, "no variable `none`"),
        ({"block": (40, 4)}, "larger than the grid of 36 × 48"),
        ({"block": (12, 24)}, "Only 3 coarse cells"),
        ({"block": (1, 1)}, "too small"),
        ({"block": "ab"}, "whole numbers"),
        ({"withhold": 1.0}, "`withhold` is 1"),
        ({"withhold": "much"}, "must be a number"),
        ({"matching": "both"}, "'direct' or 'indirect'"),
        ({"matching": "indirect", "withhold": 0.0}, "Only 0 coarse cells have covariates"),
        ({"covariates": (), "coordinates": False}, "at least one covariate"),
        ({"matching": "indirect", "coordinates": False}, "needs a mediator"),
        ({"seed": -1}, "`seed` is -1"),
    ],
)
def test_wrong_settings_are_one_sentence(changes, words):
    with pytest.raises(InputError, match=words) as error:
        problem(**changes)
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["t", "orog", "q"])
def test_constant_fields_are_named(name):
    data = region()
    data[name].values[:] = 273.15
    with pytest.raises(InputError, match=f"`{name}` is constant"):
        problem(data, mediators=("q",))


def test_spec_round_trip():
    spec = DownscalingSpec("t", ["a", "b"], "m", [3, 4], select={"time": 2})
    assert spec.covariates == ("a", "b") and spec.mediators == ("m",) and spec.block == (3, 4) and spec.indirect
    import json

    assert DownscalingSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    with pytest.raises(InputError, match="Unknown setting `blok`"):
        DownscalingSpec.from_dict({"target": "t", "blok": 3})
