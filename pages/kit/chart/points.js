// Points of a scatter, moved, added and deleted in the picture by mouse, finger or keys. Joined to plotly_live.js, which
// calls `takePoints` with what Python sends, `placePoints` whenever the axes may have moved, and `afterDrag` before it
// draws. The browser keeps all edits and sends them as one text (core/deconditioning/datasets/edited.py); Python answers with the number
// of the message that it took, and until then what it says of the edits is old.

const { takePoints, placePoints, afterDrag } = (() => { // names of its own beside those of other files
const NEAR = { mouse: 12, touch: 22 }, STILL = { mouse: 3, touch: 8 }; // pixels
const TWICE_MS = 400, LONG_MS = 600, KEYS_MS = 120;
const HINT = 'The arrow keys select a point, Shift and arrow keys move it, Enter adds one, Delete removes it.';
const ONE_EDIT = /m(\d+)_(-?[\d.]+)_(-?[\d.]+)|d(\d+)|a(-?[\d.]+)_(-?[\d.]+)/g;

// ---- edits: points are known by their number from 1, added ones by -1, -2, ... -------------------------------------
const readEdits = text => {
  const edits = { moved: new Map(), deleted: new Set(), added: [] };
  for (const [, m, mx, my, d, ax, ay] of text.matchAll(ONE_EDIT)) {
    if (m) edits.moved.set(Number(m), [Number(mx), Number(my)]);
    else if (d) edits.deleted.add(Number(d));
    else edits.added.push([Number(ax), Number(ay)]);
  }
  return edits;
};
const rounded = value => Number(Number(value.toPrecision(4)).toFixed(4)) + 0;
const writeEdits = ({ moved, deleted, added }) => {
  const pair = at => at.map(rounded).join('_'), up = (a, b) => a - b;
  return [...moved.keys()].sort(up).map(number => `m${number}_${pair(moved.get(number))}`).join('')
    + [...deleted].sort(up).map(number => `d${number}`).join('') + added.map(at => `a${pair(at)}`).join('');
};
const sizeOf = ({ moved, deleted, added }) => moved.size + deleted.size + added.length;

const placeOf = (points, id) => id < 0 ? points.edits.added[-id - 1]
  : points.edits.moved.get(id) || [points.across[id - 1], points.up[id - 1]];
const idsOf = points => [...points.across.keys()].map(i => i + 1).filter(id => !points.edits.deleted.has(id))
  .concat(points.edits.added.map((_, i) => -i - 1));
const isThere = (points, id) => id !== null
  && (id < 0 ? -id <= points.edits.added.length : id <= points.across.length && !points.edits.deleted.has(id));

// ---- words -------------------------------------------------------------------------------------------------------
const number = value => String(Number(value.toPrecision(3))).replace('-', '−');
const named = id => id < 0 ? `Added point ${-id}` : `Point ${id}`;
const tell = (node, words) => { node.chart.points.words.textContent = words; };
const tellChosen = (node, more = '') => {
  const points = node.chart.points, [x, y] = placeOf(points, points.chosen), [across, up] = points.labels;
  tell(node, `${named(points.chosen)}: ${across} = ${number(x)}, ${up} = ${number(y)}${more}`);
};

// ---- changes -----------------------------------------------------------------------------------------------------
const send = node => {
  const points = node.chart.points, text = writeEdits(points.edits);
  clearTimeout(points.sending);
  if (text === points.sent) return;
  points.sent = text;
  points.number += 1;
  points.send({ text, number: points.number });
};
const isAwaited = points => points.number !== points.answer;

const hasRoom = (node, id) => {
  const { edits, most } = node.chart.points;
  if (id !== null && (id < 0 || edits.moved.has(id)) || sizeOf(edits) < most) return true;
  tell(node, `At most ${most} points can be edited here: undo some edits first.`);
  return false;
};

const moveTo = (node, id, at) => {
  const points = node.chart.points, place = at.map(v => rounded(Math.min(Math.max(v, -points.reach), points.reach)));
  if (id < 0) points.edits.added[-id - 1] = place;
  else points.edits.moved.set(id, place);
  tellChosen(node);
  placePoints(node);
};

const choose = (node, id) => {
  node.chart.points.chosen = id;
  if (id === null) tell(node, ''); // the page's hint says what can be done
  else tellChosen(node);
  placePoints(node);
};

const add = (node, at) => {
  const points = node.chart.points;
  if (!hasRoom(node, null)) return;
  points.edits.added.push([0, 0]);
  points.chosen = -points.edits.added.length;
  moveTo(node, points.chosen, at);
  tellChosen(node, ', added.');
  send(node);
};

const remove = (node, id) => {
  const points = node.chart.points, { edits } = points;
  if (!isThere(points, id) || !hasRoom(node, id)) return;
  const left = idsOf(points).length - 1;
  if (!left) { tell(node, 'At least one point is needed.'); return; }
  if (id < 0) edits.added.splice(-id - 1, 1);
  else { edits.moved.delete(id); edits.deleted.add(id); }
  points.chosen = null;
  tell(node, `${named(id)} deleted, ${left} left.`);
  placePoints(node);
  send(node);
};

// ---- where things are --------------------------------------------------------------------------------------------
const axesOf = node => { const { xaxis, yaxis } = node.chart.plot._fullLayout; return [xaxis, yaxis]; };
const pixelsOf = (node, at) => axesOf(node).map((axis, i) => axis.d2p(at[i]));
const valueAtPixels = (node, pixels) => axesOf(node).map((axis, i) => axis.p2d(Math.min(Math.max(pixels[i], 0), axis._length)));
const pointer = (node, event) => {
  const box = node.chart.points.sheet.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
const kindOf = event => event.pointerType === 'mouse' ? 'mouse' : 'touch';
const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
const hit = (node, at, near) => {
  const points = node.chart.points;
  let best = null, least = near;
  for (const id of idsOf(points)) {
    const apart = distance(pixelsOf(node, placeOf(points, id)), at);
    if (apart <= least) { least = apart; best = id; }
  }
  return best;
};

// ---- pointer -----------------------------------------------------------------------------------------------------
const press = (node, event) => {
  const points = node.chart.points, at = pointer(node, event), kind = kindOf(event);
  if (event.button !== 0 || points.drag) return;
  points.sheet.focus({ preventScroll: true });
  const id = event.shiftKey ? null : hit(node, at, NEAR[kind]);
  const drag = points.drag = { id, at, kind, begun: id !== null && [...placeOf(points, id)], edited: points.edits.moved.has(id) };
  points.sheet.setPointerCapture(event.pointerId);
  if (id === null) return;
  choose(node, id);
  if (kind === 'touch') drag.long = setTimeout(() => { points.drag = null; remove(node, id); redraw(node); }, LONG_MS);
};

const drag = (node, event) => {
  const points = node.chart.points, at = pointer(node, event), now = points.drag;
  if (!now) { points.sheet.dataset.over = hit(node, at, NEAR[kindOf(event)]) !== null; return; }
  if (!now.moves && distance(at, now.at) <= STILL[now.kind]) return;
  clearTimeout(now.long);
  now.moves = true;
  if (now.id === null || !hasRoom(node, now.id)) return;
  points.sheet.dataset.dragged = true;
  moveTo(node, now.id, valueAtPixels(node, at));
  if (!isAwaited(points)) send(node); // as fast as pictures come
};

const release = (node, event) => {
  const points = node.chart.points, now = points.drag;
  if (!now) return;
  endDrag(node);
  if (now.moves) { if (now.id !== null) send(node); } else if (now.id === null) {
    points.last = null;
    add(node, valueAtPixels(node, now.at));
  } else {
    const again = points.last?.id === now.id, soon = again && event.timeStamp - points.last.at < TWICE_MS;
    points.last = { id: now.id, at: event.timeStamp, again };
    if (now.kind === 'touch' && soon) twice(node);
  }
  redraw(node);
};

// A point pressed twice is removed: the browser says when two clicks of a mouse are one, for fingers the time does.
const twice = node => {
  const points = node.chart.points, { last } = points;
  if (!last?.again) return;
  points.last = null;
  remove(node, last.id);
  redraw(node);
};

const endDrag = node => {
  const points = node.chart.points;
  clearTimeout(points.drag?.long);
  points.drag = null;
  points.sheet.dataset.dragged = false;
};

// Back to where a point was before a drag that a key or the system ended.
const giveUp = node => {
  const points = node.chart.points, now = points.drag;
  if (!now) return false;
  endDrag(node);
  if (now.moves && now.id !== null) {
    if (now.id > 0 && !now.edited) points.edits.moved.delete(now.id);
    else moveTo(node, now.id, now.begun);
    send(node);
    choose(node, now.id);
  }
  redraw(node);
  return true;
};

// A picture that comes while a point is dragged would move the axes below it: it is drawn afterwards.
const afterDrag = (node, draw) => {
  const points = node.chart.points;
  if (!points?.drag) return false;
  points.waiting = draw;
  return true;
};
const redraw = node => {
  const { waiting } = node.chart.points;
  node.chart.points.waiting = null;
  waiting?.();
};

// ---- keys --------------------------------------------------------------------------------------------------------
const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1] };
const next = (node, axis, by) => {
  const points = node.chart.points, at = id => placeOf(points, id)[axis];
  const ids = idsOf(points).sort((a, b) => at(a) - at(b) || a - b), now = ids.indexOf(points.chosen);
  return ids[now < 0 ? (by > 0 ? 0 : ids.length - 1) : Math.min(Math.max(now + by, 0), ids.length - 1)];
};

const nudge = (node, axis, by) => {
  const points = node.chart.points, id = points.chosen, along = axesOf(node)[axis], at = [...placeOf(points, id)];
  if (!hasRoom(node, id)) return;
  at[axis] += by * Math.abs(along.range[1] - along.range[0]) / 100;
  moveTo(node, id, at);
  clearTimeout(points.sending);
  points.sending = setTimeout(() => send(node), KEYS_MS);
};

const onKey = (node, event) => {
  const points = node.chart.points, arrow = ARROWS[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (arrow && event.shiftKey && points.chosen !== null) nudge(node, ...arrow);
  else if (arrow) choose(node, next(node, ...arrow));
  else if (event.key === 'Enter' || event.key === 'Insert') add(node, axesOf(node).map(axis => (axis.range[0] + axis.range[1]) / 2));
  else if (event.key === 'Delete' || event.key === 'Backspace') { if (points.chosen !== null) remove(node, points.chosen); }
  else if (event.key === 'Escape') { if (!giveUp(node)) choose(node, null); }
  else return;
  event.preventDefault();
  event.stopPropagation();
};

// ---- life --------------------------------------------------------------------------------------------------------
const button = (name, press) => {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = name;
  made.addEventListener('click', press);
  return made;
};

const beginPoints = node => {
  const sheet = document.createElement('div'), bar = document.createElement('div'), words = document.createElement('span');
  sheet.className = 'live-points';
  sheet.tabIndex = 0;
  sheet.setAttribute('role', 'application');
  sheet.append(document.createElement('i'));
  bar.className = 'live-points-bar';
  words.setAttribute('aria-live', 'polite');
  const out = button('Delete', () => { remove(node, node.chart.points.chosen); sheet.focus({ preventScroll: true }); });
  bar.append(words, out);
  node.append(sheet);
  node.after(bar);
  node.chart.points = { sheet, bar, words, out, chosen: null, drag: null };
  const on = (name, act, options) => sheet.addEventListener(name, event => act(node, event), options);
  on('pointerdown', press);
  on('pointermove', drag);
  on('pointerup', release);
  on('pointercancel', giveUp);
  on('dblclick', twice);
  on('keydown', onKey);
  on('contextmenu', (_, event) => event.preventDefault());
  on('touchstart', (_, event) => { // a finger on a point drags it, elsewhere it scrolls the page
    const { clientX, clientY } = event.touches[0];
    if (hit(node, pointer(node, { clientX, clientY }), NEAR.touch) !== null) event.preventDefault();
  }, { passive: false });
  on('blur', () => node.chart.points && send(node));
  tell(node, '');
};

const endPoints = node => {
  const { points } = node.chart;
  if (!points) return;
  clearTimeout(points.sending);
  clearTimeout(points.drag?.long);
  points.sheet.remove();
  points.bar.remove();
  node.chart.points = null;
};

const takePoints = (node, data, sender) => {
  if (!data) return endPoints(node);
  const fresh = !node.chart.points;
  if (fresh) beginPoints(node);
  const points = node.chart.points;
  Object.assign(points, { labels: data.labels, most: data.most, reach: data.reach, answer: data.answer, send: sender });
  points.sheet.setAttribute('aria-label', `${node.chart.plot.getAttribute('aria-label')} ${HINT}`);
  if (fresh) points.number = data.answer;
  if (points.drag || isAwaited(points)) return; // what is shown is newer
  points.edits = readEdits(data.edits);
  points.sent = writeEdits(points.edits);
  points.across = [...mapCanvas.numbersOf(data.across)];
  points.up = [...mapCanvas.numbersOf(data.up)];
  if (!isThere(points, points.chosen)) points.chosen = null;
  placePoints(node);
};

const placePoints = node => {
  const { points, plot } = node.chart;
  if (!points || !plot._fullLayout?.xaxis) return;
  const [xaxis, yaxis] = axesOf(node), mark = points.sheet.firstChild;
  Object.assign(points.sheet.style, {
    left: `${xaxis._offset}px`, top: `${yaxis._offset}px`, width: `${xaxis._length}px`, height: `${yaxis._length}px`,
  });
  const chosen = isThere(points, points.chosen), at = chosen ? pixelsOf(node, placeOf(points, points.chosen)) : [-1, -1];
  mark.hidden = !chosen || at[0] < 0 || at[1] < 0 || at[0] > xaxis._length || at[1] > yaxis._length;
  mark.style.transform = `translate(${at[0]}px, ${at[1]}px)`;
  points.out.disabled = !chosen;
};

return { takePoints, placePoints, afterDrag };
})();
