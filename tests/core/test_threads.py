"""The command computes on the cores it may use."""

import os
from pathlib import Path

import pytest

from deconditioning.threads import set_threads, usable_cores

HERE = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("max 100000", HERE), ("100000 100000", 1), ("50000 100000", 1), ("100000000 100000", HERE), ("", HERE),
        ("1 0", HERE), ("nonsense", HERE),
    ],
)  # fmt: skip
def test_a_container_has_its_share(tmp_path: Path, text: str, cores: int) -> None:
    quota = tmp_path / "cpu.max"
    quota.write_text(text)
    assert usable_cores(quota) == cores
    assert usable_cores(tmp_path / "none") == HERE


def test_what_is_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    set_threads()
    assert os.environ["OMP_NUM_THREADS"] == "7"
    monkeypatch.delenv("OMP_NUM_THREADS")
    set_threads()
    assert 1 <= int(os.environ["OMP_NUM_THREADS"]) <= HERE
