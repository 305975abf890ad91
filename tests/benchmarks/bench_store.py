"""Ten time steps of the full-size case over a Zarr store, region by region, beside one step in one piece.

STORE_STEPS (10) steps of STORE_ROWS (360) × twice as many pixels in cells of 17 × 17: at full size half of the 882
cells are bags, 3.3e10 pairs a step whatever the cells.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.table import Row, keep

ROOT = Path(__file__).resolve().parents[2]
STEPS = int(os.environ.get("STORE_STEPS", "10"))
ROWS = int(os.environ.get("STORE_ROWS", "360"))
BLOCK, SHAPE = 17, (ROWS, 2 * ROWS)

# Each side is a process of its own, so that its peak is its own; writing the store is neither's work.
_BOTH = """
import json, sys, time
from pathlib import Path
import numpy as np, torch
from core.engine import Context
from core.experiments.predict_store import predict_store_task
from core.experiments.prediction import matched_data, predict_tiled
from core.experiments.reporting import Stopwatch, peak_mb
from core.experiments.settings import starting_spec
from core.experiments.store_plan import StoreTask, problem_of
from core.fields.zarr_reading import open_store
from tests.core.experiments.stores import stored_model
torch.set_num_threads(1)
which, folder, block, steps = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
stored = stored_model(folder / "in.zarr", block=(block, block))
task = StoreTask(str(folder / "in.zarr"), str(folder / "out.zarr"), stored.to_dict(), double=True, steps=(0, steps))
problem, _ = problem_of(task, None)
spec = starting_spec(problem, stored.settings)
data = matched_data(problem, spec)
predict_tiled(spec, data, problem, problem.inputs[:256])  # warm
begun = peak_mb(torch.device("cpu"))
if which == "regions":
    found = predict_store_task(task.to_dict(), Context())
    print(json.dumps({**found, "imports_mb": begun}))
else:
    watch = Stopwatch()
    predict_tiled(spec, data, problem, problem.inputs[:256])
    once = watch.seconds()["cpu"]  # conditioning, and next to no pixels
    watch = Stopwatch()
    whole = predict_tiled(spec, data, problem, problem.inputs)
    mean, sd = problem.physical_mean(whole.mean), problem.physical_sd(whole.sd)
    seconds, peak = watch.seconds(), peak_mb(torch.device("cpu"))
    out, (rows, columns) = open_store(folder / "out.zarr"), mean.shape
    both = {name: out.values(name, {"time": 0})[:rows, :columns] for name in ("mean", "sd")}
    apart = [float(np.abs(both[name] - values).max()) for name, values in (("mean", mean), ("sd", sd))]
    found = {"seconds": seconds, "once": once, "peak_mb": peak, "apart": apart, "pixels": rows * columns}
    print(json.dumps(found))
"""


def _side(which: str, folder: Path) -> dict:
    command = [sys.executable, "-c", _BOTH, which, str(folder), str(BLOCK), str(STEPS)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout.splitlines()[-1])


def bench_store() -> None:
    """CPU seconds, wall seconds and peak memory; the first step is the same in one piece, pixel by pixel."""
    from tests.core.experiments.stores import write_store

    with tempfile.TemporaryDirectory() as name:
        write_store(Path(name) / "in.zarr", STEPS, SHAPE)
        ours, whole = _side("regions", Path(name)), _side("whole", Path(name))
    assert max(whole["apart"]) < 1e-8
    # one piece keeps to whole cells (357 × 714 pixels at 17), the store's every pixel is predicted
    pixels = ours["pixels"] / whole["pixels"]
    yardstick = whole["once"] + (whole["seconds"]["cpu"] - whole["once"]) * pixels
    size = f"{STEPS} × {SHAPE[0]} × {SHAPE[1]} pixels, {ours['chunks']} chunks, cells of {BLOCK} × {BLOCK}"
    same = f"step 1: mean and sd within {max(whole['apart']):.1e} K of one piece"
    scaled = "yardstick: one conditioning, and one step scaled by the number of pixels; warm, 1 thread"
    keep(
        "store",
        [
            Row("Zarr to Zarr, region by region", size, ours["seconds"]["cpu"],
                yardstick=yardstick, against="every step in one piece in memory (`predict_tiled`)",
                accuracy=same, peak_mb=ours["peak_mb"],
                note=f"start values, no learning; {scaled}; {ours['imports_mb']:.0f} MB are the imports"),
            Row("the same, wall", size, ours["seconds"]["wall"], "s",
                note=f"{ours['pixels_per_second']:,.0f} pixels/s on one worker of a shared machine"),
            Row("the same, peak memory of the worker", size, ours["peak_mb"], "MB", yardstick=whole["peak_mb"],
                against="one step in one piece", note="with the imports; does not grow with the steps"),
        ],
    )  # fmt: skip
