// A plotly chart that lives as long as its place on the page: new data are drawn into the old picture, so zoom stays.
// Charts of one group zoom together and answer a pointer together, without asking Python.

const CHARTS = (window.__labCharts ??= new Map()); // group -> { members: Set of nodes, zoom: {x, y, revisions} | null }

const plotly = () => (window.__labPlotly ??= new Promise((resolve, reject) => {
  if (window.Plotly) return resolve(window.Plotly);
  const script = document.createElement('script');
  script.src = new URL('app/static/plotly.min.js', document.baseURI).href;
  script.onload = () => resolve(window.Plotly);
  script.onerror = () => { window.__labPlotly = undefined; reject(new Error('plotly.min.js is not served')); };
  document.head.append(script);
}));

const groupOf = name => {
  if (!CHARTS.has(name)) CHARTS.set(name, { members: new Set(), zoom: null });
  return CHARTS.get(name);
};

const ARRAYS = { f4: Float32Array, f8: Float64Array };
const decode = spec => {
  const bytes = Uint8Array.from(atob(spec.bdata), c => c.charCodeAt(0));
  return new ARRAYS[spec.dtype](bytes.buffer);
};

// ---- theme -------------------------------------------------------------------------------------------------------
const channels = colour => {
  const hex = /^#([0-9a-f]{6})/i.exec(colour.trim());
  if (hex) return [0, 2, 4].map(i => parseInt(hex[1].slice(i, i + 2), 16));
  return (colour.match(/[\d.]+/g) || [255, 255, 255]).slice(0, 3).map(Number);
};

const themeOf = node => {
  const css = getComputedStyle(node), read = name => css.getPropertyValue(name).trim();
  const ink = channels(read('--st-text-color')), paper = read('--st-background-color');
  return { ink: `rgb(${ink})`, faint: `rgba(${ink},0.14)`, paper, font: read('--st-font') || 'sans-serif' };
};

const applyTheme = (layout, theme) => {
  layout.font = { ...layout.font, color: theme.ink, family: theme.font };
  layout.hoverlabel = { bgcolor: theme.paper, bordercolor: theme.faint, font: { color: theme.ink, family: theme.font } };
  layout.modebar = { bgcolor: 'transparent', color: theme.faint.replace('0.14', '0.55'), activecolor: theme.ink };
  for (const name of Object.keys(layout).filter(k => /^[xy]axis/.test(k))) {
    layout[name] = { ...layout[name], gridcolor: theme.faint, linecolor: theme.faint, zerolinecolor: theme.faint };
  }
};

// ---- size --------------------------------------------------------------------------------------------------------
const heightFor = (layout, width) => {
  const most = layout.height || 360, aspect = layout.meta?.aspect, m = layout.margin;
  if (!aspect || !width) return most;
  return Math.round(Math.min(most, Math.max(120, (width - m.l - m.r) * aspect) + m.t + m.b));
};

// A picture for a lecture hall has larger words, thicker lines and more height where the window is a projector's.
const HALL = matchMedia('(min-width: 1700px)'), LARGER = 1.25;
const LENGTHS = { font: ['size'], tickfont: ['size'], marker: ['size'], line: ['width'], margin: ['l', 'r', 't', 'b'] };
const enlarge = (part, name) => {
  for (const [key, value] of Object.entries(part)) {
    if (value && typeof value === 'object') enlarge(value, key);
    else if (LENGTHS[name]?.includes(key) || key === 'yshift' || key === 'standoff') part[key] = value * LARGER;
  }
};

// Columns that come or go pass through widths in which plotly has no room for an axis.
const hasRoom = node => node.clientWidth > 60;

const fit = node => {
  const chart = node.chart, width = node.clientWidth;
  if (!chart.layout || !hasRoom(node) || !chart.drawn) return;
  const height = heightFor(chart.layout, width);
  node.style.height = `${height}px`;
  if (Math.abs(chart.size[0] - width) > 1 || chart.size[1] !== height) {
    chart.size = [width, height];
    window.Plotly.relayout(chart.plot, { width, height });
  }
};

