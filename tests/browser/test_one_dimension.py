"""Page One dimension in a browser: drag a knob, learn, cancel, learn to the end, reload, look at the other views."""

import re

from playwright.sync_api import Page, expect

from tests.browser.steps import exceptions, opened, settled

CHANGED = """([key, before]) => {
  const plot = document.querySelector(`[data-key="${key}"]`);
  return plot && plot.dataset.revision && plot.dataset.revision !== before;
}"""


def revision(page: Page, key: str) -> str:
    """What picture a chart holds, once it is drawn."""
    page.wait_for_function(CHANGED, arg=[key, None], timeout=60_000)
    return page.eval_on_selector(f'[data-key="{key}"]', "plot => plot.dataset.revision")


def redrawn(page: Page, key: str, before: str) -> None:
    """Wait until a chart holds another picture."""
    page.wait_for_function(CHANGED, arg=[key, before], timeout=60_000)


def test_the_whole_path(new_page) -> None:
    page = opened(new_page(), "/line?o-n=60&o-m=60&o-starts=1&o-steps=40")
    before = revision(page, "o-function")
    page.locator('[data-key="o-surface"]').wait_for(timeout=60_000)
    page.get_by_role("slider", name=re.compile("Lengthscale of k")).focus()
    page.keyboard.press("ArrowLeft")
    redrawn(page, "o-function", before)
    settled(page)
    expect(page).to_have_url(re.compile("o-k-scale="))
    page.get_by_text("Cascade", exact=True).first.wait_for(timeout=60_000)

    page.get_by_role("button", name="Learn hyperparameters").click()
    page.get_by_role("button", name="Cancel").or_(page.get_by_text(re.compile("^Learned in"))).first.wait_for(
        timeout=60_000
    )
    if page.get_by_role("button", name="Cancel").is_visible():
        page.get_by_role("button", name="Cancel").click(timeout=5000)
    page.get_by_text(re.compile("Cancelled, the best so far|^Learned")).wait_for(timeout=60_000)
    settled(page)
    page.get_by_role("button", name="Learn hyperparameters").click()
    page.get_by_text(re.compile("^Learned in")).wait_for(timeout=120_000)
    settled(page)
    said = page.get_by_text(re.compile("finds f with RMSE")).inner_text()
    page.reload()
    settled(page)
    expect(page.get_by_text(re.compile("finds f with RMSE"))).to_have_text(said, timeout=30_000)
    assert not page.errors and not page.foreign and not exceptions(page)


def test_the_other_views_and_the_sparse_page_draw_their_pictures(new_page) -> None:
    page = opened(new_page(), "/line?o-n=60&o-m=60")
    page.get_by_role("radio", name="There and back").or_(page.get_by_text("There and back")).first.click()
    for key in ("t-function", "t-conditioned", "t-inverse", "t-reverse", "t-both"):
        revision(page, key)
    page.get_by_text("Bayes' rule", exact=True).first.click()
    for key in ("b-data", "b-posterior", "b-embedding", "b-weights"):
        revision(page, key)
    sparse = opened(new_page(), "/sparse")
    before = revision(sparse, "s-here")
    revision(sparse, "s-learned")
    sparse.get_by_role("slider", name=re.compile("Lengthscale of k")).focus()
    sparse.keyboard.press("ArrowRight")
    redrawn(sparse, "s-here", before)
    for window in (page, sparse):
        assert not window.errors and not window.foreign and not exceptions(window)
