"""Points changed by hand: data as built by hand, texts that come back, hostile ones that are refused."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from deconditioning.datasets.edited import LONGEST, MOST_EDITS, REACH, Edits, rounded
from deconditioning.datasets.one_dimension import LineSpec, make_line
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError
from deconditioning.studies.one_dimension.problem import (
    LineSettings,
    condition_line,
    line_task,
    starting_model,
    summary_of,
)
from deconditioning.studies.one_dimension.sweep import SWEEP, line_spec, model_at

TEXT = "m2_1.5_-0.25d4a0.5_2a-3_0"
COORDINATES = st.floats(-REACH, REACH).map(rounded)
PAIRS = st.tuples(COORDINATES, COORDINATES)


@st.composite
def edits(draw: st.DrawFn) -> Edits:
    moved = draw(st.dictionaries(st.integers(1, 30), PAIRS, max_size=20))
    deleted = draw(st.sets(st.integers(31, 60), max_size=20))
    return Edits(moved, frozenset(deleted), tuple(draw(st.lists(PAIRS, max_size=20))))


def test_edited_pairs_are_those_built_by_hand():
    plain, spec = make_line(LineSpec(6, 5, seed=3)), LineSpec(6, 5, seed=3, first_edits=TEXT, second_edits="d1")
    line = make_line(spec)
    y, x = plain.mediators.tolist(), plain.inputs.tolist()
    y[1], x[1] = 1.5, -0.25
    del y[3], x[3]
    assert line.mediators.tolist() == [*y, 0.5, -3.0] and line.inputs.tolist() == [*x, 2.0, 0.0]
    assert line.query.tolist() == plain.query.tolist()[1:] and line.targets.tolist() == plain.targets.tolist()[1:]
    assert spec.counts == (len(line.inputs), len(line.targets)) == (7, 4)
    assert make_line(LineSpec(6, 5, seed=3)).inputs.tolist() == plain.inputs.tolist()


@given(edits())
def test_a_text_comes_back_as_its_edits(found):
    assert Edits.from_text(found.text) == found and len(found.text) <= LONGEST
    assert found.within(10) | found.beyond(10) == found
    assert all(number <= 10 for number in (*found.within(10).moved, *found.within(10).deleted))


@given(edits())
def test_flipped_edits_do_the_same_to_flipped_pairs(found):
    across = np.arange(60.0)
    assert np.array_equal(np.flip(found.flipped.apply(-across, across), 0), found.apply(across, -across))
    assert found.flipped.flipped == found


@given(edits(), st.integers(60, 80))
def test_counts_and_places_are_those_of_the_pairs(found, generated):
    across = np.arange(generated) + 2 * REACH
    y, x = found.apply(across, -across)
    assert len(y) == len(x) == found.count(generated)
    by_hand = np.abs(y) <= REACH
    assert by_hand.sum() == len(found.places)
    assert sorted(map(tuple, found.places)) == sorted(zip(y[by_hand], x[by_hand], strict=True))
    untouched = [number for number in range(1, generated + 1) if number not in {*found.moved, *found.deleted}]
    assert across[np.array(untouched) - 1].tolist() == y[~by_hand].tolist()


@pytest.mark.parametrize(
    ("text", "word"),
    [("m1_2", "not an"), ("a1_nan", "not an"), ("a1_1e9", "not an"), ("a1_99999", "not an"), ("a1_٣", "not an"),
     ("d0", "not an"), ("x", "not an"), ("d1d1", "twice"), ("m1_0_0d1", "twice"), ("a1_1001", "between"),
     ("a1_1" * (MOST_EDITS + 1), "at most"), ("d1" * LONGEST, "at most"), ("m201_0_0", "201 of 200"),
     ("d201", "201 of 200"), ("<script>alert(1)</script>", "not an"), (7, "a text"), (None, "a text")],
)  # fmt: skip
def test_hostile_edits_are_refused_with_a_sentence(text, word):
    for name in ("first_edits", "second_edits"):
        with pytest.raises(InputError, match=word) as refused:
            LineSpec(**{name: text})
        assert len(str(refused.value)) < 200


def test_one_pair_is_left():
    with pytest.raises(InputError, match="every pair"):
        LineSpec(2, 2, first_edits="d1d2")
    assert make_line(LineSpec(2, 2, first_edits="d1d2a1_1")).inputs.tolist() == [1.0]


def test_a_sweep_is_of_the_edited_pairs_and_leaves_out_those_it_does_not_draw():
    given = SWEEP.complete({"n": 20, "m": 20, "first_edits": "m3_2_-4d15", "second_edits": "d1d2"})
    line = make_line(LineSpec(20, 20, first_edits="m3_2_-4d15", second_edits="d1d2"))
    assert SWEEP.row(given)["evidence"] == condition_line(line, model_at(given)).evidence
    assert line_spec(given | {"n": 10, "m": 2}) == LineSpec(10, 2, first_edits="m3_2_-4")


def test_a_run_learns_from_the_edited_data_and_plain_data_bring_them_back():
    spec = LineSpec(30, 30, first_edits="m3_2_-4d5", second_edits="a0_3d1d2")
    assert LineSpec.from_dict(spec.to_dict()) == spec
    settings = LineSettings(restarts=1, steps=3)
    given = {"line": spec.to_dict(), "settings": vars(settings)}
    ran, plain = line_task(given, NoReport()), summary_of(make_line(LineSpec(30, 30)), settings)
    assert ran["scores"] == summary_of(make_line(spec), settings)["scores"] != plain["scores"]


def test_deleting_a_point_is_conditioning_without_it():
    line, m = make_line(LineSpec(20, 20)), 5
    model = starting_model(line, "task_transformed_gp")
    without = condition_line(make_line(LineSpec(20, 20, second_edits=f"d{m}")), model)
    kept = [index for index in range(20) if index != m - 1]
    by_hand = type(line)(line.spec, line.inputs, line.mediators, line.query[kept], line.targets[kept])
    at = line.grid[:, None]
    assert torch.equal(without.mean(at), condition_line(by_hand, model).mean(at))
    assert not torch.allclose(without.mean(at), condition_line(line, model).mean(at))
