"""Further sources on page Downscaling in AppTest: tables, soundings, regions and grids beside cells and stations."""

import json
import re

import numpy as np
import pytest
import torch
import xarray as xr
from streamlit.testing.v1 import AppTest

from deconditioning.cli.program import main
from deconditioning.datasets.entries import find_stations
from deconditioning.datasets.network import BLOCK, OFFSET, network
from deconditioning.downscaling.further_sources.opening import REGIONS, STATIONS, regions_at, stations_at
from deconditioning.downscaling.presets import preset
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import FIELDS, FurtherSource, Source, build_problem
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.engine.visitors.uploads import path_of, stored_of_kind
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.reading.opening import open_fields
from deconditioning.wording import number
from pages.kit.state import get_engine
from tests.core.fields.samples import netcdf
from tests.pages.sliders import moved
from tests.pages.test_stations import equation, exact, squares, words
from tests.pages.test_stations import table as stations_table
from tests.pages.visitor_files import offered

TURN = (60.0, 40.0, 30.0)


def swath(count: int = 20, off: float = 1.0) -> bytes:
    """Soundings with an ellipse each, as a table."""
    drawn = network().scored.of(np.arange(count))
    rng = np.random.default_rng(0)
    columns = (drawn.latitude, drawn.longitude, drawn.value + off, np.full(count, 0.2), rng.uniform(50, 70, count),
               rng.uniform(30, 45, count), rng.uniform(0, 180, count))  # fmt: skip
    rows = "\n".join(",".join(f"{each:.5f}" for each in row) for row in zip(*columns, strict=True))
    return f"lat,lon,t [K],noise,major,minor,turn\n{rows}\n".encode()


def other_grid() -> bytes:
    """Means of the truth over cells half a cell off."""
    fields, half = network().fields, BLOCK // 2
    truth = fields.values("t")[half:-half, half:-half]
    rows, columns = (each[half::BLOCK] for each in (fields.grid.y_edges, fields.grid.x_edges))
    means = truth.reshape(len(rows) - 1, BLOCK, len(columns) - 1, BLOCK).mean(axis=(1, 3))
    middle = {"lat": ("lat", 0.5 * (rows[1:] + rows[:-1]), {"units": "degrees_north"}),
              "lon": ("lon", 0.5 * (columns[1:] + columns[:-1]), {"units": "degrees_east"})}  # fmt: skip
    return netcdf(xr.Dataset({"tas": (("lat", "lon"), means, {"units": "K"})}, middle))


def also(page: AppTest) -> AppTest:
    """The dialog's list of further sources."""
    return next(each for each in page.multiselect if str(each.key).startswith("lab-own-also-"))


def of_dialog(page: AppTest, name: str, title: str):
    """A control of the dialog for the file of that title."""
    every = (*page.selectbox, *page.text_input)
    return next(each for each in every if str(each.key).startswith(f"lab-own-also-{name}") and title in each.label)


def by_command(source: Source, spec) -> DownscalingProblem:
    """The problem of the same files as a command opens them: by their paths."""
    plain = source.to_dict()
    for each in plain["also"]:
        each["key"] = str(path_of(each["key"])[0])
    opened = {"regions": regions_at, "stations": stations_at}
    openers = {"stations": network().fields}
    return build_problem(
        Source.from_dict(plain), spec, lambda key: openers.get(key) or open_fields(key), **opened
    )  # fmt: skip


def test_soundings_join_cells_and_stations_and_stay_in_the_address(open_page) -> None:
    page = open_page("downscaling", data="stations")
    offered(page, ("swath.csv", swath()))
    (key,) = stored_of_kind(STATIONS)
    (targets,) = [each for each in page.selectbox if each.label == "Stations that are targets"]
    targets.set_value("stations/seen").run()
    also(page).set_value([key]).run()
    of_dialog(page, "error", "swath").set_value("noise").run()
    of_dialog(page, "footprint", "swath").set_value("major,minor,turn").run()
    page.button(key="lab-own-beside").click().run()
    choice = page.session_state["_choice"]
    assert choice.source.also == (FurtherSource(key, error="noise", footprint="major,minor,turn"),)
    assert choice.source.stations == "stations/seen"
    assert "and 20 values of swath.csv and 50 stations" in words(page)
    again = open_page("downscaling", **{name: page.query_params[name] for name in page.query_params})
    assert again.session_state["_choice"].source == choice.source
    rows = exact(page).dataframe[0].value.to_dict("records")
    assert [(row["Source"], row["Kind"], row["Values"]) for row in rows] == [
        ("swath.csv", "soundings", 20), ("stations", "stations", 50),
    ]  # fmt: skip
    assert "±" in rows[0]["Offset from the cells (K)"] and 0 < float(rows[0]["Variance removed (%)"]) < 100
    page.text_input(
        key=next(each.key for each in page.text_input if str(each.key).startswith("also-footprint"))
    ).set_value("major,minor,tern").run()
    assert "names no columns of swath.csv" in page.error[0].value and not page.exception


