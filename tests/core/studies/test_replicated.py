"""The table 'Replicated?': numbers and verdicts against the stored files, the document against its command."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest
from scipy.stats import sem, wilcoxon

from deconditioning.errors import InputError
from deconditioning.metrics.significance import holm
from deconditioning.studies.replicated.claims import Claim, Comparison, Verdict, load
from deconditioning.studies.replicated.markdown import to_markdown
from deconditioning.studies.replicated.numbers import Query, stored_number
from deconditioning.studies.swiss_roll.benchmark import PAPER
from pages.kit.pages import PAGES
from pages.kit.runs.benchmark_table import SIGNIFICANT

ROOT = Path(__file__).resolve().parents[3]
FOUND = load()


def rows(name: str, key: str = "") -> list[dict[str, Any]]:
    kept = json.loads((ROOT / "data" / "benchmarks" / f"{name}.json").read_text())
    return kept[key] if key else kept["rows"] if "rows" in kept else kept["results"]


def claim(text: str, item: str) -> Claim:
    return next(each for each in FOUND.claims if (each.text, each.item) == (text, item))


def roll(model: str, matching: str) -> list[float]:
    found = sorted((row for row in rows("swiss_roll") if (row["model"], row["matching"]) == (model, matching)),
                   key=lambda row: row["seed"])  # fmt: skip
    return [row["scores"]["rmse"] for row in found]


def test_the_document_is_what_its_command_writes() -> None:
    assert (ROOT / "docs" / "replicated.md").read_text() == to_markdown(FOUND)


def test_every_figure_and_table_of_the_texts_is_there_once() -> None:
    """Counted in the texts: figures 1-11 and tables 1-4; 1-2, maps and 1; 1-5; 1-5 and 1; 1 and 1."""
    items = {key: " ".join(each.item for each in FOUND.claims if each.text == key) for key in FOUND.texts}
    assert len({(each.text, each.item) for each in FOUND.claims}) == len(FOUND.claims)
    for text, figures, tables in (("chau", 8, 4), ("slides", 2, 1), ("hsu", 5, 0), ("fukumizu", 5, 1), ("tang", 1, 1)):
        for kind, count in (("Figure", figures), ("Table", tables)):
            assert all(f"{kind} {number}" in items[text] for number in range(1, count + 1)), (text, kind)
    assert "Figures 9 to 11" in items["chau"]


def test_every_claim_leads_to_a_page_and_measured_ones_to_files() -> None:
    folders = {page.folder for page in PAGES}
    for each in FOUND.claims:
        assert each.page in folders and each.claim.endswith(".") and each.ours.endswith("."), each.item
        assert bool(each.sources) == bool(each.answers) and (each.why or each.drawing)
        if each.verdict != Verdict.ELSEWHERE:
            assert bool(each.answers) == (each.verdict in (Verdict.HOLDS, Verdict.PARTLY, Verdict.FAILS)), each.item
        assert all((ROOT / "data" / "benchmarks" / f"{file}.json").is_file() for file, _ in each.sources)


def test_swiss_roll_numbers_are_those_of_its_file() -> None:
    found = claim("chau", "Table 1, direct")
    cmp, bag = roll("cmp", "direct"), roll("bag_gp", "direct")
    assert found.numbers["cmp"] == pytest.approx(mean(cmp)) and found.numbers["bag"] == pytest.approx(mean(bag))
    said = [row["message"] or "" for row in rows("swiss_roll") if (row["model"], row["matching"]) == ("cmp", "direct")]
    assert found.numbers["cmp_bound"] == sum("λ at its lower bound" in words for words in said)
    assert (found.verdict == Verdict.FAILS) == (mean(cmp) >= mean(bag)) and f"{mean(cmp):.3f}" in found.ours
    tests = claim("chau", "Table 3").numbers
    assert tests["p_direct"] == pytest.approx(wilcoxon(cmp, bag).pvalue)
    assert tests["wins_direct"] == sum(a < b for a, b in zip(cmp, bag, strict=True))
    unmatched = wilcoxon(roll("cmp", "indirect"), roll("bag_gp", "indirect")).pvalue
    assert tests["p_indirect"] == pytest.approx(unmatched)


def test_downscaling_wins_are_counted_draw_by_draw() -> None:
    by_draw: dict[tuple[str, int], dict[str, float]] = {}
    for row in rows("downscaling"):
        if row["scores"]:
            by_draw.setdefault((row["case"], row["seed"]), {})[row["model"]] = row["scores"]["rmse"]
    won = sum(draw["variational_cmp"] < draw["vbagg"] for draw in by_draw.values() if "vbagg" in draw)
    found = claim("chau", "Table 2")
    assert found.numbers["over_vbagg"] == won and found.numbers["draws"] == len(by_draw)
    assert dict(found.answers)["more accurate than VBAgg on most draws (RMSE)"] == (won / len(by_draw) > 0.5)


def test_one_rule_of_significance_on_all_pages() -> None:
    """What is called significant is so after Holm's correction for the tests of its table, as on page Benchmarks."""
    table = claim("chau", "Table 4")
    assert "opposite direction, as for Table 2, also after Holm's correction for the three tests" in table.why
    assert max(holm([table.numbers[name] for name in ("p", "p_gp", "p_r")])) < SIGNIFICANT
    assert max(table.numbers[name] for name in ("wins", "wins_gp", "wins_r")) < table.numbers["n"] / 2


