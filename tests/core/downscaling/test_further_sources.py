"""A second grid, regions and stations beside the cells: against dense algebra, limits, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely
import torch
import xarray as xr

import deconditioning
from deconditioning.datasets.network import BLOCK
from deconditioning.downscaling.further_sources.opening import regions_at
from deconditioning.downscaling.further_sources.posterior import averaged_posteriors
from deconditioning.downscaling.prediction import Prediction, matched_data, predict, predict_tiled
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import FurtherSource, Source, build_problem
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.errors import InputError, never
from deconditioning.fields.footprints.further_sources import with_further_cells, with_further_regions
from deconditioning.fields.footprints.region_data import Regions
from deconditioning.fields.footprints.stations import with_scored_stations, with_stations
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import PointErrors
from tests.benchmarks.stations_case import station_case
from tests.core.downscaling.test_stations import (
    OFFSET,
    Dense,
    a_stored_model_predicts_as_the_model_does,
    problem,
    spec_of,
    stations,
)
from tests.core.fields.samples import rectilinear

pytestmark = pytest.mark.usefixtures("short_chain")

TAUS = (0.03, 0.07)
#: Edges of a second grid that cuts through pixels and reaches over every side of the map.
SOUTH, WEST, HEIGHT, WIDTH = 39.3, 4.1, 0.7, 0.9


def edges(first: float, step: float, count: int) -> np.ndarray:
    return first + step * np.arange(count + 1)


def overlaps(found: DownscalingProblem, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(cells, P) area that each cell of a grid has in common with each pixel, from the edges alone; whole areas."""

    def shared(pixels: np.ndarray, cells: np.ndarray) -> np.ndarray:
        low = np.maximum(cells[:-1, None], pixels[None, :-1])
        return np.clip(np.minimum(cells[1:, None], pixels[None, 1:]) - low, 0, None)

    sines = np.sin(np.deg2rad(rows))
    tall = shared(np.sin(np.deg2rad(found.grid.y_edges)), sines)
    wide = shared(found.grid.x_edges, columns)
    areas = np.einsum("ij,kl->ikjl", tall, wide).reshape(tall.shape[0] * wide.shape[0], -1)
    return areas, np.outer(np.diff(sines), np.diff(columns)).ravel()


def second_grid(
    found: DownscalingProblem, off: float = 0.0, noise: float = 0.0, units: str = "K", error: float = 0.2
) -> xr.Dataset:
    """Means of the truth over the cells of the second grid, with an offset and noise; NaN off the map."""
    rows, columns = edges(SOUTH, HEIGHT, 6), edges(WEST, WIDTH, 7)
    areas, _ = overlaps(found, rows, columns)
    with np.errstate(invalid="ignore"):
        value = areas @ found.truth.ravel() / areas.sum(axis=1)
    value = np.where(areas.sum(axis=1) > 0, value, 280.0) + off
    value = value + noise * np.random.default_rng(5).standard_normal(len(value))
    dims = ("lat", "lon")
    return xr.Dataset(
        {
            "tas": (dims, value.reshape(6, 7), {"units": units}),
            "sigma": (dims, np.full((6, 7), error), {"units": units}),
        },
        {
            "lat": ("lat", 0.5 * (rows[1:] + rows[:-1]), {"units": "degrees_north"}),
            "lon": ("lon", 0.5 * (columns[1:] + columns[:-1]), {"units": "degrees_east"}),
        },
    )


def with_grid(found: DownscalingProblem, data: xr.Dataset, error: str = "") -> DownscalingProblem:
    return with_further_cells(found, fields_from_dataset(data), "tas", error)


def squares(found: DownscalingProblem, **changes) -> Regions:
    """Three overlapping squares, of which one lies mostly off the map."""
    shapes = [shapely.box(5.1, 40.1, 7.0, 41.3), shapely.box(6.0, 40.6, 8.6, 42.1), shapely.box(9.0, 41.0, 14.0, 42.0)]
    middle = float(np.mean(found.truth))
    given = {"units": "K", "source": "squares.json"} | changes
    return Regions(np.array(shapes), middle + np.array([0.5, -0.5, 0.0]), ("a", "b", "c"), **given)


@pytest.fixture(scope="module")
def base() -> DownscalingProblem:
    return problem(12, 20)