def test_page_and_command_make_the_same_problem_of_the_same_files(open_page) -> None:
    """A table, soundings, regions and a second grid in one posterior."""
    page = open_page("downscaling", data="stations")
    masts = stations_table(network().scored.of(np.arange(30, 45)))
    offered(page, ("masts.csv", masts), ("swath.csv", swath()), ("squares.geojson", squares()))
    offered(page, ("other.nc", other_grid()))
    keys = {name: key for kind in (STATIONS, REGIONS, FIELDS) for key, name in stored_of_kind(kind).items()}
    assert len(keys) == 4
    key, swath_key = keys["masts.csv"], keys["swath.csv"]
    page.session_state["also"] = [key, swath_key, keys["squares.geojson"], keys["other.nc"]]
    page.session_state[f"also-footprint-{swath_key.removeprefix('upload:')}"] = "major,minor,turn"
    page.session_state[f"also-error-{swath_key.removeprefix('upload:')}"] = "noise"
    page.button(key="lab-own-file").click().run()
    choice = page.session_state["_choice"]
    assert not page.error and len(choice.source.also) == 4 and choice.source.also[1].error == "noise"
    found, other = build_problem(choice.source, choice.spec), by_command(choice.source, choice.spec)
    assert len(found.sources) == 5
    for one, two in zip(found.sources, other.sources, strict=True):
        assert torch.equal(one.targets, two.targets) and torch.equal(one.errors.variance, two.errors.variance)
        if one.footprints is not None:
            for mine, same in zip(one.footprints, two.footprints, strict=True):
                np.testing.assert_array_equal(mine, same)
    table = exact(page).dataframe[0].value
    assert table["Kind"].tolist() == ["stations", "soundings", "cells or regions", "cells or regions", "stations"]
    sliders = {slider.key: slider.label for slider in page.select_slider if str(slider.key).startswith("tau")}
    assert list(sliders) == ["tau-1", "tau-2", "tau-3", "tau-4", "tau"] and "swath.csv" in sliders["tau-2"]
    page.multiselect(key="tau-fixed").set_value(["representativeness-2"]).run()
    moved(page, "tau-2", 10)
    page.button(key="learn").click().run()
    run = get_engine().get(page.query_params["run"])
    get_engine().cancel(run.id)
    settings = run.spec.settings["settings"]
    assert settings["hold"] == ["noise", "point_noise", "representativeness-2"]
    assert settings["representativeness"][1] == pytest.approx(0.5, rel=1e-2) and not page.exception


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("empty.csv", b"lat,lon\n50,5\n", "no column of measured numbers"),
        ("bad.geojson", b'{"type": "Feature"', "is not GeoJSON with features"),
    ],
)
def test_a_bad_file_loses_nothing(open_page, name: str, data: bytes, sentence: str) -> None:
    page = open_page("downscaling", data="stations")
    before = page.session_state["_choice"].source
    offered(page, (name, data))
    assert sentence in " ".join(each.value for each in page.error) and not page.exception
    assert page.session_state["_choice"].source == before


def test_values_elsewhere_are_refused_in_one_sentence(open_page) -> None:
    page = open_page("downscaling", data="stations")
    far = swath().replace(b"\n4", b"\n-4")
    offered(page, ("far.csv", far))
    (key,) = stored_of_kind(STATIONS)
    (targets,) = [each for each in page.selectbox if each.label == "Stations that are targets"]
    targets.set_value("stations/seen").run()
    also(page).set_value([key]).run()
    page.button(key="lab-own-beside").click().run()
    assert "None of the 20 stations of far.csv lies on a pixel" in page.error[0].value and not page.exception
    assert not page.session_state["_choice"].source.also


