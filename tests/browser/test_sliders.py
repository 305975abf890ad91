"""Sliders over orders of magnitude: what they read and say, one key press, the address, learned values."""

import itertools
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Mouse, Page, expect

from tests.browser.steps import ALL_CELLS, SMALL_LINE, opened, redrawn, revision, settled
from tests.waiting import wait_for, wait_for_value

LAMBDA = f"{SMALL_LINE}&o-view=Bayes%27+rule"
FOUND = re.compile("^Hidden: y, between .* Observed: x = ")
#: Counts a chart's pictures, and what is told of a slider that is dragged.
COUNT = """key => {
  window.pictures = 0; window.told = [];
  const count = ({ target }) => { if (target.dataset.key === key) window.pictures++; };
  new MutationObserver(records => records.forEach(count))
    .observe(document.body, { subtree: true, attributes: true, attributeFilter: ['data-revision'] });
  const note = ({ type, detail }) => window.told.push([type, detail]);
  for (const name of ['lab-moved', 'lab-rested']) addEventListener(name, note);
}"""
#: Pictures that come while a slider is dragged; a quiet machine draws them in half a second.
ON_THE_WAY = 4
MIDDLES = """handle => [handle.closest('[style*="left"]'), handle.closest('[data-testid=stSlider]')].map(element => {
  const { x, y, width, height } = element.getBoundingClientRect();
  return [x + width / 2, y + height / 2, width];
})"""


PALE = "() => document.documentElement.hasAttribute('data-lab-held')"


def handle(page: Page, name: str):
    return page.get_by_role("slider", name=name)


def said(page: Page, name: str) -> str:
    """What a screen reader says; it is what stands at the handle."""
    slider = handle(page, name)
    box = page.locator("[data-testid=stSlider]").filter(has=slider)
    value = box.get_by_test_id("stSliderThumbValue")
    return wait_for(
        lambda: (text := slider.get_attribute("aria-valuetext")) == value.inner_text() and text, f"one value of {name}"
    )


def asked_in(url: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(url).query)


def test_one_key_press_is_one_step_and_the_value_is_read_said_and_kept_in_the_address(
    new_page: Callable[..., Page],
) -> None:
    page = opened(new_page(), LAMBDA)
    first = said(page, "λ, of the simulation")
    assert float(first) > 0
    handle(page, "λ, of the simulation").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("b-lam="))
    settled(page)
    now = said(page, "λ, of the simulation")
    assert 1.05 < float(now) / float(first) < 1.2
    page.wait_for_url(lambda url: asked_in(url)["b-lam"] == [now])
    found = page.get_by_text(FOUND).inner_text()

    again = opened(new_page(), urlsplit(page.url)._replace(scheme="", netloc="").geturl())
    assert said(again, "λ, of the simulation") == now
    expect(again.get_by_text(FOUND)).to_have_text(found)

    page.keyboard.press("ArrowLeft")
    page.wait_for_url(lambda url: "b-lam" not in url)  # the default is not written
    expect(handle(page, "λ, of the simulation")).to_have_attribute("aria-valuetext", first)


def test_an_address_beyond_an_end_is_clipped_with_a_sentence(page: Page) -> None:
    opened(page, f"{LAMBDA}&b-lam=7&b-eps=inf&b-herd=9999")
    assert said(page, "λ, of the simulation") == "1"
    expect(
        page.get_by_text("The address contains b-lam=7, which is outside the limits. The page uses 1.")
    ).to_be_visible()
    expect(page.get_by_text("b-herd=9999, which is outside the limits. The page uses 500.")).to_be_visible()
    page.wait_for_url(lambda url: "b-lam=1" in url and "b-herd=500" in url)
    opened(page, urlsplit(page.url)._replace(scheme="", netloc="").geturl())
    assert said(page, "λ, of the simulation") == "1" and not page.errors


def test_a_value_between_the_steps_stays_through_other_pages_and_the_way_back(page: Page) -> None:
    opened(page, f"{LAMBDA}&b-lam=0.001734")
    assert said(page, "λ, of the simulation") == "0.001734"
    handle(page, "Observed x").focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert said(page, "λ, of the simulation") == "0.001734"
    handle(page, "λ, of the simulation").focus()
    page.keyboard.press("ArrowRight")
    expect(handle(page, "λ, of the simulation")).not_to_have_attribute("aria-valuetext", "0.001734")
    page.keyboard.press("ArrowLeft")
    expect(handle(page, "λ, of the simulation")).to_have_attribute("aria-valuetext", "0.001734")
    settled(page)
    page.wait_for_url(re.compile("b-lam=0.001734"))


