"""The simulation, the stand-in and long tables: their moments, their nesting, and every way a table can be wrong."""

import numpy as np
import pytest

from deconditioning.distribution_regression import table
from deconditioning.distribution_regression.simulate import SimulationSpec, regression_function, simulate
from deconditioning.distribution_regression.stand_in import LABEL, accelerometer_stand_in
from deconditioning.distribution_regression.table import Roles, columns_of, guess_roles, open_subjects, read_table
from deconditioning.errors import InputError

ROLES = Roles("subject", ("value",), "outcome")


def test_the_simulation_has_the_moments_of_a_dirichlet_process():
    drawn = simulate(SimulationSpec(1500, 20, 0))
    x = np.linspace(0, 1, 20_001)
    f = regression_function(x)
    mean, variance = f.mean(), f.var() / 26  # Var E_z f₀ = Var_U f₀/(1 + α)
    assert abs(drawn.expected.mean() - mean) < 4 * np.sqrt(variance / 1500)
    assert drawn.expected.var() == pytest.approx(variance, rel=0.15)
    noise = drawn.subjects.outcomes.numpy() - drawn.expected
    assert noise.var() == pytest.approx(0.01, rel=0.15)
    measured = drawn.subjects.bags.mean(drawn.subjects.bags.inputs[:, 0].apply_(lambda v: regression_function(v)))
    assert np.abs(measured.numpy() - drawn.expected).mean() < 0.06


def test_smaller_draws_are_the_first_of_larger_ones():
    large, small = simulate(SimulationSpec(9, 50, 4)), simulate(SimulationSpec(5, 20, 4))
    assert np.array_equal(large.expected[:5], small.expected)
    assert np.array_equal(
        large.subjects.measures.numpy().reshape(9, 50)[:5, :20].ravel(), small.subjects.measures[:, 0]
    )
    other = simulate(SimulationSpec(5, 20, 5))
    assert not np.array_equal(other.expected, small.expected)


def test_unequal_and_distinct_measures():
    some = simulate(SimulationSpec(30, 40, 0, unequal=True)).subjects.bags.sizes
    assert 10 <= float(some.min()) < float(some.max()) <= 40
    assert len(simulate(SimulationSpec(3, 500, 0, distinct=True)).subjects.bags.inputs) == 1500
    assert len(simulate(SimulationSpec(3, 500, 0)).subjects.bags.inputs) < 600


def test_the_stand_in_says_what_it_is_and_has_a_day_of_minutes():
    people = accelerometer_stand_in(12, 3)
    assert "not the survey" in LABEL and "Generated" in LABEL
    assert people.bags.sizes.tolist() == [1440.0] * 12
    counts = np.expm1(people.measures.numpy())
    assert np.abs(counts - counts.round()).max() < 1e-6 and 0.3 < (counts == 0).mean() < 0.9
    assert 20 <= float(people.outcomes.min()) and float(people.outcomes.max()) <= 85
    assert all(name.startswith("generated") for name in people.names)


def rows(*lines: str, header: str = "subject,value,outcome") -> bytes:
    return "\n".join((header, *lines)).encode()


GOOD = ("b,1,10", "a,2,20", "b,1,10", "a,2.5,20")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_becomes_subjects_in_the_order_they_appear(separator, monkeypatch):
    monkeypatch.setattr(table, "CHUNK", 3)  # a subject spans two pieces
    data = rows(*GOOD).replace(b",", separator.encode())
    found = read_table(data, ROLES)
    assert found.names == ("b", "a") and found.outcomes.tolist() == [10, 20]
    assert found.bags.inputs[:, 0].tolist() == [1, 2, 2.5] and found.bags.sizes.tolist() == [2, 2]


def test_roles_are_guessed_by_name_and_by_place():
    assert guess_roles(("SEQN", "age", "bmi", "activity")) == Roles("SEQN", ("activity",), "age", ("bmi",))
    assert guess_roles(("p", "q", "r")) == Roles("p", ("q",), "r")
    assert guess_roles(("p", "q")) is None
    assert columns_of(rows(*GOOD)) == ("subject", "value", "outcome")


def test_several_values_and_covariates():
    data = rows("a,1,2,5,0", "a,1,3,5,0", "b,4,4,6,1", header="id,u,v,y,male")
    found = read_table(data, Roles("id", ("u", "v"), "y", ("male",)))
    assert found.measures.shape == (3, 2) and found.covariates.tolist() == [[0], [1]]
    assert found.covariate_names == ("male",) and found.columns == ("u", "v")


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ((*GOOD, "a,,20"), r"1 row\(s\) have a missing cell, the first is 'value' in row 6"),
        ((*GOOD, "a,3,"), "'outcome' in row 6"),
        ((*GOOD, ",3,20"), "'subject' in row 6"),
        ((*GOOD, "c,,30", "c,,30"), "Subject c has no measurement"),
        (("a,1,2", "a,3,2"), "There is 1 subject"),
        (("a,1,2", "b,3,2"), "nothing to explain"),
        (("a,7,2", "b,7,3"), "Every measurement of 'value' is 7"),
        ((*GOOD, "a,many,20"), "'value' reads \"many\" in row 6"),
        ((*GOOD, "a,inf,20"), "missing cell|missing or infinite"),
        ((*GOOD, "a,3,21"), r"'outcome' is 21 in row 6 and 20 before, both of subject a"),
        ((), "no rows"),
    ],
)
def test_wrong_tables_are_a_sentence(lines, word):
    with pytest.raises(InputError, match=word):
        read_table(rows(*lines), ROLES)


