// A map on the page: zoom and pan by wheel, drag, pinch and keys, the value under the pointer, its PNG. Maps of a group do
// so together. Joined to map_canvas.js, which paints, and to plotly_live.js, which calls `beginMap` and `drawMap`.

const { beginMap, drawMap, keepMap, repaint, addCanvases, fitCanvases, pixelsAt, between, makeTools, saveCanvas, SAVE_ICON, HOME_ICON } = (() => {
const CLOSEST = 64, STILL_PX = 5, DOUBLE_MS = 230, SCROLLED_MS = 400;
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const mapsOf = node => [...node.chart.group.members].filter(member => member.isConnected && member.chart.map);
const between = (low, value, high) => Math.min(Math.max(value, low), high);
const spanOf = ([low, high]) => high - low;

// ---- painting ----------------------------------------------------------------------------------------------------
const paint = node => {
  const { chart } = node, { map, heat, over, theme } = chart, [width, height] = chart.size, ratio = devicePixelRatio || 1;
  if (!map || !width) return;
  const frame = (chart.frame = mapCanvas.frameOf(map, width, height, chart.view));
  if (chart.dirty !== 'pixels') mapCanvas.paintOver(over, map, frame, width, height, ratio, theme);
  mapCanvas.paintPixels(heat, map, frame, width, height, ratio, shareOf(node));
  chart.dirty = '';
  if (!chart.tip.hidden) placeTip(node, ...chart.pointed); // its value may be another now
  node.dataset.painted = Number(node.dataset.painted || 0) + 1;
};

// At the next frame of the window, once for all that has changed; `pixels` alone where nothing else moves.
const repaint = (node, what = 'all') => {
  const { chart } = node, waits = chart.dirty;
  chart.dirty = waits && waits !== what ? 'all' : what;
  if (!waits) requestAnimationFrame(() => {
    if (!node.isConnected) return;
    paint(node);
    placeDivider(node);
    placeCells(node);
  });
};

// Canvases as large as the chart has become; whether that is another size than before.
const fitCanvases = node => {
  const { chart } = node, width = node.clientWidth;
  if (!chart.drawn || !hasRoom(node)) return false;
  const height = heightFor(chart.layout, width), ratio = devicePixelRatio || 1;
  if (chart.size[0] === width && chart.size[1] === height && chart.ratio === ratio) return false;
  Object.assign(chart, { size: [width, height], ratio });
  node.style.height = `${height}px`;
  for (const canvas of chart.canvases) Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  return true;
};

const fitMap = node => {
  if (!fitCanvases(node)) return;
  paint(node); // at once: a canvas that is resized is empty
  placeDivider(node);
  placeCells(node);
};

// ---- zoom --------------------------------------------------------------------------------------------------------
// A view of the frame's own aspect, inside the frame; null is all of it.
const viewOf = ({ home }, x, y, factor) => {
  if (factor <= 1.0001) return null;
  const part = (axis, middle) => {
    const [low, high] = home[axis], half = (high - low) / factor / 2, at = between(low + half, middle, high - half);
    return [at - half, at + half];
  };
  return { x: part('x', x), y: part('y', y) };
};

const factorOf = ({ chart: { map, view } }) => view ? spanOf(map.home.x) / spanOf(view.x) : 1;

const showView = (node, view) => {
  const { group } = node.chart, members = mapsOf(node);
  group.zoom = view && { ...view, revisions: new Set(members.map(member => member.chart.layout.uirevision)) };
  for (const member of members) {
    const { chart } = member;
    Object.assign(chart, { view, frame: mapCanvas.frameOf(chart.map, ...chart.size, view) }); // the next event counts from here
    chart.plot.dataset.zoomed = Boolean(view);
    chart.tip.hidden = true;
    repaint(member);
  }
};

// Closer by a factor about a place that stays where it is.
const zoomAt = (node, by, x, y) => {
  const { map, frame } = node.chart, factor = between(1, factorOf(node) * by, CLOSEST), { x: a, y: b } = frame;
  const kept = spanOf(map.home.x) / factor / spanOf(a);
  showView(node, viewOf(map, x + kept * ((a[0] + a[1]) / 2 - x), y + kept * ((b[0] + b[1]) / 2 - y), factor));
};

const zoomMiddle = (node, by) => {
  const { x, y } = node.chart.frame;
  zoomAt(node, by, (x[0] + x[1]) / 2, (y[0] + y[1]) / 2);
};

const panBy = (node, right, up) => {
  const { map, frame: { x, y } } = node.chart;
  showView(node, viewOf(map, (x[0] + x[1]) / 2 + right * spanOf(x), (y[0] + y[1]) / 2 + up * spanOf(y), factorOf(node)));
};

const zoomInto = (node, [left, top], [right, bottom]) => {
  const { map, frame } = node.chart, [x0, x1, y0, y1] = [frame.ofX(left), frame.ofX(right), frame.ofY(top), frame.ofY(bottom)];
  const factor = Math.min(spanOf(map.home.x) / Math.abs(x1 - x0), spanOf(map.home.y) / Math.abs(y1 - y0), CLOSEST);
  showView(node, viewOf(map, (x0 + x1) / 2, (y0 + y1) / 2, factor));
};

// ---- the value under the pointer -----------------------------------------------------------------------------------
// As deconditioning.fields.grids.place writes it: 52.57° N, 5.03° W.
const degrees = (at, sides) => {
  const size = Math.abs(at).toFixed(2);
  return Number(size) % 180 === 0 ? `${size}°` : `${size}° ${sides[at < 0 ? 1 : 0]}`;
};
const say = ([lat, lon]) => `${degrees(lat, 'NS')}, ${degrees(((lon + 180) % 360 + 360) % 360 - 180, 'EW')}`;

// Which field is seen at x: the pinned one left of the divider.
const shownHeat = (node, x) => {
  const { map, frame } = node.chart;
  return map.pinned && frame.toX(x) < frame.left + shareOf(node) * frame.width ? map.pinned : map.blend ?? map.heat;
};

const placeTip = (node, x, y) => {
  const { frame, tip, map } = node.chart, left = frame.toX(x), top = frame.toY(y);
  node.chart.pointed = [x, y];
  tip.hidden = !frame.holds(left, top);
  if (tip.hidden) return;
  const value = mapCanvas.valueAt(shownHeat(node, x), x, y), known = Number.isFinite(value);
  tip.firstChild.textContent = known ? `${Number(value.toPrecision(5))} ${map.units}` : 'missing';
  const what = mapCanvas.markAt(map, frame, left, top) || mapCanvas.regionAt(map, x, y);
  tip.lastChild.textContent = [what, say(mapCanvas.placeAt(map.place, x, y))].filter(Boolean).join('\n');
  tip.dataset.side = left > node.clientWidth / 2 ? 'left' : 'right';
  tip.style.transform = `translate(${left}px, ${top}px)`;
};

const pointAt = (node, x, y) => mapsOf(node).forEach(member => placeTip(member, x, y));
const hideTips = node => mapsOf(node).forEach(member => { member.chart.tip.hidden = true; });

// What a tap has shown goes with the next one elsewhere.
addEventListener('pointerdown', ({ target }) => {
  if (target.closest?.('.live-plot')) return;
  for (const tip of document.querySelectorAll('.live-tip')) tip.hidden = true;
}, true);

// ---- pointers ----------------------------------------------------------------------------------------------------
// Pixels of the element, also where a page is enlarged by CSS.
const pixelsAt = (node, event) => {
  const box = node.chart.plot.getBoundingClientRect(), scale = node.chart.plot.clientWidth / box.width || 1;
  return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
};

const onClick = (node, at) => {
  const { chart } = node, [x, y] = [chart.frame.ofX(at[0]), chart.frame.ofY(at[1])];
  const heat = shownHeat(node, x), value = mapCanvas.valueAt(heat, x, y);
  if (!chart.clickable || !Number.isFinite(value)) return;
  clearTimeout(chart.clicking); // a double click is a wish to see all again, not two choices
  chart.clicking = setTimeout(() => chart.send(mapCanvas.middleAt(heat, x, y)), DOUBLE_MS);
};

const drawBox = (node, from, to) => {
  const { box, frame } = node.chart;
  box.hidden = !to;
  if (!to) return;
  const end = [between(frame.left, to[0], frame.left + frame.width), between(frame.top, to[1], frame.top + frame.height)];
  Object.assign(box.style, {
    left: `${Math.min(from[0], end[0])}px`, top: `${Math.min(from[1], end[1])}px`,
    width: `${Math.abs(end[0] - from[0])}px`, height: `${Math.abs(end[1] - from[1])}px`,
  });
  return end;
};

// One pointer pans a map that is zoomed, or draws the rectangle that is zoomed into; two pinch.
const onDown = (node, event) => {
  const { chart } = node, at = pixelsAt(node, event);
  if (event.button !== 0 || !chart.frame?.holds(...at)) return;
  chart.pointers.set(event.pointerId, at);
  if (event.pointerType !== 'touch' || chart.view) chart.plot.setPointerCapture(event.pointerId);
  chart.drag = chart.pointers.size > 1 ? null
    : { from: at, last: at, moved: false, boxed: event.shiftKey || (!chart.view && event.pointerType !== 'touch') };
};

const pinch = (node, id, to) => {
  const { chart } = node, [first, second] = [...chart.pointers.values()];
  const before = Math.hypot(first[0] - second[0], first[1] - second[1]), middle = [0, 1].map(k => (first[k] + second[k]) / 2);
  chart.pointers.set(id, to);
  const [a, b] = [...chart.pointers.values()], after = Math.hypot(a[0] - b[0], a[1] - b[1]), now = [0, 1].map(k => (a[k] + b[k]) / 2);
  if (!before || !after) return;
  zoomAt(node, after / before, chart.frame.ofX(middle[0]), chart.frame.ofY(middle[1]));
  if (chart.view) panBy(node, (middle[0] - now[0]) / chart.frame.width, (now[1] - middle[1]) / chart.frame.height);
};

const onMove = (node, event) => {
  const { chart } = node, { drag, frame } = chart, at = pixelsAt(node, event);
  if (!frame) return;
  if (chart.pointers.size > 1 && chart.pointers.has(event.pointerId)) return pinch(node, event.pointerId, at);
  if (!drag) return frame.holds(...at) ? pointAt(node, frame.ofX(at[0]), frame.ofY(at[1])) : hideTips(node);
  drag.moved ||= Math.hypot(at[0] - drag.from[0], at[1] - drag.from[1]) > STILL_PX;
  if (!drag.moved) return;
  if (drag.boxed) drag.to = drawBox(node, drag.from, at);
  else if (chart.view) panBy(node, (drag.last[0] - at[0]) / frame.width, (at[1] - drag.last[1]) / frame.height);
  drag.last = at;
  hideTips(node);
};

const onUp = (node, event) => {
  const { chart } = node, { drag } = chart;
  chart.pointers.delete(event.pointerId);
  if (!drag || event.type === 'pointercancel') { chart.drag = null; drawBox(node); return; }
  chart.drag = null;
  drawBox(node);
  if (drag.moved && drag.to && Math.min(...[0, 1].map(k => Math.abs(drag.to[k] - drag.from[k]))) > STILL_PX) zoomInto(node, drag.from, drag.to);
  if (drag.moved) return;
  if (event.pointerType === 'touch') pointAt(node, chart.frame.ofX(drag.from[0]), chart.frame.ofY(drag.from[1]));
  onClick(node, drag.from);
};

// A wheel that turns the page goes on to do so over a map; so does one that would zoom out of all of it.
let scrolled = -SCROLLED_MS;
addEventListener('scroll', () => { scrolled = performance.now(); }, { capture: true, passive: true });
const onWheel = (node, event) => {
  const { chart } = node, at = pixelsAt(node, event), pinched = event.ctrlKey || event.metaKey;
  if (!chart.frame?.holds(...at) || event.shiftKey || (!pinched && performance.now() - scrolled < SCROLLED_MS)) return;
  const out = event.deltaY > 0;
  if (out && !chart.view && !pinched) return;
  event.preventDefault();
  const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
  zoomAt(node, Math.exp(-between(-300, pixels, 300) * (pinched ? 0.01 : 0.002)), chart.frame.ofX(at[0]), chart.frame.ofY(at[1]));
};

const onMapKey = (node, event) => {
  const { chart } = node, way = KEYS[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, button')) return;
  if (event.key === '+' || event.key === '=') zoomMiddle(node, 1.5);
  else if (event.key === '-' || event.key === '_') zoomMiddle(node, 1 / 1.5);
  else if (event.key === '0') showView(node, null);
  else if (way && chart.view && event.target === chart.plot) panBy(node, 0.1 * way[0], 0.1 * way[1]);
  else return;
  event.preventDefault();
  event.stopPropagation();
};

// ---- tools -------------------------------------------------------------------------------------------------------
const pictureOfMap = node => {
  const { map, size, view, theme } = node.chart, ratio = Math.max(2, devicePixelRatio || 1), frame = mapCanvas.frameOf(map, ...size, view);
  const [all, over] = [document.createElement('canvas'), document.createElement('canvas')];
  const pen = mapCanvas.paintPixels(all, map, frame, ...size, ratio, shareOf(node));
  mapCanvas.paintOver(over, map, frame, ...size, ratio, theme);
  pen.resetTransform();
  pen.drawImage(over, 0, 0);
  pen.globalCompositeOperation = 'destination-over';
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, all.width, all.height);
  return all;
};

const saveCanvas = (canvas, title) => canvas.toBlob(blob => {
  const name = title.toLowerCase().replace(/[^\p{L}\d]+/gu, '-').replace(/^-|-$/g, '');
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: `${name || 'map'}.png` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}, 'image/png');

const SAVE_ICON = 'M4 13v3h12v-3M10 4v8M6.5 8.5 10 12l3.5-3.5', HOME_ICON = 'M4 10 10 4.5 16 10M6 9v7h8V9';
const TOOLS = [
  ['Download the map as PNG', SAVE_ICON, node => saveCanvas(pictureOfMap(node), node.chart.map.title || node.dataset.key)],
  ['Zoom in', 'M10 5v10M5 10h10', node => zoomMiddle(node, 1.5)],
  ['Zoom out', 'M5 10h10', node => zoomMiddle(node, 1 / 1.5)],
  ['Reset the view', HOME_ICON, node => showView(node, null)],
];

const makeTools = (node, tools) => {
  const bar = document.createElement('div');
  bar.className = 'map-tools';
  for (const [name, path, act] of tools) {
    const button = Object.assign(document.createElement('button'), { type: 'button', title: name });
    button.setAttribute('aria-label', name);
    button.innerHTML = `<svg viewBox="0 0 20 20" aria-hidden="true"><path d="${path}"/></svg>`;
    button.addEventListener('click', () => act(node));
    bar.append(button);
  }
  node.append(bar);
};

// ---- life --------------------------------------------------------------------------------------------------------
const listenToMap = node => {
  const { chart } = node, { plot } = chart, on = (name, heard, more) => plot.addEventListener(name, event => heard(node, event), more);
  on('pointerdown', onDown);
  on('pointermove', onMove);
  on('pointerup', onUp);
  on('pointercancel', onUp);
  on('pointerleave', (_, event) => { if (event.pointerType !== 'touch') hideTips(node); }); // a finger that has tapped is gone
  on('wheel', onWheel, { passive: false });
  on('dblclick', () => { clearTimeout(chart.clicking); showView(node, null); });
  on('touchstart', (_, event) => { if (event.touches.length > 1 || chart.view) event.preventDefault(); }, { passive: false });
  node.addEventListener('keydown', event => onMapKey(node, event), { signal: chart.ended.signal });
  chart.observer = new ResizeObserver(() => requestAnimationFrame(() => fitMap(node)));
  chart.observer.observe(node);
};

// The canvases of a chart, one over the other.
const addCanvases = ({ chart }, names) => {
  chart.canvases = names.map(name => {
    chart[name] = Object.assign(document.createElement('canvas'), { className: `map-${name}` });
    chart[name].setAttribute('aria-hidden', 'true');
    chart.plot.append(chart[name]);
    return chart[name];
  });
};

const beginMap = node => {
  const { chart } = node, { plot } = chart;
  chart.pointers = new Map();
  plot.setAttribute('aria-keyshortcuts', '+ - 0');
  plot.tabIndex = 0;
  addCanvases(node, ['heat', 'over']);
  chart.box = Object.assign(document.createElement('i'), { className: 'map-box', hidden: true });
  plot.append(chart.box);
  makeTools(node, TOOLS);
  listenToMap(node);
};

// Draw what Python has sent; the view stays where the place is the same.
const drawMap = (node, figure, pinned, theme) => {
  const { chart } = node, map = mapCanvas.readMap(figure), zoom = chart.group.zoom, blend = chart.map?.blend;
  joinPinnedMap(map, figure, pinned);
  Object.assign(chart, { map, theme, layout: figure.layout, size: [0, 0], view: zoom?.revisions.has(figure.layout.uirevision) ? { x: zoom.x, y: zoom.y } : null });
  chart.plot.dataset.zoomed = Boolean(chart.view);
  chart.drawn = true;
  settleBlend(node, blend);
  fitMap(node);
};

// What Python has sent is there already.
const keepMap = node => {
  const { blend } = node.chart.map;
  if (!blend) return;
  node.chart.map.blend = null;
  settleBlend(node, blend);
  repaint(node, 'pixels');
};

return { beginMap, drawMap, keepMap, repaint, addCanvases, fitCanvases, pixelsAt, between, makeTools, saveCanvas, SAVE_ICON, HOME_ICON };
})();
