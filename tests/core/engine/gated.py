"""Prediction over a store that comes just so far, until the test lets it go on; it runs on workers by its name."""

from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from deconditioning.downscaling.stores.predict_store import predict_chunk, predict_store_task
from deconditioning.downscaling.stores.store_plan import Plan
from deconditioning.engine.context import Context
from deconditioning.fields.writing.zarr_writing import Chunk
from tests.core.engine.toys import wait_at


def predict_store(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """``predict_store_task``; chunks after the first ``free`` ones wait for the file ``gate``."""
    given = dict(settings)
    waiting = partial(chunk_behind_gate, Path(given.pop("gate")), given.pop("free"))
    with mock.patch("deconditioning.downscaling.stores.predict_store.predict_chunk", waiting):
        return predict_store_task(given, context)


def chunk_behind_gate(gate: Path, free: int, task: Any, plan: Plan, shared: Any, chunk: Chunk, check: Any) -> dict:
    """``predict_chunk``, once it may."""
    if plan.layout.chunks().index(chunk) >= free:
        wait_at(gate, check)
    return predict_chunk(task, plan, shared, chunk, check)