def test_claims_about_the_same_data_are_treated_alike() -> None:
    """Tables and maps of one field that is not to be had: all of them, or none, were tried only on other data."""
    alike = [claim("chau", item) for item in ("Figure 3", "Table 2", "Figures 9 to 11", "Table 4")]
    alike += [claim("slides", item) for item in ("Maps", "Table 1")]
    assert {(each.verdict, each.data) for each in alike} == {(Verdict.ELSEWHERE, alike[0].data)}
    assert {claim("fukumizu", "Table 1").verdict, claim("tang", "Table 1").verdict} == {Verdict.ELSEWHERE}


def test_other_seeds_are_compared_fifty_by_fifty() -> None:
    errors = {(row["model"], row["seed"]): row["scores"]["error"] for row in rows("likelihood_free_other_seeds")
              if row["scores"].get("error") is not None}  # fmt: skip
    found = claim("hsu", "Figure 5, left").numbers
    for name, seeds in (("more_p", range(50, 250)), ("fifty_a", range(50, 100)), ("fifty_b", range(100, 150))):
        pair = [[errors[model, seed] for seed in seeds] for model in ("dme", "kelfi")]
        assert found[name] == pytest.approx(wilcoxon(*pair).pvalue)


def test_kernel_bayes_numbers_are_those_of_both_normalisations() -> None:
    def error(name: str, model: str, d: int, size: int = 200) -> float:
        found = [row for row in rows(name) if (row["model"], row["dimension"], row["size"]) == (model, d, size)]
        return mean(row["scores"]["mse"] for row in found)

    first, second = claim("fukumizu", "Figure 2 (§5.1)"), claim("fukumizu", "Figure 3 (§5.2)")
    assert first.numbers["kbr8"] == pytest.approx(error("kernel_bayes", "kbr", 8))
    assert first.numbers["printed8"] == pytest.approx(error("kernel_bayes_printed", "kbr_printed", 8))
    assert second.numbers["cme1600"] == pytest.approx(error("kernel_bayes_sizes", "cme", 6, 1600))
    assert second.numbers["printed200"] == pytest.approx(error("kernel_bayes_sizes_printed", "kbr_printed", 6))
    assert dict(second.answers)["conditional mean more accurate than the rule as printed, at 200 pairs"] == (
        error("kernel_bayes_sizes", "cme", 6) < error("kernel_bayes_sizes_printed", "kbr_printed", 6)
    )


