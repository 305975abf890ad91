"""``python -m core kbr-filter`` and ``kernel-bayes``: the document, bad input."""

import pytest


def test_filters_in_the_one_shape(command) -> None:
    answer = command("kbr-filter", "--system", "b", "--train", 60, "--test", 20, "--runs", 2, "--quiet")
    assert answer.code == 0, answer.err
    found = answer.document
    assert [(r["model"], r["seed"]) for r in found["results"]] == [
        (model, seed) for seed in (0, 1) for model in ("kbr", "ekf", "ukf", "particle")
    ]
    assert {"mse", "ms_per_step", "rank"} == set(found["results"][0]["scores"]) and found["settings"]["b"] == 0.4
    assert found["results"][0]["units"]["ms_per_step"] == "ms"


def test_rules_in_the_one_shape(command) -> None:
    answer = command("kernel-bayes", "--dimension", 3, "--pairs", 40, "--tests", 5, "--runs", 1, "--quiet")
    assert answer.code == 0, answer.err
    assert [r["model"] for r in answer.document["results"]] == ["kbr", "kde", "cme"]
    assert all(r["scores"]["mse"] > 0 for r in answer.document["results"])


@pytest.mark.parametrize(
    ("command_line", "word"),
    [
        (("kbr-filter", "--train", 5), "at least 10"),
        (("kbr-filter", "--methods", "nonsense"), "unknown"),
        (("kernel-bayes", "--dimension", 0), "at least 1"),
        (("kernel-bayes", "--methods", "nonsense"), "unknown"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_two(command, command_line, word) -> None:
    answer = command(*command_line, "--quiet")
    assert answer.code == 2 and word in answer.err and answer.out == ""
