"""The notebooks run from their first cell to their last, and store no output."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_is_one_for_each_method() -> None:
    assert {path.stem for path in NOTEBOOKS} == {
        "distribution_regression", "downscaling", "kernel_bayes", "likelihood_free",
    }  # fmt: skip


def code_of(path: Path) -> str:
    """The code cells of a notebook in order; it has text too, checks what it finds, and stores no output."""
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(cells) >= 9 and all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
    assert any("assert " in cell for cell in code)
    return "\n".join(code)


def test_they_run() -> None:
    """Each in a namespace of its own, all in one process, which imports everything once."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "core")}
    every = {path.name: code_of(path) for path in NOTEBOOKS}
    program = f"""
for name, code in {every!r}.items():
    exec(compile(code, name, "exec"), {{"__name__": "__main__"}})
    print(name)
"""
    answer = subprocess.run(
        [sys.executable, "-"], input=program, cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    assert [name for name in every if name not in answer.stdout.split()] == []
