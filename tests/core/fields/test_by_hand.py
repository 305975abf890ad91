"""Cells hidden, revealed and kept by hand: the problem is the one that other data make without a hand."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.errors import InputError
from deconditioning.fields.problem.cells import cells_of_text, cells_text
from deconditioning.fields.problem.coarsened import cells_of_fields, make_problem
from deconditioning.fields.problem.map_selection import cell_at, is_withheld, region_touched, toggled
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.samples import fields, rectilinear, region, rotated_dataset
from tests.core.fields.test_pair import split

SPEC = DownscalingSpec("t", ("orog",), block=(4, 6), withhold=0.25, seed=3)  # 9 × 8 cells
INDIRECT = replace(SPEC, mediators=("q",))
BOX = (1, 6, 2, 7)
PIXELS = {"lat": slice(4, 28), "lon": slice(12, 48)}


def alike(one, two) -> None:
    """The same for a model and for a map, but for the rounding of areas."""
    for name in ("observed", "cell", "pixel", "bag_pixel", "bag_cell", "target_cell"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    for name in ("coarse", "coarse_truth"):
        assert np.allclose(getattr(one, name), getattr(two, name), rtol=1e-12, equal_nan=True), name
    for name in ("mediators", "query_mediators", "targets"):
        assert torch.allclose(getattr(one.data, name), getattr(two.data, name), rtol=1e-9, atol=1e-11), name
    assert torch.equal(one.data.bags.inputs, two.data.bags.inputs) and torch.equal(one.inputs, two.inputs)
    assert torch.allclose(one.data.bags.weights, two.data.bags.weights, rtol=1e-12)
    assert one.input_scaling == two.input_scaling and one.columns == two.columns
    assert one.target_scale.mean == pytest.approx(two.target_scale.mean, rel=1e-12)
    assert one.target_scale.sd == pytest.approx(two.target_scale.sd, rel=1e-10)
    assert np.allclose(one.grid.area, two.grid.area, rtol=1e-12)


@pytest.mark.parametrize("spec", [SPEC, INDIRECT], ids=["direct", "indirect"])
def test_hidden_and_revealed_by_hand_are_as_if_drawn(spec):
    drawn = make_problem(fields(region()), spec)
    every = {tuple(map(int, cell)) for cell in np.argwhere(drawn.drawn)}
    assert len(every) == 18 and all(is_withheld(drawn, cell) for cell in every)
    by_hand = make_problem(fields(region()), replace(spec, withhold=0.0, hide=tuple(every)))
    alike(drawn, by_hand)
    other = make_problem(fields(region()), replace(spec, seed=4))
    wanted = {tuple(map(int, cell)) for cell in np.argwhere(other.drawn)}
    turned = make_problem(fields(region()), replace(spec, hide=tuple(wanted - every), reveal=tuple(every - wanted)))
    alike(other, turned)
    assert turned.hidden == 18 and np.array_equal(turned.drawn, drawn.drawn)


def test_scales_do_not_know_what_is_hidden_by_hand():
    spec = replace(SPEC, withhold=0.0, hide=((2, 3), (5, 5)))
    base, data = make_problem(fields(region()), spec), region()
    inside = ~np.isin(base.cell, base.bag_cell)
    data.orog.values[inside], data.t.values[inside] = 9e4, 400.0
    other = make_problem(fields(data), spec)
    assert other.target_scale == base.target_scale and other.input_scaling == base.input_scaling
    assert torch.equal(other.data.bags.inputs, base.data.bags.inputs)
    assert torch.equal(other.data.targets, base.data.targets) and inside.sum() == 48


@pytest.mark.parametrize("spec", [SPEC, INDIRECT], ids=["direct", "indirect"])
def test_a_region_is_the_problem_of_a_file_cut_to_it(spec):
    found = make_problem(fields(region()), replace(spec, region=BOX))
    assert found.coarse_shape == (6, 6) and found.corner == (1, 2) and found.whole_shape == (9, 8)
    alike(found, make_problem(fields(region().isel(PIXELS)), spec))
    assert cells_of_fields(fields(region()), replace(spec, region=BOX)) == (9, 8)
    everything = make_problem(fields(region()), replace(spec, region=(0, 8, 0, 7)))
    alike(everything, make_problem(fields(region()), spec))


def test_a_region_of_a_whole_sphere_is_a_regional_file():
    data = rectilinear(np.linspace(-87.5, 87.5, 36), np.arange(0, 360, 5.0))
    found = make_problem(fields(data), replace(SPEC, region=(2, 7, 3, 9)))
    assert found.columns == ("latitude", "longitude", "orog"), "no longer round the sphere"
    wide = make_problem(fields(data), replace(SPEC, region=(2, 7, 0, 11)))
    assert wide.columns[0] == "sphere_x"


@pytest.mark.parametrize("matching", ["direct", "indirect"])
def test_a_region_of_two_files_is_the_problem_of_both_cut(matching):
    spec = replace(SPEC, mediators=("q",), matching=matching)
    high, low = split()
    found = make_problem_from_files(high, low, None, replace(spec, region=BOX))
    cut = fields(high.dataset.isel(PIXELS)), fields(low.dataset.isel(lat=slice(1, 7), lon=slice(2, 8)))
    alike(found, make_problem_from_files(*cut, None, spec))
    assert found.whole_shape == (9, 8) and found.corner == (1, 2)
    hidden = make_problem_from_files(high, low, None, replace(spec, region=BOX, withhold=0.0, hide=((1, 2), (0, 0))))
    assert hidden.hidden == 1 and not hidden.observed[0, 0] and hidden.observed.sum() == 35


def test_blocks_that_are_no_cells_are_kept_whole():
    """Bags of other blocks than the coarse file's cells: those that reach into the region, none is cut."""
    high, low = split()
    spec = replace(SPEC, mediators=("q",), block=(5, 8))
    found = make_problem_from_files(high, low, None, replace(spec, region=BOX))
    assert found.grid.shape == (30, 40) and found.grid.y[0] == high.grid.y[0] and found.grid.x[0] == high.grid.x[8]
    inside = found.cell >= 0
    assert inside.sum() == 24 * 36 and found.coarse_shape == (6, 6)


