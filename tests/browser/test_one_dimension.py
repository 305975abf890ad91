"""Page One dimension in a browser: drag a knob, learn, cancel, learn to the end, reload, look at the other views."""

import re

from playwright.sync_api import Page, expect

from tests.browser.steps import exceptions, move_slider, opened, redrawn, revision, settled

SMALL = "/line?o-n=60&o-m=60"
LEARNED = re.compile("^Learned in")


def learn(page: Page) -> None:
    """Press Learn."""
    page.get_by_role("button", name="Learn hyperparameters").click()


def test_a_moved_slider_and_a_cancelled_learning(new_page) -> None:
    page = opened(new_page(), "/line?o-starts=10&o-steps=300")
    page.locator('[data-key="o-surface"]').wait_for()
    page.get_by_text("Cascade", exact=True).first.wait_for()  # from now on only the slider redraws the picture
    settled(page)
    before = revision(page, "o-function")
    move_slider(page, "Lengthscale of k", key="ArrowLeft")
    redrawn(page, "o-function", before)
    expect(page).to_have_url(re.compile("o-k-scale="))
    learn(page)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text(re.compile("^Cancelled")).first.wait_for()
    settled(page)
    assert not page.errors and not page.foreign and not exceptions(page)


def test_what_was_learned_is_there_after_a_reload(new_page) -> None:
    page = opened(new_page(), f"{SMALL}&o-starts=1&o-steps=20")
    learn(page)
    page.get_by_text(LEARNED).wait_for()
    settled(page)
    said = page.get_by_text(re.compile("recovers f with RMSE")).inner_text()
    page.reload()
    expect(page.get_by_text(re.compile("recovers f with RMSE"))).to_have_text(said)
    settled(page)
    assert not page.errors and not page.foreign and not exceptions(page)


def test_the_other_views_and_the_sparse_page_draw_their_pictures(new_page) -> None:
    page = opened(new_page(), SMALL)
    page.get_by_role("radio", name="There and back").or_(page.get_by_text("There and back")).first.click()
    for key in ("t-function", "t-conditioned", "t-inverse", "t-reverse", "t-both"):
        revision(page, key)
    page.get_by_text("Bayes' rule", exact=True).first.click()
    for key in ("b-data", "b-posterior", "b-embedding", "b-weights"):
        revision(page, key)
    sparse = opened(new_page(), "/sparse")
    before = revision(sparse, "s-here")
    revision(sparse, "s-learned")
    move_slider(sparse, "Lengthscale of k")
    redrawn(sparse, "s-here", before)
    for window in (page, sparse):
        assert not window.errors and not window.foreign and not exceptions(window)
