"""Every benchmark target of the Makefile runs at a small size, nothing stored; commands know the papers' tables."""

import importlib
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "tests" / "benchmarks"
RESULTS = BENCHMARKS / "results"
#: Functions of `make bench-latency`, `make bench-load`, `make bench-period` and `make soak`.
ELSEWHERE = {"bench_latency", "bench_start_up", "bench_load", "bench_lesson", "bench_soak", "bench_period",
             "bench_period_statistics"}  # fmt: skip


def made(*target: str, **environment: str) -> str:
    """What a target of the Makefile prints."""
    own = ("MAKE", "MFLAGS", "ARGS")  # of the `make` that runs these tests
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    variables = {**inherited, **environment}
    done = subprocess.run(["make", *target], cwd=ROOT, capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def benchmarks() -> set[str]:
    """Names of all benchmark functions."""
    files = BENCHMARKS.glob("bench_*.py")
    return {name for path in files for name in re.findall(r"^def (bench_\w+)", path.read_text(), re.MULTILINE)}


@pytest.mark.parametrize("name", sorted(path.stem for path in BENCHMARKS.glob("bench_*.py")))
def test_a_benchmark_has_a_small_size_of_what_it_names(name: str) -> None:
    module = importlib.import_module(f"tests.benchmarks.{name}")
    assert module.SMOKE and [constant for constant in module.SMOKE if not hasattr(module, constant)] == []
    assert [function for function in benchmarks() if callable(getattr(module, function, None))]


def test_the_papers_tables_are_asked_for_with_words_that_the_command_knows() -> None:
    """They run for hours. What a benchmark does, from the engine to its file: `tests/core/cli/test_swiss_roll.py`."""
    from deconditioning.cli.program import make_parser
    from deconditioning.studies.downscaling.benchmark import OWN, DownscalingBenchmark

    asked = []
    for target in ("bench-swiss-roll", "bench-downscaling", "bench-trust", "bench-peers"):
        for words in re.findall(r"-m deconditioning (.*)", made("-n", target)):
            asked.append(make_parser().parse_args(shlex.split(words)).name)
    assert asked == ["swiss-roll", "downscaling", "mediation", "trust", "real-fields", "few-cells", "peers"]
    for settings in ({}, OWN["mediation"]):
        items = DownscalingBenchmark.from_dict({**settings, "seeds": [0]}).items()
        assert len({item["case"] for item in items}) == 6 and len({item["model"] for item in items}) > 3


def smoke(target: str) -> tuple[str, int, int]:
    """What a target prints in a smoke run, and how many benchmarks ran and were skipped; stored rows stay."""
    before = {path: path.stat().st_mtime_ns for path in RESULTS.glob("*.json")}
    output = made(target, "ARGS=--smoke")
    assert {path: path.stat().st_mtime_ns for path in RESULTS.glob("*.json")} == before
    ran, skipped = (re.search(rf"(\d+) {outcome}", output) for outcome in ("passed", "skipped"))
    assert ran
    return output, int(ran[1]), int(skipped[1]) if skipped else 0


def test_bench() -> None:
    output, ran, skipped = smoke("bench")
    assert skipped <= 1 and ran + skipped == len(benchmarks() - ELSEWHERE)  # one needs a GPU
    assert "make run" not in output and "measured" in output


def test_soak() -> None:
    output, ran, _ = smoke("soak")
    assert ran == 1
    for role in ("all processes", "page process", "worker"):
        assert re.search(rf"^Memory when all have left, {role} .* MB \(before they came\)", output, re.MULTILINE), role


def test_bench_period() -> None:
    output, ran, _ = smoke("bench-period")
    assert ran == 2 and re.search("^Archive and kernel +ERA5", output, re.MULTILINE)


def test_bench_latency() -> None:
    output, ran, _ = smoke("bench-latency")
    assert ran == 2
    for row in ("New picture", "Pointer drag, from its release", "Preview, σ²", "Exact picture", "Memory, worker"):
        assert re.search(f"^{re.escape(row)} ", output, re.MULTILINE), row


def test_bench_load() -> None:
    output, ran, _ = smoke("bench-load")
    assert ran == 2
    assert "Cancel, until the page says so" in output and "Exercise as solved" in output
