// A chart that lives as long as its place on the page: new data are drawn into the old picture, so zoom stays. Maps are
// drawn on a canvas (canvas_map.js), so are points in space (canvas_space.js), everything else by plotly.

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

// ---- theme -------------------------------------------------------------------------------------------------------
const themeOf = node => {
  const css = getComputedStyle(node), read = name => css.getPropertyValue(name).trim();
  const ink = mapCanvas.channels(read('--st-text-color')), paper = read('--st-background-color');
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
const NARROW = 540, BELOW = { orientation: 'h', x: 0, xanchor: 'left', yanchor: 'top' }, UNDER_TICKS = 70;
const TITLE = 34, BARE = 12, ROW = 19, SYMBOL = 45;
const ruler = document.createElement('canvas').getContext('2d');

// Pixels that a horizontal legend takes: one row, or columns as wide as the longest name, as plotly sets it.
const legendHeight = ({ meta, margin, legend, font }, width) => {
  const names = (meta?.names ?? []).map(name => name.split('<br>')), size = (legend?.font?.size ?? 12) / 12;
  if (!names.length) return 0;
  ruler.font = `${12 * size}px ${font?.family ?? 'sans-serif'}`;
  const wide = names.map(lines => SYMBOL + Math.max(...lines.map(line => ruler.measureText(line).width)));
  const room = width - margin.l - margin.r, total = wide.reduce((sum, one) => sum + one);
  const rows = total <= room ? 1 : Math.ceil(names.length / Math.max(1, Math.floor(room / Math.max(...wide))));
  return rows * size * ROW * Math.max(...names.map(lines => lines.length));
};

// What a chart keeps above its axes without a legend there.
const headOf = ({ title, margin }) => Math.min(margin.t, title?.text ? TITLE : BARE);

// Where the chart is narrow, a legend goes below the axes that lay beside them, or above without room for its rows.
const legendBelow = (layout, width) => {
  const { meta, margin, legend } = layout;
  if (width >= NARROW) return false;
  if (meta?.legend === 'beside') return true;
  const isAbove = layout.showlegend && legend?.orientation === 'h' && legend.yanchor === 'bottom' && legend.y === 1;
  return isAbove && legendHeight(layout, width) > margin.t - headOf(layout);
};

const heightFor = (layout, width) => {
  const most = layout.height || 360, aspect = layout.meta?.aspect, m = layout.margin;
  if (!width) return most;
  const height = aspect ? Math.round(Math.min(most, Math.max(120, (width - m.l - m.r) * aspect) + m.t + m.b)) : most;
  return legendBelow(layout, width) ? height + Math.round(Math.max(0, legendHeight(layout, width) - m.t + headOf(layout))) : height;
};

const placedLegend = (layout, width, height) => {
  const { margin, legend } = layout;
  if (!legendBelow(layout, width)) return legend ? { legend, margin } : {};
  const t = headOf(layout), y = -Math.max(0.2, UNDER_TICKS / (height - t - margin.b));
  return { legend: { ...legend, ...BELOW, y }, margin: { ...margin, t } };
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
    window.Plotly.relayout(chart.plot, { width, height, ...placedLegend(chart.layout, width, height) });
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

const membersOf = node => [...node.chart.group.members].filter(member => member.isConnected && member.chart.drawn && !member.chart.map);

const zoomTogether = (node, zoom) => {
  const group = node.chart.group, members = membersOf(node);
  group.zoom = zoom && { ...zoom, revisions: new Set(members.map(member => member.chart.layout.uirevision)) };
  for (const member of members) if (member !== node || !zoom) setZoom(member, zoom);
};

// ---- life --------------------------------------------------------------------------------------------------------
const listen = node => {
  const chart = node.chart, { plot } = chart;
  plot.on('plotly_relayout', event => {
    placePoints(node);
    const ends = ['y0', 'y1'].map(end => event[`shapes[0].${end}`]).filter(Number.isFinite);
    if (ends.length && chart.sendRule) chart.sendRule(ends.reduce((sum, at) => sum + at) / ends.length);
    const moved = Object.keys(event).some(k => /^[xy]axis\.(range|autorange)/.test(k));
    if (moved && !chart.silent) { const zoom = ranges(plot); if (zoom) zoomTogether(node, zoom); }
  });
  plot.on('plotly_doubleclick', () => { clearTimeout(chart.clicking); zoomTogether(node, null); });
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
const drawInRoom = (drawn, node, data) => {
  const { chart } = node, waited = chart.unseen;
  chart.unseen = data;
  if (waited) return;
  const observer = new ResizeObserver(() => {
    if (node.isConnected && !hasRoom(node)) return;
    observer.disconnect();
    const newest = chart.unseen;
    chart.unseen = null;
    if (node.isConnected) drawn(node, newest);
  });
  observer.observe(node);
};

const readFigure = text => {
  const figure = JSON.parse(text), { layout } = figure;
  if (layout.meta?.hall && HALL.matches) { enlarge(figure, ''); layout.height *= LARGER; }
  return figure;
};

const stampOf = (data, theme) => `${data.stamp}|${data.pinned_stamp}|${theme.ink}|${theme.paper}`;

// What tests and benchmarks read: which picture is there, and how long it took.
const tellDrawn = (node, data, start) => {
  node.dataset.revision = data.stamp;
  node.dataset.ms = (performance.now() - start).toFixed(0);
};

const drawOnCanvas = (node, data) => {
  if (!hasRoom(node)) return drawInRoom(drawOnCanvas, node, data);
  const { chart } = node, theme = themeOf(node), stamp = stampOf(data, theme), start = performance.now();
  if (chart.stamp === stamp) return chart.map && keepMap(node);
  if (chart.engine === 'space') drawSpace(node, readFigure(data.figure), theme);
  else drawMap(node, readFigure(data.figure), data.pinned, theme);
  chart.stamp = stamp;
  tellDrawn(node, data, start);
};

const draw = (node, data) => {
  if (!hasRoom(node)) return drawInRoom(draw, node, data);
  const P = window.Plotly, chart = node.chart, theme = themeOf(node), stamp = stampOf(data, theme);
  if (chart.stamp === stamp || afterDrag(node, () => draw(node, data))) return;
  const figure = readFigure(data.figure), layout = figure.layout;
  layout.meta = { ...layout.meta, ...data.box.meta };
  joinPinned(figure, data.pinned);
  applyTheme(layout, theme);
  layout.uirevision ??= data.key;
  chart.layout = { ...layout };
  chart.home = { x: layout.xaxis?.range, y: layout.yaxis?.range };
  const zoom = chart.group.zoom;
  if (zoom && zoom.revisions.has(layout.uirevision)) {
    layout.xaxis = { ...layout.xaxis, range: zoom.x, autorange: false };
    layout.yaxis = { ...layout.yaxis, range: zoom.y, autorange: false };
  }
  if (matchMedia('(pointer: coarse)').matches) layout.dragmode = false; // a finger scrolls the page
  chart.size = [node.clientWidth, heightFor(layout, node.clientWidth)];
  node.style.height = `${chart.size[1]}px`;
  [layout.width, layout.height] = chart.size;
  Object.assign(layout, placedLegend(layout, ...chart.size));
  const start = performance.now();
  chart.silent = true;
  chart.config ??= config(node, P, data.config); // one object: another one makes plotly build the chart anew
  P.react(chart.plot, figure.data, layout, chart.config).then(() => {
    chart.silent = false;
    chart.stamp = stamp;
    tellDrawn(node, data, start);
    node.querySelectorAll('.main-svg, .gl-container').forEach(part => part.setAttribute('aria-hidden', 'true')); // the label says it
    if (!chart.drawn) { chart.drawn = true; listen(node); }
    placePoints(node);
  });
};

// A chart that may come later lets the others be painted first; of several waiting pictures only the last is drawn.
const later = (node, data) => {
  const waiting = node.chart.waiting;
  node.chart.waiting = data;
  if (waiting) return;
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => { // once a frame has been painted
    const newest = node.chart.waiting;
    node.chart.waiting = null;
    if (node.isConnected) draw(node, newest);
  }, 30)));
};

