"""``deconditioning kbr-filter`` and ``kernel-bayes``: the document, bad input."""

import numpy as np
import pytest


def test_filters_in_the_one_shape(command) -> None:
    answer = command("kbr-filter", "--system", "b", "--train", 60, "--test", 20, "--runs", 2, "--quiet")
    assert answer.code == 0, answer.err
    found = answer.document
    assert [(r["model"], r["seed"]) for r in found["results"]] == [
        (model, seed) for seed in (0, 1) for model in ("kbr", "ekf", "ukf", "particle")
    ]
    assert {"mse", "ms_per_step", "rank"} == set(found["results"][0]["scores"]) and found["settings"]["system"] == ["b"]
    assert {(r["system"], r["train"]) for r in found["summary"]} == {("b", 60)}
    assert found["results"][0]["units"]["ms_per_step"] == "ms"


def test_rules_in_the_one_shape(command) -> None:
    answer = command("kernel-bayes", "--dimension", 3, "--pairs", 40, "--tests", 5, "--runs", 1, "--quiet")
    assert answer.code == 0, answer.err
    assert [r["model"] for r in answer.document["results"]] == ["kbr", "kde", "cme", "abc"]
    assert all(r["scores"]["mse"] > 0 for r in answer.document["results"])


def test_seeds_are_chosen_by_number_or_range_and_give_the_rows_of_their_runs(command) -> None:
    given = ("kernel-bayes", "--dimension", 1, "--pairs", 30, "--tests", 4, "--methods", "kbr", "--quiet")
    scores = []
    for asked in (("--runs", 5), ("--seeds", "3-4"), ("--seeds", 4, 3)):
        answer = command(*given, *asked)
        assert answer.code == 0, answer.err
        settings = answer.document["settings"]
        assert settings["runs"] == len(settings["seeds"]) == len(answer.document["results"])
        scores.append({row["seed"]: row["scores"]["mse"] for row in answer.document["results"]})
    assert scores[1] == scores[2] == {seed: scores[0][seed] for seed in (3, 4)} and scores[0].keys() == set(range(5))
    answer = command("kbr-filter", "--train", 60, "--test", 20, "--seeds", 7, "--methods", "ekf", "--quiet")
    assert answer.code == 0 and [row["seed"] for row in answer.document["results"]] == [7]


def test_sizes_are_summarised_apart_and_rejection_runs_once(command) -> None:
    sizes = ("--pairs", 30, 50, "--simulations", 100, 400, "--methods", "kbr_theorem", "abc", "--tests", 4)
    answer = command("kernel-bayes", "--dimension", 1, *sizes, "--runs", 2, "--quiet")
    assert answer.code == 0, answer.err
    rows = [(r["model"], r["size"], r["n"]) for r in answer.document["summary"] if r["score"] == "mse"]
    assert sorted(rows) == [("abc", 100, 2), ("abc", 400, 2), ("kbr_theorem", 30, 2), ("kbr_theorem", 50, 2)]


def test_a_series_of_ones_own_is_followed(command, tmp_path) -> None:
    rng = np.random.default_rng(0)
    hidden = np.sin(0.3 * np.arange(120)) + 0.1 * rng.standard_normal(120)
    rows = "\n".join(f"{h:.5f},{h + 0.3 * rng.standard_normal():.5f}" for h in hidden)
    (tmp_path / "series.csv").write_text(f"hidden,seen\n{rows}\n")
    told = ("--series", tmp_path / "series.csv", "--states", "hidden", "--observations", "seen", "--train", 60)
    answer = command("kbr-filter", *told, "--quiet")
    assert answer.code == 0, answer.err
    assert [r["model"] for r in answer.document["results"]] == ["kbr", "kalman", "nearest"]
    assert answer.document["results"][0]["scores"]["mse"] < 1  # better than the mean of the training part
    for wrong, word in ((told[:2], "--states"), (("--series", "none.csv", *told[2:]), "no file")):
        answer = command("kbr-filter", *wrong)
        assert answer.code == 2 and word in answer.err


@pytest.mark.parametrize(
    ("command_line", "word"),
    [
        (("kbr-filter", "--train", 5), "at least 20"),
        (("kbr-filter", "--train", 5, "--scale", 1, "--epsilon", 0.001), "at least 10"),
        (("kbr-filter", "--methods", "nonsense"), "unknown"),
        (("kernel-bayes", "--dimension", 0), "at least 1"),
        (("kernel-bayes", "--methods", "nonsense"), "unknown"),
        (("kernel-bayes", "--seeds", "-1"), "seed"),
        (("kernel-bayes", "--seeds", "1", "1"), "each seed once"),
        (("kernel-bayes", "--runs", 0), "0 runs were requested"),
        (("kernel-bayes", "--runs", 2, "--seeds", 1), "not allowed with"),
        (("kbr-smoother", "--seeds", "x"), "is not a number"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_two(command, command_line, word) -> None:
    answer = command(*command_line, "--quiet")
    assert answer.code == 2 and word in answer.err and answer.out == ""