@pytest.fixture(scope="module")
def joined(base: DownscalingProblem) -> DownscalingProblem:
    found = with_grid(base, second_grid(base, 1.2, 0.3), "sigma")
    found = with_stations(found, stations(base, 9, altitude=True, off=OFFSET))
    return with_scored_stations(found, stations(base, 5, seed=7, altitude=True))


def spec_for(found: DownscalingProblem, **changes) -> ModelSpec:
    return replace(spec_of(found), **({"representativeness": TAUS} | changes))


def test_weights_of_the_second_grid_are_those_of_common_areas(base: DownscalingProblem) -> None:
    source = with_grid(base, second_grid(base)).sources[0]
    areas, whole = overlaps(base, edges(SOUTH, HEIGHT, 6), edges(WEST, WIDTH, 7))
    cells = np.flatnonzero(areas.sum(axis=1) >= 0.5 * whole)
    assert 5 < len(cells) == len(source.row) < len(whole)
    dense = np.zeros((len(cells), len(base.pixel)))
    pixel, measurement, weight = source.footprints
    np.add.at(dense, (measurement, pixel), weight)
    expected = areas[cells][:, base.pixel]
    np.testing.assert_allclose(dense, expected / expected.sum(axis=1, keepdims=True), atol=1e-10)
    assert not source.stations and source.effects == ("offset",)


def like_dense_algebra(
    joined: DownscalingProblem, spec: ModelSpec, dense: Dense, rel: float = 1e-8
) -> list[Prediction]:
    """Predictions at once and in tiles, whose evidence, map and scored values are those of dense algebra.

    Offsets of further sources do not belong to the scored stations, whose noise is that of the stations, the last.
    """
    mean, covariance = dense.moments(dense.k @ dense.average.T, dense.k)
    rows, effects = torch.as_tensor(joined.scored.row), joined.scored.errors.effects
    h = torch.cat([torch.zeros(len(rows), len(dense.prior) - effects.shape[1]).double(), effects], dim=1)
    across = dense.k[rows] @ dense.average.T + h @ dense.prior @ dense.effects.T
    value, variance = dense.moments(across, dense.k[rows][:, rows] + h @ dense.prior @ h.T)
    noise = spec.point_noise + spec.representativeness[-1] + joined.scored.errors.variance
    data = matched_data(joined, spec)
    both = [predict(spec, data, joined), predict_tiled(spec, data, joined, joined.inputs)]
    for found in both:
        assert found.evidence == pytest.approx(dense.evidence, rel=rel)
        assert torch.allclose(found.mean, mean, atol=1e-8)
        assert torch.allclose(found.sd_latent.square(), covariance.diagonal(), atol=1e-8)
        assert torch.allclose(found.sources.scored[0], value, atol=1e-8)
        assert torch.allclose(found.sources.scored[1], variance.diagonal() + noise, atol=1e-8)
    return both


def test_evidence_map_offsets_and_scored_values_are_those_of_dense_algebra(joined: DownscalingProblem) -> None:
    spec = spec_for(joined)
    dense = Dense(joined, spec)
    effects, spread = dense.moments(dense.prior @ dense.effects.T, dense.prior)
    assert len(dense.prior) == 1 + joined.scored.errors.effects.shape[1]  # no offset of the second grid
    for found in like_dense_algebra(joined, spec, dense):
        assert torch.allclose(found.sources.effects[0], effects, atol=1e-8)
        assert torch.allclose(found.sources.effects[1], spread.diagonal(), atol=1e-8)
        assert found.sources.representativeness == TAUS


def test_leaving_one_value_out_is_conditioning_on_all_others(joined: DownscalingProblem) -> None:
    spec = spec_for(joined)
    found, dense = predict(spec, matched_data(joined, spec), joined), Dense(joined, spec)
    cells, last = joined.data.bags.count, len(dense.s) - 1
    for target in (cells, cells + 3, last):
        rest = torch.arange(len(dense.s)) != target
        part, across = dense.s[rest][:, rest], dense.s[target, rest]
        mean = across @ torch.linalg.solve(part, dense.targets[rest])
        variance = dense.s[target, target] - across @ torch.linalg.solve(part, across)
        assert float(found.sources.left_out[0][target - cells]) == pytest.approx(float(mean), abs=1e-8)
        assert float(found.sources.left_out[1][target - cells]) == pytest.approx(float(variance), abs=1e-8)


