"""Which words of a page are too pale to be read."""

from playwright.sync_api import Page

#: Least contrast of text with what lies behind it (WCAG 2.2, 1.4.3).
LEAST = 4.5
#: Every visible text with its colour and its ground; faces under it, opacities, the `fill` of pictures and
#: the face of a legend count.
PALE = r"""least => {
  const channels = colour => {
    const [a, b, c, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
    return colour.startsWith('color(') ? [255 * a, 255 * b, 255 * c, alpha] : [a, b, c, alpha];
  };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const linear = v => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((p, q) => p - q);
    return (high + 0.05) / (low + 0.05);
  };
  const kept = fn => { // nothing changes while this looks: what was read of a node once is so for every word in it
    const known = new Map();
    return node => known.get(node) ?? known.set(node, fn(node)).get(node);
  };
  const styleOf = kept(node => getComputedStyle(node)), boxOf = kept(node => node.getBoundingClientRect());
  const filled = shape => {
    const ink = channels(styleOf(shape).fill);
    return [...ink.slice(0, 3), ink[3] * Number(styleOf(shape).fillOpacity)];
  };
  const scrolls = node => /auto|scroll/.test(styleOf(node).overflowY) && node.scrollHeight > node.clientHeight + 1;
  const faceOf = kept(node => ({
    parent: node.parentElement,
    ends: scrolls(node) || node.dataset?.testid === 'stApp',
    opacity: Number(styleOf(node).opacity),
    colour: channels(styleOf(node).backgroundColor),
  }));
  const groundOf = kept(element => { // a face lies behind a word where it reaches; what scrolls lies behind all inside
    const box = boxOf(element), [x, y] = [box.x + box.width / 2, box.y + box.height / 2], faces = [];
    let near = true, opacity = 1;
    for (let node = element; node; node = faceOf(node).parent) {
      const face = faceOf(node);
      near = near && !face.ends;
      opacity *= face.opacity;
      if (!face.colour[3]) continue;
      const { left, right, top, bottom } = boxOf(node);
      if (!near || (x >= left && x <= right && y >= top && y <= bottom)) faces.unshift(face.colour);
    }
    const legend = element.closest('.legend')?.querySelector('rect.bg'), drawn = legend ? [filled(legend)] : [];
    return [[...faces, ...drawn].reduce((under, top) => over(top, under), [255, 255, 255, 1]), opacity];
  });
  const app = document.querySelector('[data-testid=stApp]'), found = [];
  const left = 'style, script, .katex-mathml, :disabled, [aria-disabled=true]';
  const walker = document.createTreeWalker(app, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const words = walker.currentNode.data.trim(), element = walker.currentNode.parentElement;
    if (!words || words === '\u200b' || element.closest(left)) continue;
    const { width, height } = boxOf(element);
    if (width < 2 || height < 2) continue;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const [ground, opacity] = groundOf(element), own = styleOf(element), drawn = element instanceof SVGElement;
    const ink = channels(drawn ? own.fill : own.color);
    ink[3] *= opacity * (drawn ? Number(own.fillOpacity) : 1);
    const value = contrast(over(ink, ground), ground);
    if (value < least) found.push(`${value.toFixed(2)}: ${words.slice(0, 60)}`);
  }
  return found;
}"""


def pale_words(page: Page) -> list[str]:
    """Every text whose contrast with its ground is too small, with that contrast; disabled controls are left out."""
    return page.evaluate(PALE, LEAST)