// ---- zoom --------------------------------------------------------------------------------------------------------
const ranges = plot => {
  const { xaxis, yaxis } = plot._fullLayout;
  return xaxis && yaxis ? { x: [...xaxis.range], y: [...yaxis.range] } : null;
};

const setZoom = (node, zoom) => {
  const chart = node.chart, home = chart.home;
  const one = (axis, range) => range ? { [`${axis}.range`]: range } : { [`${axis}.autorange`]: true };
  chart.silent = true;
  const change = { ...one('xaxis', zoom?.x ?? home.x), ...one('yaxis', zoom?.y ?? home.y) };
  return window.Plotly.relayout(chart.plot, change).finally(() => { chart.silent = false; });
};

const membersOf = node => [...node.chart.group.members].filter(member => member.isConnected && member.chart.drawn);

const zoomTogether = (node, zoom) => {
  const group = node.chart.group, members = membersOf(node);
  group.zoom = zoom && { ...zoom, revisions: new Set(members.map(member => member.chart.layout.uirevision)) };
  for (const member of members) if (member !== node || !zoom) setZoom(member, zoom);
};

// ---- the value under the pointer ---------------------------------------------------------------------------------
const nearest = (centres, at) => {
  let best = 0;
  for (let i = 1; i < centres.length; i++) if (Math.abs(centres[i] - at) < Math.abs(centres[best] - at)) best = i;
  return best;
};

const valueAt = (node, x, y) => {
  const plot = node.chart.plot, trace = shownTrace(node, x), z = plot.calcdata?.[trace?.index]?.[0]?.z;
  if (!z) return undefined;
  const cell = (axis, n, at) => trace[axis]?.length ? nearest(trace[axis], at)
    : Math.round((at - trace[`${axis}0`]) / trace[`d${axis}`]);
  const row = z[cell('y', z.length, y)];
  return row?.[cell('x', row.length, x)];
};

const placeAt = (chart, x, y) => {
  const place = chart.place;
  if (!place) return [y, x]; // a latitude-longitude grid
  const bracket = (nodes, at) => {
    let i = 0;
    while (i < nodes.length - 2 && nodes[i + 1] < at) i++;
    return [i, nodes.length > 1 ? (at - nodes[i]) / (nodes[i + 1] - nodes[i]) : 0];
  };
  const [i, v] = bracket(place.y, y), [j, u] = bracket(place.x, x), n = place.x.length, p = [0, 0, 0];
  for (const [di, wi] of [[0, 1 - v], [1, v]]) for (const [dj, wj] of [[0, 1 - u], [1, u]]) {
    const at = Math.min(i + di, place.y.length - 1) * n + Math.min(j + dj, n - 1);
    for (let k = 0; k < 3; k++) p[k] += wi * wj * place.vectors[3 * at + k];
  }
  return [Math.atan2(p[2], Math.hypot(p[0], p[1])), Math.atan2(p[1], p[0])].map(a => a * 180 / Math.PI);
};

// As deconditioning.fields.grids.place writes it: 52.57° N, 5.03° W.
const degrees = (at, sides) => {
  const size = Math.abs(at).toFixed(2);
  return Number(size) % 180 === 0 ? `${size}°` : `${size}° ${sides[at < 0 ? 1 : 0]}`;
};
const say = ([lat, lon]) => `${degrees(lat, 'NS')}, ${degrees(((lon + 180) % 360 + 360) % 360 - 180, 'EW')}`;

const showTip = (node, x, y) => {
  const { plot, tip, layout } = node.chart, { xaxis, yaxis } = plot._fullLayout;
  const left = xaxis._offset + xaxis.d2p(x), top = yaxis._offset + yaxis.d2p(y), z = valueAt(node, x, y);
  const out = left < xaxis._offset || left > xaxis._offset + xaxis._length
    || top < yaxis._offset || top > yaxis._offset + yaxis._length;
  tip.hidden = out;
  if (out) return;
  const known = z !== undefined && z !== null && Number.isFinite(z), units = layout.meta.units || '';
  const place = placeAt(node.chart, x, y);
  tip.firstChild.textContent = known ? `${Number(z.toPrecision(5))} ${units}` : 'missing';
  tip.lastChild.textContent = place ? say(place) : '';
  tip.dataset.side = left > plot.clientWidth / 2 ? 'left' : 'right';
  tip.style.transform = `translate(${left}px, ${top}px)`;
};

