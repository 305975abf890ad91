"""Stations and regions on page Downscaling in AppTest: the bundled example, own files, refusals."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.datasets.network import OFFSET, network
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.fields.spec import DownscalingSpec
from tests.pages.conftest import until


def words(page: AppTest) -> str:
    """Everything the page says in Markdown and below pictures."""
    assert not page.exception and not page.error
    return " ".join(each.value.replace("\\", "") for each in (*page.markdown, *page.caption))


def exact(page: AppTest) -> AppTest:
    """The page with its exact maps."""
    until(page, lambda: "Exact: the posterior" in words(page))
    return page


def test_the_example_opens_learned_and_says_what_the_command_line_does(open_page) -> None:
    """The offset, shares and scores are those of ``downscale`` at the page's settings."""
    page = exact(open_page("downscaling", data="stations"))
    assert "and 50 stations" in words(page) and "of the 66 targets" in words(page)
    choice = page.session_state["_choice"]
    assert choice.source == Source("stations", stations="stations/seen", scored="stations/scored")
    problem = build_problem(choice.source, choice.spec)
    from deconditioning.downscaling.presets import preset

    start = preset(choice.source.to_dict(), choice.spec.to_dict(), DownscaleSettings("area_to_point_gp"))
    assert start is not None and start.representativeness > 0
    result = downscale(problem, spec_to_settings(DownscaleSettings("area_to_point_gp"), start))
    said = result.diagnostics["stations"]
    offset = float(re.search(r"differ from the cells by \*\*(.*?) ±", words(page)).group(1))
    assert offset == pytest.approx(said["targets"]["offset"], abs=0.01)
    assert abs(offset - OFFSET) < 3 * said["targets"]["offset_sd"]
    rmse = float(re.search(r"all other stations: RMSE ([\d.]+) K", words(page)).group(1))
    assert rmse == pytest.approx(said["targets"]["left_out"]["rmse"], rel=1e-2)
    (table,) = [each.proto.body for each in page.get("html") if "stations that nothing saw" in each.proto.body]
    (first, second) = re.findall(r"<tr.*?</tr>", table.split("<tbody>")[1], re.S)[:2]
    assert f"{said['scored']['rmse']:.3f}" in first and f"{said['scored']['crps']:.3f}" in first
    assert f"{said['scored']['rmse_of']['area_to_point_gp']:.2f}" in second


def test_without_its_stations_the_example_is_one_of_cells(open_page) -> None:
    page = open_page("downscaling", data="stations", stations="(none)", scored="(none)")
    assert page.session_state["_choice"].source == Source("stations") and "50 stations" not in words(page)
    assert "tau" not in {slider.key for slider in page.select_slider}


def test_the_generated_stations_measure_the_field_they_belong_to() -> None:
    drawn = network(3, offset=0.0)
    problem = build_problem(Source("x"), DownscalingSpec("t", ("orog",), (), (18, 18), 0.0), lambda key: drawn.fields)
    grid, truth = problem.grid, problem.truth
    row = np.abs(grid.y[:, None] - drawn.seen.latitude).argmin(axis=0)
    column = np.abs(grid.x[:, None] - drawn.seen.longitude).argmin(axis=0)
    assert np.std(drawn.seen.value - truth[row, column]) == pytest.approx(np.hypot(0.1, 0.15), rel=0.3)
