"""Slides of a downscaling: every number in them is computed anew; files are opened by the tools they are for."""

import io
import json
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
import torch

from deconditioning.downscaling.run import downscale
from deconditioning.fields.gridded import Variable
from deconditioning.figures.colours import colour_scale
from deconditioning.figures.downscaled_maps import MapKey, all_panels, field_scale, largest_values
from deconditioning.figures.map_panel import MapScale
from deconditioning.metrics.intervals import trust
from deconditioning.slides.deck import (
    Shown,
    covariate_panel,
    downscaling_deck,
    presented,
    score_rows,
    stride_for,
)
from deconditioning.slides.field import decoded
from deconditioning.slides.offline import offline_page
from deconditioning.slides.presented import Presented
from deconditioning.slides.printed import powerpoint
from deconditioning.slides.report import report
from tests.core.test_downscaled_maps import problem_on

pytestmark = pytest.mark.usefixtures("coarse_print")


@pytest.fixture(scope="module")
def shown() -> Shown:
    """A region of 24 × 36 pixels, a quarter of its cells hidden."""
    from tests.core.fields.samples import fields, region

    problem = problem_on("latlon")
    found = downscale(problem, {"learn": False})
    panels = all_panels(
        problem, field_scale(problem), found.mean, found.sd, largest_values(problem, found.mean, found.sd)
    )
    held = trust(problem.truth, found.predictive, weights=problem.grid.area)
    covariate = covariate_panel(problem, fields(region()).variables())
    return Shown(problem, found.spec.model, tuple(panels), found.scores, held, covariate=covariate)


@pytest.fixture(scope="module")
def told(shown: Shown) -> Presented:
    return presented(shown)


ADDRESS = "http://localhost:8501/downscale?l0=0.5&withhold=0.25"


def slide(deck: dict, key: str) -> dict:
    return next(one for one in deck["slides"] if one["key"] == key)


def test_every_number_said_is_that_of_the_maps(shown: Shown) -> None:
    deck, problem = downscaling_deck(shown), shown.problem
    mean, truth = shown.panel(MapKey.MEAN).values, problem.truth
    weights = np.where(np.isfinite(mean - truth), problem.grid.area, 0)
    rmse = np.sqrt(np.nansum(weights * (mean - truth) ** 2) / weights.sum())
    assert f"RMSE of the map is {rmse:.3g} K" in slide(deck, "truth")["sentence"]
    assert f"{int(problem.observed.sum())} coarse values" in slide(deck, "coarse")["title"]
    rows, columns = problem.spec.block
    assert f"over the {rows} × {columns} pixels of its cell" in slide(deck, "coarse")["sentence"]
    assert f"{problem.hidden} more were hidden" in slide(deck, "coarse")["sentence"]
    inside = np.abs(truth - mean) <= 1.959964 * shown.panel(MapKey.SPREAD).values / 2
    share = np.nansum(problem.grid.area * inside) / problem.grid.area.sum()
    assert f"contain {100 * share:.0f} % of the truth" in deck["trust"]["badge"]
    plain = shown.scores["bilinear"]["rmse_area"]
    assert slide(deck, "truth")["title"] == f"Error: {100 * rmse / plain:.0f} % of that of bilinear interpolation"
    sizes = np.sort(np.abs(mean - truth)[np.isfinite(mean - truth)])
    said = re.findall(r"below ([\d.e-]+) K", slide(deck, "error")["sentence"])
    assert [np.mean(sizes < float(each)) for each in said] == pytest.approx([0.5, 0.95], abs=0.01)
    assert slide(deck, "checks")["title"] == f"The intervals are {shown.held.words}"


def test_a_quarter_of_the_map_is_hatched(shown: Shown) -> None:
    deck = downscaling_deck(shown)
    hatch = slide(deck, "doubt")["hatch"]
    assert np.mean(decoded(deck["fields"][hatch["field"]]) > hatch["above"]) == pytest.approx(0.25, abs=0.01)


def test_the_covariate_is_that_of_the_file(shown: Shown) -> None:
    from tests.core.fields.samples import fields, region

    problem, panel = shown.problem, shown.covariate
    rows, columns = problem.grid.shape
    given = fields(region()).dataset["orog"].values[:rows, :columns]
    assert panel.scale.units == "m" and panel.scale.colours in ("terrain", "coast", "relief")
    assert np.nanmax(np.abs(panel.values - given)) < 1e-9 * np.abs(given).max()


def test_without_truth_no_slide_speaks_of_it(shown: Shown) -> None:
    panels = tuple(panel for panel in shown.panels if panel.key not in ("truth", "error"))
    blind = replace(shown, panels=panels, held=None, unchecked="Nothing could be checked.", scores={}, covariate=None)
    deck = downscaling_deck(blind)
    assert [one["key"] for one in deck["slides"]] == ["coarse", "fine", "doubt", "checks", "method", "credits"]
    assert deck["trust"] == {"mark": "bad", "badge": "Nothing could be checked."}
    assert slide(deck, "checks")["title"] == "Calibration"
    assert slide(deck, "checks")["levels"] == [] and len(slide(deck, "checks")["rows"]) == 1


