"""The dialog of one's own files in AppTest: what is guessed of several kinds, undo, refusals, both levels."""

from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.downscaling.source import stored_uploads
from pages.downscaling.own_file.request import OWN
from pages.kit.session import Key
from tests.core.fields.samples import netcdf
from tests.core.fields.test_outlines import swath
from tests.core.fields.visitor_files import coarse_months, fine_heights, projected, reanalysis, rubbish, unusable
from tests.pages.conftest import FEW_CELLS
from tests.pages.test_tools import press
from tests.pages.visitor_files import downscaled, offered

pytestmark = pytest.mark.usefixtures("own_caches")


@pytest.fixture
def page(open_page) -> AppTest:
    """The worked example on large cells, with the dialog open as the link on page Start opens it."""
    result = open_page("downscaling", data=OWN, **FEW_CELLS)
    assert result.selectbox(key="data").value == "ukv-645m" and Key.OWN_FILE in result.session_state
    return result


def captions(page: AppTest) -> str:
    return " ".join(each.value.replace("\\", "") for each in page.caption)


def box(page: AppTest, kind: str, name: str):
    """A widget of the dialog by the beginning of its key."""
    (found,) = [each for each in getattr(page, kind) if str(each.key).startswith(f"lab-own-{name}")]
    return found


def settings(page: AppTest) -> tuple[str, list[str]]:
    assert not page.exception and not page.error
    return page.selectbox(key="target").value, page.multiselect(key="cov").value


def test_a_reanalysis_is_downscaled_with_its_geopotential_and_land(page: AppTest) -> None:
    offered(page, ("era5.nc", netcdf(reanalysis())))
    assert "long_name “2 metre temperature”, varies in time (6 times)" in captions(page)
    assert "z has no time, where other fields have several" in captions(page)
    assert page.selectbox(key="data").value == "ukv-645m"  # nothing changes before Downscale
    box(page, "selectbox", "dim-time").set_value("2019-03-01 03:00 (#3)").run()
    page.button(key="lab-own-go").click().run()
    assert settings(page) == ("t2m", ["z", "lsm"]) and Key.OWN_FILE not in page.session_state
    assert page.selectbox(key="dim-time").value == "2019-03-01 03:00 (#3)"
    assert any("1 March 2019, 03:00 UTC" in each.value for each in page.markdown)
    assert not [each for each in page.button if each.key == "lab-show-all"]
    press(page, "undo")
    assert page.selectbox(key="data").value == "ukv-645m" and page.number_input(key="rows").value == 18
    press(page, "redo")
    assert settings(page) == ("t2m", ["z", "lsm"]) and page.selectbox(key="dim-time").value.endswith("(#3)")


def test_a_coarse_file_and_a_fine_one_take_their_places(page: AppTest) -> None:
    offered(page, ("months.nc", netcdf(coarse_months())), ("heights.nc", netcdf(fine_heights())))
    assert "are wider than the 9.2 km of the covariates" in captions(page)
    times = box(page, "selectbox", "coarse-dim-time")
    assert len(times.options) == 4 and "The first of 4 times" in captions(page)
    times.set_value("2001-03-01 00:00 (#2)").run()
    page.button(key="lab-own-go").click().run()
    assert settings(page) == ("tas", ["elevation", "slope"])
    names = {key: name for key, name in stored_uploads().items()}
    assert names[page.selectbox(key="data").value] == "heights.nc"
    assert names[page.selectbox(key="coarse").value] == "months.nc"
    assert page.selectbox(key="coarse-dim-time").value == "2001-03-01 00:00 (#2)"
    page.button(key="lab-own-file").click().run()  # opened again it shows what the page has
    assert box(page, "selectbox", "coarse-dim-time").value == "2001-03-01 00:00 (#2)"
    box(page, "multiselect", "covariates").set_value(["slope"]).run()
    page.button(key="lab-own-go").click().run()
    assert settings(page) == ("tas", ["slope"])
    assert page.selectbox(key="coarse-dim-time").value == "2001-03-01 00:00 (#2)"


