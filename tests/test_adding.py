"""The recipes of docs/adding.md, followed in a copy of the project."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: A path on a line of its own, and the code below it.
STEP = re.compile(r"^`([\w/.]+)`(, at the end)?\n\n```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def followed(title: str, copy: Path) -> list[str]:
    """Do what the recipe of that title says in a copy of the project; the files it touches."""
    recipe = (ROOT / "docs/adding.md").read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    for name in ("core", "pages", "tests", "static", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    touched = []
    for path, appended, code in STEP.findall(recipe):
        assert (copy / path).exists() is bool(appended), path
        with (copy / path).open("a") as file:
            file.write(code)
        touched.append(path)
    return touched


def test_a_kernel_takes_one_file_of_core_and_passes_every_test_of_the_families(tmp_path: Path) -> None:
    touched = followed("A kernel", tmp_path)
    assert [path.split("/")[0] for path in touched] == ["core", "tests"]
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "matern72")
    where = ("tests/core/kernels/test_families.py", "tests/core/kernels/test_kernels.py")
    run = subprocess.run([*command, *where], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-4000:]
    assert int(re.search(r"(\d+) passed", run.stdout)[1]) >= 10
