"""A default, an end or a key of a study's setting is written in its declaration and nowhere else."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deconditioning.downscaling.pictures.settings import SliderSettings
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.cell_settings import CellSettings
from deconditioning.settings.settings import Settings
from deconditioning.studies.conditional_means import settings as embeddings
from deconditioning.studies.distribution_regression import settings as regression
from deconditioning.studies.filtering import settings as filtering
from deconditioning.studies.kernel_bayes.settings import AnswerSettings, ComparisonSettings, KernelBayesSettings
from deconditioning.studies.likelihood_free import settings as likelihood_free
from deconditioning.studies.one_dimension.settings import (
    BayesSettings,
    LineSettings,
    RecoverSettings,
    TripSettings,
    TripShown,
)
from deconditioning.studies.sparse_representation.settings import LearningSettings, RepresentationSettings
from deconditioning.studies.swiss_roll import settings as swiss_roll

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "core" / "deconditioning"
#: Folder of a study → its settings, the folder of its page, and its commands.
TOPICS: dict[str, tuple[tuple[type[Settings], ...], str, tuple[str, ...]]] = {
    "kernel_bayes": (
        (KernelBayesSettings, AnswerSettings, ComparisonSettings), "kernel_bayes", ("kernel_bayes",)
    ),
    "sparse_representation": (
        (RepresentationSettings, LearningSettings), "sparse_representation", ("sparse_representation",)
    ),
    "one_dimension": (
        (RecoverSettings, BayesSettings, TripSettings, TripShown, LineSettings), "one_dimension", ("one_dimension",)
    ),
    "conditional_means": (
        (embeddings.EstimateSettings, embeddings.SliceSettings, embeddings.TheoremSettings),
        "conditional_mean_embeddings", ("conditional_means", "deconditional_rates"),
    ),
    "distribution_regression": (
        (regression.SourceSettings, regression.SweptSettings, regression.StandInSettings, regression.LowRankSettings,
         regression.FurtherSettings, regression.ValidationSettings, regression.LinkSettings, regression.ClusterSettings,
         regression.LemmaSettings, regression.InvarianceSettings),
        "distribution_regression", ("distribution_regression", "clustered_regression"),
    ),
    "filtering": (
        (filtering.ViewSettings, filtering.SweptSettings, filtering.FilteringSettings, filtering.CameraSweptSettings,
         filtering.CameraFilterSettings),
        "filtering", ("kbr_filter", "kbr_smoother", "kbr_camera", "filter_options"),
    ),
    "likelihood_free": (
        (likelihood_free.SourceSettings, likelihood_free.PageSettings, likelihood_free.SweptSettings),
        "likelihood_free", ("likelihood_free", "likelihood_free_guards"),
    ),
    "swiss_roll": (
        (swiss_roll.SwissRollSettings, swiss_roll.LearningSettings), "swiss_roll",
        ("swiss_roll", "swiss_roll_ablation"),
    ),
}  # fmt: skip
#: What reads as a second declaration and is another number: file → what it says.
OTHERS = {
    "core/deconditioning/studies/swiss_roll/ablation.py": {"steps = 300"},  # of the paper's Adam
    "core/deconditioning/studies/conditional_means/rates.py": {
        "b = 2.0",
        "c = 2.0",
        "c_prime = 2.0",
        "iota = 1.0",  # the easiest problem that the theorem knows
    },
    "core/deconditioning/studies/conditional_means/circle.py": {"c = 2.0"},
    "pages/conditional_mean_embeddings/beyond.py": {"e-bags"},  # the key of a picture
}
#: The settings of page Downscaling, whose library, page and commands are named otherwise than a study's.
DOWNSCALING = (DownscaleSettings, CellSettings, SliderSettings)
#: Calls that use a value and check it against the declaration.
USES = {"at", "address", "replace"}
#: Keys of an address that are also names of other things: a column of a trace.
OTHERWISE = {"stage"}


def places(topic: str) -> list[Path]:
    """The files of a study but for its declarations: library, page, commands, exercises."""
    _, page, commands = TOPICS[topic]
    found = [*(CORE / "studies" / topic).glob("*.py"), *(ROOT / "pages" / page).glob("*.py")]
    found += [
        *(path for name in commands for path in (CORE / "cli").rglob(f"{name}.py")),
        *(CORE / "teaching").glob("*.py"),
    ]
    return [path for path in found if path.name != "settings.py"]


def places_of_downscaling() -> list[Path]:
    """The same of a downscaling: its library, page, commands, estimators and exercises."""
    folders = (CORE / "downscaling", ROOT / "pages" / "downscaling", CORE / "teaching")
    found = [path for folder in folders for path in folder.rglob("*.py")]
    found += [CORE / path for path in ("fields/spec.py", "cli/problem.py", "estimators/downscaling.py")]
    found += [CORE / "cli" / "commands" / f"{name}.py" for name in ("downscale", "sweep", "predict_store")]
    return [path for path in found if path.name != "settings.py"]


def is_word(node: ast.expr) -> bool:
    """Whether it is one of a choice's values, which a call or a dictionary uses."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def pairs(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Every name that is given a value: arguments, defaults, assignments, entries of dictionaries."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called not in USES:
                yield from ((each.arg, each.value) for each in node.keywords if each.arg and not is_word(each.value))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((each.id, node.value) for each in targets if isinstance(each, ast.Name))
        elif isinstance(node, ast.Dict):
            yield from (
                (key.value, value) for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and not is_word(value)
            )  # fmt: skip
        elif isinstance(node, ast.arguments):
            every = [*node.posonlyargs, *node.args]
            yield from zip((a.arg for a in every[len(every) - len(node.defaults) :]), node.defaults, strict=True)
            yield from ((a.arg, d) for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True) if d is not None)


def again(source: str, kinds: tuple[type[Settings], ...]) -> set[str]:
    """What a file says that a declaration says already: keys of the address; a name with its default or an end."""
    settings = [setting for kind in kinds for setting in kind.declared().values()]
    variants = [each for setting in settings for each in setting.variants()]
    keys = {each.address for each in variants if each.address != each.name} - OTHERWISE  # else a name in JSON
    numbers: dict[str, list[Any]] = {}
    for s in settings:
        for each in s.variants():
            usual = each.inner.default
            ends = [end for end in (each.low, each.high) if end not in (None, 0, 1)]
            numbers.setdefault(s.name, []).extend([*ends, *([usual] if usual not in (None, 0) else [])])
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
    kinds, files = TOPICS[topic][0], places(topic)
    assert len(files) > 8
    found = {str(path.relative_to(ROOT)): again(path.read_text(), kinds) for path in files}
    assert {path: each for path, each in found.items() if each - OTHERS.get(path, set())} == {}


def test_a_setting_of_downscaling_is_declared_once() -> None:
    files = places_of_downscaling()
    assert len(files) > 50
    found = {str(path.relative_to(ROOT)): again(path.read_text(), DOWNSCALING) for path in files}
    assert {path: each for path, each in found.items() if each} == {}


@pytest.mark.parametrize(
    "source",
    [
        "number_input('Steps', 5, 500, steps=100)", "slider(key='lam')", "f(withhold=0.5)", "rows: int = 9",
        "Settings(inducing=200)", "points = 10", "{'fam': 1}", "f(prior_sd=10.0)",
    ],
)  # fmt: skip
def test_a_second_declaration_of_downscaling_is_found(source: str) -> None:
    assert again(source, DOWNSCALING)


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
