"""Long series beside what `--plan` says of them: CPU time, memory and disk, from cells alone and with an archive."""

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from deconditioning.cli.program import main
from tests.benchmarks.apart import output_of
from tests.benchmarks.long_series import made_series
from tests.benchmarks.table import Row, keep

#: Long series: pixels, pixels along a cell, and times, of which a part is computed; how a plan is said.
PLANNED = (("360 × 720 pixels, 800 cells", (360, 720), 18, 1000), ("EUR-11, 1,190 cells", (408, 420), 12, 10_957))
PART, PLAN = 100, "{:.0f} min of CPU time, {:.2g} GB of memory, {:.0f} GB on disk"
#: Series with an archive: pixels, pixels along a cell, times, and times of the archive; the last one is kept in a file.
WITH_ARCHIVE = (
    ("96 × 96 pixels, 144 cells: 365 times", (96, 96), 8, 365, 365),
    ("144 × 144 pixels, 324 cells: 180 times", (144, 144), 8, 180, 365),
    ("240 × 240 pixels, 400 cells: 100 times", (240, 240), 12, 100, 1100),
)
#: A run of the command in a process of its own, which says its CPU seconds and its largest memory in bytes.
RUN = """
import resource, sys
from deconditioning.cli.program import main
assert main(sys.argv[1:]) == 0
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss)
"""
SMOKE = {
    "PART": 3, "PLANNED": (("12 × 12 pixels, 9 cells", (12, 12), 4, 6),),
    "WITH_ARCHIVE": (("12 × 12 pixels, 9 cells: 6 times", (12, 12), 4, 6, 24),),
}  # fmt: skip


def planned(folder: Path, words: list[str]) -> dict[str, float]:
    """The plan of a command."""
    assert main([*words, "--plan"]) == 0
    return json.loads((folder / "run.json").read_text())["plan"]


def written(folder: Path) -> int:
    """Bytes of the output."""
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file() and "out." in str(each))


def bench_period_plan() -> None:
    """CPU time of a part of a long series beside its plan, and the plan of all of it."""
    rows: list[Row] = []
    for title, shape, block, times in PLANNED:
        with TemporaryDirectory() as name:
            words, part = made_series(Path(name), shape, block, times), f"#0/#{PART - 1}"
            plans = [planned(Path(name), [*words, "--times", chosen]) for chosen in (part, "all")]
            begin = time.process_time()
            assert main([*words, "--times", part]) == 0
            own = time.process_time() - begin
            files = written(Path(name))
        whole = PLAN.format(plans[1]["seconds"] / 60, plans[1]["memory"] / 1e9, plans[1]["disk"] / 1e9)
        rows.append(
            Row(
                "A long series, and its plan", f"{title}: {PART} of {times:,} times", own, "s", plans[0]["seconds"],
                "the plan", note=f"all times by the plan: {whole}", more={"plans": plans, "bytes": files},
            )
        )  # fmt: skip
        keep("period_plan", rows)


def bench_period_plan_archive() -> None:
    """CPU time, memory and disk of series with an archive, in memory and in a file, beside their plans."""
    rows: list[Row] = []
    for title, shape, block, times, archive in WITH_ARCHIVE:
        with TemporaryDirectory() as name:
            words = [*made_series(Path(name), shape, block, times, archive), "--times", "all"]
            plan = planned(Path(name), words)
            seconds, peak = map(float, output_of("-c", RUN, *words).split())
            files = written(Path(name))
        kept = f"in a file of {plan['temporary'] / 1e9:.2g} GB" if plan["temporary"] else "in memory"
        rows.append(
            Row(
                "A series with an archive, and its plan", f"{title}, archive of {archive:,} times", seconds, "s",
                plan["seconds"], "the plan", peak_mb=peak / 1e6,
                note=f"archive {kept}; memory by the plan {plan['memory'] / 1e9:.2g} GB",
                more={"plan": plan, "bytes": files, "memory": peak},
            )
        )  # fmt: skip
        keep("period_plan_archive", rows)
