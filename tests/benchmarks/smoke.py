"""Every benchmark target of the Makefile still runs: once, at a small size, nothing stored. `make bench-smoke` asks.

Benchmarks are no part of the program: `make test` only reads them (`tests/test_benchmarks_run.py`).
"""

import re

from tests.test_benchmarks_run import BENCHMARKS, benchmarks, made

RESULTS = BENCHMARKS / "results"
#: Functions of `make bench-latency`, `make bench-load`, `make bench-period` and `make soak`.
ELSEWHERE = {"bench_latency", "bench_start_up", "bench_load", "bench_lesson", "bench_soak", "bench_period"}


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
    assert ran == 1 and re.search("^Archive and kernel +ERA5", output, re.MULTILINE)


def test_bench_latency() -> None:
    output, ran, _ = smoke("bench-latency")
    assert ran == 2
    for row in ("New picture", "Pointer drag, from its release", "Preview, σ²", "Exact picture", "Memory, worker"):
        assert re.search(f"^{re.escape(row)} ", output, re.MULTILINE), row


def test_bench_load() -> None:
    output, ran, _ = smoke("bench-load")
    assert ran == 2
    assert "Cancel, until the page says so" in output and "Exercise as solved" in output