def test_a_value_is_hidden_by_hand_and_shown_again(open_page) -> None:
    page = open_page("downscaling", data="stations", **{"hide-values": "1-3"})
    choice = page.session_state["_choice"]
    assert choice.source.hide_values == ((1, 3),) and "and 49 stations" in words(page)
    assert "1 value of sources hidden (×) by hand" in words(page)
    found = build_problem(choice.source, choice.spec)
    np.testing.assert_array_equal(found.stations.measured.value, np.delete(network().targets.value, 2))
    page.button(key="lab-all-values").click().run()
    assert page.text_input(key="hide-values").value == "" and "and 50 stations" in words(page)
    page.text_input(key="hide-values").set_value("1:3").run()
    assert "names no values of sources" in page.error[0].value and not page.exception
    page.text_input(key="hide-values").set_value("2-3").run()
    assert "count from 1 to 1" in page.error[0].value and not page.exception
    page.text_input(key="hide-values").set_value("1-7").run()
    page.selectbox(key="stations").set_value("(none)").run()
    assert not page.exception and not page.error and not page.session_state["_choice"].source.hide_values


def test_a_click_on_a_station_hides_it() -> None:
    def shown():
        import streamlit as st

        from deconditioning.datasets.network import network
        from deconditioning.fields.footprints.stations import with_stations
        from deconditioning.fields.problem.coarsened import make_problem
        from deconditioning.fields.spec import DownscalingSpec
        from pages.downscaling.cell_selection import pointed
        from pages.downscaling.footprints.hidden import KEY
        from pages.kit.controls.program_values import requested_value

        drawn = network()
        spec = DownscalingSpec("t", ("altitude",), (), (18, 18), 0.0)
        problem = with_stations(make_problem(drawn.fields, spec), drawn.targets)
        st.session_state["pointing"] = "value"
        at = drawn.targets.longitude, drawn.targets.latitude
        pointed(problem, [[1.0, float(at[0][4]), float(at[1][4])]])
        first = requested_value(KEY, "")
        pointed(problem, [[2.0, float(at[0][9]), float(at[1][9])]])
        second = requested_value(KEY, "")
        pointed(problem, [[3.0, float(at[0][4]), float(at[1][4])]])
        st.text(f"{first} {second} {requested_value(KEY, '')}")

    page = AppTest.from_function(shown).run()
    assert not page.exception and page.text[0].value == "1-5 1-5.1-10 1-10"


def test_the_example_of_three_sources_opens_with_its_swath(open_page) -> None:
    page = open_page("downscaling", data="sources")
    choice = page.session_state["_choice"]
    assert choice.source == Source(
        "sources", stations="sources/seen", scored="sources/scored", also=(FurtherSource("sources/swath"),)
    )
    assert "values of a synthetic satellite swath and 50 stations" in words(page)
    problem = build_problem(choice.source, choice.spec)
    start = preset(choice.source.to_dict(), choice.spec.to_dict(), DownscaleSettings("area_to_point_gp"))
    learned = downscale(problem, DownscaleSettings("area_to_point_gp")).spec
    assert start is not None and start.representativeness == pytest.approx(learned.representativeness, rel=0.02)
    assert any("sliders are at learned values" in each.value for each in page.caption)
    rows = exact(page).dataframe[0].value.to_dict("records")
    assert [row["Kind"] for row in rows] == ["soundings", "stations"]
    (footprint,) = [each for each in page.text_input if str(each.key).startswith("also-footprint")]
    swath = find_stations("sources/swath").footprint
    assert footprint.placeholder == f"{swath.along.min():g} to {swath.along.max():g} × {swath.across[0]:g} km (stated)"
    said = equation(page)
    assert "M = 16 + 45 + 50 = 111" in said and "of the 111 targets" not in words(page)
    for tau, name in zip(start.representativeness, ("a synthetic satellite swath", "stations"), strict=True):
        assert rf"\tau^2 = {number(tau)}\ \text{{({name})}}" in said
    page.multiselect(key="also").set_value([]).run()
    assert not page.session_state["_choice"].source.also and not page.exception


