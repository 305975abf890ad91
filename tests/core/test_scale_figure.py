"""The picture of cost against size reads what the benchmark of scale writes."""

import base64

import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.figures.studies.cost import cost_against_size, slope
from tests.benchmarks.bench_scale import PARTS, rows_of
from tests.benchmarks.table import Row


def measured(pixels, bags=500, targets=5000):
    """Rows as the benchmark makes them: every part linear in the pixels, memory like their square root."""
    found = {
        "seconds": {part: pixels * (index + 1) * 1e-5 for index, part in enumerate(PARTS)},
        "peak_mb": pixels**0.5, "rmse": 0.1, "sd": 1.0, "bound": 3.0, "error": 0.1,
    }  # fmt: skip
    return [vars(row) for row in rows_of((pixels, bags, targets), found)]


def decoded(value):
    return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])


@pytest.mark.parametrize("dark", [False, True])
def test_every_part_is_a_line_that_names_its_slope_and_a_size_alone_is_a_mark(dark):
    rows = measured(1000) + measured(100_000) + measured(10_000) + measured(100_000, 5000, 10_000)
    figure = cost_against_size(rows, dark=dark)
    named = {trace["name"]: trace for trace in figure["data"] if trace["showlegend"]}
    alone = "5,000 bags, 10,000 targets"
    assert set(named) == {f"{part}, slope 1.00" for part in PARTS} | {"peak memory, slope 0.50", alone}
    assert named[alone]["marker"]["symbol"] == "diamond-open"
    line = named["prediction, slope 1.00"]
    assert decoded(line["x"]).tolist() == [1000, 10_000, 100_000]
    assert decoded(line["y"]) == pytest.approx([0.04, 0.4, 4.0])
    marks = [trace for trace in figure["data"] if trace["mode"] == "markers" and trace is not named[alone]]
    assert len(marks) == len(PARTS) + 1 and "5,000 bags, 10,000 targets" in marks[0]["hovertemplate"]
    assert named["peak memory, slope 0.50"]["yaxis"] == "y2" and "slope 1.00" in figure["layout"]["meta"]["alt"]
    import plotly.graph_objects as go

    go.Figure(figure)


def test_rows_without_sizes_are_refused_and_without_memory_are_drawn():
    with pytest.raises(InputError, match="contain no sizes"):
        cost_against_size([vars(Row("x", "y", 1.0))])
    rows = [{**row, "peak_mb": None} for row in measured(1000) + measured(2000)]
    assert "yaxis2" not in cost_against_size(rows)["layout"]


def test_slope_is_the_power():
    at = np.array([1.0, 10.0, 1000.0])
    assert slope(at, 3 * at**1.7) == pytest.approx(1.7)
