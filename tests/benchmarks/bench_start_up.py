"""From `make run` to the first heading in Chromium, and what the processes hold in memory before the first fit.

Memory is listed for the page process, Dask's scheduler and each worker.
"""

import os
import re
import signal
import subprocess
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Page

from pages.kit.pages import PAGES
from tests.benchmarks.bench_latency import chromium
from tests.benchmarks.memory import held
from tests.benchmarks.table import Row, keep
from tests.browser.serving import ROOT, free_port
from tests.browser.steps import count_scripts, settled
from tests.waiting import HANG_MS

STARTS = 3
WARM_S = 12
EXAMPLE = "downscale"
SMALL = "downscale?rows=18&columns=18&cell-rows=2&cell-rows=8"
SMOKE = {"STARTS": 1, "WARM_S": 0, "PAGES": PAGES[:1], "EXAMPLE": SMALL}


def bench_start_up(tmp_path: Path) -> None:
    """Three starts for the times; memory on page Start, on Downscaling, and after every page was opened once."""
    import statistics

    healthy, heading, rows = [], [], []
    with chromium() as browser:
        for turn in range(STARTS):
            page = count_scripts(browser.new_page())
            page.set_default_timeout(HANG_MS)
            app, times = started(page, tmp_path / f"runs{turn}")
            healthy.append(times[0])
            heading.append(times[1])
            if turn == STARTS - 1:
                rows = memory(page, app)
            page.close()
            stop(app)
    load = f"median of {STARTS} starts, installed; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    keep(
        "start_up",
        [
            Row("make run to an answering server", "page Start", statistics.median(healthy), "s", note=load),
            Row("make run to the first heading", "page Start", statistics.median(heading), "s",
                accuracy="asked for: 4 s", note=load),
            *rows,
        ],
    )  # fmt: skip


def started(page: Page, runs: Path) -> tuple[subprocess.Popen, tuple[float, float]]:
    """`make run` on a free port; seconds until its server answers and until the first heading is drawn."""
    port = free_port()
    variables = {
        **os.environ, "STREAMLIT_SERVER_PORT": str(port), "STREAMLIT_SERVER_HEADLESS": "true",
        "STREAMLIT_SERVER_ADDRESS": "127.0.0.1", "DECONDITIONING_RUNS": str(runs),
    }  # fmt: skip
    begun = time.perf_counter()
    app = subprocess.Popen(
        ["make", "run"], cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    while True:
        with suppress(OSError):
            if urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).status == 200:
                break
        assert app.poll() is None and time.perf_counter() - begun < 60, "the app did not start"
        time.sleep(0.02)
    healthy = time.perf_counter() - begun
    page.goto(url)
    page.locator("[data-testid=stMain] h1").first.wait_for()
    return app, (healthy, time.perf_counter() - begun)


def memory(page: Page, app: subprocess.Popen) -> list[Row]:
    """Rows of memory as the person goes on: Start, Downscaling, every page."""
    rows = []
    home = page.url.split("/welcome")[0].rstrip("/")
    page.wait_for_timeout(1000 * WARM_S)
    rows += processes(app, "page Start, warmed up, no fit")
    page.goto(f"{home}/{EXAMPLE}")
    page.locator('[data-key="map-mean"][data-revision]').wait_for()
    page.get_by_role("button", name="NetCDF").wait_for()
    rows += processes(app, "page Downscaling, default example, no fit")
    for listed in PAGES:
        page.goto(f"{home}/{listed.url_path}")
        page.locator("[data-testid=stMain] h1").first.wait_for()
        settled(page)
    rows += processes(app, "every page opened once, no fit")
    page.goto(f"{home}/line?o-n=60&o-m=60&o-starts=1&o-steps=20")
    page.get_by_role("button", name="Learn hyperparameters").click()
    page.get_by_text(re.compile("^Learned in")).wait_for()
    return rows + processes(app, "after a small first fit")


def processes(app: subprocess.Popen, size: str) -> list[Row]:
    """One row a process of the app, by its role."""
    rows = []
    for each in held(app.pid):
        note = f"unique to it {each.unique:.0f} MB, proportional share {each.share:.0f} MB"
        limit = "asked for: 600 MB" if each.role == "page process" else ""
        rows.append(Row(f"Memory, {each.role}", size, each.resident, "MB", accuracy=limit, note=note))
    return rows


def stop(app: subprocess.Popen) -> None:
    """End the app as Ctrl-C does."""
    with suppress(ProcessLookupError):
        os.killpg(app.pid, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        app.wait(20)
    with suppress(ProcessLookupError):
        os.killpg(app.pid, signal.SIGKILL)
