"""What draws a figure: a map goes to the canvas, everything else to plotly."""

import json

from streamlit.testing.v1 import AppTest

from pages.kit.chart.prepared import prepare
from tests.pages.reading import elements


def two() -> None:
    """A map and a curve."""
    import numpy as np

    from deconditioning.fields.grids.grid import make_grid
    from deconditioning.figures.map_panel import MapScale, Panel
    from deconditioning.figures.maps import field_map
    from pages.kit.chart.plotly_live import plotly_live

    grid = make_grid("latlon", np.arange(3.0), np.arange(4.0))
    panel = Panel("mean", "Mean", grid.latitude, grid, MapScale("t", "K", "sequential", 0, 2))
    plotly_live(field_map(panel), "map")
    line = {"type": "scatter", "x": [0, 1], "y": [0, 1]}
    plotly_live({"data": [line], "layout": {"height": 200, "meta": {"role": "chart"}}}, "curve")


def engines(app: AppTest) -> dict[str, str]:
    """What draws each chart, as the browser is told, by key."""
    sent = [json.loads(proto.json) for proto in elements(app.main) if getattr(proto, "json", None)]
    return {data["key"]: data["engine"] for data in sent if "engine" in data}


def test_a_map_goes_to_the_canvas_and_a_curve_to_plotly() -> None:
    app = AppTest.from_function(two, default_timeout=60).run()
    assert not app.exception
    assert engines(app) == {"map": "canvas", "curve": "plotly"}


def test_the_browser_is_told_the_names_in_the_legend_before_it_draws() -> None:
    traces = [{"name": "a"}, {"name": "b<br>c"}, {"name": "hidden", "showlegend": False}, {}]
    layout = {"height": 200, "showlegend": True, "legend": {"y": 1}, "meta": {"legend": "beside"}}
    box = prepare({"data": traces, "layout": layout}).box
    assert box["meta"] == {"aspect": None, "legend": "beside", "names": ["a", "b<br>c"]}
    assert box["showlegend"] and box["legend"] == {"y": 1}
    assert prepare({"data": traces, "layout": layout | {"showlegend": False}}).box["meta"]["names"] == []
