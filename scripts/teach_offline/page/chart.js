// Charts as SVG: lines, areas and dots over one or two panels. Colours are the palette's names; a style sheet shows them.

const chart = (() => {
const NARROW = 520, MINUS = '−';
const DASHES = { dash: '10 7', dot: '2.5 5', solid: '' };
const escaped = text => String(text).replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`);
const ink = colour => `var(--lab-${colour})`;
const written = value => String(Number(value.toPrecision(6))).replace('-', MINUS);

// ---- axes --------------------------------------------------------------------------------------------------------
const ticksOf = ([low, high], most) => {
  const rough = (high - low) / most, decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(each => each * decade).find(each => each >= 0.7 * rough);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
};

const spanOf = (marks, name) => {
  let [low, high] = [Infinity, -Infinity];
  for (const mark of marks) for (const value of mark[name]) if (Number.isFinite(value) && value !== null) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low < high ? [low, high] : [low - 1, high + 1];
};

const wider = ([low, high], share) => [low - share * (high - low), high + share * (high - low)];

// A scale from values to pixels between two ends.
const scaleOf = ({ range, log }, span, from, to, room) => {
  const map = log ? Math.log10 : value => value, known = range ?? (log ? span : wider(span, room));
  const [low, high] = range && log ? range : known.map(map);
  return { at: value => from + (map(value) - low) / (high - low) * (to - from), ends: known };
};

// Where each panel lies: side by side, or one below the other where there is little room.
const frames = (count, width, height, narrow) => {
  const left = narrow ? 46 : 62, [right, top, bottom] = [18, 10, narrow ? 44 : 52], gap = narrow ? 52 : 26;
  if (!narrow) {
    const wide = (width - left - right - gap * (count - 1)) / count;
    return Array.from({ length: count }, (_, i) => ({ left: left + i * (wide + gap), top, wide, tall: height - top - bottom }));
  }
  const tall = (height - top - bottom - gap * (count - 1)) / count;
  return Array.from({ length: count }, (_, i) => ({ left, top: top + i * (tall + gap), wide: width - left - right, tall }));
};

// ---- marks -------------------------------------------------------------------------------------------------------
const tenths = pixels => Math.round(10 * pixels) / 10;
const known = value => value !== null && Number.isFinite(value);

const pathOf = (mark, toX, toY) => {
  let [path, open] = ['', false];
  for (let i = 0; i < mark.x.length; i++) {
    const here = known(mark.x[i]) && known(mark.y[i]);
    if (here) path += `${open ? 'L' : 'M'}${tenths(toX(mark.x[i]))} ${tenths(toY(mark.y[i]))}`;
    open = here;
  }
  return path;
};

const lineOf = (mark, toX, toY) => {
  const path = pathOf(mark, toX, toY), drawn = mark.width ? `<path d="${path}" fill="none" stroke="${ink(mark.colour)}" stroke-width="${mark.width}"
    stroke-linejoin="round" stroke-dasharray="${DASHES[mark.dash] ?? ''}" stroke-linecap="${mark.dash === 'dot' ? 'round' : 'butt'}"/>` : '';
  if (!mark.fill) return drawn;
  const last = mark.x.length - 1, foot = mark.fill === 'zero' ? `L${toX(mark.x[last]).toFixed(1)} ${toY(0)}L${toX(mark.x[0]).toFixed(1)} ${toY(0)}` : '';
  return `<path d="${path}${foot}Z" fill="${ink(mark.colour)}" fill-opacity="${mark.alpha}"/>${drawn}`;
};

const SHAPES = {
  circle: () => 'h0', 'circle-open': r => `m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  diamond: r => `m0 ${-r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`, x: r => `m${-r} ${-r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`,
};

const dotsOf = (mark, toX, toY) => {
  const { size, dots, colour, alpha } = mark, shape = (SHAPES[dots] ?? SHAPES.circle)(size / 2), round = !SHAPES[dots] || dots === 'circle';
  let path = '';
  for (let i = 0; i < mark.x.length; i++) if (known(mark.x[i]) && known(mark.y[i])) {
    path += `M${toX(mark.x[i]).toFixed(1)} ${toY(mark.y[i]).toFixed(1)}${shape}`;
  }
  const thick = round ? size : dots === 'x' ? 4.5 : 3;
  return `<path d="${path}" fill="${dots === 'diamond' ? ink(colour) : 'none'}" stroke="${ink(colour)}" opacity="${alpha}"
    stroke-width="${dots === 'diamond' ? 0 : thick}" stroke-linecap="${round ? 'round' : 'butt'}"/>`;
};

const markOf = (mark, toX, toY) => mark.dots ? dotsOf(mark, toX, toY) : lineOf(mark, toX, toY);

const legendOf = marks => marks.filter(mark => mark.name).map(mark => {
  const sample = mark.dots ? { ...mark, x: [15], y: [8], size: Math.min(14, Math.max(8, mark.size)) }
    : mark.fill === 'self' ? { ...mark, x: [1, 29, 29, 1], y: [2, 2, 14, 14] } : { ...mark, x: [1, 29], y: [8, 8], fill: '' };
  const same = value => value;
  return `<span><svg width="30" height="16" aria-hidden="true">${markOf(sample, same, same)}</svg>${escaped(mark.name)}</span>`;
}).join('');

// ---- a chart -----------------------------------------------------------------------------------------------------
let count = 0;

const gridOf = (frame, x, y, across, up, labelled) => {
  const { left, top, wide, tall } = frame, base = top + tall, parts = [];
  for (const value of across.ticks ?? ticksOf(x.ends, Math.max(3, wide / 90))) {
    const at = x.at(value).toFixed(1);
    if (at < left - 1 || at > left + wide + 1) continue;
    parts.push(`<path class="grid" d="M${at} ${top}V${base}"/><text x="${at}" y="${base + 19}" text-anchor="middle">${written(value)}</text>`);
  }
  for (const value of up.ticks ?? ticksOf(y.ends, Math.max(3, tall / 62))) {
    const at = y.at(value).toFixed(1);
    parts.push(`<path class="grid" d="M${left} ${at}H${left + wide}"/>`);
    if (labelled) parts.push(`<text x="${left - 8}" y="${Number(at) + 5}" text-anchor="end">${written(value)}</text>`);
  }
  parts.push(`<text class="title" x="${left + wide / 2}" y="${base + 41}" text-anchor="middle">${escaped(across.title)}</text>`);
  return parts.join('');
};

const panelOf = (spec, index, frame, labelled, id) => {
  const { left, top, wide, tall } = frame, marks = spec.marks.filter(mark => (mark.panel ?? 0) === index), axis = spec.across[index];
  const front = spec.marks.filter(mark => !mark.behind);
  const x = scaleOf(axis, spanOf(marks, 'x'), left, left + wide, axis.log ? 0 : 0.02);
  const y = scaleOf(spec.up, spanOf(front, 'y'), top + tall, top, 0.05);
  const behind = spec.behind && scaleOf({ range: spec.behind }, null, top + tall, top, 0);
  const rules = (index ? [] : spec.rules ?? []).map(({ upright, at, colour }) => `<path d="${upright ? `M${x.at(at)} ${top}V${top + tall}`
    : `M${left} ${y.at(at)}H${left + wide}`}" stroke="${ink(colour)}" stroke-width="2.5" stroke-dasharray="9 6"/>`);
  const drawn = marks.map(mark => markOf(mark, x.at, mark.behind ? behind.at : y.at));
  return `${gridOf(frame, x, y, axis, spec.up, labelled)}<clipPath id="${id}"><rect x="${left}" y="${top}" width="${wide}" height="${tall}"/></clipPath>
    <g clip-path="url(#${id})">${rules.join('')}${drawn.join('')}</g>`;
};

// Draw a chart into an element, as wide as that is; `words` say what is seen.
const draw = (node, spec, words = '') => {
  const width = node.clientWidth || 640, narrow = width < NARROW, panels = spec.across.length;
  const height = narrow ? Math.min(spec.height, Math.max(230, (panels > 1 ? 1.35 : 0.82) * width)) : spec.height;
  const places = frames(panels, width, height, narrow), id = (node.dataset.chart ??= `chart${++count}`), { left, top, tall } = places[0];
  const size = Math.min(narrow ? 13 : 16, 2 * (tall + top) / spec.up.title.length); // a long title beside a low panel is smaller
  const upTitle = `<text style="font-size:${size.toFixed(1)}px" transform="translate(${narrow ? 13 : 16} ${top + tall / 2}) rotate(-90)"
    text-anchor="middle">${escaped(spec.up.title)}</text>`;
  const drawn = places.map((frame, i) => panelOf(spec, i, frame, narrow || i === 0, `${id}-${i}`));
  const heading = spec.title ? `<div class="chart-title">${escaped(spec.title)}</div>` : '';
  node.innerHTML = `${heading}<div class="legend">${legendOf(spec.marks)}</div><svg class="chart" role="img" width="${width}" height="${height}"
    viewBox="0 0 ${width} ${height}" aria-label="${escaped(`${spec.alt ?? ''} ${words}`.trim())}">${upTitle}${drawn.join('')}</svg>`;
};

return { draw, escaped };
})();
