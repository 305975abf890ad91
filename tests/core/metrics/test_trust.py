"""The verdict on intervals, from draws whose intervals are known to be right, narrow or wide."""

from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import norm

from deconditioning.errors import InputError
from deconditioning.metrics.calibration import pit
from deconditioning.metrics.intervals import LEVELS, SLIGHT, Trust, calibration_sentence, pit_sentence, trust
from deconditioning.metrics.predictive import Predictive
from deconditioning.metrics.probabilistic import coverage


@pytest.fixture
def drawn():
    """Truths (20,000,) as they fall around 0 with sd 1: equally likely quantiles in any order."""
    return np.random.default_rng(0).permutation(norm.ppf((np.arange(20_000) + 0.5) / 20_000))


@pytest.mark.parametrize(
    ("width", "verdict", "words"),
    [
        (1.0, "about right", "about right"),
        (0.98, "about right", "about right"),
        (0.9, "about right", "about right, slightly too narrow"),
        (1.1, "about right", "about right, slightly too wide"),
        (0.6, "too narrow", "too narrow"),
        (0.5, "too narrow", "far too narrow"),
        (1.5, "too wide", "too wide"),
    ],
)
def test_intervals_of_known_width_are_judged_as_such(drawn, width, verdict, words):
    found = trust(drawn, Predictive(0 * drawn, np.full_like(drawn, width)))
    assert found.verdict == verdict and found.sentence.endswith(f"contain the truth: {words}.")
    off = max(abs(2 * norm.cdf(width * norm.ppf((1 + level) / 2)) - 1 - level) for level in LEVELS)
    assert ("slightly" in found.sentence) == (verdict == "about right" and off > SLIGHT)
    assert found.widen == pytest.approx(1 / width, rel=1e-3)
    wider = np.full_like(drawn, width * found.widen)
    assert coverage(truth=drawn, predicted=Predictive(0 * drawn, wider), level=0.95) == pytest.approx(0.95, abs=1e-3)


def test_stored_scores_have_the_verdict_of_the_values_themselves(drawn):
    predicted = Predictive(0 * drawn, np.full_like(drawn, 0.9))
    found = trust(drawn, predicted)
    scores = {f"coverage{100 * level:.0f}": coverage(truth=drawn, predicted=predicted, level=level) for level in LEVELS}
    again = Trust.of_scores(scores | {"rmse": 1.0})
    assert again is not None and again.sentence == found.sentence and again.right == found.right
    weighted = Trust.of_scores(scores | {"coverage95_area": 0.5})
    assert weighted is not None and weighted.verdict == "too narrow"
    assert Trust.of_scores({"coverage95": 0.95}) is None


def test_the_rule_is_a_fifth_of_the_width_either_way(drawn):
    verdicts = [
        trust(drawn, Predictive(0 * drawn, np.full_like(drawn, width))).verdict for width in (0.82, 0.84, 1.2, 1.26)
    ]
    assert verdicts == ["too narrow", "about right", "about right", "too wide"]


def test_weights_are_areas_and_gaps_are_left_out():
    truth, sd = np.array([0.0, 5.0, np.nan]), np.ones(3)
    found = trust(truth, Predictive(np.zeros(3), sd), weights=np.array([3.0, 1.0, 9.0]))
    assert (
        found.held == (0.75, 0.75, 0.75)
        and found.sentence == "75 % of the 95 % intervals contain the truth: too narrow."
    )


def test_no_spread_at_all_cannot_be_widened_into_truth():
    found = trust(np.array([0.0, 1.0]), Predictive(np.zeros(2), np.zeros(2)))
    assert found.verdict == "too narrow" and found.widen == np.inf
    with pytest.raises(InputError, match="no pixel"):
        trust(np.array([np.nan]), Predictive(np.zeros(1), np.ones(1)))


@pytest.mark.parametrize(
    ("factor", "words"), [(1.0, "about right"), (1.1, "slightly above"), (1.5, "above"), (0.6, "below")]
)
def test_a_calibration_curve_is_judged_by_all_of_its_levels(factor: float, words: str) -> None:
    """Intervals of a standard normal that are ``factor`` as wide as they should be."""
    levels = [0.1, 0.3, 0.5, 0.7, 0.9]
    shares = [2 * NormalDist().cdf(factor * NormalDist().inv_cdf((1 + p) / 2)) - 1 for p in levels]
    said = calibration_sentence(levels, shares)
    assert words in said and ("too wide" in said) == (factor > 1.05) and ("too narrow" in said) == (factor < 1 / 1.2)
    if factor == 1.5:
        share = max(zip(levels, shares, strict=True), key=lambda pair: abs(pair[1] - pair[0]))
        assert f"{100 * share[0]:.0f} % intervals contain {100 * share[1]:.0f} % of the truth" in said


def test_a_curve_may_cross_or_leave_the_diagonal_at_some_levels() -> None:
    assert "crosses" in calibration_sentence([0.5, 0.95], [0.8, 0.8])
    assert calibration_sentence([0.5, 0.95], [0.8, 0.95]) == (
        "The curve lies above the diagonal at some levels: the 50 % intervals, which contain 80 % of the truth, are "
        "too wide."
    )


def test_a_curve_above_the_diagonal_everywhere_is_called_so_although_only_some_levels_are_clear() -> None:
    """Shares above all of five levels, three of which count, one of these by more than a fifth of the width."""
    levels = [0.1, 0.3, 0.5, 0.7, 0.9]
    factors = [1.1, 1.3, 1.3, 1.1, 1.02]
    pairs = zip(factors, levels, strict=True)
    shares = [2 * NormalDist().cdf(f * NormalDist().inv_cdf((1 + p) / 2)) - 1 for f, p in pairs]
    assert all(share > level for share, level in zip(shares, levels, strict=True))
    said = calibration_sentence(levels, shares)
    assert said == (
        "The curve lies above the diagonal: the 50 % intervals, which contain "
        f"{100 * shares[2]:.0f} % of the truth, are too wide."
    )
    below = calibration_sentence(levels, [2 * p - s for p, s in zip(levels, shares, strict=True)])
    assert below.startswith("The curve lies below the diagonal: the 50 % intervals") and below.endswith("too narrow.")


def test_passing_95_percent_intervals_do_not_hide_a_level_that_is_a_fifth_too_wide() -> None:
    """The verdict and the sentence of the curve agree; 64 % needs 1.36 times the width of 50 %."""
    found = Trust((0.64, 0.92, 0.97), "about right", 1.0)
    assert not found.right and found.sentence == (
        "97 % of the 95 % intervals and 64 % of the 50 % intervals contain the truth: the 50 % intervals are too wide."
    )
    assert "too wide" in calibration_sentence(LEVELS, found.held) and Trust((0.54, 0.9, 0.95), "about right", 1.0).right


@pytest.mark.parametrize(
    ("width", "shift", "words"),
    [
        (1.0, 0.0, "about flat"), (1.15, 0.0, "slightly too wide"),
        (0.88, 0.0, "slightly too narrow"), (1.3, 0.0, "too wide"), (0.7, 0.0, "too narrow"),
        (1.0, 0.4, "the prediction is too low"), (1.0, -0.4, "the prediction is too high"),
    ],
)  # fmt: skip
def test_a_pit_histogram_is_judged_by_its_width_and_its_mean(drawn, width: float, shift: float, words: str) -> None:
    """Truths of which the predicted sd and bias are known."""
    said = pit_sentence(pit(drawn + shift, Predictive(0 * drawn, np.full_like(drawn, width))).tolist())
    assert words in said and ("too low" in said or "too high" in said) == (shift != 0)
