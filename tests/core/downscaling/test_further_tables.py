"""Tables as further sources: networks and soundings over footprints, against dense algebra and row by row."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr

import deconditioning
from deconditioning.bundled import bundled
from deconditioning.datasets.network import OFFSET, SWATH_ERROR, SWATH_OFFSET
from deconditioning.downscaling.further_sources.opening import kind_without_fields, regions_at, stations_at
from deconditioning.downscaling.interactive import traced_spec
from deconditioning.downscaling.prediction import matched_data
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import FurtherSource, Source, build_problem
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.errors import InputError, never
from deconditioning.fields.footprints.gaussian import GaussianFootprint, footprint_pixels
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.footprints.stations import with_further_stations, with_scored_stations, with_stations
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.reading.opening import open_fields
from deconditioning.models.learning.integrate import members
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.trainable import Trainable, noises_by_label
from deconditioning.models.spread import Spread
from tests.benchmarks.sources_case import gain, sources_case
from tests.benchmarks.stations_case import rmse_alone
from tests.core.downscaling.test_further_sources import like_dense_algebra
from tests.core.downscaling.test_stations import Dense, problem, spec_of, stations
from tests.core.fields.samples import rectilinear

pytestmark = pytest.mark.usefixtures("short_chain")

TAUS = (0.03, 0.05, 0.07)


def soundings(found: DownscalingProblem, count: int = 8, seed: int = 3) -> Stations:
    """Stations of which each averages over an ellipse of its own."""
    rng = np.random.default_rng(seed)
    widths = rng.uniform(40, 70, count), rng.uniform(20, 40, count), rng.uniform(0, 180, count)
    return replace(stations(found, count, seed, off=0.8), footprint=GaussianFootprint(*widths), source="swath.csv")


@pytest.fixture(scope="module")
def base() -> DownscalingProblem:
    return problem(12, 20)


@pytest.fixture(scope="module")
def joined(base: DownscalingProblem) -> DownscalingProblem:
    """Soundings, a second network with altitudes, and the stations, of which others are scored."""
    found = with_stations(base, stations(base, 9, altitude=True, off=1.5))
    found = with_further_stations(found, soundings(base))
    found = with_further_stations(found, replace(stations(base, 6, 5, altitude=True), source="masts.csv"))
    return with_scored_stations(found, stations(base, 5, seed=7, altitude=True))


def test_tables_join_cells_and_stations_as_dense_algebra_has_it(joined: DownscalingProblem) -> None:
    assert [each.measured.source for each in joined.sources] == ["swath.csv", "masts.csv", "the stations"]
    assert [each.stations for each in joined.sources] == [False, False, True]
    spec = replace(spec_of(joined), representativeness=TAUS)
    dense = Dense(joined, spec)
    assert len(dense.prior) == 3 + joined.scored.errors.effects.shape[1]  # scored stations differ as the stations do
    like_dense_algebra(joined, spec, dense)


def test_ellipses_of_a_table_weigh_pixels_as_each_does_alone(base: DownscalingProblem) -> None:
    seen = soundings(base, 6)
    place = base.grid, base.pixel
    every = footprint_pixels(*place, seen.latitude, seen.longitude, seen.footprint)
    for row in range(6):
        one = GaussianFootprint(*(float(each[row]) for each in (seen.footprint.along, seen.footprint.across,
                                                                seen.footprint.azimuth)))  # fmt: skip
        alone = footprint_pixels(*place, seen.latitude[[row]], seen.longitude[[row]], one)
        mine = every.measurement == row
        np.testing.assert_array_equal(every.pixel[mine], alone.pixel)
        np.testing.assert_allclose(every.mass[mine], alone.mass, rtol=1e-13)


def written(path: Path, found: Stations, header: str, units: float = 1.0) -> Path:
    """Soundings as a table: their ellipses in a unit of which a kilometre has so many."""
    ellipse = found.footprint
    columns = (found.latitude, found.longitude, found.value, found.error, ellipse.along * units, ellipse.across * units,
               ellipse.azimuth)  # fmt: skip
    path.write_text("\n".join([header, *(",".join(map(repr, row)) for row in np.transpose(columns).tolist())]))
    return path


HEADER = "lat,lon,t [K],noise,major,minor,turn"


def test_a_table_gives_the_ellipses_in_its_columns(tmp_path: Path, base: DownscalingProblem) -> None:
    """In kilometres or metres, with units behind the names or without."""
    made = soundings(base)
    metres = HEADER.replace("major,minor", "major [m],minor [m]")
    for path in (written(tmp_path / "km.csv", made, HEADER), written(tmp_path / "m.csv", made, metres, 1000)):
        source = Source("x", also=(FurtherSource(str(path), error="noise", footprint="major,minor,turn"),))
        opened = {"stations": stations_at, "regions": regions_at}
        fine = rectilinear(40 + 0.25 * np.arange(12), 5 + 0.25 * np.arange(20))
        fine.to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
        found = build_problem(replace(source, fields=str(tmp_path / "fine.nc")), base.spec, open_fields, **opened)
        (read,) = found.sources
        expected = with_further_stations(base, replace(made, units="K")).sources[0]
        np.testing.assert_array_equal(read.footprints[0], expected.footprints[0])
        np.testing.assert_allclose(read.footprints[2], expected.footprints[2], rtol=1e-9)
        assert torch.allclose(read.targets, expected.targets, rtol=1e-5)
        assert torch.allclose(read.errors.variance, expected.errors.variance, rtol=1e-5)


TABLE = "lat,lon,t,w,v,d\n41,6,280,60,30,10\n42,7,281,50,,20\n41.5,8,282,50,40,30\n"


def test_rows_without_a_footprint_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TABLE)
    found = stations_at(str(tmp_path / "a.csv"), "t", footprint="w; v; d")
    assert found.value.tolist() == [280, 282] and found.footprint.across.tolist() == [30, 40]
    assert any("1 of 3 values have no footprint in 'w' and 'v' and 'd'" in note for note in found.notes)
    circles = stations_at(str(tmp_path / "a.csv"), "t", footprint="w")
    assert circles.footprint.along.tolist() == circles.footprint.across.tolist() == [60, 50, 50]
    assert stations_at(str(tmp_path / "a.csv"), "t", footprint="45").footprint == GaussianFootprint(45, 45)


@pytest.mark.parametrize(
    ("footprint", "said"),
    [
        ("wide", "'wide' is not understood.*or columns that a.csv has"),
        ("w,x", "names no columns of a.csv: give one to three of 'lat'"),
        ("w,v,d,t", "give one to three"),
        ("word", "holds 'a' in row 1"),
        ("none", "No row of a.csv has a footprint in 'none'"),
        ("low", "go down to -1: give positive"),
        ("w,v,turn", "is in 'K', which is not an angle: give degrees from north"),
        ("hot", "is in 'K', which is not a length: give kilometres"),
        ("huge", "of 1000 to 9000 × 1000 to 9000 km cannot be used"),
    ],
)
def test_what_is_no_footprint_of_a_table_is_refused(tmp_path: Path, footprint: str, said: str) -> None:
    more = ("word,none,low,turn [K],hot [K],huge", "a,,-1,1,1,1000", "b,,2,1,1,1000", "c,,3,1,1,9000")
    rows = (f"{row},{extra}" for row, extra in zip(TABLE.split(), more, strict=True))
    (tmp_path / "a.csv").write_text("\n".join(rows))
    with pytest.raises(InputError, match=said):
        stations_at(str(tmp_path / "a.csv"), "t", footprint=footprint)


def test_footprints_narrower_than_pixels_are_counted(base: DownscalingProblem) -> None:
    made = soundings(base)
    thin = replace(made, footprint=replace(made.footprint, across=np.where(np.arange(8) < 3, 5.0, 30.0)))
    with pytest.raises(InputError, match=r"3 of 8 footprints .* are less than half as wide"):
        with_further_stations(base, thin)


def test_the_noise_of_one_source_stays_as_given_while_others_are_learned(joined: DownscalingProblem) -> None:
    """The slopes of the evidence in the others are finite differences of dense algebra."""
    spec = replace(spec_of(joined), representativeness=TAUS)
    data = matched_data(joined, spec)
    hold = ("noise", "point_noise", "representativeness-2")
    trainable = Trainable(spec, data, columns_of(joined), hold=hold)
    label = "representativeness τ² of source"
    assert [name for name in trainable.vector.names if name.startswith(label)] == [f"{label} 1", f"{label} 3"]
    loss = exact_objective(trainable, data, never)()
    loss.backward()
    step, gradient = 1e-4, trainable.vector.gradient()
    for source in (0, 2):
        moved = [tuple(t * np.exp(s * (i == source)) for i, t in enumerate(TAUS)) for s in (step, -step)]
        up, down = (Dense(joined, replace(spec, representativeness=each)).evidence for each in moved)
        mine = gradient[trainable.vector.names.index(f"{label} {source + 1}")]
        assert mine == pytest.approx(-(up - down) / (2 * step) / len(data.targets), rel=1e-4)
    options = LearningOptions(stage_one="joint", restarts=1, steps=3, prior_sd=1.0, hold=hold)
    learned = learn(spec, data, columns_of(joined), options).spec.representativeness
    assert learned[1] == TAUS[1] and learned[0] != TAUS[0] and learned[2] != TAUS[2]
    every = Trainable(spec, data, columns_of(joined), hold=("representativeness",)).representativeness
    assert every == TAUS
    single = replace(joined, sources=joined.sources[:1])
    alone = replace(spec, representativeness=TAUS[0])
    fixed = Trainable(alone, matched_data(single, alone), columns_of(joined), hold=("representativeness-1",))
    assert fixed.representativeness == TAUS[0] and not any(label[:18] in name for name in fixed.vector.names)


def test_models_around_a_learned_one_move_the_noise_of_each_source(joined: DownscalingProblem) -> None:
    names = tuple(f"representativeness τ² of source {number}" for number in (1, 3))
    spec = replace(spec_of(joined), representativeness=TAUS, spread=Spread(names, ((0.5, -0.5), (0.0, 0.1))))
    first, second = (each.representativeness for each in members(spec, joined.columns))
    assert first == pytest.approx((TAUS[0] * np.exp(0.5), TAUS[1], TAUS[2] * np.exp(-0.5)))
    assert second == pytest.approx((TAUS[0], TAUS[1], TAUS[2] * np.exp(0.1)))
    assert noises_by_label(spec)[names[1]] == TAUS[2]
    traced = traced_spec(spec, joined, {names[0]: 0.2, "noise σ²": 0.01})
    assert traced.representativeness == (0.2, *TAUS[1:]) and traced.noise == 0.01


def test_a_source_that_is_not_there_cannot_be_fixed(joined: DownscalingProblem) -> None:
    settings = DownscaleSettings("area_to_point_gp", hold=["representativeness-4"])
    with pytest.raises(InputError, match="count from 1 to 3, stations last"):
        starting_spec(joined, settings)
    with pytest.raises(InputError, match="cannot be fixed while learning: choose from noise"):
        LearningOptions(hold=("representativeness-40",))
    assert DownscaleSettings("area_to_point_gp", representativeness=[0.1]).representativeness == 0.1


@pytest.mark.filterwarnings("ignore:The posterior mean ranges", "ignore:Only .* cells are visible")
def test_the_command_and_the_library_take_the_same_tables(tmp_path: Path) -> None:
    from deconditioning.cli.program import main

    found = problem()
    rectilinear(40 + 0.25 * np.arange(24), 5 + 0.25 * np.arange(32)).to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    table = written(tmp_path / "swath.csv", soundings(found, 12), HEADER)
    fine, out = str(tmp_path / "fine.nc"), tmp_path / "out.nc"
    also = f"{table}::noise:major,minor,turn"
    arguments = ["--target", "t", "--covariates", "orog", "--block", "4", "4", "--withhold", "0", "--no-learn"]
    noise = ["--representativeness", "0.03", "0.06", "--hold", "noise", "point_noise", "representativeness-1"]
    (tmp_path / "towns.csv").write_text("lat,lon,t\n41.1,6.1,281\n42.1,7.1,282\n43.2,8.3,283\n")
    towns = ["--stations", str(tmp_path / "towns.csv"), *noise, "--json", str(tmp_path / "out.json")]
    assert main(["downscale", fine, *arguments, "--also", also, *towns]) == 0
    result = json.loads((tmp_path / "out.json").read_text())["results"][0]
    assert result["settings"]["representativeness"] == [0.03, 0.06]
    assert result["settings"]["hold"] == ["noise", "point_noise", "representativeness-1"]
    assert main(["downscale", fine, *arguments, "--also", also, "--output", str(out)]) == 0
    made = deconditioning.downscale(
        fine, fine, target="t", covariate_names=["orog"], coarsen=(4, 4), withhold=0.0, learn=False,
        also=(str(table), "", "noise", "major,minor,turn"),
    )  # fmt: skip
    with xr.open_dataset(out, engine="h5netcdf") as dataset:
        np.testing.assert_array_equal(made["mean"].values, dataset["mean"].values)
        np.testing.assert_array_equal(made["sd"].values, dataset["sd"].values)
    with pytest.raises(InputError, match="was given for a further source that has cells or outlines"):
        deconditioning.downscale(
            fine, fine, target="t", covariate_names=["orog"], coarsen=(4, 4), learn=False, also=f"{fine}:t::20"
        )


def test_netcdf_without_fields_is_a_table_or_outlines(tmp_path: Path) -> None:
    place = {
        "lat": ("n", [41.0, 42.0], {"units": "degrees_north"}),
        "lon": ("n", [6.0, 7.0], {"units": "degrees_east"}),
    }
    xr.Dataset(place | {"t": ("n", [280.0, 281.0])}).to_netcdf(tmp_path / "points.nc", engine="h5netcdf")
    assert kind_without_fields(str(tmp_path / "points.nc")) == "stations"
    (tmp_path / "junk.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(64))
    assert kind_without_fields(str(tmp_path / "junk.nc")) is None
    assert kind_without_fields(str(tmp_path / "nothing.nc")) is None


def test_names_behind_a_file_may_be_empty() -> None:
    assert FurtherSource.of_text("a.csv:::20,14,30") == FurtherSource("a.csv", footprint="20,14,30")
    assert FurtherSource.of_text("a.csv:t::w") == FurtherSource("a.csv", "t", footprint="w")
    source = Source("f", also=(FurtherSource("a.csv", footprint="w"),))
    assert Source.from_dict(source.to_dict()) == source and source.to_dict()["also"] == [
        {"key": "a.csv", "footprint": "w"}
    ]


def test_the_generated_soundings_measure_the_field_they_belong_to() -> None:
    found = sources_case(1)
    source = found.sources[0]
    pixel, measurement, weight = source.footprints
    means = np.bincount(measurement, weight * found.truth.flat[found.pixel[pixel]], len(source.row))
    rest = source.measured.value - means
    assert rest.mean() == pytest.approx(SWATH_OFFSET, abs=4 * SWATH_ERROR / len(rest) ** 0.5)
    assert rest.std() == pytest.approx(SWATH_ERROR, rel=0.35)
    assert len(rest) > 35 and found.stations.measured.source == "the synthetic network"


def test_three_sources_are_more_accurate_than_the_best_alone() -> None:
    """The stored study: by 15 % at stations that no map has seen; one number of it is computed anew."""
    stored = json.loads((bundled("benchmarks") / "sources.json").read_text())
    rows, mean = stored["rows"], stored["mean"]
    assert np.mean([gain(row) for row in rows]) >= 0.15 and min(gain(row) for row in rows) > 0.1
    assert 0.93 <= mean["inside_95"] <= 0.97
    for row in rows:
        assert abs(row["swath_offset"] - SWATH_OFFSET) < 3.5 * row["swath_offset_sd"]
        assert abs(row["stations_offset"] - OFFSET) < 3.5 * row["stations_offset_sd"]
    found = sources_case(0)
    assert rmse_alone(found, found.sources[1], OFFSET, OFFSET) == pytest.approx(rows[0]["stations"], rel=1e-3)
