"""Points in space on their canvas: a pinhole camera's picture, colours and values, turned together, reset, PNG."""

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from deconditioning.figures.colours import mark_scale
from deconditioning.figures.studies.swiss_roll import roll_in_space
from tests.browser.serving import running_page
from tests.browser.space_page import POINTS, VALUES
from tests.waiting import wait_for

#: Middles of the discs on a canvas by their colours, in CSS pixels.
DISCS = """([key, colours]) => {
  const canvas = document.querySelector(`[data-key="${key}"] .map-over`), ratio = canvas.width / canvas.clientWidth;
  const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return colours.map(([r, g, b]) => {
    let n = 0, x = 0, y = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (!data[i + 3] || Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) > 6) continue;
      n += 1; x += (i / 4) % width; y += Math.floor(i / 4 / width);
    }
    return n ? [x / n / ratio, y / n / ratio] : null;
  });
}"""
AWAY = 2.6


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_page(Path(__file__).with_name("space_page.py"), tmp_path_factory.mktemp("space")) as url:
        yield url


def test_points_in_space(new_page: Callable[..., Page], address: str) -> None:
    page = new_page(url=address, height=1000)
    page.goto(address)
    for key in ("one", "other"):
        page.locator(f'[data-key="{key}"][data-engine="space"][data-revision]').wait_for()
    home = discs(page, "one")
    assert off_a_pinhole(home, camera()) < 0.7
    assert off_a_pinhole(discs(page, "other")[::-1], camera()) < 0.7, "values in reverse order"
    the_value_pointed_at_is_read(page, home)
    both_turn_together_and_back(page, home)
    keys_turn_too(page, home)
    the_picture_can_be_saved(page)
    assert page.evaluate("() => window.Plotly === undefined") and not page.errors and not page.foreign


def camera() -> tuple[float, float]:
    """Azimuth and elevation with which the figure opens."""
    figure = roll_in_space(POINTS, VALUES, title="", label="", colours="sequential", limits=(0.0, 4.0))
    x, y, z = (figure["layout"]["scene"]["camera"]["eye"][name] for name in "xyz")
    return float(np.arctan2(y, x)), float(np.arctan2(z, np.hypot(x, y)))


def discs(page: Page, key: str) -> np.ndarray:
    """(5, 2) middles of the discs of the values 0 to 4."""
    scale = mark_scale("sequential", False)
    rows = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for _, colour in scale]
    at = np.linspace(0, 1, len(scale))
    shares = np.linspace(0, 1, len(VALUES))
    colours = [[round(float(np.interp(v, at, [row[c] for row in rows]))) for c in range(3)] for v in shares]
    found = page.evaluate(DISCS, [key, colours])
    assert all(found), found
    return np.array(found)


def off_a_pinhole(pixels: np.ndarray, view: tuple[float, float]) -> float:
    """Largest distance in pixels from what a pinhole camera at distance 2.6 from the middle of the unit cube sees, up
    to scale and place: its rotation from three elementary ones, its picture by homogeneous coordinates."""
    turn, lift = view
    a, e = -turn - np.pi / 2, lift  # turn the azimuth of the eye to −y, then lift it
    about_z = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    about_x = np.array([[1, 0, 0], [0, np.cos(e), -np.sin(e)], [0, np.sin(e), np.cos(e)]])
    cube = (POINTS - POINTS.min(0)) / np.ptp(POINTS, axis=0) - 0.5
    eye = cube @ (about_x @ about_z).T  # x to the right, z up, −y towards the eye
    seen = np.column_stack([eye[:, 0], -eye[:, 2]]) / (AWAY + eye[:, 1])[:, None]
    design = np.zeros((10, 3))
    design[:, 0], design[:5, 1], design[5:, 2] = seen.T.ravel(), 1, 1
    wanted = pixels.T.ravel()
    scale, *place = np.linalg.lstsq(design, wanted, rcond=None)[0]
    assert scale > 100
    return float(np.abs(design @ np.array([scale, *place]) - wanted).max())


def the_value_pointed_at_is_read(page: Page, at: np.ndarray) -> None:
    box = page.locator('[data-key="one"] .live-plot').bounding_box()
    tip = page.locator('[data-key="one"] .live-tip')
    for value in (0, 3, 4):
        page.mouse.move(box["x"] + at[value][0], box["y"] + at[value][1])
        expect(tip).not_to_have_attribute("hidden", "")
        expect(tip.locator("b")).to_have_text(f"Value {value:.3f}")
        expect(tip.locator("span")).to_have_text(f"height {POINTS[value, 2]:.2f}")
    page.mouse.move(box["x"] + 4, box["y"] + 60)
    expect(tip).to_have_attribute("hidden", "")


def both_turn_together_and_back(page: Page, home: np.ndarray) -> None:
    box = page.locator('[data-key="one"] .live-plot').bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 240, box["y"] + 210, steps=4)
    page.mouse.up()
    turn, lift = camera()
    view = turn - 0.4, lift + 0.1
    wait_for(lambda: off_a_pinhole(discs(page, "one"), view) < 0.7, "turned by a hundredth of a radian a pixel")
    assert off_a_pinhole(discs(page, "other")[::-1], view) < 0.7
    page.locator('[data-key="other"] .live-plot').dblclick(position={"x": 200, "y": 200})
    wait_for(lambda: np.abs(discs(page, "one") - home).max() < 0.7, "the first view")


def keys_turn_too(page: Page, home: np.ndarray) -> None:
    picture = page.locator('[data-key="one"]').get_by_role("img", name="Points, one")
    picture.focus()
    page.keyboard.press("ArrowUp")
    wait_for(lambda: off_a_pinhole(discs(page, "one"), (camera()[0], camera()[1] + 0.12)) < 0.7, "lifted")
    page.keyboard.press("0")
    wait_for(lambda: np.abs(discs(page, "one") - home).max() < 0.7, "the first view")


def the_picture_can_be_saved(page: Page) -> None:
    picture = page.locator('[data-key="one"]')
    picture.hover()
    with page.expect_download() as download:
        picture.get_by_role("button", name="Download the picture as PNG").click()
    assert download.value.suggested_filename == "points-one.png"
    saved = Image.open(BytesIO(Path(download.value.path()).read_bytes())).convert("RGB")
    canvas = page.locator('[data-key="one"] .map-over').evaluate("canvas => [canvas.width, canvas.height]")
    assert list(saved.size) == canvas and len(np.unique(np.asarray(saved).reshape(-1, 3), axis=0)) > 50
