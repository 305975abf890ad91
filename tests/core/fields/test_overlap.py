"""Conservative means between grids: against ``cdo remapcon``, what is conserved, and when there is interpolation."""

import json

import numpy as np
import pytest

from deconditioning.fields.grids.grid import make_grid
from deconditioning.fields.grids.overlap import overlap, same_grid
from deconditioning.fields.grids.regridding import sample
from tests.core.fields.remapcon.cases import CASES, GRIDS, NUMBERS, field, lines

MEANS = json.loads(NUMBERS.read_text(encoding="utf-8"))["means"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(map(str, case)))
def test_means_are_those_of_cdo(case):
    source, onto, holes = case
    values, grid = field(GRIDS[source], holes), GRIDS[onto]
    wanted = np.array(MEANS[f"{source} {onto}{' holes' if holes else ''}"], dtype=float)
    found, how = sample(GRIDS[source], values, grid)
    found = found.reshape(grid.shape)
    assert how == "its mean over each cell, weighted by overlap"
    there = np.isfinite(found)
    assert there.sum() >= 0.6 * there.size and np.isfinite(wanted[there]).all()
    assert np.abs(found - wanted)[there].max() < 1e-3 * np.nanstd(values)
    # cells that lie under valid ones by less than half are missing here, and only these
    shared = overlap(GRIDS[source], grid)
    assert shared is not None
    share = (shared.shared @ np.isfinite(values).ravel()) / shared.whole
    assert np.array_equal(there.ravel(), share >= 0.5 * (1 - 1e-9)) and share.max() < 1 + 1e-6


@pytest.mark.parametrize(("source", "onto"), [("fine", "coarse"), ("globe", "turned"), ("globe", "cells")])
def test_every_cell_inside_is_covered_once(source, onto):
    shared = overlap(GRIDS[source], GRIDS[onto])
    assert shared is not None
    assert np.asarray(shared.shared.sum(axis=1)).ravel() == pytest.approx(shared.whole, rel=1e-6)
    values = field(GRIDS[source], False)
    means = shared.mean(values)
    if source == "globe" and onto == "turned":  # what the globe holds is conserved
        total = (GRIDS[source].steradians() * values).sum()
        assert (GRIDS[onto].steradians().ravel() * means).sum() == pytest.approx(total, rel=1e-10)


def test_a_finer_grid_is_interpolated_and_the_same_one_is_taken_as_it_is():
    plane = 2 * GRIDS["coarse"].latitude + GRIDS["coarse"].longitude
    at = make_grid("latlon", lines(38, 58, 0.5), lines(-5, 30, 0.5))
    found, how = sample(GRIDS["coarse"], plane, at)
    assert how == "its bilinear interpolation at each cell's centre"
    assert found == pytest.approx((2 * at.latitude + at.longitude).ravel())
    again, how = sample(GRIDS["coarse"], plane, make_grid("latlon", lines(34, 62, 3.5), lines(-10, 35, 4.5)))
    assert how == "its own values" and np.array_equal(again, plane.ravel())
    assert not same_grid(GRIDS["coarse"], GRIDS["fine"]) and not same_grid(GRIDS["coarse"], GRIDS["cells"])


def test_between_the_centres_of_a_curvilinear_grid_it_is_linear():
    grid = GRIDS["plates"]
    at = make_grid("latlon", lines(44, 50, 0.25), lines(4, 12, 0.25))
    found, how = sample(grid, 3 * grid.latitude, at)
    assert how == "its interpolation at each cell's centre" and np.isfinite(found).mean() > 0.6
    there = np.isfinite(found)
    assert np.abs(found - 3 * at.latitude.ravel())[there].max() < 0.15  # 2.4° cells, seen from above
    lost = 3 * grid.latitude
    lost[3, 4] = np.nan
    assert np.isfinite(sample(grid, lost, at)[0]).sum() < there.sum()


def test_means_between_two_curvilinear_grids_are_by_their_outlines():
    values = field(GRIDS["sheet"], False)
    means, how = sample(GRIDS["sheet"], values, GRIDS["plates"])
    assert how == "its mean over each cell, weighted by overlap"
    assert np.isfinite(means).sum() > 20
    constant = sample(GRIDS["sheet"], np.full(values.shape, 7.0), GRIDS["plates"])[0]
    assert constant[np.isfinite(means)] == pytest.approx(7)
    shared = overlap(GRIDS["sheet"], GRIDS["plates"])
    covered = np.asarray(shared.shared.sum(axis=1)).ravel()
    whole = covered > 0.999 * shared.whole
    assert covered[whole] == pytest.approx(shared.whole[whole], rel=1e-6)
