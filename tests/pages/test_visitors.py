"""Pages of a shared server, as sessions without cookies see them: each is a visitor of its own."""

from pathlib import Path

import pytest

TABLE = b"who,weight,age\n" + b"".join(b"%d,%d.5,%d\n" % (row // 5, row % 7, 20 + row // 5) for row in range(60))
OWN = {"d-data": "Own table"}


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECONDITIONING_SHARED", "yes")
    monkeypatch.delenv("DECONDITIONING_ADMIN", raising=False)


def told(page) -> str:
    return "\n".join(box.value for box in (*page.caption, *page.info, *page.error, *page.warning, *page.markdown))


def test_a_table_is_its_visitors_and_that_of_who_has_the_link(open_page, runs_folder: Path) -> None:
    alice = open_page("distribution_regression", **OWN)
    alice.file_uploader(key="d-file").set_value(("of alice.csv", TABLE, "text/csv")).run()
    assert not alice.exception and alice.selectbox(key="d-table").options == ["of alice.csv"]
    bob = open_page("distribution_regression", **OWN)
    assert not bob.exception and "No table yet" in told(bob)
    link = {name: value if isinstance(value, str) else value[0] for name, value in alice.query_params.items()}
    assert len(link["upload"]) == 16
    assert open_page("distribution_regression", **link).selectbox(key="d-table").options == ["of alice.csv"]
    assert "No table yet" in told(open_page("distribution_regression", **link | {"upload": "0" * 16}))


def test_a_browser_without_cookies_is_told_what_that_means(open_page, runs_folder: Path) -> None:
    page = open_page("runs")
    assert "accepts no cookies" in told(page) and not page.text_input


def test_on_a_machine_of_ones_own_nothing_is_said(open_page, runs_folder: Path, monkeypatch) -> None:
    monkeypatch.setenv("DECONDITIONING_SHARED", "false")
    page = open_page("runs")
    assert "runs of your browser" not in told(page) and "upload" not in page.query_params
