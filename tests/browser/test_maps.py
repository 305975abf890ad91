"""A map on its canvas: colours of values, the value pointed at, zoom of a group, keys, pinch, PNG, dark, sharp."""

import math
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, expect

from deconditioning.fields.grids.grid import make_grid
from tests.browser.maps import centre, colour, field, shade, view, where
from tests.browser.serving import running_page
from tests.waiting import wait_for

HOME = "() => document.querySelector('[data-key=\"even\"]').chart.view === null"
PINCH = """([x, y, spread]) => {
  const plot = document.querySelector('[data-key="even"] .live-plot');
  const at = (name, id, dx) => plot.dispatchEvent(new PointerEvent(name, { bubbles: true, pointerId: id,
    pointerType: 'touch', button: 0, buttons: 1, clientX: x + dx, clientY: y }));
  plot.setPointerCapture = () => {};
  at('pointerdown', 11, -20); at('pointerdown', 12, 20);
  at('pointermove', 11, -20 * spread); at('pointermove', 12, 20 * spread);
  at('pointerup', 11, -20 * spread); at('pointerup', 12, 20 * spread);
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page of four maps of one group, and a curve."""
    folder = tmp_path_factory.mktemp("maps")
    with running_page(Path(__file__).with_name("maps_page.py"), folder) as url:
        yield url


def test_maps_of_a_group(new_page: Callable[..., Page], address: str) -> None:
    maps = new_page(url=address, height=1400)
    maps.goto(address)
    for key in ("even", "uneven", "down", "rotated"):
        maps.locator(f'[data-key="{key}"][data-revision]').wait_for()
    every_pixel_has_the_colour_of_its_value(maps)
    uneven_and_falling_coordinates_put_pixels_where_they_belong(maps)
    the_value_pointed_at_is_read_on_all_maps_of_the_group(maps)
    the_place_pointed_at_on_a_rotated_grid_is_its_true_one(maps)
    wheel_drag_box_keys_and_double_click_move_all_maps_together(maps)
    two_fingers_zoom_about_the_middle_between_them(maps)
    the_picture_saved_is_the_view_with_its_words(maps)
    maps_are_named_reachable_and_no_plotly_is_fetched_for_them(maps)
    a_place_changes_from_map_to_curve_and_back(maps)
    assert not maps.errors and not maps.foreign


def every_pixel_has_the_colour_of_its_value(maps: Page) -> None:
    shown = field(maps, "even")
    assert (shown["rows"], shown["columns"]) == (30, 40)
    values = np.array(shown["z"], dtype=object).reshape(30, 40)
    rng = np.random.default_rng(0)
    for row, column in rng.integers(0, (30, 40), size=(25, 2)):
        wanted = [*(shade(shown, values[row, column])), 255]
        assert colour(maps, "even", *centre(shown, row, column)) == pytest.approx(wanted, abs=2)
    assert values[3, 5] is None
    assert colour(maps, "even", *centre(shown, 3, 5))[:3] == [0xC9, 0xCD, 0xD1]


def uneven_and_falling_coordinates_put_pixels_where_they_belong(maps: Page) -> None:
    """Cells end in the middle between centres, as plotly draws them."""
    shown = field(maps, "uneven")
    centres, z = np.array([0.0, 1, 3, 6, 10]), np.array(shown["z"]).reshape(4, 5)
    edges = np.array([-0.5, 0.5, 2, 4.5, 8, 12])
    for column in range(5):
        for x in (edges[column] + 0.05, centres[column], edges[column + 1] - 0.05):
            assert colour(maps, "uneven", x, 2)[:3] == pytest.approx(shade(shown, z[2, column]), abs=2), (column, x)
    falling = field(maps, "down")
    top = np.array(falling["z"]).reshape(4, 5)[0]
    for column in range(5):  # dy < 0: the first row is the northernmost
        assert colour(maps, "down", column, 3)[:3] == pytest.approx(shade(falling, top[column]), abs=2)


def written(value: float) -> str:
    """A value in five digits, as JavaScript writes it."""
    return repr(float(f"{value:.5g}")).removesuffix(".0")


