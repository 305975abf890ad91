"""Arrows point one way: pages → studies → downscaling → models … → embeddings → kernels → linalg."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import draw_layers
from scripts.changed_tests import imported_modules, module_name

ROOT = Path(__file__).resolve().parents[1]
LIBRARY_FOLDER = ROOT / "core" / "deconditioning"

GROUND = {
    "abbreviations", "bundled", "errors", "wording", "device", "expressions", "jail", "fill_values", "plain_data",
    "sandbox", "seccomp",
    "settings", "sweeps", "threads", "versions",
}  # fmt: skip
RECORDS = GROUND | {"observations"}
KERNELS = RECORDS | {"linalg", "kernels"}
SUMS = KERNELS | {"bag_sums"}
METHODS = SUMS | {"embeddings"}
FIELDS = GROUND | {"observations", "mediator_shift", "fields"}
TABLES = {"tables"}
SHOWN = {"metrics", "figures"}
PROBLEMS = {"filtering", "distribution_regression", "likelihood_free"}
LIBRARY = METHODS | {"models"} | PROBLEMS | FIELDS | TABLES | {"datasets"} | SHOWN

# part of the package → the other parts it may import
ALLOWED = {
    "__init__": {"errors", "fields", "estimators"},
    "accessor": set(),
    "abbreviations": set(),
    "bundled": set(),
    "errors": set(),
    "wording": set(),
    "device": {"errors", "threads"},
    "expressions": {"errors"},
    "fill_values": {"errors"},
    "plain_data": {"errors"},
    "threads": set(),
    "versions": set(),
    "jail": {"errors", "seccomp"},
    "seccomp": set(),
    "sandbox": {"errors", "jail"},
    "settings": {"errors", "wording"},
    "sweeps": {"errors"},
    "observations": {"errors"},
    "mediator_shift": RECORDS | {"linalg"},
    "linalg": GROUND,
    "kernels": RECORDS | {"linalg"},
    "bag_sums": KERNELS,
    "embeddings": SUMS,
    "models": METHODS,
    "filtering": METHODS | FIELDS | TABLES,
    "distribution_regression": METHODS | {"models"} | FIELDS | TABLES,
    "likelihood_free": METHODS | FIELDS | TABLES,
    "fields": GROUND | {"observations", "mediator_shift"},
    "tables": FIELDS,
    "datasets": FIELDS,
    "metrics": {"errors"},
    "verification": FIELDS | {"metrics"},
    "figures": {"wording", "errors", "fields", "metrics"},
    "engine": GROUND,
    "teaching": LIBRARY | {"engine", "downscaling", "studies"},
    "downscaling": LIBRARY | {"engine"},
    "period": LIBRARY | {"engine", "downscaling", "verification"},
    "slides": {"wording", "errors", "fields", "metrics", "figures", "models", "downscaling"},
    "studies": LIBRARY | {"engine", "downscaling", "period"},
    "estimators": LIBRARY | {"engine", "downscaling", "studies", "period"},
    "cli": LIBRARY | {"engine", "downscaling", "period", "verification", "studies", "slides", "teaching"},
    "__main__": LIBRARY | {"engine", "downscaling", "period", "verification", "studies", "slides", "teaching", "cli"},
}


def faults(files: dict[str, str]) -> list[str]:
    """What is wrong with the imports of core's files, given as relative path → source."""
    found = []
    for path, source in sorted(files.items()):
        parts = module_name(path).split(".")
        part = parts[1]
        if part not in ALLOWED:
            found.append(f"{path}: deconditioning/{part} has no layer yet; give it one in tests/test_layers.py")
            continue
        for name in sorted(imported_modules(source, ".".join(parts[:-1]))):
            top, *rest = name.split(".")
            if top in {"streamlit", "pages", "app"}:
                found.append(f"{path} imports {name}: the library knows no page")
            elif top == "deconditioning" and rest and rest[0] in ALLOWED and rest[0] not in ALLOWED[part] | {part}:
                found.append(f"{path} imports {name}: deconditioning/{part} may import {sorted(ALLOWED[part])}")
    return found


def test_imports_of_core_point_downwards() -> None:
    files = {str(path.relative_to(ROOT)): path.read_text() for path in ROOT.glob("core/deconditioning/**/*.py")}
    assert files
    assert not faults(files), "\n" + "\n".join(faults(files))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("core/deconditioning/kernels/spec.py", "from deconditioning.models.bag_gp import BagGP"),
        ("core/deconditioning/kernels/spec.py", "def late():\n    import deconditioning.engine.run"),
        ("core/deconditioning/kernels/spec.py", "from deconditioning import models"),
        ("core/deconditioning/kernels/spec.py", "from ..models import bag_gp"),
        ("core/deconditioning/kernels/deep/er.py", "from ...models import bag_gp"),
        ("core/deconditioning/linalg.py", "from .kernels import spec"),
        ("core/deconditioning/figures/maps.py", "import streamlit as st"),
        ("core/deconditioning/figures/maps.py", "from streamlit.components import v2"),
        ("core/deconditioning/engine/run.py", "from pages.kit import state"),
        ("core/deconditioning/engine/run.py", "from deconditioning.downscaling import run"),
        ("core/deconditioning/downscaling/run.py", "from deconditioning.studies.filtering import camera"),
        ("core/deconditioning/surprise.py", ""),
    ],
)
def test_an_arrow_upwards_is_found(path: str, source: str) -> None:
    assert len(set(message.split(":")[0].split(" imports ")[0] for message in faults({path: source}))) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "core/deconditioning/models/bag_gp.py",
            "from deconditioning.kernels import spec\nfrom deconditioning.linalg import cholesky",
        ),
        (
            "core/deconditioning/models/bag_gp.py",
            "from .indirect_gp import condition\nfrom ..kernels.spec import KernelSpec",
        ),
        ("core/deconditioning/downscaling/run.py", "from deconditioning.fields.reading.opening import open_fields"),
        ("core/deconditioning/errors.py", "import torch"),
    ],
)
def test_an_arrow_downwards_is_allowed(path: str, source: str) -> None:
    assert not faults({path: source})


