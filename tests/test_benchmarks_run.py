"""Every benchmark is measured by one target of the Makefile and runs at a small size, nothing stored; commands know
the papers' tables.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "tests" / "benchmarks"
RESULTS = BENCHMARKS / "results"
FILES = {path.name: path.read_text() for path in BENCHMARKS.glob("bench_*.py")}
#: Target → the files that it measures; `bench` measures all others.
TARGETS = {
    "bench-latency": {"bench_latency.py", "bench_play.py", "bench_start_up.py"}, "bench-load": {"bench_load.py"},
    "bench-period": {"bench_period.py", "bench_period_plan.py"}, "soak": {"bench_soak.py"},
}  # fmt: skip


def made(*target: str) -> str:
    """What a target of the Makefile prints."""
    own = ("MAKE", "MFLAGS", "ARGS")  # of the `make` that runs these tests
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    done = subprocess.run(["make", *target], cwd=ROOT, capture_output=True, text=True, env=inherited)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def measured(target: str) -> set[str]:
    """Names of the files that a target gives to pytest, as it would collect them."""
    (line,) = (line for line in made("-n", target, "ARGS=--smoke").replace("\\\n", "").splitlines() if "pytest" in line)
    words = shlex.split(line)
    assert words[-1] == "--smoke" and {"python_files=bench_*.py", "python_functions=bench_*"} < set(words)
    paths = {name: f"tests/benchmarks/{name}" for name in FILES}
    found = set(paths) if "tests/benchmarks" in words else {name for name, path in paths.items() if path in words}
    return {name for name in found if f"--ignore={paths[name]}" not in words}


def test_each_benchmark_is_measured_by_its_target() -> None:
    assert {target: measured(target) for target in TARGETS} == TARGETS
    assert measured("bench") == FILES.keys() - set.union(*TARGETS.values())


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


#: Rows of the table that a run of all benchmarks ends in.
ROWS = (
    "New picture", "Pointer drag, from its release", "Preview, σ²", "Exact picture", "Memory, worker",
    "Cancel, until the page says so", "Exercise as solved, until its verdict", "Archive and kernel",
    *(f"Memory when all have left, {role}" for role in ("all processes", "page process", "worker")),
)  # fmt: skip


def test_all_run_at_a_small_size_and_stored_rows_stay() -> None:
    """All by one target, which makes one process: what they import, an app and a browser are begun once."""
    before = {path: path.stat().st_mtime_ns for path in RESULTS.glob("*.json")}
    output = made("soak", "SOAK=tests/benchmarks", "ARGS=--smoke")
    assert {path: path.stat().st_mtime_ns for path in RESULTS.glob("*.json")} == before
    ran, skipped = (re.search(rf"(\d+) {outcome}", output) for outcome in ("passed", "skipped"))
    functions = sum(len(re.findall(r"^def bench_\w+", text, re.MULTILINE)) for text in FILES.values())
    assert ran and int(ran[1]) + bool(skipped) == functions
    assert skipped is None or int(skipped[1]) == 1  # it needs a GPU
    for row in ROWS:
        assert re.search(f"^{re.escape(row)} ", output, re.MULTILINE), row
    assert re.search("^Archive and kernel +ERA5", output, re.MULTILINE)
    assert re.search(r"^Memory when all have left, worker .* MB \(before they came\)", output, re.MULTILINE)
