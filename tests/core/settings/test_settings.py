"""Declarations of settings: values in and out, refusals, flags, addresses, schema."""

import argparse
import math
from typing import Any

import pytest

from deconditioning.cli.flags import add_flags
from deconditioning.errors import InputError
from deconditioning.settings.setting import Choice, Integer, Linear, Log, Switch
from deconditioning.settings.settings import Settings, schema
from deconditioning.studies.conditional_means import settings as embeddings
from deconditioning.studies.distribution_regression import settings as regression
from deconditioning.studies.filtering import settings as filtering
from deconditioning.studies.kernel_bayes.settings import AnswerSettings, ComparisonSettings, KernelBayesSettings
from deconditioning.studies.likelihood_free import settings as likelihood_free
from deconditioning.studies.sweeping import Study
from deconditioning.studies.swiss_roll import settings as swiss_roll


class Small(Settings):
    """One of each kind."""

    prefix = "z"

    count = Integer("Count", 5, low=1, high=9, least=1, symbol="n", about="how many, 100 % of them")
    shift = Linear("Shift", 0.0, low=-1.0, high=1.0, unit="metres")
    size_of_it = Log("Size", 1e-3, low=1e-6, high=1.0, only={"way": ("b",)})
    way = Choice("Way", "a", options={"a": "the one", "b": "the other"}, address="z-w")
    hidden = Switch("Hidden", False, address=None)


EVERY = [
    Small, KernelBayesSettings, AnswerSettings, ComparisonSettings, filtering.ViewSettings, filtering.SweptSettings,
    filtering.FilteringSettings, filtering.CameraSettings, filtering.CameraFilterSettings,
    swiss_roll.SwissRollSettings, swiss_roll.LearningSettings, regression.SweptSettings, regression.StandInSettings,
    regression.ModelSettings, regression.FurtherSettings, regression.ValidationSettings, regression.LinkSettings,
    embeddings.EstimateSettings, embeddings.SliceSettings, embeddings.TheoremSettings,
    likelihood_free.SourceSettings, likelihood_free.PageSettings, likelihood_free.SweptSettings,
    regression.ClusterSettings, regression.LemmaSettings, regression.InvarianceSettings,
]  # fmt: skip


def test_a_class_has_declarations_and_an_instance_values() -> None:
    small = Small(count=7.0, way="b")
    assert (small.count, small.shift, small.way) == (7, 0.0, "b") and type(small.count) is int
    assert (
        Small.count.default == 5 and Small.shift.label == "Shift, in metres" and Small.size_of_it.key == "z-size-of-it"
    )
    assert small == Small(**small.to_dict()) and hash(small) == hash(Small(count=7, way="b")) and small != Small()
    assert Small.size_of_it.applies(small.to_dict()) and not Small.size_of_it.applies(Small().to_dict())
    with pytest.raises(AttributeError):
        small.count = 3  # type: ignore[misc,assignment]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"count": 0}, "at least 1"), ({"count": 2.5}, "such as 5"), ({"count": True}, "such as 5"),
        ({"count": math.inf}, "such as 5"), ({"shift": math.nan}, "such as 0.0"), ({"shift": "far"}, "'far'"),
        ({"way": "c"}, "'a' or 'b'"), ({"hidden": 1}, "such as False"), ({"other": 1}, "choose one of count, shift"),
    ],
)  # fmt: skip
def test_what_is_no_value_is_refused_with_a_sentence(values: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Small(**values)


def test_ends_hold_for_controls_and_not_for_commands() -> None:
    assert Small(count=90).count == 90
    for ways in (Small.on_controls, Small.address):
        with pytest.raises(InputError, match="1 to 9"):
            ways(count=90)
    with pytest.raises(InputError, match="1 to 9"):
        Small.from_address({"z-count": "90"})


@pytest.mark.parametrize("kind", EVERY)
def test_an_address_says_what_it_read(kind: type[Settings]) -> None:
    shown = {name: each.default for name, each in kind.declared().items() if each.address is not None}
    for extreme in ("low", "high"):
        ends = {name: getattr(kind.declaration(name), extreme) for name in shown}
        values = shown | {name: end for name, end in ends.items() if end is not None}
        words = kind.address(**values)
        assert set(words) == {kind.declaration(name).address for name in shown}
        read = kind.from_address(words | {"other": "1"}).to_dict()
        assert {name: read[name] for name in values} == values
    with pytest.raises(InputError):
        kind.from_address({next(iter(words)): "nonsense"}) if shown else kind.address(**{"nothing": 1})


@pytest.mark.parametrize("kind", EVERY)
def test_flags_read_the_values_and_tell_the_defaults(kind: type[Settings]) -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, kind)
    names = {name: each.flag or name.replace("_", "-") for name, each in kind.declared().items()}
    assert vars(parser.parse_args([])) == {names[n].replace("-", "_"): value for n, value in kind().to_dict().items()}
    text = " ".join(parser.format_help().split())
    for name, setting in kind.declared().items():
        flag = f"--{names[name]}"
        assert flag in text
        if not isinstance(setting, Switch):
            assert f"({setting.text(setting.default) if not isinstance(setting, Choice) else setting.default})" in text
            given = getattr(parser.parse_args([flag, str(setting.default)]), names[name].replace("-", "_"))
            assert given == setting.default and type(given) is type(setting.default)
    with pytest.raises(SystemExit):
        parser.parse_args([f"--{next(iter(names.values()))}", "nonsense"])


