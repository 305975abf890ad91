"""Grids of settings: axes, their order, what is known of them, and where scores have their optimum."""

import math

import pytest

from deconditioning.engine.context import Context
from deconditioning.errors import InputError, never
from deconditioning.sweeps import (
    Axis,
    Score,
    check_axes,
    choosing,
    erring,
    optimum,
    rows_of,
    saved_rows,
    settings_of,
)

ROWS = [{"values": {"a": n}, "evidence": e, "rmse": r} for n, e, r in ((1, -2.0, 3.0), (2, -1.0, 4.0), (3, None, 1.0))]
SCORES = {"evidence": Score("Log evidence", "more", truth=False), "crps": Score("CRPS"), "rmse": Score("RMSE")}


@pytest.mark.parametrize(
    "numbers",
    [(0.0, 1.0, 3), (2.0, 1.0, 3), (1.0, math.inf, 3), (1.0, 2.0, 1), (1.0, 2.0, 101), (1.0, 1.0, 3, False)],
)
def test_ends_that_make_no_axis(numbers: tuple) -> None:
    with pytest.raises(InputError, match="axis"):
        Axis("noise σ²", *numbers)


def test_axes_are_read_from_a_line() -> None:
    assert Axis.read("noise σ²:1e-6:1:5") == Axis("noise σ²", 1e-6, 1.0, 5)
    assert Axis.read("a:b:1:3:3:linear") == Axis("a:b", 1.0, 3.0, 3, False)
    assert Axis.read("x:-1:1:3:linear").values == [-1.0, 0.0, 1.0] and Axis("a", 1, 100, 3).values == [1.0, 10.0, 100.0]
    assert Axis("n", 1, 4, 8, whole=True).values == [1.0, 2.0, 3.0, 4.0]
    for text in ("", "noise", "noise:1:2", "noise:1:2:x"):
        with pytest.raises(InputError, match="not an axis"):
            Axis.read(text)


def test_how_far_apart_is_a_share_of_the_axis() -> None:
    assert Axis("a", 1, 100).away(10, 1) == pytest.approx(0.5)
    assert Axis("a", -1, 1, log=False).away(0, 1) == pytest.approx(0.5)
    assert Axis("a", 1, 101).away(-9.0, 1.0) == pytest.approx(0.1)  # a click beside a logarithmic axis


def test_the_costly_axis_is_the_outer_one() -> None:
    axes = (Axis("cheap", 1, 4, 2), Axis("dear", 1, 9, 3))
    found = settings_of(axes, lambda name: name == "cheap")
    assert [list(each.values()) for each in found] == [[d, c] for d in (1.0, 3.0, 9.0) for c in (1.0, 4.0)]


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ((Axis("nothing", 1, 2),), "no setting `nothing`"),
        ((Axis("a", 1e-4, 1, 11), Axis("b", 1, 2, 10)), "110 settings"),
        ((Axis("a", 1, 2), Axis("a", 1, 2)), "Both axes are a"),
        ((), "0 axes"),
    ],
)
def test_axes_that_are_none(axes: tuple, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_axes(axes, ["a", "b"])
    check_axes((Axis("a", 1, 2), Axis("b", 1, 2)), ["a", "b"])


def test_only_what_is_missing_is_computed_and_a_refusal_is_a_row() -> None:
    asked: list[float] = []

    def row(values: dict[str, float]) -> dict[str, float]:
        asked.append(values["a"])
        if values["a"] == 3:
            raise InputError("No.")
        return {"rmse": values["a"]}

    known = [{"values": {"a": 2.0}, "rmse": 7.0}]
    found = list(rows_of([{"a": 1.0}, {"a": 2.0}, {"a": 3.0}], row, known, never))
    assert asked == [1.0, 3.0]
    assert found == [{"values": {"a": 1.0}, "rmse": 1.0}, known[0], {"values": {"a": 3.0}, "message": "No."}]


def test_a_result_holds_all_rows_and_the_last_picture() -> None:
    context = Context()
    found = saved_rows(iter(ROWS), {"axes": []}, 3, context, lambda rows: bytes([len(rows)]), "small.png")
    assert found == {"axes": [], "cells": ROWS, "cancelled": False} and context.files == {"small.png": b"\x03"}
    assert context.best_result == found | {"cancelled": True} and context.trace[-1]["step"] == 3


def test_the_best_setting() -> None:
    assert optimum(ROWS, "evidence", SCORES["evidence"]) == {"a": 2}
    assert optimum(ROWS, "rmse", SCORES["rmse"]) == {"a": 3} and optimum(ROWS, "crps", SCORES["crps"]) is None
    assert optimum(ROWS, "rmse", Score("Coverage", "")) is None
    assert (choosing(ROWS, SCORES), erring(ROWS, SCORES)) == ("evidence", "rmse")
