"""Fixtures for all tests: bounded threads, an empty runs folder, the real files where they are."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REAL_DATA = ROOT.parent / "shared" / "data"

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before any test imports torch or numpy


def pytest_configure(config: pytest.Config) -> None:
    """Tests neither see nor change the runs, data folder and scheduler of the person who starts them."""
    for variable in ("DECONDITIONING_DATA", "DASK_SCHEDULER_ADDRESS"):
        os.environ.pop(variable, None)
    folder = tempfile.TemporaryDirectory(prefix="deconditioning-runs-", ignore_cleanup_errors=True)
    os.environ["DECONDITIONING_RUNS"] = folder.name
    config.add_cleanup(folder.cleanup)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a GPU where there is none."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _cuda():
        reason = "torch finds no CUDA device here (it needs an NVIDIA GPU and a torch built with CUDA)"
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def _cuda() -> bool:
    import torch

    return torch.cuda.is_available()


@pytest.fixture
def runs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty runs folder of this test's own, in DECONDITIONING_RUNS."""
    folder = tmp_path / "runs"
    folder.mkdir()
    monkeypatch.setenv("DECONDITIONING_RUNS", str(folder))
    return folder


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """Path of a real test file that is not part of the project; skips where it is absent."""

    def path(name: str) -> Path:
        if not (REAL_DATA / name).exists():
            pytest.skip(f"the real test file {name} is not on this machine")
        return REAL_DATA / name

    return path
