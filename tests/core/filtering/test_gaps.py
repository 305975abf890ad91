"""Gaps in a series: rows in order of time, one a step; missing steps are predicted through and teach nothing."""

import numpy as np
import pytest
import torch

from deconditioning.errors import InputError
from deconditioning.filtering.linear_gaussian import fit_linear_gaussian
from deconditioning.filtering.oscillator import oscillator_table
from deconditioning.filtering.series import Series, nearest_observation
from deconditioning.filtering.steps import on_steps, time_column
from deconditioning.studies.filtering.study import FilterSettings, build_filter, follow, series_problem
from deconditioning.tables.table import Table

DAYS = np.datetime64("2003-01-30", "s") + np.arange(60) * np.timedelta64(1, "D")
FIXED = FilterSettings(0.7, 1e-4, 0.0)


def table(days: np.ndarray, rows: np.ndarray, **more: np.ndarray) -> Table:
    """The oscillator's rows under their dates."""
    columns = oscillator_table(400).columns
    return Table({"date": days, **{name: values[rows] for name, values in columns.items()}, **more})


def series(given: Table, time: str | None = "date") -> Series:
    return Series.from_table(given, ["position", "velocity"], ["seen"], time)


def test_the_order_of_rows_does_not_matter() -> None:
    rows = np.arange(60)
    straight = series(table(DAYS, rows))
    for order, words in ((rows[::-1], "newest first"), (np.random.default_rng(0).permutation(rows), "not in order")):
        found = series(table(DAYS[order], rows[order]))
        assert np.array_equal(found.states, straight.states)
        assert np.array_equal(found.observations, straight.observations)
        assert words in found.notes[0]
    assert straight.notes == ()
    assert np.array_equal(series(table(DAYS[::-1], rows[::-1]), None).states, straight.states[::-1])


@pytest.mark.parametrize(
    "times",
    [
        DAYS,
        np.arange("2001-01", "2006-01", dtype="datetime64[M]").astype("datetime64[s]"),
        np.arange("2001-01", "2006-01", dtype="datetime64[M]").astype("datetime64[s]") + np.timedelta64(14, "D"),
        np.arange("1941", "2001", dtype="datetime64[Y]").astype("datetime64[s]"),
        np.datetime64("2003-01-01", "s") + 600 * np.arange(60) + np.arange(60) % 3,  # a clock that trembles
        0.1 * np.arange(60),
        5.0 + np.arange(60),
    ],
)
def test_steps_are_seconds_months_years_or_numbers(times) -> None:
    keep = np.setdiff1d(np.arange(60), [7, 20, 21, 22])
    found, notes = on_steps(np.arange(60.0)[keep, None], times[keep], "when")
    expected = np.arange(60.0)
    expected[[7, 20, 21, 22]] = np.nan
    assert np.array_equal(found[:, 0], expected, equal_nan=True)
    assert len(notes) == 1 and notes[0].startswith("4 of 60 steps") and "longest gap is 3" in notes[0]


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (np.sort(np.random.default_rng(0).uniform(0, 100, 60)), "uneven"),
        (np.where(np.arange(60) == 9, np.datetime64("NaT"), DAYS), "no time in row 10"),
        (np.where(np.arange(60) == 9, DAYS[3], DAYS), r"2003-02-02 00:00:00 in rows 4 and 10"),
        (np.where(np.arange(60) < 59, DAYS, np.datetime64("2103-01-01", "s")), "without long gaps"),
        (np.array(["a"] * 60), "neither dates nor numbers"),
    ],
)
def test_times_that_make_no_steps_are_a_sentence(times, words) -> None:
    with pytest.raises(InputError, match=words):
        on_steps(np.zeros((60, 1)), times, "when")


def test_the_column_of_times_is_found() -> None:
    rows = np.arange(60)
    assert time_column(table(DAYS, rows), []) == "date"
    counted = Table({"Schritt": 1.0 + rows, "flow": rows % 7.0, "t": np.array(["x"] * 60)})
    assert time_column(counted, []) == "Schritt" and time_column(counted, ["Schritt"]) is None
    assert time_column(Table({"temperature": 1.0 + rows, "Time [s]": 2.0 * rows}), []) == "Time [s]"