def test_filter_camera_and_simulation_numbers_are_those_of_their_files() -> None:
    last = [row for row in rows("filtering") if (row["system"], row["train"]) == ("b", 800)]
    found = claim("fukumizu", "Figure 4, data (b)").numbers
    for model in ("ekf", "ukf"):
        values = [row["scores"]["mse"] for row in last if row["model"] == model]
        assert found[model] == pytest.approx(mean(values))
        assert found[f"se_{model}"] == pytest.approx(sem(values))
    camera = [row["scores"]["mse"] for row in rows("camera") if (row["model"], row["noise"]) == ("kbr_tr", 0.01)]
    table = claim("fukumizu", "Table 1").numbers
    assert table["tr"] == pytest.approx(mean(camera)) and table["se_tr"] == pytest.approx(sem(camera))
    methods, free = rows("likelihood_free_methods"), claim("hsu", "Figure 5, left").numbers
    for model in ("dme", "k2_abc", "mdn"):
        widths = [row["scores"]["width"] for row in methods if row["model"] == model]
        assert len(widths) == free["n"] and free[model] == pytest.approx(median(widths))
    runs = [row["scores"] for row in rows("lotka_volterra") if (row["model"], row["simulations"]) == ("dme", 2000)]
    held = sum(row["interval_low"] < 0.01 < row["interval_high"] for row in runs)
    assert claim("hsu", "Figure 5, right").numbers["held"] == held


def test_distribution_regression_settings_are_counted_from_the_tests() -> None:
    tests = [test for test in rows("distribution_regression", "tests") if test["second"] == "kde"]
    clear = [test for test in tests if test["p_mean"] < 0.05]
    found = claim("tang", "Figure 1, densities").numbers
    assert found["settings"] == len(tests)
    assert found["better"] == sum(test["mean_difference"] < 0 for test in clear)
    assert found["worse"] == sum(test["mean_difference"] > 0 for test in clear)


@pytest.mark.parametrize(
    ("held", "missing", "verdict"),
    [
        ((True, True), "", Verdict.HOLDS),
        ((True, True), "half of it", Verdict.PARTLY),
        ((True, False), "", Verdict.PARTLY),
        ((False, False), "", Verdict.FAILS),
        ((False, False), "half of it", Verdict.FAILS),
    ],
)
def test_a_verdict_follows_from_what_holds(held: tuple[bool, bool], missing: str, verdict: str) -> None:
    asked = tuple(Comparison("n > 0" if holds else "n < 0", "a word") for holds in held)
    query = (("n", Query("camera", take="count")),)
    made = Claim("chau", "Table 9", "c", "{n}", "start", missing_template=missing, comparisons=asked, queries=query)
    assert made.verdict == verdict and made.ours == str(len(rows("camera")))
    assert replace(made, data="its fields").verdict == Verdict.ELSEWHERE
    assert replace(made, drawing=True, data="its fields").verdict == Verdict.DRAWING


def test_comparisons_are_read_and_refused() -> None:
    numbers = {"a": 1.0, "b": 4.0}
    for text, holds in (("a < b", True), ("b / a < 4.5", True), ("a > b / 5", True), ("a < b and b < a", False),
                        ("a >= 1", True)):  # fmt: skip
        assert Comparison(text, "").holds(numbers) == holds
    for text, words in (("a", "exactly one of"), ("a < c", "does not have"), ("a * b < 3", "neither a number")):
        with pytest.raises(InputError, match=words):
            Comparison(text, "").holds(numbers)


def test_what_is_not_stored_is_said() -> None:
    with pytest.raises(InputError, match=r"`nothing\.json` is not among"):
        stored_number(Query("nothing"))
    with pytest.raises(InputError, match="contains no row"):
        stored_number(Query("camera", value="scores.mse", where={"model": "nobody"}))
    with pytest.raises(InputError, match="choose mean"):
        stored_number(Query("camera", take="mode", value="scores.mse", models=("nearest", "kbr_tr")))


@pytest.mark.parametrize("matching", ["direct", "indirect"])
def test_printed_numbers_stand_beside_the_means_of_the_stored_rows(matching: str) -> None:
    heads, *lines = claim("chau", f"Table 1, {matching}").printed
    assert heads == ("RMSE", "Printed", "Ours") and len(lines) == 5
    models = ("cmp", "shrinkage_cmp", "variational_cmp", "bag_gp", "vbagg")
    for (name, printed, ours), model in zip(lines, models, strict=True):
        mine = [
            r["scores"]["rmse"]
            for r in rows("swiss_roll")
            if (r["matching"], r["model"]) == (matching, model) and r["scores"]
        ]
        assert printed == f"{PAPER[matching][model][0]:.2f}", name
        assert ours == f"{mean(mine):.3f}", name
