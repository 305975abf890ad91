"""Printed maps on page Downscaling: what the controls ask for is in the files that the buttons give."""

import re
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import FEW_CELLS, until


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """What the download buttons of the last run give, by their keys."""
    given: dict[str, Callable[[], bytes]] = {}
    button = DeltaGenerator.download_button

    def offered(self: DeltaGenerator, label: str, data: Any, *args: Any, **more: Any) -> bool:
        given[more["key"]] = data
        return button(self, label, data, *args, **more)

    monkeypatch.setattr(DeltaGenerator, "download_button", offered)
    return given


def test_controls_are_in_the_files(open_page: Callable[..., AppTest], files: dict[str, Callable[[], bytes]]) -> None:
    page = open_page("downscaling", level="All", **FEW_CELLS)
    until(page, lambda: "get-svg" in files)
    whole = files["get-svg"]().decode()  # without a choice all maps are printed
    assert "Posterior mean" in whole and "Coarse observation" in whole and "Hatched where" not in whole
    page.selectbox(key="print-page").set_value("slide")
    page.multiselect(key="print-maps").set_value(["mean", "spread"])
    page.toggle(key="print-hatched").set_value(True).run()
    until(page, lambda: any(slider.key == "print-share" for slider in page.slider))
    page.slider(key="print-share").set_value(0.1).run()
    assert not page.exception
    width, height = Image.open(BytesIO(files["get-png"]())).size
    assert width / height == pytest.approx(16 / 9, rel=0.01)
    chosen = " ".join(re.findall(r">([^<>]+)</text>", files["get-svg"]().decode())).replace("\u00a0", " ")
    assert "Posterior mean" in chosen and "Coarse observation" not in chosen
    assert "Hatched where the sd exceeds 10 % of the sd of the map" in chosen
    assert files["get-pdf"]().startswith(b"%PDF")
