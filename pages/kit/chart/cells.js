// The coarse cells of the maps of a group: a cell cursor that arrow keys move and Enter uses, a click that turns a cell
// over, a rectangle of whole cells drawn with the mouse or a finger. Joined to plotly_live.js, which calls `joinCells`
// with what Python sends, and to canvas_map.js, which calls `placeCells` when a map has been drawn or zoomed.
//
// What is pointed at goes to Python as events [number, x, y] or [number, x0, y0, x1, y1] in the figure's coordinates,
// sent until Python has `seen` their number, so that of two quick clicks none is lost.

const { joinCells, placeCells } = (() => {
const STEPS = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
const STILL = 5; // pixels that a pointer may move in a click
const AGAIN_MS = 2000; // until an event that Python has not seen is sent again, where nothing runs
const USES = { look: 'look inside it', turn: 'hide or reveal it', region: 'begin or end the region' };

const between = (low, value, high) => Math.min(Math.max(value, low), high);
const floats = text => new Float32Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
const placeOf = (edges, at) => between(0, edges.findIndex((edge, i) => i > 0 && at < edge) - 1, edges.length - 2);
const cellAt = ({ y, x }, at) => [at[1] >= y.at(-1) ? y.length - 2 : placeOf(y, at[1]), at[0] >= x.at(-1) ? x.length - 2 : placeOf(x, at[0])];
const middle = ({ y, x }, [i, j]) => [(x[j] + x[j + 1]) / 2, (y[i] + y[i + 1]) / 2];

const isPointing = node => node.chart.cells && node.chart.frame;
const dataAt = ({ chart: { frame } }, [left, top]) => [frame.ofX(frame.left + left), frame.ofY(frame.top + top)];
const pixelsIn = (layer, event) => {
  const box = layer.getBoundingClientRect(), scale = layer.clientWidth / box.width || 1; // a page may be enlarged by CSS
  return [between(0, (event.clientX - box.left) * scale, layer.clientWidth), between(0, (event.clientY - box.top) * scale, layer.clientHeight)];
};

// ---- what is told to Python --------------------------------------------------------------------------------------
const tell = (node, numbers) => {
  const group = node.chart.group, number = Math.max(Date.now(), (group.told ?? 0) + 1);
  group.told = number;
  group.pending = [...(group.pending ?? []).filter(event => event[0] > node.chart.cells.seen), [number, ...numbers]];
  node.chart.sendCells(group.pending);
  sendAgain(group);
};

// A run that begins at the same moment may take an event along without acting on it.
const sendAgain = group => {
  clearTimeout(group.again);
  group.again = setTimeout(() => {
    const member = [...group.members].find(each => each.isConnected && each.chart.cells);
    group.pending = group.pending.filter(event => member && event[0] > member.chart.cells.seen);
    if (!group.pending.length) return;
    if (document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning') member.chart.sendCells(group.pending);
    sendAgain(group);
  }, AGAIN_MS);
};

const use = (node, at) => {
  const { cells, group, send } = node.chart;
  if (cells.mode === 'turn') tell(node, at);
  else if (cells.mode === 'look') send(at);
  else if (!group.anchor) group.anchor = at;
  else tellRegion(node, group.anchor, at);
};

const cornersOf = (cells, from, to) => {
  if (!cells.y) return [from, to];
  const ends = [cellAt(cells, from), cellAt(cells, to)], [low, high] = [Math.min, Math.max].map(end => [0, 1].map(k => end(ends[0][k], ends[1][k])));
  return [[cells.x[low[1]], cells.y[low[0]]], [cells.x[high[1] + 1], cells.y[high[0] + 1]]];
};

const tellRegion = (node, from, to) => {
  const [a, b] = cornersOf(node.chart.cells, from, to), inside = 1e-6; // whole cells, not those that begin at their edges
  node.chart.group.anchor = null;
  tell(node, [a, b].flatMap((end, k) => end.map((at, i) => at + inside * ([b, a][k][i] - at))));
};

// ---- what is seen ------------------------------------------------------------------------------------------------
const layerOf = node => {
  let layer = node.querySelector('.live-cells');
  if (layer) return layer;
  layer = document.createElement('div');
  layer.className = 'live-cells';
  layer.tabIndex = 0;
  layer.setAttribute('role', 'application');
  layer.innerHTML = '<i></i><u><b></b></u><span aria-live="polite"></span>';
  node.append(layer);
  listenToCells(node, layer);
  return layer;
};

const put = (node, element, from, to) => {
  const { frame } = node.chart, x = [from[0], to[0]].map(at => frame.toX(at) - frame.left), y = [from[1], to[1]].map(at => frame.toY(at) - frame.top);
  const box = { left: Math.min(...x), top: Math.min(...y), width: Math.abs(x[1] - x[0]), height: Math.abs(y[1] - y[0]) };
  for (const [name, value] of Object.entries(box)) element.style[name] = `${value}px`;
};

const stateOf = ({ chart }, [i, j]) => {
  const { cells, group } = chart, known = group.known, n = cells.x.length - 1;
  if (!known || known.shape !== `${cells.y.length - 1} ${n}`) return '';
  const value = known.values[i * n + j], word = known.words[known.states[i * n + j]];
  return `${Number.isFinite(value) ? `${Number(value.toPrecision(5))} ${chart.layout.meta.units || ''}, ` : ''}${word}`;
};

const announce = (node, layer) => {
  const { cells, group } = node.chart, [i, j] = group.at, begun = group.anchor ? ', the region has begun' : '';
  layer.lastChild.textContent = `Row ${cells.first[0] + i}, column ${cells.first[1] + j}: ${stateOf(node, group.at)}${begun}`;
};

const placeCells = node => {
  const { cells, group } = node.chart;
  if (!isPointing(node)) { node.querySelector('.live-cells')?.remove(); return; }
  const { frame } = node.chart, layer = layerOf(node), [cursor, box] = layer.children;
  for (const name of ['left', 'top', 'width', 'height']) layer.style[name] = `${frame[name]}px`;
  layer.dataset.mode = cells.mode;
  layer.tabIndex = cells.y ? 0 : -1;
  layer.setAttribute('aria-label', `Cells of the map: arrow keys move, Enter to ${USES[cells.mode]}`);
  box.hidden = !(group.anchor && group.to);
  if (!box.hidden) {
    const ends = cornersOf(cells, group.anchor, group.to);
    put(node, box, ...ends);
    const [a, b] = cells.y ? ends.map(([x, y]) => [cells.x.indexOf(x), cells.y.indexOf(y)]) : [];
    box.firstChild.textContent = a ? `${b[1] - a[1]} × ${b[0] - a[0]} cells` : '';
  }
  cursor.hidden = !cells.y;
  if (!cells.y) return;
  const [rows, columns] = [cells.y.length - 1, cells.x.length - 1];
  group.at = group.at ? [between(0, group.at[0], rows - 1), between(0, group.at[1], columns - 1)] : [rows >> 1, columns >> 1];
  const [i, j] = group.at;
  put(node, cursor, [cells.x[j], cells.y[i]], [cells.x[j + 1], cells.y[i + 1]]);
};

const placeAll = node => [...node.chart.group.members].filter(member => member.isConnected && member.chart.frame).forEach(placeCells);

// ---- keys, clicks, rectangles ------------------------------------------------------------------------------------
const onKey = (node, layer, event) => {
  const { cells, group } = node.chart, step = STEPS[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (step) group.at = group.at.map((at, k) => at + step[k] * (event.shiftKey ? 5 : 1));
  else if (event.key === 'Enter' || event.key === ' ') use(node, middle(cells, group.at));
  else if (event.key === 'Escape' && group.anchor) group.anchor = null;
  else return;
  event.preventDefault();
  event.stopPropagation();
  placeCells(node); // keeps the cursor on the map
  if (group.anchor) group.to = middle(cells, group.at);
  placeAll(node);
  announce(node, layer);
};

const onDraw = (node, layer, event) => {
  const { cells, group } = node.chart;
  if (cells.mode !== 'region' || event.button !== 0) return;
  layer.setPointerCapture(event.pointerId);
  group.anchor = group.to = dataAt(node, pixelsIn(layer, event));
  const begin = [event.clientX, event.clientY];
  const move = next => { group.to = dataAt(node, pixelsIn(layer, next)); placeAll(node); };
  const end = last => {
    layer.removeEventListener('pointermove', move);
    const from = group.anchor, moved = Math.hypot(last.clientX - begin[0], last.clientY - begin[1]) > STILL;
    group.anchor = null;
    if (last.type === 'pointerup' && moved && from) tellRegion(node, from, group.to);
    placeAll(node);
  };
  layer.addEventListener('pointermove', move);
  for (const name of ['pointerup', 'pointercancel']) layer.addEventListener(name, end, { once: true });
  placeAll(node);
};

const isOnMap = (layer, event) => {
  const { left, top, right, bottom } = layer.getBoundingClientRect();
  return event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom;
};

// Missing cells can be clicked too.
const onPress = (node, event) => {
  if (!isPointing(node) || node.chart.cells.mode !== 'turn' || event.button !== 0 || !isOnMap(layerOf(node), event)) return;
  const layer = layerOf(node), begin = [event.clientX, event.clientY];
  const end = last => {
    for (const name of ['pointerup', 'pointercancel']) removeEventListener(name, end, true);
    if (last.type !== 'pointerup' || Math.hypot(last.clientX - begin[0], last.clientY - begin[1]) > STILL) return;
    const at = dataAt(node, pixelsIn(layer, last));
    if (node.chart.cells.y) node.chart.group.at = cellAt(node.chart.cells, at);
    layer.focus({ preventScroll: true });
    placeAll(node);
    tell(node, at);
  };
  for (const name of ['pointerup', 'pointercancel']) addEventListener(name, end, true);
};

const listenToCells = (node, layer) => {
  layer.addEventListener('keydown', event => onKey(node, layer, event));
  layer.addEventListener('focus', () => { placeCells(node); announce(node, layer); });
  layer.addEventListener('pointerdown', event => onDraw(node, layer, event));
  node.chart.plot.addEventListener('pointerdown', event => onPress(node, event), true);
};

// ---- what comes from Python --------------------------------------------------------------------------------------
const joinCells = (node, cells, sendCells) => {
  const { chart } = node, { group } = chart;
  chart.cells = cells;
  chart.sendCells = sendCells;
  if (cells?.known) {
    const { values, states, shape, words } = cells.known;
    group.known = { values: floats(values), states: floats(states), shape, words };
  }
  if (!chart.frame) return;
  if (cells?.mode !== 'region') group.anchor = null;
  placeCells(node);
  const layer = node.querySelector('.live-cells');
  if (cells?.y && layer === document.activeElement) announce(node, layer);
};

return { joinCells, placeCells };
})();
