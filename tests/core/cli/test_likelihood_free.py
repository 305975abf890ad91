"""``deconditioning likelihood-free``: the document, tables, bad input."""

import pytest


def test_mean_and_interval_of_every_method(command) -> None:
    answer = command("likelihood-free", "--problem", "exponential-gamma", "--simulations", 40, "--seeds", 0, 1)
    assert answer.code == 0, answer.err
    found = answer.document
    assert [(r["model"], r["seed"]) for r in found["results"]] == [
        (model, seed) for seed in (0, 1) for model in ("exact", "dme", "kbr", "cme", "abc")
    ]
    dme = found["results"][1]
    assert dme["scores"]["interval_low"] < dme["scores"]["posterior_mean"] < dme["scores"]["interval_high"]
    assert dme["simulations"] == 40 and dme["parameters"][0]["mean"] == dme["scores"]["posterior_mean"]
    assert "--simulations 40 --seeds 0 1" in found["settings"]["command"]


def test_several_parameters_and_calibration(command) -> None:
    answer = command("likelihood-free", "--problem", "gaussian", "--dimension", 2, "--simulations", 40, "--methods",
                     "abc", "--calibrate", 10, "--quiet")  # fmt: skip
    assert answer.code == 0, answer.err
    found = answer.document
    assert [p["name"] for p in found["results"][0]["parameters"]] == ["θ₁", "θ₂"]
    assert [(c["model"], len(c["ranks"])) for c in found["calibration"]] == [("abc", 10), ("abc", 10)]


def test_methods_of_others_on_data_drawn_from_the_prior(command) -> None:
    answer = command("likelihood-free", "--simulations", 40, "--seeds", 0, 1, "--methods", "kelfi", "mdn", "smc_abc",
                     "--drawn", "--quiet")  # fmt: skip
    assert answer.code == 0, answer.err
    rows = [row for row in answer.document["results"] if row["model"] != "exact"]
    assert [row["model"] for row in rows] == 2 * ["kelfi", "mdn", "smc_abc"]
    assert all(row["used"] == 40 for row in rows if row["model"] != "smc_abc")
    assert all({"distance", "holds", "share"} <= row["scores"].keys() for row in rows)
    assert rows[0]["scores"]["posterior_mean"] != rows[3]["scores"]["posterior_mean"]
    assert answer.document["settings"]["command"].endswith("--methods kelfi mdn smc_abc --drawn")


def test_a_table(command, tmp_path) -> None:
    lines = [f"{i / 40},{(i * 7) % 40},{i / 40 + ((i * 13) % 11) / 100}" for i in range(40)]
    (tmp_path / "runs.csv").write_text("\n".join(["theta,noise,s", *lines]))
    (tmp_path / "seen.csv").write_text("noise,s\n20,0.5\n")
    answer = command("likelihood-free", "--problem", "table", "--table", tmp_path / "runs.csv", "--observed-row",
                     tmp_path / "seen.csv", "--methods", "dme", "abc")  # fmt: skip
    assert answer.code == 0, answer.err
    assert [r["model"] for r in answer.document["results"]] == ["dme", "abc"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--problem", "coin"),
        ("--methods", "mcmc"),
        ("--simulations", 3),
        ("--observed", -1),
        ("--problem", "table"),
        ("--problem", "table", "--table", "/nowhere.csv"),
        ("--problem", "table", "--table", "/nowhere.csv", "--calibrate", 5),
        ("--problem", "table", "--table", "/nowhere.csv", "--drawn"),
        ("--problem", "gaussian", "--dimension", 0),
    ],
)
def test_bad_input_is_a_sentence_and_code_2(command, arguments) -> None:
    answer = command("likelihood-free", *arguments)
    assert answer.code == 2 and answer.out == "" and answer.err.strip().endswith(".")