def test_the_allowed_arrows_make_no_circle() -> None:
    remaining = dict(ALLOWED)
    while remaining:
        leaves = {part for part, below in remaining.items() if not below & remaining.keys() - {part}}
        assert leaves, f"circle among {sorted(remaining)}"
        remaining = {part: below for part, below in remaining.items() if part not in leaves}


def arrows(files: dict[str, str]) -> dict[str, set[str]]:
    """Which modules each one imports, at the top or inside a function, from files given as relative path → source.

    What is imported for annotations counts; packages are left out: they are empty.
    """
    names = {module_name(path): source for path, source in files.items()}
    found = {}
    for name, source in names.items():
        found[name] = imported_modules(source, name.rpartition(".")[0]) & names.keys() - {name}
    return found


def circles(below: dict[str, set[str]]) -> set[str]:
    """The modules that cannot be put in an order in which each imports earlier ones only."""
    remaining = dict(below)
    while leaves := {name for name, others in remaining.items() if not others & remaining.keys()}:
        remaining = {name: others for name, others in remaining.items() if name not in leaves}
    return set(remaining)


def test_modules_make_no_circle() -> None:
    files = {
        str(path.relative_to(ROOT)): path.read_text()
        for part in ("core", "pages")
        for path in (ROOT / part).rglob("*.py")
        if path.name != "__init__.py"
    }
    below = arrows(files)
    assert sum(map(len, below.values())) > len(files)
    assert circles(below) == set()


@pytest.mark.parametrize(
    "late", ["from deconditioning.fields.b import f", "def late():\n    from deconditioning.fields import b"]
)
def test_a_circle_is_found(late: str) -> None:
    files = {
        "core/deconditioning/fields/a.py": late,
        "core/deconditioning/fields/b.py": "import deconditioning.fields.c",
        "core/deconditioning/fields/d.py": "",
    }
    whole = files | {"core/deconditioning/fields/c.py": "from .a import x"}
    typed = files | {"core/deconditioning/fields/c.py": "if TYPE_CHECKING:\n    from deconditioning.fields.a import x"}
    assert circles(arrows(whole)) == {"deconditioning.fields.a", "deconditioning.fields.b", "deconditioning.fields.c"}
    assert circles(arrows(typed)) == circles(arrows(whole))


def test_keys_of_the_session_are_members_of_one_enum() -> None:
    """What a session holds besides controls is named in `pages.kit.session`, never by a loose string."""
    loose = re.compile(r"""session_state(\[|\.\w+\()\s*f?["']_|["']_[^"']*["'] (not )?in st\.session_state""")
    assert loose.search('st.session_state.get("_data")') and loose.search('if "_data" not in st.session_state')
    paths = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py")]
    assert not [str(path.relative_to(ROOT)) for path in paths if loose.search(path.read_text())]


def test_only_the_library_itself_has_a_face() -> None:
    """Imports name the module. An ``__init__`` that imported its modules would also make two visitors of a fresh server
    wait for each other: one imports the package, which waits for the module, the other the module, which waits for its
    package."""
    packages = [path for part in ("core", "pages") for path in (ROOT / part).rglob("__init__.py")]
    packages.remove(ROOT / "core" / "deconditioning" / "__init__.py")
    assert len(packages) > 10
    more = {
        str(path.relative_to(ROOT)): ast.unparse(node)
        for path in packages
        for node in ast.parse(path.read_text()).body
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        and not isinstance(node, ast.FunctionDef)
        and ast.unparse(node) != "from typing import Any"
    }
    assert more == {}


def test_importing_core_is_light() -> None:
    code = "import deconditioning, sys; print(sorted({'torch', 'numpy', 'xarray', 'scipy', 'dask'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_picture_of_the_layers_is_drawn_from_the_imports() -> None:
    page = draw_layers.PAGE.read_text()
    assert draw_layers.mermaid() in page, "run `python -m scripts.draw_layers`"
    files = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)", page.partition("## From a file")[2])
    assert len(files) > 10 and [name for name in files if not any(LIBRARY_FOLDER.rglob(name))] == []
    below = {"a": {"b", "c"}, "b": {"c"}, "c": set()}
    assert draw_layers.reduced(below) == {"a": {"b"}, "b": {"c"}, "c": set()}
