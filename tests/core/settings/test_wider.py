"""Declarations of names from a list, of several names, and of values that may be None or a whole description."""

import argparse
from typing import Any

import pytest

from deconditioning.cli.flags import add_flags
from deconditioning.errors import InputError
from deconditioning.settings.lazily import Lazily
from deconditioning.settings.setting import Choice, Integer, Log, Switch
from deconditioning.settings.settings import Settings, schema
from deconditioning.settings.wider import Named, OrDict, OrNone, Several

CALLS: list[int] = []


def titles() -> dict[str, str]:
    """Names from a list that is asked for only when it must."""
    CALLS.append(1)
    return {"a": "The first", "b": "The second"}


class Wide(Settings):
    """One of each kind."""

    name_of_it = Named("Name", "a", options=Lazily(titles), address="w-name")
    kernel = OrNone(OrDict(Named("Kernel", "a", options=Lazily(titles))), "a")
    starts = OrNone(Integer("Starts", 2, low=1, high=9, least=1), "1 for a, else 2")
    size = OrNone(Log("Size", 0.1, low=1e-3, high=10.0, symbol="s"), "0.1")
    held = OrNone(Several("Held", ("x",), options={"x": "first", "y": "second"}), "x")
    points = OrDict(Integer("Points", 20, least=1))
    on = OrNone(Switch("On", False), "off")
    way = Choice("Way", "u", options={"u": "up", "d": "down"})


def test_a_list_of_names_is_asked_for_only_when_it_must() -> None:
    CALLS.clear()
    parser = argparse.ArgumentParser()
    add_flags(parser, Wide, given=True)
    parser.format_help()
    assert Wide().name_of_it == "a" and not CALLS
    assert Wide(name_of_it="b").name_of_it == "b" and CALLS


def test_values_in_and_out() -> None:
    whole = {"terms": [1, 2]}
    values = Wide(kernel=whole, starts=3.0, held=["y", "y", "x"], points={"count": 4}, on=True, size=2)
    assert (values.kernel, values.starts, values.held, values.on) == (whole, 3, ("y", "x"), True)
    assert values.points == {"count": 4} and values.size == 2.0 and Wide(points=7).points == 7
    assert Wide(**values.to_dict()) == values and values.replace(starts=None) == Wide(
        **values.to_dict() | {"starts": None}
    )
    assert {name for name, value in Wide().to_dict().items() if value is None} == {
        "kernel",
        "starts",
        "size",
        "held",
        "on",
    }


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"name_of_it": "c"}, "The name 'c' is unknown: choose one of a, b"), ({"kernel": "c"}, "'c' is unknown"),
        ({"kernel": 3}, "`kernel` is 3"), ({"starts": 0}, "at least 1"), ({"starts": 10**5000}, "number of 16610 bits"),
        ({"held": "x"}, "a list of x and y"), ({"held": ["z"]}, "'z'"), ({"points": None}, "`points` is None"),
        ({"on": 1}, "`on` is 1"), ({"size": True}, "`size` is True"), ({"size": 10**400}, "`size`"),
    ],
)  # fmt: skip
def test_what_is_no_value_is_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Wide(**values)


def test_a_surrounded_declaration_keeps_its_name_key_and_ends() -> None:
    for name in ("kernel", "starts", "size", "held", "points", "on"):
        setting = Wide.declaration(name)
        assert setting.inner.name == name and setting.inner.address == setting.address == name
    moved = Wide.size.copy(high=20.0, address="elsewhere")
    assert (moved.inner.high, moved.inner.key, moved.key) == (20.0, "elsewhere", "elsewhere")
    assert Wide.size.inner.high == 10.0 and Wide.size.usually(5.0).inner.default == 5.0 and Wide.size.default is None
    assert Wide.starts.whole and not Wide.size.whole
    assert Wide.address(starts=3, name_of_it="b") == {"starts": "3", "w-name": "The second"}
    assert Wide.from_address({"starts": "3", "size": "0.5", "w-name": "The second"}) == Wide(
        starts=3, size=0.5, name_of_it="b"
    )
    with pytest.raises(InputError, match=r"0\.001 to 10"):
        Wide.address(size=30.0)
    assert Wide.on_controls(size=None) == {"size": None}


def test_flags_that_are_not_given_stay_none() -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, Wide, given=True, defaults={"way": "d"})
    assert vars(parser.parse_args([])) == dict.fromkeys(Wide.declared()) | {"way": "d"}
    found = parser.parse_args(
        ["--starts", "3", "--held", "--points", "5", "--no-on", "--size", "0.5", "--kernel", "b", "--name-of-it", "c"]
    )
    assert (found.starts, found.held, found.points, found.on, found.size) == (3, [], 5, False, 0.5)
    assert (found.kernel, found.name_of_it) == ("b", "c"), "checked when settings are made of it"
    text = " ".join(parser.format_help().split())
    assert "(1 for a, else 2)" in text and "Points (20)" in text and "Name (a)" in text


def test_the_schema_takes_what_the_settings_take() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    found = schema("Wide", Wide.declared())
    jsonschema.Draft202012Validator.check_schema(found)
    for values in (Wide(), Wide(kernel={"a": 1}, starts=2, held=["x"], points={"b": 1}, on=False, size=1.0)):
        plain = {name: list(v) if isinstance(v, tuple) else v for name, v in values.to_dict().items()}
        jsonschema.validate(plain, found)
    for wrong in ({"kernel": "c"}, {"kernel": 1}, {"starts": 0}, {"held": ["z"]}, {"points": None}, {"on": "x"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, found)
