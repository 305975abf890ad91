"""The settings of a downscaling: what is left open is what the models say, and the command's flags reach them."""

import argparse
import re
from dataclasses import fields

import pytest

from deconditioning.cli.commands import downscale
from deconditioning.downscaling.settings import AUTO, CHOOSE, DownscaleSettings
from deconditioning.errors import InputError
from deconditioning.fields.cell_settings import CellSettings
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.models.catalogue import MODELS
from deconditioning.models.learning.learning import LearningOptions
from deconditioning.settings.wider import OrNone


def said(words: str, model: str, matched: bool) -> str:
    """What "1 for a and b, and for c of matched cells; else 2" says of a model."""
    *groups, usual = words.split("; ")
    for value, _, names in (group.partition(" for ") for group in groups):
        here = set(re.findall(r"\w+", names if matched else re.sub(r"\w+ of matched cells", "", names)))
        if model in here:
            return value
    return usual.removeprefix("else ")


@pytest.mark.parametrize("name", ["spatial", "noise", "point_noise", "restarts", "prior_sd"])
@pytest.mark.parametrize("matched", [True, False])
def test_the_help_says_what_each_model_begins_with(name: str, matched: bool) -> None:
    setting = DownscaleSettings.declaration(name)
    assert isinstance(setting, OrNone)
    for model in MODELS.values():
        own = getattr(model.start(matched), name)
        assert said(setting.none, model.name, matched) == (own if isinstance(own, str) else f"{own:g}"), model.name


@pytest.mark.parametrize("matched", [True, False])
def test_the_help_says_which_noises_each_model_holds(matched: bool) -> None:
    words = {("point_noise",): "point_noise", ("noise", "point_noise"): "both"}
    for model in MODELS.values():
        held = model.start(matched).hold
        assert said(DownscaleSettings.hold.none, model.name, matched) == words[held]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["every_pixel", "local_scale"])
def test_the_help_says_which_models_do_it(name: str) -> None:
    words = DownscaleSettings.declaration(name).none  # type: ignore[attr-defined]
    done = {(m.name, matched) for m in MODELS.values() for matched in (True, False) if getattr(m.start(matched), name)}
    named = {model for model, _ in done}
    assert named == set(re.findall(r"\w+_\w+", words))
    always = {model for model in named if {(model, True), (model, False)} <= done}
    if "of matched cells" in words:
        assert always == set(re.findall(r"\w+_\w+", words.partition("of matched cells")[2]))
    else:
        assert always == named


def test_the_help_lists_every_model() -> None:
    assert set(MODELS) <= set(re.findall(r"\w+", DownscaleSettings.model.about))
    assert [*DownscaleSettings.model.options] == [AUTO, *MODELS]


def test_the_options_of_learning_are_those_of_the_settings() -> None:
    given = {"method": "adam", "restarts": 7, "steps": 11, "seed": 5, "bound": "stochastic", "hold": ("noise",)}
    found = DownscaleSettings("cmp", stage_one="joint", **given).learning()
    usual = LearningOptions()
    assert {name: getattr(found, name) for name in given} == given and found.stage_one == "joint"
    others = {each.name for each in fields(LearningOptions)} - {*given, "stage_one"}
    assert all(getattr(found, name) == getattr(usual, name) for name in others)
    assert DownscaleSettings(prior_sd=0.5).learning().prior_sd == 0.5
    assert DownscaleSettings().learning().stage_one == usual.stage_one and DownscaleSettings().stage_one == CHOOSE


def flags(*words: str) -> dict[str, object]:
    """What the command makes of these flags."""
    parser = argparse.ArgumentParser()
    downscale.arguments(parser)
    return downscale.model_settings(parser.parse_args(["in.nc", *words]))


def test_every_flag_reaches_the_settings() -> None:
    given = {
        "model": "cmp", "kernel": "matern12", "mediator_kernel": "matern32", "spatial": "rbf", "structure": "product",
        "linear_mean": True, "local_slopes": False, "regularisation": 0.5, "noise": 0.25, "point_noise": 0.125,
        "representativeness": 0.0625,
        "inducing": 30,
        "placement": "grid", "local_scale": False, "centroid_gp": True, "gradient_boosting": True, "device": "cpu",
        "learn": False,
        "choose": False, "stage_one": "target_gp", "method": "adam", "restarts": 3, "steps": 4, "bound": "stochastic",
        "points": 6, "every_pixel": False, "hold": ["noise"], "prior_sd": 0.0, "integrate": False,
        "warp": "log",
        "average": False,
    }  # fmt: skip
    assert set(given) == {*DownscaleSettings.declared()} - {"seed"}
    words: list[str] = []
    for name, value in given.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", *map(str, value if isinstance(value, list) else [value])]
    assert flags(*words) == given
    assert DownscaleSettings.from_dict(given).to_dict() == given | {"hold": ("noise",), "seed": 0}
    assert flags() == {"learn": True}


def test_no_setting_is_refused_without_a_sentence() -> None:
    for wrong in ({"steps": "many"}, {"structure": "both"}, {"colour": 1}, {"points": 0}, {"model": None}):
        with pytest.raises(InputError) as refused:
            DownscaleSettings.from_dict(wrong)
        assert str(refused.value).endswith(".") and next(iter(wrong)) in str(refused.value)


def test_cells_have_the_defaults_of_a_problem() -> None:
    cells, spec = CellSettings(), DownscalingSpec("t", ("z",))
    assert (cells.block, cells.withhold, cells.seed) == (spec.block, spec.withhold, spec.seed) == ((9, 9), 0.5, 0)
    assert (cells.coordinates, cells.reweigh, cells.matching, spec.matching) == (True, False, "auto", None)
