// Points in space on canvases, drawn from a figure of one scatter3d trace: turned by pointer and keys, the value under the
// pointer, PNG. Pictures of one `uirevision` turn together. Joined to map_canvas.js, whose colour table, colour bar and
// title they share, to canvas_map.js, whose tools they have, and to plotly_live.js, which calls `beginSpace` and `drawSpace`.

const { beginSpace, drawSpace } = (() => {
const TURN = 0.01, KEY_TURN = 0.12, LOWEST = -0.2, HIGHEST = 1.45, AWAY = 2.6, WITHIN = 9, DOT = 2.3;
const LEFT = 34, RIGHT = 12, ABOVE = 14, BELOW_AXES = 36; // room for the numbers of the axes
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const NAMES = ['x', 'y', 'z'];
const views = new Map(); // uirevision -> {turn, lift} to which a person has turned it
const members = new Set();

// ---- a figure ----------------------------------------------------------------------------------------------------
// Round numbers between two ends, about so many.
const roundNumbers = (low, high, about) => {
  const rough = (high - low) / about, decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(each => each * decade).find(each => each >= rough), result = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) result.push(Number((k * step).toPrecision(6)));
  return result;
};

const inWords = value => String(value).replace('-', '−');

const readSpace = figure => {
  const [trace] = figure.data, { layout } = figure, { scene } = layout, { marker } = trace, { eye } = scene.camera;
  const columns = NAMES.map(name => mapCanvas.numbersOf(trace[name])), values = mapCanvas.numbersOf(marker.color);
  const ends = columns.map(column => [column.reduce((a, b) => Math.min(a, b)), column.reduce((a, b) => Math.max(a, b))]);
  return {
    columns, values, ends, layout, title: mapCanvas.plain(layout.title?.text), notes: [], words: trace.hovertemplate,
    titles: NAMES.map(name => scene[`${name}axis`].title.text), colours: mapCanvas.tableOf(marker.colorscale),
    home: { turn: Math.atan2(eye.y, eye.x), lift: Math.atan2(eye.z, Math.hypot(eye.x, eye.y)) }, bar: marker.colorbar,
    heat: { low: marker.cmin, high: marker.cmax, scale: marker.colorscale }, dot: DOT * (layout.height > 430 ? 1.25 : 1),
  };
};

// ---- where things are --------------------------------------------------------------------------------------------
// From the unit cube, whose middle is 0, to shares of the picture's scale and a nearness that grows towards the eye.
const seenFrom = ({ turn, lift }) => {
  const [a, b, c, d] = [Math.cos(turn), Math.sin(turn), Math.cos(lift), Math.sin(lift)];
  return (x, y, z) => {
    const near = c * a * x + c * b * y + d * z, size = AWAY / (AWAY - near);
    return [size * (a * y - b * x), -size * (c * z - d * (a * x + b * y)), near, size];
  };
};

const SIDES = [-0.5, 0.5], CORNERS = SIDES.flatMap(x => SIDES.flatMap(y => SIDES.map(z => [x, y, z])));
const extentOf = see => {
  const corners = CORNERS.map(corner => see(...corner));
  return [0, 1].map(k => [Math.min(...corners.map(at => at[k])), Math.max(...corners.map(at => at[k]))]);
};

// The same in pixels: as large as at home, or smaller where the turned cube and its numbers would not fit.
const lookFrom = (view, home, frame) => {
  const see = seenFrom(view), room = [frame.width - LEFT - RIGHT, frame.height - ABOVE - BELOW_AXES];
  const [across, up] = extentOf(see);
  const scale = Math.min(...[home, view].flatMap(each => extentOf(seenFrom(each)).map(([low, high], k) => room[k] / (high - low))));
  const x0 = frame.left + LEFT + room[0] / 2 - scale * (across[0] + across[1]) / 2, y0 = frame.top + ABOVE + room[1] / 2 - scale * (up[0] + up[1]) / 2;
  return (x, y, z) => {
    const [right, down, near, size] = see(x, y, z);
    return [x0 + scale * right, y0 + scale * down, near, size];
  };
};

const placed = node => {
  const { chart } = node, { space, size: [width, height] } = chart, m = space.layout.margin;
  const frame = (chart.frame = { left: m.l, top: m.t, width: width - m.l - m.r, height: height - m.t - m.b, right: width });
  const look = (chart.look = lookFrom(views.get(space.layout.scene.uirevision) ?? space.home, space.home, frame));
  const inCube = space.columns.map((column, k) => column.map(at => (at - space.ends[k][0]) / ((space.ends[k][1] - space.ends[k][0]) || 1) - 0.5));
  const points = (chart.places = Array.from(space.values, (_, i) => look(inCube[0][i], inCube[1][i], inCube[2][i])));
  chart.order = Uint32Array.from(points.keys()).sort((i, j) => points[i][2] - points[j][2]); // the nearest last
};

// ---- painting ----------------------------------------------------------------------------------------------------
const line = (pen, from, to) => { pen.moveTo(from[0], from[1]); pen.lineTo(to[0], to[1]); };

// The edges with numbers: along x and y those of the floor next to the eye, upwards that at the left.
const numbered = look => {
  const near = (x, y) => look(x, y, -0.5)[2];
  const y = near(0, 0.5) > near(0, -0.5) ? 0.5 : -0.5, x = near(0.5, 0) > near(-0.5, 0) ? 0.5 : -0.5;
  const corners = SIDES.flatMap(u => SIDES.map(v => [u, v])).sort((p, q) => look(...p, 0)[0] - look(...q, 0)[0]);
  return [t => [t, y, -0.5], t => [x, t, -0.5], t => [...corners[0], t]];
};

const paintAxes = (pen, node) => {
  const { chart } = node, { space, look, frame, theme } = chart, middle = look(0, 0, 0);
  pen.strokeStyle = theme.faint.replace('0.14', '0.3');
  pen.lineWidth = 1;
  pen.beginPath();
  for (const u of SIDES) for (const v of SIDES) { // all edges but those that meet next to the eye
    for (const edge of [t => [t, u, v], t => [u, t, v], t => [u, v, t]]) {
      const ends = SIDES.map(t => look(...edge(t))), nearest = Math.max(...SIDES.flatMap(a => SIDES.map(b => look(a, b, 0.5)[2])));
      if (!ends.some(end => Math.abs(end[2] - nearest) < 1e-9)) line(pen, ...ends);
    }
  }
  pen.stroke();
  pen.fillStyle = theme.ink;
  numbered(look).forEach((edge, k) => {
    const [low, high] = space.ends[k], half = look(...edge(0)), out = [half[0] - middle[0], half[1] - middle[1]];
    const away = k === 2 ? [-1, 0] : [Math.sign(out[0]) * 0.5, 0.87], at = value => (value - low) / (high - low) - 0.5;
    pen.font = `11px ${space.family}`;
    Object.assign(pen, { textAlign: k === 2 ? 'right' : 'center', textBaseline: 'middle' });
    pen.beginPath();
    for (const value of roundNumbers(low, high, 4)) {
      const from = look(...edge(at(value))), to = [from[0] + 5 * away[0], from[1] + 5 * away[1]];
      line(pen, from, to);
      pen.fillText(inWords(value), from[0] + (k === 2 ? 8 : 13) * away[0], from[1] + 14 * away[1]);
    }
    pen.stroke();
    pen.font = `12px ${space.family}`;
    if (k === 2) {
      const [x, y] = look(...edge(0.5));
      pen.textAlign = 'left';
      pen.fillText(space.titles[k], Math.max(frame.left + 2, x - pen.measureText(space.titles[k]).width / 2), y - 12);
    } else {
      pen.fillText(space.titles[k], half[0] + 30 * away[0], half[1] + 32 * away[1]);
    }
  });
};

const paintBar = (pen, { chart: { space, frame, theme } }) => {
  const { heat: { low, high }, bar } = space, values = roundNumbers(low, high, 5);
  const words = { tickvals: values, ticktext: values.map(inWords), ypad: -8, x: 0.5 };
  mapCanvas.drawBar(pen, { ...space, bar: { ...bar, ...words } }, frame, theme);
  Object.assign(pen, { textAlign: 'center', textBaseline: 'top', fillStyle: theme.ink, font: `11px ${space.family}` });
  pen.fillText(mapCanvas.plain(bar.title?.text), frame.left + frame.width / 2, frame.top + frame.height + 17);
};

// The points as little discs with a darker rim, pixel by pixel: thousands in a few milliseconds.
const paintPoints = (pen, { chart: { space, places: points, order, size: [width, height] } }, ratio) => {
  const wide = Math.round(width * ratio), tall = Math.round(height * ratio), picture = pen.createImageData(wide, tall);
  const pixels = new Uint32Array(picture.data.buffer), { values, heat: { low, high }, colours, dot } = space, most = colours.length - 1;
  for (const i of order) {
    if (!Number.isFinite(values[i])) continue;
    const [x, y, , size] = points[i], radius = dot * size * ratio, [cx, cy] = [x * ratio, y * ratio];
    const colour = colours[Math.round(between(0, (values[i] - low) / ((high - low) || 1), 1) * most)];
    const rim = (colour & 0xff000000) | (colour & 0xffffff) - ((colour >>> 3) & 0x1f1f1f);
    for (let py = Math.max(0, Math.ceil(cy - radius)); py <= Math.min(tall - 1, cy + radius); py++) {
      const half = Math.sqrt(radius * radius - (py - cy) ** 2), inner = radius > 2 ? (radius - 1) ** 2 - (py - cy) ** 2 : Infinity;
      for (let px = Math.max(0, Math.ceil(cx - half)); px <= Math.min(wide - 1, cx + half); px++) {
        pixels[py * wide + px] = (px - cx) ** 2 > inner ? rim : colour;
      }
    }
  }
  pen.putImageData(picture, 0, 0);
};

const paint = node => {
  const { chart } = node, { space, size: [width, height], theme } = chart, ratio = devicePixelRatio || 1;
  if (!space || !width) return;
  space.family = theme.font;
  if (chart.moved) {
    placed(node);
    const pen = mapCanvas.sized(chart.under, width, height, ratio);
    paintAxes(pen, node);
    paintBar(pen, node);
    mapCanvas.drawWords(pen, space, chart.frame, theme, width);
    chart.moved = false;
  }
  paintPoints(mapCanvas.sized(chart.over, width, height, ratio), node, ratio);
  node.dataset.painted = Number(node.dataset.painted || 0) + 1;
};

const repaint = node => {
  const { chart } = node;
  if (chart.waits) return;
  chart.waits = true;
  requestAnimationFrame(() => {
    chart.waits = false;
    if (node.isConnected) paint(node);
  });
};

const fit = node => {
  if (!fitCanvases(node)) return;
  node.chart.moved = true;
  paint(node); // at once: a canvas that is resized is empty
};

// ---- turning -----------------------------------------------------------------------------------------------------
const showFrom = (node, view) => {
  const of = node.chart.space.layout.scene.uirevision;
  if (view) views.set(of, view); else views.delete(of);
  for (const member of members) {
    if (!member.isConnected) { members.delete(member); continue; }
    if (member.chart.space?.layout.scene.uirevision !== of) continue;
    member.chart.moved = true;
    member.chart.tip.hidden = true;
    repaint(member);
  }
};

const turnBy = (node, right, up) => {
  const { space } = node.chart, { turn, lift } = views.get(space.layout.scene.uirevision) ?? space.home;
  showFrom(node, { turn: turn - right, lift: between(LOWEST, lift + up, HIGHEST) });
};

const valueInWords = ({ space }, i) => space.words.replace(/<extra>.*$/, '')
  .replace(/%\{(marker\.color|x|y|z):\.(\d)f\}/g, (_, of, digits) => inWords((of === 'marker.color' ? space.values : space.columns[NAMES.indexOf(of)])[i].toFixed(digits)))
  .split(/<br\s*\/?>/);

// The value of the nearest point under the pointer.
const pointAt = (node, [x, y]) => {
  const { chart } = node, { places: points, order, tip } = chart;
  let best = -1;
  for (const i of order) if (Math.hypot(points[i][0] - x, points[i][1] - y) <= (best < 0 ? WITHIN : 4)) best = i;
  tip.hidden = best < 0;
  if (best < 0) return;
  const [first, ...more] = valueInWords(chart, best);
  tip.querySelector('b').textContent = first;
  tip.querySelector('span').textContent = more.join('\n');
  tip.dataset.side = points[best][0] > node.clientWidth / 2 ? 'left' : 'right';
  tip.style.transform = `translate(${points[best][0]}px, ${points[best][1]}px)`;
};

const listen = node => {
  const { chart } = node, { plot } = chart, on = (name, heard) => plot.addEventListener(name, heard, { signal: chart.ended.signal });
  on('pointerdown', event => {
    if (event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    chart.held = pixelsAt(node, event);
  });
  on('pointermove', event => {
    if (!chart.space || !chart.places) return;
    const at = pixelsAt(node, event);
    if (!chart.held) return pointAt(node, at);
    turnBy(node, TURN * (at[0] - chart.held[0]), TURN * (at[1] - chart.held[1]));
    chart.held = at;
  });
  for (const name of ['pointerup', 'pointercancel']) on(name, () => { chart.held = null; });
  on('pointerleave', () => { chart.tip.hidden = true; });
  on('dblclick', () => showFrom(node, null));
  on('keydown', event => {
    const way = KEYS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !(way || event.key === '0')) return;
    if (way) turnBy(node, KEY_TURN * way[0], KEY_TURN * way[1]); else showFrom(node, null);
    event.preventDefault();
    event.stopPropagation();
  });
  chart.observer = new ResizeObserver(() => requestAnimationFrame(() => fit(node)));
  chart.observer.observe(node);
};

// ---- life --------------------------------------------------------------------------------------------------------
const savePicture = node => {
  const { under, over, space, theme } = node.chart, all = Object.assign(document.createElement('canvas'), { width: under.width, height: under.height });
  const pen = all.getContext('2d');
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, all.width, all.height);
  for (const canvas of [under, over]) pen.drawImage(canvas, 0, 0);
  saveCanvas(all, space.title || node.dataset.key);
};

const beginSpace = node => {
  const { chart } = node, { plot } = chart;
  plot.setAttribute('aria-keyshortcuts', 'ArrowLeft ArrowRight ArrowUp ArrowDown 0');
  plot.tabIndex = 0;
  addCanvases(node, ['under', 'over']);
  makeTools(node, [
    ['Download the picture as PNG', SAVE_ICON, savePicture],
    ['Reset the view', HOME_ICON, each => showFrom(each, null)],
  ]);
  members.add(node);
  listen(node);
};

// Draw what Python has sent; where nothing but the colours is new, the axes stay as they are.
const drawSpace = (node, figure, theme) => {
  const { chart } = node, [trace] = figure.data;
  const scenery = JSON.stringify([{ ...trace, marker: { ...trace.marker, color: null } }, figure.layout, theme]);
  Object.assign(chart, { space: readSpace(figure), theme, layout: figure.layout, drawn: true, moved: chart.moved || chart.scenery !== scenery, scenery });
  if (chart.size[0]) paint(node); else fit(node);
};

return { beginSpace, drawSpace };
})();