// A picture drawn ahead of its page: the page is asked for when the picture is there and the hand rests.
const REST_MS = 200;
let resting = 0;
const follow = () => {
  if (document.querySelector('[data-dragged=true], [data-dragging=true]')) return rest(); // a drag is one step of the page's history
  resting = 0;
  window.__labFollow?.();
};
const rest = () => { clearTimeout(resting); resting = setTimeout(follow, REST_MS); };
for (const name of ['keydown', 'pointerdown', 'pointermove']) {
  addEventListener(name, event => { if (resting && (name !== 'pointermove' || event.buttons)) rest(); }, true);
}

const forget = node => {
  const { plot, observer, group, ended } = node.chart;
  observer?.disconnect();
  group?.members.delete(node);
  ended.abort();
  window.Plotly?.purge(plot);
};

// A place that held a figure of the other kind is made bare.
const begin = (node, engine) => {
  const old = node.querySelector('.live-plot');
  if (node.chart) {
    forget(node);
    takePoints(node, null);
    old.replaceWith(Object.assign(document.createElement('div'), { className: 'live-plot' }));
    node.querySelectorAll('.map-tools, .live-cells, .live-divider').forEach(part => part.remove());
    delete node.dataset.divider;
  }
  const plot = node.querySelector('.live-plot'), tip = node.querySelector('.live-tip');
  tip.hidden = true;
  plot.setAttribute('role', engine === 'plotly' ? 'figure' : 'img');
  node.chart = { plot, tip, engine, drawn: false, silent: false, size: [0, 0], ended: new AbortController() };
  Object.assign(node.dataset, { engine, role: engine === 'canvas' ? 'map' : 'chart' });
  if (engine === 'canvas') beginMap(node);
  if (engine === 'space') beginSpace(node);
};

