// Words of the glossary in a page's texts: underlined with dots, told on hover, focus or tap. Numbers keep their units
// in their line.
//
// React keeps the text nodes it made: they stay where they are and are only shortened; what is added stands behind them
// and goes before the next picture is painted when React changes such a node.

const WORDS = [/* words */];
const TEXTS = '[data-testid=stMarkdownContainer], [data-testid=stHtml], .stHtml';
const CAPTIONS = '[data-testid=stCaptionContainer]';
const NOT_IN = 'h1, h2, h3, h4, h5, h6, a, button, label, summary, code, pre, input, textarea, svg, style, script, '
  + '.katex, .live-chart, .lab-gloss, [role=tab], [role=tooltip], [data-testid=stWidgetLabel], .st-key-lab-words';
const NOT_PROSE = 'code, pre, input, textarea, svg, style, script, .katex, .live-chart';
const BEFORE_UNIT = /(?<=\d) (?=(?:%|°C|K|[kcm]?m|[kM]?Pa|hPa|sd|m?s|min|h|[kMG]B|UTC)(?![\p{L}\p{N}]))/gu;
const BLOCK = 'p, li, td, th, figcaption, dd, dt, div';
const UNIT = '[\\p{L}\\p{N}_]';
const byLength = WORDS.flatMap((word, index) => word.forms.split('|').map(form => ({ form, index })))
  .sort((a, b) => b.form.length - a.form.length);
const PATTERN = new RegExp(`(?<!${UNIT}|\\p{L}[-’']|/|\\b[Pp]age )(?:${byLength.map(({ form }) => `(${form})`).join('|')})(?!${UNIT})`, 'gu');
const wordOf = found => byLength[found.slice(1).findIndex(part => part !== undefined)].index;

const tails = new WeakMap(); // a text node of React's → what was cut from it and the nodes that show it now
const looked = new WeakMap(); // a text → its letters when it was looked through

// ---- underlining -------------------------------------------------------------------------------------------------
const marked = (text, index, first) => {
  const node = document.createElement('dfn');
  Object.assign(node, { className: 'lab-word', textContent: text, tabIndex: first ? 0 : -1 });
  node.dataset.word = index;
  return node;
};

const underline = (node, told, onPage) => {
  const parts = [];
  let from = 0;
  for (const found of node.data.matchAll(PATTERN)) {
    const index = wordOf(found), block = node.parentElement.closest(BLOCK), known = told.get(block) ?? told.set(block, new Set()).get(block);
    if (known.has(index)) continue;
    known.add(index);
    if (parts.length) parts.push(document.createTextNode(node.data.slice(from, found.index)));
    else parts.head = found.index;
    parts.push(marked(found[0], index, !onPage.has(index)));
    onPage.add(index);
    from = found.index + found[0].length;
  }
  if (!parts.length) return;
  parts.push(document.createTextNode(node.data.slice(from)));
  tails.set(node, { cut: node.data.slice(parts.head), nodes: parts });
  node.data = node.data.slice(0, parts.head);
  node.after(...parts);
};

const textsIn = holder => {
  const own = new Set([...holder.querySelectorAll('.lab-word')].flatMap(word => [word.firstChild, word.nextSibling]));
  const walker = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT), found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.data.length > 1 && !tails.has(node) && !own.has(node) && !node.parentElement.closest(NOT_IN)) found.push(node);
  }
  return found;
};

// The space between a number and its unit breaks no line.
const bind = holder => {
  const walker = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, bound = node.data.replace(BEFORE_UNIT, '\u00a0');
    if (bound !== node.data && !node.parentElement.closest(NOT_PROSE)) node.data = bound;
  }
};

const lookThrough = () => {
  waiting = false;
  clean(observer.takeRecords());
  const onPage = new Set([...document.querySelectorAll('.lab-word[tabindex="0"]')].map(word => +word.dataset.word));
  for (const holder of document.querySelectorAll(`${TEXTS}, ${CAPTIONS}`)) {
    if (looked.get(holder) === holder.textContent) continue;
    bind(holder);
    looked.set(holder, holder.textContent);
    if (holder.closest(`${NOT_IN}, ${CAPTIONS}`)) continue;
    const told = new Map();
    for (const word of holder.querySelectorAll('.lab-word')) {
      const block = word.parentElement.closest(BLOCK);
      (told.get(block) ?? told.set(block, new Set()).get(block)).add(+word.dataset.word);
    }
    textsIn(holder).forEach(node => underline(node, told, onPage));
  }
  observer.takeRecords(); // our own
};