def test_shares_of_the_sources_are_those_of_posteriors_with_and_without(joined: DownscalingProblem) -> None:
    spec = spec_for(joined)
    found = predict(spec, matched_data(joined, spec), joined).sources.explained
    left = []
    for count in range(3):
        some = replace(joined, sources=joined.sources[:count])
        part = replace(spec, representativeness=TAUS[:count] or 0.0)
        left.append(float(predict(part, matched_data(some, part), some).sd_latent.square()[found.rows].mean()))
    prior = float(Dense(joined, spec).k.diagonal()[found.rows].mean())
    assert found.left == pytest.approx(left[2], abs=1e-8)
    assert found.cells == pytest.approx(prior - left[0], abs=1e-8)
    assert found.further == (pytest.approx(left[0] - left[1], abs=1e-8), pytest.approx(left[1] - left[2], abs=1e-8))
    row = int(found.rows[int(found.gain.argmax())])
    seen = joined.sources[1]
    more = PointErrors(
        torch.cat([seen.errors.variance, torch.zeros(1).double()]),
        torch.cat([seen.errors.effects, torch.tensor([[1.0, 0.0]]).double()]), seen.errors.prior,
    )  # fmt: skip
    targets = torch.cat([seen.targets, torch.zeros(1)])
    further = replace(seen, row=np.append(seen.row, row), targets=targets, errors=more)
    wider = replace(joined, sources=(joined.sources[0], further))
    less = float(predict(spec, matched_data(wider, spec), wider).sd_latent.square()[found.rows].mean())
    assert float(found.gain.max()) == pytest.approx(left[2] - less, abs=1e-8)


def test_the_slope_of_the_evidence_in_every_noise_is_a_finite_difference(joined: DownscalingProblem) -> None:
    spec = spec_for(joined)
    data = matched_data(joined, spec)
    trainable = Trainable(spec, data, columns_of(joined), hold=("noise", "point_noise"))
    loss = exact_objective(trainable, data, never)()
    assert -float(loss.detach()) * len(data.targets) == pytest.approx(Dense(joined, spec).evidence, rel=1e-8)
    loss.backward()
    step, gradient = 1e-4, trainable.vector.gradient()
    for source in (0, 1):
        moved = [tuple(t * np.exp(s * (i == source)) for i, t in enumerate(TAUS)) for s in (step, -step)]
        up, down = (Dense(joined, replace(spec, representativeness=each)).evidence for each in moved)
        mine = gradient[trainable.vector.names.index(f"representativeness τ² of source {source + 1}")]
        assert mine == pytest.approx(-(up - down) / (2 * step) / len(data.targets), rel=1e-4)
    assert trainable.learned().representativeness == pytest.approx(TAUS)


