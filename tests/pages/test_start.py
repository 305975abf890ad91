"""Page Start: the walk and its doors."""

import re
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from deconditioning.studies.story.whole_map import example, solve
from pages.kit.layout.walk import result, scores, walk
from tests.waiting import HANG_S

ROOT = Path(__file__).resolve().parents[2]


def test_the_walk_and_four_doors_are_there():
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=HANG_S).run()
    assert not page.exception
    assert page.title[0].value == "Deconditioning Lab"
    assert [door.value for door in page.subheader] == ["Learn", "Explore", "Present", "Check"]
    first = page.get("page_link")[0].proto
    assert first.label == "Downscale your own file" and "data=own" in first.query_string


def test_every_picture_of_the_walk_is_kept_with_the_project():
    named = re.findall(r'src="app/static/(.+?)"', walk())
    assert len(named) == 8 and set(re.findall(r'src="app/static/(.+?)"', result())) < set(named)
    for name in named:
        assert (ROOT / "static" / name).read_bytes().startswith(b"\x89PNG")


def test_the_scores_below_the_pictures_are_those_of_the_worked_example():
    solved = solve("ukv-645m", example("ukv-645m"))
    error = solved.problem.grid.area * (solved.mean - solved.truth) ** 2
    rmse = float(np.sqrt(error.sum() / solved.problem.grid.area.sum()))
    low, high = solved.mean - 1.959964 * solved.sd, solved.mean + 1.959964 * solved.sd
    inside = np.average((low < solved.truth) & (solved.truth < high), weights=solved.problem.grid.area)
    assert f"**{rmse:.2f} K**" in scores() and f"**{inside:.0%}**".replace("%", " %") in scores()
