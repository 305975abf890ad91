"""What the README tells people to type does what it says."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "core"
README = (ROOT / "README.md").read_text()


def test_targets_and_files_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"`?make (\w+)\b", README))
    assert {"run", "test", "format", "bench", "clean"} <= targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    named = re.findall(r"(?:core|data|tests|docs|pages)/[\w./]+", README)
    assert named
    assert [path for path in named if not (ROOT / path.rstrip(".")).exists()] == []


def test_options_of_its_command_exist() -> None:
    command = re.search(r"deconditioning (downscale INPUT(?:.*\\\n)*.*)", README)
    assert command
    words = shlex.split(command[1].replace("\\\n", " "))
    run = subprocess.run(
        [sys.executable, "-m", "deconditioning", "downscale", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    options = {word for word in words if word.startswith("--")} | {"--coarse", "--mediator"}
    assert [option for option in options if option not in run.stdout] == []


@pytest.mark.slow
def test_its_python_runs_and_beats_bilinear(tmp_path: Path) -> None:
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block
    shutil.copytree(ROOT / "data", tmp_path / "data")
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'core')!r})\n{block[1]}"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    model, bilinear, units = run.stdout.split()
    assert float(model) < float(bilinear)
    assert units == "K"
    assert (tmp_path / "out.nc").stat().st_size > 10_000
