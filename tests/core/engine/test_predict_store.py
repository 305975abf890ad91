"""Prediction over a Zarr store on the embedded cluster; on the user's own, which loses a worker: ``test_scheduler``."""

from dataclasses import replace
from pathlib import Path

from deconditioning.downscaling.stores.store_plan import StoreTask
from deconditioning.engine.records import RunSpec
from tests.core.downscaling.stores import stored_model, write_store
from tests.core.engine.conftest import done, ended, progressing

GATED = "tests.core.engine.gated:predict_store"


def task(store: Path, output: Path, **more) -> RunSpec:
    """A run of the model that is quickest."""
    model = stored_model(store, "variational_cmp").to_dict()
    return RunSpec("predict-store", StoreTask(str(store), str(output), model, token="t", **more).to_dict())


def gated(spec: RunSpec, gate: Path, free: int) -> RunSpec:
    """The same run; after ``free`` chunks it waits for the file ``gate``."""
    return replace(spec, task=GATED, settings={**spec.settings, "gate": str(gate), "free": free})


def written(output: Path) -> dict[str, int]:
    """Every chunk of the store's fields, and when it was written."""
    files = [file for name in ("mean", "sd") for file in (output / name / "c").glob("*/*/*") if file.name.isdigit()]
    return {file.relative_to(output).as_posix(): file.stat().st_mtime_ns for file in files}


def test_a_cancel_keeps_the_chunks_there_are(engine, tmp_path) -> None:
    store, gate = write_store(tmp_path / "in.zarr", 2), tmp_path / "gate"
    run_id = engine.submit(gated(task(store, tmp_path / "out.zarr", rows=8, columns=40), gate, 6))
    progressing(engine, run_id)
    engine.cancel(run_id)
    run = ended(engine, run_id)
    assert run.status == "cancelled" and 0 < run.result["computed"] <= 6
    gate.touch()
    again = ended(engine, engine.rerun(run_id))
    assert again.status == "done" and again.message.startswith("20 of 20 chunks"), again.message
    assert again.result["kept"] == run.result["computed"] and again.result["peak_mb"] > 0
    assert engine.trace(again.id)[-1]["step"] == 20 and engine.trace(again.id)[-1]["rate"] > 0
    assert len(written(tmp_path / "out.zarr")) == 40


def test_a_path_that_workers_do_not_see_is_a_sentence(engine, tmp_path) -> None:
    there = tmp_path / "elsewhere.zarr"
    run = done(engine, task(there, tmp_path / "a.zarr"))
    assert run.status == "failed" and "every worker must see the same path" in run.message
