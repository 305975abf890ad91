"""A default, an end or a key of a study's setting is written in its declaration and nowhere else."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from deconditioning.settings.settings import Settings
from deconditioning.studies.kernel_bayes.settings import AnswerSettings, ComparisonSettings, KernelBayesSettings
from deconditioning.studies.sparse_representation.settings import LearningSettings, RepresentationSettings

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "core" / "deconditioning"
#: Topic → its settings, the folder of its page.
TOPICS: dict[str, tuple[tuple[type[Settings], ...], str]] = {
    "kernel_bayes": ((KernelBayesSettings, AnswerSettings, ComparisonSettings), "kernel_bayes"),
    "sparse_representation": ((RepresentationSettings, LearningSettings), "sparse_representation"),
}
#: Calls that use a value and check it against the declaration.
USES = {"at", "address"}


def places(topic: str, page: str) -> list[Path]:
    """The files of a study but for its declarations: library, page, command, exercises."""
    found = [*(CORE / "studies" / topic).glob("*.py"), *(ROOT / "pages" / page).glob("*.py")]
    found += [*(CORE / "cli" / "commands").rglob(f"{topic}.py"), *(CORE / "teaching").glob("*.py")]
    return [path for path in found if path.name != "settings.py" and path.exists()]


def pairs(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Every name that is given a value: arguments, defaults, assignments, entries of dictionaries."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called not in USES:
                yield from ((each.arg, each.value) for each in node.keywords if each.arg)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((each.id, node.value) for each in targets if isinstance(each, ast.Name))
        elif isinstance(node, ast.Dict):
            yield from (
                (key.value, value) for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            )  # fmt: skip
        elif isinstance(node, ast.arguments):
            every = [*node.posonlyargs, *node.args]
            yield from zip((a.arg for a in every[len(every) - len(node.defaults) :]), node.defaults, strict=True)
            yield from ((a.arg, d) for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True) if d is not None)


def again(source: str, kinds: tuple[type[Settings], ...]) -> set[str]:
    """What a file says that a declaration says already: keys of the address; a name with its default or an end."""
    settings = [setting for kind in kinds for setting in kind.declared().values()]
    keys = {setting.address for setting in settings}
    numbers = {s.name: {s.default, s.low, s.high} - {None, 0, True} for s in settings}
    numbers |= {s.name: numbers[s.name] | {s.default} for s in settings if s.default == 1}
    tree = ast.parse(source)
    found = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and n.value in keys and n.value is not None}
    for name, value in pairs(tree):
        if (
            isinstance(value, ast.UnaryOp)
            and isinstance(value.op, ast.USub)
            and isinstance(value.operand, ast.Constant)
        ):
            number = -value.operand.value
        else:
            number = getattr(value, "value", None) if isinstance(value, ast.Constant) else None
        if number is not None and number in numbers.get(name, ()):
            found.add(f"{name} = {number}")
    return found


@pytest.mark.parametrize("topic", TOPICS)
def test_a_setting_is_declared_once(topic: str) -> None:
    kinds, page = TOPICS[topic]
    files = places(topic, page)
    assert len(files) > 8
    found = {str(path.relative_to(ROOT)): again(path.read_text(), kinds) for path in files}
    assert {path: each for path, each in found.items() if each} == {}


@pytest.mark.parametrize(
    "source",
    [
        "log_slider('ε', 'k-eps', 1e-9, 2.0, 4e-5)", "def f(*, epsilon=5e-5): ...", "def f(pairs: int = 200): ...",
        "epsilon: float = 1e-8", "scale = 1.0", "x = {'delta': 1e-4}", "Spec(y1=-8.0)", "f(bandwidth=20)",
        "fixed(epsilon=1.0, delta=1e-10)", "tests: int = 1000",
    ],
)  # fmt: skip
def test_a_second_declaration_is_found(source: str) -> None:
    assert again(source, TOPICS["kernel_bayes"][0])


def test_uses_are_no_declarations() -> None:
    used = "at(RULE, epsilon=1e-8)\nepsilon = RULE.epsilon.default\nf(seed=0, pairs=40)\nk = RULE.epsilon.key"
    assert not again(used, TOPICS["kernel_bayes"][0])
