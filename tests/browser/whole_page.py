"""What must hold of a page with everything open, light and dark, wide and narrow: equations are mathematics, sliders
say their values, words can be read, nothing is wider than the window, goes wrong or is fetched elsewhere; axe-core
finds no serious or critical violation of WCAG 2.2 AA."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from deconditioning.models.catalogue import MODELS
from pages.kit.controls.level import ALL, KEY
from pages.kit.pages import PAGES
from tests.browser.accessible import CONTRAST, LOOKS_RULES, barriers
from tests.browser.contrast import pale_words
from tests.browser.one_view import is_on_a_phone, is_on_the_screen
from tests.browser.steps import CELLS, darkness, exceptions, opened, overflow, popovers, settled, turned_dark, unfolded
from tests.waiting import HANG_MS

STUDIES = [f"/{page.url_path}" for page in PAGES if page.study]
ADDRESSES = ("/", *(f"/{page.url_path}" for page in PAGES[1:]))
#: Every place of the pages that gives an equation, and where to read it.
PLACES = {
    "story/rendering.py": "/story",
    "kernel_bayes/words.py": "/bayes",
    "likelihood_free/words.py": "/simulate",
    "sparse_representation/words.py": "/sparse",
    "swiss_roll/words.py": "/roll",
    "distribution_regression/picture.py": "/distributions",
    "distribution_regression/risk.py": "/distributions",
    "distribution_regression/clusters.py": "/distributions",
    "distribution_regression/theory.py": "/distributions",
    "downscaling/descriptions.py": "/downscale",
    "conditional_mean_embeddings/estimates.py": "/embeddings",
    "conditional_mean_embeddings/rates.py": "/embeddings?e-view=Rates",
    "filtering/camera.py": "/follow?f-system=camera",
    "filtering/words.py": "/follow",
    "kernel_bayes/prior.py": "/bayes?k-more=what+is+left+of+the+prior",
    "period/page.py": "/period",
    "one_dimension/bayes.py": "/line?o-view=Bayes%27+rule",
    "one_dimension/recover.py": "/line",
    "one_dimension/trip.py": "/line?o-view=There+and+back",
}
#: Views and models that say more than what their page opens with.
MORE = [
    *(f"/story?step={step}" for step in (4, 6)),
    "/story?about=bayes&step=2",
    "/story?about=simulators&step=3",
    "/story?about=distributions&step=3",
    "/bayes?k-more=error+against+n+and+time",
    *(f"{CELLS}&model={MODELS[name].title.replace(' ', '+')}" for name in ("task_transformed_gp", "variational_gp")),
]
EXPECTED = {
    **dict.fromkeys(ADDRESSES, 0),
    **dict.fromkeys([*PLACES.values(), *MORE], 1),
    PLACES["kernel_bayes/prior.py"]: 2,
    PLACES["distribution_regression/theory.py"]: 3,
}
LOOK = r"""async () => {
  await document.fonts.ready;
  const visible = ({ parentElement }) => parentElement.checkVisibility()
    && !parentElement.closest('.katex, style, script, code');
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), raw = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const tex = /\$\$|\$[^$\n]+\$|\\[a-zA-Z]{2,}|\^[{\\(\d.−-]/;
    if (tex.test(node.data) && visible(node)) raw.push(node.data.slice(0, 80));
  }
  const number = /^[\d.,−-]+(e-?\d+)?%?$/, all = selector => [...document.querySelectorAll(selector)];
  return {
    'raw TeX': raw,
    'not understood': all('.katex-error, .katex [style*="color"]').map(element => element.textContent.slice(0, 80)),
    'clipped': all('.katex-display')
      .filter(e => !e.closest('details:not([open])') && e.scrollHeight > e.clientHeight + 1)
      .map(e => `${e.clientHeight} of ${e.scrollHeight} px: ${e.textContent.slice(0, 80)}`),
    'handles not said as they are read': all('[data-testid=stSlider]').map(slider => [
      [...slider.querySelectorAll('[data-testid=stSliderThumbValue]')].map(text => text.textContent),
      [...slider.querySelectorAll('input[type=range]')].map(input => input.getAttribute('aria-valuetext')),
    ]).filter(([read, said]) => String(read) !== String(said) || !read.every(text => number.test(text))),
    'without display': all('[data-testid=stExpander]').filter(e => /^\S* ?The equation/.test(e.innerText.trim()))
      .filter(e => !e.querySelector('.katex-display')).map(e => e.innerText.slice(0, 80)),
  };
}"""
#: The pages whose popovers axe-core looks at, too: page Downscaling has its own.
POPOVERS = ("/line", "/downscale")
#: Popovers that are the same on all pages, and looked at on these.
TOOLS = ("Star", "Link")
#: A fault counts when it is there so many times, each after the page has settled.
LOOKS = 6
EXPANDERS = "[data-testid=stExpander]:has(.katex-display):not(:has([data-testid=stExpander]))"


def look(page: Page, where: str) -> list[str]:
    """What is not as it should be on the page, and stays so: what has just been redrawn fades in for a moment."""
    wrong: dict[str, object] = {}
    for _ in range(LOOKS):
        seen = page.evaluate(LOOK) | {
            "pixels too wide": overflow(page),
            "too pale": pale_words(page),
            "exceptions": exceptions(page),
        }
        wrong = {what: value for what, value in seen.items() if value}
        if not wrong:
            break
        settled(page)
    return [f"{where}: {what}: {value}" for what, value in wrong.items()]


def wrong(page: Page, address: str) -> list[str]:
    """What is not as it should be, with everything opened; the window is narrow and dark in the end.

    Of a page that has been looked at already, another view is looked at without popovers, and dark only where narrow.
    """
    found, first = [] if darkness(page) < 0.5 else ["not light"], "?" not in address
    for where in unfolded(page):
        found += look(page, where)
        if first and where == "the page":
            found += barriers(page, without=() if address in POPOVERS else [CONTRAST])
    for where in popovers(page, without=() if address in POPOVERS else TOOLS) if first else ():
        found += look(page, where)
        if address in POPOVERS:
            found += barriers(page, within="[data-testid=stPopoverBody]", without=[CONTRAST])
    expect(page.locator(EXPANDERS)).to_have_count(EXPECTED[address])
    if first:
        found += look(turned_dark(page), "dark")
    page.set_viewport_size({"width": 390, "height": 844})
    found += look(turned_dark(page), "narrow and dark")
    if address in STUDIES:
        is_on_a_phone(page)
    if darkness(page) < 0.5:
        found.append("not dark")
    if first:
        found += barriers(page, LOOKS_RULES)
    if address in POPOVERS:
        for where in popovers(page):
            found += [f"{where}: {one}" for one in barriers(page, LOOKS_RULES, "[data-testid=stPopoverBody]")]
    return found + [f"{what}: {one}" for what in ("errors", "foreign") for one in getattr(page, what)]


def is_as_it_should_be(new_page: Callable[..., Page], address: str) -> None:
    """Open the page at this address and look at everything on it."""
    page = as_a_new_visitor_sees_it(new_page, address) if address in STUDIES else opened(new_page(), address)
    expect(page.get_by_text("The exact maps follow.")).to_have_count(0, timeout=HANG_MS)
    if address.startswith("/story"):
        answered(page)
    settled(page)  # expanders come with the exact maps, and a click on one closes an open popover
    title = next((one.title for one in PAGES if address.startswith(f"/{one.url_path}")), PAGES[0].title)
    expect(page).to_have_title(title)
    expect(page.locator("h1")).to_have_count(1)
    assert not (found := wrong(page, address)), "\n".join(found)


def answered(page: Page) -> None:
    """Guess, and reveal: only then a step of the story shows its mathematics."""
    settled(page)
    reveal = page.get_by_role("button", name="Reveal")
    if reveal.is_disabled():
        page.locator(".st-key-story-question [data-testid=stButtonGroup] button").first.click()
    reveal.click()
    expect(page.get_by_role("button", name="Guess again")).to_be_visible(timeout=HANG_MS)


def as_a_new_visitor_sees_it(new_page: Callable[..., Page], address: str) -> Page:
    """A page of a study, looked at as it opens for a new visitor, then with all controls."""
    page = opened(new_page(height=800, level=""), address)
    is_on_the_screen(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    level = page.locator(f".st-key-{KEY}")
    level.get_by_text(ALL, exact=True).click()
    expect(level.get_by_role("radio", name=ALL)).to_be_checked()
    page.mouse.move(1270, 890)  # under the pointer words have other colours
    settled(page)
    return page


def looks_find_what_is_wrong(page: Page) -> None:
    """`test_theme` says so on its page."""
    page.evaluate(
        r"""() => document.querySelector('[data-testid=stMain] h1').insertAdjacentHTML('afterend',
        '<p>$$ x = \\frac{1}{2} $$</p><p>\\bar K</p><p>n^−0.5</p><p class="katex-error">x</p>'
        + '<p class="katex"><b style="color: #cc0000">\\nosuch</b></p><button></button>'
        + '<i style="color: #ddd; background: white">pale</i><p role="img" aria-label="a"><a href="/">b</a></p>')"""
    )
    seen = page.evaluate(LOOK)
    assert len(seen["raw TeX"]) == 3 and len(seen["not understood"]) == 2
    found = {violation.partition(":")[0] for violation in barriers(page)}
    assert found >= {"button-name", "color-contrast", "nested-interactive"}