@pytest.mark.parametrize("kind", EVERY)
def test_the_schema_takes_what_the_settings_take(kind: type[Settings]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    found = schema("A title", kind.declared())
    jsonschema.Draft202012Validator.check_schema(found)
    jsonschema.validate(kind().to_dict(), found)
    for name, setting in kind.declared().items():
        assert found["properties"][name]["default"] == setting.default
        for wrong in ([], None, {}):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate({name: wrong}, found)
            with pytest.raises(InputError):
                kind(**{name: wrong})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"unknown": 1}, found)


def test_several_values_and_flags_that_stay_unset() -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, Small, without=("hidden",), several=("count",), defaults={"count": 3}, unset={"shift": "as was"})
    assert vars(parser.parse_args(["--count", "1", "2"])) == {
        "count": [1, 2],
        "shift": None,
        "size_of_it": 1e-3,
        "way": "a",
    }
    assert vars(parser.parse_args([]))["count"] == [3] and "(as was)" in parser.format_help()


class Depends(Settings):
    """A default that depends on another setting, a flag of another name, a slider in whole numbers."""

    prefix = "y"

    matching = Choice("Matching", "direct", options={"direct": "as they are", "indirect": "by height"})
    noise = Log(
        "Noise", 0.01, low=1e-4, high=1.0, otherwise={"matching": {"indirect": {"default": 0.1}}}, flag="sd-noise"
    )
    tilt = Linear("Tilt", 20.0, low=10, high=180, step=5)


def test_a_default_may_depend_on_another_setting() -> None:
    assert (Depends().noise, Depends(matching="indirect").noise, Depends(matching="indirect", noise=1).noise) == (
        0.01, 0.1, 1.0
    )  # fmt: skip
    assert Depends.from_address({"y-matching": "by height"}).noise == 0.1
    study = Study("A study", Depends.declared(), {}, lambda given: {})
    assert study.complete({"matching": "indirect"})["noise"] == 0.1 and study.complete({})["noise"] == 0.01


def test_flags_of_another_name_and_only_some_of_them() -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, Depends, names=("noise", "tilt"), several=("tilt",), defaults={"tilt": [10.0, 27.5]})
    assert vars(parser.parse_args(["--sd-noise", "0.3"])) == {"sd_noise": 0.3, "tilt": [10.0, 27.5]}
    assert "(0.01)" in parser.format_help() and "--matching" not in parser.format_help()


def test_a_slider_in_whole_numbers_is_so_in_the_address_and_a_flag_takes_any() -> None:
    assert Depends.address(tilt=35) == {"y-tilt": "35"} and Depends.from_address({"y-tilt": "35"}).tilt == 35.0
    assert type(Depends(tilt=35).tilt) is float and Depends(tilt=27.5).tilt == 27.5