def test_rows_with_missing_cells_can_be_left_out():
    data = rows(*GOOD, "a,,20", ",3,20")
    found = read_table(data, Roles("subject", ("value",), "outcome", drop_missing=True))
    assert found.bags.sizes.tolist() == [2, 2]
    with pytest.raises(InputError, match="no complete row"):
        read_table(rows(*GOOD, "c,,30"), Roles("subject", ("value",), "outcome", drop_missing=True))


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: read_table(rows(*GOOD), Roles("who", ("value",), "outcome")), "no column 'who': choose one of"),
        (lambda: Roles("a", ("a",), "b"), "two roles"),
        (lambda: Roles("a", (), "b"), "No column of values"),
        (lambda: read_table(b"", ROLES), "empty"),
        (lambda: read_table(b"a,a,b\n1,2,3", ROLES), "a distinct name"),
        (lambda: read_table(b"\xff\xfe\x00", ROLES), "is not a text"),
        (lambda: read_table("nowhere.csv", ROLES), "no file"),
        (lambda: simulate(SimulationSpec(1, 5)), "at least 2 subjects"),
        (lambda: simulate(SimulationSpec(4000, 2000)), "at most 5,000,000"),
        (lambda: accelerometer_stand_in(1), "2 to 3,000 people"),
    ],
)
def test_wrong_requests_are_a_sentence(call, word):
    with pytest.raises(InputError, match=word):
        call()


def test_tables_beyond_the_limits_are_refused_by_name(monkeypatch):
    monkeypatch.setattr(table, "MOST_ROWS", 3)
    with pytest.raises(InputError, match="more than 3 rows"):
        read_table(rows(*GOOD), ROLES)
    monkeypatch.setattr(table, "MOST_BYTES", 10)
    with pytest.raises(InputError, match="remove rows"):
        read_table(rows(*GOOD), ROLES)
    monkeypatch.undo()
    monkeypatch.setattr(table, "MOST_SUBJECTS", 1)
    with pytest.raises(InputError, match="more than 1 subjects"):
        read_table(rows(*GOOD), ROLES)


def test_an_upload_is_read_apart_as_it_would_be_here(tmp_path):
    roles = Roles("id", ("u", "v"), "y", ("male",), drop_missing=True)
    data = "id;u;v;y;male\nß;1;2;10;1\na;2;3;20;0\nß;5;6;10;1\na;;3;20;0\n".encode()
    (tmp_path / "long.csv").write_bytes(data)
    apart, here = open_subjects(tmp_path / "long.csv", roles), read_table(data, roles)
    assert apart.names == here.names and apart.columns == here.columns and apart.outcome_name == here.outcome_name
    for name in ("measures", "owner", "outcomes", "covariates"):
        assert getattr(apart, name).equal(getattr(here, name)), name


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (rows("a,1,10,7", "b,1,20,8"), "Line 2 of the table has 4 cells, the header has 3 names"),
        (rows(*GOOD, '"b,c",1,20,8'), "Line 6 of the table has 4 cells"),
        (rows(*GOOD) + b"\n\x01,1,2", "is not a text"),
        (b"x" * 200_000 + b",b,c\n1,2,3\n", "header of the table cannot be read"),
    ],
)
def test_what_would_be_lost_is_refused_apart_and_here(data, words, tmp_path):
    (tmp_path / "long.csv").write_bytes(data)
    for read in (lambda: read_table(data, ROLES), lambda: open_subjects(tmp_path / "long.csv", ROLES)):
        with pytest.raises(InputError, match=words):
            read()


def test_a_long_table_is_read_as_spreadsheets_write_it_and_says_so(tmp_path):
    """Decimal commas and a mark of missing values; subjects stay as they are written."""
    text = "sep=;\nsubject;value;outcome\n007;1,5;10\n7;2,5;20\n007;-9999;10\n7;3.500,5;20\n"
    (tmp_path / "long.csv").write_bytes(text.encode("utf-16"))
    roles = Roles("subject", ("value",), "outcome", drop_missing=True)
    for found in (read_table(tmp_path / "long.csv", roles), open_subjects(tmp_path / "long.csv", roles)):
        assert found.names == ("007", "7") and found.measures[:, 0].tolist() == [1.5, 2.5, 3500.5]
        assert any("-9999 is taken as missing" in note for note in found.notes)
