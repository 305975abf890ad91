"""``python -m core sweep``: a tidy table and JSON, the same numbers in both."""

import csv
import json
from pathlib import Path

from core.cli.program import main

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
