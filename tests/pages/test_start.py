"""Page Start: the walk and its doors."""

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.kit.layout.walk import result, walk
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
