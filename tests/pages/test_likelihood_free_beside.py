"""Methods of others on page Likelihood-free inference: one of them beside the page's own, and the stored comparison."""

import json
import re
from html import unescape
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.likelihood_free.inference import METHODS
from deconditioning.likelihood_free.other_methods import OTHERS
from deconditioning.likelihood_free.simulators import simulate
from deconditioning.studies.likelihood_free.settings import SimulatorSettings
from deconditioning.studies.likelihood_free.study import Calibration, exactness_gap, infer, make_problem
from deconditioning.wording import number
from pages.likelihood_free.checks import rank_verdict
from pages.likelihood_free.comparison import DRAWN, GIVEN, PREDATORS, lesson
from pages.likelihood_free.words import TITLES
from tests.pages.conftest import until

KEPT = Path(__file__).resolve().parents[2] / "data" / "benchmarks"


def tables(page: AppTest, caption: str) -> list[dict[str, list[str]]]:
    """Rows by their label of every table whose caption has these words."""
    assert not page.exception and not page.error
    found = []
    for block in page.get("html"):
        if f"<p>{caption}" in block.proto.body:
            rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", block.proto.body)
            plain = [[re.sub(r"<.*?>", "", cell) for cell in re.split(r"</t[hd]>", row)] for row in rows]
            found.append({unescape(label): cells for label, *cells in plain})
    return found


@pytest.mark.parametrize("method", OTHERS)
def test_a_method_of_others_stands_beside_the_pages_own(open_page, method: str) -> None:
    page = open_page("likelihood_free", **{"lf-also": TITLES[method]})
    until(page, lambda: TITLES[method] in tables(page, "θ: mean")[0])
    row = tables(page, "θ: mean")[0][TITLES[method]]
    problem = make_problem("exponential-gamma")
    wanted = infer(problem, simulate(problem, SimulatorSettings.simulations.default, 0), methods=(method,)).answers[
        method
    ]
    assert row[:3] == [number(value, 3) for value in (wanted.mean[0], *wanted.interval[0])]
    page.selectbox(key="lf-also").set_value("none").run()
    assert TITLES[method] not in tables(page, "θ: mean")[0]


def test_a_table_of_ones_own_has_no_simulator_for_sequential_abc(open_page) -> None:
    page = open_page("likelihood_free", **{"lf-problem": "Own table", "lf-also": TITLES["smc_abc"]})
    until(page, lambda: any("sequential ABC needs a simulator" in each.value for each in page.caption))
    assert "the 200 rows of the table" in " ".join(block.value for block in page.markdown)
    page.selectbox(key="lf-also").set_value("kelfi").run()
    until(page, lambda: TITLES["kelfi"] in tables(page, "log theta: mean")[0])


def in_numbers(cell: str) -> float:
    """A cell of a table as a number: "96 %" is 0.96."""
    return float(cell.removesuffix(" %")) / (100 if cell.endswith(" %") else 1)


def test_the_stored_comparison_is_that_of_its_files(open_page) -> None:
    page = open_page("likelihood_free")
    given, drawn, predators = (json.loads((KEPT / file).read_text())["results"] for file in (GIVEN, DRAWN, PREDATORS))
    left, right = tables(page, "Exponential-gamma, ")[0], tables(page, "Predators and prey, ")[0]
    assert list(left) == list(right) == [TITLES[method] for method in METHODS + OTHERS]
    for method in METHODS + OTHERS:
        rows = {name: [row for row in kept if row["model"] == method]
                for name, kept in (("given", given), ("drawn", drawn), ("predators", predators))}  # fmt: skip
        wanted = [
            median(row["scores"]["error"] for row in rows["given"]),
            median(row["scores"]["width"] for row in rows["given"]),
            mean(row["scores"]["holds"] for row in rows["drawn"]),
        ]
        assert [in_numbers(cell) for cell in left[TITLES[method]][:3]] == pytest.approx(wanted, rel=0.06)
        held = mean(row["scores"]["holds"] for row in rows["predators"])
        assert in_numbers(right[TITLES[method]][2]) == pytest.approx(held, rel=0.06)
        assert right[TITLES[method]][3] == f"{median(row['used'] for row in rows['predators'] if row['scores']):,.0f}"
    once = [row for row in predators if row["model"] == METHODS[0]]
    discarded, kept = median(row["discarded"] for row in once), once[0]["simulations"]
    assert right[TITLES[METHODS[0]]][3] == f"{kept + discarded:,.0f}"
    assert any(f"{discarded:,.0f} of them reached 10,000 events" in block.value for block in page.caption)


def test_the_gap_of_theorem_6_1_stands_with_the_equation(open_page) -> None:
    page = open_page("likelihood_free")
    problem = make_problem("exponential-gamma")
    gap = exactness_gap(infer(problem, simulate(problem, SimulatorSettings.simulations.default, 0), methods=("dme",)))
    assert any(f"= {gap:.2g}" in block.value for block in (*page.latex, *page.markdown))


def test_the_lesson_follows_from_the_rows() -> None:
    """Errors that scatter over seeds; kernel Bayes is as far off as the DME but for that scatter."""

    def rows(near: float, own: float, score: str) -> list[dict]:
        far = {"dme": 0.5, "kbr": 0.503, "mdn": near, "smc_abc": own}
        return [{"model": method, "seed": seed, "used": 4000 if method == "smc_abc" else 100,
                 "scores": {score: far.get(method, 1.0) + 0.01 * ((3 * seed + 2 * place) % 7)}}
                for place, method in enumerate(METHODS + OTHERS) for seed in range(14)]  # fmt: skip

    said = lesson(rows(0.2, 0.1, "error"), rows(0.9, 0.6, "distance"))
    assert "*Mixture density network* comes closest to the mean of the exact posterior" in said
    tied = " and ".join(f"*{TITLES[method]}*" for method in ("dme", "kbr"))
    assert f"{tied} come closest to the true rates" in said and said.endswith(
        "with 4,000 runs (median) it is closest on exponential-gamma, with 4,000 runs (median) it is farther away on "
        "predators and prey."
    )


def test_the_verdict_names_the_shape_of_every_histogram() -> None:
    even, middle = np.arange(100), 25 + np.arange(100) // 2
    flat, hill, other = (Calibration(name, "θ", ranks, 99) for name, ranks in (("dme", even), ("kbr", middle),
                                                                               ("abc", middle)))  # fmt: skip
    assert rank_verdict([hill, other]) == "Both are hills: the posteriors are too wide."
    assert rank_verdict([flat, hill]) == (
        f"1 of 2 is uniform: the posterior is calibrated ({TITLES['dme']}). 1 of 2 is a hill: the posterior is too "
        f"wide ({TITLES['kbr']})."
    )
    assert "biased" in rank_verdict([Calibration("dme", "θ", even // 2, 99)])