def test_large_fields_are_thinned_until_they_have_room(shown: Shown) -> None:
    panels = list(shown.panels)
    pixels = sum(panel.values.size for panel in panels)
    assert stride_for(panels, room=8 * pixels) == 1
    assert stride_for(panels, room=2 * pixels // 3) == 2


def test_the_offline_page_fetches_nothing_and_survives_hostile_words(shown: Shown) -> None:
    hostile = replace(shown, problem=replace(shown.problem, source="</script><script>alert(1)</script>"))
    page = offline_page(presented(hostile), {"seed": 0, "note": "<b>"})
    assert not re.findall(r"""(?:src|href)\s*=|url\(|@import|https?://""", page)
    assert page.count("<script") == page.count("</script>") == 3 and "alert(1)</script>" not in page
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    deck = json.loads(data.group(1))
    assert [one["key"] for one in deck["slides"]] == [one["key"] for one in downscaling_deck(shown)["slides"]]
    assert all(row[0] in page for row in score_rows(shown)) and len(page) < 5e6


def test_powerpoint_has_text_tables_and_words_for_pictures(shown: Shown, told: Presented) -> None:
    from pptx import Presentation

    deck, file = downscaling_deck(shown), Presentation(io.BytesIO(powerpoint(told)))
    assert len(file.slides) == len(deck["slides"]) and file.slide_width / file.slide_height == pytest.approx(
        16 / 9, 1e-3
    )
    for page, wanted in zip(file.slides, deck["slides"], strict=True):
        words = [shape.text_frame.text for shape in page.shapes if shape.has_text_frame]
        assert wanted["title"] in words
        assert (deck["trust"]["badge"] in words) == (wanted["key"] not in ("data", "coarse", "method", "credits"))
        pictures = [shape for shape in page.shapes if shape.shape_type == 13]
        assert len(pictures) == (wanted["kind"] == "map")
        assert all(shape._element.nvPicPr.cNvPr.get("descr") == wanted["alt"] for shape in pictures)
    [table] = [shape.table for page in file.slides for shape in page.shapes if shape.has_table]
    assert [[cell.text for cell in row.cells] for row in table.rows] == score_rows(shown)


def test_every_form_leads_to_the_settings_shown(shown: Shown) -> None:
    from pptx import Presentation

    linked = replace(shown, address=ADDRESS)
    assert ["Address", ADDRESS] in slide(downscaling_deck(linked), "credits")["lines"]
    page = offline_page(presented(linked), {})
    assert [unescape(found) for found in re.findall(r'<a href="([^"]*)"', page)] == [ADDRESS]
    assert not re.findall(r"""src\s*=|url\(|@import""", page), "a link is followed, not fetched"
    made = presented(linked)
    end = replace(made, slides=made.slides[-1:])
    *_, last = Presentation(io.BytesIO(powerpoint(end))).slides
    runs = [run for shape in last.shapes if shape.has_text_frame for run in shape.text_frame.paragraphs[0].runs]
    assert [run.hyperlink.address for run in runs if run.hyperlink.address] == [ADDRESS]
    assert b"/URI (" + ADDRESS.encode() in report(end)


def test_what_is_no_address_is_no_link(shown: Shown) -> None:
    hostile = replace(shown, problem=replace(shown.problem, source='https://a/" onclick="x'), address="javascript:x")
    assert "<a " not in offline_page(presented(hostile), {})


def test_the_report_is_upright_with_every_picture_once(shown: Shown, told: Presented) -> None:
    made = report(told)
    slides = downscaling_deck(shown)["slides"]
    drawn = [told.picture(one) for one in told.slides]
    assert all(told.picture(one) is picture for one, picture in zip(told.slides, drawn, strict=True)), "drawn once"
    pictures = sum(picture is not None for picture in drawn)
    assert len(re.findall(rb"/Subtype /Image\b", made)) >= pictures > 0
    assert len(re.findall(rb"/Type /Page\b", made)) < len(slides)
    boxes = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", made)
    assert boxes and all(float(width) < float(height) for width, height in boxes)


def test_altitude_has_the_colours_of_terrain_by_whatever_name(shown: Shown) -> None:
    def colours_of(name: str, standard_name: str) -> str:
        spec = replace(shown.problem.spec, covariates=(name,))
        columns = tuple(name if column == "orog" else column for column in shown.problem.columns)
        variable = Variable(name, name, "m", standard_name, {})
        return covariate_panel(replace(shown.problem, spec=spec, columns=columns), {name: variable}).scale.colours

    assert colours_of("HSURF", "") == colours_of("h", "surface_altitude") == colours_of("elev", "") == "relief"
    assert colours_of("cloud", "cloud_area_fraction") == colours_of("chi", "") == "sequential"


def test_sea_level_is_where_the_colours_of_land_begin(shown: Shown) -> None:
    problem, column = shown.problem, shown.problem.columns.index("orog")

    def scale_of(low: float) -> MapScale:
        heights = torch.linspace(low, 1000.0, len(problem.inputs), dtype=torch.float64)
        inputs = problem.inputs.clone()
        inputs[:, column] = torch.as_tensor(problem.input_scaling.scales[column].forward(heights.numpy()))
        return covariate_panel(replace(problem, inputs=inputs), {}).scale

    land, coast, sea = map(scale_of, (3.0, -4.0, -3000.0))
    assert (land.colours, coast.colours, sea.colours) == ("terrain", "coast", "relief") and coast.low == 0
    assert sea.low == -sea.high and sea.high >= 2980
    whole = np.array([channels(colour) for _, colour in colour_scale("relief", 256)])
    of_land = np.array([channels(colour) for _, colour in colour_scale("terrain", 112)])
    assert (whole[144:] == of_land).all() and (of_land[:, 2] < of_land[:, 1]).all(), "land is never blue"
    water, *above = (channels(colour) for _, colour in colour_scale("coast", 113))
    assert (np.array(above) == of_land).all() and water[2] > water[1] > water[0], "what lies at 0 is water"


def channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