def test_stations_of_a_warped_target_are_those_of_the_command_line(open_page) -> None:
    """Temperatures of the bundled network on a log scale, which is nearly straight there."""
    page = exact(open_page("downscaling", data="stations"))
    page = exact(page.selectbox(key="warp").set_value("log").run())
    assert "Values are modelled on a log scale" in words(page) and not page.error
    choice = page.session_state["_choice"]
    problem, start = build_problem(choice.source, choice.spec), DownscaleSettings("area_to_point_gp")
    start = spec_to_settings(start, preset(choice.source.to_dict(), choice.spec.to_dict(), start))
    said = downscale(problem, start.replace(warp="log")).diagnostics["stations"]
    (row,) = re.findall(r"stations read \*\*(.*?) ± .*?\*\* higher than", words(page))
    assert float(row) == pytest.approx(said["targets"]["offset"], abs=0.01)
    (table,) = [each.proto.body for each in page.get("html") if "stations that no method used" in each.proto.body]
    assert f"{said['scored']['rmse']:.3f}" in table and f"{said['scored']['crps']:.3f}" in table
    plain = downscale(problem, start.replace(warp="none")).diagnostics["stations"]
    assert said["targets"]["offset"] == pytest.approx(plain["targets"]["offset"], abs=0.03)
    assert any("learned on a log scale and given for values near the middle" in each.value for each in page.caption)


def test_stations_join_cells_that_are_matched_through_mediators(open_page) -> None:
    """Half of the example's cells have covariates, the other half targets; the coordinates link them."""
    page = open_page("downscaling", data="stations", withhold="0.5", match="indirect")
    page = exact(page.selectbox(key="model").set_value("shrinkage_cmp").run())
    choice = page.session_state["_choice"]
    assert not page.error and not build_problem(choice.source, choice.spec).matched
    assert "matched only through latitude, longitude; and 50 stations" in words(page)
    ((offset, sd),) = re.findall(r"stations read \*\*(.*?) ± (.*?) K\*\* higher", words(page))
    assert abs(float(offset) - OFFSET) < 3 * float(sd)
    assert any("stations that no method used" in each.proto.body for each in page.get("html"))


@pytest.mark.parametrize("model", ["shrinkage_cmp", "partial_cmp", "area_to_point_gp"])
def test_numbers_of_stations_beside_a_mediator_are_those_of_the_command(open_page, tmp_path, capsys, model) -> None:
    """Offset, leave-one-out error, shares, scores and evidence, of models that read unmatched targets and of one on
    pseudo-targets."""
    more = {"withhold": "0.5", "match": "indirect", "med": "altitude", "level": "All"}
    page = open_page("downscaling", data="stations", **more)
    page = exact(page.selectbox(key="model").set_value(model).run())
    choice, shown = page.session_state["_choice"], words(page)
    assert choice.spec.indirect and choice.spec.mediators == ("altitude",) and not page.error
    command = ["downscale", "stations", "--stations", "stations/seen", "--score-stations", "stations/scored",
               "--mediators", "altitude", "--matching", "indirect", "--withhold", "0.5", "--model", model,
               "--no-average", "--no-learn", "--quiet", "--output", str(tmp_path / "out.nc")]  # fmt: skip
    assert main(command) == 0
    result = json.loads(capsys.readouterr().out)["results"][0]
    said = result["diagnostics"]["stations"]
    ((offset, sd),) = re.findall(r"stations read \*\*(.*?) ± (.*?) K\*\* higher", shown)
    assert float(offset) == pytest.approx(said["targets"]["offset"], abs=0.01)
    assert float(sd) == pytest.approx(said["targets"]["offset_sd"], rel=0.02)
    ((rmse, bias),) = re.findall(r"all other targets: RMSE ([\d.]+) K, bias (.*?) K", shown)
    assert float(rmse) == pytest.approx(said["targets"]["left_out"]["rmse"], rel=0.01)
    assert float(bias.replace("−", "-")) == pytest.approx(said["targets"]["left_out"]["bias"], abs=0.01)
    (table,) = [each.proto.body for each in page.get("html") if "stations that no method used" in each.proto.body]
    first = re.findall(r"<tr.*?</tr>", table.split("<tbody>")[1], re.S)[0]
    assert number(said["scored"]["rmse"], 3) in first and number(said["scored"]["crps"], 3) in first
    assert "is added to every row" in table and "without the offset" not in table
    share = said["explained"]["stations"] / (1 - said["explained"]["cells"])
    assert re.findall(r"stations explain \*\*(.*?) %\*\*", shown) == [number(100 * share, 2)]
    assert f"targets is {number(result['diagnostics']['log_evidence'], 4)}" in shown