def test_a_swath_is_a_coarse_file_whose_declared_errors_are_proposed(page: AppTest) -> None:
    seen = swath()[0]
    seen.t.attrs["standard_name"] = "air_temperature"
    seen.t_error.attrs["standard_name"] = "air_temperature standard_error"
    offered(page, ("swath.nc", netcdf(seen)), ("heights.nc", netcdf(fine_heights())))
    assert box(
        page, "selectbox", "error"
    ).value == "t_error" and "t_error: the file declares it as the standard error of t" in captions(page)
    page.button(key="lab-own-go").click().run()
    assert settings(page)[0] == "t" and page.selectbox(key="errors").value == "t_error"
    page.button(key="lab-own-file").click().run()
    box(page, "selectbox", "error").set_value("(none)").run()
    page.button(key="lab-own-go").click().run()
    assert page.session_state["_choice"].spec.error is None and not page.exception


def test_another_target_has_its_own_guess_and_cells(page: AppTest) -> None:
    offered(page, ("regional.nc", netcdf(projected())))
    box(page, "selectbox", "target").set_value("pr").run()
    assert "pr: chosen by you" in captions(page)
    box(page, "number_input", "block").set_value(5).run()
    assert "80 cells of about" in captions(page)
    page.button(key="lab-own-go").click().run()
    assert settings(page)[0] == "pr" and "orog" in settings(page)[1]
    assert [page.number_input(key=key).value for key in ("rows", "columns")] == [5, 5]


def test_rubbish_is_one_sentence_each_and_a_good_file_works_then(page: AppTest) -> None:
    given = list(rubbish().items()) + [(name, netcdf(data)) for name, data in unusable().items()]
    for name, data in given:
        offered(page, (name, data))
        (said,) = [each.value for each in page.error]
        assert said.startswith(name) and ": " in said and not page.exception, (name, said)
        assert "lab-own-go" not in {each.key for each in page.button}
        assert any(
            "lab-refused" in block.proto.body and name in unescape(block.proto.body) for block in page.get("html")
        )
        assert page.selectbox(key="data").value == "ukv-645m"
    assert not stored_uploads()
    downscaled(page, ("regional.nc", netcdf(projected())))
    assert settings(page) == ("tas", ["orog"])


def test_choices_that_make_no_problem_are_refused_in_the_dialog(page: AppTest) -> None:
    data = reanalysis(8, 8, hours=1)
    offered(page, ("small.nc", netcdf(data)))
    box(page, "number_input", "block").set_value(5).run()
    page.button(key="lab-own-go").click().run()
    (said,) = [each.value for each in page.error]
    assert "coarse cells" in said and page.selectbox(key="data").value == "ukv-645m"
    box(page, "number_input", "block").set_value(2).run()
    page.button(key="lab-own-go").click().run()
    assert settings(page)[0] == "t2m"


def test_the_list_of_fields_opens_the_dialog_and_keeps_what_it_showed(open_page) -> None:
    page = open_page("downscaling", **FEW_CELLS)
    assert page.selectbox(key="data").options[0] == "Your own file …"
    page.selectbox(key="data").set_value(OWN).run()
    assert not page.exception and page.selectbox(key="data").value == "ukv-645m" and page.file_uploader(key="files")


def test_a_file_of_the_named_folder_is_ones_own(open_page, tmp_path, monkeypatch) -> None:
    """Its time is on the page at the level Essential, the dialog opens on it, and a coarse upload joins it."""
    (tmp_path / "heights.nc").write_bytes(netcdf(fine_heights()))
    (tmp_path / "era5.nc").write_bytes(netcdf(reanalysis(24, 32, hours=2)))
    monkeypatch.setenv("DECONDITIONING_DATA", str(tmp_path))
    page = open_page("downscaling", data="folder:era5.nc")
    assert settings(page) == ("t2m", ["z", "lsm"]) and page.selectbox(key="dim-time").value.endswith("(#0)")
    page.button(key="lab-own-file").click().run()
    assert box(page, "multiselect", "files").value == ["folder:era5.nc"]
    box(page, "selectbox", "dim-time").set_value("2019-03-01 01:00 (#1)").run()
    page.button(key="lab-own-go").click().run()
    assert settings(page) == ("t2m", ["z", "lsm"]) and page.selectbox(key="dim-time").value.endswith("(#1)")
    offered(page, ("months_of_a_model.nc", netcdf(coarse_months())))
    files = box(page, "multiselect", "files")
    (coarse,) = files.value
    files.set_value([coarse, "folder:heights.nc"]).run()
    page.button(key="lab-own-go").click().run()
    assert settings(page) == ("tas", ["elevation", "slope"])
    assert (page.selectbox(key="data").value, page.selectbox(key="coarse").value) == ("folder:heights.nc", coarse)
    assert "months_of_a_model.nc" in files.options
