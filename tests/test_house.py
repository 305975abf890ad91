"""House rules that a machine can read: short functions, docstrings, a test for every page, exact pins."""

import ast
import gc
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import deconditioning
from deconditioning.kernels.families.registry import FAMILIES

ROOT = Path(__file__).resolve().parents[1]
CODE = ("core/deconditioning/**/*.py", "pages/**/*.py", "data/**/*.py", "scripts/**/*.py", "app.py")
PROSE = (
    "*.md",
    "core/deconditioning/**/*.md",
    "data/**/*.md",
    "Makefile",
    "*.toml",
    ".streamlit/*.toml",
    "scripts/*.sh",
)
LONGEST_FUNCTION = 40
LONGEST_FILE = 350
MOST_FILES = 20

Function = ast.FunctionDef | ast.AsyncFunctionDef


def files(*patterns: str) -> list[Path]:
    """Files of the project that match, in order."""
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern)})


def named(path: Path) -> str:
    """A file of the project as a reader finds it."""
    return str(path.relative_to(ROOT))


@cache
def tree_of(path: Path) -> ast.Module:
    """A file of the project, read as Python once for all rules."""
    return ast.parse(path.read_text())


@pytest.fixture(scope="module", autouse=True)
def trees() -> Iterator[None]:
    """A million nodes without a circle: no collection of garbage looks through them, and they go with these tests."""
    gc.disable()
    yield
    tree_of.cache_clear()
    gc.enable()


def functions(tree: ast.AST) -> Iterator[Function]:
    """All functions of a file, methods and inner ones too."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def body_length(function: Function) -> int:
    """Lines of the body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def undocumented(tree: ast.Module) -> list[str]:
    """Public functions and classes of a module, and public methods of its classes, without a docstring.

    A protocol's stubs (``def f(self): ...``) are described by their class.
    """
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    members = [node for holder in (tree, *classes) for node in holder.body if isinstance(node, Function)]
    public = [node for node in (*classes, *members) if not node.name.startswith("_")]
    return [node.name for node in public if not ast.get_docstring(node) and not is_stub(node)]


def is_stub(node: ast.ClassDef | Function) -> bool:
    """Whether the body is a bare ``...``."""
    body = node.body[0]
    return isinstance(body, ast.Expr) and isinstance(body.value, ast.Constant) and body.value.value is ...


def test_functions_are_short() -> None:
    lengths = {f"{named(path)}: {f.name}": body_length(f) for path in files(*CODE) for f in functions(tree_of(path))}
    assert len(lengths) > 1000
    long = {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION}
    assert not long, f"longer than {LONGEST_FUNCTION} lines"


def test_files_are_short() -> None:
    lengths = {named(path): path.read_text().count("\n") for path in files(*CODE)}
    long = {name: length for name, length in lengths.items() if length > LONGEST_FILE}
    assert not long, f"more than {LONGEST_FILE} lines: split the file by ideas"


def test_folders_are_small() -> None:
    counted = Counter(path.parent for path in files("core/**/*.py", "pages/**/*.py"))
    large = {named(folder): count for folder, count in counted.items() if count > MOST_FILES}
    assert not large, f"folders of more than {MOST_FILES} files: {large}"


def test_modules_and_public_names_of_core_have_docstrings() -> None:
    core = files("core/deconditioning/**/*.py")
    assert [f"{named(path)}: {name}" for path in core for name in undocumented(tree_of(path))] == []
    modules = [path for path in core if path.name != "__init__.py"]
    assert [named(path) for path in modules if not ast.get_docstring(tree_of(path))] == []


def test_every_page_has_an_apptest() -> None:
    """In ``tests/pages/test_FOLDER*.py``."""
    folders = [page.parent.name for page in files("pages/*/page.py")]
    tests = {folder: [path.read_text() for path in files(f"tests/pages/test_{folder}*.py")] for folder in folders}
    assert [folder for folder in folders if not any("AppTest" in text for text in tests[folder])] == []


def test_only_linalg_factorises() -> None:
    """Elsewhere torch solves with factors that linalg made; numpy's small closed formulas are no kernel matrices."""
    elsewhere = re.compile(
        r"torch\.(linalg\.(?!solve_triangular|\w*norm)\w+|(cholesky(?!_solve|_inverse)|svd|inverse|pinverse|lu|qr)\b)"
    )
    wrong = [
        f"{named(path)}: {found.group()}"
        for path in files("core/deconditioning/**/*.py", "pages/**/*.py")
        if path != ROOT / "core/deconditioning/linalg.py"
        for found in elsewhere.finditer(path.read_text())
    ]
    assert not wrong


def test_nothing_is_left_for_later() -> None:
    mark = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)) + r")\b")
    paths = files(*CODE, "tests/**/*.py", *PROSE)
    left = [named(path) for path in paths if mark.search(path.read_text())]
    assert not left


@pytest.mark.parametrize("path", files("requirements*.txt"), ids=lambda path: path.name)
def test_requirements_are_pinned_exactly(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line) for line in lines), lines


def test_there_is_one_version() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in settings["project"] and settings["project"]["dynamic"] == ["version"]
    source = ROOT / settings["tool"]["hatch"]["version"]["path"]
    newest = re.findall(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert source == Path(deconditioning.__file__) and newest == deconditioning.__version__


def test_the_rules_can_be_broken() -> None:
    source = 'class A:\n    """."""\n    def f(self): x = 1\ndef _g(): ...\ndef h():\n    """.\n\n    ."""\n    x = 1\n'
    tree = ast.parse(source)
    assert undocumented(tree) == ["f"]
    assert [body_length(function) for function in functions(tree)] == [1, 1, 1]


def test_nothing_is_kept_for_tests_alone() -> None:
    """Every public function and class has a use that is no test: in code, or in the notation of the texts."""
    written = "\n".join(path.read_text() for path in files(*CODE, "core/deconditioning/NOTATION.md", "pages/**/*.js"))
    words = Counter(re.findall(r"\w+", written))
    defined = {
        node.name: named(path)
        for path in files("core/deconditioning/**/*.py", "pages/**/*.py")
        for node in tree_of(path).body
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_")
    }
    families = {type(family).__name__ for family in FAMILIES.values()}  # found by their folder
    lone = {name: path for name, path in defined.items() if words[name] < 2 and name not in families}
    assert not lone


def test_what_one_module_alone_uses_is_private() -> None:
    """A public function or constant is imported somewhere, or named in the docs; classes are what functions return."""
    code = files(*CODE, "tests/**/*.py")
    words = {path: set(re.findall(r"\w+", path.read_text())) for path in code}
    times = Counter(word for found in words.values() for word in found)
    prose = set(
        re.findall(r"\w+", "\n".join(path.read_text() for path in files(*PROSE, "docs/**/*.md", "docs/**/*.ipynb")))
    )
    lone = [
        f"{named(path)}: {name}"
        for path in files("core/deconditioning/**/*.py", "pages/**/*.py")
        for name in public_names(tree_of(path))
        if times[name] == 1 and name not in prose
    ]
    assert not lone


def public_names(tree: ast.Module) -> Iterator[str]:
    """Functions and constants of a module without an underscore before them."""
    for node in tree.body:
        if isinstance(node, Function):
            yield from () if node.name.startswith("_") else (node.name,)
        for target in node.targets if isinstance(node, ast.Assign) else ():
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and not name.id.startswith("_"):
                    yield name.id


def test_a_lone_public_name_is_found() -> None:
    assert list(public_names(ast.parse("A, _B = 1, 2\ndef f(): ...\ndef _g(): ...\nclass C: ..."))) == ["A", "f"]
