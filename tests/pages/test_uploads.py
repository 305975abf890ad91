"""Uploads: one that reaches for another file is refused, doubtful values are seen, a full disk loses nothing."""

import errno

import numpy as np
import pytest
import xarray as xr

from deconditioning import sandbox
from deconditioning.downscaling.source import stored_uploads
from deconditioning.engine import disk
from tests.core.fields.samples import netcdf, rectilinear, region
from tests.corpus.crafted import outside
from tests.pages.conftest import FEW_CELLS
from tests.pages.visitor_files import downscaled, offered

pytestmark = pytest.mark.usefixtures("own_caches")


def given(open_page, name: str, data: bytes):
    page = offered(open_page("downscaling", **FEW_CELLS), (name, data))
    return page.button(key="lab-own-go").click().run() if not page.error else page


def test_a_crafted_file_is_one_sentence_and_the_example_stays(open_page, tmp_path):
    name, data, _ = next(iter(outside(tmp_path / "secret.nc")))
    page = given(open_page, name, data)
    assert not page.exception and len(page.error) == 1
    assert "in another file: only values inside the file are read" in page.error[0].value
    assert page.selectbox(key="data").value == "ukv-645m"


def test_an_upload_is_parsed_once(open_page, monkeypatch):
    """Checked, kept, chosen and shown by one reader process; a second file costs one more, a second look none."""
    started, run = [], sandbox._run
    monkeypatch.setattr(sandbox, "_run", lambda command, *rest: started.append(command[2]) or run(command, *rest))
    page = given(open_page, "mine.nc", netcdf(region(12, 16)))
    assert not page.exception and page.selectbox(key="data").value.startswith("upload:")
    assert started == ["deconditioning.fields.reading.upload_process"]
    page.run()
    downscaled(page, ("other.nc", netcdf(region(12, 18))))
    page.selectbox(key="data").set_value(next(key for key, name in stored_uploads().items() if name == "mine.nc")).run()
    assert not page.exception and len(started) == 2


def test_values_that_may_be_missing_are_a_warning(open_page):
    data = region(12, 16)
    data.t.values[3, 3] = -9999
    page = given(open_page, "odd.nc", netcdf(data))
    assert not page.exception
    assert [box for box in page.warning if "1 value of -9999" in box.value and "look like missing values" in box.value]


