"""Which saved results have this version's numbers: versions by hand, stored tables, a stored prediction."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deconditioning import versions
from deconditioning.plain_data import changed

STORED = sorted((Path(__file__).resolve().parents[2] / "data" / "benchmarks").glob("*.json"))


@pytest.mark.parametrize("file", STORED, ids=lambda file: file.stem)
def test_every_stored_table_has_this_versions_numbers(file: Path) -> None:
    assert versions.difference(json.loads(file.read_text())["version"]) == ""


@pytest.mark.parametrize(
    ("version", "word"),
    [
        ("0.8.0", ""), ("0.9.9", ""), ("0.10.0", ""), ("0.10.1", "newer"), ("0.11.0", "newer"), ("1.0.0", "newer"),
        ("0.7.12", "other numbers"), ("0.0.0", "other numbers"), ("0.8", "not state"), ("0.8.0rc1", "not state"),
        ("", "not state"), (None, "not state"), (1, "not state"), ("0.8.0\n", "not state"), ("٠.٨.٠", "not state"),
    ],
)  # fmt: skip
def test_versions_are_compared_number_by_number(monkeypatch: pytest.MonkeyPatch, version: object, word: str) -> None:
    monkeypatch.setattr(versions, "__version__", "0.10.0")
    monkeypatch.setattr(versions, "SAME_NUMBERS_SINCE", "0.8.0")
    said = versions.difference(version)
    assert word in said and bool(said) is bool(word)


@dataclass
class Older:
    """A record as an earlier version has it."""

    a: int = 1
    b: str | None = None
    c: list[int] = field(default_factory=list)


@dataclass
class Newer(Older):
    """The same with a setting more."""

    d: bool = False


def test_a_new_setting_at_its_default_changes_no_record() -> None:
    assert changed(Older(b="x")) == changed(Newer(b="x")) == {"b": "x", "c": []}
    assert changed(Newer(d=True)) == {"c": [], "d": True}
