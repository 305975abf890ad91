"""Prediction over a Zarr store: region by region, time step by time step, on the cluster's workers.

A chunk of the output is one task: read a region of the covariates, evaluate the posterior there, write the chunk. A
worker holds one region, the conditioned model (bag inputs, B×M root) and, while it conditions on a step of its own,
that step, but never the whole store. Finished chunks are files of the output, so a restarted run computes only the
missing ones.
"""

import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from deconditioning.device import choose
from deconditioning.downscaling.stores.store_plan import Plan, StoreTask, make_plan, opened, problem_of
from deconditioning.downscaling.stores.stored_model import Conditioned, Values, condition_on_problem
from deconditioning.engine.parallel import stream
from deconditioning.engine.reporting import Stopwatch, peak_mb
from deconditioning.errors import Cancelled, Check, InputError
from deconditioning.fields.reading.zarr_reading import region, units_of
from deconditioning.fields.units import convert
from deconditioning.fields.writing.zarr_writing import Chunk, missing_chunks, write_chunk
from deconditioning.wording import number


def predict_store_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: predict every missing chunk of the output; ``settings`` are those of ``StoreTask``.

    The result counts chunks, pixels, bytes and seconds: ``computed`` in this run, ``kept`` from before, ``recomputed``
    because a worker was lost, ``summed_directly`` pixels (or parts of them) without a faster exact algorithm; ``cpu``
    is the sum over all workers, ``peak_mb`` the largest of them. A cancelled run keeps its chunks. Raises
    ``InputError``.
    """
    task = StoreTask.from_dict(settings)
    task = replace(task, token=task.token or secrets.token_hex(8))
    context.report(message="Checking the store, the model and the output")
    plan = make_plan(task)
    tally = Tally(task, plan)
    items = [(_key(task, plan, chunk), chunk) for chunk in tally.missing]
    work = stream(partial(_conditioned_at, task), partial(predict_chunk, task, plan), items, context, tally.begin)
    try:
        for row in work:
            tally.add(row)
            context.report(**tally.progress())
    except Cancelled:
        return tally.result(cancelled=True)
    if tally.skipped and not tally.computed and not tally.kept:
        raise InputError(next(iter(tally.skipped.values())))
    return tally.result(cancelled=False)


def _key(task: StoreTask, plan: Plan, chunk: Chunk) -> int | None:
    """The step of the store that the chunk's model is conditioned on; ``None`` for the model's own problem."""
    return None if task.condition == "once" else plan.first + chunk.step


def _conditioned_at(task: StoreTask, step: int | None, check: Check) -> tuple[Conditioned | str, float]:
    """The model conditioned for a step, or the sentence why it cannot be; and the CPU seconds it took."""
    begun = time.process_time()
    try:
        problem, units = problem_of(task, step)
        settings = task.stored.settings
        grid = opened(task.store, task.token).grid
        conditioned = condition_on_problem(problem, settings, units, choose(settings.device), grid, check)
    except InputError as error:
        if step is None:
            raise
        return f"Step {step} is skipped: {error}", time.process_time() - begun
    return conditioned, time.process_time() - begun


def predict_chunk(
    task: StoreTask, plan: Plan, shared: tuple[Conditioned | str, float], chunk: Chunk, check: Check
) -> dict[str, Any]:
    """Read, predict and write one chunk of the output; returns its cost."""
    conditioned, prepared = shared
    row: dict[str, Any] = {"step": plan.first + chunk.step, "prepared": prepared, "pixels": 0, "read": 0, "written": 0}
    if isinstance(conditioned, str):
        return {**row, "skipped": conditioned, "cpu": 0.0, "peak_mb": 0.0}
    watch = Stopwatch()
    device = choose(task.stored.settings.device)
    values = _read_chunk(task, plan, conditioned, chunk)
    grid, (rows, columns) = opened(task.store, task.token).grid, plan.layout.window(chunk)
    whole = np.isfinite(values).all(axis=-1)
    result, directly = {name: np.full(whole.shape, np.nan) for name in plan.fields}, 0
    if whole.any():
        inputs = conditioned.inputs(
            grid.latitude[rows, columns][whole], grid.longitude[rows, columns][whole], values[whole]
        )
        cells = conditioned.cells(rows, columns, whole)
        cells = None if cells is None else cells.to(device)
        read = conditioned.to(device).read(inputs.to(device), cells, check, conditioned.shift(rows, columns, whole))
        directly = read.directly
        for name, field in result.items():
            field[whole] = _field(read, name, task.levels)
    bytes_written = write_chunk(Path(task.output), plan.layout, chunk, result)
    done = {"pixels": int(whole.sum()), "read": values.nbytes, "written": bytes_written, "jitter": conditioned.jitter}
    return {**row, **done, "directly": directly, "cpu": watch.seconds()["cpu"], "peak_mb": peak_mb(torch.device("cpu"))}


def _field(read: Values, name: str, levels: Mapping[str, float]) -> np.ndarray:
    """One of the fields of a plan, (P,)."""
    if name in levels:
        return read.predictive.quantile(levels[name])
    return read.sd_latent if name == "sd_latent" else getattr(read.predictive, name)


def _read_chunk(task: StoreTask, plan: Plan, conditioned: Conditioned, chunk: Chunk) -> np.ndarray:
    """(h, w, c) covariates of a chunk in the model's units."""
    fields = opened(task.store, task.token).with_missing(task.stored.problem.missing)
    window = plan.layout.window(chunk)
    select = task.select(plan.first + chunk.step)
    height, width = (part.stop - part.start for part in window)
    values = np.empty((height, width, len(conditioned.covariates)))
    for index, (name, units) in enumerate(zip(conditioned.covariates, conditioned.units, strict=True)):
        raw = region(fields, name, select, window)
        values[..., index] = convert(raw, units_of(fields, name), units, name)[0]
    return values