class Finger:
    """A finger, which is moved, put down and lifted as a mouse is."""

    def __init__(self, page: Page) -> None:
        self.session, self.points = page.context.new_cdp_session(page), [{"x": 0.0, "y": 0.0}]
        self.is_down = False

    def move(self, x: float, y: float) -> None:
        self.points = [{"x": x, "y": y}]
        if self.is_down:
            self._touch("touchMove", self.points)

    def down(self) -> None:
        self.is_down = True
        self._touch("touchStart", self.points)

    def up(self) -> None:
        self.is_down = False
        self._touch("touchEnd", [])

    def _touch(self, kind: str, points: list[dict[str, float]]) -> None:
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def dragged(page: Page, name: str, chart: str, pointer: Mouse | Finger, look: Callable[[], None] = lambda: None) -> str:
    """Drag a handle to and fro until pictures of the chart have come, look, then let go of it at another value than
    before.

    Returns what it shows then.
    """
    slider = handle(page, name)
    slider.scroll_into_view_if_needed()
    before = slider.get_attribute("aria-valuetext")
    (x, y, _), (middle, _, width) = slider.evaluate(MIDDLES)
    page.evaluate(COUNT, chart)
    pointer.move(x, y)
    pointer.down()
    places = itertools.cycle([*range(20), *range(20, 0, -1)])

    def enough() -> bool:
        pointer.move(middle + width * (next(places) / 40 - 0.25), y)
        page.wait_for_timeout(40)
        pictures = page.evaluate("() => window.pictures")
        return pictures >= ON_THE_WAY and slider.get_attribute("aria-valuetext") != before

    wait_for(enough, f"{ON_THE_WAY} pictures of a slider that is dragged", every=0)
    look()
    now = slider.get_attribute("aria-valuetext")
    assert page.evaluate(PALE), "words of the value before are not pale"
    pointer.up()
    settled(page)
    wait_for(lambda: not page.evaluate(PALE), "words of the new value")
    assert now != before
    wait_for_value(lambda: said(page, name), now, f"{name} when it was let go")
    return now


#: Pages on which a drag moves a map, and the whole page; in the test below these, a picture.
CASES = {
    "a map": (ALL_CELLS, "Lengthscale: surface altitude", "l1", "map-mean"),
    "a whole page": ("/simulate", "ℓ, in sd of near parameters", "lf-len", "lf-marginal-0"),
}


@pytest.mark.parametrize(("path", "name", "key", "chart"), CASES.values(), ids=CASES)
def test_pictures_follow_a_dragged_handle_and_the_drag_is_one_step(
    page: Page, path: str, name: str, key: str, chart: str
) -> None:
    opened(page, path)
    before = said(page, name)
    now = dragged_in_one_step(page, name, key, chart)
    goes_back_and_forth(page, name, before, now)
    assert not page.errors


def test_a_drag_does_not_lay_out_the_page_for_each_picture_and_ends_on_the_page_of_its_address(
    page: Page, new_page: Callable[..., Page]
) -> None:
    opened(page, SMALL_LINE)
    before = said(page, "Lengthscale of k")
    requested = "() => window.labAsked"  # runs, but for those of timers
    asked = [page.evaluate(requested)]
    now = dragged_in_one_step(
        page, "Lengthscale of k", "o-k-scale", "o-function", lambda: asked.append(page.evaluate(requested))
    )
    assert asked[1] - asked[0] < ON_THE_WAY  # while the handle was held: not once a picture
    again = opened(new_page(), urlsplit(page.url)._replace(scheme="", netloc="").geturl())
    wait_for_value(lambda: said(again, "Lengthscale of k"), now, "the slider of the address")
    expect(page.get_by_text("recovers f with RMSE")).to_have_text(
        again.get_by_text("recovers f with RMSE").inner_text()
    )
    for chart in ("o-function", "o-first", "o-weights", "o-error"):
        wait_for(lambda chart=chart: revision(page, chart) == revision(again, chart), f"the same {chart}")
    goes_back_and_forth(page, "Lengthscale of k", before, now)
    assert not page.errors


