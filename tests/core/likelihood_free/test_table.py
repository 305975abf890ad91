"""A user's table: what is read, and every refusal as a sentence."""

import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.likelihood_free.prior import Marginal, Prior
from deconditioning.likelihood_free.table import MOST_ROWS, open_table, problem_of_table, read_table
from deconditioning.studies.likelihood_free.study import infer


def text(rows: int = 60, extra: str = "") -> bytes:
    rng = np.random.default_rng(0)
    theta = rng.uniform(0.1, 2.0, rows)
    lines = [
        f"{t:.6f},{np.log(t) + 0.05 * e:.6f},{e:.6f}" for t, e in zip(theta, rng.standard_normal(rows), strict=True)
    ]
    return ("theta,s1,s2\n" + "\n".join(lines) + "\n" + extra).encode()


OBSERVED = b"s1,s2\n-0.2,0.1\n"


def test_the_observed_row_may_stand_in_the_table_or_alone() -> None:
    inside = read_table(text(extra=",-0.2,0.1\n"))
    alone = read_table(text(), OBSERVED)
    assert inside.columns == alone.columns == ("theta", "s1", "s2")
    assert np.array_equal(inside.values, alone.values) and inside.values.shape == (60, 3)
    assert inside.observed == alone.observed == {"s1": -0.2, "s2": 0.1}
    assert inside.suggested == alone.suggested == ("theta",)


def test_a_table_gives_the_posterior_of_its_simulator() -> None:
    problem, found = problem_of_table(read_table(text(200), b"s2;s1\n0.0;-0.2\n"), ("theta",), logs=("theta",))
    assert problem.observed.tolist() == [-0.2, 0.0]  # by name, whatever the order
    answer = infer(problem, found).answers["dme"]
    assert answer.interval[0, 0] < np.exp(-0.2) < answer.interval[0, 1]
    assert np.allclose(found.log_weights, 0)


def test_a_prior_weighs_the_rows() -> None:
    prior = Prior((Marginal("theta", "normal", 1.0, 0.5),))
    _, found = problem_of_table(read_table(text(), OBSERVED), ("theta",), prior)
    expected = -0.5 * ((found.parameters[:, 0] - 1) / 0.5) ** 2
    assert np.allclose(found.log_weights - found.log_weights[0], expected - expected[0])


@pytest.mark.parametrize(
    ("data", "observed", "words"),
    [
        (b"", None, "is empty"),
        (text(), None, "no observation"),
        (text(extra=",-0.2,0.1\n,1,1\n"), None, "2 rows of .* missing cells.*under 'theta'"),
        (text(extra="0.3,,0.1\n"), OBSERVED, "missing cells.*row 62 under 's1'"),
        (text(extra="0.3,high,0.1\n"), OBSERVED, "'high' under 's1'"),
        (text(extra="0.3,inf,0.1\n"), OBSERVED, "'inf' under 's1'"),
        (text(extra="0.3,1\n"), OBSERVED, "missing cells.*row 62 under 's2'"),
        (text(), b"s1,s3\n1,2\n", "column 's3' that the table does not have"),
        (text(), b"s1,s2\n1,2\n3,4\n", "2 rows"),
        (text(), b"s1,s2\n1,\n", "empty under 's2'"),
        (text(4), OBSERVED, "4 simulations"),
        (b"a,a\n1,2\n", OBSERVED, "occurs twice"),
        (b"\xff\xfe\x00", OBSERVED, "is not a text"),
    ],
)
def test_bad_tables_are_refused_with_a_sentence(data, observed, words) -> None:
    with pytest.raises(InputError, match=words):
        read_table(data, observed)


def test_a_million_rows_are_refused_unread_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deconditioning.likelihood_free.table._parse", lambda *_: pytest.fail("the table was read"))
    data = b"theta,s1\n" + b"0.5,0.25\n" * 1_000_000
    with pytest.raises(InputError, match=f"1,000,001 rows.*limit is {MOST_ROWS:,} rows"):
        read_table(data, OBSERVED)


@pytest.mark.parametrize(
    ("parameters", "prior", "logs", "words"),
    [
        ((), None, (), "choose among"),
        (("nope",), None, (), "choose among"),
        (("theta", "s1", "s2"), None, (), "no summary"),
        (("s1",), None, (), "no value for the summary 'theta'"),
        (
            ("theta",),
            Prior((Marginal("theta", "uniform", 0.5, 1.0),)),
            (),
            r"theta outside the prior's support \[0.5, 1\]",
        ),
        (("theta", "s2"), None, ("s2",), "no logarithm"),
    ],
)
def test_bad_choices_are_refused_with_a_sentence(parameters, prior, logs, words) -> None:
    with pytest.raises(InputError, match=words):
        problem_of_table(read_table(text(), OBSERVED), parameters, prior, logs=logs)


def test_constant_columns_are_named() -> None:
    lines = b"theta,s1,s2\n" + b"".join(b"%d,%d,7\n" % (i, i * i) for i in range(20))
    with pytest.raises(InputError, match="'s2' is 7 in every row"):
        problem_of_table(read_table(lines, OBSERVED), ("theta",))


def test_rows_from_the_prior_need_no_weights_and_rows_from_elsewhere_do():
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(600)
    rows = "\n".join(f"{a:.6f},{a + 0.7 * e:.6f}" for a, e in zip(theta, rng.standard_normal(600), strict=True))
    table = read_table(f"theta,x\n{rows}\n,1.5\n".encode())
    prior = Prior((Marginal("theta", "normal", 0.0, 1.0),))
    for drawn in (True, False):
        problem, simulations = problem_of_table(table, ("theta",), prior, drawn_from_prior=drawn)
        answer = infer(problem, simulations, methods=("cme",)).answers["cme"]
        exact = 1.5 / (1 + 0.49)  # only rows that are drawn from the prior have it as theirs
        assert np.allclose(simulations.weights, 1) is drawn
        assert (abs(float(answer.mean[0]) - exact) < 0.12) is drawn


def test_an_upload_is_read_apart_as_it_would_be_here():
    for data, row in ((text(), OBSERVED), (text(extra=",-0.2,0.1\n"), None)):
        apart, here = open_table(data, row, "mine.csv"), read_table(data, row, "mine.csv")
        assert np.array_equal(apart.values, here.values)
        assert (apart.columns, apart.observed, apart.suggested) == (here.columns, here.observed, here.suggested)
    for row, words in ((b"", "observed row is empty"), (b"s1,s3\n1,2\n", "'s3' that mine.csv does not have")):
        with pytest.raises(InputError, match=words):
            open_table(text(), row, "mine.csv")