// A picture that was sent: what is drawn, and what it says to those who cannot see it.
const show = (node, data) => {
  const { chart } = node;
  chart.along = data.along;
  chart.plot.setAttribute('aria-label', data.alt);
  (data.engine !== 'plotly' ? drawOnCanvas : data.later && chart.drawn ? later : draw)(node, data);
};

// Pictures of a slider that is dragged come past Streamlit (dragging.js). At each value the largest in sight is drawn; of
// the others, one at every second value and, in turn, as many more as there is time for. The release's run brings all.
const DRAWING_MS = 30;
let turn = 0;
const inSight = () => [...CHARTS.values()].flatMap(({ members }) => [...members]).flatMap(node => {
  const { top, bottom, width, height } = node.getBoundingClientRect();
  return node.isConnected && bottom > 0 && top < innerHeight ? [{ node, area: width * height }] : [];
});
window.__labShow = pictures => {
  const start = performance.now(), charts = inSight();
  const due = pictures.flatMap(data => charts
    .filter(({ node }) => node.dataset.key === data.key && node.chart.engine === data.engine && node.chart.drawn)
    .map(({ node, area }) => ({ node, area, data })));
  const largest = Math.max(...due.map(({ area }) => area)), waits = ({ node, area }) => (area === largest ? 0 : node.chart.shown ?? 1);
  const least = due.filter(({ area }) => area === largest).length + (++turn % 2);
  for (const [place, { node, data }] of due.sort((a, b) => waits(a) - waits(b)).entries()) {
    if (place >= least && performance.now() - start > DRAWING_MS) return;
    show(node, data);
    node.chart.shown = performance.now();
  }
};

export default function (component) {
  const { parentElement, data, setStateValue, setTriggerValue } = component;
  const node = parentElement.querySelector('.live-chart');
  if (node.chart?.engine !== data.engine) begin(node, data.engine);
  const chart = node.chart;
  chart.group = groupOf(data.group || `alone ${data.key}`);
  chart.group.members.add(node);
  chart.clickable = data.clickable;
  chart.send = point => setStateValue('click', point);
  chart.sendRule = data.movable ? at => { chart.stamp = ''; setTriggerValue('rule', at); } : null; // drawn anew, snapped
  joinCells(node, data.cells, events => setTriggerValue('cells', events));
  takePoints(node, data.points, message => setTriggerValue('edits', message));
  node.dataset.key = data.key;
  if (!chart.drawn) node.style.height = `${heightFor({ ...data.box }, node.clientWidth)}px`;
  const ready = data.engine === 'plotly' ? plotly() : Promise.resolve();
  ready.then(() => show(node, data))
    .catch(problem => { chart.plot.textContent = String(problem.message); })
    .finally(() => { if (data.ahead && chart.ahead !== data.ahead) { chart.ahead = data.ahead; rest(); } });
  return () => setTimeout(() => { if (!node.isConnected) forget(node); }, 200);
}
