"""Page One dimension in a browser: learn to the end, reload, look at the other views.

Its sliders are moved in test_back and test_tools; a fit of it is cancelled in test_shared_server.
"""

import re

from playwright.sync_api import Page, expect

from tests.browser.steps import SMALL_LINE, exceptions, opened, revision, settled


def test_what_was_learned_is_there_after_a_reload_and_the_other_views_draw_their_pictures(page: Page) -> None:
    opened(page, f"{SMALL_LINE}&o-starts=1&o-steps=20")
    page.get_by_role("button", name="Learn hyperparameters").click()
    page.get_by_text(re.compile("^Learned in")).wait_for()
    settled(page)
    said = page.get_by_text(re.compile("recovers f with RMSE")).inner_text()
    page.reload()
    expect(page.get_by_text(re.compile("recovers f with RMSE"))).to_have_text(said)
    settled(page)
    revision(page, "o-surface")
    page.get_by_role("radio", name="There and back").or_(page.get_by_text("There and back")).first.click()
    for key in ("t-function", "t-conditioned", "t-inverse", "t-reverse", "t-both"):
        revision(page, key)
    page.get_by_text("Bayes' rule", exact=True).first.click()
    for key in ("b-data", "b-posterior", "b-embedding", "b-weights"):
        revision(page, key)
    settled(page)
    assert not page.errors and not page.foreign and not exceptions(page)
