"""All times of page Period as a run: begun with a button, found again at its address, resumed, and downloaded."""

import json
from io import BytesIO

import numpy as np
import pytest
import xarray as xr
from streamlit.testing.v1 import AppTest

from deconditioning.downscaling.source import keep_upload
from deconditioning.engine.records import RunSpec
from deconditioning.figures.style import uncompacted
from deconditioning.period.tasks.write import FILE, PeriodTask
from pages.kit import state
from pages.period import result
from tests.core.fields.samples import netcdf
from tests.pages.test_members import of
from tests.pages.test_period import FEW, LOWEST, REGION, captions
from tests.waiting import HANG_S

#: Cells alone: other processes learn an archive's kernel from more pixels than these tests do.
ALONE = FEW | {"p-archive": "false"}


def test_every_time_is_written_and_found_again_at_the_address(open_page) -> None:
    page = open_page("period", **ALONE)
    assert page.button(key="p-write").label == "Write 32 times"
    page.button(key="p-write").click().run()
    assert not page.exception and not page.error
    run_id = begun(page)
    run = state.get_engine().wait(run_id, HANG_S)
    assert run.status == "done" and run.spec.title == "British Isles, March (ERA5), t2m, 32 times", run.message
    again = open_page("period", **ALONE, run=run_id)
    assert not again.exception and any(each.value.startswith("Written in") for each in again.info)
    assert not [each for each in again.button if each.key == "p-write"] and again.get("download_button")
    written = xr.open_dataset(BytesIO(state.get_engine().file(run_id, FILE)), engine="h5netcdf")
    shown = json.loads(again.session_state["_seen"].figures["map-mean"].text)["data"][0]["z"]
    seen = np.array(uncompacted(shown), dtype=float).reshape(written["mean"].shape[1:])
    np.testing.assert_allclose(seen, written["mean"][0], atol=0.01)
    other = open_page("period", **{"p-period": ["217", "247"]}, run=run_id)
    assert not other.exception and other.button(key="p-write").label == "Write 31 times"


def begun(page: AppTest) -> str:
    """The only run there is, which the address names."""
    (run,) = state.get_engine().runs()
    assert run.id in page.query_params["run"]
    return run.id


def test_a_run_that_was_cancelled_can_be_resumed(open_page) -> None:
    page = open_page("period", **FEW)
    engine = state.get_engine()
    page.button(key="p-write").click().run()
    run_id = begun(page)
    engine.cancel(run_id)
    run = engine.wait(run_id, HANG_S)
    spec = PeriodTask.from_dict(run.spec.settings)
    assert run.status == "cancelled" and spec.times == ("#216/#247",) and spec.training == ("#0/#215",)
    page = open_page("period", **FEW, run=run_id)
    assert page.button(key="p-write").label == "Resume"
    assert any("Resume continues there" in each.value for each in page.info)


def test_more_times_than_can_be_shown_are_written_only(open_page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result, "MOST_VALUES", 20 * 1536)
    usual = open_page("period")
    assert usual.slider(key="p-period").value == (186, 205) and not usual.error  # as many as can be shown
    page = open_page("period", **FEW)
    assert not page.exception and not page.error
    (said,) = [each.value for each in page.info if "too many to be shown" in each.value]
    assert said.startswith("32 times of 1,536 pixels") and page.button(key="p-write").label == "Write 32 times"


def test_a_pair_is_written_as_it_is_shown(open_page) -> None:
    address = REGION | {"p-period": ["470", "479"], "p-training": ["430", "469"], "p-target": LOWEST, "p-pair": "true"}
    page = open_page("period", **address)
    assert not page.exception and "as `upper_…`, of tmax" in captions(page)
    page.button(key="p-write").click().run()
    assert not page.exception and not page.error
    run_id = begun(page)
    run = state.get_engine().wait(run_id, HANG_S)
    assert run.status == "done" and run.spec.title.endswith("tmin, tmax, 10 times"), run.message
    again = open_page("period", **address, run=run_id)
    assert not again.exception and again.get("download_button")
    written = xr.open_dataset(BytesIO(state.get_engine().file(run_id, FILE)), engine="h5netcdf")
    shown = json.loads(again.session_state["_seen"].figures["map-mean"].text)["data"][0]["z"]
    seen = np.array(uncompacted(shown), dtype=float).reshape(written["mean"].shape[1:])
    off = seen - written["mean"][0].values
    assert np.sqrt(np.mean(off**2)) < 0.15  # the run learns from more pixels than this test
    assert float((written["mean"] - written["upper_mean"]).max()) <= 0


@pytest.mark.usefixtures("own_caches", "runs_folder")
def test_all_members_are_written_together(open_page) -> None:
    keep_upload(netcdf(of("realization")), "members.nc")
    address = {"p-data": "members.nc", "p-period": ["26", "29"], "p-dim-realization": "All members",
               "p-archive": "false"}  # fmt: skip
    page = open_page("period", **address)
    assert not page.exception and "of all members, and mean, sd and spread of a further one" in captions(page)
    page.button(key="p-write").click().run()
    run = state.get_engine().wait(begun(page), HANG_S)
    assert run.status == "done", run.message
    written = xr.open_dataset(BytesIO(state.get_engine().file(run.id, FILE)), engine="h5netcdf")
    again = open_page("period", **address, run=run.id)
    shown = json.loads(again.session_state["_seen"].figures["map-mean"].text)["data"][0]["z"]
    seen = np.array(uncompacted(shown), dtype=float).reshape(written["ensemble_mean"].shape[1:])
    np.testing.assert_allclose(seen, written["ensemble_mean"][0], atol=0.01)


def test_a_damaged_run_is_a_sentence(open_page) -> None:
    run_id = state.get_engine().submit(RunSpec("write-period", {"source": 3}))
    state.get_engine().wait(run_id, HANG_S)
    page = open_page("period", **FEW, run=run_id)
    assert not page.exception and any("damaged" in each.value for each in page.error)
