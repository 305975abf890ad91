"""The whole path in a browser: open, zoom, move a slider, learn, download, reload, come back to another server."""

import re
import shutil
from io import BytesIO
from pathlib import Path

import xarray as xr
from playwright.sync_api import Page, expect

from tests.browser.maps import field, view, where
from tests.browser.serving import running_app
from tests.browser.steps import CELLS, downloaded, exceptions, move_slider, opened, redrawn, revision, settled
from tests.waiting import wait_for, wait_for_value

QUICK = f"{CELLS}&steps=10&points=3&restarts=1"
MAP = "map-mean"


def exact(page: Page) -> None:
    """Wait for the exact picture and its downloads, once the run that asks for it has ended."""
    settled(page)
    page.get_by_text(re.compile(r"^Exact[.:]")).first.wait_for()
    page.get_by_role("button", name="NetCDF").wait_for()
    settled(page)
    revision(page, MAP)


def posterior_map(page: Page) -> dict:
    """Of the posterior mean on its canvas: the sum of its values and the visible range."""
    return {"sum": sum(value for value in field(page, MAP)["z"] if value is not None), "x": view(page, MAP)["x"]}


def shows(page: Page, total: float) -> None:
    """Wait until the posterior mean adds up to that."""
    wait_for(lambda: abs(posterior_map(page)["sum"] - total) < 1e-6 * abs(total), "the same picture")


def zoomed_in(page: Page) -> list[float]:
    """Zoom into the middle of the maps; the visible range."""
    before = posterior_map(page)["x"]
    (x0, x1), (y0, y1) = view(page, MAP).values()
    page.mouse.move(*where(page, MAP, (x0 + x1) / 2, (y0 + y1) / 2))
    page.mouse.wheel(0, -350)
    return wait_for(lambda: (now := posterior_map(page)["x"]) != before and now, "a zoom")


def test_the_whole_path(new_page, server: str, runs: Path, tmp_path: Path) -> None:
    """Cancelling is tested on page One dimension (test_shared_server), and of this task in tests/core."""
    page = opened(new_page(), QUICK)
    exact(page)
    before, picture, zoomed = posterior_map(page)["sum"], revision(page, MAP), zoomed_in(page)
    move_slider(page, "Lengthscale: surface altitude", 8, "ArrowLeft")
    redrawn(page, MAP, picture)
    expect(page).to_have_url(re.compile("l1="))
    exact(page)
    wait_for(lambda: abs(posterior_map(page)["sum"] - before) > 1e-3, "another posterior mean")
    wait_for_value(lambda: posterior_map(page)["x"], zoomed, "the zoom after a new picture")

    page.get_by_role("button", name="Learn hyperparameters").click()
    page.get_by_text(re.compile(r"^Learned in")).wait_for()
    exact(page)
    page.wait_for_url(lambda url: "run=" in url and "s0=" in url)
    learned = page.url
    expect(page.get_by_text(re.compile("^Learned values: one scale up")).first).to_be_visible()
    page.get_by_text("One scale up: a test without a fine truth").click()
    for title in ("Joined cells", "Downscaled to the cells", "Known cells"):
        page.get_by_label(re.compile(title)).first.wait_for()
    is_taken_home(page)

    shown = posterior_map(page)["sum"]
    page.reload()
    exact(page)
    assert page.url == learned
    shows(page, shown)
    assert not page.errors and not page.foreign and not exceptions(page)
    page.close()
    run = re.search(r"run=([\w-]+)", learned)[1]
    shutil.copytree(runs / run, tmp_path / "runs" / run)
    with running_app(tmp_path / "runs", tmp_path / "log.txt") as url:  # started anew, it knows its runs
        page = opened(new_page(url=url), f"/all-runs?run={run}")
        page.get_by_text("downscaled.nc").first.wait_for()
        assert not exceptions(page)
        opened(page, f"/downscale?run={run}")
        exact(page)
        shows(page, shown)
        expect(page.get_by_text(re.compile("110 coarse values|18 × 18 pixels")).first).to_be_visible()
        assert not exceptions(page)
        page.close()


def is_taken_home(page: Page) -> None:
    """As NetCDF, with its units and settings."""
    data = Path(downloaded(page, page.get_by_role("button", name="NetCDF")).path()).read_bytes()
    fields = xr.open_dataset(BytesIO(data), engine="h5netcdf")
    assert {"mean", "sd", "coarse", "error"} <= set(fields.data_vars)
    assert fields["mean"].attrs["units"] == "K" and {"settings", "one_scale_up"} <= fields.attrs.keys()
