"""Skewed targets on page Downscaling: the scale on which values are modelled, by name and as learning chooses it."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import build_problem
from pages.kit.session import Key
from pages.kit.state import get_engine
from tests.core.downscaling.test_errors_behind_warp import files
from tests.core.downscaling.test_warp_choice import gaussian_field
from tests.core.fields.samples import netcdf
from tests.core.fields.test_warp import field_of
from tests.pages.conftest import FEW_CELLS, until
from tests.pages.reading import as_shown
from tests.pages.visitor_files import downscaled

pytestmark = pytest.mark.usefixtures("own_caches")
SCALE = "Values are modelled on a"


@pytest.fixture
def rain(open_page) -> AppTest:
    """A log-normal field on a grid of 40 × 40, in cells of 4 × 4."""
    page = open_page("downscaling", **FEW_CELLS)
    data = field_of(np.exp(1.2 * gaussian_field(1, size=40)), standard_name="rainfall_amount")
    downscaled(page, ("rain.nc", netcdf(data)))
    page.selectbox(key="target").set_value("rain")
    for key in ("rows", "columns"):
        page.number_input(key=key).set_value(4)
    page.slider(key="withhold").set_value(0.4).run()
    page.selectbox(key="model").set_value("regression_kriging").run()
    assert not page.exception and not page.error
    return page


def words(page: AppTest) -> str:
    return " ".join(block.value for block in page.markdown)


def shown(page: AppTest):
    """The preview that was drawn last."""
    return page.session_state[Key.PREVIEW][1]


def test_a_warp_by_name_changes_the_map_and_says_so(rain: AppTest) -> None:
    assert SCALE not in words(rain) and "Gaussian does not describe" in " ".join(box.value for box in rain.warning)
    assert shown(rain).mean.min() == 0.0 and shown(rain).predictive.quantile(0.05).min() == 0.0
    rain.selectbox(key="warp").set_value("log").run()
    assert not rain.exception and not rain.error
    assert f"{SCALE} log scale" in words(rain) and "g^{-1}" in words(rain)
    assert shown(rain).mean.min() > 0.0 and shown(rain).predictive.quantile(0.05).min() > 0.0
    assert not [box for box in rain.warning if "Gaussian does not describe" in box.value]
    rain.selectbox(key="warp").set_value("logit").run()
    assert "two bounds" in as_shown(rain.error[0].value)
    rain.selectbox(key="warp").set_value("none").run()
    assert SCALE not in words(rain) and not rain.error


@pytest.mark.parametrize(
    ("kind", "title"),
    [("low", "Lower end of the 95 % interval"), ("above", "Probability of more than"), ("sd", "Uncertainty: 2 sd")],
)
def test_the_map_of_uncertainty_shows_what_is_asked_for(rain: AppTest, kind: str, title: str) -> None:
    rain.selectbox(key="warp").set_value("log")
    rain.selectbox(key="uncertainty").set_value(kind).run()
    assert not rain.exception and not rain.error
    until(rain, lambda: [box for box in rain.multiselect if box.key == "print-maps"])
    assert any(title in option for option in rain.multiselect(key="print-maps").options)
    assert bool([box for box in rain.number_input if box.key == "exceeded"]) == (kind == "above")


def test_learning_chooses_the_scale_and_it_goes_onto_the_page(rain: AppTest) -> None:
    rain.number_input(key="steps").set_value(8)
    rain.button(key="learn").click().run()
    until(rain, lambda: [box for box in rain.info if "Learned" in box.value])
    rain.run()
    result = get_engine().get(rain.query_params["run"]).result
    assert result["learned"]["warp"]["kind"] == "box-cox" and not rain.error and not rain.exception
    assert SCALE in words(rain) and "one scale up its CRPS is" in " ".join(each.value for each in rain.caption)
    assert rain.selectbox(key="warp").value == "auto"
    rain.selectbox(key="warp").set_value("none").run()
    assert SCALE not in words(rain) and not rain.error


def test_errors_of_cells_go_through_the_warp_as_in_the_library(open_page) -> None:
    """The picture at the page's sliders is that of ``downscale``, and not the one without errors."""
    fine, low = files()
    page = open_page("downscaling", **FEW_CELLS)
    downscaled(page, ("fine.nc", netcdf(fine.drop_vars(["t", "q", "pr"]))), ("low.nc", netcdf(low)))
    maps = {}
    for errors in ("pr_sd", "(none)"):
        page.selectbox(key="errors").set_value(errors).run()
        page.selectbox(key="warp").set_value("log").run()
        page.selectbox(key="model").set_value("area_to_point_gp").run()
        assert not page.exception and not page.error and f"{SCALE} log scale" in words(page)
        maps[errors] = shown(page).mean
        choice = page.session_state["_choice"]
        assert choice.spec.error == (None if errors == "(none)" else errors)
        problem = build_problem(choice.source, choice.spec)
        settings = DownscaleSettings("area_to_point_gp", learn=False, warp="log", average=False)
        np.testing.assert_allclose(maps[errors], downscale(problem, settings).mean, rtol=2e-3)
    assert np.nanmax(np.abs(maps["pr_sd"] / maps["(none)"] - 1)) > 0.05
