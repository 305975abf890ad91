"""Own uploads are deleted on the page that reads them, and the page turns to another field or table."""

from pathlib import Path

from deconditioning.downscaling.source import stored_uploads
from deconditioning.engine.visitors.uploads import UPLOAD, forget
from deconditioning.studies.distribution_regression.tables import stored_tables
from tests.core.fields.samples import netcdf, region
from tests.pages.conftest import FEW_CELLS
from tests.pages.visitor_files import downscaled

TABLE = b"who,weight,age\n" + b"".join(b"%d,%d.5,%d\n" % (row // 5, row % 7, 20 + row // 5) for row in range(60))


def delete(page, label: str) -> None:
    """Press the button of that label and follow what it asks for."""
    next(button for button in page.button if button.label == label).click().run()


def test_a_field_is_deleted_and_the_first_one_is_shown(open_page, runs_folder: Path) -> None:
    page = open_page("downscaling", **FEW_CELLS)
    downscaled(page, ("mine.nc", netcdf(region(12, 12))))
    (key,) = stored_uploads()
    assert not page.exception and page.selectbox(key="data").value == key
    page.button(key="lab-own-file").click().run()
    delete(page, "Delete mine.nc")
    assert not page.exception and not stored_uploads() and page.selectbox(key="data").value == "ukv-645m"
    assert not [button for button in page.button if button.label == "Delete mine.nc"]
    assert not page.info  # who deleted it knows


def test_a_field_that_is_gone_is_missed_in_a_sentence(open_page, runs_folder: Path) -> None:
    page = open_page("downscaling", **FEW_CELLS)
    downscaled(page, ("mine.nc", netcdf(region(12, 12))))
    (key,) = stored_uploads()
    forget(key.removeprefix(UPLOAD))
    page.run()
    (note,) = page.info
    assert note.value == (
        "The uploaded file is no longer on this server: it was deleted, or nobody opened it for 30 days. The page uses "
        "645 m: altitude matters (UKV)."
    )
    page.run()
    assert page.info  # until another field is chosen
    page.selectbox(key="data").set_value("ukv-75m").run()
    assert not page.exception and not page.info


def test_a_table_is_deleted_and_another_is_asked_for(open_page, runs_folder: Path) -> None:
    page = open_page("distribution_regression", **{"d-data": "Own table"})
    page.file_uploader(key="d-file").set_value(("mine.csv", TABLE, "text/csv")).run()
    assert stored_tables()
    delete(page, "Delete mine.csv")
    assert not page.exception and not stored_tables()
    assert any("No table yet" in box.value for box in page.error)
