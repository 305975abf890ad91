"""Summaries over seeds and signed-rank tests between models."""

import json
from itertools import product

import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.metrics.significance import holm, pairwise_wilcoxon
from deconditioning.metrics.summary import summarise


def results(table, status="ok"):
    """Results in the command line's shape from {model: [score of seed 0, 1, …]}."""
    return [
        {"model": model, "seed": seed, "status": status, "scores": {"rmse": value}}
        for model, values in table.items()
        for seed, value in enumerate(values)
    ]


def test_summary_by_hand():
    rows = summarise(results({"cmp": [1.0, 2.0, 4.0], "kde": [3.0]}))
    spread = pytest.approx((7 / 3) ** 0.5)
    assert rows[0] == {"model": "cmp", "score": "rmse", "mean": pytest.approx(7 / 3), "sd": spread, "n": 3}
    assert rows[1] == {"model": "kde", "score": "rmse", "mean": 3.0, "sd": None, "n": 1}
    json.dumps(rows, allow_nan=False)


def test_summary_leaves_out_failures_null_and_not_finite():
    mixed = results({"cmp": [1.0, 3.0]}) + results({"cmp": [100.0]}, status="failed")
    mixed += results({"cmp": [float("nan")]}) + results({"bag_gp": [None]})
    mixed.append({"model": "cmp", "seed": 9, "status": "ok", "scores": None})
    assert summarise(mixed) == [{"model": "cmp", "score": "rmse", "mean": 2.0, "sd": pytest.approx(2**0.5), "n": 2}]
    assert summarise([]) == []


def exact_p(difference):
    """All 2ⁿ sign patterns: share whose smaller rank sum is at most the observed one, two-sided."""
    rank = np.argsort(np.argsort(np.abs(difference))) + 1
    total = rank.sum()
    observed = min(rank[difference > 0].sum(), rank[difference < 0].sum())
    sums = np.array([np.dot(rank, signs) for signs in product((0, 1), repeat=len(rank))])
    return np.mean(np.minimum(sums, total - sums) <= observed)


def test_signed_rank_test_against_all_sign_patterns():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.2, 0.05, 10), rng.normal(0.25, 0.05, 10)
    (pair,) = pairwise_wilcoxon(results({"cmp": list(a), "bag_gp": list(b)}), "rmse")
    assert (pair.first, pair.second, pair.n) == ("cmp", "bag_gp", 10)
    assert pair.p_value == pytest.approx(exact_p(a - b), rel=1e-9) and pair.p_holm == pytest.approx(pair.p_value)
    assert pair.difference == pytest.approx(np.median(a - b))


def test_seeds_are_matched_by_number_not_by_order():
    rng = np.random.default_rng(1)
    a, b = rng.random(8), rng.random(8)
    forward = results({"x": list(a), "y": list(b)})
    shuffled = [forward[i] for i in rng.permutation(len(forward))]
    one, other = (
        {frozenset((p.first, p.second)): p.p_value for p in pairwise_wilcoxon(r, "rmse")} for r in (forward, shuffled)
    )
    assert one == other
    partial = [r for r in forward if not (r["model"] == "x" and r["seed"] == 3)]
    assert pairwise_wilcoxon(partial, "rmse")[0].n == 7


def test_holm_by_hand_and_on_three_models():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, float("nan"), 0.9])[0] == pytest.approx(1.0)
    rng = np.random.default_rng(2)
    table = {name: list(rng.normal(level, 0.02, 12)) for name, level in (("a", 0.1), ("b", 0.2), ("c", 0.2))}
    pairs = {(p.first, p.second): p for p in pairwise_wilcoxon(results(table), "rmse")}
    assert len(pairs) == 3 and all(p.p_holm >= p.p_value for p in pairs.values())
    assert pairs["a", "b"].p_holm < 0.01 < pairs["b", "c"].p_holm


def test_a_reference_is_compared_with_each_of_the_others_and_corrected_for_these():
    """Twelve models, ten seeds: the pairs of the full table, multiplied by 11 instead of 66."""
    rng = np.random.default_rng(3)
    table = {f"m{k}": list(rng.normal(0.1 + 0.05 * (k != 4), 0.002, 10)) for k in range(12)}
    every = pairwise_wilcoxon(results(table), "rmse")
    against = pairwise_wilcoxon(results(table), "rmse", "m4")
    assert [p.first for p in against] == ["m4"] * 11 and all(p.difference < 0 for p in against)
    assert [p.second for p in against] == [name for name in table if name != "m4"]
    of_pair = {frozenset((p.first, p.second)): p.p_value for p in every}
    p_values = [of_pair[frozenset((p.first, p.second))] for p in against]
    assert [p.p_value for p in against] == p_values and [p.p_holm for p in against] == pytest.approx(holm(p_values))
    assert max(p.p_holm for p in against) == pytest.approx(11 / 512)
    assert min(p.p_holm for p in every) == pytest.approx(66 / 512)
    with pytest.raises(InputError, match="The reference 'nobody' has no score `rmse`"):
        pairwise_wilcoxon(results(table), "rmse", "nobody")


def test_too_few_seeds_or_equal_scores_give_a_note_and_no_number():
    (few,) = pairwise_wilcoxon(results({"a": [1.0] * 5, "b": [2.0] * 5}), "rmse")
    assert np.isnan(few.p_value) and few.note.startswith("5 common seeds") and few.difference == -1.0
    (same,) = pairwise_wilcoxon(results({"a": [1.0] * 9, "b": [1.0] * 9}), "rmse")
    assert np.isnan(same.p_value) and same.difference == 0.0
    with pytest.raises(InputError, match="a comparison needs at least two"):
        pairwise_wilcoxon(results({"a": [1.0]}), "rmse")
