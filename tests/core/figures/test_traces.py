"""An objective's axis: one bad trial step does not flatten the rest."""

import numpy as np
import pytest

from deconditioning.figures.trace_lines import BEST, fit_names, hyperparameters_of_fits, trace_series
from deconditioning.figures.traces import hyperparameter_trace, objective_trace


def ascent(count: int, seed: int = 0) -> np.ndarray:
    """Values that climb from about −300 to about −150 with noise."""
    rng = np.random.default_rng(seed)
    return -150 - 150 * np.exp(-np.arange(count) / (count / 5)) + rng.normal(0, 2, count)


def axis_of(values: np.ndarray, name: str = "log evidence", best: bool = True) -> tuple[dict, str]:
    """The vertical axis of a trace of these values, and what is said of the picture."""
    better = np.minimum if "loss" in name else np.maximum
    lines = {name: values.tolist()} | ({BEST: better.accumulate(values).tolist()} if best else {})
    figure = objective_trace("evidence", range(1, len(values) + 1), lines)
    return figure["layout"]["yaxis"], figure["layout"]["meta"]["alt"]


@pytest.mark.parametrize("count", [8, 12, 40, 400])
@pytest.mark.parametrize("best", [True, False])
@pytest.mark.parametrize("at", [0, 3, -1])
def test_a_step_at_minus_three_million_does_not_flatten_the_trace(count: int, best: bool, at: int) -> None:
    values = ascent(count)
    values[at] = -3e6
    axis, alt = axis_of(values, best=best)
    low, high = axis["range"]
    inside = (values >= low) & (values <= high)
    assert values.max() <= high and high - low < 400 and inside.mean() >= 0.95 - 1 / count
    assert f"{(~inside).sum()} of {count} evaluations lie below this range" in alt and not inside[at]
    mirrored, told = axis_of(-values, "leave-one-bag-out loss", best)
    assert mirrored["range"] == pytest.approx([-high, -low]) and "lie above" in told


def test_an_objective_that_hardly_changes_has_no_ticks_of_late_digits() -> None:
    axis, _ = axis_of(375.27 + 1e-8 * np.arange(30))
    low, high = axis["range"]
    assert low < 375.27 < high and 0.3 < high - low < 0.5


@pytest.mark.parametrize("values", [ascent(60), np.array([-3e6, -150.0, -149.0]), np.full(30, 2.0), np.array([])])
def test_a_trace_that_nothing_flattens_is_shown_whole(values: np.ndarray) -> None:
    axis, alt = axis_of(values)
    assert "range" not in axis and "range" not in alt


def test_values_that_are_missing_leave_the_axis_alone() -> None:
    figure = objective_trace("evidence", range(6), {"log evidence": [None, -3e6, -5.0, float("nan"), -4.0, -3.0]})
    low, high = figure["layout"]["yaxis"]["range"]
    assert -6 < low < -5 and -3 < high < -2


def test_a_term_numbered_anew_in_the_next_fit_stays_one_curve() -> None:
    first = {"k1 variance": 1.0, "k1 lengthscale [a]": 2.0, "k2 variance": 3.0, "k2 lengthscale [b]": 4.0,
             "k3 slope variance [b]": 5.0}  # fmt: skip
    second = {"k1 variance": 6.0, "k1 lengthscale [a]": 7.0, "k2 slope variance [b]": 8.0}
    rows = [{"step": step, "hyperparameters": each} for each in (first, second) for step in (1, 2)]
    _, (steps, values) = trace_series(rows)
    lines, (one, two) = hyperparameters_of_fits(values)
    assert lines["slope variance of k: b"] == [5.0, 5.0, None, 8.0, 8.0]
    assert lines["variance of k: b"] == [3.0, 3.0, None, None, None]
    assert [name for name in one if name not in two] == ["variance of k: b", "lengthscale of k: b"]
    assert not [name for name in two if name not in one] and len(lines) == 5
    figure = hyperparameter_trace(steps, values)
    assert [each["text"] for each in figure["layout"]["annotations"]] == ["Fit 1", "Fit 2"]
    assert [each["x"] for each in figure["layout"]["annotations"]] == [1.0, 2.5]
    named = hyperparameter_trace(steps, values, fits=["Bag GP", "CMP"])["layout"]["annotations"]
    assert [each["text"] for each in named] == ["Bag GP", "CMP"]


@pytest.mark.parametrize(
    ("fits", "names"),
    [
        ([("bag_gp", 0), ("cmp", 0)], ["Bag GP", "CMP"]),
        ([("bag_gp", 0), ("bag_gp", 1), ("cmp", 0)], ["Bag GP, start 1", "Bag GP, start 2", "CMP"]),
        ([("cmp", 0), ("cmp", 1)], ["Start 1", "Start 2"]),
        ([(None, 0), (None, 1)], ["Fit 1", "Fit 2"]),
    ],
)
def test_fits_are_called_by_model_and_by_start_where_a_model_has_several(
    fits: list[tuple[str | None, int]], names: list[str]
) -> None:
    rows = [{"time": 0.0, "message": "data"}]
    for model, restart in fits:
        rows += [{"step": step, "value": 1.0, "restart": restart, "model": model} for step in (1, 2, 3)]
    assert fit_names(rows) == names
    _, curves = trace_series([{**row, "hyperparameters": {"σ²": 1.0}} for row in rows])[0][""]
    assert sum(value is None for value in curves["value"]) == len(names) - 1


def test_decades_are_plain_numbers() -> None:
    axis = hyperparameter_trace([1, 2], {"noise": [1e-7, 2e-3]})["layout"]["yaxis"]
    assert axis["ticktext"] == ["10⁻⁷", "10⁻⁶", "10⁻⁵", "0.0001", "0.001", "0.01"]
    assert axis["tickvals"] == pytest.approx([1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
