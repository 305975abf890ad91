"""``conditional-means`` and ``deconditional-rates``: the JSON they print, and what they refuse."""

import pytest

from deconditioning.studies.conditional_means.measured_rates import RateSettings, measure_one
from deconditioning.studies.conditional_means.study import BagLayout, compare


def test_conditional_means_prints_both_estimates(command) -> None:
    found = command("conditional-means", "--bags", "6", "--per-bag", "4", "--unequal", "--seeds", "1", "2").document
    assert [(r["model"], r["seed"]) for r in found["results"]] == [
        ("cmp", 1), ("shrinkage_cmp", 1), ("cmp", 2), ("shrinkage_cmp", 2)
    ]  # fmt: skip
    own = compare(BagLayout(6, 4, unequal=True, seed=2))
    last = found["results"][-1]
    assert last["scores"]["rmse"] == pytest.approx(own.regression_rmse["shrinkage"])
    assert last["difference"] == pytest.approx(own.difference) and "times" not in found


def test_deconditional_rates_prints_its_curves(command) -> None:
    options = ("--a", "0.8", "--largest", "9000", "--sizes", "3", "--seeds", "1", "--no-grid", "--b", "inf")
    found = command("deconditional-rates", *options).document
    (curve,) = found["curves"]
    settings = RateSettings(**curve["settings"])
    assert settings.b is None and len(curve["rows"]) == 3 and "grid" not in found
    row = curve["rows"][0]
    assert measure_one(settings, row["targets"], row["samples"], row["seed"]).risk == pytest.approx(row["risk"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("conditional-means", "--bags", "0"), "at least one of each"),
        (("conditional-means", "--regularisation", "nan"), "positive number"),
        (("deconditional-rates", "--c", "3"), "outside the theorem"),
        (("deconditional-rates", "--a", "3", "--c-prime", "1.01"), "choose a smaller a"),
        (("deconditional-rates", "--largest", "99999999999"), "give up to"),
    ],
)
def test_bad_input_is_a_sentence(command, arguments, said) -> None:
    answer = command(*arguments)
    assert answer.code == 2 and answer.out == "" and said in answer.err