def test_what_cannot_be_kept_is_a_sentence_and_tried_again(open_page, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(disk, "write", refuse)
        page = given(open_page, "mine.nc", netcdf(region(12, 16)))
        assert not page.exception and "Read-only file system): free space in the runs folder" in page.error[0].value
        table = open_page("distribution_regression", **{"d-data": "Own table"})
        table.file_uploader(key="d-file").set_value(("mine.csv", b"who,x,y\n1,2,3\n1,3,3\n2,2,4\n2,1,4\n", "text/csv"))
        assert not table.run().exception and any("Read-only file system" in box.value for box in table.error)
    page.run().button(key="lab-own-go").click().run()
    assert page.selectbox(key="data").value.startswith("upload:") and not page.error
    assert table.run().selectbox(key="d-table").options == ["mine.csv"]


def test_covariates_come_from_several_files(open_page):
    """A coarse target here, covariates there and there, the second on a finer grid and under a dummy date."""
    data = region(24, 24)
    fine = rectilinear(20.25 + 0.5 * np.arange(48), -9.25 + 0.5 * np.arange(48))[["orog"]].rename(orog="orography")
    coarse = data[["t"]].coarsen(lat=3, lon=3).mean()
    files = {"near.nc": data[["q"]], "fine.nc": fine.expand_dims(time=[np.datetime64("2100-01-01", "ns")]),
             "coarse.nc": coarse}  # fmt: skip
    page = open_page("downscaling", **FEW_CELLS)
    for name, one in files.items():
        downscaled(page, (name, netcdf(one)))
    keys = {label.removeprefix("Upload: "): key for key, label in stored_uploads().items()}
    page.selectbox(key="data").set_value(keys["near.nc"]).run()
    page.selectbox(key="coarse").set_value(keys["coarse.nc"]).run()
    page.multiselect(key="more").set_value([keys["fine.nc"]]).run()
    page.multiselect(key="cov").set_value(["q", "orography"])
    page.selectbox(key="match").set_value("direct").run()
    assert not page.exception and not page.error
    said = " ".join(box.value for box in page.markdown)
    assert "`orography` of fine.nc is remapped to the grid of near.nc" in said and "2100" not in said
    assert any("Scores at the withheld cells" in (box.proto.body or "") for box in page.get("html"))


def test_a_refusal_goes_when_a_good_file_follows(open_page):
    page = open_page("downscaling", **FEW_CELLS)
    files = [("bad.nc", b"rubbish")]
    assert len(offered(page, *files).error) == 1
    files.append(("mine.nc", netcdf(region(24, 24))))
    assert not offered(page, *files).error
    files.append(("worse.nc", b"more rubbish"))
    (said,) = offered(page, *files).error
    assert "worse.nc" in said.value and "bad.nc" not in said.value


def test_a_coarse_file_of_twelve_months_offers_them_and_the_height_is_a_covariate(open_page):
    """The coarse target is 100 times its month; the height lies in a file of its own, then months do, too."""
    months = np.arange("2001-01", "2002-01", dtype="M8[M]").astype("M8[ns]")
    fine = region(36, 36)
    coarse = (
        0 * fine.t.coarsen(lat=3, lon=3).mean() + 100 * xr.DataArray(np.arange(12), dims="time")
    ) + fine.q.coarsen(lat=3, lon=3).mean()
    coarse = xr.Dataset({"t": coarse.transpose("time", "lat", "lon").assign_attrs(units="K")}).assign_coords(
        time=months
    )
    dated = (fine[["q"]] + xr.DataArray(np.arange(12.0), dims="time")).transpose("time", ...).assign_coords(time=months)
    page = open_page("downscaling", **FEW_CELLS)
    for name, one in {"orog.nc": fine[["orog"]], "coarse.nc": coarse, "dated.nc": dated}.items():
        downscaled(page, (name, netcdf(one)))
    keys = {label.removeprefix("Upload: "): key for key, label in stored_uploads().items()}
    page.selectbox(key="data").set_value(keys["orog.nc"]).run()
    page.selectbox(key="coarse").set_value(keys["coarse.nc"]).run()
    assert not page.exception and not page.error and page.multiselect(key="cov").value == ["orog"]
    box = page.selectbox(key="coarse-dim-time")
    assert box.options[6] == "2001-07-01 00:00 (#6)" and box.value == box.options[0]
    box.set_value(box.options[6]).run()
    assert not page.error and "1 July 2001" in " ".join(each.value for each in page.markdown)
    page.selectbox(key="data").set_value(keys["dated.nc"]).run()
    page.multiselect(key="cov").set_value(["q"]).run()
    page.selectbox(key="dim-time").set_value("2001-04-01 00:00 (#3)").run()
    page.selectbox(key="coarse-dim-time").set_value("as the covariates").run()
    assert not page.error and any("coarse target is for 2001-04-01" in each.value for each in page.caption)


def test_an_address_says_a_date_a_value_or_an_index(open_page):
    page = open_page("downscaling", data="ukv-645m", **FEW_CELLS)
    dim = next(box.key for box in page.selectbox if str(box.key).startswith("dim-"))
    label = page.selectbox(key=dim).options[1]
    for asked in (label.rpartition(" (")[0], "#1", f"1: {label.rpartition(' (')[0]}", label):
        page = open_page("downscaling", data="ukv-645m", **FEW_CELLS, **{dim: asked})
        assert page.selectbox(key=dim).value == label and not page.error, asked
    page = open_page("downscaling", data="ukv-645m", **FEW_CELLS, **{dim: "1956"})
    assert len(page.error) == 1 and "no value" in page.error[0].value
