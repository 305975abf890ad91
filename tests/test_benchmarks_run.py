"""Every benchmark target of the Makefile still runs: once, at a small size, with its rows kept as they come.

Those that need a browser: `tests/browser/test_benchmarks_run.py`.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "benchmarks"
#: Functions of `make bench-latency`, `make bench-load` and `make soak`.
ELSEWHERE = {"bench_latency", "bench_start_up", "bench_load", "bench_lesson", "bench_soak"}


def made(*target: str, **environment: str) -> str:
    """What a target of the Makefile prints."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    variables = {**inherited, **environment}
    done = subprocess.run(["make", *target], cwd=ROOT, capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def benchmarks() -> set[str]:
    """Names of all benchmark functions."""
    files = FOLDER.glob("bench_*.py")
    return {name for path in files for name in re.findall(r"^def (bench_\w+)", path.read_text(), re.MULTILINE)}


@pytest.mark.slow
def test_make_bench_runs_every_benchmark_that_needs_no_browser() -> None:
    """One row at least for each, none of them stored."""
    before = {path: path.stat().st_mtime_ns for path in (FOLDER / "results").glob("*.json")}
    said = made("bench", "ARGS=--smoke")
    without_gpu = int(found[1]) if (found := re.search(r"(\d+) skipped", said)) else 0
    assert int(re.search(r"(\d+) passed", said)[1]) + without_gpu == len(benchmarks() - ELSEWHERE)
    assert without_gpu <= 1
    assert "make run" not in said and "measured" in said
    assert {path: path.stat().st_mtime_ns for path in (FOLDER / "results").glob("*.json")} == before


@pytest.mark.slow
def test_make_soak_compares_memory_before_and_after() -> None:
    stored = FOLDER / "results" / "soak.json"
    before = stored.read_bytes() if stored.is_file() else None
    said = made("soak", "ARGS=--smoke")
    assert int(re.search(r"(\d+) passed", said)[1]) == 1
    for role in ("all processes", "page process", "worker"):
        assert re.search(rf"^Memory when all have left, {role} .* MB \(before they came\)", said, re.MULTILINE), role
    assert (stored.read_bytes() if stored.is_file() else None) == before


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