def dragged_in_one_step(page: Page, name: str, key: str, chart: str, look: Callable[[], None] = lambda: None) -> str:
    """Drag a handle: the address has its value, the history no entry more, and other pictures heard of each value.

    Returns the value.
    """
    entries = page.evaluate("() => history.length")
    now = dragged(page, name, chart, page.mouse, look)
    page.wait_for_url(lambda url: asked_in(url).get(key) == [now])
    assert page.evaluate("() => history.length") == entries
    events = page.evaluate("() => window.told")
    kinds = [kind for kind, _ in events]
    assert kinds[-1] == "lab-rested" and set(kinds[:-1]) == {"lab-moved"} and len(kinds) > ON_THE_WAY
    assert {detail["key"] for _, detail in events} == {key}
    assert events[-1][1]["text"] == now and events[-1][1]["value"] == float(now)
    assert all(0 <= detail["fraction"] <= 1 for _, detail in events)
    return now


def goes_back_and_forth(page: Page, name: str, before: str, now: str) -> None:
    """One Undo takes the drag back, one Redo does it again."""
    undo = page.locator(".st-key-lab-undo button").first
    undo.click()
    expect(handle(page, name)).to_have_attribute("aria-valuetext", before)
    settled(page)
    expect(undo).to_be_disabled()
    page.locator(".st-key-lab-redo button").first.click()
    expect(handle(page, name)).to_have_attribute("aria-valuetext", now)


#: Makes each drawing by plotly take its time; counts the pictures of every chart.
SLOW_PLOTLY = """() => {
  const react = window.Plotly.react;
  window.Plotly.react = (...given) => {
    const begun = performance.now();
    while (performance.now() - begun < 40);
    return react(...given);
  };
  window.counts = {};
  new MutationObserver(records => records.forEach(({ target: { dataset } }) => {
    window.counts[dataset.key] = (window.counts[dataset.key] || 0) + 1;
  })).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['data-revision'] });
}"""
EMBEDDINGS = "/embeddings?e-layout=50+%C3%97+3&e-lam=0.01"
OTHERS = {"e-standard", "e-shrinkage", "e-slice"}


@pytest.mark.parametrize("height", [600, 2400], ids=["below the window", "in sight"])
def test_the_largest_picture_keeps_its_pace_where_drawing_is_slow(page: Page, height: int) -> None:
    """Of the others those in sight take turns; those below the window wait for the release."""
    page.set_viewport_size({"width": 1280, "height": height})
    opened(page, EMBEDDINGS)
    page.evaluate(SLOW_PLOTLY)
    counts: dict[str, int] = {}

    def move_on() -> None:
        (_, y, _), (middle, _, width) = handle(page, "λ").evaluate(MIDDLES)
        for place in range(40):
            page.mouse.move(middle + width * (abs(place - 20) / 40 - 0.25), y)
            page.wait_for_timeout(40)
        counts.update(page.evaluate("() => window.counts"))

    dragged(page, "λ", "e-groups", page.mouse, move_on)
    others = [counts[name] for name in OTHERS]
    if height == 600:
        assert set(others) == {1}  # with the run of the first value
    else:
        assert min(others) > 1 and max(others) <= counts["e-groups"] // 3
    assert min(page.evaluate("() => window.counts")[name] for name in OTHERS) > min(others)
    assert not page.errors


def test_where_the_server_does_not_answer_a_drag_each_value_makes_a_run(page: Page) -> None:
    page.route("**/_lab/drag/*", lambda route: route.fulfill(status=404))
    opened(page, SMALL_LINE)
    now = dragged(page, "Lengthscale of k", "o-function", page.mouse)
    page.wait_for_url(lambda url: asked_in(url).get("o-k-scale") == [now])


def test_a_finger_drags_as_a_mouse_does(new_page: Callable[..., Page]) -> None:
    page = opened(new_page(width=900, touch=True), SMALL_LINE)
    now = dragged(page, "Lengthscale of k", "o-function", Finger(page))
    page.wait_for_url(lambda url: asked_in(url).get("o-k-scale") == [now])
    assert not page.errors


def test_without_streamlits_inner_parts_the_value_is_sent_on_release(page: Page) -> None:
    page.add_init_script(
        "Object.keys = (keys => of => keys(of).filter(key => !key.startsWith('__react')))(Object.keys)"
    )
    opened(page, SMALL_LINE)
    before = revision(page, "o-function")
    slider = handle(page, "Lengthscale of k")
    slider.scroll_into_view_if_needed()
    (x, y, _), (_, _, width) = slider.evaluate(MIDDLES)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + width / 5, y, steps=5)
    page.wait_for_timeout(500)
    assert revision(page, "o-function") == before
    page.mouse.up()
    redrawn(page, "o-function", before)
    assert not page.errors
