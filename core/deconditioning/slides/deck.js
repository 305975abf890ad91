// Slides of maps and figures: two fields on one place with a divider, hatching, values under the pointer, arrow keys.
// It asks nothing of its page but an element and the deck of deconditioning.slides.deck, in the app and in a file alike.

const calmDeck = matchMedia('(prefers-reduced-motion: reduce)');
const make = (tag, name, parent, more = {}) => {
  const node = Object.assign(document.createElement(tag), more);
  if (name) node.className = name;
  parent?.append(node);
  return node;
};

// ---- fields ------------------------------------------------------------------------------------------------------
const CODES = 65534; // as deconditioning.slides.field writes them: 0 is missing, 1 … 65535 lie evenly from `least` to `most`

const readField = field => {
  if (field.values) return field;
  const bytes = Uint8Array.from(atob(field.codes), letter => letter.charCodeAt(0));
  const codes = new Uint16Array(bytes.buffer), step = (field.most - field.least) / CODES;
  field.values = Float64Array.from(codes, code => (code ? field.least + (code - 1) * step : NaN));
  field.codes = '';
  return field;
};

const pictureOf = field => {
  if (field.picture) return field.picture;
  const { rows, columns, low, high, colours, values } = readField(field);
  const canvas = Object.assign(document.createElement('canvas'), { width: columns, height: rows });
  const context = canvas.getContext('2d'), image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer), last = colours.length / 3 - 1;
  for (let i = 0; i < values.length; i++) {
    const known = Number.isFinite(values[i]), share = Math.min(1, Math.max(0, (values[i] - low) / (high - low)));
    const at = known ? 3 * Math.round(share * last) : 0;
    const [r, g, b] = known ? [colours[at], colours[at + 1], colours[at + 2]] : [150, 150, 150];
    pixels[i] = (255 << 24) | (b << 16) | (g << 8) | r;
  }
  context.putImageData(image, 0, 0);
  return (field.picture = canvas);
};

const maskOf = (field, above) => {
  const { rows, columns, values } = readField(field);
  const canvas = Object.assign(document.createElement('canvas'), { width: columns, height: rows });
  const context = canvas.getContext('2d'), image = context.createImageData(columns, rows);
  for (let i = 0; i < values.length; i++) image.data[4 * i + 3] = values[i] > above ? 255 : 0;
  context.putImageData(image, 0, 0);
  return canvas;
};

// ---- a map -------------------------------------------------------------------------------------------------------
const hatchOver = (context, mask, width, height) => {
  const over = Object.assign(document.createElement('canvas'), { width, height }), pen = over.getContext('2d');
  pen.imageSmoothingEnabled = false;
  pen.drawImage(mask, 0, 0, width, height);
  pen.globalCompositeOperation = 'source-in';
  const gap = Math.max(8, Math.round(width / 60));
  for (const [ink, thick] of [['rgba(255,255,255,0.8)', gap / 4], ['rgba(20,26,30,0.95)', gap / 8]]) {
    const lines = Object.assign(document.createElement('canvas'), { width, height }), pencil = lines.getContext('2d');
    pencil.strokeStyle = ink;
    pencil.lineWidth = thick;
    pencil.beginPath();
    for (let x = -height; x < width; x += gap) { pencil.moveTo(x, height); pencil.lineTo(x + height, 0); }
    pencil.stroke();
    pencil.globalCompositeOperation = 'destination-in';
    pencil.imageSmoothingEnabled = false;
    pencil.drawImage(mask, 0, 0, width, height);
    context.drawImage(lines, 0, 0);
  }
};

const strokeLines = (context, lines, width, height, ink) => {
  for (const [colour, thick] of ink) {
    context.strokeStyle = colour;
    context.lineWidth = thick * Math.max(1, width / 480);
    context.beginPath();
    for (const line of lines) for (let i = 0; i < line.length; i += 2) {
      context[i ? 'lineTo' : 'moveTo'](line[i] * width, line[i + 1] * height);
    }
    context.stroke();
  }
};

