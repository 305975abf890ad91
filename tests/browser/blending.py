"""While a slider is held its maps are blended from what was sent ahead: at every frame, and the server's has the last
word."""

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.maps import centre, colour, field, shade, where
from tests.browser.steps import pressed, settled
from tests.waiting import wait_for, wait_for_value

THERE = "() => (document.documentElement.dataset.labFrames || '').split(' ').includes('l0')"
BLENDED = 'key => Number(document.querySelector(`[data-key="${key}"]`).dataset.blended || 0)'
#: Moves a slider a little at each of so many frames of the window; at how many of them a map was blended.
MOVED = """([key, ratio, frames]) => new Promise(done => {
  const node = document.querySelector('[data-key="map-mean"]'), begin = node.chart.along[key][1];
  const first = Number(node.dataset.blended || 0);
  let frame = 0;
  const move = () => {
    if (frame++ === frames) return done(Number(node.dataset.blended) - first);
    const value = begin * ratio ** (frame / frames);
    dispatchEvent(new CustomEvent('lab-moved', { detail: { key, value } }));
    requestAnimationFrame(move);
  };
  requestAnimationFrame(move);
})"""
RESTED = """([key, ratio]) => {
  const value = document.querySelector('[data-key="map-mean"]').chart.along[key][1] * ratio;
  dispatchEvent(new CustomEvent('lab-rested', { detail: { key, value } }));
}"""
#: What is blended: its values and pixels, and the limits and colours of the map.
BLEND = """key => {
  const blend = document.querySelector(`[data-key="${key}"]`).chart.map.blend;
  if (!blend) return null;
  const { z, rows, columns, x, y, low, high, scale } = blend;
  const ends = { x: [x.from, x.to], y: [y.from, y.to] };
  return { z: Array.from(z, v => (v === v ? v : null)), rows, columns, low, high, scale, ...ends };
}"""
FRAMES = 40
PLACE = """() => {
  const input = document.querySelector('.st-key-l0 input[type=range]');
  const { x, y, width, height } = input.closest('[style*="left"]').getBoundingClientRect();
  return [x + width / 2, y + height / 2, input.closest('[data-testid=stSlider]').clientWidth];
}"""
STANDS = "() => document.querySelector('[data-key=\"map-mean\"]').chart.along.l0[1]"


def maps_are_blended_while_a_slider_is_held(page: Page) -> None:
    page.locator(".st-key-lab-presets button").first.click()  # an open menu does not keep them back
    page.wait_for_function(THERE)
    pressed(lambda: page.keyboard.press("Escape"), page.get_by_test_id("stPopoverBody"), "detached")
    settled(page)
    every_frame_is_painted_in_the_colours_of_its_values_and_goes_when_the_page_rests(page)
    maps_of_another_state_of_the_page_are_never_shown(page)
    a_dragged_slider_blends_and_the_picture_of_the_server_is_the_last_word(page)
    assert not page.errors


def every_frame_is_painted_in_the_colours_of_its_values_and_goes_when_the_page_rests(ahead: Page) -> None:
    assert ahead.evaluate(MOVED, ["l0", 0.8, FRAMES]) >= FRAMES - 4
    assert ahead.evaluate(BLENDED, "map-error") > 0
    shown = ahead.evaluate(BLEND, "map-mean")
    last = field(ahead, "map-mean")  # of the server; frames are of the same pixels here
    assert (last["rows"], last["columns"]) == (shown["rows"], shown["columns"])
    known = [i for i, value in enumerate(last["z"]) if value is not None]
    at = max(known, key=lambda i: abs(shown["z"][i] - last["z"][i]))
    ahead.mouse.move(*where(ahead, "map-mean", *centre(shown, *divmod(at, shown["columns"]))))
    tip = ahead.locator('[data-key="map-mean"] .live-tip b')
    wait_for_value(lambda: first_number(tip), pytest.approx(shown["z"][at], rel=1e-4), "the tip")
    for row, column in ((5, 9), (40, 60), (70, 20)):
        value = shown["z"][row * shown["columns"] + column]
        assert colour(ahead, "map-mean", *centre(shown, row, column))[:3] == pytest.approx(shade(shown, value), abs=2)
    ahead.evaluate(RESTED, ["l0", 0.8])
    ahead.wait_for_function(f"() => ({BLEND})('map-mean') === null")  # no run has begun: the server's picture holds
    assert abs(shown["z"][at] - last["z"][at]) > 1e-4 * abs(last["z"][at])  # seen in the five digits of a tip
    now = pytest.approx(last["z"][at], rel=2e-5)
    wait_for_value(lambda: first_number(tip), now, "the tip on the server's picture")


def first_number(tip: Locator) -> float:
    """The value that a tip gives."""
    return float((tip.inner_text().split() or ["nan"])[0])


def maps_of_another_state_of_the_page_are_never_shown(ahead: Page) -> None:
    context = ahead.evaluate("() => window.__labFrames.get('l0').context")
    relabel = "context => { window.__labFrames.get('l0').context = context; }"
    ahead.evaluate(relabel, "another")
    before = ahead.evaluate(BLENDED, "map-mean")
    ahead.evaluate(MOVED, ["l0", 0.8, 5])
    assert ahead.evaluate(BLENDED, "map-mean") == before and ahead.evaluate(BLEND, "map-mean") is None
    ahead.evaluate(relabel, context)


def a_dragged_slider_blends_and_the_picture_of_the_server_is_the_last_word(ahead: Page) -> None:
    x, y, width = ahead.evaluate(PLACE)
    before, value = ahead.evaluate(BLENDED, "map-mean"), ahead.evaluate(STANDS)
    ahead.mouse.move(x, y)
    ahead.mouse.down()
    for part in range(1, 11):
        ahead.mouse.move(x - 0.01 * part * width, y)
    wait_for(lambda: ahead.evaluate(BLENDED, "map-mean") > before, "a blended picture")
    ahead.mouse.up()
    ahead.wait_for_function(f"() => ({BLEND})('map-mean') === null && ({STANDS})() < {value}")
    settled(ahead)
    slider = ahead.locator(".st-key-l0 input[type=range]")
    wait_for(lambda: float(slider.get_attribute("aria-valuetext") or "nan")
             == pytest.approx(ahead.evaluate(STANDS), rel=1e-3), "the value of the slider in the map")  # fmt: skip
