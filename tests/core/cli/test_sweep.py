"""``deconditioning sweep``: a tidy table and JSON, the same numbers in both."""

import csv
import json
from pathlib import Path

from deconditioning.cli.program import main

NAMES = ("noise σ²", "k1 variance")
BLOCKS = ["--block", "18", "18", "--withhold", "0.4"]


def test_a_table_and_json_of_the_same_numbers(tmp_path: Path) -> None:
    table, found = tmp_path / "out.csv", tmp_path / "out.json"
    axes = [f"{NAMES[0]}:1e-4:1:2", f"{NAMES[1]}:0.5:2:3:linear"]
    code = main(["sweep", "ukv-645m", *BLOCKS, "--axis", *axes, "--table", str(table), "--json", str(found), "--quiet"])
    assert not code
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == 6 and {float(row[NAMES[1]]) for row in rows} == {0.5, 1.25, 2.0}
    results = json.loads(found.read_text())["results"]
    for row, result in zip(rows, results, strict=True):
        assert result["values"] == {name: float(row[name]) for name in NAMES}
        assert result["scores"]["rmse"] == float(row["rmse"])


def test_a_name_that_is_none_is_answered_with_those_that_are(capsys) -> None:
    assert main(["sweep", "ukv-645m", *BLOCKS, "--axis", "sigma:1:2:3", "--quiet"])
    assert "choose one of k1 variance" in capsys.readouterr().err


def test_a_study_is_swept_by_its_name(tmp_path: Path, capsys) -> None:
    table = tmp_path / "out.csv"
    small = ["--study", "one-dimension", "--set", "n=30", "m=25", "method=dme"]
    assert not main(["sweep", *small, "--axis", "noise:0.1:1:2", "n:20:30:2", "--table", str(table), "--quiet"])
    told = json.loads(capsys.readouterr().out)
    assert told["settings"]["settings"]["method"] == "dme" and told["settings"]["study"] == "one-dimension"
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [(row["n"], row["noise"]) for row in rows] == [(n, s) for n in ("20.0", "30.0") for s in ("0.1", "1.0")]
    for row, result in zip(rows, told["results"], strict=True):
        assert {name: float(row[name]) for name in ("evidence", "rmse")}.items() <= result["scores"].items()
    for wrong, words in (
        (["ukv-645m", *small], "Exactly one of INPUT"),
        (["--study", "line"], "choose one of one-dimension"),
        ([*small[:2], "--set", "n"], "write NAME=VALUE"),
    ):
        assert main(["sweep", *wrong, "--axis", "noise:0.1:1:2", "--quiet"]) == 2
        assert words in capsys.readouterr().err
