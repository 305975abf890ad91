"""Page Filtering on a small laptop: picture, buttons and the legend of both pictures are seen at once."""

from playwright.sync_api import Page, expect

from tests.browser.steps import opened


def test_pictures_buttons_and_legend_stand_on_the_first_screen(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    opened(page, "/follow")
    track, errors, legend = (
        page.locator(name) for name in ("[data-key=f-plane]", "[data-key=f-errors]", ".lab-legend")
    )
    expect(legend).to_contain_text("true state now")
    boxes = [part.bounding_box() for part in (track, legend, page.get_by_role("button", name="Next ›"))]
    ends = [box["y"] + box["height"] for box in boxes if box]
    assert len(ends) == 3 and ends == sorted(ends) and ends[-1] <= 800
    left, right = track.bounding_box(), errors.bounding_box()
    assert left and right and 0 <= right["x"] - left["x"] - left["width"] < 40
