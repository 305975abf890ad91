"""A model is one object per name: in specifications, files, caches and on other processes."""

import ast
import copy
import functools
import json
import pickle
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from deconditioning.errors import InputError
from deconditioning.models.catalogue import BAG_GP, MODELS, SHRINKAGE_CMP, named
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spec import ModelSpec
from tests.core.models.small import KERNEL, MEDIATOR_KERNEL

ROOT = Path(__file__).resolve().parents[3]
FLAGS = {field.name for field in fields(NamedModel) if field.type in (bool, "bool")}
CATALOGUE = "deconditioning.models.catalogue"
#: Most places outside the package of the models that turn a name into a model: where JSON or a command line is read.
LOOK_UPS = 10


@functools.cache
def outside() -> dict[str, str]:
    """The files of library and pages that are not in the package of the models."""
    paths = [*ROOT.glob("core/deconditioning/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"]
    inside = ROOT / "core/deconditioning/models"
    return {str(p.relative_to(ROOT)): p.read_text() for p in paths if inside not in p.parents}


def parsed(words: set[str]) -> dict[str, ast.Module]:
    """Those with at least one of the words, parsed: no other can use it."""
    return {path: ast.parse(text) for path, text in outside().items() if any(word in text for word in words)}


def flags_asked(tree: ast.Module) -> list[str]:
    """Flags of a model that a file reads: as an attribute, or by its name with `getattr`."""
    asked = [n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)]
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    words = [a.value for n in calls if n.func.id == "getattr" for a in n.args if isinstance(a, ast.Constant)]
    return [name for name in (*asked, *words) if name in FLAGS]


def look_ups(tree: ast.Module) -> int:
    """How often a file turns a name into a model by what it imports from the catalogue."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == CATALOGUE
        for alias in node.names
        if alias.name in ("named", "MODELS", "GENERAL")
    }
    uses = [
        node.func if isinstance(node, ast.Call) else node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call | ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr == "get")
    ]
    return sum(isinstance(use, ast.Name) and use.id in imported for use in uses)


def test_no_flag_of_a_model_is_asked_outside_its_package() -> None:
    assert len(FLAGS) >= 9
    assert {path: found for path, tree in parsed(FLAGS).items() if (found := flags_asked(tree))} == {}


def test_names_become_models_in_few_places() -> None:
    found = {path: count for path, tree in parsed({CATALOGUE}).items() if (count := look_ups(tree))}
    assert 0 < sum(found.values()) <= LOOK_UPS, found


def test_the_guards_can_fail() -> None:
    assert flags_asked(ast.parse("x = spec.model.sparse\ny = getattr(model, 'mediated')")) == ["sparse", "mediated"]
    counted = "from deconditioning.models.catalogue import MODELS, named\nnamed(a); MODELS[a]; MODELS.get(a); other(a)"
    assert look_ups(ast.parse(counted)) == 3


@pytest.mark.parametrize("name", MODELS)
def test_a_specification_holds_the_model_and_writes_its_name(name: str) -> None:
    spec = ModelSpec(MODELS[name], KERNEL, MEDIATOR_KERNEL)
    assert spec.model is MODELS[name] and ModelSpec(name, KERNEL, MEDIATOR_KERNEL) == spec
    written = json.loads(json.dumps(spec.to_dict()))
    assert written["model"] == name and ModelSpec.from_dict(written) == spec


@pytest.mark.parametrize("name", MODELS)
def test_copies_and_pickles_are_the_same_object(name: str) -> None:
    spec = ModelSpec(MODELS[name], KERNEL)
    for again in (pickle.loads(pickle.dumps(spec)), copy.deepcopy(spec), copy.copy(spec)):  # noqa: S301
        assert again == spec and hash(again) == hash(spec) and again.model is MODELS[name]


#: What takes a process half a second, and no kernel needs: gpytorch and torch import it to find the shape of a batch.
SLOW = {"sympy", "torch._dynamo"}
#: In a new process: what it reads, and what slow imports have come once it has kernel values and moments.
LOOK = f"""
import pickle, sys
spec = pickle.load(sys.stdin.buffer)
print(spec.model.title)
import torch
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.sparse.sparse_representation import sparse_moments
terms = Term((Factor("matern32", ("x",), (0.5,)),)), Term((Factor("linear", ("x",), (0.8,)),), 0.5)
kernel, points = KernelSpec(terms).build(("x",)), torch.arange(6.0).double()[:, None]
evaluate(kernel, points, points + 1)
sparse_moments(kernel, points, points + 1, points[:, 0], 0.1).cross.sum().backward()
print({SLOW!r} & set(sys.modules))
"""


def test_a_pickle_is_read_by_another_process_which_has_loaded_nothing_yet_and_loads_nothing_slow() -> None:
    sent = pickle.dumps(ModelSpec(SHRINKAGE_CMP, KERNEL))
    done = subprocess.run([sys.executable, "-c", LOOK], input=sent, capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == [SHRINKAGE_CMP.title, "set()"] and b"weights" not in sent


def test_models_are_equal_by_name_alone() -> None:
    assert replace(BAG_GP, title="Another title") == BAG_GP != SHRINKAGE_CMP
    assert {BAG_GP: 1}[replace(BAG_GP, title="Another title")] == 1
    assert len({ModelSpec(each, KERNEL) for each in (*MODELS.values(), *MODELS.values())}) == len(MODELS)


@pytest.mark.parametrize("name", ["no_such_model", "auto", ""])
def test_an_unknown_name_is_refused_with_the_names_there_are(name: str) -> None:
    for make in (named, lambda each: ModelSpec.from_dict({**ModelSpec(BAG_GP, KERNEL).to_dict(), "model": each})):
        with pytest.raises(InputError, match=f"'{name}' is unknown: choose one of .*area_to_point_gp, "):
            make(name)


def test_a_model_is_named_inside_a_sentence_with_the_capitals_of_names_only() -> None:
    phrases = {name: model.phrase for name, model in MODELS.items()}
    assert phrases["bag_gp"] == "bag Gaussian process"
    assert phrases["centroid_gp"] == "Gaussian process on centroids"
    assert phrases["vbagg"] == "variational bag Gaussian process (VBAgg)"
    assert all("gaussian" not in phrase for phrase in phrases.values())
