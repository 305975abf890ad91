// Around a page: the theme is told to Python, the open sidebar of a phone leaves a picture in sight, wide tables say so,
// the keyboard goes into what a button unfolds.

const find = name => document.querySelector(`[data-testid=${name}]`);

// ---- theme -------------------------------------------------------------------------------------------------------
const shownDark = () => getComputedStyle(find('stApp')).colorScheme === 'dark';

// Pictures are coloured in Python; it is told once of each change, and answers with data that agree.
// What stands outside the app, as popovers do, takes its colours from the document.
const tellTheme = (dark, tell) => {
  const shown = shownDark();
  document.documentElement.style.colorScheme = shown ? 'dark' : 'light';
  if (shown === dark) window.__labTold = undefined;
  else if (window.__labTold !== shown) { window.__labTold = shown; tell(Date.now()); }
};

// ---- a phone's sidebar: a sheet below the page (layout.css) --------------------------------------------------------
const SHEET = matchMedia('(max-width: 768px)'); // where Streamlit lays the sidebar over the page

const boxOf = node => node.getBoundingClientRect();
const overlap = (box, area) => Math.max(0, Math.min(box.bottom, area.bottom) - Math.max(box.top, area.top));
const inSight = (box, area) => overlap(box, area) > Math.min(box.height, area.height) - 60;

// Of the given pictures the one that is seen most, or the nearest, is brought into what is left of the page.
const bringIntoSight = charts => {
  const area = boxOf(find('stMain')), away = node => Math.abs(boxOf(node).top - area.top) - 4 * overlap(boxOf(node), area);
  if (!charts.length || charts.some(node => inSight(boxOf(node), area))) return;
  charts.reduce((best, node) => (away(node) < away(best) ? node : best)).scrollIntoView({ block: 'start' });
};

const sheetIsOpen = () => SHEET.matches && find('stSidebar')?.dataset.collapsed === 'false';
let touched = false; // whether a control was used since the sheet was opened
const moved = new Set(); // the pictures that were drawn since a control was used last

const opened = () => {
  touched = false;
  bringIntoSight([...find('stMain').querySelectorAll('.live-chart')].filter(node => node.clientHeight > 60));
};

// Once a page is chosen the sheet has done its work, and the page is read from its top.
document.addEventListener('click', ({ target }) => {
  if (!sheetIsOpen() || !target.closest('[data-testid=stSidebarNavLink]')) return;
  setTimeout(() => {
    find('stSidebarCollapseButton')?.querySelector('button')?.click();
    find('stMain').scrollTo(0, 0);
  });
});

const watchSidebar = () => {
  const sidebar = find('stSidebar'), main = find('stMain');
  if (!sidebar || sidebar.labWatched) return;
  sidebar.labWatched = true;
  new MutationObserver(() => { if (sheetIsOpen()) requestAnimationFrame(opened); })
    .observe(sidebar, { attributes: true, attributeFilter: ['data-collapsed'] });
  for (const name of ['keydown', 'pointerdown']) sidebar.addEventListener(name, () => { touched = true; moved.clear(); }, true);
  new MutationObserver(changes => {
    if (!touched || !sheetIsOpen()) return;
    changes.forEach(({ target }) => moved.add(target));
    bringIntoSight([...moved].filter(node => node.isConnected));
  }).observe(main, { attributes: true, attributeFilter: ['data-revision'], subtree: true });
};

// ---- tables and formulas wider than their place --------------------------------------------------------------------
const TABLES = '.lab-scroll, .dvn-scroller', WIDE = `${TABLES}, .katex-display`;

const roleOf = wide => (wide.matches('.lab-scroll') ? 'region' : 'group'); // a formula is no landmark
const nameOf = wide => wide.dataset.name || 'Formula';

const sideOf = wide => {
  const room = wide.scrollWidth - wide.clientWidth;
  return room < 2 ? '' : wide.scrollLeft >= room - 2 ? 'left' : wide.scrollLeft > 2 ? 'both' : 'right';
};

const sayMore = (wide, more) => {
  const place = wide.closest('.lab-table, [data-testid=stDataFrame], .katex-display');
  if (place && (place.dataset.more ?? '') !== more) place.dataset.more = more;
  if (wide.classList.contains('dvn-scroller')) return; // a data frame brings its own keys and words
  if (more) Object.entries({ tabindex: 0, role: roleOf(wide), 'aria-label': `${nameOf(wide)}; it scrolls sideways` })
    .forEach(([name, value]) => wide.setAttribute(name, value));
  else ['tabindex', 'role', 'aria-label'].forEach(name => wide.removeAttribute(name));
};

// All are measured before one is changed: the browser then lays the page out once.
const sizes = new ResizeObserver(entries => {
  const all = new Set(entries.map(({ target }) => target.closest(WIDE)));
  [...all].filter(Boolean).map(wide => [wide, sideOf(wide)]).forEach(([wide, more]) => sayMore(wide, more));
});

const watchWide = () => {
  for (const wide of document.querySelectorAll(WIDE)) if (!wide.labWatched) {
    wide.labWatched = true;
    wide.addEventListener('scroll', () => sayMore(wide, sideOf(wide)), { passive: true });
    sizes.observe(wide); // which calls at once
    if (wide.firstElementChild) sizes.observe(wide.firstElementChild);
  }
};

// ---- undo, redo and slides by keyboard ---------------------------------------------------------------------------------
const TYPED = 'input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, [contenteditable=true]';

