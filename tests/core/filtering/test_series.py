"""A recorded series: what may be a column, how it is cut and scaled, the oscillator."""

import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.filtering.linear_gaussian import fit_linear_gaussian
from deconditioning.filtering.oscillator import DAMPING, INNER, LOOK, PUSH, STEP, oscillator_table
from deconditioning.filtering.series import Scaling, Series, nearest_observation
from deconditioning.studies.filtering.study import FilterSettings, follow, series_problem
from deconditioning.tables.table import Table

OSCILLATOR = oscillator_table(400)


def series() -> Series:
    return Series.from_table(OSCILLATOR, ["position", "velocity"], ["seen"])


def test_columns_that_cannot_be_followed_are_said():
    gap = np.ones(30)
    gap[4] = np.nan
    table = Table({"a": np.arange(30.0), "b": np.arange(30.0) ** 2, "gap": gap, "same": np.ones(30)})
    for states, seen, word in (
        ([], ["b"], "No state column"), (["a"], [], "No observation column"), (["a"], ["a"], "both"),
        (["gap"], ["b"], "never changes"), (["a"], ["same"], "never changes"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=word):
            Series.from_table(table, states, seen)
    whole = Series.from_table(table, ["a"], ["b"])
    for train in (9, 29):
        with pytest.raises(InputError, match="between 10 and 28"):
            whole.split(train)
    with pytest.raises(InputError, match="at least 12"):
        Series(whole.states[:8], whole.observations[:8], ("a",), ("b",)).split(4)
    teach, rest = whole.split(20)
    assert np.array_equal(teach.states[:, 0], np.arange(21.0))
    assert np.array_equal(rest.states[:, 0], np.arange(21.0, 30))


def test_scaling_goes_there_and_back_and_refuses_a_flat_part():
    values = np.random.default_rng(0).standard_normal((50, 2)) * [3.0, 0.01] + [100.0, -1.0]
    scaling = Scaling.of(values, ("a", "b"))
    scaled = scaling.scaled(values)
    assert np.allclose(scaled.mean(0), 0, atol=1e-9) and np.allclose(scaled.std(0), 1)
    assert np.allclose(scaling.original(scaled), values)
    with pytest.raises(InputError, match="'b' never changes over the training part"):
        Scaling.of(np.stack([np.arange(5.0), np.ones(5)], 1), ("a", "b"))


def test_units_of_columns_do_not_change_what_is_found():
    plain, _ = series_problem(series(), 150)
    other = series()
    scaled = Series(other.states * [1000.0, 0.001] + 5, other.observations * 7.0, *other_names(other))
    problem, scaling = series_problem(scaled, 150)
    settings = FilterSettings(0.7, 1e-4)
    one, two = follow(plain, settings), follow(problem, settings)
    assert one.errors["kbr"] == pytest.approx(two.errors["kbr"], rel=1e-6)
    shown = two.in_units(scaling)
    assert shown.errors["kbr"] == pytest.approx(two.errors["kbr"], rel=1e-6)
    assert np.allclose(shown.truth, scaled.states[151:])


def other_names(found: Series):
    return found.state_names, found.observation_names


def test_the_filter_beats_a_linear_model_and_the_nearest_observation_which_is_what_it_says():
    problem, _ = series_problem(series(), 250)
    found = follow(problem, FilterSettings(0.7, 1e-4))
    assert found.errors["kbr"] < 0.5 * found.errors["kalman"] < 0.5 and not found.lost.any()
    assert found.errors["kbr"] < 0.2 * found.errors["nearest"]
    y = problem.observed[7]
    nearest = np.argmin(((problem.observations - y) ** 2).sum(1))
    alone = nearest_observation(problem.states[:-1], problem.observations, y[None])
    assert np.array_equal(alone.means[0], problem.states[nearest])


def test_the_learned_kalman_filter_is_the_exact_one_on_linear_series_and_left_out_where_nothing_is_linear():
    rng, turn = np.random.default_rng(3), 0.9 * np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    x = np.zeros((6000, 2))
    for t in range(1, 6000):
        x[t] = turn @ x[t - 1] + 0.3 * rng.standard_normal(2)
    y = x[:, :1] + 0.3 * rng.standard_normal((6000, 1))  # fewer numbers than the state has
    model = fit_linear_gaussian(x[:5001], y[:5000])
    mean, spread, expected = np.zeros(2), np.cov(x.T), []
    look = np.array([[1.0, 0.0]])
    for step, seen in enumerate(y[5001:5201]):
        if step:
            mean, spread = turn @ mean, turn @ spread @ turn.T + 0.09 * np.eye(2)
        gain = spread @ look.T / (look @ spread @ look.T + 0.09)
        mean, spread = mean + gain[:, 0] * (seen - look @ mean), spread - gain @ look @ spread
        expected.append(mean)
    assert np.abs(model.follow(y[5001:5201]) - expected).max() < 0.1
    twice = Series(np.stack([x[:200, 0]] * 2, 1), np.stack([y[:200, 0]] * 3, 1), ("a", "b"), ("c", "d", "e"))
    assert "nearest" in series_problem(twice, 100)[0].others


def test_the_oscillator_obeys_its_equation():
    x, v = OSCILLATOR.column("position"), OSCILLATOR.column("velocity")
    assert np.std(OSCILLATOR.column("seen") - x) == pytest.approx(LOOK, rel=0.15)
    rng, dt = np.random.default_rng(0), STEP / INNER
    a, b = 1.0, 0.0
    for t in range(50):
        for _ in range(INNER):
            b = b + dt * (DAMPING * (1 - a**2) * b - a) + PUSH * dt**0.5 * rng.standard_normal()
            a = a + dt * b
        assert (a, b) == pytest.approx((x[t], v[t]), abs=1e-9)
