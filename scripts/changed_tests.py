"""Prints the test files that concern what git sees changed, for `make check`."""

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("tests/test_house.py", "tests/test_layers.py")


def git(*command: str) -> list[str]:
    """Lines that a git command prints."""
    return subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def _changed_files() -> set[str]:
    """Files that differ from the last commit, new ones included; those of the last commit where none differ."""
    work = git("diff", "--name-only", "HEAD") + git("ls-files", "--others", "--exclude-standard")
    return set(work or git("show", "--name-only", "--format=", "HEAD"))


def module_name(path: str | Path) -> str:
    """The dotted name of a file, given relative to the project: ``core`` is the library's source root."""
    return ".".join(Path(str(path).removeprefix("core/")).with_suffix("").parts)


@cache
def imported_modules(source: str, package: str) -> frozenset[str]:
    """Absolute names of all modules that a module's source imports, at the top or inside a function."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names.add(module)
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return frozenset(names)


@cache
def _imports_of_tests() -> dict[str, frozenset[str]]:
    """What each test file imports."""
    return {
        str(path.relative_to(ROOT)): imported_modules(path.read_text(), "tests")
        for path in (ROOT / "tests").rglob("test_*.py")
        if "browser" not in path.parts
    }


def concerned(changed: set[str]) -> list[str]:
    """Test files that changed or that import a changed module; all tests of its folder where none imports it."""
    tests = _imports_of_tests()
    found = {*ALWAYS, *(changed & tests.keys())}
    for path in changed:
        if not path.endswith(".py") or not path.startswith(("core/", "pages/", "scripts/")):
            continue
        module = module_name(path)
        part = path.removeprefix("core/deconditioning/").split("/")[0]
        folder = "tests/pages/test_" + path.split("/")[1] if path.startswith("pages/") else f"tests/core/{part}/"
        direct = {test for test, names in tests.items() if module in names}
        found |= direct or {test for test in tests if test.startswith(folder)}
    return sorted(found)


if __name__ == "__main__":
    print(" ".join(concerned(_changed_files())))
