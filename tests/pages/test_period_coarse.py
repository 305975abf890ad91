"""A coarse file and its errors on page Period in AppTest: the page has what the command has."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from streamlit.testing.v1 import AppTest

from deconditioning.cli.program import main
from deconditioning.downscaling.source import keep_upload
from deconditioning.figures.style import uncompacted
from pages.kit.controls.variable_choice import ERRORS
from tests.core.fields.samples import netcdf
from tests.core.period.made import made_dataset
from tests.core.period.test_errors import low_of
from tests.pages.conftest import session
from tests.pages.test_period import captions

pytestmark = pytest.mark.usefixtures("own_caches", "runs_folder")
TIMES = 40
BEGIN = {"p-data": "fine.nc", "p-coarse": "low.nc", "p-period": ["30", "39"]}


@pytest.fixture(params=[False, True], ids=["constant", "along time"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Uploads of a fine and a coarse file with errors, and the same as files of the command."""
    fine = made_dataset(TIMES).drop_vars("wind")
    for name, dataset in (("fine.nc", fine), ("low.nc", low_of(fine, moving=request.param))):
        keep_upload(netcdf(dataset), name)
        (tmp_path / name).write_bytes(netcdf(dataset))
    return tmp_path


def opened(**address: str | list[str]) -> AppTest:
    page = session("period", **BEGIN, **address)
    assert not page.exception and not page.error, [each.value for each in page.error]
    return page


def at_the_place(page: AppTest, written: Path) -> tuple[np.ndarray, np.ndarray]:
    """The mean at the place as the page draws it and as the command writes it."""
    traces = json.loads(page.session_state["_seen"].figures["p-place"].text)["data"]
    mean = next(each for each in traces if "mean ±" in str(each["name"]))
    with xr.open_dataset(written) as file:
        place = page.session_state["p-row"], page.session_state["p-column"]
        return np.array(uncompacted(mean["y"]), dtype=float), file["mean"].values[:, *place]


@pytest.mark.parametrize(("error", "archive"), [("t_sd", False), ("0.7", False), ("t_sd", True)])
def test_the_page_has_the_series_of_the_command(folder: Path, error: str, archive: bool) -> None:
    page = opened(**{"p-archive": str(archive).lower()})
    assert "A cell is 1° by 1° large" in captions(page) and not page.select_slider
    assert not [each for each in page.segmented_control if each.key == "p-link"]
    exact = json.loads(page.session_state["_seen"].figures["p-place"].text)["data"]
    box = page.selectbox(key="p-errors")
    assert box.label == ERRORS and box.options[0] == "none given" and box.options[-1] == "the same for all"
    box.set_value("t_sd" if error == "t_sd" else "the same for all").run()
    if error != "t_sd":
        page.number_input(key="p-error").set_value(float(error)).run()
    assert not page.exception and not page.error
    assert page.segmented_control(key="p-link").value == "auto"
    words = ["downscale", folder / "fine.nc", "--coarse", folder / "low.nc", "--target", "t", "--covariates", "orog"]
    words += ["--withhold", 0, "--model", "area_to_point_gp", "--times", "#30/#39", "--error", error, "--quiet"]
    words += ["--archive", folder / "fine.nc"] if archive else []
    assert main([*map(str, words), "--output", str(folder / "out.nc")]) == 0
    own, expected = at_the_place(page, folder / "out.nc")
    np.testing.assert_allclose(own, expected, atol=2e-3)
    before = next(each for each in exact if "mean ±" in str(each["name"]))
    off = np.abs(own - np.array(uncompacted(before["y"]), dtype=float)).max()
    assert archive or off > 0.01  # the coarse values of the training period have constant errors as well


def test_what_the_library_refuses_is_its_sentence_and_nothing_is_lost(folder: Path) -> None:
    page = session("period", **BEGIN, **{"p-errors": "t_sd", "p-link": "on"})
    assert not page.exception
    (said,) = [each.value for each in page.error]
    assert said.startswith("The times cannot be linked: beside an archive, cells with errors are predicted each time")
    page.segmented_control(key="p-link").set_value("off").run()
    assert not page.exception and not page.error and page.selectbox(key="p-errors").value == "t_sd"


def test_a_fine_file_without_times_has_covariates_only(folder: Path) -> None:
    keep_upload(netcdf(made_dataset(TIMES)[["orog"]]), "orog.nc")
    refused = session("period", **{"p-data": "orog.nc"})
    assert not refused.exception and any("no variable with several times" in each.value for each in refused.error)
    refused.selectbox(key="p-coarse").set_value("low.nc").run()
    assert not refused.exception and not refused.error
    assert not [each for each in refused.toggle if each.key == "p-archive"]
