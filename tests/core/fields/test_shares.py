"""Pixels across the edges of cells: shares of area against a finer lattice, and a posterior against dense algebra."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as some

from deconditioning.bag_sums.pixel_sums import picture_sums
from deconditioning.downscaling.checks.one_scale_up import one_scale_up
from deconditioning.downscaling.prediction import picture_of, predict, predict_tiled
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.errors import never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.grids.grid import Grid, make_grid
from deconditioning.fields.grids.interpolate import locate
from deconditioning.fields.grids.pixel_shares import Shares, shares_between
from deconditioning.fields.grids.regridding import cover
from deconditioning.fields.problem.baselines import constant
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.tiles import evaluate
from tests.anything import seeds


def between(y_edges: np.ndarray, x_edges: np.ndarray, **more) -> Grid:
    y, x = (0.5 * (e[:-1] + e[1:]) for e in (y_edges, x_edges))
    return make_grid("latlon", y, x, edges=(y_edges, x_edges), **more)


def means_by_a_finer_lattice(fine: Grid, cells: Grid, values: np.ndarray) -> np.ndarray:
    """Cell means over the pieces that all edges of both grids cut, each of which lies in one pixel and one cell."""
    y, x = (
        np.unique(np.concatenate(both))
        for both in ((fine.y_edges, cells.y_edges), (fine.x_edges, cells.x_edges))
    )  # fmt: skip
    rows, columns = (0.5 * (e[:-1] + e[1:]) for e in (y, x))
    area = np.outer(np.diff(np.sin(np.deg2rad(y))), np.diff(x))
    latitude, longitude = np.meshgrid(rows, columns, indexing="ij")
    pixel, cell = locate(fine, latitude, longitude), locate(cells, latitude, longitude)
    both = (pixel >= 0) & (cell >= 0)
    mass = np.bincount(cell[both], (area * values.flat[pixel])[both], cells.area.size)
    with np.errstate(invalid="ignore"):
        return mass / np.bincount(cell[both], area[both], cells.area.size)


edges = some.lists(some.floats(0.3, 2.0), min_size=3, max_size=12)
edges_of_both = some.tuples(edges, edges)


@settings(max_examples=40)
@given(
    some.tuples(edges, edges),
    some.tuples(edges, edges),
    some.tuples(some.floats(-60, 50), some.floats(-170, 150)),
    seeds,
)
def test_cell_means_are_those_over_a_finer_lattice(fine, coarse, corner, seed) -> None:
    one, other = (
        between(corner[0] + np.cumsum(y), corner[1] + np.cumsum(x))
        for y, x in (fine, (np.multiply(2, c) for c in coarse))
    )
    values = np.random.default_rng(seed).standard_normal(one.shape)
    shares = shares_between(one, other)
    expected = means_by_a_finer_lattice(one, other, values)
    covered, _ = shares.valid_area(np.ones(one.shape, dtype=bool), one.area)
    assert ((covered > 0) <= np.isfinite(expected)).all()
    there = covered > 0
    means = shares.mean(values, one.area)
    assert np.abs(means - expected)[there].max(initial=0) < 0.03 * np.ptp(values)  # half a percent of a pixel is none
    sums = np.bincount(shares.pixel, shares.fraction, one.area.size)
    assert sums.max(initial=0) < 1.011 and shares.fraction.min(initial=1) > 0


def test_means_are_exact_and_a_pixel_belongs_to_four_cells() -> None:
    fine, cells = (
        between(np.arange(40, 46.1, 0.25) - 0.1, np.arange(5, 11.1, 0.25) - 0.07),
        between(np.arange(41, 46.0), np.arange(6, 11.0)),
    )
    values = np.random.default_rng(0).standard_normal(fine.shape)
    shares = shares_between(fine, cells)
    assert np.allclose(shares.mean(values, fine.area), means_by_a_finer_lattice(fine, cells, values), atol=1e-12)
    assert np.bincount(shares.pixel).max() == 4
    ramp = np.broadcast_to(np.sin(np.deg2rad(fine.y))[:, None], fine.shape)
    middle = 0.5 * (np.sin(np.deg2rad(cells.y_edges[1:])) + np.sin(np.deg2rad(cells.y_edges[:-1])))
    assert np.abs(shares.mean(ramp, fine.area).reshape(cells.shape) - middle[:, None]).max() < 2e-4


@pytest.mark.parametrize("turn", [0.0, 137.0, 180.0])
def test_the_whole_sphere_is_shared_out_across_the_seam(turn) -> None:
    fine = between(np.linspace(-90, 90, 37), np.linspace(0, 360, 73), wraps=True)
    cells = between(np.linspace(-90, 90, 8), turn + np.linspace(-182, 178, 14), wraps=True)
    shares = shares_between(fine, cells)
    assert np.allclose(np.bincount(shares.pixel, shares.fraction, fine.area.size), 1, atol=0.02)
    covered = shares.valid_area(np.ones(fine.shape, dtype=bool), fine.steradians())[0]
    assert np.allclose(covered, cells.steradians().ravel(), rtol=0.02)


def test_where_no_pixel_crosses_an_edge_every_pixel_is_whole() -> None:
    fine = between(np.linspace(40, 46, 49), np.linspace(5, 12, 57))
    for kind in (float, np.float32):  # edges that single precision rounds cross nothing
        cells = between(
            np.linspace(40, 46, 7).astype(kind).astype(float) + (kind is np.float32) * 1e-6, np.linspace(5, 12, 8)
        )
        shares, whole = shares_between(fine, cells), Shares.whole(locate(cells, fine.latitude, fine.longitude), 42)
        for name in ("pixel", "cell", "fraction"):
            assert np.array_equal(getattr(shares, name), getattr(whole, name))
        assert not shares.split


def files(seed: int = 0, ramp: bool = False):
    """Quarter-degree points whose values are known, and their exact means over whole-degree cells."""
    y, x = np.arange(40, 48.01, 0.25), np.arange(0, 9.01, 0.25)
    fine = make_grid("latlon", y, x)
    height = np.random.default_rng(seed).standard_normal(fine.shape)
    values = 270 + (fine.latitude if ramp else 2 * height + np.sin(fine.longitude))
    cells = make_grid("latlon", np.arange(41, 48.0), np.arange(1, 9.0))
    coarse = means_by_a_finer_lattice(fine, cells, values).reshape(cells.shape)
    units = {"lat": {"units": "degrees_north"}, "lon": {"units": "degrees_east"}}
    high = xr.Dataset({"orog": (("lat", "lon"), height), "true": (("lat", "lon"), values)}, {"lat": y, "lon": x})
    low = xr.Dataset({"t": (("lat", "lon"), coarse, {"units": "K"})}, {"lat": cells.y, "lon": cells.x})
    for data in (high, low):
        for name, attributes in units.items():
            data[name].attrs |= attributes
    return fields_from_dataset(high), fields_from_dataset(low), values


pytestmark = pytest.mark.usefixtures("short_chain")

SPEC = DownscalingSpec("t", ("orog",), (), (4, 4), 0.0)


def problem(**changes):
    high, low, _ = files()
    return make_problem_from_files(high, low, None, replace(SPEC, **changes))


def test_bags_weigh_pixels_by_their_shares() -> None:
    """The bag means of the truth are the targets, and so are those of what is averaged back."""
    high, low, values = files()
    found = make_problem_from_files(high, low, None, SPEC)
    bags = found.data.bags
    truth = torch.as_tensor(values.flat[found.pixel[found.bag_pixel]])
    assert np.allclose(bags.mean(truth), found.coarse.flat[found.target_cell], atol=1e-10)
    assert np.allclose(reaggregate(found, values)[found.observed], found.coarse[found.observed], atol=1e-10)
    assert torch.equal(found.inputs[found.bag_pixel], bags.inputs)
    assert len(np.unique(found.bag_pixel)) < len(found.bag_pixel)
    assert any("pixels straddle the edges" in note for note in found.notes)


def test_a_ramp_of_one_kelvin_a_degree_is_not_moved() -> None:
    high, low, values = files(ramp=True)
    found = downscale(make_problem_from_files(high, low, None, SPEC), {"learn": False})
    inner = (slice(6, -6), slice(6, -6))
    assert abs(np.mean((found.mean - values)[inner])) < 1e-3  # half a pixel is 0.125 K


@pytest.mark.parametrize("model", ["area_to_point_gp", "bag_gp", "shrinkage_cmp"])
def test_the_posterior_is_that_of_dense_algebra_whatever_the_route(model) -> None:
    found = problem(region=(0, 2, 0, 3))
    spec = starting_spec(found, DownscaleSettings(model, point_noise=0.0, local_scale=False))
    data, rows = found.data, found.bag_pixel
    average = torch.zeros(data.bags.count, len(found.pixel), dtype=torch.float64)
    average[data.bags.bag, torch.as_tensor(rows)] = data.bags.weights
    k = evaluate(spec.kernel.build(found.columns), found.inputs, found.inputs).detach()
    cross, gram = average @ k, average @ k @ average.T
    picture = picture_of(found)
    for layout in (picture.layout, None):
        sums = picture_sums(spec.kernel, replace(picture, layout=layout))
        assert torch.allclose(sums.cross.at(slice(None)), cross, atol=1e-10)
        assert torch.allclose(sums.gram, gram, atol=1e-10)
    one, other = predict(spec, data, found), predict_tiled(spec, data, found, found.inputs)
    assert torch.allclose(one.mean, other.mean, atol=1e-8) and torch.allclose(one.sd, other.sd, atol=1e-6)
    if model == "area_to_point_gp":
        mean = (
            cross.T @ torch.linalg.solve(gram + spec.noise * torch.eye(len(gram)), data.targets - spec.mean) + spec.mean
        )
        assert torch.allclose(one.mean, mean, atol=1e-7)


def test_cells_through_mediators_have_footprints_by_shares() -> None:
    high, low, values = files()
    with_mediator = fields_from_dataset(low.dataset.assign(q=low.dataset.t**2))
    fine = fields_from_dataset(high.dataset.assign(q=high.dataset.true**2))
    found = make_problem_from_files(fine, with_mediator, None, replace(SPEC, mediators=("q",)))
    assert not found.matched and found.data.footprints is not None
    rows = found.shares.bags(found.target_cell, found.pixel, found.grid.area.size)[0]
    cut = values[: found.grid.shape[0], : found.grid.shape[1]]  # whole blocks
    truth = torch.as_tensor(cut.flat[found.pixel[rows]])
    there = np.ones(found.grid.shape, dtype=bool)
    inner = cover(found.grid, there, found.shares, found.coarse_grid)[found.target_cell] > 0.9999
    assert 20 < inner.sum()
    assert np.allclose(
        found.data.footprints.mean(truth)[inner], found.coarse.flat[found.target_cell][inner], atol=1e-10
    )
    assert one_scale_up(found, DownscaleSettings("partial_cmp", learn=False, steps=1), never) is not None


def test_a_region_is_the_whole_cut_to_it() -> None:
    whole, part = problem(), problem(region=(1, 4, 2, 6))
    cells = (np.arange(1, 5)[:, None] * whole.coarse_shape[1] + np.arange(2, 7)).ravel()
    field = np.random.default_rng(3).standard_normal(whole.grid.shape)
    rows, columns = (
        slice(int(np.abs(w - p[0]).argmin()), int(np.abs(w - p[-1]).argmin()) + 1)
        for w, p in ((whole.grid.y, part.grid.y), (whole.grid.x, part.grid.x))
    )
    assert np.allclose(reaggregate(part, field[rows, columns]).ravel(), reaggregate(whole, field).flat[cells])


def test_a_pixel_between_cells_of_constants_has_their_mean() -> None:
    found = problem()
    mean = constant(found)
    at = np.argwhere((found.grid.latitude == 43.5) & (found.grid.longitude == 4.0))[0]
    above, below = (found.coarse[np.abs(found.coarse_grid.y - y).argmin(), 3] for y in (44, 43))
    assert mean[tuple(at)] == pytest.approx(0.5 * (above + below), abs=1e-2)


def test_learning_and_the_check_one_scale_up_take_them() -> None:
    found = downscale(problem(withhold=0.2), {"model": "area_to_point_gp", "steps": 3})
    assert found.coarse_scores["seen"]["rmse"] < 0.05
    assert found.diagnostics["one_scale_up"]["cells"] > 8
