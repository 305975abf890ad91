"""Pages of the app in AppTest: each test a session and an engine of its own, what pages computed kept between them."""

import functools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.caching import cache_resource_api
from streamlit.runtime.state import SafeSessionState
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner
from streamlit.util import calc_hash

from deconditioning.period.archive import kernel
from pages.kit import state, streamlit_private
from pages.kit.chart import background
from pages.kit.chart.background import Background
from pages.kit.pages import PAGES
from tests.waiting import HANG_S, wait_for

ROOT = Path(__file__).resolve().parents[2]
#: Six by six cells of 18 × 18 pixels of page Downscaling's worked example, in an address: their maps are cheap.
FEW_CELLS: dict[str, str | list[str]] = {
    "rows": "18", "columns": "18", "cell-rows": ["3", "8"], "cell-columns": ["2", "7"]
}  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def components() -> Iterator[None]:
    """What is installed is looked through once: AppTest does so at every run of a page, longer than most pages take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner, "scan_component_manifests", functools.cache(manifest_scanner.scan_component_manifests)
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def values() -> Iterator[None]:
    """Controls look up their own values, as on the app's server."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SafeSessionState, "filtered_state", SafeSessionState.filtered_state)
        streamlit_private.look_up_single_values()
        yield


@pytest.fixture(scope="session", autouse=True)
def waiting() -> Iterator[None]:
    """A test waits for the thread of its page: AppTest looks through all that the page has sent, a thousand times a
    second."""
    whether_it_ended = local_script_runner.require_widgets_deltas

    def wait(runner: LocalScriptRunner, timeout: float = 3) -> None:
        assert runner._script_thread is not None
        runner._script_thread.join(timeout)
        whether_it_ended(runner, 0.1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(scope="session", autouse=True)
def few_pixels() -> Iterator[None]:
    """The kernel of an archive's anomalies is learned from fewer pixels: how well is asked in tests/core/period."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_PIXELS", 40)
        yield


@pytest.fixture(autouse=True)
def cluster(shared_cluster: None) -> None:
    """Every engine of these tests uses the one cluster."""


@pytest.fixture(scope="session", autouse=True)
def caches() -> Iterator[None]:
    """Fields, sums and posteriors stay between tests, as on a server between its visitors."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@contextmanager
def empty_caches() -> Iterator[None]:
    """What is kept between tests is away meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_resource_api._resource_caches, "_function_caches", {})
        yield
        st.cache_resource.clear()


@pytest.fixture(scope="module")
def own_caches() -> Iterator[None]:
    """For a file that puts something else into them, or counts what is computed."""
    with empty_caches():
        yield


@pytest.fixture
def open_page(runs_folder: Path) -> Iterator[Callable[..., AppTest]]:
    """Opens a page by its folder's name, at an address, in a new session; the engine is this test's."""

    state._holder.clear()
    yield session
    drop_everything()
    state._holder.clear()


def session(name: str, **query: str | list[str]) -> AppTest:
    """A page by its folder's name, at an address, in a new session."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=HANG_S)
    app.query_params.update(query)
    (address,) = (page.url_path for page in PAGES if page.folder == name)
    app._page_hash = calc_hash(address)  # `switch_page` knows addresses only after the front page has run
    return app.run()


class Patient(Background):
    """Begins no work before a test waits for some: most look at what is on the page at once and leave.

    What gives way to everything else, maps ahead of a slider, waits until a test waits for that.
    """

    def __init__(self) -> None:
        super().__init__()
        self.go, self.go_ahead = threading.Event(), threading.Event()
        self._ahead = set[str]()

    def request(
        self, key: str, lane: str, work: Callable[[Callable[[], None]], Any], *, gives_way: bool = False
    ) -> "Future[Any]":
        begin = self.go_ahead if gives_way else self.go
        self._ahead |= {key} if gives_way else set()

        def later(check: Callable[[], None]) -> Any:
            while not begin.wait(0.05):
                check()
            return work(check)

        return super().request(key, lane, later, gives_way=gives_way)

    @property
    def idle(self) -> bool:
        """Whether nothing that may begin waits or goes on."""
        held = set() if self.go_ahead.is_set() else self._ahead
        return all(job.done() for key, job in [*self._jobs.items()] if key not in held)


@pytest.fixture(scope="session", autouse=True)
def patient() -> Iterator[None]:
    """Pages of these tests work in a patient background."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "Background", Patient)
        yield


def drop_everything() -> None:
    """What sessions that are over have left in the background goes."""
    work = background.get_background()
    for lane in [*work._wanted]:
        work.drop(lane, unless="")


def until(page: AppTest, there: Callable[[], Any], *, ahead: bool = False) -> None:
    """Let the background work, and run the page again when it or the engine is through, until something is there.

    With what gives way to everything else only if the test waits for what is computed ``ahead``.
    """
    work = background.get_background()
    assert isinstance(work, Patient)
    begun = [work.go, work.go_ahead] if ahead else [work.go]
    for each in begun:
        each.set()

    def look() -> Any:
        if found := there():
            return found
        since = time.monotonic()
        while time.monotonic() < since + 1 and not (work.idle and not state._holder().engine.active()):
            time.sleep(0.05)
        page.run()
        return None

    try:
        wait_for(look, "what the page waits for", every=0.05)
    finally:
        for each in begun:
            each.clear()
