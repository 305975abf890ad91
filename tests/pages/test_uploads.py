"""An upload on page Downscaling: one that reaches for another file is refused, doubtful values are seen at once."""

from tests.core.fields.samples import netcdf, region
from tests.corpus.crafted import outside


def given(open_page, name: str, data: bytes):
    page = open_page("downscaling.py")
    return page.file_uploader(key="files").set_value([(name, data, "application/x-netcdf")]).run()


def test_a_crafted_file_is_one_sentence_and_the_example_stays(open_page, tmp_path):
    name, data, _ = next(iter(outside(tmp_path / "secret.nc")))
    page = given(open_page, name, data)
    assert not page.exception and len(page.error) == 1
    assert "in another file: only values inside the file are read" in page.error[0].value
    assert page.selectbox(key="data").value == "ukv-645m"


def test_values_that_may_be_missing_are_a_warning(open_page):
    data = region(12, 16)
    data.q.values[3, 3] = -9999
    page = given(open_page, "odd.nc", netcdf(data))
    assert not page.exception
    assert [box for box in page.warning if "1 value of -9999" in box.value and "look like missing values" in box.value]
