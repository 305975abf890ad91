"""What axe-core finds on a page that keeps people out (WCAG 2.2, levels A and AA)."""

from collections.abc import Sequence

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.steps import settled

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
#: Rules whose answer may change with the theme and the width of the window.
LOOKS_RULES = ("link-in-text-block", "scrollable-region-focusable", "target-size")
CONTRAST = "color-contrast"
BARRED = ("serious", "critical")
RUN = """async ([script, only, within, without]) => {
  if (!window.axe) new Function(script)();
  const where = { include: [[within]], exclude: [['.live-plot svg']] }; // hidden from assistive technology
  const rules = Object.fromEntries(without.map(rule => [rule, { enabled: false }]));
  const { violations } = await axe.run(where, { runOnly: only, rules, resultTypes: ['violations'], preload: false });
  return violations.flatMap(({ id, impact, nodes }) => nodes.map(n => [impact, id, n.target.join(' '), n.html]));
}"""


def barriers(page: Page, rules: Sequence[str] = (), within: str = "body", without: Sequence[str] = ()) -> list[str]:
    """Serious and critical violations of all rules, or of some, inside what a selector finds, that stay.

    ``without``: rules that are left out, such as contrast, axe's slowest, where `contrast.pale_words` looks for it.
    """
    found = _violations(page, rules, within, without)
    if found:  # what has just been redrawn fades in for a moment
        if page.get_by_test_id("stApp").count():
            settled(page)
        found = _violations(page, rules, within, without)
    return found


def _violations(page: Page, rules: Sequence[str], within: str, without: Sequence[str]) -> list[str]:
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": TAGS}
    found = page.evaluate(RUN, [AXE_SCRIPT, only, within, without])
    return [f"{rule}: {where}: {html[:160]}" for impact, rule, where, html in found if impact in BARRED]
