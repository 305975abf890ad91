"""``deconditioning one-dimension`` and ``sparse-representation``: the document, methods and seeds, bad input."""

import pytest

QUICK = ("--n", 30, "--m", 40, "--restarts", 1, "--steps", 4, "--quiet")


def test_methods_and_seeds_in_the_one_shape(command) -> None:
    answer = command("one-dimension", "--seeds", 0, 1, *QUICK)
    assert answer.code == 0, answer.err
    found = answer.document
    assert found["command"] == "one-dimension" and found["settings"]["n"] == 30 and found["settings"]["tied"] is True
    assert [(r["model"], r["seed"]) for r in found["results"]] == [
        (model, seed) for seed in (0, 1) for model in ("task_transformed_gp", "dme", "impute", "cascade")
    ]
    assert {"rmse", "coverage_2sd"} <= set(found["results"][0]["scores"])
    assert found["results"][0]["seconds"]["cpu"] > 0


def test_lambda_and_expressions_are_options(command) -> None:
    one = command("one-dimension", "--methods", "dme", "--free", "--target", "x^2", "--simulation", "y/2", *QUICK)
    assert one.code == 0 and one.document["settings"]["tied"] is False and one.document["settings"]["target"] == "x^2"


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--methods", "nonsense"), "unknown"),
        (("--n", 0), "between 1"),
        (("--target", "import os"), "cannot be read"),
        (("--target", "log(x)"), "not a finite number"),
        (("--input-noise", -1), "not negative"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_two(command, options, word) -> None:
    answer = command("one-dimension", *options, "--quiet")
    assert answer.code == 2 and word in answer.err and answer.out == ""


def test_sparse_representation_in_the_one_shape(command) -> None:
    answer = command("sparse-representation", "--data", 40, "--starts", 1, "--steps", 5, "--seeds", 3)
    assert answer.code == 0, answer.err
    found = answer.document
    models = [r["model"] for r in found["results"]]
    assert models == ["random", "learned", "learned_points", "variational_gp", "exact_gp"]
    assert len(found["results"][1]["learned"]["locations"]) == 5 and all(r["status"] == "ok" for r in found["results"])
    far = command(
        "sparse-representation", "--data", 3000, "--starts", 1, "--steps", 2, "--versions", "random", "exact_gp"
    )
    assert [r["status"] for r in far.document["results"]] == ["ok", "failed"]
    assert command("sparse-representation", "--points", 0).code == 2
