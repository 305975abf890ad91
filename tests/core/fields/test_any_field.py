"""Files, places, units and cells: what is read back, turned there and back, and averaged again."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as some

from deconditioning.errors import InputError
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.grids.sphere import (
    from_unit_vectors,
    native_position,
    true_position,
    unit_vectors,
    wrap_longitude,
)
from deconditioning.fields.problem.baselines import constant
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.units import convert
from deconditioning.tables.table import read_table
from tests.anything import seeds
from tests.core.fields.samples import fields, netcdf, region

few = settings(max_examples=30)
latitudes, longitudes = some.floats(-89.9, 89.9), some.floats(-540, 540)
numbers = some.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
#: How a value may be stored, and how far it may lie from itself afterwards.
STORED = {"float64": 0.0, "float32": 1e-4, "int16": 0.006}
TEMPERATURES, PRESSURES = ("K", "degC", "degF"), ("Pa", "hPa", "kPa")


def on_disk(raw: bytes, name: str, read):
    """What a reader makes of a file with these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(raw)
        return read(path)


@few
@given(
    shape=some.tuples(some.integers(2, 9), some.integers(2, 9)),
    corner=some.tuples(some.floats(-60, 40), some.integers(-180, 359)),
    turned=some.tuples(some.booleans(), some.booleans(), some.booleans()),
    stored=some.sampled_from(sorted(STORED)),
    form=some.sampled_from(["NETCDF4", "NETCDF3_64BIT"]),
    seed=seeds,
)
def test_values_are_read_at_their_places_however_a_file_is_turned(shape, corner, turned, stored, form, seed) -> None:
    y, x = corner[0] + np.arange(shape[0]), wrap_longitude(corner[1] + 2.0 * np.arange(shape[1]))
    values = 280 + 10 * np.random.default_rng(seed).standard_normal(shape)
    data = xr.Dataset(
        {"t": (("lat", "lon"), values, {"units": "K"})},
        {"lat": ("lat", y, {"units": "degrees_north"}), "lon": ("lon", x, {"units": "degrees_east"})},
    )
    data = data.isel(lat=slice(None, None, -1)) if turned[0] else data
    data = data.assign_coords(lon=("lon", x % 360, data.lon.attrs)) if turned[1] else data
    data = data.transpose("lon", "lat") if turned[2] else data
    packed = {"scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768} if stored == "int16" else {}
    data.t.encoding |= {"dtype": stored, **packed}
    found = on_disk(netcdf(data, form), "a.nc", open_fields)
    grid, read = found.grid, found.values("t")
    away = np.abs(grid.latitude[..., None, None] - y[:, None]) + np.abs(
        wrap_longitude(grid.longitude[..., None, None] - x)
    )
    source = away.reshape(*grid.shape, -1).argmin(-1)
    assert np.array_equal(np.sort(source.ravel()), np.arange(values.size)) and away.min((2, 3)).max() < 1e-6
    assert np.abs(read - values.ravel()[source]).max() <= STORED[stored]
    assert (np.diff(grid.y) > 0).all() and (np.diff(grid.x) > 0).all()


@few
@given(some.binary(max_size=200), some.sampled_from([b"", b"CDF\x01", b"CDF\x02", b"\x89HDF\r\n\x1a\n"]))
def test_no_bytes_give_more_than_a_sentence(rest: bytes, start: bytes) -> None:
    with pytest.raises(InputError) as error:
        on_disk(start + rest, "a.nc", open_fields)
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


@few
@given(
    some.lists(some.tuples(numbers, numbers), min_size=1, max_size=8),
    some.sampled_from([",", "\t", ";"]),
    some.sampled_from(["\n", "\r\n"]),
)
def test_numbers_of_a_table_come_back_to_the_last_digit(rows, separator: str, end: str) -> None:
    lines = [separator.join(("first", "second")), *(separator.join(map(repr, row)) for row in rows)]
    table = on_disk((end.join(lines) + end).encode(), "a.csv", partial(read_table, missing=()))
    assert list(table.columns) == ["first", "second"]
    assert np.array_equal(table.numbers(["first", "second"]), np.array(rows))


@given(latitudes, longitudes)
def test_a_longitude_wrapped_is_the_same_place(latitude: float, longitude: float) -> None:
    wrapped = wrap_longitude(np.array(longitude))
    assert -180 <= wrapped < 180 and np.isclose((wrapped - longitude + 180) % 360, 180, atol=1e-9)
    there, back = unit_vectors(latitude, longitude), from_unit_vectors(3.7 * unit_vectors(latitude, wrapped))
    assert np.linalg.norm(there) == pytest.approx(1, abs=1e-14)
    assert np.allclose(unit_vectors(*back), there, atol=1e-13)


places = some.tuples(latitudes, longitudes)
turns = some.floats(-180, 180)


@given(places, places, some.floats(-90, 90), turns, turns)
def test_a_rotated_pole_turns_back_and_keeps_distances(one, two, pole, pole_longitude, turn) -> None:
    mapping = {
        "grid_north_pole_latitude": pole,
        "grid_north_pole_longitude": pole_longitude,
        "north_pole_grid_longitude": turn,
    }
    first, second = (native_position("rotated", *map(np.array, place), mapping) for place in (one, two))
    # arcsine near a pole of the grid knows a latitude to the root of the rounding only
    assert np.allclose(unit_vectors(*true_position("rotated", *first, mapping)), unit_vectors(*one), atol=3e-8)
    apart = float(unit_vectors(*one) @ unit_vectors(*two))
    assert float(unit_vectors(*first) @ unit_vectors(*second)) == pytest.approx(apart, abs=3e-8)


@given(
    some.sampled_from([TEMPERATURES, PRESSURES]).flatmap(lambda u: some.tuples(*[some.sampled_from(u)] * 3)),
    some.floats(-1e4, 1e4),
)
def test_units_are_converted_there_and_back_and_by_any_way(units, value: float) -> None:
    one, two, three = units
    at = np.array([value])
    there = convert(at, one, two, "t")[0]
    assert np.allclose(convert(there, two, one, "t")[0], at, rtol=1e-12, atol=1e-9)
    assert np.allclose(convert(there, two, three, "t")[0], convert(at, one, three, "t")[0], rtol=1e-12, atol=1e-9)


blocks = some.tuples(some.integers(1, 6), some.integers(2, 8))


@few
@given(blocks, some.floats(0, 0.6), seeds, some.booleans())
def test_visible_cells_are_known_and_the_others_are_not(block, withhold: float, seed: int, indirect: bool) -> None:
    """The constant field of each cell averages back to it; what is withheld is nowhere in what the model gets."""
    spec = DownscalingSpec(
        "t", ("orog",), ("q",) if indirect else (), block, withhold, seed, "indirect" if indirect else "direct"
    )
    try:
        problem = make_problem(fields(region()), spec)
    except InputError as error:
        assert "at least 8 are needed" in str(error)
        return
    hidden = ~problem.observed
    assert hidden.sum() == round(withhold * hidden.size) == problem.hidden
    assert np.isnan(problem.coarse[hidden]).all() and np.isfinite(problem.coarse_truth).all()
    back = reaggregate(problem, constant(problem))
    assert np.allclose(back[problem.observed], problem.coarse[problem.observed], rtol=1e-12)
    given_targets = np.sort(problem.target_scale.backward(problem.data.targets.numpy()))
    assert np.allclose(given_targets, np.sort(problem.coarse[problem.observed]), rtol=1e-10)
    assert problem.data.bags.count == (hidden.sum() if indirect else problem.observed.sum())


@few
@given(blocks, seeds, some.floats(-3, 3))
def test_averaging_again_is_linear_and_keeps_the_mean_of_all(block, seed: int, factor: float) -> None:
    problem = make_problem(fields(region()), DownscalingSpec("t", ("orog",), (), (2, 4), 0.0))
    one, two = np.random.default_rng(seed).standard_normal((2, *problem.grid.shape))
    again = reaggregate(problem, one + factor * two)
    assert np.allclose(again, reaggregate(problem, one) + factor * reaggregate(problem, two), atol=1e-12)
    mean = np.average(again, weights=problem.coarse_grid.area)
    assert mean == pytest.approx(np.average(one + factor * two, weights=problem.grid.area), abs=1e-12)
