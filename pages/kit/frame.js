// Around a page: the theme is told to Python, the open sidebar of a phone leaves a picture in sight, wide tables say so.

const find = name => document.querySelector(`[data-testid=${name}]`);

// ---- theme -------------------------------------------------------------------------------------------------------
const shownDark = () => getComputedStyle(find('stApp')).colorScheme === 'dark';

// Pictures are coloured in Python; it is told once of each change, and answers with data that agree.
const tellTheme = (dark, tell) => {
  const shown = shownDark();
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

const opened = sidebar => {
  touched = false;
  sidebar.querySelector('[data-testid=stSidebarNavLink][aria-current=page]')
    ?.scrollIntoView({ block: 'nearest', inline: 'center' });
  bringIntoSight([...find('stMain').querySelectorAll('.live-chart')].filter(node => node.clientHeight > 60));
};

const watchSidebar = () => {
  const sidebar = find('stSidebar'), main = find('stMain');
  if (!sidebar || sidebar.labWatched) return;
  sidebar.labWatched = true;
  new MutationObserver(() => { if (sheetIsOpen()) requestAnimationFrame(() => opened(sidebar)); })
    .observe(sidebar, { attributes: true, attributeFilter: ['data-collapsed'] });
  for (const name of ['keydown', 'pointerdown']) sidebar.addEventListener(name, () => { touched = true; moved.clear(); }, true);
  new MutationObserver(changes => {
    if (!touched || !sheetIsOpen()) return;
    changes.forEach(({ target }) => moved.add(target));
    bringIntoSight([...moved].filter(node => node.isConnected));
  }).observe(main, { attributes: true, attributeFilter: ['data-revision'], subtree: true });
};

// ---- tables wider than their place -------------------------------------------------------------------------------
const TABLES = '.lab-scroll, .dvn-scroller';

const sayMore = table => {
  const place = table.closest('.lab-table, [data-testid=stDataFrame]'), room = table.scrollWidth - table.clientWidth;
  if (!place) return;
  const more = room < 2 ? '' : table.scrollLeft >= room - 2 ? 'left' : table.scrollLeft > 2 ? 'both' : 'right';
  if (place.dataset.more !== more) place.dataset.more = more;
  if (!table.classList.contains('lab-scroll')) return; // a data frame brings its own keys and words
  if (more) Object.entries({ tabindex: 0, role: 'region', 'aria-label': `${table.dataset.name}; it scrolls sideways` })
    .forEach(([name, value]) => table.setAttribute(name, value));
  else ['tabindex', 'role', 'aria-label'].forEach(name => table.removeAttribute(name));
};

const sizes = new ResizeObserver(entries => entries.forEach(({ target }) => sayMore(target.closest(TABLES))));

const watchTables = () => {
  for (const table of document.querySelectorAll(TABLES)) if (!table.labWatched) {
    table.labWatched = true;
    table.addEventListener('scroll', () => sayMore(table), { passive: true });
    sizes.observe(table);
    if (table.firstElementChild) sizes.observe(table.firstElementChild);
    sayMore(table);
  }
};

// ---- undo and redo by keyboard -----------------------------------------------------------------------------------
const TYPED = 'input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, [contenteditable=true]';

addEventListener('keydown', event => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 'z' || event.target.closest?.(TYPED)) return;
  const button = document.querySelector(`.st-key-lab-${event.shiftKey ? 'redo' : 'undo'} button`);
  if (!button) return;
  event.preventDefault();
  if (!button.disabled) button.click();
});

let waiting = false;
const look = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; watchSidebar(); watchTables(); });
};

export default function ({ data, setTriggerValue }) {
  tellTheme(data.dark, now => setTriggerValue('theme', now));
  look();
  const changes = new MutationObserver(look);
  changes.observe(find('stApp'), { childList: true, subtree: true });
  return () => changes.disconnect();
}