// ---- what React changes ------------------------------------------------------------------------------------------
const restore = (node, cut) => {
  const tail = tails.get(node);
  if (!tail) return;
  tails.delete(node);
  if (cut) node.data += tail.cut;
  tail.nodes.forEach(one => one.remove());
};

const clean = changes => {
  for (const { type, target, removedNodes } of changes) {
    if (type === 'characterData') restore(target, false);
    else for (const node of removedNodes) if (node.nodeType === Node.TEXT_NODE) restore(node, true);
  }
  if (open && !open.isConnected) close();
};

let waiting = false;
const later = window.requestIdleCallback ? work => requestIdleCallback(work, { timeout: 1500 }) : work => setTimeout(work, 200);
const isOfText = ({ target }) => !(target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement)?.closest(NOT_IN);
const observer = new MutationObserver(changes => {
  clean(changes);
  if (!waiting && changes.some(isOfText)) { waiting = true; later(lookThrough); }
});

// ---- telling -----------------------------------------------------------------------------------------------------
let open, tip, timer, kept = false;

const tipOf = () => {
  if (tip?.isConnected) return tip;
  tip = document.createElement('div');
  tip.className = 'lab-gloss';
  tip.innerHTML = '<div role="tooltip" id="lab-gloss"><b></b><span></span></div><a target="_blank" rel="noopener">In the glossary</a>';
  tip.addEventListener('pointerenter', () => clearTimeout(timer));
  tip.addEventListener('pointerleave', () => closeSoon());
  tip.addEventListener('focusout', ({ relatedTarget }) => { if (relatedTarget !== open) close(); });
  document.querySelector('[data-testid=stApp]').append(tip); // where the theme's colours are
  return tip;
};

const place = () => {
  const word = open.getBoundingClientRect(), box = tip.getBoundingClientRect(), room = 8;
  if (word.bottom < 0 || word.top > innerHeight) return close();
  const above = word.bottom + box.height + room > innerHeight && word.top > box.height + room;
  tip.style.left = `${Math.max(room, Math.min(word.left, innerWidth - box.width - room))}px`;
  tip.style.top = `${above ? word.top - box.height - 4 : word.bottom + 4}px`;
};

const show = word => {
  clearTimeout(timer);
  if (open === word) return;
  close();
  const { name, says } = WORDS[word.dataset.word], box = tipOf();
  box.querySelector('b').textContent = name;
  box.querySelector('span').textContent = says;
  box.querySelector('a').href = `glossary?g-word=${encodeURIComponent(name)}`;
  box.dataset.open = '';
  open = word;
  word.setAttribute('aria-describedby', 'lab-gloss');
  place();
};

const close = () => {
  clearTimeout(timer);
  open?.removeAttribute('aria-describedby');
  if (tip) delete tip.dataset.open;
  open = undefined;
  kept = false;
};

const closeSoon = () => { clearTimeout(timer); if (!kept) timer = setTimeout(close, 250); };
const wordAt = ({ target }) => target.closest?.('.lab-word');

const listeners = {
  pointerover: event => {
    const word = event.pointerType !== 'touch' && wordAt(event);
    if (!word) return;
    clearTimeout(timer);
    timer = setTimeout(show, open ? 0 : 150, word);
  },
  pointerout: event => { if (wordAt(event)) closeSoon(); },
  focusin: event => { const word = wordAt(event); if (word) show(word); },
  focusout: event => { if (wordAt(event) && !tip?.contains(event.relatedTarget)) close(); },
  click: event => {
    const word = wordAt(event);
    if (word) { show(word); kept = true; } else if (open && !tip.contains(event.target)) close();
  },
  keydown: event => {
    if (!open) return;
    if (event.key === 'Escape') {
      const word = open, inside = tip.contains(document.activeElement);
      close();
      if (inside) { word.focus(); close(); }
    } else if (event.key === 'Enter' && event.target === open) tip.querySelector('a').focus();
  },
  scroll: () => { if (open) place(); },
};

export default function () {
  const options = name => ({ capture: true, passive: name === 'scroll' });
  for (const [name, listen] of Object.entries(listeners)) document.addEventListener(name, listen, options(name));
  observer.observe(document.querySelector('[data-testid=stApp]'), { childList: true, characterData: true, subtree: true });
  if (!waiting) { waiting = true; later(lookThrough); }
  return () => {
    for (const [name, listen] of Object.entries(listeners)) document.removeEventListener(name, listen, options(name));
    observer.disconnect();
    close();
  };
}
