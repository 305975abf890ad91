"""Time steps of the full-size case over a Zarr store, region by region, beside the same steps in one piece in memory.

STORE_STEPS (10) steps of STORE_ROWS (360) × twice as many pixels in cells of 17 × 17, every other one a bag, with the
hyperparameters that were learned on the first; conditioned once, and for the first STORE_EACH (3) steps on each.
"""

import json
import os
import tempfile
from pathlib import Path

from tests.benchmarks.apart import output_of
from tests.benchmarks.table import Row, keep

STEPS = int(os.environ.get("STORE_STEPS", "10"))
EACH = int(os.environ.get("STORE_EACH", "3"))
ROWS = int(os.environ.get("STORE_ROWS", "360"))
BLOCK, SHAPE = 17, (ROWS, 2 * ROWS)
SMOKE = {"STEPS": 2, "EACH": 2, "BLOCK": 5, "SHAPE": (40, 80)}

# Each side is a process of its own, so that its peak is its own; writing the store is nobody's work.
_SIDES = """
import json, sys
from dataclasses import replace
from pathlib import Path
import numpy as np, torch
from deconditioning.engine.context import Context
from deconditioning.downscaling.stores.predict_store import predict_store_task
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.engine.reporting import Stopwatch, peak_mb
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.downscaling.stores.store_plan import StoreTask, opened, problem_of
from deconditioning.downscaling.stores.stored_model import condition_on_problem
from deconditioning.bag_sums.direct import cross
from tests.core.downscaling.stores import stored_model
torch.set_num_threads(1)
which, folder, block, steps = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
covariates = ("surface_altitude", "total_cloud_cover", "cloud_albedo")
terms = [
    {"scale": 0.378, "factors": [
        {"family": "matern32", "columns": ("sphere_x", "sphere_y", "sphere_z"), "lengthscales": (0.5,)}]},
    {"scale": 0.83, "factors": [{"family": "rbf", "columns": covariates, "lengthscales": (9.49, 2.47, 3.20)}]},
]
settings = DownscaleSettings(
    model="shrinkage_cmp", kernel={"terms": terms}, noise=0.0013, point_noise=4.5, regularisation=1.39e-4, learn=False,
    device="cpu")
stored = replace(stored_model(folder / "in.zarr", covariates=covariates, block=(block, block)), settings=settings)
store, cpu = str(folder / "in.zarr"), torch.device("cpu")
task = StoreTask(store, str(folder / f"{which}.zarr"), stored.to_dict(), double=True, steps=(0, steps))
begun = peak_mb(cpu)
if which != "whole":
    peaks = []
    context = Context(on_report=lambda row: peaks.append((row.get("step", 0), peak_mb(cpu))))
    found = predict_store_task(replace(task, condition=which).to_dict(), context)
    found["early_mb"] = next(peak for step, peak in peaks if step >= 2 * found["chunks"] // steps)
else:
    from deconditioning.fields.reading.zarr_reading import open_store
    watch = Stopwatch()
    problem, units = problem_of(task, 0)
    spec = starting_spec(problem, settings)
    whole = predict(spec, matched_data(problem, spec), problem)
    found = {"seconds": watch.seconds(), "peak_mb": peak_mb(cpu), "apart": {}, "pixels": len(problem.pixel)}
    mean, sd = problem.physical_mean(whole.mean), problem.physical_sd(whole.sd)
    del whole
    for name in ("once", "each"):
        out = open_store(folder / f"{name}.zarr")
        inside = [out.values(field, {"time": 0})[: mean.shape[0], : mean.shape[1]] for field in ("mean", "sd")]
        found["apart"][name] = max(float(np.abs(a - b).max()) for a, b in zip(inside, (mean, sd)))
    # some pixels of the last step, every pair of them with the bags' pixels written out
    given = condition_on_problem(problem, settings, units, cpu)
    fields = opened(store, "")
    at = np.unravel_index(np.random.default_rng(0).choice(fields.grid.area.size, 500, replace=False), fields.grid.shape)
    values = np.stack([fields.values(name, {"time": steps - 1})[at] for name in covariates], axis=1)
    inputs = given.inputs(fields.grid.latitude[at], fields.grid.longitude[at], values)
    watch, many = Stopwatch(), problem.inputs[torch.randperm(len(problem.inputs))[:4000]]
    cross(spec.kernel.build(problem.columns), given.posterior.bags, many)
    found["pairs"] = watch.seconds()["cpu"] * fields.grid.area.size / len(many)
    with torch.no_grad():
        mean, sd = given.posterior.mean(inputs), spec.value_sd(given.posterior.variance(inputs))
    out = open_store(folder / "once.zarr")
    last = [out.values(field, {"time": steps - 1})[at] for field in ("mean", "sd")]
    expected = given.target.backward(mean.numpy()), given.target.sd * sd.numpy()
    found["apart"]["last"] = max(float(np.abs(a - b).max()) for a, b in zip(last, expected))
print(json.dumps({**found, "imports_mb": begun}))
"""


def _side(which: str, folder: Path, steps: int) -> dict:
    return json.loads(output_of("-c", _SIDES, which, str(folder), str(BLOCK), str(steps)).splitlines()[-1])


def bench_store() -> None:
    """CPU seconds, wall seconds and peak memory of both ways to condition; the same numbers as in one piece."""
    from tests.core.downscaling.stores import write_store

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_store(folder / "in.zarr", STEPS, SHAPE)
        once, each = _side("once", folder, STEPS), _side("each", folder, min(EACH, STEPS))
        whole = _side("whole", folder, STEPS)
    assert max(whole["apart"].values()) < 1e-7
    keep("store", _rows(once, each, whole))


def _rows(once: dict, each: dict, whole: dict) -> list[Row]:
    rows = []
    for name, found, steps in (("once", once, STEPS), ("each", each, min(EACH, STEPS))):
        apart, last = whole["apart"][name], whole["apart"]["last"]
        sample = f", 500 pixels of step {STEPS} within {last:.1e} K of all pairs" if name == "once" else ""
        size = f"{steps} × {SHAPE[0]} × {SHAPE[1]} pixels, {found['chunks']} chunks, cells of {BLOCK} × {BLOCK}"
        speed = f"{found['pixels_per_second']:,.0f} pixels/s of wall time on one worker of a shared machine"
        rows += [
            Row(f"Zarr to Zarr, conditioned {name}", size, found["seconds"]["cpu"],
                yardstick=steps * whole["seconds"]["cpu"], peak_mb=found["peak_mb"],
                against=f"every step in one piece in memory (`predict`, one step × {steps})",
                accuracy=f"step 1: mean and sd within {apart:.1e} K of one piece{sample}",
                note=f"learned hyperparameters, no learning; pair by pair a step would take {whole['pairs']:.0f} CPU s "
                f"(4,000 pixels, scaled); {found['summed_directly']:,} pixels fell back to pairs; 1 thread"),
            Row(f"the same, conditioned {name}, wall", size, found["seconds"]["wall"], "s", note=speed),
            Row(f"the same, conditioned {name}, peak memory of the worker", size, found["peak_mb"], "MB",
                yardstick=whole["peak_mb"], against="one step in one piece",
                note=f"{found['early_mb']:.0f} MB after two steps; {found['imports_mb']:.0f} MB are the imports"),
        ]  # fmt: skip
    return rows
