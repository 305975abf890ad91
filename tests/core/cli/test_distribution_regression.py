"""``deconditioning distribution-regression``: risks, curves, tables, bad input."""

import pytest

from deconditioning.studies.distribution_regression.study import METHODS
from deconditioning.studies.distribution_regression.validation import PREDICTORS


def test_risks_in_the_one_shape(command) -> None:
    answer = command("distribution-regression", "--subjects", 20, "--measures", 30, "--seeds", "0-1", "--quiet")
    assert answer.code == 0, answer.err
    found = answer.document
    assert [(r["model"], r["seed"]) for r in found["results"]] == [
        (model, seed) for seed in (0, 1) for model in METHODS
    ]
    first = found["results"][0]
    assert set(first["scores"]) == {"posterior_risk", "posterior_risk_draws", "squared_error"}
    assert first["seconds"]["cpu"] > 0 and first["peak_mb"] > 50 and first["subjects"] == 20


def test_curves_tests_and_slopes(command) -> None:
    answer = command("distribution-regression", "--subjects", 10, 20, "--measures", 20, "--seeds", "0-5", "--curves",
                     "--methods", "gpdr", "kde", "--noise-by", "learned", "--quiet")  # fmt: skip
    assert answer.code == 0, answer.err
    found = answer.document
    assert found["results"] == [] and len(found["curves"]) == 4 and len(found["tests"]) == 2
    assert {s["along"] for s in found["slopes"]} == {"subjects"}


def test_a_table_is_cross_validated(command, tmp_path) -> None:
    file = tmp_path / "long.csv"
    lines = [f"s{i},{(i * 7 + j * 3) % 11 + i / 9},{i * 1.5},{i % 2}" for i in range(12) for j in range(6)]
    file.write_text("id,x,y,male\n" + "\n".join(lines))
    how = ("--repeats", 2, "--folds", 3, "--given", "--lengthscale", 3, "--quiet")
    answer = command("distribution-regression", "--table", file, *how)
    assert answer.code == 0, answer.err
    found = answer.document
    assert {r["model"] for r in found["results"]} == set(PREDICTORS)
    assert all(r["scores"]["r2_low"] <= r["scores"]["r2"] <= r["scores"]["r2_high"] for r in found["results"])


def test_the_stand_in_is_labelled(command) -> None:
    answer = command("distribution-regression", "--stand-in", 20, "--repeats", 1, "--methods", "flr", "--quiet")
    assert answer.code == 0, answer.err
    assert "Generated stand-in" in answer.document["settings"]["data"]


@pytest.mark.parametrize(
    ("command_line", "word"),
    [
        (("--seeds", "a"), "not a number"),
        (("--seeds", "0", "0-2"), "each seed once"),
        (("--subjects", 1), "at least 2 subjects"),
        (("--methods", "nonsense"), "unknown"),
        (("--kernel", "nonsense"), "unknown"),
        (("--noise", 0), "positive"),
        (("--table", "nowhere.csv"), "no file"),
        (("--stand-in", 5, "--table", "x.csv"), "choose one"),
        (("--json", "/nowhere/at/all.json"), "does not exist"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_two(command, command_line, word) -> None:
    answer = command("distribution-regression", *command_line, "--quiet")
    assert answer.code == 2 and word in answer.err and answer.out == ""