const drawMap = show => {
  const { canvas, deck, slide, stage } = show, place = stage.getBoundingClientRect();
  if (!place.width || slide.kind !== 'map') return;
  const scale = Math.min(place.width, place.height / deck.aspect), ratio = devicePixelRatio || 1;
  const width = Math.round(scale * ratio), height = Math.round(scale * deck.aspect * ratio);
  canvas.style.width = `${scale}px`;
  canvas.style.height = `${scale * deck.aspect}px`;
  show.map.style.width = canvas.style.width;
  show.map.style.height = canvas.style.height;
  Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d'), { left, right } = slide;
  context.imageSmoothingEnabled = false;
  context.drawImage(pictureOf(deck.fields[right]), 0, 0, width, height);
  if (left) {
    context.save();
    context.beginPath();
    context.rect(0, 0, show.at * width, height);
    context.clip();
    context.drawImage(pictureOf(deck.fields[left]), 0, 0, width, height);
    context.restore();
  }
  if (slide.hatch && show.hatching) hatchOver(context, maskOf(deck.fields[slide.hatch.field], slide.hatch.above), width, height);
  strokeLines(context, deck.graticule, width, height, [['rgba(255,255,255,0.35)', 0.7]]);
  strokeLines(context, deck.coast, width, height, deck.ink);
  show.divider.style.left = `${100 * show.at}%`;
  show.divider.setAttribute('aria-valuenow', Math.round(100 * show.at));
};

const valueHere = (field, x, y) => {
  const { rows, columns, values } = readField(field);
  return values[Math.min(rows - 1, Math.floor(y * rows)) * columns + Math.min(columns - 1, Math.floor(x * columns))];
};

const sayValue = (show, event) => {
  const { deck, slide, tip } = show, box = show.canvas.getBoundingClientRect();
  const x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
  tip.hidden = x < 0 || x >= 1 || y < 0 || y >= 1;
  if (tip.hidden) return;
  const names = slide.left ? [[slide.labels[0], slide.left], [slide.labels[1], slide.right]] : [['', slide.right]];
  tip.textContent = names.map(([label, name]) => {
    const field = deck.fields[name], value = valueHere(field, x, y);
    return `${label ? `${label}: ` : ''}${Number.isFinite(value) ? `${Number(value.toPrecision(5))} ${field.units}` : 'missing'}`;
  }).join('\n');
  tip.style.transform = `translate(${x * box.width}px, ${y * box.height}px) translate(${x > 0.6 ? '-108%' : '8%'}, ${y > 0.7 ? '-110%' : '12%'})`;
};

// ---- a figure ------------------------------------------------------------------------------------------------------
// Drawn by plotly as on its page, without the title, which stands above; larger words and lines where there is more room.
const LENGTHS = { font: ['size'], tickfont: ['size'], marker: ['size'], line: ['width'], margin: ['l', 'r', 't', 'b'] };
const enlargeBy = (part, by, name = '') => {
  for (const [key, value] of Object.entries(part)) {
    if (value && typeof value === 'object') enlargeBy(value, by, key);
    else if (LENGTHS[name]?.includes(key) || key === 'yshift' || key === 'standoff') part[key] = value * by;
  }
};