def gappy(train: int = 200) -> tuple[Series, np.ndarray]:
    """The oscillator over 400 days: a tenth of the days without a row, a tenth without an observation."""
    rng = np.random.default_rng(1)
    days = np.datetime64("2003-01-01", "s") + np.arange(400) * np.timedelta64(1, "D")
    keep = np.flatnonzero(rng.random(400) > 0.1)
    keep = np.union1d(keep, [0, 399])
    given = table(days[keep], keep)
    seen = given.columns["seen"].copy()
    seen[rng.random(len(seen)) < 0.1] = np.nan
    return series(Table({**given.columns, "seen": seen})), keep


def test_what_is_missing_is_predicted_through_as_by_hand() -> None:
    """Steps of the filter written out: start, step, and skip where there is no observation."""
    found, _ = gappy()
    problem, _ = series_problem(found, 200)
    made = build_filter(*(torch.from_numpy(v) for v in (problem.states, problem.observations)), 0.7, 1e-4, 0.0)
    states = made.run(torch.from_numpy(problem.observed[None]))
    state = None
    for seen, each in zip(torch.from_numpy(problem.observed), states, strict=True):
        missing = bool(torch.isnan(seen).any())
        if state is None:
            assert not missing
            state = made.start(seen[None])
        else:
            state = made.skip(state) if missing else made.step(state, seen[None])
        torch.testing.assert_close(each.weights, state.weights)
    answer = follow(problem, FIXED)
    assert all(np.isfinite(means).all() for means in answer.means.values())
    assert 0 < answer.errors["kbr"] < 1 and np.isnan(problem.truth).any()


def test_steps_with_gaps_teach_nothing() -> None:
    """Weights of the prediction from Gram matrices of the whole steps alone, by plain inverses."""
    found, _ = gappy()
    problem, _ = series_problem(found, 200)
    x, y = problem.states, problem.observations
    whole = np.isfinite(np.hstack([x[:-1], x[1:], y])).all(1)
    made = build_filter(torch.from_numpy(x), torch.from_numpy(y), 0.7, 1e-4, 0.0)
    assert made.length == whole.sum() < 200
    now, after = torch.from_numpy(x[:-1][whole]), torch.from_numpy(x[1:][whole])
    torch.testing.assert_close(made.now, now)
    torch.testing.assert_close(made.after, after)
    with torch.no_grad():
        gram, onward = made.kernel(now).to_dense(), made.kernel(now, after).to_dense()
    inverse = torch.linalg.inv(gram + len(now) * 1e-4 * torch.eye(len(now), dtype=torch.float64))
    weights = torch.full((1, len(now)), 1 / len(now), dtype=torch.float64)
    expected = (inverse @ onward @ inverse @ gram @ weights[0])[None]
    torch.testing.assert_close(made.prior_weights(weights), expected, rtol=1e-5, atol=1e-8)


def test_the_controls_know_gaps_too() -> None:
    found, _ = gappy()
    problem, _ = series_problem(found, 200)
    x, y = problem.states, problem.observations
    whole = np.isfinite(np.hstack([x[:-1], x[1:], y])).all(1)
    linear = fit_linear_gaussian(x, y)
    inputs = np.column_stack([x[:-1][whole], np.ones(whole.sum())])
    expected = np.linalg.lstsq(inputs, x[1:][whole], rcond=None)[0]
    np.testing.assert_allclose(linear.transition, expected[:-1].T, rtol=1e-9)
    seen = problem.observed[:6].copy()
    seen[3] = np.nan
    means = linear.follow(seen)
    np.testing.assert_allclose(means[3], linear.transition @ means[2] + linear.offset, rtol=1e-9)
    near = nearest_observation(x[:-1], y, seen).means
    known = np.isfinite(x[:-1]).all(1) & np.isfinite(y).all(1)
    np.testing.assert_allclose(near[3], x[:-1][known].mean(0))


def test_a_series_without_gaps_is_what_it_was() -> None:
    plain, _ = series_problem(Series.from_table(oscillator_table(400), ["position", "velocity"], ["seen"]), 200)
    dated, _ = series_problem(series(table(DAYS[0] + np.arange(400) * np.timedelta64(1, "D"), np.arange(400))), 200)
    one, two = follow(plain, FIXED), follow(dated, FIXED)
    assert one.errors == two.errors
