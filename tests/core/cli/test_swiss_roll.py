"""``deconditioning swiss-roll`` and ``benchmark``: the document, several models and seeds, bad input."""

import json

import pytest

from deconditioning.studies.downscaling.benchmark import MEDIATORS

QUICK = ("--points", 300, "--bags", 12, "--restarts", 1, "--steps", 4, "--inducing", 20, "--quiet")


def test_models_and_seeds_in_the_one_shape(command) -> None:
    answer = command("swiss-roll", "--matching", "direct", "--models", "cmp", "vbagg", "--seeds", 2, 3, *QUICK)
    assert answer.code == 0, answer.err
    found = answer.document
    assert found["schema"] == 1 and found["command"] == "swiss-roll" and found["settings"]["matching"] == "direct"
    assert [(r["model"], r["seed"]) for r in found["results"]] == [("cmp", 2), ("vbagg", 2), ("cmp", 3), ("vbagg", 3)]
    assert {"rmse", "coverage95", "crps"} <= set(found["results"][0]["scores"])
    row = next(row for row in found["summary"] if (row["model"], row["score"]) == ("cmp", "rmse"))
    values = [r["scores"]["rmse"] for r in found["results"] if r["model"] == "cmp"]
    assert row["n"] == 2 and row["mean"] == pytest.approx(sum(values) / 2)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--models", "nonsense"), "unknown"),
        (("--bags", 1), "at least 2"),
        (("--models", "vbagg", "--points", 50, "--bags", 5), "contain 50 points"),
        (("--noise", -1), "not negative"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_two(command, options, word) -> None:
    answer = command("swiss-roll", *options, "--quiet")
    assert answer.code == 2 and word in answer.err and answer.out == ""


@pytest.mark.slow
def test_a_benchmark_goes_through_the_engine_into_its_file(command, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("DECONDITIONING_RUNS", str(tmp_path / "runs"))
    output = tmp_path / "table.json"
    answer = command("benchmark", "swiss-roll", "--seeds", 1, "--models", "centroid_gp", "--output", output)
    assert answer.code == 0, answer.err
    kept = json.loads(output.read_text())
    assert {(row["matching"], row["status"]) for row in kept["rows"]} == {("direct", "ok"), ("indirect", "ok")}
    assert kept["command"].startswith("deconditioning benchmark swiss-roll") and kept["version"]
    kept["rows"] = kept["rows"][:1]
    kept["rows"][0]["scores"]["rmse"] = 7.0
    kept["version"] = "0.1.0"
    output.write_text(json.dumps(kept))
    again = command("benchmark", "swiss-roll", "--seeds", 1, "--models", "centroid_gp", "--resume", output, "--output",
                    output)  # fmt: skip
    assert again.code == 0, again.err
    rows = json.loads(output.read_text())["rows"]
    assert len(rows) == 2 and rows[0]["scores"]["rmse"] == 7.0 and rows[1]["scores"]["rmse"] < 2


def test_a_benchmark_of_fields_goes_through_the_engine_too(command, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("DECONDITIONING_RUNS", str(tmp_path / "runs"))
    output, case = tmp_path / "table.json", next(iter(MEDIATORS))
    answer = command("benchmark", "mediation", "--seeds", 1, "--models", "bag_gp", "--cases", case, "--output", output)
    assert answer.code == 0, answer.err
    rows = json.loads(output.read_text())["rows"]
    assert {(row["case"], row["model"], row["status"]) for row in rows} >= {(case, "bag_gp", "ok")}
    assert all(row["scores"]["rmse"] > 0 for row in rows if row["status"] == "ok")


def test_a_table_to_resume_must_be_one(command, tmp_path) -> None:
    wrong = tmp_path / "table.json"
    wrong.write_text("{}")
    answer = command("benchmark", "swiss-roll", "--resume", wrong, "--output", tmp_path / "out.json")
    assert answer.code == 2 and "not a table of a benchmark" in answer.err
    wrong.write_text('{"rows": [], "version": "999.0.0"}')
    answer = command("benchmark", "swiss-roll", "--resume", wrong, "--output", tmp_path / "out.json")
    assert answer.code == 2 and "Version 999.0.0 made it, which is newer than this one" in answer.err