addEventListener('keydown', event => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 'z' || event.target.closest?.(TYPED)) return;
  const button = document.querySelector(`.st-key-lab-${event.shiftKey ? 'redo' : 'undo'} button`);
  if (!button) return;
  event.preventDefault();
  if (!button.disabled) button.click();
});

addEventListener('keydown', event => {
  if (event.key !== 'p' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.(TYPED)) return;
  document.querySelector('.st-key-lab-present button')?.click();
});

// ---- what a button unfolds stands at the end of the page: the keyboard goes there, and back -----------------------
let unfolded, opener;

const followPopover = () => {
  const body = find('stPopoverBody'), now = document.activeElement;
  if (body === (unfolded ?? null)) return;
  if (body) {
    if (!unfolded) opener = now;
    if (!body.contains(now)) { body.tabIndex = -1; body.style.outline = 'none'; body.focus({ preventScroll: true }); }
  } else if (now === document.body && opener?.isConnected) opener.focus({ preventScroll: true });
  unfolded = body;
};

// Slides that were on when the page was reloaded come back (deck.py says which); otherwise they begin anew.
const SLIDES = 'lab-slides', isReload = performance.getEntriesByType('navigation')[0]?.type === 'reload';
const kept = JSON.parse(sessionStorage.getItem(SLIDES) || '{}');
let presenting = isReload && kept.path === location.pathname, clicked = -Infinity;
if (!presenting) sessionStorage.removeItem(SLIDES);
const PATIENCE_MS = 10_000; // a click on a page that is still being drawn can be lost
const goOn = () => {
  presenting &&= kept.path === location.pathname && !document.querySelector('dialog[open].lab-slides');
  const button = presenting && document.querySelector('.st-key-lab-present button:not(:disabled)');
  if (!button || performance.now() - clicked < PATIENCE_MS) return;
  clicked = performance.now();
  button.click();
  setTimeout(goOn, PATIENCE_MS);
};

// ---- files that were refused, in Streamlit's list of uploaded files (uploaded.py) ---------------------------------
const markRefused = () => {
  const refused = [...document.querySelectorAll('.lab-refused')].flatMap(one => JSON.parse(one.dataset.names));
  for (const chip of document.querySelectorAll('[data-testid=stFileChip]')) {
    chip.toggleAttribute('data-refused', refused.includes(chip.querySelector('[data-testid=stFileChipName]')?.title));
  }
};

// ---- a slider's numbers: the address has 1e-5 and -5, people read 1 × 10⁻⁵ and −5, or what `show_as` (state.py) says -
const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹', SLIDER = '[data-testid=stSlider]';
const HANDLES = '[data-testid=stSliderThumbValue], [data-testid=stSliderThumbValue] *, [data-testid=stSliderTickBar] *';

const written = number => {
  const match = /^([\d.]+)e([-+]?)(\d+)$/.exec(number);
  if (/^-[\d.]+$/.test(number)) return number.replace('-', '−');
  return match && `${match[1]} × 10${match[2] === '-' ? '⁻' : ''}${[...match[3]].map(digit => RAISED[digit]).join('')}`;
};

// By the texts of a slider's stops, the words in their place; none for most sliders.
const wordsFor = text => {
  const key = /(?:^| )st-key-(\S+)/.exec(text.closest('[class*=st-key-]')?.className)?.[1];
  const node = key && document.querySelector(`.lab-reads[data-key="${key}"]`);
  return node ? (node.labWords ??= JSON.parse(node.dataset.words)) : {};
};

const readNumbers = slider => {
  for (const text of slider.querySelectorAll(HANDLES)) {
    if (text.childElementCount) continue;
    const words = wordsFor(text)[text.textContent], read = words ?? written(text.textContent);
    if (read) text.dataset.read = read; else delete text.dataset.read;
    if (text.closest('[data-testid=stSliderThumbValue]')) describe(text, words);
  }
};

// What a screen reader adds to the number.
const describe = (text, words) => {
  const input = text.closest(SLIDER).querySelector('input[type=range]');
  if (words) input.setAttribute('aria-description', words); else input.removeAttribute('aria-description');
};

// ---- what changes: while a slider is dragged, its number and the charts do, and nothing else needs a look ------------
let waiting = false, page = false; // whether a look is due, and whether it is at the whole page
const sliders = new Set(); // those whose number has changed

const see = ({ target }) => {
  const node = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement, own = node?.closest(`${SLIDER}, .live-chart`);
  if (!own) page = true; else if (own.matches(SLIDER)) sliders.add(own);
};

const look = () => {
  const readers = page ? document.querySelectorAll(SLIDER) : [...sliders];
  if (page) { watchSidebar(); watchWide(); followPopover(); markRefused(); goOn(); }
  readers.forEach(readNumbers);
  waiting = page = false;
  sliders.clear();
};

const lookSoon = changes => {
  changes.forEach(see);
  if (waiting || !(page || sliders.size)) return;
  waiting = true;
  requestAnimationFrame(look);
};

// ---- the level of the controls, for the next visit (level.py) ------------------------------------------------------
const YEAR_S = 365 * 24 * 3600;
const keepLevel = level => { document.cookie = `deconditioning-level=${level}; path=/; max-age=${YEAR_S}; SameSite=Lax`; };

export default function ({ data, setTriggerValue }) {
  if (data.level) keepLevel(data.level);
  tellTheme(data.dark, now => setTriggerValue('theme', now));
  lookSoon([{ target: document.body }]);
  const changes = new MutationObserver(lookSoon);
  changes.observe(document.body, { childList: true, characterData: true, subtree: true });
  return () => changes.disconnect();
}
