"""Stations and regions on page Downscaling in AppTest: the bundled example, own files, refusals."""

import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely
import xarray as xr
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from deconditioning.datasets.network import OFFSET, Network, districts, network
from deconditioning.downscaling import interactive
from deconditioning.downscaling.further_sources.opening import REGION_TABLES, STATIONS, keep_further_file, kind_of
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.presets import preset
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.engine.visitors.uploads import stored_of_kind
from deconditioning.errors import InputError
from deconditioning.fields.footprints.gaussian import GaussianFootprint
from deconditioning.fields.footprints.region_files import Outlines, read_outlines, regions_of
from deconditioning.fields.footprints.regions import make_problem_from_regions
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.footprints.stations import with_stations
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.figures.downscaled_maps import named_regions
from deconditioning.figures.style import uncompacted
from deconditioning.wording import number as in_words
from deconditioning.wording import rounded
from pages.downscaling.frames.ahead import pictures_along
from pages.downscaling.own_file.request import OWN
from pages.kit.state import get_engine
from tests.core.fields.samples import netcdf
from tests.pages.conftest import FEW_CELLS, until
from tests.pages.sliders import log_slider
from tests.pages.test_tools import press
from tests.pages.visitor_files import offered


def words(page: AppTest) -> str:
    """Everything the page says in Markdown and below pictures."""
    assert not page.exception and not page.error
    return " ".join(each.value.replace("\\", "") for each in (*page.markdown, *page.caption))


def equation(page: AppTest) -> str:
    """What stands in the box of the equation."""
    (box,) = [each for each in page.expander if each.label == "The equation"]
    return " ".join(each.value for each in box.markdown)


def exact(page: AppTest) -> AppTest:
    """The page with its exact maps."""
    until(page, lambda: "Exact: the posterior" in words(page))
    return page


def test_the_example_opens_learned_and_says_what_the_command_line_does(open_page) -> None:
    """The offset, shares and scores are those of ``downscale`` at the page's settings."""
    page = exact(open_page("downscaling", data="stations"))
    assert "and 50 stations" in words(page) and "of the 66 targets" not in words(page)
    assert re.search(r"is inside its 95 % interval for \d+ % of the area", words(page))
    choice = page.session_state["_choice"]
    assert choice.source == Source("stations", stations="stations/seen", scored="stations/scored")
    problem = build_problem(choice.source, choice.spec)
    start = preset(choice.source.to_dict(), choice.spec.to_dict(), DownscaleSettings("area_to_point_gp"))
    assert start is not None and start.representativeness > 0
    settings = spec_to_settings(DownscaleSettings("area_to_point_gp"), start)
    result = downscale(problem, settings)
    said = result.diagnostics["stations"]
    offset, higher = re.search(r"stations read \*\*(.*?) ± .*? K\*\* (higher|lower) than", words(page)).groups()
    offset = float(offset) * {"higher": 1, "lower": -1}[higher]
    assert offset == pytest.approx(said["targets"]["offset"], abs=0.01)
    assert abs(offset - OFFSET) < 3 * said["targets"]["offset_sd"]
    rmse = float(re.search(r"all other targets: RMSE ([\d.]+) K", words(page)).group(1))
    assert rmse == pytest.approx(said["targets"]["left_out"]["rmse"], rel=1e-2)
    (table,) = [each.proto.body for each in page.get("html") if "stations that no method used" in each.proto.body]
    first = re.findall(r"<tr.*?</tr>", table.split("<tbody>")[1], re.S)[0]
    assert f"{said['scored']['rmse']:.3f}" in first and f"{said['scored']['crps']:.3f}" in first
    errors = result.fields["bilinear"].flat[problem.pixel[problem.scored.row]] - problem.scored.measured.value
    bilinear = np.sqrt(np.nanmean((errors + said["targets"]["offset"]) ** 2))
    assert in_words(bilinear, 3) in table, "the baselines get the offset that the model learned"
    alone = downscale(build_problem(Source("stations"), choice.spec), settings).fields["area_to_point_gp"]
    errors = alone.flat[problem.pixel[problem.scored.row]] - problem.scored.measured.value
    cells = np.sqrt(np.nanmean((errors + said["targets"]["offset"]) ** 2))
    assert (
        f"{rounded(said['scored']['rmse'])} K**, beside {rounded(cells)} K of the same model from the "
        f"cells alone and {rounded(bilinear)} K of bilinear interpolation, each with the same offset"
    ) in words(page)
    (legend,) = [each.proto.body for each in page.get("html") if "used as targets" in each.proto.body]
    assert "50 stations used" in legend and "300 stations kept for testing" not in legend
    (tested_stations,) = [each for each in page.toggle if each.label == "Show 300 stations kept for testing"]
    assert not tested_stations.value and page.toggle(key="marks-0").value
    (tested,) = [each.label for each in page.expander if each.label.startswith("Assumptions of the map")]
    assert tested == "Assumptions of the map (all hold)"
    assert "16 cells and 50 stations are visible: the stations show" in words(page)
    assert "Only 16 cells" not in words(page)
    tau = in_words(start.representativeness)
    assert "M = 16 + 50 = 66" in equation(page) and rf"\tau^2 = {tau}" in equation(page)
    assert "then 50 stations" in equation(page) and "offset of each source" in equation(page)