const drawFigure = async show => {
  const { deck, slide, stage, plot, root } = show, place = stage.getBoundingClientRect();
  if (slide.kind !== 'figure' || !place.width || !place.height) return;
  const P = await show.plotly();
  if (show.slide !== slide) return;
  const { data, layout } = structuredClone(deck.figures[slide.figure]), css = getComputedStyle(root);
  const height = Math.min(place.height, place.width);
  enlargeBy({ data, layout }, Math.min(2, Math.max(1, Math.min(place.width / 620, height / 380))));
  const { font, margin } = layout;
  Object.assign(layout, { title: undefined, width: place.width, height, dragmode: false });
  layout.font = { ...font, color: css.color, family: css.fontFamily };
  const words = (layout.annotations || []).some(({ y, yref }) => y >= 1 && !/^y\d*$/.test(yref ?? 'paper'));
  layout.margin = { ...margin, t: layout.showlegend || words ? margin.t : Math.min(margin.t, 12) };
  const config = { displayModeBar: false, showTips: false, doubleClick: false, plotGlPixelRatio: Math.max(1, devicePixelRatio) };
  await P.newPlot(plot, data, layout, config);
  plot.querySelectorAll('.main-svg, .gl-container').forEach(part => part.setAttribute('aria-hidden', 'true')); // the label says it
  plot.dataset.role = layout.meta?.role || '';
  plot.dataset.drawn = slide.figure;
};

const drawSlide = show => { drawMap(show); drawFigure(show); };

// ---- beside the map ----------------------------------------------------------------------------------------------
const drawBar = (parent, field, label) => {
  const bar = make('div', 'deck-bar', parent), strip = make('i', '', bar);
  strip.setAttribute('role', 'img');
  strip.setAttribute('aria-label', `${label || ''} colour scale from ${field.low} to ${field.high} ${field.units}`.trim());
  const last = field.colours.length / 3 - 1;
  const stops = Array.from({ length: 24 }, (_, i) => field.colours.slice(3 * Math.round(i / 23 * last), 3 * Math.round(i / 23 * last) + 3));
  strip.style.background = `linear-gradient(90deg, ${stops.map(stop => `rgb(${stop})`)})`;
  const ends = make('span', 'deck-ticks', bar);
  for (const [at, text] of field.ticks) make('b', '', ends, { textContent: text }).style.left = `${100 * (at - field.low) / (field.high - field.low)}%`;
  make('em', '', bar, { textContent: field.label });
  return bar;
};

const drawTrust = (parent, trust) => {
  const box = make('div', `deck-trust deck-${trust.mark}`, parent);
  make('strong', '', box, { textContent: trust.badge });
  return box;
};

const drawChecks = (parent, slide) => {
  const { levels, rows } = slide;
  if (levels.length) {
    const held = make('div', 'deck-held', parent, { role: 'img' });
    held.setAttribute('aria-label', levels.map(([p, h]) => `${p} % intervals contain ${h} %`).join(', '));
    for (const [promised, share] of levels) {
      make('span', '', held, { textContent: `${promised} %` });
      const line = make('span', 'deck-line', held);
      make('b', 'deck-ring', line).style.left = `${promised}%`;
      make('b', 'deck-dot', line).style.left = `${share}%`;
      make('strong', '', held, { textContent: `${share} %` });
    }
    make('p', 'deck-small', parent, { textContent: 'Ring: nominal coverage; dot: actual coverage.' });
  }
  if (rows.length > 1) {
    const table = make('table', 'deck-table', parent);
    rows.forEach((cells, index) => {
      const row = make('tr', '', table);
      cells.forEach((text, column) => make(index && column ? 'td' : 'th', '', row, { textContent: text }));
    });
  }
};

const ADDRESS = /^https?:\/\/\S+$/; // as deconditioning.slides.deck knows one