def the_value_pointed_at_is_read_on_all_maps_of_the_group(maps: Page) -> None:
    shown = field(maps, "even")
    maps.mouse.move(*where(maps, "even", *centre(shown, 2, 7)))
    (x, y), value = centre(shown, 2, 7), shown["z"][2 * 40 + 7]
    tip = maps.locator('[data-key="even"] .live-tip')
    expect(tip.locator("b")).to_have_text(f"{written(value)} K")
    expect(tip.locator("span")).to_have_text(f"{y:.2f}° N, {x:.2f}° E")
    other = field(maps, "uneven")
    column = int(np.searchsorted([0.5, 2, 4.5, 8], x))
    here = maps.locator('[data-key="uneven"] .live-tip b')
    expect(here).to_have_text(f"{written(other['z'][int(y + 0.5) * 5 + column])} m")
    falling = maps.locator('[data-key="down"] .live-tip span')  # rows from the north
    for row, column, words in ((2, 3, ""), (1, 3, "Wales")):
        maps.mouse.move(*where(maps, "down", column, 3 - row))
        expect(falling).to_have_text(re.compile(f"^{words}{chr(10) if words else ''}{3 - row}"))
    maps.mouse.move(*where(maps, "even", *centre(shown, 3, 5)))
    expect(tip.locator("b")).to_have_text("missing")
    maps.mouse.move(2, 2)
    expect(tip).to_be_hidden()


def the_place_pointed_at_on_a_rotated_grid_is_its_true_one(maps: Page) -> None:
    grid = make_grid("rotated", np.linspace(-2, 2, 21), np.linspace(-3, 3, 31),
                     mapping={"grid_north_pole_latitude": 37.5, "grid_north_pole_longitude": 177.5})  # fmt: skip
    maps.mouse.move(*where(maps, "rotated", float(grid.x[25]), float(grid.y[4])))
    lat, lon = float(grid.latitude[4, 25]), float(grid.longitude[4, 25])
    tip = maps.locator('[data-key="rotated"] .live-tip span')
    expect(tip).to_have_text(re.compile("° [NS], .*° [EW]$"))
    place = tip.inner_text().split(", ")
    north, east = (float(part.split("°")[0]) * (-1 if part[-1] in "SW" else 1) for part in place)
    assert (north, east) == pytest.approx((lat, (lon + 180) % 360 - 180), abs=0.02)


def wheel_drag_box_keys_and_double_click_move_all_maps_together(maps: Page) -> None:
    home, at = view(maps, "even"), where(maps, "even", 30, 20)
    maps.mouse.move(*at)
    maps.mouse.wheel(0, -300)
    zoomed = wait_for(lambda: (now := view(maps, "even")) != home and now, "a zoom")
    factor = math.exp(0.6)
    assert np.ptp(zoomed["x"]) == pytest.approx(np.ptp(home["x"]) / factor, rel=1e-6)
    assert where(maps, "even", 30, 20) == pytest.approx(at, abs=1)  # what lies under the pointer stays there
    assert view(maps, "uneven") == zoomed
    maps.mouse.down()
    maps.mouse.move(at[0] - 40, at[1] + 30, steps=4)
    maps.mouse.up()
    assert where(maps, "even", 30, 20) == pytest.approx((at[0] - 40, at[1] + 30), abs=1.5)
    maps.mouse.move(*where(maps, "even", *np.mean(list(view(maps, "even").values()), axis=1)))
    maps.mouse.wheel(0, 2000)
    maps.wait_for_function(HOME)
    assert view(maps, "even") == home

    maps.mouse.move(*where(maps, "even", 10, 10))
    maps.mouse.down()
    maps.mouse.move(*where(maps, "even", 20, 17.5), steps=4)
    maps.mouse.up()
    boxed = view(maps, "even")
    assert boxed["x"] == pytest.approx([10, 20], abs=0.2) and boxed["y"] == pytest.approx([10, 17.5], abs=0.2)
    maps.mouse.dblclick(*where(maps, "even", 15, 14))
    maps.wait_for_function(HOME)

    maps.locator('[data-key="even"] .live-plot').focus()
    maps.keyboard.press("+")
    maps.keyboard.press("ArrowRight")
    keyed = view(maps, "even")
    width = np.ptp(home["x"]) / 1.5
    assert keyed["x"][0] == pytest.approx(np.mean(home["x"]) - width / 2 + 0.1 * width, rel=1e-6)
    assert view(maps, "down")["x"] == keyed["x"]
    goes_home(maps)


def goes_home(maps: Page) -> None:
    """By its key, to the whole of the maps."""
    maps.locator('[data-key="even"] .live-plot').focus()
    maps.keyboard.press("0")
    maps.wait_for_function(HOME)


