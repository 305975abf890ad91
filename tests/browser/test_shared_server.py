"""A server for a room: runs and uploads belong to the browser that made them, links show and change nothing."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Locator, Page, expect

from deconditioning.engine.visitors.visitor import mark_of
from pages.kit.visitor import COOKIE
from tests.browser.serving import running_app
from tests.browser.steps import CELLS, SMALL_LINE, exceptions, give_to_dialog, open_expanders, opened, settled
from tests.core.engine.made import write_run
from tests.core.fields.samples import netcdf, region

SECRET = "a secret of the person who looks after it"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address and runs folder of a shared app, here for this machine alone."""
    folder = tmp_path_factory.mktemp("room")
    shared = {"DECONDITIONING_SHARED": "true", "DECONDITIONING_ADMIN": SECRET, "STREAMLIT_SERVER_ADDRESS": "127.0.0.1"}
    with running_app(folder / "runs", folder / "log.txt", **shared) as url:
        yield url, folder / "runs"


def listens_on(url: str) -> set[str]:
    """Addresses at which something listens on the port of this URL."""
    found = psutil.net_connections("inet")
    return {at.laddr.ip for at in found if at.status == psutil.CONN_LISTEN and at.laddr.port == urlsplit(url).port}


def secret_of(page: Page) -> str:
    """The visitor's secret, which no script of the page can read and no address tells."""
    (cookie,) = (cookie for cookie in page.context.cookies() if cookie["name"] == COOKIE)
    assert cookie["httpOnly"] and cookie["sameSite"] == "Lax" and cookie["path"] == "/"
    assert COOKIE not in page.evaluate("() => document.cookie") and cookie["value"] not in page.content()
    return cookie["value"]


def put_run(runs: Path, number: int, mark: str, status: str = "done") -> str:
    """A run of that visitor, as the server leaves it."""
    folder = write_run(
        runs, f"20260101-000000-{number:016x}", spec={"title": f"Run {number}"}, status={"status": status}
    )
    (folder / "owner").write_text(mark)
    return folder.name


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name)


def test_a_server_listens_on_this_machine_alone(server: str) -> None:
    """What it listens on otherwise: tests/test_serve.py."""
    assert listens_on(server) == {"127.0.0.1"}


def test_runs_are_those_of_the_browser(new_page, room: tuple[str, Path]) -> None:
    url, runs = room
    alice = opened(new_page(url=url, person="alice"), SMALL_LINE)
    bob = opened(new_page(url=url, person="bob"))
    secrets = secret_of(alice), secret_of(bob)
    assert secrets[0] != secrets[1]
    done, other = (put_run(runs, number, mark_of(secret)) for number, secret in enumerate(secrets))
    opened(alice, "/all-runs")
    expect(alice.get_by_role("heading", name="Run 0")).to_be_visible()
    expect(button(alice, "Delete")).to_be_visible()
    link = alice.url
    assert secret_of(alice) == secrets[0] and secrets[0] not in link
    opened(bob, "/all-runs")
    expect(bob.get_by_role("heading", name="Run 1")).to_be_visible()
    expect(bob.get_by_test_id("stMain")).not_to_contain_text("Run 0")
    opened(bob, link.removeprefix(url))
    expect(bob.get_by_text("This run was started by somebody else")).to_be_visible()
    expect(bob.get_by_role("heading", name="Run 0")).to_be_visible()
    expect(button(bob, "Delete").or_(button(bob, "Cancel"))).to_have_count(0)
    expect(button(bob, "Run again")).to_be_visible()
    opened(bob, f"/all-runs?run={other}")
    button(bob, "Delete").click()
    expect(bob.get_by_text("No runs yet.")).to_be_visible()
    assert (runs / done).is_dir() and not (runs / other).exists()
    assert not bob.errors and not alice.errors and not exceptions(bob) and not exceptions(alice)


def test_a_fit_is_seen_and_stopped_by_who_began_it(new_page, room: tuple[str, Path]) -> None:
    url, runs = room
    alice = opened(new_page(url=url, person="alice"), "/line?o-starts=10&o-steps=500")
    button(alice, "Learn hyperparameters").click()
    expect(button(alice, "Cancel")).to_be_visible()
    alice.wait_for_url(re.compile("run="))
    run = re.search(r"run=([0-9a-f-]+)", alice.url)
    assert run is not None and (runs / run[1] / "owner").read_text() == mark_of(secret_of(alice))
    bob = opened(new_page(url=url, person="bob"), urlsplit(alice.url).path + f"?run={run[1]}")
    expect(bob.get_by_text("This run was started by somebody else")).to_be_visible()
    expect(button(bob, "Cancel")).to_have_count(0)
    expect(button(bob, "Learn hyperparameters")).to_be_enabled()
    alice.reload()
    button(alice, "Cancel").click()
    expect(alice.get_by_text(re.compile("^Cancelled")).first).to_be_visible()


def test_uploads_are_those_of_the_browser(new_page, room: tuple[str, Path]) -> None:
    url, _ = room
    alice = opened(new_page(url=url, person="alice"), CELLS)
    give_to_dialog(alice, "of-alice.nc", netcdf(region(12, 12)))
    expect(chosen_fields(alice)).to_have_value("Upload: of-alice.nc")
    settled(alice)
    bob = opened(new_page(url=url, person="bob"), alice.url.removeprefix(url))
    expect(chosen_fields(bob)).to_have_value("Upload: of-alice.nc")
    opened(bob, CELLS)
    assert not [name for name in choices(bob) if "alice" in name]
    assert [name for name in choices(alice) if "alice" in name]


def chosen_fields(page: Page) -> Locator:
    """The box of fields."""
    return page.get_by_role("combobox", name="Which field")


def choices(page: Page) -> list[str]:
    """What the box of fields offers."""
    chosen_fields(page).click()
    page.get_by_role("option").first.wait_for()
    names = page.get_by_role("option").all_inner_texts()
    page.keyboard.press("Escape")
    return names


def test_an_administrator_sees_everything(new_page, room: tuple[str, Path]) -> None:
    url, runs = room
    put_run(runs, 7, mark_of("somebody"))
    page = opened(new_page(url=url, person="administrator"), "/all-runs")
    expect(page.get_by_test_id("stMain")).not_to_contain_text("Run 7")
    open_expanders(page)
    page.get_by_label("Secret", exact=True).fill("a guess")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This is not the secret")).to_be_visible()
    page.get_by_label("Secret", exact=True).fill(SECRET)
    page.keyboard.press("Enter")
    expect(page.get_by_text("You see the runs and uploads of all visitors")).to_be_visible()
    expect(page.get_by_test_id("stSelectbox").first).to_be_visible()
    expect(page.get_by_text(re.compile("^Download (all|the)"))).to_be_visible()
    expect(page.get_by_text("Run 7").first).to_be_attached()
    expect(opened(page, "/all-runs").get_by_text("No runs yet.")).to_be_visible()
