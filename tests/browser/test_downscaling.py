"""The whole path in a browser: open, move a slider, learn, cancel, learn again, download, reload, come back."""

import re
from io import BytesIO
from pathlib import Path

import xarray as xr
from playwright.sync_api import Page, expect

from tests.browser.serving import running_app
from tests.browser.steps import exceptions, opened, settled

# Large cells, few steps: what is tested is the path, not the fit.
QUICK = "/downscale?rows=18&columns=18&steps=10&points=3&restarts=1"

DRAWN = """() => [...document.querySelectorAll('.live-plot')].some(
  plot => (plot.getAttribute('aria-label') || '').includes('Posterior mean') && plot.data && plot._fullLayout)"""


def exact(page: Page) -> None:
    """Wait for the exact picture and its downloads."""
    page.get_by_role("button", name="NetCDF").wait_for(timeout=120_000)
    settled(page)
    page.wait_for_function(DRAWN, timeout=60_000)


def posterior_map(page: Page) -> dict:
    """What plotly holds of the posterior mean: its values' digest and the visible range."""
    script = """() => {
      const plots = [...document.querySelectorAll('.live-plot')];
      const map = plots.find(p => (p.getAttribute('aria-label') || '').includes('Posterior mean'));
      const z = map.data[0].z; const rows = Array.isArray(z) ? z : z._inputArray || z;
      let sum = 0; for (const row of rows) for (const v of (row.length ? row : [row])) if (isFinite(v)) sum += v;
      return {sum, x: map._fullLayout.xaxis.range.slice()};
    }"""
    return page.evaluate(script)


def slider(page: Page, words: str):
    """A slider by part of its label."""
    return page.get_by_role("slider", name=re.compile(words))


def test_the_whole_path(new_page, server: str, tmp_path: Path) -> None:
    page = opened(new_page(), QUICK)
    exact(page)
    assert not page.errors and not page.foreign and not exceptions(page)

    before = posterior_map(page)
    page.evaluate(
        """() => { const map = [...document.querySelectorAll('.live-plot')].find(p =>
        (p.getAttribute('aria-label') || '').includes('Posterior mean'));
        const r = map._fullLayout.xaxis.range, w = r[1] - r[0];
        return window.Plotly.relayout(map, {'xaxis.range': [r[0] + w / 4, r[1] - w / 4]}); }"""
    )
    page.wait_for_timeout(300)
    zoomed = posterior_map(page)["x"]
    assert zoomed != before["x"]
    handle = slider(page, "Lengthscale: surface altitude")
    handle.focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    settled(page)
    expect(page).to_have_url(re.compile("h-k1-0-0="))
    exact(page)
    after = posterior_map(page)
    assert abs(after["sum"] - before["sum"]) > 1e-3
    assert after["x"] == zoomed, "the zoom was lost"

    page.get_by_role("button", name="Learn hyperparameters").click()
    page.get_by_role("button", name="Cancel").wait_for(timeout=60_000)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text(re.compile("Cancelled, the best so far|^Learned")).wait_for(timeout=120_000)
    exact(page)

    page.get_by_role("button", name="Learn hyperparameters").click()
    page.get_by_text(re.compile(r"^Learned in")).wait_for(timeout=180_000)
    exact(page)
    learned = page.url
    assert "run=" in learned and "h-k0s=" in learned

    with page.expect_download() as waiting:
        page.get_by_role("button", name="NetCDF").click()
    data = Path(waiting.value.path()).read_bytes()
    fields = xr.open_dataset(BytesIO(data), engine="h5netcdf")
    assert {"mean", "sd", "coarse", "error"} <= set(fields.data_vars)
    assert fields["mean"].attrs["units"] == "K" and "settings" in fields.attrs

    shown = posterior_map(page)["sum"]
    page.reload()
    exact(page)
    assert page.url == learned and abs(posterior_map(page)["sum"] - shown) < 1e-6 * abs(shown)
    other = opened(new_page(), learned.removeprefix(server))
    exact(other)
    assert abs(posterior_map(other)["sum"] - shown) < 1e-6 * abs(shown)
    assert not exceptions(other)


def test_a_restarted_app_still_knows_its_runs(browser, tmp_path: Path) -> None:
    runs, log = tmp_path / "runs", tmp_path / "log.txt"
    with running_app(runs, log) as url:
        page = browser.new_page(base_url=url)
        opened(page, "/")
        opened(page, QUICK)
        exact(page)
        page.get_by_role("button", name="Learn hyperparameters").click()
        page.get_by_text(re.compile(r"^Learned in")).wait_for(timeout=180_000)
        run = re.search(r"run=([\w-]+)", page.url).group(1)
        page.close()
    with running_app(runs, log) as url:
        page = browser.new_page(base_url=url)
        opened(page, "/")
        opened(page, f"/all-runs?run={run}")
        page.get_by_text("downscaled.nc").first.wait_for(timeout=60_000)
        assert not exceptions(page)
        opened(page, f"/downscale?run={run}")
        exact(page)
        assert "220" not in page.locator("[data-testid=stMain]").inner_text()[:50]
        expect(page.get_by_text(re.compile("110 coarse values|18 × 18 pixels")).first).to_be_visible()
        page.close()
