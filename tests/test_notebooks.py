"""The notebooks run from their first cell to their last, and store no output."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_is_one_for_each_method() -> None:
    assert {path.stem for path in NOTEBOOKS} == {
        "distribution_regression", "downscaling", "kernel_bayes", "likelihood_free",
    }  # fmt: skip


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(cells) >= 9 and all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
    assert any("assert " in cell for cell in code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "core")}
    answer = subprocess.run(
        [sys.executable, "-c", "\n".join(code)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert answer.returncode == 0, answer.stderr
