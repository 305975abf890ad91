"""Page Benchmarks: a headline a topic from the stored rows, everything else folded, with the commands that made it."""

import json
import re
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest
from scipy.stats import wilcoxon
from streamlit.testing.v1 import AppTest

from deconditioning.studies.downscaling.benchmark import MEDIATED, MEDIATORS, REAL_MATCHED, REAL_MEDIATED, expanded
from deconditioning.studies.downscaling.peer_summary import peer_summaries
from deconditioning.studies.measurements import measured
from deconditioning.wording import about
from pages.benchmarks import headlines, peers, trust
from tests.benchmarks.table import RESULTS
from tests.pages.conftest import session

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def page() -> AppTest:
    """The page as it opens on an idle computer, which every test only reads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
        page = session("benchmarks")
    assert not page.exception and page.error == []
    return page


def rows(name: str) -> list[dict]:
    return json.loads((RESULTS / f"{name}.json").read_text())["rows"]


def test_it_opens_on_headlines_and_everything_else_is_folded(page: AppTest):
    titles = [found.value for found in page.subheader]
    assert titles[0] == "What to use when" and titles[1].startswith("Calibration")
    assert titles[2].startswith("Accuracy of downscaling") and titles[3].startswith("Time compared")
    assert titles[5].startswith("A period") and len(titles) == 8
    (said,) = [each.value for each in page.markdown if "smaller than that of BCSD" in each.value]
    best = [1 - row["ours"] / row["yardstick"] for row in rows("period") if row["more"]["method"] == "archive"]
    assert f"{100 * min(best):.0f} to {100 * max(best):.0f} % smaller" in said
    (said,) = [each.value for each in page.markdown if "drawn from a known covariance" in each.value]
    drawn = rows("drawn_fields")
    assert all(f"{row['ours']:.0f} % with {row['more']['cells']} visible cells" in said for row in drawn)
    assert f"to ± {max(row['more']['spread_known'] for row in drawn):.0f} % at worst" in said
    assert not any(block.proto.expanded for block in page.expander)
    kept = json.loads((ROOT / "data" / "benchmarks" / "downscaling.json").read_text())["rows"]
    seeds = [len({row["seed"] for row in kept if row["case"] == case}) for case in MEDIATED]
    assert len(page.dataframe) > 3 and list(page.dataframe[3].value["Seeds"]) == seeds and min(seeds) >= 2
    assert len(page.dataframe) == 3 + sum(len(folded.dataframe) for folded in page.expander[:2])
    said = " ".join(block.value for block in page.caption)
    assert "made by `deconditioning benchmark downscaling" in said
    table = page.expander[1].dataframe[0].value
    assert {"Model", "RMSE, K", "SSIM", "CRPS, K", "Coverage of 95 %"} <= set(table.columns)
    assert {"Shrinkage CMP", "Variational CMP", "VBAgg", "Bicubic"} <= set(table["Model"])


def test_what_to_use_when_is_told_with_numbers_of_the_stored_rows(page: AppTest) -> None:
    (told,) = [block.proto.body for block in page.get("html") if "Your data" in block.proto.body]
    measured_of = dict(re.findall(r'<th scope="row">([^<]+)</th>.*?data-label="Measured">([^<]+)<', told))
    assert len(measured_of) == 5
    gains = []
    for name, key in (("stations", "seed"), ("stations_real", "case")):
        kept = json.loads((ROOT / "data" / "benchmarks" / f"{name}.json").read_text())["rows"]
        for case in {row[key] for row in kept} if key == "case" else (None,):
            mine = [row for row in kept if case is None or row["case"] == case]
            both, *alone = (mean(row[which] for row in mine) for which in ("both", "cells", "stations"))
            gains.append(1 - both / min(alone))
    assert f"{100 * min(gains):.0f} to {100 * max(gains):.0f} %" in measured_of["Coarse cells and stations"]
    rows_of_scale = [row for row in rows("scale") if row["size"].startswith("1,000,000 pixels, 1,000 bags")]
    seconds = sum(row["ours"] for row in rows_of_scale if row["more"]["part"] != "bound and gradient")
    minutes = f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    assert f"in {minutes} of CPU time, and 12 s a step of learning" in measured_of["Very many cells"]
    kept = json.loads((ROOT / "data" / "benchmarks" / "real_fields.json").read_text())["rows"]
    errors = [
        (r["scores"]["rmse"], r["best_interpolation"]["rmse"])
        for r in kept
        if r["model"] == "auto" and r["scores"] and r["case"] in REAL_MEDIATED
    ]
    low, high = (end(100 * own / plain for own, plain in errors) for end in (min, max))
    assert (
        f"RMSE of the default model {low:.0f} to {high:.0f} % of"
        in measured_of["Coarse cells, covariates elsewhere, and a mediator"]
    )
    (said,) = [each.value for each in page.markdown if "half of whose cells are hidden" in each.value]
    assert re.search(r"\*\*(\d+ to \d+ %)\*\*", said)[1] in measured_of["Coarse cells, covariates at every pixel"]


def test_what_differs_from_the_default_is_counted_with_scipy(page: AppTest) -> None:
    """Of ERA5: every model against the area-to-point GP, seed by seed, corrected by hand."""
    stored = expanded(json.loads((ROOT / "data" / "benchmarks" / "downscaling.json").read_text())["rows"])
    errors: dict[str, dict[int, float]] = {}
    for row in stored:
        if row["case"] == "era5-t2m" and row["scores"]:
            errors.setdefault(row["model"], {})[row["seed"]] = row["scores"]["rmse"]
    default = errors.pop("area_to_point_gp")
    found = []
    for mine in errors.values():
        change = [mine[seed] - default[seed] for seed in default if seed in mine]
        found.append((float(wilcoxon(change).pvalue), float(np.median(change)) > 0))
    less = more = 0
    for rank, (p, worse) in enumerate(sorted(found)):
        if (len(found) - rank) * p >= 0.05:
            break
        less, more = less + worse, more + (not worse)
    (said,) = [each.value for each in page.markdown if "Significant differences in RMSE" in each.value]
    (line,) = [each for each in said.splitlines() if "ERA5" in each]
    assert less and f": {less} of {len(found)} are less accurate than Area-to-point GP" in line.replace("*", "")
    assert ("more accurate" in line) == bool(more) and (f"; {more}" in line or not more)
    (table,) = [each.value for each in page.dataframe if "Compared with" in each.value]
    assert set(table["Compared with"]) == {"Area-to-point GP"} and len(table) == 6 * len(found)


def told_right(rows: list[dict]) -> tuple[int, int]:
    """Pairs of ways that are in the same order one scale up and at the pixels, counted draw by draw."""
    right = pairs = 0
    for case, seed in {(row["case"], row["seed"]) for row in rows}:
        mine = [row for row in rows if (row["case"], row["seed"]) == (case, seed)]
        (plain,) = [row["more"]["bilinear"]["rmse"] for row in mine if "more" in row]
        checked = [row for row in mine if row.get("one_scale_up")]
        ways = [(row["one_scale_up"]["rmse"][row["model"]], row["scores"]["rmse"]) for row in checked]
        ways.append((checked[0]["one_scale_up"]["rmse"]["bilinear"], plain))
        for i, first in enumerate(ways):
            for second in ways[:i]:
                pairs += 1
                right += (first[0] < second[0]) == (first[1] < second[1])
    return right, pairs


def test_a_method_as_accurate_as_the_default_in_less_time_is_named(page: AppTest) -> None:
    """By the stored rows: the ratio of errors and of medians of CPU seconds."""
    rows = expanded(json.loads((ROOT / "data" / "benchmarks" / "peers.json").read_text())["rows"])
    runs = {
        name: {(r["case"], r["seed"]): r for r in rows if r["model"] == name and r["scores"]}
        for name in ("auto", "regression_kriging")
    }
    (default, other), pairs = runs.values(), sorted(runs["auto"].keys() & runs["regression_kriging"].keys())
    errors = [np.log(other[at]["scores"]["rmse"] / default[at]["scores"]["rmse"]) for at in pairs]
    seconds = [float(np.median([each[at]["seconds"]["cpu"] for at in pairs])) for each in (default, other)]
    (said,) = [each.value for each in page.markdown if "is as accurate as the default model" in each.value]
    assert said.endswith("the effect of the covariates is linear; the default model does not.")
    assert said.startswith(
        f"Regression kriging is as accurate as the default model (RMSE {np.exp(np.mean(errors)):.2f} times as large) "
        f"and takes {100 * seconds[1] / seconds[0]:.0f} % of its CPU time. It "
        "assumes that the effect"
    )
    assert (
        peers._as_accurate([replace(each, rmse_ratio=1.1) for each in peer_summaries(peers.peer_rows(), "default")])
        == ""
    )


def test_trust_is_told_by_its_stored_rows(page: AppTest):
    kept = json.loads((ROOT / "data" / "benchmarks" / "trust.json").read_text())["rows"]
    mine = [row["scores"] for row in kept if (row["case"], row["model"]) == ("era5-t2m-matched", "area_to_point_gp")]
    plain = [row["scores"]["rmse"] for row in kept if row["case"] == "era5-t2m-matched" and "more" in row]
    table = page.expander[0].dataframe[0].value
    assert len(set(table["Data"])) == 4 and {"RMSE, K", "CRPS, K"} <= set(table)
    (line,) = table[table["Data"].str.startswith("ERA5") & (table["Model"] == "Area-to-point GP")].to_dict("records")
    assert len(mine) == len(plain) == 5 and line["RMSE, K"].startswith(f"{mean(s['rmse'] for s in mine):#.3g} ± ")
    assert line["RMSE relative to bilinear"] == f"{100 * mean(s['rmse'] for s in mine) / mean(plain):.0f} %"
    assert line["Coverage of 95 %"] == f"{100 * mean(s['coverage95'] for s in mine):.0f} %"
    assert line["Warnings"] == "0 of 5" and not any(
        row["warned"] for row in kept if (row["case"], row["model"]) == ("era5-t2m-matched", "area_to_point_gp")
    )
    assert len(table) == 4 * 6 + 3 and set(table["Model"]) >= {"Bilinear", "Regression kriging", "Shrinkage CMP"}
    assert set(table["Warnings"][table["Model"] == "Gradient boosting"]) == {"–"}
    right, pairs = told_right(kept)
    assert pairs == 4 * 5 * 10
    assert any(f"in {right} of {pairs} comparisons" in caption.value for caption in page.expander[0].caption)


def test_the_first_sentence_is_that_of_the_default_model_on_all_real_fields(page: AppTest) -> None:
    kept = json.loads((ROOT / "data" / "benchmarks" / "peers.json").read_text())["rows"]
    mine = {row["case"]: row["scores"] for row in kept if row["model"] == "auto" and row["scores"]}
    plain = {row["case"]: row["more"]["bilinear"]["rmse"] for row in kept if row["model"] == "interpolation"}
    assert set(mine) == set(REAL_MATCHED) and len(mine) == sum(row["model"] == "auto" for row in kept)
    shares = [100 * scores["rmse"] / plain[case] for case, scores in mine.items()]
    held = [scores["coverage95"] for scores in mine.values()]
    (said,) = [block.value for block in page.markdown if "half of whose cells are hidden" in block.value]
    assert f"On {len(mine)} real fields" in said and f", {median(shares):.0f} % in the median" in said
    assert f"error (RMSE) is **{min(shares):.0f} to {max(shares):.0f} %** of that of bilinear" in said
    assert f"contain **{100 * min(held):.0f} to {100 * max(held):.0f} %** of the truth" in said
    assert f"as they should, on {sum(0.9 <= share <= 0.97 for share in held)} fields" in said


def test_it_opens_with_how_far_the_default_can_be_trusted(page: AppTest):
    kept = json.loads((ROOT / "data" / "benchmarks" / "real_fields.json").read_text())["rows"]
    mine = [row for row in kept if row["model"] == "auto" and row["scores"] and row["case"] in REAL_MATCHED]
    inside = sum(0.9 <= row["scores"]["coverage95"] <= 0.97 for row in mine)
    kept_up = sum(row["scores"]["rmse"] <= 1.02 * row["best_interpolation"]["rmse"] for row in mine)
    no_worse = "No worse than the best interpolation (within 2 %)"
    matched, mediated = page.dataframe[0].value.to_dict("records")
    assert matched["Cells"] == "matched" and mediated["Cells"] == "matched through a mediator"
    assert matched["95 % intervals contain 90 to 97 %"] == f"{inside} of {len(mine)} maps"
    assert matched[no_worse] == f"{kept_up} of {len(mine)}"
    assert mediated[no_worse] == "14 of 16; a warning on the other 2"
    assert all(set(row) >= {"seed", "warned", "weights", "spectra", "best_interpolation", "seconds"} for row in mine)


def test_the_headline_of_a_room_is_that_of_its_rows(page: AppTest):
    load, lesson = rows("load"), rows("lesson")
    longest = max(row["ours"] for row in load if "Health" in row["what"])
    (said,) = (block.value for block in page.markdown if "people who arrive at once" in block.value)
    assert said.startswith(f"{next(row['size'] for row in load).split()[0]} people")
    assert f"always answered within {longest:.2g} s" in said
    late = re.search(r"p95 ([\d,]+) ms", next(r["accuracy"] for r in lesson if "as asked" in r["what"]))[1]
    minutes, seconds = divmod(round(float(late.replace(",", "")) / 1000), 60)
    assert f"One in twenty waits {minutes} min {seconds} s or longer for this." in said


def test_the_accuracy_headline_is_that_of_the_stored_rows(page: AppTest):
    kept = json.loads((ROOT / "data" / "benchmarks" / "downscaling.json").read_text())["rows"]
    mine = [row for row in kept if row["case"] == "ukv-645m" and row["status"] == "ok"]
    by_model = {name: [row for row in mine if row["model"] == name] for name in {row["model"] for row in mine}}
    interpolated = by_model.pop("interpolation")
    plain = min(mean(row["more"][name]["rmse"] for row in interpolated) for name in ("bilinear", "bicubic"))
    best = min(by_model.values(), key=lambda found: mean(row["scores"]["rmse"] for row in found))
    line = page.dataframe[3].value.iloc[0]
    assert line["RMSE, K"].startswith(f"{mean(row['scores']['rmse'] for row in best):#.3g} ±")
    assert line["Its RMSE, K"].startswith(f"{plain:#.3g} ±")
    assert line["Coverage of 95 %"] == f"{100 * mean(row['scores']['coverage95'] for row in best):.0f} %"


def test_the_headlines_are_those_of_the_stored_rows():
    plain = ("models", "gram_gradients", "full_size", "kernel_sums", "sparse_representation",
             "distribution_regression", "filtering", "camera")  # fmt: skip
    ratios = [r["yardstick"] / r["ours"] for name in plain for r in rows(name) if r["yardstick"] is not None]
    said = headlines.compared_with_plain([measured(RESULTS / f"{name}.json") for name in plain])
    assert f"with a median of {median(ratios):.0f}×" in said and f"In all {len(ratios)} comparisons" in said
    (other,) = {row["against"] for row in rows("full_size")}
    assert f"another model, the {other}, and less accurate" in said and "at least as accurate" in said
    for row in rows("full_size"):
        ours, theirs = map(float, re.match(r"rmse ([\d.]+) \(([\d.]+)\)", row["accuracy"]).groups())
        assert ours < theirs
    told = re.findall(r"([\d.]+) (m?s)\b", headlines.waiting([measured(RESULTS / "latency.json")]))
    times = [float(value) / {"s": 1, "ms": 1000}[unit] for value, unit in told]
    toys = [r["ours"] / 1000 for r in rows("latency") if r["what"] == "New picture"][1:]
    assert times[:2] == pytest.approx([min(toys), max(toys)], abs=0.005)
    million = headlines.up_to_a_million([measured(RESULTS / "scale.json")])
    largest = [r for r in rows("scale") if "100,000 targets" in r["size"]]
    assert largest[0]["size"] in million and f"{largest[0]['peak_mb']:.0f} MB" in million
    steps = headlines.several_steps([measured(RESULTS / "store.json")])
    assert f"{min(r['ours'] for r in rows('store') if r['unit'] == 'MB'):.0f}" in steps
    start = headlines.starting([measured(RESULTS / "start_up.json")])
    assert f"{max(r['ours'] for r in rows('start_up') if r['what'] == 'Memory, page process'):.0f} MB" in start
    assert headlines.waiting([]) == headlines.starting([]) == headlines.compared_with_plain([]) == ""


def test_when_mediation_helps_is_told_by_its_stored_rows(page: AppTest):
    kept = json.loads((ROOT / "data" / "benchmarks" / "mediation.json").read_text())["rows"]
    table = next(each.value for each in page.dataframe if "Unexplained" in each.value.columns)
    assert len(table) == len(MEDIATORS)
    for case, line in zip(MEDIATORS, table.to_dict("records"), strict=True):
        for model, name in (("task_transformed_gp", "Task-transformed GP"), ("bag_gp", "Bag GP")):
            mine = [row["scores"] for row in kept if (row["case"], row["model"]) == (case, model)]
            rmse, inside = mean(row["rmse"] for row in mine), mean(row["coverage95"] for row in mine)
            assert line[name] == f"{rmse:#.3g} ({100 * inside:.0f} %)"
    assert any("mediation helps if the mediator depends on the covariates" in block.value for block in page.markdown)


def test_numbers_are_right_aligned_and_every_count_of_one_scale_up_says_what_it_counts(page: AppTest) -> None:
    """Each column of the first tables but those of words; three counts, of which two take every order as a choice."""
    for table in page.dataframe:
        columns = json.loads(table.proto.columns)
        right = {name for name, given in columns.items() if given.get("alignment") == "right"}
        for name, texts in table.value.items():
            filled = [text for text in texts if isinstance(text, str) and text not in ("", "–")]
            assert (name in right) == (bool(filled) and all(text.lstrip("<− ")[0].isdigit() for text in filled)), name
    every = page.expander[0].caption[0].value + " ".join(block.value for block in page.markdown)
    assert "counting those in which the app leaves the question open" in every and "clearly smaller or not" in every
    assert "one scale up says, without a truth" in " ".join(block.value for block in page.caption)


def test_what_one_scale_up_chose_is_counted(page: AppTest):
    kept = json.loads((ROOT / "data" / "benchmarks" / "downscaling.json").read_text())["rows"]
    right = every = 0
    for case, seed in {(row["case"], row["seed"]) for row in kept}:
        found = {row["model"]: row for row in kept if (row["case"], row["seed"]) == (case, seed)}
        if {"area_to_point_gp", "partial_cmp"} <= found.keys():
            above = found["partial_cmp"]["one_scale_up"]["rmse"]
            nearer = above["partial_cmp"] < above["area_to_point_gp"]
            at_pixels = [found[name]["scores"]["rmse"] for name in ("partial_cmp", "area_to_point_gp")]
            right, every = right + (nearer == (at_pixels[0] < at_pixels[1])), every + 1
    assert every >= 5 and any(f"{right} of {every} cases" in block.value for block in page.markdown)


def test_how_long_the_benchmark_takes_is_told_from_the_stored_fits(page: AppTest):
    (said,) = [box.value for box in page.caption if box.value.startswith("The benchmark takes")]
    cases = ("ukv-645m", "planets-2deg")
    stored = json.loads((ROOT / "data" / "benchmarks" / "downscaling.json").read_text())["rows"]
    fits = [row for row in stored if row["case"] in cases and row["seconds"]]
    seconds = sum(row["seconds"]["cpu"] for row in fits) / len({row["seed"] for row in fits})
    assert about(2 * seconds) in said


@pytest.mark.parametrize(
    ("key", "file", "stored_as", "model"),
    [("fields", "peers", "auto", "Default model"), ("trust", "trust", "area_to_point_gp", "Area-to-point GP")],
)
def test_the_figures_of_real_fields_show_the_stored_rows(
    page: AppTest, key: str, file: str, stored_as: str, model: str
) -> None:
    """Every dot of the main model is the quotient of mean RMSEs, and the coverage, taken straight from the file."""
    stored = json.loads((ROOT / "data" / "benchmarks" / f"{file}.json").read_text())["rows"]
    figures = [
        json.loads(page.session_state["_seen"].figures[f"{key}-{part}"].text) for part in ("accuracy", "coverage")
    ]
    left, right = (trace for each in figures for trace in each["data"] if trace["name"] == model)
    fields = figures[0]["layout"]["yaxis"]["ticktext"]
    assert fields == figures[1]["layout"]["yaxis"]["ticktext"]
    mine = [row for row in stored if row["model"] == stored_as and row["scores"]]
    assert len({row["case"] for row in mine}) == len(fields)
    for case, title in trust.TITLES.items():
        at = left["y"].index(fields.index(title))
        rows_of = [row for row in mine if row["case"] == case]
        own = mean(row["scores"]["rmse"] for row in rows_of)
        plain = mean(row["more"]["bilinear"]["rmse"] for row in stored if row["case"] == case and "more" in row)
        assert left["x"][at] == pytest.approx(own / plain, rel=1e-9)
        assert right["x"][at] == pytest.approx(mean(row["scores"]["coverage95"] for row in rows_of), rel=1e-9)