// ---- a deck ------------------------------------------------------------------------------------------------------
const fill = show => {
  const { deck, slide, side, stage } = show;
  show.root.dataset.kind = slide.kind;
  show.root.dataset.slide = slide.key;
  show.root.dataset.wide = deck.aspect < 0.62;
  show.root.dataset.stacked = slide.kind === 'words' || (slide.kind === 'checks' && slide.rows[0].length > 5);
  show.root.dataset.alone = slide.kind === 'figure' && !slide.sentence;
  show.heading.textContent = slide.title;
  side.replaceChildren();
  if (slide.sentence) make('p', 'deck-sentence', side, { textContent: slide.sentence });
  show.map.hidden = slide.kind !== 'map';
  show.plot.hidden = slide.kind !== 'figure';
  show.plot.setAttribute('aria-label', slide.alt || '');
  show.words.replaceChildren();
  show.divider.hidden = !slide.left;
  show.names.hidden = !slide.left;
  if (slide.kind === 'map') {
    const shown = deck.fields[slide.right];
    show.canvas.setAttribute('aria-label', slide.alt);
    const [before, after] = show.names.children;
    if (slide.left) { before.textContent = slide.labels[0]; after.textContent = slide.labels[1]; }
    const bar = drawBar(side, shown, slide.title);
    if (slide.hatch) {
      const label = make('label', 'deck-small', bar), box = make('input', '', label, { type: 'checkbox', checked: show.hatching });
      label.append(' Hatching');
      box.addEventListener('change', () => { show.hatching = box.checked; drawMap(show); });
    }
    if (deck.bar.share) {
      show.rule.hidden = false;
      show.rule.firstChild.style.width = `${100 * deck.bar.share}%`;
      show.rule.lastChild.textContent = deck.bar.text;
    }
  } else {
    if (slide.kind === 'checks') drawChecks(show.words, slide);
    const facts = slide.kind === 'figure' ? side : show.words;
    for (const [name, text] of slide.lines || []) {
      const line = make('p', 'deck-fact', facts);
      if (name) make('b', '', line, { textContent: name });
      if (ADDRESS.test(text)) make('a', '', line, { href: text, textContent: text, target: '_blank', rel: 'noopener' });
      else line.append(text);
    }
  }
  if (deck.trust && !slide.given && slide.kind !== 'words') drawTrust(side, deck.trust);
  show.count.textContent = `${show.index + 1} / ${deck.slides.length}`;
  show.said.textContent = `${slide.title}. ${slide.sentence || slide.alt || ''}`;
  [...show.dots.children].forEach((dot, i) => { dot.setAttribute('aria-current', i === show.index ? 'step' : 'false'); });
  show.back.disabled = !show.index;
  show.next.disabled = show.index === deck.slides.length - 1;
  show.tip.hidden = true;
  void stage.offsetWidth;
  drawSlide(show);
};

const goTo = (show, index) => {
  const wanted = Math.min(show.deck.slides.length - 1, Math.max(0, index));
  if (wanted === show.index && show.slide) return;
  show.index = wanted;
  show.turned?.(wanted);
  show.slide = show.deck.slides[wanted];
  show.at = 0.5;
  fill(show);
  if (show.slide.left && !calmDeck.matches) sweepDivider(show);
};

// The divider comes in from the left once, so that everybody sees that there are two maps.
const sweepDivider = show => {
  const begun = performance.now(), slide = show.slide;
  const move = now => {
    if (show.slide !== slide || show.held) return;
    const t = Math.min(1, (now - begun) / 900);
    show.at = 0.5 * (1 - (1 - t) ** 3) + (1 - t) ** 3 * 0.98;
    drawMap(show);
    if (t < 1) requestAnimationFrame(move);
  };
  show.held = false;
  requestAnimationFrame(move);
};

const moveDivider = (show, at) => {
  show.held = true;
  show.at = Math.min(1, Math.max(0, at));
  drawMap(show);
};