class Tally:
    """What a run has done so far, and how fast."""

    def __init__(self, task: StoreTask, plan: Plan) -> None:
        self._task, self._plan = task, plan
        self.missing = missing_chunks(Path(task.output), plan.layout, plan.fields)
        self.total = len(plan.layout.chunks())
        self.kept = self.total - len(self.missing)
        self.computed = self.begun = self.pixels = 0
        self.skipped: dict[int, str] = {}
        self._left_out = 0
        self._read = self._written = self._directly = 0
        self._cpu, self._peak, self._jitter = 0.0, 0.0, 0.0
        self._prepared: dict[int | None, float] = {}
        self._clock = time.perf_counter()

    def begin(self) -> None:
        """A chunk was begun on some worker."""
        self.begun += 1

    def add(self, row: dict[str, Any]) -> None:
        """A chunk was finished, or left out with its step."""
        self._prepared[row["step"] if self._task.condition == "each" else None] = row["prepared"]
        if "skipped" in row:
            self._left_out += 1
            self.skipped[row["step"]] = row["skipped"]
            return
        self.computed += 1
        self.pixels += row["pixels"]
        self._read, self._written = self._read + row["read"], self._written + row["written"]
        self._cpu, self._peak = self._cpu + row["cpu"], max(self._peak, row["peak_mb"])
        self._jitter = max(self._jitter, row["jitter"])
        self._directly += row["directly"]

    def _rates(self) -> dict[str, float]:
        seconds = max(time.perf_counter() - self._clock, 1e-9)
        return {
            "pixels_per_second": self.pixels / seconds,
            "mb_per_second": (self._read + self._written) / 1e6 / seconds,
        }

    def progress(self) -> dict[str, Any]:
        """A row for the run's trace."""
        done, rates = self.kept + self.computed + self._left_out, self._rates()
        pixels = rates["pixels_per_second"]
        sentence = f"{done} of {self.total} chunks, {pixels:,.0f} pixels/s, {number(rates['mb_per_second'], 2)} MB/s"
        # the stage names the line that page Runs draws
        return {"step": done, "total": self.total, "message": sentence, "stage": "pixels per second", "rate": pixels}

    def result(self, cancelled: bool) -> dict[str, Any]:
        """What the run leaves behind, as plain data."""
        cpu = self._cpu + sum(self._prepared.values())
        recomputed = 0 if cancelled else max(0, self.begun - self.computed - self._left_out)
        warnings = [self.skipped[step] for step in sorted(self.skipped)]
        if self._jitter:
            warnings.append(
                f"Up to {number(self._jitter, 2)} was added to a matrix diagonal to factorise it. Raise σ² to avoid "
                "this."
            )
        done = self.kept + self.computed
        steps, height, width = self._plan.layout.shape
        return {
            "cancelled": cancelled,
            "model": self._task.stored.settings.model,
            "message": f"{done} of {self.total} chunks are in {self._task.output}",
            "output": self._task.output,
            "condition": self._task.condition,
            "device": str(choose(self._task.stored.settings.device)),
            "shape": [steps, height, width],
            "region": list(self._plan.layout.chunk),
            "chunks": self.total,
            "computed": self.computed,
            "kept": self.kept,
            "recomputed": recomputed,
            "pixels": self.pixels,
            "summed_directly": self._directly,
            **self._rates(),
            "mb_written": self._written / 1e6,
            "seconds": {"cpu": cpu, "wall": time.perf_counter() - self._clock},
            "peak_mb": self._peak,
            "warnings": warnings,
            "notes": list(self._plan.notes),
        }
