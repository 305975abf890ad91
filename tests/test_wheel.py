"""What `pip install .` gives: the wheel, unpacked and used without the app's packages."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import deconditioning

ROOT = Path(__file__).resolve().parents[1]
#: Packages of the extras: the library works without them.
EXTRAS = "streamlit plotly cartopy matplotlib cmocean dask distributed psutil eccodes rasterio".split()
WITHOUT = f"""
import sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {EXTRAS!r} else self.finder.find_spec(name, path, target)
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content in a folder, built by the pinned hatchling without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    (folder / "site" / "sitecustomize.py").write_text(WITHOUT)
    return folder / "site"


def run(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python with the unpacked wheel in front of everything, in a folder of its own."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def test_the_wheel_is_what_runs(installed: Path, tmp_path: Path) -> None:
    refused = run(installed, tmp_path, "-c", "import deconditioning; print(deconditioning.__file__); import streamlit")
    assert refused.stdout.strip() == str(installed / "deconditioning" / "__init__.py")
    assert refused.returncode == 1 and "No module named 'streamlit'" in refused.stderr
    assert (installed / "deconditioning" / "py.typed").exists()


#: Commands, with what each answers; the last two need an extra, and name it.
COMMANDS = [
    (("--help",), 0, "downscale"),
    (("datasets",), 0, "ukv-645m"),
    (("fields", "{data}/ukv_20091119.nc"), 0, "air_potential_temperature"),
    (("fields", "{data}/era5_1995-07-14T12.nc"), 0, "t2m"),
    (("kernel-bayes", "--runs", "1", "--pairs", "20", "--quiet"), 0, "kbr"),
    (
        ("handout", "lesson.pdf"),
        2,
        r"This needs (matplotlib|cartopy|segno), which is not installed: pip install 'deconditioning\[(maps|app)\]'\.",
    ),
]
#: Every command, then the README's example, in one process, which imports everything once.
ALL = """
import contextlib, io, json, sys
from deconditioning.cli.program import main
answers = []
for words in json.loads(sys.argv[1]):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
    answers.append([code or 0, said.getvalue()])
print(json.dumps(answers))
exec(sys.argv[2])
"""


def example() -> str:
    """The README's Python."""
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block
    return block[1]


def test_commands_and_the_readmes_example_need_no_extra_or_name_it(installed: Path, tmp_path: Path) -> None:
    version = run(installed, tmp_path, "-m", "deconditioning", "--version")
    assert version.returncode == 0 and deconditioning.__version__ in version.stdout
    data = installed / "deconditioning" / "data"
    asked = [[word.format(data=data) for word in words] for words, _, _ in COMMANDS]
    (tmp_path / "data").symlink_to(data)
    answer = run(installed, tmp_path, "-c", ALL, json.dumps(asked), example())
    assert answer.returncode == 0, answer.stderr
    answers, shown = answer.stdout.split("\n", 1)
    for (words, expected, pattern), (code, said) in zip(COMMANDS, json.loads(answers), strict=True):
        assert code == expected and re.search(pattern, said), (words, said)
    model, bilinear, units = shown.split()
    assert float(model) < float(bilinear) and units == "K"
    assert (tmp_path / "out.nc").stat().st_size > 10_000
