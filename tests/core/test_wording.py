"""One way to say how long: rounding never skips a unit, and no other module words durations by itself."""

import re
from pathlib import Path

import pytest

from deconditioning.wording import duration, signed, table_cell

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-3, "0 ms"), (0.0012, "1.2 ms"), (0.0994, "99 ms"), (0.0996, "0.1 s"), (0.42, "0.42 s"), (0.9951, "1.0 s"),
        (9.94, "9.9 s"), (9.96, "10 s"), (59.6, "1 min 0 s"), (1740, "29 min 0 s"), (1814, "30 min 14 s"),
        (7500, "2 h 5 min"), (3599.7, "1 h 0 min"),
    ],
)  # fmt: skip
def test_a_duration_in_words(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_a_number_has_a_true_minus_sign() -> None:
    assert signed(None, 1) == "unknown" and signed(-1139.62, 1) == "−1,139.6" and signed(2.0, 2) == "2.00"


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=HYPERLINK(A1)", "'=HYPERLINK(A1)"), ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"), ("\t=1", "'\t=1"), ("  =1", "'  =1"), ("＝1+1", "'＝1+1"), ("\n=1", "'\n=1"),
        ("-1.5e-3", "-1.5e-3"), ("+2", "+2"), ("-inf", "-inf"), ("-", "-"), ("%", "%"), ("a=b", "a=b"), ("", ""),
    ],
)  # fmt: skip
def test_a_cell_is_no_formula(text: str, cell: str) -> None:
    assert table_cell(text) == cell and table_cell(cell) == cell


def test_pages_word_durations_by_this_function_alone() -> None:
    by_hand = re.compile(r"\b(eta_s|ended - \w+\.started|seconds|elapsed)\b[^{}]*:[^{}]*\.\d[fg]\} (s|seconds|min)\b")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("core", "pages")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.name != "wording.py"
        for line in path.read_text().splitlines()
        if by_hand.search(line)
    ]
    assert by_hand.search('f"about {now.eta_s:.0f} s left"') and by_hand.search('f"{run.ended - run.started:.0f} s"')
    assert found == []