def test_a_region_without_a_pixel_is_a_sentence():
    south = fields(region(12, 48)[["orog", "q"]])
    _, low = split()
    spec = replace(SPEC, mediators=("q",), region=(0, 3, 0, 7))
    assert make_problem_from_files(south, low, None, spec).grid.shape == (12, 48)
    high = fields(rectilinear(-40.5 + np.arange(36), -9.5 + np.arange(48))[["orog", "q"]])
    with pytest.raises(InputError, match="No covariate pixel lies in the region"):
        make_problem_from_files(high, low, None, spec)


def test_toggling_goes_there_and_back():
    problem = make_problem(fields(region()), replace(SPEC, region=BOX))
    drawn = tuple(np.argwhere(problem.drawn)[0] + problem.corner)
    seen = tuple(np.argwhere(~problem.drawn)[0] + problem.corner)
    assert toggled(problem, drawn) == ((), (drawn,)) and toggled(problem, seen) == ((seen,), ())
    for cell in (drawn, seen):
        hide, reveal = toggled(problem, cell)
        once = make_problem(fields(region()), replace(problem.spec, hide=hide, reveal=reveal))
        assert is_withheld(once, cell) != is_withheld(problem, cell) and toggled(once, cell) == ((), ())
    drawn_otherwise = make_problem(fields(region()), replace(problem.spec, withhold=0.0, hide=(drawn,), reveal=(seen,)))
    assert toggled(drawn_otherwise, drawn) == ((), (seen,)), "what the draw would do is kept out of the lists"
    data = region()
    data.t.values[:4, :6] = np.nan
    with pytest.raises(InputError, match="0-0 has no value"):
        toggled(make_problem(fields(data), SPEC), (0, 0))


