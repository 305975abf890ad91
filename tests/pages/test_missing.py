"""Numbers that may mark missing values: asked where fields are read, a switch where tables are."""

import numpy as np

from deconditioning.studies.distribution_regression.tables import keep_table
from tests.core.fields.samples import netcdf, region
from tests.pages.conftest import FEW_CELLS
from tests.pages.test_tools import press
from tests.pages.visitor_files import downscaled

WARNING = "look like missing values"


def uploaded(open_page, **marks):
    """Page Downscaling with a file of one's own, where 30 values of each named field are such a number."""
    data = region(24, 32).astype("f4")
    for name, mark in marks.items():
        data[name].values[2:7, 3:9] = mark
    page = open_page("downscaling", **FEW_CELLS)
    downscaled(page, ("odd.nc", netcdf(data)))
    assert not page.exception
    return page


def told(page) -> str:
    return " ".join(box.value for box in (*page.warning, *page.caption, *page.markdown))


def test_a_mark_of_the_target_is_asked_and_the_answer_is_a_setting(open_page):
    page = uploaded(open_page, t=-999.9)
    asked = page.multiselect(key="missing")
    assert asked.label == "Count as missing" and asked.options == ["-999.9 of t"] and asked.value == []
    assert any("30 values of -999.9" in box.value and WARNING in box.value for box in page.warning)
    page.multiselect(key="missing").set_value(["t=-999.9"]).run()
    assert not page.exception and not any(WARNING in box.value for box in page.warning)
    assert "30 values of -999.9 are taken as missing, as requested" in told(page)
    press(page, "undo")
    assert page.multiselect(key="missing").value == [] and any(WARNING in box.value for box in page.warning)


def test_the_button_below_a_warning_answers_it(open_page):
    """Also at the level Essential, which hides the control."""
    page = uploaded(open_page, t=-999.9, orog=-9999)
    page.multiselect(key="cov").set_value(["orog"]).run()
    for left, words in ((1, "-999.9 of t"), (0, "-9999 of orog")):
        next(one for one in page.button if one.label == f"Count {words} as missing").click().run()
        assert not page.exception and sum(WARNING in box.value for box in page.warning) == left
    assert page.multiselect(key="missing").value == ["t=-999.9", "orog=-9999"]
    assert "30 values of -999.9 are taken as missing, as requested" in told(page)
    assert not any(one.label.startswith("Count ") for one in page.button)
    press(page, "undo")
    assert page.multiselect(key="missing").value == ["t=-999.9"]


def test_an_address_answers_and_fields_that_are_not_used_are_not_asked(open_page):
    page = uploaded(open_page, t=-9999, q=1e20)
    key = page.selectbox(key="data").value
    page.multiselect(key="cov").set_value(["q"]).run()
    assert set(page.multiselect(key="missing").options) == {"-9999 of t", "1e+20 of q"}
    page.multiselect(key="cov").set_value([]).run()
    assert page.multiselect(key="missing").options == ["-9999 of t"]
    for words in ("-9999 of t", "t=-9999", "-9999"):
        again = open_page("downscaling", data=key, missing=words)
        assert not again.exception and len(again.multiselect(key="missing").value) == 1
        assert "30 values of -9999 are taken as missing" in told(again)
    odd = open_page("downscaling", data=key, missing="<b>nothing</b>")
    assert not odd.exception and odd.multiselect(key="missing").value == []


def test_nothing_is_asked_of_data_that_say_what_they_are(open_page):
    page = uploaded(open_page, t=np.nan)
    assert not [box for box in page.multiselect if box.key == "missing"]


ROWS = "".join(f"{np.sin(n / 3):.4f},{np.cos(n / 3):.4f}\n" for n in range(60))


def test_a_series_keeps_its_numbers_where_asked(open_page):
    page = open_page("filtering", **{"f-system": "own series"})
    assert not [one for one in page.toggle if one.key == "f-missing"]
    page.file_uploader(key="f-file").set_value(("mine.csv", f"a,b\n{ROWS}-9999,0.5\n".encode(), "text/csv")).run()
    assert page.toggle(key="f-missing").value and "-9999 is taken as missing" in told(page)
    page.toggle(key="f-missing").set_value(False).run()
    assert not page.exception and "-9999 is taken as missing" not in told(page)
    assert "'a' is -9999 in 1 row, far from all other values, and counts as data" in told(page)


def test_simulations_with_a_number_for_missing_say_how_to_keep_it(open_page):
    page = open_page("likelihood_free")
    page.selectbox(key="lf-problem").set_value("table").run()
    assert not [one for one in page.toggle if one.key == "lf-missing"]
    rows = "".join(f"{n / 20},{n % 7 + n / 50}\n" for n in range(60))
    page.file_uploader(key="lf-table").set_value(("a.csv", f"theta,s\n{rows}1,-9999\n,2\n".encode(), "text/csv")).run()
    assert any("-9999 is taken as missing. To keep it as data, turn 'Count" in box.value for box in page.error)
    page.toggle(key="lf-missing").set_value(False).run()
    assert not page.error and "the 61 rows of the table" in told(page)


def test_subjects_keep_their_numbers_where_asked(open_page):
    lines = [f"s{i},{(i * 7 + j * 3) % 11 + i / 9},{i * 1.5}" for i in range(20) for j in range(5)]
    key = keep_table(("id,x,age\n" + "\n".join(lines) + "\ns3,-9999,4.5\n").encode(), "mine.csv")
    page = open_page("distribution_regression", **{"d-data": "Own table", "d-table": key})
    assert any("-9999 is taken as missing. To keep it as data" in box.value for box in page.error)
    page.toggle(key="d-missing").set_value(False).run()
    assert not page.error and "20 subjects, 5 to 6 measurements each" in told(page)
    page.toggle(key="d-missing").set_value(True).run()
    page.toggle(key=f"d-drop-{key}").set_value(True).run()
    assert not page.error and "20 subjects, 5 to 5 measurements each" in told(page)