// ---- life --------------------------------------------------------------------------------------------------------
const listen = node => {
  const chart = node.chart, { plot } = chart;
  plot.on('plotly_relayout', event => {
    chart.tip.hidden = true;
    placeDivider(node);
    placePoints(node);
    placeCells(node);
    const ends = ['y0', 'y1'].map(end => event[`shapes[0].${end}`]).filter(Number.isFinite);
    if (ends.length && chart.sendRule) chart.sendRule(ends.reduce((sum, at) => sum + at) / ends.length);
    const moved = Object.keys(event).some(k => /^[xy]axis\.(range|autorange)/.test(k));
    if (moved && !chart.silent) { const zoom = ranges(plot); if (zoom) zoomTogether(node, zoom); }
  });
  plot.on('plotly_doubleclick', () => { clearTimeout(chart.clicking); zoomTogether(node, null); });
  plot.on('plotly_hover', ({ points }) => {
    if (chart.layout.meta?.role === 'map') for (const m of membersOf(node)) {
      if (m.chart.layout.meta?.role === 'map') showTip(m, points[0].x, points[0].y);
    }
  });
  plot.on('plotly_unhover', () => membersOf(node).forEach(m => { m.chart.tip.hidden = true; }));
  plot.on('plotly_click', ({ points }) => {
    if (!chart.clickable) return;
    clearTimeout(chart.clicking); // a double click is a wish to see all again, not two choices
    chart.clicking = setTimeout(() => chart.send([points[0].x, points[0].y]), 230);
  });
  chart.observer = new ResizeObserver(() => requestAnimationFrame(() => fit(node)));
  chart.observer.observe(node);
};

const config = (node, P, more) => ({
  displaylogo: false, responsive: false, plotGlPixelRatio: Math.max(1, devicePixelRatio), doubleClick: false, showTips: false,
  modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d', 'resetScale2d', 'zoomIn2d', 'zoomOut2d', 'sendChartToCloud'],
  plotlyServerURL: '',
  modeBarButtonsToAdd: [{ name: 'Reset the view', icon: P.Icons.home, click: () => zoomTogether(node, null) }],
  toImageButtonOptions: { scale: 2 }, ...more,
});

// What comes while there is no room is drawn once there is.
const drawInRoom = (P, node, data) => {
  const { chart } = node, waited = chart.unseen;
  chart.unseen = data;
  if (waited) return;
  const observer = new ResizeObserver(() => {
    if (node.isConnected && !hasRoom(node)) return;
    observer.disconnect();
    const newest = chart.unseen;
    chart.unseen = null;
    if (node.isConnected) draw(P, node, newest);
  });
  observer.observe(node);
};

