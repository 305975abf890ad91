"""The paper's size, exactly: learn on a coreset, condition on all pixels of the bags, mean and sd of every pixel.

The yardstick is the paper's variational training in plain gpytorch: 701 epochs of 7 steps and one prediction, from the
median of 20 steps timed in this process. CPU seconds, one thread; our whole run is the median of 3, with another draw
of the data once. Scores beside those of our own variational CMP, learned on the same data with the same settings.
"""

import json

import torch

from deconditioning.datasets.entries import find
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.prediction import predict
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.metrics.field_scores import score_field
from deconditioning.metrics.predictive import Predictive
from tests.benchmarks.apart import output_of
from tests.benchmarks.table import Row, keep
from tests.benchmarks.timing import cpu_seconds
from tests.benchmarks.yardstick_varcmp import EPOCHS, INDUCING, Yardstick

DATA, SIZE = "atmosphere", "441 bags × 289, 441 targets, 254,898 pixels"
SETTINGS = {"restarts": 2, "steps": 100}
#: Model, seed of the data, repeats.
RUNS = (("shrinkage_cmp", 0, 3), ("cmp", 0, 3), ("shrinkage_cmp", 1, 1))
STEPS = 20
#: First and last row, first and last column of the coarse cells that are used; none: all.
REGION: tuple[int, int, int, int] | None = None
SMOKE = {
    "DATA": "atmosphere-small", "SIZE": "small", "SETTINGS": {"restarts": 1, "steps": 2},
    "RUNS": (("shrinkage_cmp", 0, 1),), "INDUCING": 20, "REGION": (6, 11, 8, 15),
}  # fmt: skip
SCORES = ("rmse", "mae", "pearson", "ssim", "crps", "coverage95")


def bench_full_size() -> None:
    """One row a run of ``RUNS``."""
    torch.set_num_threads(1)
    problems = {seed: _problem(seed) for seed in sorted({seed for _, seed, _ in RUNS})}
    slow, told = _yardstick(problems[0])
    variational = {seed: _scores(problem, "variational_cmp", seed) for seed, problem in problems.items()}
    rows = []
    for model, seed, repeats in RUNS:
        scores: dict[str, float] = {}

        def work(model=model, seed=seed, scores=scores) -> None:
            scores.update(_scores(problems[seed], model, seed))

        ours = cpu_seconds(work, repeats)
        rows.append(Row(
            f"Learn, condition, predict mean and sd: {model}, data of seed {seed}",
            SIZE, ours, yardstick=slow,
            against="variational CMP in plain gpytorch", accuracy=_beside(scores, variational[seed]),
            peak_mb=_peak(model) if seed == 0 else None, note=told,
        ))  # fmt: skip
    keep("full_size", rows)


def _problem(seed: int) -> DownscalingProblem:
    given = {**find(DATA).default, "seed": seed, "region": REGION}
    return build_problem(Source(DATA), DownscalingSpec.from_dict(given))


def _scores(problem: DownscalingProblem, model: str, seed: int) -> dict[str, float]:
    """Learn, condition on all pixels of the bags, predict every pixel, score."""
    settings = DownscaleSettings.from_dict({"model": model, "seed": seed, **SETTINGS})
    learned, _ = learn_model(problem, settings)
    found = predict(learned.spec, problem.data, problem)
    mean, sd = problem.physical_mean(found.mean), problem.physical_sd(found.sd)
    return score_field(problem.truth, Predictive(mean, sd), area=problem.grid.area)


def _yardstick(problem: DownscalingProblem) -> tuple[float, str]:
    """CPU seconds of the paper's training and one prediction, and how they were found."""
    yardstick = Yardstick(problem, inducing=INDUCING)
    yardstick.step()
    step, prediction = cpu_seconds(yardstick.step, STEPS), cpu_seconds(yardstick.predict, 1)
    steps = EPOCHS * yardstick.steps_an_epoch
    told = f"yardstick: {steps:,} steps of {step:.2f} s (median of {STEPS}) and {prediction:.0f} s for one prediction"
    return steps * step + prediction, told


def _beside(scores: dict[str, float], other: dict[str, float]) -> str:
    """Our scores, with those of the variational CMP in brackets."""
    return ", ".join(f"{name} {scores[name]:.4g} ({other[name]:.4g})" for name in SCORES) + ": ours (variational CMP)"


def _peak(model: str) -> float:
    """Peak memory of the product's own command, all baselines and scores included."""
    options = [word for key, value in SETTINGS.items() for word in (f"--{key}", str(value))]
    options += ["--region", *map(str, REGION)] if REGION else []
    command = ("-m", "deconditioning", "downscale", DATA, "--model", model, *options, "--quiet", "--json", "-")
    return json.loads(output_of(*command))["results"][0]["peak_mb"]
