"""The maps of a downscaling mean the same on screen and in print: limits, ticks, labels, arrows, fonts."""

import re
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
import xarray as xr
from cartopy.mpl.gridliner import Gridliner
from PIL import Image
from pyproj import CRS

from deconditioning.datasets.entries import find
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.errors import InputError
from deconditioning.fields.problem.baselines import bilinear
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.figures.downscaled_maps import (
    LargestValues,
    all_panels,
    field_scale,
    heading,
    keys_of,
    largest_values,
    steady_limit,
)
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map
from deconditioning.figures.printed.publication import projections_for, publication_figure
from tests.core.fields.samples import fields, region, rotated_dataset

SPEC = DownscalingSpec("t", ("orog",), block=(6, 6), withhold=0.25)


def projected() -> xr.Dataset:
    """A field on the British grid, its coordinates in kilometres."""
    x, y, rng = 100 + 10 * np.arange(24), 300 + 10 * np.arange(18), np.random.default_rng(0)
    height = 300 * rng.standard_normal((18, 24))
    data = xr.Dataset(
        {
            "t": (("y", "x"), 280 - 0.01 * height, {"units": "K", "grid_mapping": "crs"}),
            "orog": (("y", "x"), height, {"units": "m", "grid_mapping": "crs"}),
            "crs": ((), 0, CRS.from_epsg(27700).to_cf()),
        },
        {"y": y, "x": x},
    )
    for name in "yx":
        data[name].attrs.update(standard_name=f"projection_{name}_coordinate", units="km")
    return data


def problem_on(kind: str) -> DownscalingProblem:
    """A small problem on a grid of each kind."""
    if kind == "global":
        entry = find("atmosphere-small")
        return build_problem(Source(entry.key), DownscalingSpec.from_dict(entry.default))
    data = {"latlon": region, "rotated": rotated_dataset, "projected": projected}[kind]()
    name = "h" if kind == "rotated" else "orog"
    return make_problem(fields(data), replace(SPEC, covariates=(name,), block=(4, 4)))


@pytest.fixture(scope="module")
def problem() -> DownscalingProblem:
    """A region of 1° cells."""
    return problem_on("latlon")


def panels_of(problem: DownscalingProblem) -> list[Panel]:
    """The maps of bilinear interpolation, with an sd that varies."""
    mean = bilinear(problem)
    sd = 0.1 * np.abs(mean - np.nanmean(mean))
    own = largest_values(problem, mean, sd)
    return all_panels(problem, field_scale(problem), mean, sd, own.steady(own))


@pytest.fixture
def printed(monkeypatch):
    """Prints panels and returns Matplotlib's figure with the file's bytes."""
    from matplotlib.figure import Figure

    drawn, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (drawn.append(self), save(self, *a, **k))[1])

    def make(panels, grid, **options):
        return publication_figure(panels, grid, dpi=60, **options), drawn[-1]

    return make


def test_screen_and_print_agree_on_every_map(problem, printed):
    panels = panels_of(problem)
    assert [panel.key for panel in panels] == list(keys_of(problem))
    _, figure = printed(panels, problem.grid, projection="platecarree")
    maps = [axes for axes in figure.axes if hasattr(axes, "projection")]
    bars = [axes for axes in figure.axes if not hasattr(axes, "projection")]
    clipped = []
    for panel, axes, bar in zip(panels, maps, bars, strict=True):
        screen = field_map(panel)
        heat, layout = screen["data"][0], screen["layout"]
        assert axes.collections[0].get_clim() == (heat["zmin"], heat["zmax"])
        assert bar.get_xlabel() == layout["annotations"][0]["text"]
        assert [tick.get_text() for tick in bar.get_xticklabels()] == list(heat["colorbar"]["ticktext"])
        assert axes.get_title("left") == panel.title == layout["title"]["text"]
        extend = axes.collections[0].colorbar.extend
        assert len(layout["shapes"]) == {"neither": 0, "min": 1, "max": 1, "both": 2}[extend]
        clipped.append(extend)
    assert clipped == ["neither", "neither", "both", "max", "both"]


def test_labels_name_the_quantity_and_its_units(problem):
    labels = {panel.key: panel.scale.label for panel in panels_of(problem)}
    assert labels["spread"] == "2 sd of temperature, K" and labels["error"] == "prediction − truth, K"
    assert labels["observed"] == labels["mean"] == labels["truth"] == "temperature, K"


def test_an_end_with_values_beyond_it_says_so():
    scale = MapScale("error", "K", "diverging", -0.73, 0.73)
    inside, above = np.array([-0.7, np.nan]), np.array([0.0, 0.8])
    assert scale.extend(inside) == "neither" and scale.extend(above) == "max" and scale.extend(-above) == "min"
    assert [words for _, words in scale.ticks("both")] == ["≤ −0.73", "−0.5", "0", "0.5", "≥ 0.73"]
    assert [words for _, words in scale.ticks()] == ["−0.73", "−0.5", "0", "0.5", "0.73"]
    assert [words for _, words in MapScale("", "K", "sequential", 0.0, 2e-6).ticks()][-1] == "2 × 10⁻⁶"


