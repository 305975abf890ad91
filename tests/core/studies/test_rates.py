"""Theorem 4.2's exponents at their limits, the known operator of the circle, and measured errors beside both."""

import json
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from deconditioning.errors import Cancelled, InputError
from deconditioning.studies.conditional_means.circle import Circle, estimate_error
from deconditioning.studies.conditional_means.measured_rates import (
    Measured,
    RateSettings,
    limits,
    measure,
    measure_grid,
    measure_one,
    schedule,
    slope,
)
from deconditioning.studies.conditional_means.rates import Difficulty
from deconditioning.studies.conditional_means.rates import theorem_exponents as powers

FOLDER = Path(__file__).resolve().parents[3] / "data" / "benchmarks"
STORED = [FOLDER / "deconditional_rates.json", FOLDER / "deconditional_rates_infinite.json"]
CASES = [Difficulty(b, c) for b in (1.001, 1.5, 2.0, 10.0, math.inf) for c in (1.001, 1.5, 2.0)]


def test_the_exponent_has_the_theorems_cases_limits_and_minimax_point():
    hard = Difficulty(b=2.0, c=1.5)
    best = powers(1.0, hard).best
    assert best == pytest.approx(2 * 2.5 / 4)
    assert powers(best + 1, hard).rate == pytest.approx(3 / 4)
    assert powers(best / 2, hard).rate == pytest.approx(best / 2 * 1.5 / 2.5)
    endless = Difficulty(b=math.inf, c=2.0)
    assert powers(9.0, endless).rate == 1.0
    assert powers(9.0, Difficulty(b=1e9, c=2.0)).rate == pytest.approx(1.0, abs=1e-8)
    assert powers(1.0, Difficulty(b=1e9, c=2.0)).best == pytest.approx(powers(1.0, endless).best)
    assert powers(1.0, Difficulty(b=1 + 1e-12, c=1.7)).best == pytest.approx(1.0)  # b → 1: a* → 1, rate c/(c + 1)
    assert powers(1.0, Difficulty(c_prime=2.0)).samples == 3.0
    assert powers(1.0, Difficulty(c_prime=1.5, iota=0.5)).samples == pytest.approx(10.0)


@pytest.mark.parametrize("case", CASES)
def test_both_cases_meet_at_the_minimax_point_which_lies_between_one_and_two(case):
    best = powers(1.0, case).best
    assert 1 < best < 2
    below, beyond = powers(best * (1 - 1e-9), case).rate, powers(best * (1 + 1e-9), case).rate
    assert below == pytest.approx(beyond, rel=1e-6)
    assert powers(0.5 * best, case).rate < beyond == powers(50.0, case).rate < 1 + 1e-12
    assert powers(best * 2, case).epsilon == pytest.approx(powers(best, case).epsilon)
    assert powers(0.7, case).rate == pytest.approx(case.c * powers(0.7, case).epsilon)  # risk ~ ε^c
    assert powers(0.7, case).distance < powers(0.7, case).rate
    assert powers(best, case).samples > 1  # the first stage needs more samples than the second


def test_a_larger_b_gives_the_faster_rate_and_a_later_minimax_point():
    slow, fast = Difficulty(1.5, 1.5), Difficulty(4.0, 1.5)
    assert powers(3.0, fast).rate > powers(3.0, slow).rate and powers(1.0, fast).best > powers(1.0, slow).best


def test_lambda_follows_the_smoothness_of_the_first_stage():
    assert powers(1.0, Difficulty(c_prime=2.0)).lam == pytest.approx(1 / 3)
    assert powers(1.0, Difficulty(c_prime=1.0 + 1e-12)).lam == pytest.approx(0.5)


@pytest.mark.parametrize(
    "wrong", [{"b": 1.0}, {"b": math.nan}, {"c": 1.0}, {"c_prime": 2.5}, {"iota": 0.0}, {"iota": 1.5}]
)
def test_values_outside_the_theorem_are_refused(wrong):
    with pytest.raises(InputError, match="outside the theorem"):
        Difficulty(**wrong)


@pytest.mark.parametrize("a", [0.0, -1.0, math.nan, math.inf])
def test_a_must_be_positive(a):
    with pytest.raises(InputError, match="positive"):
        powers(a, Difficulty())


@pytest.mark.parametrize("circle", [Circle(), Circle(2.0, 1.5, 0.1)])
def test_the_known_operator_is_that_of_the_drawn_circle(circle):
    first = circle.draw(400_000, torch.Generator().manual_seed(0))
    scale = circle.input_scales[:, None] * circle.mediator_scales
    assert float(((first.cross - circle.truth().cross) / scale).abs().max()) < 1e-2
    assert torch.allclose(circle.operator() @ circle.inverse(), torch.eye(len(scale)).double())


def test_the_features_are_orthonormal_waves():
    circle, at = Circle(2.0, 1.5), torch.arange(64, dtype=torch.float64) / 64  # quadrature: exact below 64 turns
    waves = circle.waves(at)
    assert torch.allclose(waves.T @ waves / 64, torch.eye(33).double(), atol=1e-13)
    assert torch.allclose(waves[:, 5], math.sqrt(2) * torch.cos(2 * math.pi * 5 * at), atol=1e-12)


