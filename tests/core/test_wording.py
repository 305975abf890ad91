"""One way to say how long: rounding never skips a unit, and no other module words durations by itself."""

import math
import re
from pathlib import Path

import pytest

from deconditioning.wording import duration, hyperparameter_names, number, plus_minus, readable, signed, table_cell

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
        ("\ufeff=1", "'\ufeff=1"),
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


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1.234e-5, 3, "1.23 × 10⁻⁵"), (-5e-9, 3, "−5 × 10⁻⁹"), (0.000123, 3, "0.000123"), (1234.0, 3, "1,230"),
        (2.5e6, 3, "2,500,000"), (3e12, 3, "3 × 10¹²"), (-0.0, 3, "0"), (0.1 + 0.2, 6, "0.3"),
    ],
)  # fmt: skip
def test_a_number_in_words(value: float, digits: int, text: str) -> None:
    assert number(value, digits) == text


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (-1.2, 0.341, "−1.20 ± 0.34"), (0.64, 0.1, "0.64 ± 0.10"), (288.1502, 0.0996, "288.15 ± 0.10"),
        (1234.5, 67.8, "1,234 ± 68"), (5.0, 123.0, "5 ± 123"), (2.0, 0.0, "2 ± 0"), (0.5, math.nan, "0.5 ± nan"),
    ],
)  # fmt: skip
def test_a_value_has_as_many_decimals_as_its_error(value: float, error: float, text: str) -> None:
    assert plus_minus(value, error) == text


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("value to 2e-15, relative", "value to 2 × 10⁻¹⁵, relative"), ("(p = 3e\u221206)", "(p = 3 × 10⁻⁶)"),
        ("σ² = 1e-3: 0.02", "σ² = 0.001: 0.02"), ("10 points a cell by 1.5e-02", "10 points a cell by 0.015"),
        ("`--epsilon 1e-6` is 1e-6", "`--epsilon 1e-6` is 1 × 10⁻⁶"),
        ("figure 1e, 3eb, x1e-5", "figure 1e, 3eb, x1e-5"),
    ],
)  # fmt: skip
def test_stored_sentences_are_read_with_the_same_numbers(stored: str, read: str) -> None:
    assert readable(stored) == read and readable(read) == read


def test_people_read_numbers_of_this_function_alone() -> None:
    """Python's own "g" and "e" write 1.2e-05; what is not read by people (addresses, keys, files) may have them."""
    by_hand = re.compile(r"\{[^{}]*:[,+]?(\.\d)?[ge]\}|hovertemplate.*%\{[^{}]*[ge]\}")
    unread = re.compile(r"float\(f|query|Link\(|-paper-|frames \{|rgba|uirevision|\.default:g|\"mediator-")
    folders = ("pages", "core/deconditioning/figures", "core/deconditioning/studies", "core/deconditioning/teaching")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in path.read_text().splitlines()
        if by_hand.search(line) and not unread.search(line)
    ]
    assert by_hand.search('f"{value:.3g} K"') and by_hand.search('"hovertemplate": "%{y:.3~g}"')
    assert found == []


def test_hyperparameters_are_called_as_their_sliders_are() -> None:
    named = {
        "k1 variance": "variance of k: location",
        "k1 lengthscale [grid_latitude+grid_longitude]": "lengthscale of k: location",
        "k2 slope variance [altitude]": "slope variance of k: altitude",
        "ℓ1 variance": "variance of ℓ",
        "noise σ²": "noise σ²",
    }
    assert hyperparameter_names(named) == named
    twice = hyperparameter_names(["k1 variance", "k1 alpha [a]", "k2 variance", "k2 alpha [a]"])
    assert list(twice.values()) == ["variance of k₁: a", "α of k₁: a", "variance of k₂: a", "α of k₂: a"]