def test_without_its_stations_the_example_is_one_of_cells(open_page) -> None:
    page = exact(open_page("downscaling", data="stations", stations="(none)", scored="(none)"))
    assert page.session_state["_choice"].source == Source("stations") and "50 stations" not in words(page)
    assert "Only 16 cells are visible" in words(page) and "M = 16" in equation(page) and r"\tau" not in equation(page)
    assert "tau" not in {slider.key for slider in page.select_slider}


def test_the_generated_stations_measure_the_field_they_belong_to() -> None:
    drawn = network(3, offset=0.0)
    problem = build_problem(
        Source("x"), DownscalingSpec("t", ("altitude",), (), (18, 18), 0.0), lambda key: drawn.fields
    )
    grid, truth = problem.grid, problem.truth
    row = np.abs(grid.y[:, None] - drawn.targets.latitude).argmin(axis=0)
    column = np.abs(grid.x[:, None] - drawn.targets.longitude).argmin(axis=0)
    assert np.std(drawn.targets.value - truth[row, column]) == pytest.approx(np.hypot(0.1, 0.15), rel=0.3)


@pytest.fixture(scope="module")
def generated() -> Network:
    return network(1)


def table(stations: Stations, value: str = "t [K]", **more: np.ndarray) -> bytes:
    """Stations as CSV."""
    columns = {"lat": stations.latitude, "lon": stations.longitude, value: stations.value, "error": stations.error}
    rows = zip(*(columns | more).values(), strict=True)
    return "\n".join([",".join(columns | more), *(",".join(f"{each:.6f}" for each in row) for row in rows)]).encode()


