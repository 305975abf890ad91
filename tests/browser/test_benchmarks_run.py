"""The benchmarks of what a person waits for still run: one press, one drag, one start, two visitors."""

import re

import pytest

from tests.test_benchmarks_run import FOLDER, made


@pytest.mark.slow
def test_latency_and_start_up_are_measured() -> None:
    stored = (FOLDER / "results" / "latency.json").read_text()
    said = made("bench-latency", "ARGS=--smoke")
    assert int(re.search(r"(\d+) passed", said)[1]) == 2
    for row in ("New picture", "Pointer drag, from its release", "Preview, σ²", "Exact picture", "Memory, worker"):
        assert re.search(f"^{re.escape(row)} ", said, re.MULTILINE), row
    assert (FOLDER / "results" / "latency.json").read_text() == stored


@pytest.mark.slow
def test_a_room_of_two_is_measured() -> None:
    said = made("bench-load", "ARGS=--smoke")
    assert int(re.search(r"(\d+) passed", said)[1]) == 2
    assert "Cancel, until the page says so" in said and "Exercise as solved" in said