@pytest.mark.parametrize("data", [region(), rotated_dataset()], ids=["latlon", "rotated"])
def test_a_point_and_a_rectangle_find_their_cells(data):
    name = "t" if "t" in data else next(iter(data.data_vars))
    problem = make_problem(fields(data), DownscalingSpec(name, block=(4, 6), region=(1, 5, 1, 5)))
    grid, cells = problem.grid, problem.coarse_grid
    for row, column in ((0, 0), (2, 4), (4, 1)):
        assert cell_at(problem, cells.x[column], cells.y[row]) == (row + 1, column + 1)
    edges = cells.x_edges, cells.y_edges
    little = 1e-3 * np.diff(grid.x).mean()
    found = region_touched(
        problem, (edges[0][1] + little, edges[0][4] - little), (edges[1][4] - little, edges[1][1] + little)
    )
    assert found == (2, 4, 2, 4)
    more = region_touched(
        problem, (edges[0][1] - little, edges[0][4] + little), (edges[1][1] + little, edges[1][4] - little)
    )
    assert more == (2, 4, 1, 5), "cells that it only touches are kept whole"
    with pytest.raises(InputError, match="2 × 3 cells: take at least 3 × 3"):
        region_touched(problem, (edges[0][1] + little, edges[0][4] - little), (cells.y[1], cells.y[2]))
    with pytest.raises(InputError, match="does not touch any coarse cell"):
        region_touched(problem, (1e6, 2e6), (cells.y[0], cells.y[4]))


def test_settings_survive_json_and_are_what_they_were_without_a_hand():
    spec = replace(SPEC, hide=((3, 4), (1, 2), (3, 4)), reveal=((0, 7),), region=BOX)
    assert spec.hide == ((1, 2), (3, 4))
    plain = json.loads(json.dumps(spec.to_dict()))
    assert plain == spec.to_dict() and DownscalingSpec.from_dict(plain) == spec
    assert not {"hide", "reveal", "region"} & SPEC.to_dict().keys(), "settings kept before there were any stay the same"
    assert DownscalingSpec.from_dict(SPEC.to_dict()) == SPEC


def test_cells_are_written_as_text():
    cells = ((12, 3), (14, 7))
    assert cells_text(cells) == "12-3.14-7" and cells_of_text("12-3.14-7") == cells and cells_of_text(" ") == ()
    for bad in ("12", "a-b", "1-2,3-4", "-1-2", "1e3-2", "9999999-1", "١-٢"):
        with pytest.raises(InputError, match="is not a cell"):
            cells_of_text(bad)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hide": ((1, -2),)}, "`hide` must be pairs"),
        ({"hide": ((1.5, 2),)}, "`hide` must be pairs"),
        ({"reveal": "12-3"}, "`reveal` must be pairs"),
        ({"reveal": 7}, "`reveal` must be pairs"),
        ({"hide": ((float("inf"), 2),)}, "`hide` must be pairs"),
        ({"hide": ((1, 2),), "reveal": ((1, 2),)}, "1-2 is both hidden and revealed"),
        ({"hide": ((9, 0),)}, "no cell 9-0: the field has 9 × 8 cells"),
        ({"reveal": ((0, 8),)}, "no cell 0-8"),
        ({"region": (1, 2, 3)}, "`region` must be four"),
        ({"region": (1, 2.5, 3, 6)}, "`region` must be four"),
        ({"region": (0, 1, 0, 7)}, "2 × 8 cells: take at least 3 × 3"),
        ({"region": (5, 1, 0, 7)}, "0 × 8 cells"),
        ({"region": (0, 9, 0, 7)}, "rows are|rows 0 to 9 and columns 0 to 7, the field has 9 × 8"),
        ({"region": (0, 2, 0, 2), "withhold": 0.5}, "Only 5 coarse cells|Only 4 coarse cells"),
    ],
)
def test_bad_choices_are_sentences(changes, words):
    with pytest.raises(InputError, match=words):
        make_problem(fields(region()), replace(SPEC, **changes))