def test_one_noise_for_all_sources_is_that_of_each(joined: DownscalingProblem) -> None:
    one, each = (spec_for(joined, representativeness=tau) for tau in (0.05, (0.05, 0.05)))
    data = matched_data(joined, one)
    for found in (predict(one, data, joined), predict(each, data, joined)):
        assert found.sources.representativeness == (0.05, 0.05)
        assert found.evidence == predict(one, data, joined).evidence
    with pytest.raises(InputError, match="has 3 values for 2 sources"):
        matched = spec_for(joined, representativeness=(0.1, 0.1, 0.1))
        predict(matched, data, joined)
    settings = DownscaleSettings("area_to_point_gp", representativeness=[0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="has 3 values, but there are 2 sources"):
        starting_spec(joined, settings)


def test_the_average_of_two_posteriors_averages_every_noise(joined: DownscalingProblem) -> None:
    parts = [predict(spec, matched_data(joined, spec), joined).sources
             for spec in (spec_for(joined), spec_for(joined, representativeness=(0.3, 0.1)))]  # fmt: skip
    mixed = averaged_posteriors((0.25, 0.75), parts)
    assert mixed.representativeness == pytest.approx((0.25 * 0.03 + 0.75 * 0.3, 0.25 * 0.07 + 0.75 * 0.1))
    assert mixed.explained.further[0] == pytest.approx(
        0.25 * parts[0].explained.further[0] + 0.75 * parts[1].explained.further[0]
    )


@pytest.mark.parametrize("off", [0.0, 3.0, -5.0])
def test_an_offset_of_the_second_grid_is_found_and_does_not_move_the_map(off: float) -> None:
    base = problem()
    plain = with_grid(base, second_grid(base))
    found = with_grid(base, second_grid(base, off))
    spec = replace(spec_of(found), representativeness=1e-3)
    before, after = (predict(spec, matched_data(each, spec), each) for each in (plain, found))
    moved = (after.sources.effects[0] - before.sources.effects[0]) * base.target_sd
    sd = float(after.sources.effects[1].sqrt()) * base.target_sd
    assert float(moved) == pytest.approx(off, abs=0.02 * abs(off))
    assert float(after.sources.effects[0]) * base.target_sd == pytest.approx(off, abs=3 * sd)
    assert float((after.mean - before.mean).abs().max()) * base.target_sd < 0.02 * abs(off) + 1e-9


def test_values_of_huge_noise_change_nothing(base: DownscalingProblem) -> None:
    found = with_grid(base, second_grid(base, 2.0))
    spec = replace(spec_of(found), representativeness=1e12)
    alone, both = (predict(spec, matched_data(each, spec), each) for each in (base, found))
    assert torch.allclose(both.mean, alone.mean, atol=1e-8) and torch.allclose(both.sd, alone.sd, atol=1e-8)
    assert both.sources.explained.further[0] == pytest.approx(0, abs=1e-8)


def test_the_same_cells_twice_are_cells_of_half_the_noise(base: DownscalingProblem) -> None:
    """Without an offset of its own (v = 0) a second source of the same means only halves the noise."""
    same = with_grid(base, blocks(base))
    twice = same.sources[0]
    nothing = PointErrors(twice.errors.variance, twice.errors.effects, torch.zeros(1).double())
    spec = replace(spec_of(same), point_noise=0.0, noise=0.02, representativeness=0.02)
    seen = base.data.bags.count
    np.testing.assert_allclose(twice.targets[:seen].numpy(), base.data.targets.numpy(), atol=1e-10)
    found = replace(same, sources=(replace(twice, errors=nothing),))
    both, half = predict(spec, matched_data(found, spec), found), replace(spec, noise=0.01)
    alone = predict(half, matched_data(base, half), base)
    assert torch.allclose(both.mean, alone.mean, atol=1e-8) and torch.allclose(both.sd, alone.sd, atol=1e-8)


def blocks(found: DownscalingProblem) -> xr.Dataset:
    """The cells of the problem as a file of their own, NaN where they are withheld."""
    rows, columns = found.grid.y_edges[::4], found.grid.x_edges[::4]
    known = np.where(found.observed, found.coarse, np.nan)
    dims = ("lat", "lon")
    return xr.Dataset(
        {"tas": (dims, known, {"units": "K"})},
        {
            "lat": ("lat", 0.5 * (rows[1:] + rows[:-1]), {"units": "degrees_north"}),
            "lon": ("lon", 0.5 * (columns[1:] + columns[:-1]), {"units": "degrees_east"}),
        },
    )


def test_cells_without_noise_are_conserved_whatever_is_beside(base: DownscalingProblem) -> None:
    found = with_stations(with_grid(base, second_grid(base, 1.0, 0.5)), stations(base, 9))
    spec = replace(spec_for(found), noise=0.0, point_noise=0.0)
    mean = predict(spec, matched_data(found, spec), found).mean
    bags = found.data.bags.mean(mean[torch.as_tensor(found.bag_pixel)])
    assert float((bags - found.data.targets).abs().max()) < 1e-9


def test_missing_values_and_cells_off_the_map_are_left_out(base: DownscalingProblem) -> None:
    data = second_grid(base)
    whole = with_grid(base, data).sources[0]
    third = whole.measured
    data.tas.loc[{"lat": third.latitude[2], "lon": third.longitude[2]}] = np.nan
    found = with_grid(base, data)
    assert len(found.sources[0].row) == len(whole.row) - 1
    np.testing.assert_allclose(found.sources[0].measured.value, np.delete(whole.measured.value, 2))
    notes = " ".join(found.notes)
    assert "1 cells or regions" in notes and "less than half of their area lies under pixels of the map" in notes
    with pytest.raises(InputError, match="None of the 42 cells or regions"):
        with_grid(base, data.assign_coords(lat=data.lat - 60))


def test_units_are_converted_and_others_refused(base: DownscalingProblem) -> None:
    data = second_grid(base, units="degC")
    data.tas.values[:] -= 273.15
    kelvin, celsius = (with_grid(base, each, "sigma").sources[0] for each in (second_grid(base), data))
    assert torch.allclose(celsius.targets, kelvin.targets, atol=1e-10)
    assert torch.allclose(celsius.errors.variance, kelvin.errors.variance, atol=1e-10)
    assert float(kelvin.errors.variance[0]) == pytest.approx((0.2 / base.target_sd) ** 2)
    with pytest.raises(InputError, match="measure different things"):
        with_grid(base, second_grid(base, units="hPa"))
    with pytest.raises(InputError, match="cannot be in the same units"):
        with_grid(base, second_grid(base, -260.0))
    with pytest.raises(InputError, match="has no field `rain`"):
        with_further_cells(base, fields_from_dataset(second_grid(base)), "rain")


def test_regions_beside_cells_are_those_of_dense_algebra(base: DownscalingProblem) -> None:
    found = with_further_regions(base, squares(base, error=np.full(3, 0.1)))
    assert len(found.sources[0].row) == 2
    assert "1 of squares.json are left out" in " ".join(found.notes)
    areas, _ = overlaps(base, np.array([40.1, 41.3]), np.array([5.1, 7.0]))
    pixel, measurement, weight = found.sources[0].footprints
    first = np.zeros(len(base.pixel))
    first[pixel[measurement == 0]] = weight[measurement == 0]
    np.testing.assert_allclose(first, areas[0, base.pixel] / areas[0, base.pixel].sum(), atol=1e-8)
    spec = replace(spec_of(found), representativeness=0.04)
    dense, mine = Dense(found, spec), predict(spec, matched_data(found, spec), found)
    mean, covariance = dense.moments(dense.k @ dense.average.T, dense.k)
    assert mine.evidence == pytest.approx(dense.evidence, rel=1e-8) and torch.allclose(mine.mean, mean, atol=1e-8)
    assert torch.allclose(mine.sd_latent.square(), covariance.diagonal(), atol=1e-8)
    assert mine.sources.explained.gain is None


def test_the_order_in_which_sources_are_added_does_not_matter(base: DownscalingProblem) -> None:
    seen, data = stations(base, 9), second_grid(base, 1.0)
    first = with_grid(with_stations(base, seen), data)
    last = with_stations(with_grid(base, data), seen)
    for found in (first, last):
        assert [each.stations for each in found.sources] == [False, True] and found.stations is found.sources[1]
    spec = spec_for(first)
    one, other = (predict(spec, matched_data(each, spec), each) for each in (first, last))
    assert torch.equal(one.mean, other.mean)


def test_downscale_learns_every_noise_and_reports_every_source() -> None:
    base = problem()
    found = with_grid(base, second_grid(base, OFFSET, 0.5))
    found = with_scored_stations(with_stations(found, stations(base, 20)), stations(base, 30, seed=9))
    result = downscale(found, {"model": "area_to_point_gp", "integrate": False, "steps": 8, "restarts": 1})
    said = result.diagnostics["stations"]
    (grid,) = said["sources"]
    assert abs(grid["offset"] - OFFSET) < 4 * grid["offset_sd"] and grid["count"] == len(found.sources[0].row)
    assert said["targets"]["count"] == 20 and list(said["explained"]) == ["cells", grid["name"], "stations"]
    assert 0 < grid["explained"] < 1 and sum(said["explained"].values()) < 1
    assert grid["left_out"]["count"] == grid["count"] and said["targets"]["left_out"]["count"] == 20
    learned = result.spec.representativeness
    assert len(learned) == 2 and learned[0] != learned[1]
    assert grid["representativeness"] == pytest.approx(base.target_sd * learned[0] ** 0.5)
    settings = DownscaleSettings.from_dict(json.loads(json.dumps(result.settings.to_dict())))
    assert starting_spec(result.problem, settings).representativeness == learned
    assert ModelSpec.from_dict(json.loads(json.dumps(result.spec.to_dict()))) == result.spec


def test_a_map_without_stations_reports_its_second_grid(base: DownscalingProblem) -> None:
    result = downscale(with_grid(base, second_grid(base, 1.0)), {"learn": False})
    said = result.diagnostics["stations"]
    assert "targets" not in said and next(iter(said["explained"])) == "cells" and len(said["sources"]) == 1
    assert (
        "are targets in addition to the cells" in said["sentences"][0]
        and "One more station" not in said["sentences"][-1]
    )


def test_a_stored_model_sees_every_source(joined: DownscalingProblem) -> None:
    settings = DownscaleSettings("area_to_point_gp", local_scale=False, learn=False, representativeness=TAUS)
    a_stored_model_predicts_as_the_model_does(joined, settings)


def test_what_takes_no_further_source_is_refused() -> None:
    base = problem()
    sums = second_grid(base)
    sums.tas.attrs["cell_methods"] = "area: sum"
    with pytest.raises(InputError, match="is a sum over each cell, but the means are weighted by `people`"):
        with_grid(populated(), sums)


def populated() -> DownscalingProblem:
    """The small problem with means weighted by people, of whom there are none in the west."""
    data = rectilinear(40 + 0.25 * np.arange(12), 5 + 0.25 * np.arange(20))
    people = np.random.default_rng(4).lognormal(0, 0.7, data.t.shape)
    people[:, :6] = 0.0
    data = data.assign(people=(data.t.dims, people, {"units": "1"}))
    spec = DownscalingSpec("t", ("orog",), block=(4, 4), weights="people", withhold=0.2)
    return make_problem(fields_from_dataset(data), spec)


def test_means_over_further_cells_and_regions_are_weighted_as_those_over_the_cells() -> None:
    """Against areas from the edges alone times people; the joint model is dense algebra with these weights."""
    found = populated()
    areas, whole = overlaps(found, edges(SOUTH, HEIGHT, 6), edges(WEST, WIDTH, 7))
    mass = areas * found.weights.ravel()
    cells = np.flatnonzero((areas.sum(axis=1) >= 0.5 * whole) & (mass.sum(axis=1) > 0))
    with_offset = with_grid(found, second_grid(found, 1.2, 0.3), "sigma")
    source = with_offset.sources[0]
    pixel, measurement, weight = source.footprints
    dense = np.zeros((len(cells), len(found.pixel)))
    np.add.at(dense, (measurement, pixel), weight)
    expected = mass[cells][:, found.pixel]
    np.testing.assert_allclose(dense, expected / expected.sum(axis=1, keepdims=True), atol=1e-10)
    np.testing.assert_array_equal(source.number, cells)
    lost = int((areas.sum(axis=1) >= 0.5 * whole).sum()) - len(cells)
    said = f"{lost} of `data` are left out: none of their pixels has a weight."
    assert lost > 0 and any(note.endswith(said.split("`data` ")[1]) and str(lost) in note for note in with_offset.notes)
    both = [with_further_regions(each, squares(found)).sources[0] for each in (found, replace(found, weights=None))]
    (at, region, people), (_, _, plain) = (each.footprints for each in both)
    expected = plain * found.weights.flat[found.pixel[at]]
    np.testing.assert_allclose(people, expected / np.bincount(region, expected)[region], atol=1e-12)
    joint = with_scored_stations(with_stations(with_offset, stations(found, 9)), stations(found, 5, seed=7))
    spec = spec_for(joint)
    like_dense_algebra(joint, spec, Dense(joint, spec), rel=5e-8)  # sums from a table of distances


def test_weights_of_one_everywhere_change_no_further_source(base: DownscalingProblem) -> None:
    ones = replace(base, weights=np.full(base.grid.shape, 0.5), spec=replace(base.spec, weights="one"))
    for found in (
        lambda each: with_grid(each, second_grid(base)),
        lambda each: with_further_regions(each, squares(base)),
    ):
        (one,), (other,) = (found(each).sources for each in (base, ones))
        for mine, theirs in zip(one.footprints, other.footprints, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_of_several_times_the_maps_is_taken(base: DownscalingProblem) -> None:
    dates = np.array(["2001-05-01", "2001-06-01"], dtype="datetime64[ns]")
    first, later = second_grid(base), second_grid(base, 1.0)
    several = xr.concat([first, later], dim=xr.Variable("time", dates), data_vars="all", coords="minimal")
    with pytest.raises(InputError, match="has no single value that is the map's; it has 2001-05-01"):
        with_grid(base, several)
    coordinates = {"time": (dates[1], {})}
    dated = replace(base, origin=replace(base.origin, coordinates=coordinates))
    found = with_grid(dated, several, "sigma")
    np.testing.assert_allclose(found.sources[0].measured.value, with_grid(base, later).sources[0].measured.value)
    levels = several.rename(time="level").assign_coords(level=("level", [850.0, 500.0], {"units": "hPa"}))
    chosen = replace(base, spec=replace(base.spec, select={"level": "500"}))
    np.testing.assert_array_equal(with_grid(chosen, levels).sources[0].targets, found.sources[0].targets)
    alone = with_grid(dated, several.isel(time=[0]))
    assert any("are for 2001-05-01" in note and "the cells for 2001-06-01" in note for note in alone.notes)
    same = with_grid(dated, several.isel(time=1))  # without the dimension, the time is written as ISO 8601 has it
    assert not any("the cells for" in note for note in same.notes)


def files(folder: Path, found: DownscalingProblem) -> None:
    """The fine field, a second grid, regions and stations as files."""
    rectilinear(40 + 0.25 * np.arange(24), 5 + 0.25 * np.arange(32)).to_netcdf(folder / "fine.nc", engine="h5netcdf")
    second_grid(found, 1.5).to_netcdf(folder / "second.nc", engine="h5netcdf")
    given = squares(found)
    features = [
        {"type": "Feature", "properties": {"t": float(v)}, "geometry": json.loads(shapely.to_geojson(g))}
        for v, g in zip(given.value, given.geometry, strict=True)
    ]
    (folder / "squares.json").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    seen = stations(found, 12)
    rows = zip(seen.latitude, seen.longitude, seen.value, strict=True)
    (folder / "some.csv").write_text("lat,lon,t [K]\n" + "".join(f"{a},{o},{v}\n" for a, o, v in rows))


@pytest.mark.filterwarnings("ignore:The posterior mean ranges")
def test_the_command_and_the_library_take_the_same_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from deconditioning.cli.program import main

    files(tmp_path, problem())
    fine, out = str(tmp_path / "fine.nc"), tmp_path / "out.nc"
    also = [f"{tmp_path / 'second.nc'}:tas:sigma", str(tmp_path / "squares.json")]
    code = main(
        ["downscale", fine, "--target", "t", "--covariates", "orog", "--block", "4", "4", "--withhold", "0",
         "--also", *also, "--stations", str(tmp_path / "some.csv"), "--no-learn", "--output", str(out),
         "--json", str(tmp_path / "out.json")]
    )  # fmt: skip
    assert code == 0
    said = capsys.readouterr().err
    assert "values of second.nc are targets in addition to the cells" in said and "12 stations are targets" in said
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["settings"]["also"] == also
    made = deconditioning.downscale(
        fine, fine, target="t", covariate_names=["orog"], coarsen=(4, 4), withhold=0.0, learn=False,
        also=[(xr.open_dataset(tmp_path / "second.nc", engine="h5netcdf"), "tas", "sigma"), also[1]],
        stations=tmp_path / "some.csv",
    )  # fmt: skip
    with xr.open_dataset(out, engine="h5netcdf") as dataset:
        np.testing.assert_array_equal(made["mean"].values, dataset["mean"].values)
        np.testing.assert_array_equal(made["sd"].values, dataset["sd"].values)


def test_a_source_comes_back_from_text_and_from_plain_data(tmp_path: Path) -> None:
    assert FurtherSource.of_text("a.nc") == FurtherSource("a.nc")
    assert FurtherSource.of_text("a.nc:tas:sigma") == FurtherSource("a.nc", "tas", "sigma")
    assert FurtherSource.of_text("https://host:80/a.nc") == FurtherSource("https://host:80/a.nc")
    assert FurtherSource.of_text("https://host:80/a.nc:tas") == FurtherSource("https://host:80/a.nc", "tas")
    (tmp_path / "b:c").touch()
    assert FurtherSource.of_text(str(tmp_path / "b:c")) == FurtherSource(str(tmp_path / "b:c"))
    source = Source.of_options({"input": "a.nc", "also": ["b.nc:tas", "c.json"], "stations": "d.csv"})
    assert source.also == (FurtherSource("b.nc", "tas"), FurtherSource("c.json"))
    assert Source.from_dict(json.loads(json.dumps(source.to_dict()))) == source


def with_corners(data: xr.Dataset, *, soundings: bool) -> xr.Dataset:
    """The cells of a grid as a swath with corners in two dimensions, or as soundings along one dimension."""
    rows, columns = edges(SOUTH, HEIGHT, 6), edges(WEST, WIDTH, 7)
    south, west = np.meshgrid(rows[:-1], columns[:-1], indexing="ij")
    latitude = np.stack([south, south, south + HEIGHT, south + HEIGHT], axis=-1)
    longitude = np.stack([west, west + WIDTH, west + WIDTH, west], axis=-1)
    shape, dims = ((42,), ("n",)) if soundings else ((6, 7), ("y", "x"))
    places = {
        "lat": (dims, latitude.mean(-1).reshape(shape), {"units": "degrees_north", "bounds": "lat_bnds"}),
        "lon": (dims, longitude.mean(-1).reshape(shape), {"units": "degrees_east", "bounds": "lon_bnds"}),
    }
    bounds = {
        "lat_bnds": ((*dims, "corner"), latitude.reshape(*shape, 4)),
        "lon_bnds": ((*dims, "corner"), longitude.reshape(*shape, 4)),
    }
    named = {name: (dims, data[name].values.reshape(shape), data[name].attrs | {"coordinates": "lat lon"})
             for name in ("tas", "sigma")}  # fmt: skip
    return xr.Dataset({**named, **bounds}, places)


@pytest.mark.parametrize("soundings", [False, True])
def test_a_grid_a_swath_and_soundings_of_the_same_cells_are_the_same_source(tmp_path: Path, soundings: bool) -> None:
    base = problem()
    data = second_grid(base)
    rectilinear(40 + 0.25 * np.arange(24), 5 + 0.25 * np.arange(32)).to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    data.to_netcdf(tmp_path / "grid.nc", engine="h5netcdf")
    with_corners(data, soundings=soundings).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    also = tuple(FurtherSource(str(tmp_path / name), "tas", "sigma") for name in ("grid.nc", "other.nc"))
    source = Source(str(tmp_path / "fine.nc"), also=also)
    grid, other = build_problem(source, base.spec, open_fields, regions=regions_at).sources
    np.testing.assert_allclose(other.measured.value, grid.measured.value, rtol=1e-6)
    assert torch.allclose(other.errors.variance, grid.errors.variance, rtol=1e-5)
    dense = np.zeros((2, len(grid.row), len(base.pixel)))
    for table, each in zip(dense, (grid, other), strict=True):
        pixel, measurement, weight = each.footprints
        np.add.at(table, (measurement, pixel), weight)
    off = 1e-6 if soundings else 5e-4  # the sides of a swath's cells do not follow the parallels
    np.testing.assert_allclose(dense[1], dense[0], atol=off)
    assert other.measured.source == "other.nc"


def test_cells_a_second_grid_and_stations_together_are_more_accurate_than_any_two() -> None:
    """At 300 stations that no map uses; the second grid lies half a cell off, 2 K too warm, with noise."""
    base = station_case(1)
    half = BLOCK // 2
    inner = base.truth[half:-half, half:-half]
    rows, columns = (each[half::BLOCK] for each in (base.grid.y_edges, base.grid.x_edges))
    means = inner.reshape(len(rows) - 1, BLOCK, len(columns) - 1, BLOCK).mean(axis=(1, 3))
    noise = 0.1 * np.random.default_rng(1).standard_normal(means.shape)
    second = xr.Dataset(
        {"tas": (("lat", "lon"), means + 2.0 + noise, {"units": base.units})},
        {
            "lat": ("lat", 0.5 * (rows[1:] + rows[:-1]), {"units": "degrees_north"}),
            "lon": ("lon", 0.5 * (columns[1:] + columns[:-1]), {"units": "degrees_east"}),
        },
    )
    every = with_grid(base, second)
    both = [replace(every, sources=each) for each in (every.sources[:1], every.sources[1:])]
    said = [downscale(each, {}).diagnostics["stations"] for each in (every, *both)]
    rmse = [each["scored"]["rmse"] for each in said]
    assert rmse[0] < 0.9 * rmse[1] and rmse[0] < 0.95 * rmse[2]
    assert abs(said[0]["sources"][0]["offset"] - 2) < 3 * said[0]["sources"][0]["offset_sd"]
