"""The recipes of docs/adding.md, followed in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: A path on a line of its own with the place in the file, and the code for it.
STEP = re.compile(r"^`([\w/.]+)`(?:, (at the end|\w+ `([^`]+)`))?\n\n```(?:python)?\n(.*?)^```", re.M | re.S)


#: Recipe → the files that it touches.
RECIPES = {
    "A kernel": ["core/deconditioning/kernels/families/matern72.py", "tests/core/models/small.py"],
    "A model": ["core/deconditioning/models/nearest_bag.py", "core/deconditioning/models/catalogue.py"],
    "A data set": ["core/deconditioning/datasets/hills.py", "core/deconditioning/datasets/entries.py"],
    "A page": ["pages/cell_means/page.py", "pages/kit/pages.py", "tests/pages/test_cell_means.py"],
}
#: Tests of the copy: of the new family, the new page, the house, the layers and the catalogues.
TESTS = (
    "tests/core/kernels/test_families.py", "tests/core/kernels/test_kernels.py", "tests/pages/test_cell_means.py",
    "tests/pages/test_levels.py", "tests/pages/test_address.py", "tests/pages/test_glossary.py",
    "tests/core/studies/test_replicated.py", "tests/test_house.py", "tests/test_layers.py",
    "tests/core/models/test_catalogue.py", "tests/core/datasets/test_catalogue.py",
)  # fmt: skip
#: Of the families' and the pages' tests those that concern what is new; all of the others but two, which name what they
#: look at: nothing new is in it.
CHOSEN = (
    "(matern72 or cell_means or study_have_levels or at_its_address or leads_to_a_page or test_house or test_layers or "
    "test_catalogue or test_here) and not read_by_another_process and not worked_examples_build"
)
#: The model's weights by hand, their limit, a learning with it, which moves λ too; the data set by the command line;
#: the page among those that are opened in a browser.
HERE = """
import json
from dataclasses import replace

import pytest

from deconditioning.cli.program import main
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.indirect_gp import mediation_weights, posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from tests.browser.test_every_page import test_everything_on_the_page_is_as_it_should_be as opened
from tests.core.models.small import COLUMNS, MEDIATOR_KERNEL, model, problem


def test_the_new_model():
    data, spec = problem(), model("nearest_bag")
    found = mediation_weights(spec, data, COLUMNS)
    ell = evaluate(MEDIATOR_KERNEL.build(COLUMNS.mediators), data.mediators, data.query_mediators).detach()
    power = ell ** (1 / (5 * spec.regularisation))
    assert float((found - power / power.sum(0)).abs().max()) < 1e-9
    nearest = mediation_weights(replace(spec, regularisation=1e-9), data, COLUMNS)
    assert nearest.sum(0).tolist() == [1.0] * 4 and nearest.argmax(0).tolist() == ell.argmax(0).tolist()
    learned = learn(spec, data, COLUMNS, LearningOptions(restarts=1, steps=3))
    assert learned.spec.regularisation != spec.regularisation and abs(learned.evidence) < 100
    assert bool((posterior(learned.spec, data, COLUMNS).variance(data.bags.inputs) >= 0).all())


def test_height_tells_of_the_hills_what_no_interpolation_can(capsys):
    quick = ("--restarts", "1", "--steps", "4", "--points", "4", "--no-integrate", "--json", "-", "--quiet")
    assert not main(["downscale", "hills", *quick])
    rows = json.loads(capsys.readouterr().out)["results"]
    rmse = {row["model"]: row["scores"]["rmse"] for row in rows}
    assert rmse["area_to_point_gp"] < rmse["bilinear"]


def test_the_new_page_is_opened_in_a_browser():
    (addresses,) = opened.pytestmark
    assert addresses.name == "parametrize" and "/cells" in addresses.args[1]
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which all recipes have been followed, one after the other."""
    folder = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(ROOT, folder, ignore=left_out)
    for title, touched in RECIPES.items():
        assert followed(title, folder) == touched
    return folder


def left_out(folder: str, names: list[str]) -> set[str]:
    """What is no part of the project: environment, caches and runs in its own folder. Compiled files go along."""
    own = {
        name for name in names if name in ("runs", "build", ".git", ".venv") or name.endswith(("_cache", ".egg-info"))
    }
    return own if Path(folder) == ROOT else set()


def followed(title: str, copy: Path) -> list[str]:
    """Do what the recipe of that title says in a copy of the project; the files it touches."""
    recipe = (ROOT / "docs/adding.md").read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    touched = []
    for path, place, line, code in STEP.findall(recipe):
        file = copy / path
        file.parent.mkdir(exist_ok=True)
        assert file.exists() is bool(place), path
        before = file.read_text() if place else ""
        if line:
            (there,) = (each for each in before.splitlines(keepends=True) if line in each)
            file.write_text(before.replace(there, code + there if place.startswith("above") else there + code))
        else:
            file.write_text(before + code)
        touched.append(path)
    return list(dict.fromkeys(touched))


def run(copy: Path, *command: str) -> str:
    """What a Python of its own, started in the copy, prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(copy / "core"), str(copy)))}
    done = subprocess.run([sys.executable, *command], cwd=copy, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_what_each_recipe_promises_holds_and_the_rules_are_kept(copy: Path) -> None:
    """In one process, which has everything imported once. All other files are the project's, which `make` checks."""
    touched = [file for files in RECIPES.values() for file in files]
    run(copy, "-m", "ruff", "check", "--no-cache", *touched)
    run(copy, "-m", "ruff", "format", "--check", "--no-cache", *touched)
    here = copy / "build" / "test_here.py"
    here.parent.mkdir()
    here.write_text(HERE)
    said = run(copy, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-k", CHOSEN, *TESTS, str(here))
    passed = re.findall(r"^PASSED (\S+)", said, re.M)
    assert sum("matern72" in name for name in passed) >= 10 and sum("tests/pages/" in name for name in passed) >= 6
    assert sum("test_here.py" in name for name in passed) == 3
    assert {name.partition("::")[0] for name in passed} >= set(TESTS)
