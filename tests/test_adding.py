"""The recipes of docs/adding.md, followed in a copy of the project."""

import json
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
PLAIN = ("-p", "no:cacheprovider")
QUICK = ("--restarts", "1", "--steps", "4", "--points", "4", "--json", "-", "--quiet")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, in which all recipes are followed one after the other."""
    folder = tmp_path_factory.mktemp("copy") / "project"
    return shutil.copytree(ROOT, folder, ignore=left_out)


def left_out(folder: str, names: list[str]) -> set[str]:
    """What is no part of the project: environment, caches and runs in its own folder, compiled files anywhere."""
    own = {
        name for name in names if name in ("runs", "build", ".git", ".venv") or name.endswith(("_cache", ".egg-info"))
    }
    return {"__pycache__"} | (own if Path(folder) == ROOT else set())


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


def test_a_kernel_takes_one_file_of_core_and_passes_every_test_of_the_families(copy: Path) -> None:
    assert [path.split("/")[0] for path in followed("A kernel", copy)] == ["core", "tests"]
    where = ("tests/core/kernels/test_families.py", "tests/core/kernels/test_kernels.py")
    said = run(copy, "-m", "pytest", "-q", *PLAIN, "-k", "matern72", *where)
    assert int(re.search(r"(\d+) passed", said)[1]) >= 10


def test_a_model_takes_one_file_and_a_line_of_the_catalogue(copy: Path) -> None:
    """The recipe's W by hand, its limit, and a learning with it, which moves λ too."""
    assert followed("A model", copy) == [
        "core/deconditioning/models/nearest_bag.py",
        "core/deconditioning/models/catalogue.py",
    ]
    look = """
from dataclasses import replace
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.indirect_gp import mediation_weights, posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from tests.core.models.small import COLUMNS, MEDIATOR_KERNEL, model, problem
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
"""
    run(copy, "-c", look)


def test_a_data_set_takes_one_file_and_an_entry(copy: Path) -> None:
    assert followed("A data set", copy) == [
        "core/deconditioning/datasets/hills.py",
        "core/deconditioning/datasets/entries.py",
    ]
    said = json.loads(run(copy, "-m", "deconditioning", "downscale", "hills", *QUICK))
    rmse = {row["model"]: row["scores"]["rmse"] for row in said["results"]}
    assert rmse["area_to_point_gp"] < rmse["bilinear"], "height tells what no interpolation can"


def test_a_page_takes_one_file_its_test_and_a_line(copy: Path) -> None:
    touched = ["pages/cell_means/page.py", "pages/kit/pages.py", "tests/pages/test_cell_means.py"]
    assert followed("A page", copy) == touched
    which = "cell_means or and_no_others or at_its_address or another_page or leads_to_a_page"
    said = run(copy, "-m", "pytest", "-q", "-k", which, *PLAIN, "tests/pages", "tests/core/studies/test_replicated.py")
    assert int(re.search(r"(\d+) passed", said)[1]) >= 7


@pytest.mark.browser
def test_the_new_page_is_opened_in_a_browser_like_every_other(copy: Path) -> None:
    """Follows the test above, in the same copy."""
    assert (copy / "pages/cell_means/page.py").is_file(), "run the whole file"
    where = ("tests/browser/test_every_page.py", "tests/browser/test_shell.py")
    said = run(copy, "-m", "pytest", "-q", "-k", "cells or every_equation or pages", *PLAIN, *where)
    assert int(re.search(r"(\d+) passed", said)[1]) >= 2


def test_lint_house_layers_and_catalogues_pass_after_all_recipes(copy: Path) -> None:
    """Follows the tests above, in the same copy."""
    assert (copy / "pages/cell_means/page.py").is_file(), "run the whole file"
    run(copy, "-m", "ruff", "check", "--no-cache")
    run(copy, "-m", "ruff", "format", "--check", "--no-cache")
    where = ("test_house.py", "test_layers.py", "core/models/test_catalogue.py", "core/datasets/test_catalogue.py")
    run(copy, "-m", "pytest", "-q", *PLAIN, *(f"tests/{name}" for name in where))
