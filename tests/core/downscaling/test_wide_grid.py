"""A model's grid continued over a store's: the place of every pixel, and the same posterior as pair by pair."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.datasets.atmosphere import make_atmosphere
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.stores.stored_model import condition_on_problem
from deconditioning.downscaling.stores.wide_grid import widen
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.grid import make_grid
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.spec import DownscalingSpec

SPEC = DownscalingSpec.from_dict({
    "target": "cloud_top_temperature", "covariates": ("total_cloud_cover", "cloud_albedo"),
    "mediators": ("cloud_top_pressure",), "block": (6, 7),
})  # fmt: skip
UNITS, CPU = ("%", "1"), torch.device("cpu")
REGION = {"latitude": slice(10, 36), "longitude": slice(20, 61)}


@pytest.mark.parametrize("part", [{}, REGION])
@pytest.mark.parametrize("store", [{}, {"latitude": slice(3, 29), "longitude": slice(5, 50)}])
def test_a_store_wider_or_smaller_than_the_cells_is_read_exactly_and_fast(part, store):
    """Cells of 6 × 7 leave rows and columns of either planet over; second route: the same pixels without a place."""
    planet = make_atmosphere((40, 80), seed=0)
    problem = make_problem(fields_from_dataset(planet.isel(part)), SPEC)
    there = fields_from_dataset(make_atmosphere((40, 80), seed=1).isel({**part, **({} if part else store)}))
    grid = there.grid
    given = condition_on_problem(problem, DownscaleSettings(learn=False, device="cpu"), UNITS, CPU, grid)
    assert problem.grid.shape != grid.shape and given.sums is not None and given.sums.placed
    window = slice(grid.shape[0] - 12, grid.shape[0]), slice(0, grid.shape[1])
    kept = np.arange(12 * grid.shape[1]).reshape(12, -1) % 5 > 0
    values = np.stack([there.values(name)[window][kept] for name in SPEC.covariates], axis=1)
    inputs = given.inputs(grid.latitude[window][kept], grid.longitude[window][kept], values)
    found, slow = given.read(inputs, given.cells(*window, kept)), given.read(inputs)
    assert found.directly == 0 and slow.directly == len(inputs)
    assert np.abs(found.sd_latent - slow.sd_latent).max() < 1e-8
    assert np.abs(found.predictive.mean - slow.predictive.mean).max() < 1e-8
    assert np.abs(found.predictive.sd - slow.predictive.sd).max() < 1e-8


def test_columns_of_either_side_of_a_seam_are_one_grid():
    y = np.linspace(-60, 60, 13)
    own = make_grid("latlon", y, np.arange(-180, 170, 10.0), wraps=True)  # one column short of the circle
    east = make_grid("latlon", y[2:5], np.arange(150, 220, 10.0))
    wide = widen(own, east)
    assert wide is not None and wide.shape == (13, 36) and wide.corner == (0, 0)
    assert wide.rows.tolist() == [2, 3, 4] and wide.columns.tolist() == [33, 34, 35, 0, 1, 2, 3]
    region = make_grid("latlon", y, np.arange(0, 100, 10.0))
    wide = widen(region, make_grid("latlon", y, np.arange(340, 480, 10.0)))
    assert wide is not None and wide.corner == (0, 2) and wide.columns.tolist() == list(range(14))


def test_other_grids_are_none():
    own = make_grid("latlon", np.linspace(-60, 60, 13), np.arange(0, 100, 10.0))
    assert widen(own, make_grid("latlon", np.linspace(-60, 60, 13), np.arange(2, 102, 10.0))) is None
    assert widen(own, make_grid("latlon", np.linspace(-60, 60, 12), np.arange(0, 100, 10.0))) is None
    assert widen(own, replace(own, mapping={"grid_mapping_name": "rotated"})) is None
