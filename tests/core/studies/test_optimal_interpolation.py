"""Optimal interpolation, the peer by gridpp: what it needs, and its limits."""

import sys

import numpy as np
import pytest

from deconditioning.datasets.entries import find
from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.studies.downscaling import optimal_interpolation as module
from deconditioning.studies.downscaling.optimal_interpolation import optimal_interpolation


def problem(**changes: object) -> DownscalingProblem:
    entry = find("ukv-645m")
    return make_problem(entry.open(), DownscalingSpec.from_dict({**entry.default, "withhold": 0.5, **changes}))


def test_without_gridpp_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gridpp", None)
    with pytest.raises(InputError, match=r"pip install -r requirements-peers\.txt"):
        optimal_interpolation(problem())


def test_cells_matched_through_a_mediator_are_refused() -> None:
    with pytest.raises(InputError, match="match the cells directly"):
        optimal_interpolation(problem(mediators=["surface_altitude"]))


def test_length_and_sd_are_those_of_the_best_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an interpolation that adds the same to every point, the sd is the error that this leaves."""
    given = problem()
    values = given.data.targets.numpy()
    monkeypatch.setattr(module, "_gridpp", Adding)
    predictive = optimal_interpolation(given)
    names = [given.columns.index(name) for name in given.spec.covariates]
    bags = given.data.bags
    design = np.column_stack([np.ones(len(values)), bags.mean(bags.inputs[:, names])])
    slopes = np.linalg.solve(design.T @ design, design.T @ values)
    left = values - design @ slopes
    assert np.allclose(
        np.nanmax(predictive.sd), given.physical_sd(np.full(len(given.pixel), np.sqrt(np.mean(left**2)))).max()
    )
    pixels = np.column_stack([np.ones(len(given.pixel)), given.inputs[:, names].numpy()]) @ slopes
    assert np.allclose(predictive.mean, given.physical_mean(pixels), equal_nan=True)


class Adding:
    """In place of gridpp: observations change nothing."""

    Points = staticmethod(lambda *position: position)
    BarnesStructure = staticmethod(lambda *lengths: lengths)
    optimal_interpolation = staticmethod(lambda at, before, *others: before)


def test_the_interpolation_follows_cells_without_error() -> None:
    """With covariates that tell nothing, the map at a cell's centre is near the cell's value."""
    pytest.importorskip("gridpp", reason="gridpp, of requirements-peers.txt, is not installed")
    given = problem(withhold=0.0)
    mean = optimal_interpolation(given).mean
    rows, columns = np.array(given.coarse_shape)
    block = given.grid.shape[0] // rows, given.grid.shape[1] // columns
    centres = mean[block[0] // 2 :: block[0], block[1] // 2 :: block[1]][:rows, :columns]
    assert np.corrcoef(centres.ravel(), given.coarse.ravel())[0, 1] > 0.9
