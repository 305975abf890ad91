"""Page Period in AppTest: it opens on a finished example, an archive makes it better, and each view shows something."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.datasets.entries import find
from deconditioning.downscaling.source import Source
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.figures.style import uncompacted
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.series import Series, read_series
from deconditioning.period.times import chosen_times
from deconditioning.wording import number
from pages.kit.chart import flip_book
from pages.kit.record import Control
from pages.period import displaced
from pages.period.archive import left_behind
from pages.period.distribution import with_draws
from pages.period.place import _verdict
from pages.period.presets import PRESETS
from pages.period.timeline import as_words, short_date
from pages.period.words import OWN
from tests.core.period.made import made_fields
from tests.pages.conftest import session

FEW: dict[str, str | list[str]] = {"p-period": ["216", "247"]}
REGION = {"p-data": find("made-up-region").title}
LOWEST, HIGHEST = "daily minimum temperature", "daily maximum temperature"


@pytest.fixture(scope="module")
def page() -> AppTest:
    """The page as it opens, with few times."""
    return opened()


def opened(**address: str | list[str]) -> AppTest:
    page = session("period", **FEW, **address)
    assert not page.exception and [each.value for each in page.error] == []
    return page


def captions(page: AppTest) -> str:
    return " ".join(each.value for each in page.caption)


def control(default: int, *offered: int) -> Control:
    """A control of whole numbers that reads only those offered."""
    words = [str(each) for each in offered]
    return Control("", "", default, default, "", read=lambda read: offered[words.index(*read)])


def scores(page: AppTest) -> dict[str, dict[str, float]]:
    table = page.dataframe[0].value
    return {
        row.pop(""): {
            name.partition(" (")[0]: float(str(value).removesuffix(" %")) for name, value in row.items() if value
        }
        for row in table.to_dict("records")
    }


def test_it_opens_on_a_finished_series(page: AppTest) -> None:
    said = next(each.value for each in page.markdown if "coarse cells become" in each.value)
    assert said.startswith("**Temperature at 2 m, British Isles, March (ERA5).** 32 times, ")
    assert "at each, 24 coarse cells become a map of 1,536 pixels" in said and "216 other times" in said
    assert "RMSE **0." in said and "modified Copernicus" in captions(page)
    assert re.search(
        r"\d+ % of the 95 % intervals( and \d+ % of the \d+ % intervals)? contain the truth: [a-z, ]+\.$", said
    )
    assert "The band contains the truth" in captions(page) and "Each row is one time" in captions(page)


def test_other_variables_with_times_are_offered_as_predictors(page: AppTest) -> None:
    assert not [each for each in page.multiselect if each.key == "p-predictors"]
    made = session("period", **REGION, **{"p-period": ["400", "479"]})
    assert not made.exception and not made.error
    assert made.selectbox(key="p-target").value == "t" and made.multiselect(key="p-predictors").options == [
        "westerly wind", "daily rain", "daily minimum temperature", "daily maximum temperature"
    ]  # fmt: skip
    made.multiselect(key="p-predictors").set_value(["u"]).run()
    assert not made.exception and "with predictors" in captions(made)
    asked = session("period", **REGION, **{"p-period": ["479", "479"], "p-predictors": "v"})
    assert not asked.exception and asked.multiselect(key="p-predictors").value == []
    (said,) = [each.value for each in asked.info]
    assert "p-predictors=v, which is not one of the choices here. The page uses none." in said
    assert any("2002-04-25 00:00: 16 coarse cells" in each.value for each in asked.markdown)


def test_a_minimum_and_a_maximum_are_downscaled_together_and_the_target_chooses_which_is_shown() -> None:
    made = session("period", **REGION, **{"p-period": ["460", "479"], "p-target": LOWEST})
    assert not made.exception and not made.error and not made.toggle(key="p-pair").value
    made.toggle(key="p-pair").set_value(True).run()
    assert not made.exception and not made.error
    assert not {LOWEST, HIGHEST} & set(made.multiselect(key="p-predictors").options)
    said = captions(made)
    assert "Daily minimum temperature is never above daily maximum temperature" in said
    assert re.search(r"middle: [\d.]+ % from the archive.*; difference: [\d.]+ % from the archive", said)
    made.segmented_control(key="p-view").set_value("Period statistics").run()
    low = at_the_place(made)
    made.selectbox(key="p-target").set_value("tmax").run()
    assert not made.exception and not made.error and made.toggle(key="p-pair").value
    assert low[0] + 1 < at_the_place(made)[0] and "is never above" in captions(made)
    made.selectbox(key="p-target").set_value("t").run()
    assert not made.exception and not [each for each in made.toggle if each.key == "p-pair"]


def at_the_place(page: AppTest) -> list[float]:
    """Mean, both ends of the interval and truth at the place, as the page has them."""
    (said,) = [each.value for each in page.markdown if each.value.startswith("At ") and "90 % interval" in each.value]
    return [float(each) for each in re.findall(r"([\d.]+)(?: K| to)", said)]


def test_rain_is_never_negative() -> None:
    made = session("period", **REGION, **{"p-period": ["460", "479"], "p-target": "daily rain"})
    assert not made.exception and not made.error
    said = " ".join(each.value for each in (*made.markdown, *made.caption))
    assert "modelled by the Box-Cox warp" in said and "The band contains the truth" in said


def test_a_warp_can_be_chosen_or_left_out() -> None:
    rain = REGION | {"p-period": ["470", "479"], "p-target": "daily rain"}
    made = session("period", **rain, **{"p-warp": "None"})
    assert not made.exception and not made.error and made.selectbox(key="p-warp").value == "none"
    assert "Box-Cox" not in captions(made)
    said = next(each.value for each in made.markdown if "coarse cells become" in each.value)
    assert said.endswith("of the 95 % intervals contain the truth.")  # a Gaussian one is never right for rain
    made.toggle(key="p-archive").set_value(False)
    made.selectbox(key="p-warp").set_value("box-cox").run()
    assert not made.exception and not made.error and "as requested" in captions(made)
    assert "log" in made.selectbox(key="p-warp").options or "Logarithm" in made.selectbox(key="p-warp").options


def test_cells_that_are_missing_at_some_times_are_linked_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_gaps(*given: Any) -> Series:
        series = read_series(*given)
        missing = np.random.default_rng(0).uniform(size=series.coarse.shape) < 0.4
        coarse = np.where(missing, np.nan, series.coarse)
        return replace(series, coarse=coarse, level=np.nanmean(coarse, axis=1))

    monkeypatch.setattr("pages.period.result.read_series", with_gaps)
    page = session("period", **{"p-period": ["221", "247"], "p-archive": "false"})
    assert not page.exception and not page.error and not page.toggle(key="p-archive").value
    assert "Cells are linked through time" in captions(page) and "Grey: missing." in captions(page)
    page.segmented_control(key="p-view").set_value("Verification")
    page.segmented_control(key="p-link").set_value("off").run()
    assert not page.exception and not page.error and "linked through time" not in captions(page)
    alone = scores(page)[OWN]
    page.segmented_control(key="p-link").set_value("on").run()
    assert not page.exception and not page.error and "linked through time" in captions(page)
    assert scores(page)[OWN]["CRPS"] < 0.99 * alone["CRPS"]


def test_it_offers_only_cells_of_which_there_are_enough(page: AppTest) -> None:
    assert not [each for each in page.segmented_control if each.key == "p-link"]  # all cells are known, without errors
    assert page.select_slider(key="p-block").options == ["2", "4", "8"]
    asked = session("period", **FEW, **{"p-block": "16"})
    assert not asked.exception and not asked.error and asked.select_slider(key="p-block").value == 8


def test_verification_shows_scores_beside_other_methods_and_an_archive_makes_them_better() -> None:
    page = opened(**{"p-view": "Verification"})
    found = scores(page)
    assert found[OWN]["RMSE"] < 0.6 * found["Bilinear"]["RMSE"]
    assert 85 < found[OWN]["Coverage of 95 %"] <= 100 and "BCSD (delta)" in found
    assert "block bootstrap" in captions(page) and "Brier skill" in captions(page)
    assert "Distance from the truth (RALSD" in captions(page) and "5 draws" in captions(page)
    assert page.segmented_control(key="p-by").options == ["every time", "hour of the day", "altitude", "land and sea"]
    page.segmented_control(key="p-by").set_value("land and sea")
    page.segmented_control(key="p-score").set_value("RMSE")
    page.segmented_control(key="p-region").set_value("skill against BCSD")
    page.slider(key="p-event").set_value(282.0).run()
    assert not page.exception
    assert "each part" in captions(page)
    page.toggle(key="p-archive").set_value(False).run()
    assert not page.exception and "No archive is used" in " ".join(each.value for each in page.markdown)
    assert scores(page)[OWN]["CRPS"] > 1.2 * found[OWN]["CRPS"]


def test_the_place_and_the_difference_move_without_computing_again(page: AppTest) -> None:
    page.slider(key="p-row").set_value(3)
    page.segmented_control(key="p-maps").set_value("minus period mean")
    page.segmented_control(key="p-line").set_value("at the place").run()
    assert not page.exception and page.slider(key="p-row").value == 3
    assert "on the line through 51.00° N" in captions(page)


def test_the_difference_from_climatology_is_that_of_the_date_and_the_hour() -> None:
    """A route of its own: least squares on waves of the hour, which is all that the dates of a month determine."""
    page = opened(**{"p-maps": "minus climatology"})
    fields = find("era5-uk").open()
    values = np.stack([fields.values("t2m", {"time": n}) for n in range(217)])
    hour = 2 * np.pi * (np.arange(217) + 0.0) * 3 / 24
    waves = np.column_stack([np.ones(217), *(each(k * hour) for k in (1, 2) for each in (np.cos, np.sin))])
    known, _, _, _ = np.linalg.lstsq(waves[:216], values[:216].reshape(216, -1), rcond=None)
    truth = (values[216].ravel() - waves[216] @ known).reshape(values.shape[1:])
    seen = page.session_state["_seen"].figures
    for name, expected in (("truth", truth), ("coarse", cell_means(truth, 8))):
        trace = json.loads(seen[f"map-{name}"].text)["data"][0]
        found = np.array(uncompacted(trace["z"]), dtype=float).reshape(expected.shape)
        np.testing.assert_allclose(found, expected, atol=0.02)
    assert "minus climatology" in json.loads(seen["map-truth"].text)["layout"]["meta"]["alt"]
    page.toggle(key="p-archive").set_value(False).run()
    assert not page.exception and page.segmented_control(key="p-maps").options == ["values", "minus period mean"]


def cell_means(values: np.ndarray, block: int) -> np.ndarray:
    """The means of blocks of pixels at each of their pixels; nearly those weighted by area."""
    rows, columns = values.shape
    means = values.reshape(rows // block, block, columns // block, block).mean((1, 3))
    return means.repeat(block, 0).repeat(block, 1)


def test_statistics_of_a_period_say_what_they_are_at_the_place() -> None:
    page = opened(**{"p-view": "Period statistics"})
    (said,) = [each.value for each in page.markdown if each.value.startswith("At 51.50° N, 0.25° W")]
    assert "90 % interval" in said and "truth" in said and "joint draws" in captions(page)
    page.segmented_control(key="p-statistic").set_value("times above a threshold").run()
    page.slider(key="p-above").set_value(281.0).run()
    assert not page.exception
    (said,) = [each.value for each in page.markdown if each.value.startswith("At 51.50° N, 0.25° W")]
    mean, low, high, truth = map(float, re.findall(r"([\d.]+)(?: times| to)", said))
    assert 0 <= low <= mean <= high <= 32 and truth == int(truth) and high > 0


def test_the_period_may_lie_between_the_times_that_are_learned_from() -> None:
    page = session("period", **{"p-period": ["100", "107"], "p-training": ["60", "247"]})
    assert not page.exception and not page.error
    assert "180 other times" in next(each.value for each in page.markdown if "coarse cells become" in each.value)
    (said,) = [each.value for each in page.caption if each.value.startswith("Training:")]
    assert "180 times, 2019-03-08 12:00 to 2019-03-31 21:00, without those that are downscaled" in said
    assert said.endswith("Downscaled: 8 times, 2019-03-13 12:00 to 2019-03-14 09:00.")
    (drawn,) = [box.proto.body for box in page.get("html") if 'class="lab-timeline"' in box.proto.body]
    assert drawn.count("<i ") == 3 and f"left: {100 * 100 / 248:.3f}%" in drawn and "<span>1 Mar</span>" in drawn
    page.slider(key="p-training").set_value((100, 107)).run()
    assert [each.value for each in page.error] == [
        "No time is left for the training period: move it, or downscale fewer times."
    ]


def test_stretches_of_times_are_read_by_the_library_as_they_are_chosen() -> None:
    labels = [f"2019-03-01 {hour:02d}:00" for hour in range(12)]
    for chosen in ([3], [0, 1, 2, 6, 7, 11], list(range(12))):
        assert chosen_times(labels, as_words(chosen)) == chosen
    days = ["1999-12-31 00:00", "2001-02-03 00:00"]
    assert [short_date(each, ends) for each, ends in (
        (labels[0], labels), (days[0], [days[0], "2000-01-05"]), (days[1], days), ("7", ["0", "9"])
    )] == ["1 Mar", "31 Dec 1999", "Feb 2001", "7"]  # fmt: skip


def test_a_period_that_leaves_what_was_learned_is_told() -> None:
    """Months without data, and coarse values beyond all of their cell, counted one by one."""
    series, training = made_training(range(60, 75), range(30))
    values = series.coarse[:, series.problem.target_cell]
    low = sum(float(v) < training.coarse[:, m].min() for row in values for m, v in enumerate(row))
    high = sum(float(v) > training.coarse[:, m].max() for row in values for m, v in enumerate(row))
    months, beyond = left_behind(training, series)
    assert months.startswith("The training period has no March,") and low + high > 0.05 * values.size
    assert f"{number(100 * low / values.size, 2)} % are lower and {number(100 * high / values.size, 2)} % hi" in beyond
    assert left_behind(*reversed(made_training(range(10, 14), range(75)))) == ()


def made_training(period: range, known: range) -> tuple[Series, Training]:
    fields = made_fields(80)
    spec = DownscalingSpec("t", block=(4, 4), withhold=0.0)
    series = read_series(Source("made"), spec, lambda key: fields, [f"#{n}" for n in period])
    return series, read_training(series, fields, [f"#{n}" for n in known])


@pytest.mark.parametrize(
    ("sent", "heard"), [([0.25, 0.5], [(0.25, 0.5)]), ([1.5, 0.5], []), ("no", []), (None, []), (["nan", 0], [])]
)
def test_only_clicks_inside_the_picture_are_heard(sent: object, heard: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flip_book.st, "session_state", {"p-book": {"click": sent}})
    clicks: list = []
    flip_book._hear("p-book", lambda x, y: clicks.append((x, y)))
    assert clicks == heard


def test_a_possible_series_is_a_joint_draw_beside_the_mean() -> None:
    """It differs from the mean, and averaged over the cells it is the coarse field, as every draw is."""
    page = opened()
    assert "A cell is 2° by 2° large" in captions(page)
    page.toggle(key="p-drawn").set_value(True).run()
    assert not page.exception
    seen = page.session_state["_seen"].figures
    fields = {}
    for name in ("mean", "drawn"):
        trace = json.loads(seen[f"map-{name}"].text)["data"][0]
        fields[name] = np.array(uncompacted(trace["z"]), dtype=float).reshape(4, 8, 6, 8)
    away = fields["drawn"] - fields["mean"]
    assert 0.05 < np.sqrt(np.mean(away**2)) < 2 and np.abs(away.mean((1, 3))).max() < 0.2


def test_a_band_that_is_too_narrow_says_why_if_the_errors_show_it() -> None:
    rng = np.random.default_rng(0)
    mean, error = 280 + 3 * rng.normal(size=500), 0.5 * rng.normal(size=500)
    assert _verdict(0.95, mean + error, mean, "K") == ""
    assert _verdict(0.7, mean + error, mean, "K") == ". So it is too narrow here"
    colder = _verdict(0.7, mean + error - 1.5, mean, "K")
    assert "because the error lasts" in colder and colder.endswith("the truth is 1.5 K colder")
    assert _verdict(0.7, mean + error + 1.5, mean, "mm").endswith("mm higher")
    wide = _verdict(0.7, 280 + 1.4 * (mean - 280) + error, mean, "K")
    assert "here: the mean varies too little in time (its sd over time is 3 K, that of the truth 4" in wide
    assert "varies too much" in _verdict(0.7, 280 + 0.6 * (mean - 280) + error, mean, "K")
    assert _verdict(1.0, mean, mean + 0.1, "K") == ". So it is too wide here"
    few = slice(15)  # all of 15 is what nearly every other right band has
    assert _verdict(1.0, mean[few], mean[few] + 0.1, "K") == "" != _verdict(0.7, mean[few], mean[few] + 1, "K")


def test_its_tools_are_those_of_the_other_pages() -> None:
    """A preset is one step of undo; what is pinned has its scores beside it; slides have the maps and the scores."""
    page = opened()
    first = page.session_state["_seen"]
    assert ["map-coarse", "map-mean", "map-truth", "map-sd"] == [key for key in first.figures if key.startswith("map-")]
    (table,) = first.tables.values()
    assert table.written[0][1] == "RMSE" and [row[0] for row in table.written[1:3]] == [OWN, "Bilinear"]
    page.button(key="lab-pin").click().run()
    page.button(key="lab-preset-0").click().run()
    assert not page.exception and not page.toggle(key="p-archive").value
    assert any("Scores that differ" in box.proto.body and "worse" in box.proto.body for box in page.get("html"))
    page.button(key="lab-undo").click().run()
    assert page.toggle(key="p-archive").value and page.button(key="lab-undo").disabled


def test_presets_keep_to_what_the_file_offers() -> None:
    """Of a control that has no such value its default, and nothing of a control that the page has not."""
    offered = {"p-block": control(8, 4, 8), "p-training": Control("", "", (0, 185), (0, 185), "", read=tuple)}
    made = {preset.name: preset.values(offered) for preset in PRESETS}
    assert made["Small cells"] == {"p-block": 8} and made["A short archive"] == {"p-training": (0, 30)}
    assert all(preset.offered({}) == {} for preset in PRESETS)


def test_rain_has_scores_of_where_it_falls_behind_a_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    """In windows of one pixel the fractions skill score is 2 · hits / (predicted + observed)."""
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(displaced, "plotly_live", lambda figure, key: drawn.update({key: figure}))
    monkeypatch.setattr(displaced, "with_draws", lambda *given: drawn.update(shown=given[0]) or with_draws(*given))
    address = REGION | {"p-period": ["460", "479"], "p-target": "daily rain", "p-view": "Verification"}
    page = session("period", **address, **{"p-space": "true", "p-event": "5.0"})
    assert not page.exception and not page.error and "its probability" in captions(page)
    result, limit = drawn["shown"].result, page.slider(key="p-event").value
    there = [result.series.fine(time) > limit for time in range(20)]
    found = [result.means[time] > limit for time in range(20)]
    hits = sum(float((a & b).sum()) for a, b in zip(there, found, strict=True))
    score = 2 * hits / sum(float(each.sum()) for each in (*there, *found))
    (own, *_) = drawn["p-fractions"]["data"]
    assert own["name"] == OWN and uncompacted(own["y"])[0] == pytest.approx(score, abs=1e-4)
    (objects,) = [each.value for each in page.dataframe if "Structure" in each.value]
    assert list(objects[""])[-1] == "5 draws" and abs(float(objects["Location"].iloc[0])) < 1
    assert not [each for each in opened(**{"p-view": "Verification"}).toggle if each.key == "p-space"]
