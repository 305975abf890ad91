"""The paper's size, exactly: learn on a coreset, condition on all pixels of the bags, mean and sd of every pixel.

The yardstick is the paper's variational training in plain gpytorch: 701 epochs of 7 steps and one prediction, from the
median of 20 steps timed in this process. CPU seconds, one thread; our whole run is the median of 3.
"""

import json
import subprocess
import sys

import torch

from core.datasets import find
from core.experiments.downscale import learn_model
from core.experiments.prediction import predict
from core.experiments.settings import DownscaleSettings
from core.experiments.source import Source, build_problem
from core.fields import DownscalingSpec
from core.metrics import score_field
from tests.benchmarks.table import Row, keep
from tests.benchmarks.timing import cpu_seconds
from tests.benchmarks.yardstick_varcmp import EPOCHS, Yardstick
from tests.conftest import ROOT

SETTINGS = {"restarts": 1, "steps": 40}
STEPS = 20
SCORES = ("rmse", "mae", "pearson", "ssim", "crps", "coverage95")


def bench_full_size() -> None:
    """One row a model, scores beside those of our own variational CMP of the stored benchmark."""
    torch.set_num_threads(1)
    problem = build_problem(Source("atmosphere"), DownscalingSpec.from_dict(find("atmosphere").default))
    slow, told = _yardstick(problem)
    rows = []
    for model in ("shrinkage_cmp", "cmp"):
        settings, scores = DownscaleSettings.from_dict({"model": model, **SETTINGS}), {}

        def work(settings=settings, scores=scores) -> None:
            learned, _ = learn_model(problem, settings)
            found = predict(learned.spec, problem.data, problem)
            mean, sd = problem.physical_mean(found.mean), problem.physical_sd(found.sd)
            scores.update(score_field(problem.truth, mean, sd, area=problem.grid.area))

        ours = cpu_seconds(work)
        rows.append(Row(
            f"Learn, condition, predict mean and sd: {model}", "441 bags × 289, 441 targets, 254,898 pixels", ours,
            yardstick=slow, against="variational CMP in plain gpytorch", accuracy=_scores(scores), peak_mb=_peak(model),
            note=told,
        ))  # fmt: skip
    keep("full_size", rows)


def _yardstick(problem) -> tuple[float, str]:
    """CPU seconds of the paper's training and one prediction, and how they were found."""
    yardstick = Yardstick(problem)
    yardstick.step()
    step, prediction = cpu_seconds(yardstick.step, STEPS), cpu_seconds(yardstick.predict, 1)
    steps = EPOCHS * yardstick.steps_an_epoch
    told = f"yardstick: {steps:,} steps of {step:.2f} s (median of {STEPS}) and {prediction:.0f} s for one prediction"
    return steps * step + prediction, told


def _scores(scores: dict[str, float]) -> str:
    """Our scores, with those of our variational CMP in brackets (stored, same data and seed)."""
    rows = json.loads((ROOT / "data" / "benchmarks" / "downscaling.json").read_text())["rows"]
    wanted = {"case": "planet-half-deg", "model": "variational_cmp", "seed": 0}
    other = next(row["scores"] for row in rows if all(row[key] == value for key, value in wanted.items()))
    return ", ".join(f"{name} {scores[name]:.3g} ({other[name]:.3g})" for name in SCORES) + ": ours (variational CMP)"


def _peak(model: str) -> float:
    """Peak memory of the product's own command, all baselines and scores included."""
    options = [word for key, value in SETTINGS.items() for word in (f"--{key}", str(value))]
    command = [sys.executable, "-m", "core", "downscale", "atmosphere", "--model", model, *options, "--quiet"]
    done = subprocess.run([*command, "--json", "-"], check=True, capture_output=True, text=True, cwd=ROOT)
    return json.loads(done.stdout)["results"][0]["peak_mb"]