def test_the_spectrum_and_the_range_condition_are_those_of_the_class():
    circle = Circle(2.0, 1.5)
    images = circle.operator() @ circle.truth().second @ circle.operator().T
    eigenvalues = images.diagonal().sort(descending=True).values
    assert torch.allclose(eigenvalues, torch.arange(1, 34).double() ** -2.0)
    # D = G T^{(c−1)/2}: G is Hilbert-Schmidt, and would hardly be so with a larger c
    g = circle.inverse().diagonal() * images.diagonal() ** -0.25
    assert torch.allclose(g.square().sort(descending=True).values, torch.arange(1, 34).double() ** -1.1)


def test_no_sampling_error_leaves_the_closed_form():
    circle = Circle(1.5, 1.8)
    exact, limit = circle.error(circle.truth(), circle.truth(), 1e-3, 1e-2), circle.limit(1e-3, 1e-2)
    assert exact.risk == pytest.approx(limit.risk) and exact.hilbert_schmidt == pytest.approx(limit.hilbert_schmidt)
    assert circle.limit(0.0, 1e-15).risk < 1e-12


def test_a_large_sample_comes_near_the_limit_and_a_small_one_does_not():
    settings = RateSettings()
    near = measure_one(settings, 3000, 100_000, 0)
    limit = limits(settings, [(3000, 100_000)])[0]
    assert near.risk == pytest.approx(limit.risk, rel=0.2)
    assert measure_one(settings, 5, 50, 0).risk > 2 * limits(settings, [(5, 50)])[0].risk


def test_chunks_do_not_change_the_moments(monkeypatch):
    whole = Circle().draw(1000, torch.Generator().manual_seed(3), inputs=False)
    monkeypatch.setattr("deconditioning.studies.conditional_means.circle.CHUNK", 1000)
    assert torch.allclose(Circle().draw(1000, torch.Generator().manual_seed(3), inputs=False).second, whole.second)
    monkeypatch.setattr("deconditioning.studies.conditional_means.circle.CHUNK", 64)
    assert torch.allclose(Circle().draw(1000, torch.Generator().manual_seed(3), inputs=False).second, whole.second)


def test_the_measured_risk_falls_at_least_about_as_fast_as_the_theorem_says():
    settings = RateSettings(largest=50_000, sizes=4, seeds=3)
    rows = measure(settings)
    sizes = [m for m, _ in schedule(settings)]
    mean = [np.mean([r.risk for r in rows if r.targets == m]) for m in sizes]
    assert slope(np.array(sizes), np.array(mean)) < -0.9 * powers(settings.a, settings.difficulty).rate
    alone = [error.risk for error in limits(settings, schedule(settings))]
    assert slope(np.array(sizes), np.array(alone)) == pytest.approx(-powers(0.8, settings.difficulty).rate, abs=0.06)


def test_the_grid_falls_with_n_until_m_limits_it():
    rows = measure_grid(RateSettings(seeds=2), [30, 300], [300, 3000, 30_000])
    assert len(rows) == 12
    mean = {(m, n): np.mean([r.risk for r in rows if (r.targets, r.samples) == (m, n)]) for m, n in
            {(r.targets, r.samples) for r in rows}}  # fmt: skip
    assert mean[300, 30_000] < mean[300, 300] and mean[300, 30_000] < mean[30, 30_000]
    with pytest.raises(InputError, match="increasing order"):
        measure_grid(RateSettings(), [30], [300, 300])


def test_slopes_are_those_of_powers():
    sizes = np.array([10.0, 100.0, 1000.0])
    assert slope(sizes, 3 * sizes**-0.7) == pytest.approx(-0.7)


def test_impossible_sizes_are_said_and_a_check_stops():
    with pytest.raises(InputError, match="choose a smaller a"):
        schedule(RateSettings(a=3.0, c_prime=1.05))
    for wrong in ({"sizes": 1}, {"seeds": 0}, {"largest": 10**9}, {"a": 0.0}, {"b": 0.5}):
        with pytest.raises(InputError):
            RateSettings(**wrong)
    with pytest.raises(InputError, match="at least one"):
        estimate_error(Circle(), 0, 10, 0.1, 0.1, torch.Generator())

    def stop():
        raise Cancelled

    with pytest.raises(Cancelled):
        measure(RateSettings(), stop)


@pytest.mark.parametrize("file", STORED, ids=lambda file: file.stem)
def test_the_stored_curves_are_what_their_command_measures_today(file):
    stored = json.loads(file.read_text())
    assert stored["command"] == "deconditional-rates"
    for curve in stored["curves"]:
        settings = RateSettings(**curve["settings"])
        assert sorted({(r["targets"], r["samples"]) for r in curve["rows"]}) == schedule(settings)
        row = curve["rows"][0]
        again = measure_one(settings, row["targets"], row["samples"], row["seed"])
        assert asdict(again) == pytest.approx(row, rel=1e-6)
    if "grid" not in stored:
        return
    row = Measured(**stored["grid"]["rows"][0])
    settings = RateSettings(**{**stored["grid"]["settings"], "seeds": 1})
    again = measure_grid(settings, [row.targets], [row.samples])[0]
    assert asdict(again) == pytest.approx(asdict(row), rel=1e-6)