def test_a_tap_shows_the_value_and_one_elsewhere_hides_it(new_page: Callable[..., Page], address: str) -> None:
    page = new_page(url=address, width=390, height=844, touch=True)
    page.goto(address)
    page.locator('[data-key="even"][data-revision]').wait_for()
    shown = field(page, "even")
    page.touchscreen.tap(*where(page, "even", *centre(shown, 8, 9)))
    expect(page.locator('[data-key="even"] .live-tip b')).to_have_text(f"{written(shown['z'][8 * 40 + 9])} K")
    page.touchscreen.tap(5, 5)
    expect(page.locator('[data-key="even"] .live-tip')).to_be_hidden()


def two_fingers_zoom_about_the_middle_between_them(maps: Page) -> None:
    home, at = view(maps, "even"), where(maps, "even", 20, 15)
    maps.evaluate(PINCH, [*at, 2])
    assert np.ptp(view(maps, "even")["x"]) == pytest.approx(np.ptp(home["x"]) / 2, rel=1e-3)
    assert where(maps, "even", 20, 15) == pytest.approx(at, abs=1)
    goes_home(maps)


def the_picture_saved_is_the_view_with_its_words(maps: Page) -> None:
    shown, size = field(maps, "even"), maps.locator('[data-key="even"]').bounding_box()
    maps.locator('[data-key="even"] .live-plot').focus()
    maps.keyboard.press("+")
    box = maps.locator('[data-key="even"] .live-plot').bounding_box()
    places = [(centre(shown, row, column), shown["z"][row * 40 + column]) for row, column in ((10, 15), (18, 25))]
    at = [where(maps, "even", *place) for place, _ in places]
    with maps.expect_download() as saved:
        maps.locator('[data-key="even"]').get_by_role("button", name="Download the map as PNG").click()
    assert saved.value.suggested_filename == "temperature-in-june.png"
    picture = Image.open(BytesIO(Path(saved.value.path()).read_bytes())).convert("RGB")
    assert size and box and picture.size == (round(2 * size["width"]), round(2 * size["height"]))
    for (left, top), (_, value) in zip(at, places, strict=True):
        got = picture.getpixel((round(2 * (left - box["x"])), round(2 * (top - box["y"]))))
        assert got == pytest.approx(shade(shown, value), abs=2)
    title = np.asarray(picture)[:50, :400].astype(int)
    assert (title.sum(-1) < 300).sum() > 200, "the title is written"


def maps_are_named_reachable_and_no_plotly_is_fetched_for_them(maps: Page) -> None:
    picture = maps.locator('[data-key="even"]').get_by_role("img", name="Map, Temperature in June")
    expect(picture).to_have_attribute("tabindex", "0")
    expect(maps.locator('[data-key="even"]')).to_have_attribute("data-engine", "canvas")
    assert maps.evaluate("() => window.Plotly === undefined")
    maps.get_by_text("A curve too").click()
    maps.locator('[data-key="curve"][data-engine="plotly"][data-revision]').wait_for()
    assert maps.evaluate("() => window.Plotly !== undefined")


def a_place_changes_from_map_to_curve_and_back(maps: Page) -> None:
    before = maps.locator('[data-key="either"]').get_attribute("data-revision")
    maps.get_by_text("The curve instead").click()
    either = maps.locator('[data-key="either"]')
    expect(either).to_have_attribute("data-engine", "plotly")
    expect(either.locator(".main-svg").first).to_be_visible()
    expect(either.locator(".map-tools")).to_have_count(0)
    maps.get_by_text("The curve instead").click()
    expect(either).to_have_attribute("data-engine", "canvas")
    expect(either).to_have_attribute("data-revision", before or "")
    expect(either.locator(".main-svg")).to_have_count(0)


@pytest.fixture
def sharp(browser: Browser, address: str) -> Iterator[Page]:
    """A dark window of two device pixels a pixel."""
    context: BrowserContext = browser.new_context(base_url=address, device_scale_factor=2, color_scheme="dark")
    page = context.new_page()
    yield page
    context.close()


def test_it_is_sharp_where_a_pixel_has_four_and_dark_on_a_dark_page(sharp: Page) -> None:
    sharp.goto("/")
    sharp.locator('[data-key="even"][data-revision]').wait_for()
    canvas = sharp.locator('[data-key="even"] .map-over')
    width, box = canvas.evaluate("node => node.width"), canvas.bounding_box()
    assert box and width == round(2 * box["width"])
    shown = field(sharp, "even")
    left, right = (where(sharp, "even", x, 0)[0] for x in shown["x"])
    assert right - left > 100
    title = canvas.evaluate("node => [...node.getContext('2d').getImageData(0, 0, 400, 50).data]")
    ink = np.array(title).reshape(-1, 4)
    assert ink[ink[:, 3] > 250][:, :3].mean() > 200, "light words on a dark page"
