"""Maps on a sheet: where a click lands and where marks and coastlines are drawn; diagrams hold what they are given."""

import base64

import numpy as np
import pytest

from deconditioning.fields.grids.grid import make_grid
from deconditioning.fields.grids.place import longitude_words
from deconditioning.figures.flip_book import ends_and_ticks
from deconditioning.figures.map_panel import MapScale
from deconditioning.figures.studies.period import Sheet, date_ticks, hovmoeller, maps_in_step, sheet_of
from deconditioning.figures.studies.verification import (
    quantile_plot,
    reliability_plot,
    scores_in_time,
    skill_plot,
    spread_skill_plot,
)
from deconditioning.figures.style import uncompacted
from deconditioning.period.correlation import days_of
from tests.core.period.made import made_fields

SCALE = MapScale("", "K", "sequential", 0.0, 1.0)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_mark_is_where_a_click_on_its_pixel_lands(columns: int) -> None:
    sheet = Sheet(5, 40, 3, columns)
    for pixel in ((0, 0), (4, 39), (2, 17)):
        for x, y in sheet.marks(*pixel):
            assert sheet.pixel_at(x, y) == pixel
    tall, wide = sheet.shape
    gap = (40.5 / wide, 0.5 / tall) if columns > 1 else (0.5 / wide, 5.5 / tall)
    assert sheet.pixel_at(*gap) is None


def test_a_marked_pixel_is_that_of_the_picture() -> None:
    grid = made_fields(1).grid
    frames = {name: np.zeros((2, *grid.shape)) for name in ("coarse", "mean")}
    frames["mean"][1, 3, 7] = 1.0
    book, sheet = maps_in_step(frames, grid, SCALE, 2), sheet_of(frames, 2)
    picture = np.frombuffer(base64.b64decode(book["frames"]), np.uint8).reshape(2, *sheet.shape)
    x, y = sheet.marks(3, 7)[1]
    assert picture[1, int(y * sheet.shape[0]), int(x * sheet.shape[1])] == 255 and (picture[0] < 2).all()
    for line in book["coast"]:
        assert 0 <= min(line) and max(line) <= 1


def test_a_hovmoeller_diagram_has_each_field_with_time_downwards() -> None:
    values = np.arange(12.0).reshape(4, 3)
    figure = hovmoeller(
        {"coarse": values, "mean": values + 1}, np.arange(3.0), np.arange(4.0), SCALE, labels=("longitude", "days")
    )
    np.testing.assert_allclose(np.asarray(uncompacted(figure["data"][1]["z"])).reshape(4, 3), values + 1)
    assert figure["layout"]["yaxis"]["range"] == [3.0, 0.0] and "longitude" in figure["layout"]["meta"]["alt"]


def test_panels_of_a_hovmoeller_diagram_are_equally_wide_with_ticks_in_words() -> None:
    across, panels = np.arange(-10.0, 2.0, 0.25), {name: np.zeros((2, 48)) for name in ("a", "b", "c")}
    scale = MapScale("temperature", "K", "sequential", 0.0, 1.0)
    words = {"labels": ("longitude", "days"), "words": lambda at: longitude_words(at, None)}
    picture = hovmoeller(panels, across, np.arange(2.0), scale, **words)
    axes = [picture["layout"][name] for name in ("xaxis", "xaxis2", "xaxis3")]
    np.testing.assert_allclose([right - left for left, right in (axis["domain"] for axis in axes)], 0.32)
    assert axes[2]["domain"][1] == pytest.approx(1) and axes[1]["ticktext"] == ["8° W", "0°"]
    assert picture["data"][-1]["colorbar"]["title"]["text"] == "temperature, K"


def test_a_colour_bar_has_ticks_at_round_values_and_says_what_lies_beyond() -> None:
    found = ends_and_ticks(MapScale("t", "K", "sequential", 270.0, 290.0), np.array([271.0, 291.0, np.nan]))
    assert found["label"] == "t, K" and [word for _, word in found["ticks"]] == ["270", "275", "280", "285", "≥ 290"]
    np.testing.assert_allclose([at for at, _ in found["ticks"]], [0, 0.25, 0.5, 0.75, 1])