def squares(side: float = 0.9, west: float = -40.025, south: float = 44.975) -> bytes:
    """4 × 4 regions as GeoJSON, with the value ``t`` and its error."""
    features = []
    for number in range(16):
        x, y = west + side * (number % 4), south + side * (number // 4)
        ring = [[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]]
        about = {"name": f"region {number}", "t": 280.0 + number, "spread": 0.2, "word": "a"}
        features.append(
            {"type": "Feature", "properties": about, "geometry": {"type": "Polygon", "coordinates": [ring]}}
        )
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def covariates(drawn: Network, *names: str) -> bytes:
    return netcdf(drawn.fields.dataset[[*names]])


def test_own_stations_join_own_fields_and_stay_in_address_and_run(open_page, generated: Network) -> None:
    page = open_page("downscaling", data=OWN, **FEW_CELLS)
    beside = (
        ("towns.csv", table(generated.targets.of(np.arange(12)))),
        ("masts.csv", table(generated.scored.of(np.arange(9)))),
    )
    offered(page, ("fields.nc", covariates(generated, "t", "altitude")), *beside)
    page.button(key="lab-own-go").click().run()
    source = page.session_state["_choice"].source
    names = stored_of_kind(STATIONS)
    assert [names[key] for key in (source.stations, source.scored)] == ["towns.csv", "masts.csv"]
    assert "; and 12 stations" in words(page) and not source.regions
    problem = build_problem(source, page.session_state["_choice"].spec)
    np.testing.assert_allclose(problem.stations.measured.value, generated.targets.value[:12], atol=1e-5)
    np.testing.assert_allclose(problem.scored.measured.latitude, generated.scored.latitude[:9], atol=1e-5)
    again = open_page("downscaling", **{key: page.query_params[key] for key in page.query_params})
    assert again.session_state["_choice"].source == source


def test_stations_of_several_times_give_the_one_that_is_chosen(open_page, generated: Network) -> None:
    page = open_page("downscaling", data="stations")
    seen = network().targets
    first, second = (table(replace(seen, value=seen.value + more)).decode().splitlines() for more in (0.0, 3.0))
    days = ["day," + first[0]] + [f"{day},{row}" for day, rows in (("2001-01-01", first), ("2001-01-02", second))
                                  for row in rows[1:]]  # fmt: skip
    offered(page, ("days.csv", "\n".join(days).encode()))
    page.button(key="lab-own-beside").click().run()
    assert "several times in 'day', from 2001-01-01 00:00 to 2001-01-02 00:00: choose one" in page.error[0].value
    (time,) = [each for each in page.selectbox if each.label == "Time of the stations' values"]
    assert time.options == ["that of the map", "2001-01-01 00:00", "2001-01-02 00:00"]
    time.set_value("2001-01-02 00:00").run()
    page.button(key="lab-own-beside").click().run()
    choice = page.session_state["_choice"]
    assert choice.source.station_time == "2001-01-02 00:00" and "and 50 stations" in words(page)
    problem = build_problem(choice.source, choice.spec)
    np.testing.assert_allclose(problem.stations.measured.value, seen.value + 3, atol=1e-5)
    again = open_page("downscaling", **{key: page.query_params[key] for key in page.query_params})
    assert again.session_state["_choice"].source == choice.source


def test_stations_with_a_footprint_are_averages_and_a_bad_one_is_refused(open_page) -> None:
    page = open_page("downscaling", data="stations")
    page.text_input(key="footprint").set_value("60,40,30").run()
    choice = page.session_state["_choice"]
    assert choice.source.station_footprint == "60,40,30" and not page.exception
    problem = build_problem(choice.source, choice.spec)
    footprint = GaussianFootprint(60, 40, 30)
    alone = with_stations(replace(problem, sources=()), replace(network().targets, footprint=footprint))
    np.testing.assert_allclose(problem.stations.footprints[2], alone.stations.footprints[2])
    assert "mean over its footprint" in words(exact(page)) and "full width at half maximum: 60 × 40" in words(page)
    again = open_page("downscaling", **{key: page.query_params[key] for key in page.query_params})
    assert again.session_state["_choice"].source == choice.source
    for text, sentence in (("wide", "is not understood"), ("0.1", "less than half as wide as a pixel")):
        page.text_input(key="footprint").set_value(text).run()
        assert sentence in page.error[0].value and not page.exception
    page.text_input(key="footprint").set_value("").run()
    assert not page.error and not page.session_state["_choice"].source.station_footprint


def column(page: AppTest) -> Selectbox:
    return next(each for each in page.selectbox if str(each.key).startswith("lab-own-column"))


def test_stations_join_the_fields_that_the_page_shows(open_page, generated: Network) -> None:
    page = open_page("downscaling", data="stations")
    offered(page, ("two.csv", table(network().targets, "temp", wind=network().targets.error)))
    assert {"temp", "wind"} <= set(column(page).options)
    page.button(key="lab-own-beside").click().run()
    assert "Which column of two.csv was measured is not clear" in page.error[0].value
    column(page).set_value("temp").run()
    page.button(key="lab-own-beside").click().run()
    source = page.session_state["_choice"].source
    assert source.station_value == "temp" and stored_of_kind(STATIONS)[source.stations] == "two.csv"
    assert source.scored is None and "and 50 stations" in words(page)
    press(page, "preset-1")
    assert page.session_state["_choice"].source == source and not page.exception


def test_regions_are_the_target_beside_own_covariates(open_page, generated: Network) -> None:
    page = open_page("downscaling", data=OWN, **FEW_CELLS)
    offered(page, ("heights.nc", covariates(generated, "altitude")), ("regions.geojson", squares()))
    (attribute,) = [each for each in page.selectbox if each.label == "Values of the regions"]
    assert attribute.options == ["t", "spread"]
    page.text_input(key="lab-own-units").set_value("K").run()
    page.button(key="lab-own-go").click().run()
    choice = page.session_state["_choice"]
    assert choice.spec.covariates == ("altitude",) and choice.source.units == "K" and "its region" in words(page)
    page.selectbox(key="errors").set_value("spread").run()
    choice = page.session_state["_choice"]
    assert choice.spec.error == "spread" and not page.exception
    problem = build_problem(choice.source, choice.spec)
    mine = read_outlined(squares())
    apart = make_problem_from_regions(generated.fields, regions_of(mine, "t", "K", "spread"), choice.spec)
    np.testing.assert_array_equal(problem.data.targets, apart.data.targets)
    np.testing.assert_array_equal(problem.data.bags.weights, apart.data.bags.weights)
    np.testing.assert_array_equal(problem.data.errors, apart.data.errors)


def test_values_of_regions_come_from_a_table(open_page, generated: Network) -> None:
    """The bags and targets are those of outlines that hold the table's numbers themselves."""
    page = open_page("downscaling", data=OWN, **FEW_CELLS)
    bare = squares().replace(b'"t": 2', b'"word": 2').replace(b'"spread": 0', b'"word": 0')
    rows = "\n".join(f"Region {n},region {n},{280 + n},{'' if n else 0.5}" for n in reversed(range(16)))
    fields, outlines = ("heights.nc", covariates(generated, "altitude")), ("bare.geojson", bare)
    offered(page, fields, ("means.csv", f"title,place,t,sd\n{rows}\n".encode()))
    assert any("means.csv" in box.value and "outlines" in box.value for box in page.info)
    offered(page, fields, outlines, ("means.csv", f"title,place,t,sd\n{rows}\n".encode()))
    (by,) = [each for each in page.selectbox if each.label == "Rows joined to regions by"]
    (attribute,) = [each for each in page.selectbox if each.label == "Values of the regions"]
    assert by.options == ["name = place: all 16 regions"] and attribute.options == ["t", "sd"]
    page.text_input(key="lab-own-units").set_value("K").run()
    page.button(key="lab-own-go").click().run()
    choice = page.session_state["_choice"]
    assert choice.source.key == "name=place" and "its region" in words(page)
    assert stored_of_kind(REGION_TABLES)[choice.source.table] == "means.csv"
    apart = make_problem_from_regions(generated.fields, regions_of(read_outlined(squares()), "t", "K"), choice.spec)
    problem = build_problem(choice.source, choice.spec)
    np.testing.assert_array_equal(problem.data.targets, apart.data.targets)
    np.testing.assert_array_equal(problem.data.bags.weights, apart.data.bags.weights)
    again = open_page("downscaling", **{key: page.query_params[key] for key in page.query_params})
    assert again.session_state["_choice"].source == choice.source
    page.selectbox(key="region-table").set_value("(none)").run()
    assert "have no attribute of numbers: give a table" in page.error[0].value and not page.exception


def test_a_netcdf_table_of_several_months_gives_regions_the_values_of_one(open_page, generated: Network) -> None:
    """The covariates have no date, so the month is chosen in a list and stays in the address."""
    page = open_page("downscaling", data=OWN, **FEW_CELLS)
    bare = squares().replace(b'"t": 2', b'"word": 2').replace(b'"spread": 0', b'"word": 0')
    values = 280.0 + np.arange(16) + np.array([[10.0], [0.0]])
    means = xr.Dataset({
        "name": ("region", [f"region {n}" for n in range(16)], {"cf_role": "timeseries_id"}),
        "t": (("time", "region"), values, {"units": "K"}),
        "time": ("time", [0.0, 31.0], {"units": "days since 2020-01-01"}),
    })  # fmt: skip
    offered(
        page, ("heights.nc", covariates(generated, "altitude")), ("bare.geojson", bare), ("means.nc", netcdf(means))
    )
    (months,) = [each for each in page.selectbox if each.label == "Time of the regions' values"]
    assert months.options == ["that of the covariates", "2020-01-01 00:00", "2020-02-01 00:00"]
    page.button(key="lab-own-go").click().run()
    assert "has several times in 'time'" in page.error[0].value and "`--region-time TIME`" in page.error[0].value
    (months,) = [each for each in page.selectbox if each.label == "Time of the regions' values"]
    months.set_value("2020-02-01 00:00").run()
    page.button(key="lab-own-go").click().run()
    choice = page.session_state["_choice"]
    assert choice.source.region_time == "2020-02-01 00:00" and choice.source.key == "name" and not page.exception
    apart = make_problem_from_regions(generated.fields, regions_of(read_outlined(squares()), "t", "K"), choice.spec)
    problem = build_problem(choice.source, choice.spec)
    np.testing.assert_array_equal(problem.data.targets, apart.data.targets)
    assert problem.units == "K" and problem.when_and_where == ("1 February 2020, 00:00 UTC",)
    again = open_page("downscaling", **{key: page.query_params[key] for key in page.query_params})
    assert again.session_state["_choice"].source == choice.source


def read_outlined(data: bytes) -> Outlines:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "regions.geojson"
        path.write_bytes(data)
        return read_outlines(path)


HOSTILE = {
    "words.geojson": (b'{"type": "Feature"', "words.geojson is not GeoJSON with features"),
    "deep.geojson": (b"[" * 200_000, "deep.geojson is not GeoJSON with features"),
    "points.json": (b'{"type":"Feature","properties":{"t":1},"geometry":{"type":"Point","coordinates":[-39,46]}}',
                    "give polygons"),
    "fake.gpkg": (b"SQLite format 3\0" + bytes(range(256)) * 8, "fake.gpkg"),
    "nowhere.csv": (b"lon,value\n6,1\n7,2\n", "nowhere.csv has no column of latitude"),
    "words.csv": (b"place,value\nA,low\nB,high\n", "words.csv has no column of latitude"),
    "bare.csv": (b"lat,lon\n46,-39\n", "no column of measured numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_one_sentence_and_nothing_is_kept(runs_folder: Path, name: str) -> None:
    data, sentence = HOSTILE[name]
    kind = kind_of(data, name)
    assert kind is not None
    with pytest.raises(InputError, match=sentence):
        keep_further_file(kind, data, name)
    assert not list(runs_folder.rglob("*.nc"))


def test_fields_are_known_by_their_bytes_whatever_their_name() -> None:
    heads = (b"CDF\x01" + bytes(60), b"\x89HDF\r\n\x1a\n\x00" + bytes(60), b"GRIB" + bytes(60), b"\x00\x01")
    assert [kind_of(head, f"a{ending}") for head in heads for ending in (".dat", ".nc")] == 8 * [None]


def test_a_file_that_cannot_join_is_refused_and_changes_nothing(open_page) -> None:
    page = open_page("downscaling", data="stations")
    offered(page, ("mars.csv", b"lat,lon,value\n-60,100,288\n-61,101,289\n"))
    page.button(key="lab-own-beside").click().run()
    assert not page.exception and "None of the 2 stations of mars.csv lies on a pixel" in page.error[0].value
    assert any("lab-refused" in each.proto.body and "mars.csv" in each.proto.body for each in page.get("html"))
    assert page.session_state["_choice"].source.stations == "stations/seen"
    rain = b"lat,lon,value [mm]\n46,-39,288\n46.5,-38.5,289\n"
    offered(page, ("rain.csv", rain)).button(key="lab-own-beside").click().run()
    assert "mm" in page.error[0].value and not page.exception


def test_regions_that_lie_elsewhere_are_refused(open_page, generated: Network) -> None:
    page = open_page("downscaling", data=OWN, **FEW_CELLS)
    offered(page, ("heights.nc", covariates(generated, "altitude")), ("far.geojson", squares(west=60.0)))
    page.button(key="lab-own-go").click().run()
    assert not page.exception and "None of the 16 regions of far.geojson overlaps the map" in page.error[0].value


def test_what_is_learned_of_stations_goes_onto_the_sliders_and_comes_back_with_the_run(open_page) -> None:
    page = open_page("downscaling", data="stations", average="false", noise="0.001")
    page.button(key="learn").click().run()
    until(page, lambda: [box for box in page.info if "Learned" in box.value])
    page.run()
    run = get_engine().get(page.query_params["run"])
    learned = run.result["learned"]
    assert log_slider(page, "tau").value == pytest.approx(learned["representativeness"], rel=1e-3)
    source = {"fields": "stations", "stations": "stations/seen", "scored": "stations/scored"}
    assert {name: value for name, value in run.spec.settings["source"].items() if value} == source
    again = open_page("downscaling", run=run.id)
    assert again.session_state["_choice"] == page.session_state["_choice"]
    assert log_slider(again, "tau").value == log_slider(page, "tau").value


def test_maps_ahead_of_a_slider_see_the_stations() -> None:
    choice = Source("stations", stations="stations/seen"), DownscalingSpec("t", ("altitude",), (), (18, 18), 0.0)
    problem = build_problem(*choice)
    spec = preset(choice[0].to_dict(), choice[1].to_dict(), DownscaleSettings("area_to_point_gp"))
    assert spec is not None
    drawn = interactive.picture_or_none(problem, spec)
    found = pictures_along(spec, problem, drawn, "noise", -0.2, 0.2)
    exact = problem.physical_mean(predict(spec, matched_data(problem, spec), problem).mean).ravel()
    assert np.nanmax(np.abs(found.mean.at(0.0) - exact)) < 0.02 * found.unit


def test_the_example_of_districts_opens_with_their_means(open_page) -> None:
    """A mean over a district is that of the truth at a hundred thousand random points of it."""
    page = open_page("downscaling", data="districts")
    choice = page.session_state["_choice"]
    beside = {"regions": "districts/means", "units": "K", "scored": "districts/scored"}
    assert choice.source == Source("districts", **beside) and "its region" in words(page)
    assert preset(choice.source.to_dict(), choice.spec.to_dict(), DownscaleSettings("area_to_point_gp")) is not None
    problem = build_problem(choice.source, choice.spec)
    assert problem.units == "K" and problem.regions is not None and len(problem.scored.row) == 300
    fields, outlines, rng = network().fields, districts(), np.random.default_rng(0)
    named = named_regions(problem)["regions"]
    called = np.array(named["names"])[uncompacted(named["of"]).astype(int)]
    centres = np.stack([problem.grid.longitude, problem.grid.latitude], axis=-1)[::7, ::7].reshape(-1, 2)
    for (x, y), name in zip(centres, called[::7, ::7].ravel(), strict=True):
        holders = np.flatnonzero(shapely.contains_xy(outlines.geometry, x, y))
        assert [outlines.attributes["name"][each] for each in holders] == [name] * len(holders)
    page.session_state["_cell"] = (-39.0, 46.0)
    (here,) = np.flatnonzero(shapely.contains_xy(outlines.geometry, -39.0, 46.0))
    assert f"**{outlines.attributes['name'][here]}** (46.00° N, 39.00° W" in words(page.run())
    grid, truth = fields.grid, fields.values("t", {})
    x, y = (rng.uniform(edges[0], edges[-1], 100_000) for edges in (grid.x_edges, grid.y_edges))
    value = truth[np.searchsorted(grid.y_edges, y) - 1, np.searchsorted(grid.x_edges, x) - 1]
    weight = np.cos(np.deg2rad(y))
    for number in (0, 17, 39):
        inside = shapely.contains_xy(outlines.geometry[number], x, y)
        mean = np.average(value[inside], weights=weight[inside])
        assert outlines.attributes["temperature"][number] == pytest.approx(mean, abs=0.1)