const draw = (P, node, data) => {
  if (!hasRoom(node)) return drawInRoom(P, node, data);
  const chart = node.chart, theme = themeOf(node), stamp = `${data.stamp}|${data.pinned_stamp}|${theme.ink}|${theme.paper}`;
  if (chart.stamp === stamp || afterDrag(node, () => draw(P, node, data))) return;
  const figure = JSON.parse(data.figure), layout = figure.layout;
  if (layout.meta?.hall && HALL.matches) { enlarge(figure, ''); layout.height *= LARGER; }
  joinPinned(node, figure, data.pinned);
  applyTheme(layout, theme);
  layout.uirevision ??= data.key;
  chart.layout = { ...layout };
  chart.home = { x: layout.xaxis?.range, y: layout.yaxis?.range };
  chart.place = layout.meta?.place && Object.fromEntries(Object.entries(layout.meta.place).map(([k, v]) => [k, decode(v)]));
  const zoom = chart.group.zoom;
  if (zoom && zoom.revisions.has(layout.uirevision)) {
    layout.xaxis = { ...layout.xaxis, range: zoom.x, autorange: false };
    layout.yaxis = { ...layout.yaxis, range: zoom.y, autorange: false };
  }
  if (layout.meta?.role === 'map') for (const trace of figure.data) {
    if (trace.type === 'heatmap') { trace.hoverinfo = 'none'; delete trace.hovertemplate; }
  }
  if (matchMedia('(pointer: coarse)').matches) layout.dragmode = false; // a finger scrolls the page
  chart.size = [node.clientWidth, heightFor(layout, node.clientWidth)];
  node.style.height = `${chart.size[1]}px`;
  node.dataset.role = layout.meta?.role || 'chart';
  [layout.width, layout.height] = chart.size;
  const start = performance.now();
  chart.silent = true;
  chart.config ??= config(node, P, data.config); // one object: another one makes plotly build the chart anew
  P.react(chart.plot, figure.data, layout, chart.config).then(() => {
    chart.silent = false;
    chart.stamp = stamp;
    node.dataset.revision = data.stamp;
    node.dataset.ms = (performance.now() - start).toFixed(0);
    node.querySelectorAll('.main-svg, .gl-container').forEach(part => part.setAttribute('aria-hidden', 'true')); // the label says it
    if (!chart.drawn) { chart.drawn = true; listen(node); }
    placeDivider(node);
    placePoints(node);
    placeCells(node);
  });
};

// A chart that may come later lets the others be painted first; of several waiting pictures only the last is drawn.
const later = (P, node, data) => {
  const waiting = node.chart.waiting;
  node.chart.waiting = data;
  if (waiting) return;
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => { // once a frame has been painted
    const newest = node.chart.waiting;
    node.chart.waiting = null;
    if (node.isConnected) draw(P, node, newest);
  }, 30)));
};

// A picture drawn ahead of its page: the page is asked for when the picture is there and the hand rests.
const REST_MS = 200;
let resting = 0;
const follow = () => {
  if (document.querySelector('[data-dragged="true"]')) return rest(); // a drag is one step of the page's history
  resting = 0;
  window.__labFollow?.();
};
const rest = () => { clearTimeout(resting); resting = setTimeout(follow, REST_MS); };
for (const name of ['keydown', 'pointerdown', 'pointermove']) {
  addEventListener(name, event => { if (resting && (name !== 'pointermove' || event.buttons)) rest(); }, true);
}

const begin = node => {
  const plot = node.querySelector('.live-plot'), tip = node.querySelector('.live-tip');
  node.chart = { plot, tip, drawn: false, silent: false, size: [0, 0] };
};

export default function (component) {
  const { parentElement, data, setStateValue, setTriggerValue } = component;
  const node = parentElement.querySelector('.live-chart');
  if (!node.chart) begin(node);
  const chart = node.chart;
  chart.group = groupOf(data.group || `alone ${data.key}`);
  chart.group.members.add(node);
  chart.clickable = data.clickable;
  chart.send = point => setStateValue('click', point);
  chart.sendRule = data.movable ? at => { chart.stamp = ''; setTriggerValue('rule', at); } : null; // drawn anew, snapped
  joinCells(node, data.cells, events => setTriggerValue('cells', events));
  chart.plot.setAttribute('aria-label', data.alt);
  takePoints(node, data.points, message => setTriggerValue('edits', message));
  node.dataset.key = data.key;
  if (!chart.drawn) node.style.height = `${heightFor({ ...data.box }, node.clientWidth)}px`;
  plotly().then(P => (data.later && chart.drawn ? later : draw)(P, node, data))
    .catch(problem => { chart.plot.textContent = String(problem.message); })
    .finally(() => { if (data.ahead && chart.ahead !== data.ahead) { chart.ahead = data.ahead; rest(); } });
  return () => setTimeout(() => {
    if (node.isConnected) return;
    chart.observer?.disconnect();
    chart.group.members.delete(node);
    window.Plotly?.purge(chart.plot);
  }, 200);
}