def test_limits_stay_while_a_slider_moves_and_leave_no_map_blank():
    assert [steady_limit(own, 0.5) for own in (0.17, 0.26, 0.5, 0.99, 2.9)] == [0.5] * 5
    for own in np.geomspace(1e-4, 1e4, 60):
        near = 0.16 < own < 3.1
        assert (0.33 if near else 0.45) <= own / steady_limit(float(own), 0.5) <= (6.1 if near else 2.2)
    assert steady_limit(0.0, 0.5) == 0.5 and steady_limit(0.3, 0.0) == 0.3 and steady_limit(0.0, 0.0) == 1.0


def test_limits_of_an_error_are_its_own_quantiles_not_its_extremes(problem):
    error = np.random.default_rng(0).standard_normal(problem.grid.shape)
    error[0, 0] = 500.0
    own = largest_values(problem, problem.truth + error, np.ones(problem.grid.shape))
    assert own.error == pytest.approx(2.33, rel=0.1) and own.spread == 2.0
    assert own.steady(LargestValues(2.0, 3.0)) == LargestValues(2.0, 3.0)


def test_a_preview_is_judged_where_it_was_computed(problem):
    mean, sd = problem.truth + 9.0, np.full(problem.grid.shape, 7.0)
    mean[::3, ::3], sd[::2, ::2] = problem.truth[::3, ::3] + 1.0, 0.5
    assert largest_values(problem, mean, sd, every=3, sd_every=2) == pytest.approx(LargestValues(1.0, 1.0))


@pytest.mark.parametrize(
    ("kind", "projections"),
    [
        ("latlon", None),
        ("rotated", ("native", "platecarree", "lambert")),
        ("projected", ("auto", "robinson", "orthographic")),
        ("global", None),
    ],
)
def test_every_projection_prints_with_a_named_graticule(printed, kind, projections):
    """All of them on grids of latitudes and longitudes; each once on grids with a projection of their own."""
    problem = problem_on(kind)
    panels = panels_of(problem)[:1]
    assert set(projections or ()) <= set(projections_for(problem.grid))
    for projection in projections or projections_for(problem.grid):
        picture, figure = printed(panels, problem.grid, projection=projection)
        image = np.asarray(Image.open(BytesIO(picture)).convert("RGB"))
        assert len(np.unique(image.reshape(-1, 3), axis=0)) > 100
        (lines,) = figure.findobj(Gridliner)
        labels = [label.get_text() for label in lines.label_artists if label.get_visible()]
        assert projection == "orthographic" or any(re.fullmatch(r"\d+(\.\d+)?° [NS]|0°", text) for text in labels)
        assert all(re.fullmatch(r"\d+(\.\d+)?°( [NSEW])?", text) for text in labels)


def test_a_pdf_embeds_truetype_and_a_dollar_is_a_dollar(problem, printed):
    panels = [replace(panels_of(problem)[0], title="costs $1 and $x$ {")]
    pdf, _ = printed(panels, problem.grid, projection="platecarree", format="pdf", heading="t_{$", caption="a $ b")
    assert pdf.startswith(b"%PDF") and (b"/TrueType" in pdf or b"/CIDFontType2" in pdf) and b"/Type3" not in pdf


def test_the_last_place_says_what_the_intervals_held(problem, printed):
    from deconditioning.metrics.intervals import Trust

    panels = panels_of(problem)
    _, figure = printed(
        panels, problem.grid, projection="platecarree", trust=Trust((0.32, 0.67, 0.75), "too narrow", 2.1)
    )
    words = " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
    assert "75 % of the 95 % intervals contain the truth: too narrow." in words and "32 %" in words


def test_a_plain_map_of_a_region_is_as_wide_as_the_region(problem, printed):
    _, figure = printed(panels_of(problem)[:1], problem.grid, projection="platecarree")
    middle = np.deg2rad((problem.grid.latitude.min() + problem.grid.latitude.max()) / 2)
    assert figure.axes[0].get_aspect() == pytest.approx(1 / np.cos(middle))


def test_the_heading_names_date_and_level():
    spec = DownscalingSpec.from_dict(find("ukv-645m").default)
    problem = build_problem(Source("ukv-645m"), spec)
    assert heading(problem) == "Potential temperature, 19 November 2009, 12:00 UTC, level height 645 m"
    assert problem.hidden == 0


def test_the_cone_is_not_offered_to_a_globe():
    globe = problem_on("global")
    assert "lambert" not in projections_for(globe.grid) and "lambert" in projections_for(problem_on("latlon").grid)
    with pytest.raises(InputError, match="'lambert' cannot show"):
        publication_figure(panels_of(globe), globe.grid, projection="lambert")


def test_wrong_panels_are_refused(problem):
    with pytest.raises(InputError, match="no panel"):
        publication_figure([], problem.grid)
    panel = replace(panels_of(problem)[0], values=np.zeros((2, 2)))
    for draw in (lambda: publication_figure([panel], problem.grid), lambda: field_map(panel)):
        with pytest.raises(InputError, match=re.escape("(2, 2)")):
            draw()