const keys = (show, event) => {
  if (event.target.closest?.('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey) return;
  const dividing = event.target === show.divider || event.shiftKey;
  const act = {
    ArrowRight: () => (dividing && show.slide.left ? moveDivider(show, show.at + 0.02) : goTo(show, show.index + 1)),
    ArrowLeft: () => (dividing && show.slide.left ? moveDivider(show, show.at - 0.02) : goTo(show, show.index - 1)),
    PageDown: () => goTo(show, show.index + 1), PageUp: () => goTo(show, show.index - 1),
    Home: () => goTo(show, 0), End: () => goTo(show, show.deck.slides.length - 1),
    f: () => fullScreen(show), Escape: () => show.close?.(),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
};

const fullScreen = show => (document.fullscreenElement ? document.exitFullscreen() : show.root.requestFullscreen?.())?.catch?.(() => {});

const build = (root, deck, close, plotly) => {
  root.classList.add('deck');
  root.tabIndex = -1;
  root.setAttribute('role', 'region');
  root.setAttribute('aria-roledescription', 'slides');
  root.setAttribute('aria-label', deck.title);
  const head = make('header', '', root), heading = make('h2', '', head);
  make('span', 'deck-when', head, { textContent: deck.title });
  const body = make('div', 'deck-body', root), stage = make('div', 'deck-stage', body);
  const map = make('div', 'deck-map', stage), canvas = make('canvas', '', map);
  canvas.setAttribute('role', 'img');
  const names = make('div', 'deck-names', map);
  make('span', '', names);
  make('span', '', names);
  const divider = make('div', 'deck-divider', map, { tabIndex: 0 });
  for (const [name, value] of Object.entries({ role: 'slider', 'aria-label': 'Divider between the two maps', 'aria-valuemin': 0, 'aria-valuemax': 100 })) divider.setAttribute(name, value);
  const rule = make('div', 'deck-rule', map, { hidden: true });
  make('i', '', rule);
  make('span', '', rule);
  const tip = make('div', 'deck-tip', map, { hidden: true });
  const plot = make('div', 'deck-plot', stage, { hidden: true });
  plot.setAttribute('role', 'figure');
  const words = make('div', 'deck-words', stage), side = make('aside', '', body);
  const foot = make('nav', '', root), button = (text, label) => make('button', '', foot, { type: 'button', textContent: text, title: label, ariaLabel: label });
  foot.setAttribute('aria-label', 'Slides');
  const back = button('‹ Back', 'Back one slide (←)'), dots = make('span', 'deck-dots', foot);
  const next = button('Next ›', 'Next slide (→)'), count = make('span', 'deck-count', foot);
  const full = button('Full screen', 'Full screen (F)'), shut = close ? button('Close', 'Close (Esc)') : null;
  const said = make('span', 'deck-said', root);
  said.setAttribute('aria-live', 'polite');
  const show = { root, deck, close, plotly, heading, stage, map, plot, canvas, names, divider, rule, tip, words, side, back, next, count, dots, said, at: 0.5, index: -1, hatching: true };
  deck.slides.forEach((slide, i) => {
    const dot = make('button', '', dots, { type: 'button', title: slide.title, ariaLabel: `Slide ${i + 1}: ${slide.title}` });
    dot.addEventListener('click', () => goTo(show, i));
  });
  back.addEventListener('click', () => goTo(show, show.index - 1));
  next.addEventListener('click', () => goTo(show, show.index + 1));
  full.addEventListener('click', () => fullScreen(show));
  shut?.addEventListener('click', close);
  return show;
};

const listenTo = show => {
  const { root, map, stage, tip } = show;
  const share = event => { const box = show.canvas.getBoundingClientRect(); return (event.clientX - box.left) / box.width; };
  root.addEventListener('keydown', event => keys(show, event));
  map.addEventListener('pointerdown', event => {
    if (!show.slide.left) return;
    map.setPointerCapture(event.pointerId);
    moveDivider(show, share(event));
  });
  map.addEventListener('pointermove', event => {
    if (show.slide.left && event.buttons) moveDivider(show, share(event));
    sayValue(show, event);
  });
  map.addEventListener('pointerleave', () => { tip.hidden = true; });
  show.sizes = new ResizeObserver(() => drawSlide(show));
  show.sizes.observe(stage);
};

// Shows a deck in an element; `close` is called where a person closes it, without it there is no such button; `plotly`
// gives a promise of plotly.js where the deck has figures; `turned` is called with the number of each slide shown.
const showDeck = (root, deck, { close, plotly, first = 0, turned } = {}) => {
  const show = Object.assign(build(root, deck, close, plotly), { turned });
  listenTo(show);
  goTo(show, first);
  if (close) root.focus({ preventScroll: true });
  return show;
};