def test_pictures_of_a_verification_hold_its_numbers() -> None:
    skill = skill_plot({"RMSE": {"bilinear": (0.5, 0.4, 0.55)}, "CRPS": {"bilinear": (0.6, None, None)}})
    bars = skill["data"][0]["error_x"]
    ends = [float(uncompacted(bars[side])[0]) for side in ("arrayminus", "array")]
    np.testing.assert_allclose(ends, [10, 5])
    table = np.array([[0.8, 0.1, 0.05], [0.0, np.nan, np.nan], [0.2, 0.9, 0.95]])
    reliable = reliability_plot({"delta": table}, 0.23, names={})["data"][1]
    np.testing.assert_allclose(uncompacted(reliable["y"]), [5, 95])
    spread = spread_skill_plot({"delta": table[[0, 2]]}, units="K", names={"delta": "BCSD"})
    assert spread["data"][1]["name"] == "BCSD" and spread["layout"]["xaxis"]["range"][1] > 0.95
    levels = np.column_stack([[0.01, 0.5, 0.99], [1.0, 2.0, 3.0], [1.5, 2.0, 2.5]])
    quantiles = quantile_plot({"delta": levels}, units="K", names={"delta": "BCSD"})
    assert quantiles["data"][1]["marker"]["size"] == [6, 0, 6] and quantiles["data"][1]["customdata"][0] == "1 %"
    np.testing.assert_allclose(uncompacted(quantiles["data"][1]["y"]), levels[:, 2])
    assert "truth 1 to 3, BCSD 1.5 to 2.5" in quantiles["layout"]["meta"]["alt"]
    by_hour = scores_in_time(["00", "06"], {"delta": np.array([1.0, 2.0])}, title="CRPS", labels=("h", "K"), names={})
    assert by_hour["layout"]["xaxis"]["ticktext"] == ["00", "06"] and "1 to 2" in by_hour["layout"]["meta"]["alt"]


def test_ticks_of_time_are_dates_of_the_axis_they_stand_on() -> None:
    dates = list(np.datetime64("2019-02-27T00:00") + np.timedelta64(6, "h") * np.arange(40))
    ticks = date_ticks(dates, days_of(dates))
    assert ticks["tickvals"] == [0.0, 2.0, 4.0, 6.0, 8.0] and ticks["ticktext"][1] == "1 Mar 2019"
    short = date_ticks(dates[:6], days_of(dates[:6]))
    assert short == {"tickvals": [0.25 * n for n in range(6)], "ticktext": [
        f"{date.astype(object):%-d %b %H:%M}" for date in dates[:6]
    ]}  # fmt: skip
    assert date_ticks([None, None], np.arange(2.0)) == {}


def test_cities_and_stations_of_a_sheet_stand_on_every_map() -> None:
    grid = make_grid("latlon", np.arange(50.0, 56.0, 0.5), np.arange(-6.0, 2.0, 0.5))
    frames = {name: np.zeros((1, *grid.shape)) for name in ("coarse", "mean")}
    book = maps_in_step(frames, grid, SCALE, 2, (np.array([51.51, 54.0]), np.array([-0.13, 359.0])))
    london = [place for name, *place in book["cities"] if name == "London"]
    assert len(london) == len(book["maps"]) == 2 and len(book["dots"]) == 4
    for (x, y), dot, (left, top, width, height) in zip(london, book["dots"][::1], book["maps"], strict=False):
        np.testing.assert_allclose((x - left) / width, (-0.13 + 6.25) / 8, atol=1e-3)
        np.testing.assert_allclose((y - top) / height, (55.75 - 51.51) / 6, atol=1e-3)
        assert min(np.hypot(x - u, y - v) for u, v in book["dots"]) < 1e-3 and len(dot) == 2
    assert sum(abs((u - left) / width - 5.25 / 8) < 1e-3 for u, _ in book["dots"]) == 1  # at 1° W on the last map
    assert maps_in_step(frames, grid, SCALE, 2)["dots"] == []
