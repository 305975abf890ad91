"""Every mark of every picture is seen on its ground, light and dark; lines over maps on any colour of a map."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import deconditioning.figures
from deconditioning.fields.grids.grid import make_grid
from deconditioning.figures import maps, scores, small_multiples, sweep, traces
from deconditioning.figures.colours import GROUND, SCALES, colour_scale, hue
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.studies import (
    against_size,
    by_coordinate,
    camera,
    cost,
    distribution_regression,
    embeddings,
    filtering,
    likelihood_free,
    one_dimension,
    period,
    posteriors,
    real_fields,
    speed_ratios,
    story,
    swiss_roll,
    verification,
)
from deconditioning.figures.style import MISSING, Figure
from tests.core.figures.test_palette import THEMES, contrast

N = np.linspace(0.5, 2, 7)
M = np.outer(N, N)
PLANE = np.column_stack([N, N])
LINES = {"truth": N, "impute": N + 1, "cascade": N - 1}
RUNS = {"gpdr": {10.0: [1, 2], 20.0: [0.5, 0.7]}, "kde": {10.0: [2.0], 20.0: [1.0]}}
CURVES = {"gpdr": (N, N, 0.1 * N), "landmark10": (N, 2 * N, 0.1 * N)}
ROWS = [("a", "small", 2.0), ("a", "large", 9.0), ("b", "small", 0.5)]
COSTS = [("one", 10.0, 1.0, False), ("one", 20.0, 2.0, True), ("two", 10.0, 1.0, False), ("three", 10.0, 1.0, False)]
SIZES = [
    {"ours": n / 10, "peak_mb": n, "more": {"part": part, "pixels": n, "bags": 5, "targets": 5}}
    for part in ("fit", "predict")
    for n in (10, 20)
]
DOTS = [{"model": "cmp", "mean": 1.0, "sd": 0.1, "paper": (1.1, 0.1)}, {"model": "vbagg", "mean": 2.0, "sd": None}]
WAYS = {"kbr_gauss": N, "kalman_matrix": N}
SWEPT = [{"values": {"a": a, "b": b}, "rmse": a + b} for a in (1.0, 2.0) for b in (1.0, 2.0)]
FLAT = np.ones((2, 2, 3))
TABLE = np.array([[0.8, 0.1, 0.2], [0.2, 0.9, 0.8]])
GRID = make_grid("latlon", np.linspace(50, 59, 7), np.linspace(-9, 3, 7))
FIGURES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "against_size.scores_against": lambda dark: against_size.scores_against(
        RUNS, title="t", labels=("x", "y"), guides={"slope": (N, N)}, now=12, dark=dark
    ),
    "camera.angles_plot": lambda dark: camera.angles_plot(WAYS, 2, dark=dark),
    "camera.attitude_plot": lambda dark: camera.attitude_plot(
        FLAT, (N, N), {"truth": (N, N), "kbr_tr": (N, N)}, dark=dark
    ),
    "camera.frames_plot": lambda dark: camera.frames_plot({"a": FLAT, "b": FLAT / 2}, dark=dark),
    "camera.noises_plot": lambda dark: camera.noises_plot(
        {"kbr_tr": (1.0, 0.1)}, {"kbr_tr": (2.0, 0.1)}, title="t", dark=dark
    ),
    "by_coordinate.coordinates_plot": lambda dark: by_coordinate.coordinates_plot(
        N, N, {"kbr": N, "cme": N}, title="t", dark=dark
    ),
    "distribution_regression.clusters_plot": lambda dark: distribution_regression.clusters_plot(
        [(N, N, N)] * 6, [N] * 6, dark=dark
    ),
    "distribution_regression.link_plot": lambda dark: distribution_regression.link_plot(
        N, N, N, N, N, labels=("x", "y"), dark=dark
    ),
    "distribution_regression.predicted_plot": lambda dark: distribution_regression.predicted_plot(
        N, N, title="t", labels=("x", "y"), dark=dark
    ),
    "distribution_regression.ridge_plot": lambda dark: distribution_regression.ridge_plot(
        N, M, [str(i) for i in range(7)], N, title="t", labels=("x", "y"), dark=dark
    ),
    "distribution_regression.risk_plot": lambda dark: distribution_regression.risk_plot(
        CURVES, title="t", label="n", lines={"theory": (N, N)}, now={"gpdr": (N, N)}, dark=dark
    ),
    "embeddings.bag_regression_plot": lambda dark: embeddings.bag_regression_plot(
        N, np.arange(7), N, N, {"standard": N, "shrinkage": N, "truth": N}, dark=dark
    ),
    "embeddings.cost_plot": lambda dark: embeddings.cost_plot(COSTS, COSTS[:1], dark=dark),
    "embeddings.embedding_map": lambda dark: embeddings.embedding_map(
        M, N, N, title="t", colours="diverging", cut=1.0, dark=dark
    ),
    "embeddings.exponent_plot": lambda dark: embeddings.exponent_plot(N, {"b": N}, {"b": (1.0, 1.0)}, 1.0, dark=dark),
    "embeddings.grid_plot": lambda dark: embeddings.grid_plot(N, {"a": N, "b": N}, title="t", label="l", dark=dark),
    "embeddings.rate_plot": lambda dark: embeddings.rate_plot(N, M, {"a": N, "b": N}, title="t", label="l", dark=dark),
    "embeddings.slice_plot": lambda dark: embeddings.slice_plot(N, {"standard": N, "truth": N}, 0.5, dark=dark),
    "filtering.column_plot": lambda dark: filtering.column_plot(N, {"kbr": N, "ekf": N}, 2, name="u", dark=dark),
    "filtering.errors_plot": lambda dark: filtering.errors_plot(PLANE, {"kbr": PLANE, "ukf": PLANE}, 2, dark=dark),
    "filtering.plane_plot": lambda dark: filtering.plane_plot(
        PLANE, PLANE, {"kbr": PLANE}, 2, sample=(PLANE, N - 1.2), dark=dark
    ),
    "likelihood_free.corner_plot": lambda dark: likelihood_free.corner_plot(
        PLANE, ["a", "b"], limits=np.array([[0, 1], [0, 1]]), exact=(N[:2], np.eye(2)), truth=N[:2], dark=dark
    ),
    "likelihood_free.errors_plot": lambda dark: likelihood_free.errors_plot(
        {"dme": {10: 1.0, 20: 0.5}}, title="t", label="l", now=15, dark=dark
    ),
    "likelihood_free.marginal_plot": lambda dark: likelihood_free.marginal_plot(
        N,
        {"exact": (0.5, 1, 2), "dme": (0.5, 1, 2)},
        variable="θ",
        limits=(0, 2),
        prior=(N, N),
        exact=(N, N),
        truth=1.0,
        dark=dark,
    ),
    "likelihood_free.q_surface_plot": lambda dark: likelihood_free.q_surface_plot(
        N, N, M, other="ε", box=((0.6, 1), (0.6, 1)), now=(0.8, 0.8), inside=1.0, dark=dark
    ),
    "likelihood_free.ranks_plot": lambda dark: likelihood_free.ranks_plot(
        N, (0.5, 1), method="abc", parameter="θ", dark=dark
    ),
    "one_dimension.curves_plot": lambda dark: one_dimension.curves_plot(
        N, {"a": N, "b": N}, title="t", labels=("x", "y"), now=1.0, dark=dark
    ),
    "posteriors.embeddings_plot": lambda dark: posteriors.embeddings_plot(
        N, {"this rule": N, "exact": N}, title="t", dark=dark
    ),
    "one_dimension.error_band_plot": lambda dark: one_dimension.error_band_plot(N, N, N, model="dme", dark=dark),
    "one_dimension.function_plot": lambda dark: one_dimension.function_plot(
        N, N, N, LINES, title="t", model="task_transformed_gp", marks=N, points=(N, N), dark=dark
    ),
    "one_dimension.pairs_plot": lambda dark: one_dimension.pairs_plot(
        N, N, title="t", labels=("x", "y"), curve=N, curve_at=N, curve_sd=N, rule=1.0, dark=dark
    ),
    "posteriors.posterior_plot": lambda dark: posteriors.posterior_plot(N, N, N, N, dark=dark),
    "one_dimension.shares_plot": lambda dark: one_dimension.shares_plot(
        N, {"kbr": N, "dme": N}, names={}, title="t", labels=("x", "y"), dark=dark
    ),
    "posteriors.signed_weights_plot": lambda dark: posteriors.signed_weights_plot(N, N - 1, dark=dark),
    "one_dimension.surface_plot": lambda dark: one_dimension.surface_plot(
        N, N, M, names=("a", "b"), now=(1, 1), best=(1, 1), path=PLANE, dark=dark
    ),
    "one_dimension.weights_plot": lambda dark: one_dimension.weights_plot(M, N, N, dark=dark),
    "maps.field_map": lambda dark: maps.field_map(
        Panel("k", "t", M, GRID, MapScale("T", "K", "sequential", 0, 4)), dark=dark
    ),
    "real_fields.accuracy": lambda dark: real_fields.accuracy(
        [real_fields.Measured("UKV", model, 0.5, 0.93) for model in ("area_to_point_gp", "bag_gp", "bicubic")],
        "area_to_point_gp",
        dark=dark,
    ),
    "real_fields.coverage": lambda dark: real_fields.coverage(
        [real_fields.Measured("UKV", model, 0.5, 0.93) for model in ("area_to_point_gp", "bag_gp", "bicubic")],
        "area_to_point_gp",
        dark=dark,
    ),
    "speed_ratios.ratio_dots": lambda dark: speed_ratios.ratio_dots(ROWS, dark=dark),
    "period.hovmoeller": lambda dark: period.hovmoeller(
        {"a": FLAT[0]},
        np.arange(3.0),
        np.arange(2.0),
        MapScale("value", "K", "sequential", 0, 1),
        labels=("x", "y"),
        dark=dark,
    ),
    "verification.quantile_plot": lambda dark: verification.quantile_plot(
        {"delta": TABLE}, units="K", names={}, dark=dark
    ),
    "verification.reliability_plot": lambda dark: verification.reliability_plot(
        {"delta": TABLE}, 0.2, names={}, dark=dark
    ),
    "verification.scores_in_time": lambda dark: verification.scores_in_time(
        N, {"delta": N}, title="t", labels=("x", "y"), names={}, dark=dark
    ),
    "verification.skill_plot": lambda dark: verification.skill_plot({"RMSE": {"bilinear": (0.5, 0.4, 0.6)}}, dark=dark),
    "verification.spread_skill_plot": lambda dark: verification.spread_skill_plot(
        {"delta": TABLE}, units="K", names={}, dark=dark
    ),
    "swiss_roll.model_dots": lambda dark: swiss_roll.model_dots(DOTS, title="t", score="RMSE", dark=dark),
    "swiss_roll.roll_from_the_side": lambda dark: swiss_roll.roll_from_the_side(
        np.column_stack([N, N, N]), np.arange(7), N, N, ([0, 1], [2, 3]), (0, 2), dark=dark
    ),
    "swiss_roll.roll_in_space": lambda dark: swiss_roll.roll_in_space(
        np.column_stack([N, N, N]), N, title="t", label="l", colours="diverging", limits=(-2, 2), dark=dark
    ),
    "cost.cost_against_size": lambda dark: cost.cost_against_size(SIZES, dark=dark),
    "scores.calibration_plot": lambda dark: scores.calibration_plot([0.5, 0.9], {"cmp": [0.4, 0.8]}, dark=dark),
    "scores.error_histogram": lambda dark: scores.error_histogram({"cmp": N, "bilinear": N}, dark=dark),
    "scores.predicted_against_observed": lambda dark: scores.predicted_against_observed(
        np.arange(3.0), np.arange(3.0) + 0.1, np.ones(3), model="cmp", dark=dark
    ),
    "scores.pit_histogram": lambda dark: scores.pit_histogram([1, 2, 3], model="cmp", dark=dark),
    "scores.power_spectra": lambda dark: scores.power_spectra(
        [0.01, 0.1, 1.0], {name: [3.0, 2.0, 1.0] for name in ("mean", "draws", "bilinear", "truth")}, dark=dark
    ),
    "small_multiples.small_multiples": lambda dark: small_multiples.small_multiples([M, M], ["a", "b"], 2, dark=dark),
    "small_multiples.small_curves": lambda dark: small_multiples.small_curves(
        [small_multiples.small_lines(N, {"mean": N, "truth": 2 * N}, 0.1 * N)] * 2, ["a", "b"], 2, dark=dark
    ),
    "story.picture": lambda dark: story.picture(
        [
            story.line(N, N, "a", hue("teal", dark)),
            story.dots(N, N, "b", hue("rust", dark), symbol="circle-open"),
            story.band(N, N - 1, N + 1, "c", hue("blue", dark)),
            *story.stems(N, N - 1, dark),
        ],
        ("x", "y"),
        "alt",
        dark=dark,
        rules=[story.rule(1.0, hue("violet", dark))],
    ),
    "story.intervals": lambda dark: story.intervals(
        {"a": (1.0, N[:2], hue("teal", dark))}, (1.0, N[:2]), "x", dark=dark
    ),
    "story.over_ground": lambda dark: story.over_ground(
        story.picture([story.ground(N, N, "a", dark)], ("x", "y"), "alt", dark=dark), 9.0, dark
    ),
    "story.two_pictures": lambda dark: story.two_pictures(
        [story.cells(N, N[:-1], "a", hue("rust", dark))],
        [story.line(N, N, "b", hue("teal", dark))],
        ("x", "x", "y"),
        "alt",
        dark=dark,
    ),
    "sweep.sweep_plot": lambda dark: sweep.sweep_plot(
        SWEPT,
        "rmse",
        "t",
        {"best": SWEPT[0]["values"], "chosen": None, "now": SWEPT[1]["values"]},
        log=(True, True),
        dark=dark,
    ),
    "traces.hyperparameter_trace": lambda dark: traces.hyperparameter_trace(
        [1, 2], {"a": [1, 2], "b": [2, 3]}, dark=dark
    ),
    "traces.objective_trace": lambda dark: traces.objective_trace("fit", [1, 2], {"a": [1.0, 2.0]}, dark=dark),
    "traces.trace_plot": lambda dark: traces.trace_plot(list(range(9)), {str(i): [i] * 9 for i in range(9)}, dark=dark),
}
#: Pictures whose marks stand on a map or an image: they have a light and a dark edge.
OVER_A_MAP = ("camera.attitude_plot", "embeddings.embedding_map", "likelihood_free.q_surface_plot", "maps.field_map",
              "one_dimension.surface_plot", "sweep.sweep_plot")  # fmt: skip


def builders() -> Iterator[str]:
    """Every public function of core/deconditioning/figures that draws a picture light or dark."""
    for found in pkgutil.walk_packages(deconditioning.figures.__path__, "deconditioning.figures."):
        for name, function in inspect.getmembers(importlib.import_module(found.name), inspect.isfunction):
            told = inspect.signature(function)
            own = function.__module__ == found.name and not name.startswith("_")
            if own and "dark" in told.parameters and told.return_annotation == Figure:
                yield f"{found.name.rpartition('.')[2]}.{name}"


def on(ground: str, colour: str, opacity: float = 1) -> str:
    """What a colour "#rrggbb" or "rgba(…)" looks like on a ground, as "#rrggbb"."""
    if colour.startswith("rgba"):
        red, green, blue, alpha = (float(part) for part in re.findall(r"[\d.]+", colour))
        opacity *= alpha
    else:
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    under = [int(ground[i : i + 2], 16) for i in (1, 3, 5)]
    mixed = (round(opacity * top + (1 - opacity) * low) for top, low in zip((red, green, blue), under, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def marks(trace: dict[str, Any], ground: str) -> Iterator[float]:
    """Contrast of each line, point, bar and word of a trace with the ground; of what is filled, of its face or edge."""
    opacity = trace.get("opacity", 1)
    marker = trace.get("marker", {})
    faces = marker.get("color")
    if isinstance(faces, dict):  # numbers on a colour scale
        faces = [colour for _, colour in marker["colorscale"]]
    edge = marker.get("line", {}).get("color")
    strongest = np.max(marker.get("opacity", 1))  # of a trail that fades, its newest mark
    for face in [faces or edge] if isinstance(faces or edge, str) else faces or []:
        shown = [on(ground, face, opacity * strongest)] + ([on(ground, edge, opacity)] if edge else [])
        yield max(contrast(colour, ground) for colour in shown)
    width, colour = trace.get("line", {}).get("width", 2), trace.get("line", {}).get("color")
    if "lines" in trace.get("mode", "") and width > 0:
        yield contrast(on(ground, colour, opacity), ground)
    if "text" in trace.get("mode", ""):
        yield contrast(trace["textfont"]["color"], ground)
    for bars in ("error_x", "error_y"):
        if "color" in trace.get(bars, {}):
            yield contrast(on(ground, trace[bars]["color"], opacity), ground)


def test_every_picture_is_looked_at() -> None:
    parts = {"awaited.awaited_plot", "filtering.over_steps", "one_dimension.frame", "one_dimension.line", "style.axis",
             "style.layout", "story.ground", "story.large_axis"}  # fmt: skip
    assert set(builders()) - parts == set(FIGURES)


@THEMES
@pytest.mark.parametrize("name", sorted(set(FIGURES) - set(OVER_A_MAP)))
def test_every_mark_is_seen(name: str, dark: bool) -> None:
    figure = FIGURES[name](dark)
    for trace in figure["data"]:
        if trace["type"] == "heatmap" or trace.get("marker", {}).get("opacity") == 0:
            continue
        seen = list(marks(trace, GROUND[dark]))
        assert seen or trace.get("fillcolor"), (trace.get("name"), "neither point, line, bar nor face")
        assert min(seen, default=21) >= 3, (trace.get("name"), seen)
    rules = [shape for shape in figure["layout"].get("shapes", ()) if shape.get("line", {}).get("width", 1)]
    assert all(contrast(on(GROUND[dark], rule["line"]["color"]), GROUND[dark]) >= 3 for rule in rules)


@THEMES
def test_lines_over_maps_are_seen_on_every_colour(dark: bool) -> None:
    coast = [t["line"] for t in FIGURES["maps.field_map"](dark)["data"] if t.get("name") == "coast"]
    frame = [t["line"] for t in FIGURES["likelihood_free.q_surface_plot"](dark)["data"][1:3]]
    for under, over in (coast, frame):
        assert under["width"] >= over["width"] + 1  # a rim on both sides
        for colour in [MISSING[dark], *(colour for kind in SCALES for _, colour in colour_scale(kind))]:
            halo = on(colour, under["color"])
            assert max(contrast(halo, colour), contrast(over["color"], colour)) >= 3, colour


@THEMES
def test_the_chosen_kernels_lie_on_the_frame_of_their_limits(dark: bool) -> None:
    *_, under, over, star = FIGURES["likelihood_free.q_surface_plot"](dark)["data"]
    assert star["marker"]["symbol"] == "star" and [each["mode"] for each in (under, over)] == ["lines", "lines"]
    assert (under["x"], under["y"]) == (over["x"], over["y"]) and under["line"]["width"] > over["line"]["width"]


@THEMES
@pytest.mark.parametrize("name", OVER_A_MAP)
def test_marks_on_a_map_have_a_light_and_a_dark_part(name: str, dark: bool) -> None:
    figure = FIGURES[name](dark)
    shown = [t for t in figure["data"] if t["type"] == "scatter" and not t.get("line", {}).get("dash") == "dot"]
    inks = [t.get("line", {}).get("color") or t["marker"]["color"] for t in shown]
    inks += [t["marker"]["line"]["color"] for t in shown if "marker" in t]
    inks += [shape["line"]["color"] for shape in figure["layout"].get("shapes", ())]
    light = [on("#ffffff", ink) for ink in inks]
    assert max(contrast(ink, "#000000") for ink in light) >= 10
    assert max(contrast(ink, "#ffffff") for ink in light) >= 10
