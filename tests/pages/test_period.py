"""Page Period in AppTest: it opens on a finished example, and an archive makes it better."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import session


@pytest.fixture(scope="module")
def page() -> AppTest:
    """The page as it opens, with few times."""
    page = session("period", **{"p-first": "216"})
    assert not page.exception and [each.value for each in page.error] == []
    return page


def scores(page: AppTest) -> dict[str, dict[str, float]]:
    table = page.dataframe[0].value
    return {
        row.pop(""): {name: float(value) for name, value in row.items() if value} for row in table.to_dict("records")
    }


def test_it_opens_on_a_finished_series(page: AppTest) -> None:
    said = next(each.value for each in page.markdown if "coarse cells become" in each.value)
    assert "24 coarse cells become 1,536 pixels" in said and "216 earlier times is the prior" in said
    assert any("modified Copernicus" in each.value for each in page.caption)
    found = scores(page)
    assert found["this map"]["RMSE"] < 0.6 * found["bilinear"]["RMSE"]
    assert 0.85 < found["this map"]["in 95 % interval"] <= 1
    assert "The band contains the truth" in " ".join(each.value for each in page.caption)


def test_it_offers_only_cells_of_which_there_are_enough(page: AppTest) -> None:
    assert page.select_slider(key="p-block").options == ["2", "4", "8"]
    asked = session("period", **{"p-first": "216", "p-block": "16"})
    assert not asked.exception and not asked.error and asked.select_slider(key="p-block").value == 8


def test_without_the_archive_it_is_worse(page: AppTest) -> None:
    before = scores(page)["this map"]
    page.toggle(key="p-archive").set_value(False).run()
    assert not page.exception and "Nothing fine is known" in " ".join(each.value for each in page.markdown)
    after = scores(page)["this map"]
    assert after["CRPS"] > 1.2 * before["CRPS"]


def test_the_place_and_the_difference_move_without_computing_again(page: AppTest) -> None:
    page.slider(key="p-row").set_value(3)
    page.toggle(key="p-difference").set_value(True).run()
    assert not page.exception and page.slider(key="p-row").value == 3
