"""Values of sources hidden by hand, and marks on the maps: as files without these values, and by brute force."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.downscaling.further_sources.report import left_out_values
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.footprints.further_sources import with_further_regions
from deconditioning.fields.footprints.gaussian import GaussianFootprint
from deconditioning.fields.footprints.hidden_values import value_at, values_of_text, with_hidden_values
from deconditioning.fields.footprints.outlines import footprint_outlines
from deconditioning.fields.footprints.stations import with_further_stations, with_stations
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import field_scale, footprint_marks
from deconditioning.figures.style import uncompacted
from tests.core.downscaling.test_further_sources import second_grid, squares, with_grid
from tests.core.downscaling.test_stations import problem, spec_of, stations

pytestmark = pytest.mark.usefixtures("short_chain")


def joined(base: DownscalingProblem, without: dict[str, list[int]] | None = None) -> DownscalingProblem:
    """Regions, a second grid, soundings and stations; ``without`` some rows of the tables."""
    rows = {name: np.setdiff1d(np.arange(9), (without or {}).get(name, [])) for name in ("soundings", "stations")}
    found = with_further_regions(base, squares(base))
    found = with_grid(found, second_grid(base, 1.2, 0.3), "sigma")
    seen = replace(stations(base, 9, 3), footprint=GaussianFootprint(60, 40, 30), source="swath.csv")
    found = with_further_stations(found, seen.of(rows["soundings"]))
    return with_stations(found, stations(base, 9, altitude=True, off=1.5).of(rows["stations"]))


@pytest.fixture(scope="module")
def base() -> DownscalingProblem:
    return problem(12, 20)


@pytest.fixture(scope="module")
def every(base: DownscalingProblem) -> DownscalingProblem:
    return joined(base)


def test_hidden_values_are_those_of_files_without_them(base: DownscalingProblem, every: DownscalingProblem) -> None:
    found = with_hidden_values(every, [(4, 2), (4, 7), (3, 1)])
    other = joined(base, {"stations": [1, 6], "soundings": [0]})
    for one, two in zip(found.sources, other.sources, strict=True):
        assert torch.equal(one.targets, two.targets) and torch.equal(one.errors.variance, two.errors.variance)
        assert torch.equal(one.errors.effects, two.errors.effects) and torch.equal(one.errors.prior, two.errors.prior)
        if one.footprints is not None:
            for mine, same in zip(one.footprints, two.footprints, strict=True):
                np.testing.assert_array_equal(mine, same)
    spec = replace(spec_of(other), representativeness=(0.02, 0.03, 0.05, 0.07))
    first, second = (predict(spec, matched_data(each, spec), each) for each in (found, other))
    assert torch.equal(first.mean, second.mean) and torch.equal(first.sd, second.sd)
    assert [None if each.hidden is None else each.hidden.number.tolist() for each in found.sources] == [
        None, None, [0], [1, 6]
    ]  # fmt: skip


def test_hidden_cells_of_another_grid_lose_their_outline(every: DownscalingProblem) -> None:
    number = int(every.sources[1].number[2]) + 1
    found = with_hidden_values(every, [(2, number)])
    assert len(footprint_outlines(found)) == len(footprint_outlines(every)) - 1
    assert found.sources[1].hidden.number.tolist() == [number - 1]
    rest = np.delete(np.arange(len(every.sources[1].row)), 2)
    assert torch.equal(found.sources[1].targets, every.sources[1].targets[rest])
    weight = np.bincount(found.sources[1].footprints[1], found.sources[1].footprints[2])
    np.testing.assert_allclose(weight, 1)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([(5, 1)], "count from 1 to 4"),
        ([(4, 10)], "Value 4-10 cannot be hidden: source 4 has no such value"),
        ([(4, 0)], "Value 4-0 cannot be hidden"),
        ([(4, 1 + k) for k in range(9)], "Every value of source 4 is hidden"),
    ],
)
def test_values_that_are_not_there_are_refused(every: DownscalingProblem, values: list, said: str) -> None:
    with pytest.raises(InputError, match=said):
        with_hidden_values(every, values)


def test_nothing_can_be_hidden_of_cells_alone(base: DownscalingProblem) -> None:
    assert with_hidden_values(base, []).sources == ()
    with pytest.raises(InputError, match="without stations or further sources"):
        with_hidden_values(base, [(1, 1)])


def test_values_are_read_from_text_and_come_back(every: DownscalingProblem) -> None:
    assert values_of_text("4-2.1-1") == ((4, 2), (1, 1))
    with pytest.raises(InputError, match="names no values of sources"):
        values_of_text("4:2")
    source = Source.from_dict({"fields": "x", "stations": "y", "hide_values": ["1-2", "1-1"]})
    assert source.hide_values == ((1, 1), (1, 2)) and Source.from_dict(source.to_dict()) == source
    assert "hide_values" not in Source("x").to_dict()


def test_a_point_of_the_map_means_the_nearest_value_that_it_belongs_to(every: DownscalingProblem) -> None:
    """Against distances to every value, written out; a hidden one is still there."""
    grid, rng = every.grid, np.random.default_rng(0)
    hidden = with_hidden_values(every, [(4, 1 + k) for k in range(4)])
    for _ in range(40):
        row, column = rng.integers(grid.shape[0]), rng.integers(grid.shape[1])
        pixel = row * grid.shape[1] + column
        best, value = np.inf, None
        for number, source in enumerate(every.sources, 1):
            north = source.measured.latitude - grid.latitude[row, column]
            east = (source.measured.longitude - grid.longitude[row, column]) * np.cos(np.deg2rad(41.5))
            for k, far in enumerate(np.hypot(north, east)):
                if source.footprints is None:
                    there = far < 2 * 0.25 * np.cos(np.deg2rad(41.5)) ** 0.5
                else:
                    there = pixel in every.pixel[source.footprints[0][source.footprints[1] == k]]
                if there and far < best - 1e-3:
                    best, value = far, (number, int(source.number[k]) + 1)
        at = float(grid.x[column]), float(grid.y[row])
        if value is None:
            with pytest.raises(InputError, match="no value of a source here"):
                value_at(every, *at)
        else:
            assert value_at(every, *at) == value_at(hidden, *at)
            found = value_at(every, *at)
            source = every.sources[found[0] - 1]
            k = source.number.tolist().index(found[1] - 1)
            north = source.measured.latitude[k] - grid.latitude[row, column]
            east = (source.measured.longitude[k] - grid.longitude[row, column]) * np.cos(np.deg2rad(41.5))
            assert np.hypot(north, east) == pytest.approx(best, abs=0.02)


def test_marks_say_value_error_and_what_all_others_predict(every: DownscalingProblem) -> None:
    found = with_hidden_values(every, [(4, 2)])
    spec = replace(spec_of(found), representativeness=(0.02, 0.03, 0.05, 0.07))
    left = left_out_values(found, predict(spec, matched_data(found, spec), found).sources)
    traces = footprint_marks(found, "mean", field_scale(found), left_out=left)
    marks = [trace for trace in traces if trace["mode"] == "markers"]
    assert [len(trace["hovertext"]) for trace in marks] == [*(len(each.row) for each in found.sources), 1]
    assert [trace["marker"].get("symbol", "circle") for trace in marks] == [
        "square", "square", "diamond", "circle", "x"
    ]  # fmt: skip
    words = marks[2]["hovertext"][0]
    assert words.startswith("swath.csv: ") and "± 0.3; from all other targets" in words and "(value 3-1)" in words
    assert f"targets {left[2][0][0]:.1f}" in words
    assert "(value 4-3)" in marks[3]["hovertext"][1] and "(value 4-2), hidden by hand" in marks[4]["hovertext"][0]
    assert all(trace["mode"] == "markers" for trace in traces)
    observed = footprint_marks(found, "observed", field_scale(found), left_out=left)
    lines = [trace for trace in observed if trace["mode"] == "lines"]
    gaps = int(np.isnan(uncompacted(lines[0]["x"])).sum())
    assert len(lines) == 2 and gaps >= len(footprint_outlines(found)) - 1
    without = footprint_marks(found, "observed", field_scale(found), left_out=left, shown=())
    assert len(without) < len(observed) and all(trace in observed for trace in without)
    on_spread = footprint_marks(found, "spread", field_scale(found))
    assert [len(trace["hovertext"]) for trace in on_spread] == [8, 1]
