// While a slider is held its maps are blended from what was sent ahead (frames.py); the server's picture of the value
// at which the hand rests has the last word. Joined to canvas_map.js, which calls `settleBlend` when one has come.
//
// A chart says, slider by slider, of which context and value its picture is (`along`): frames of another context, made
// before another control was moved, are never shown.

const { settleBlend } = (() => {
const HAND = (window.__labHand ??= { held: null, listening: false });
const EASE = 0.45, THERE = 1e-4, WAIT_MS = 1500; // of the way at each frame; decades; from rest to a picture that is late

const MISSING = -32768;
const numbersOf = ({ middle, step, codes }) => {
  const whole = new Int16Array(mapCanvas.bytesOf(codes).buffer), values = new Float32Array(whole.length);
  for (let i = 0; i < whole.length; i++) values[i] = whole[i] === MISSING ? NaN : middle + step * whole[i];
  return values;
};

const read = frames => {
  if (frames.maps) return frames;
  const given = JSON.parse(frames.text), maps = {};
  for (const [key, map] of Object.entries(given)) {
    const bases = typeof map.bases === 'string' ? maps[map.bases].bases : map.bases.map(numbersOf);
    maps[key] = { ...map, bases, centre: numbersOf(map.centre), table: mapCanvas.numbersOf(map.coefficients) };
  }
  return Object.assign(frames, { maps, text: '' });
};

const framesOf = key => {
  const frames = window.__labFrames?.get(key);
  return frames && read(frames);
};

const holds = ({ low, high }, at) => at >= low - THERE && at <= high + THERE;

const coefficientsAt = ({ low, high, bases, table }, at) => {
  const rank = bases.length, steps = table.length / (rank || 1) - 1, place = Math.min(1, Math.max(0, (at - low) / (high - low))) * steps;
  const k = Math.min(Math.floor(place), steps - 1), share = place - k;
  return bases.map((_, i) => table[k * rank + i] + share * (table[(k + 1) * rank + i] - table[k * rank + i]));
};

const fill = (values, { centre, bases }, weights) => {
  values.set(centre);
  weights.forEach((weight, i) => {
    const base = bases[i];
    for (let p = 0; p < values.length; p++) values[p] += weight * base[p];
  });
};

// A field of the frames' own pixels in the colours that the map has now.
const heatOf = (chart, frames, key) => {
  const map = frames.maps[key], { low, high, scale, table, missing } = chart.map.heat;
  if (chart.blend?.frames !== frames) {
    const { rows, columns, centre } = map, places = { x: mapCanvas.lattice(map, 'x', columns), y: mapCanvas.lattice(map, 'y', rows) };
    chart.blend = { frames, z: new Float32Array(centre.length), rows, columns, ...places, picture: null };
  }
  return Object.assign(chart.blend, { low, high, scale, table, missing });
};

const usable = (node, frames, key) => frames.maps[node.dataset.key] && node.chart.map && node.chart.along?.[key]?.[0] === frames.context;

const charts = () => [...window.__labCharts.values()].flatMap(group => [...group.members])
  .filter((node, i, all) => node.isConnected && all.indexOf(node) === i);

const show = (held, frames) => {
  for (const node of charts()) {
    if (!usable(node, frames, held.key)) continue;
    const map = frames.maps[node.dataset.key];
    if (!holds(map, held.at)) { clear(node); continue; }
    const heat = heatOf(node.chart, frames, node.dataset.key);
    fill(heat.z, map, coefficientsAt(map, held.at));
    mapCanvas.colourise(heat);
    node.chart.map.blend = heat;
    node.dataset.blended = Number(node.dataset.blended || 0) + 1;
    repaint(node, 'pixels');
  }
};

const clear = node => {
  const { chart } = node;
  if (!chart?.map?.blend) return;
  chart.map.blend = null;
  repaint(node, 'pixels');
};

const step = () => {
  const { held } = HAND, frames = held && framesOf(held.key);
  if (!held || !frames) { if (held) held.runs = false; return; }
  const away = held.target - held.at;
  held.at = Math.abs(away) < THERE ? held.target : held.at + EASE * away;
  show(held, frames);
  held.runs = held.at !== held.target;
  if (held.runs) requestAnimationFrame(step);
};

const onMoved = ({ detail: { key, value } }) => {
  const at = Math.log10(value), frames = framesOf(key), { held } = HAND;
  if (!frames || !Object.values(frames.maps).some(map => holds(map, at))) return held?.key === key && drop();
  if (held?.key !== key) {
    drop();
    const from = charts().map(node => node.chart?.along?.[key]).find(along => along?.[0] === frames.context);
    if (!from) return;
    HAND.held = { key, at: Math.log10(from[1]), target: at, runs: false, rested: 0 };
  }
  Object.assign(HAND.held, { target: at, rested: 0 });
  if (!HAND.held.runs) { HAND.held.runs = true; requestAnimationFrame(step); }
};

const drop = () => {
  HAND.held = null;
  charts().forEach(clear);
};

// The picture of the last value comes by itself; where nothing was left to be drawn, none does.
const onRested = ({ detail: { key } }) => {
  const { held } = HAND;
  if (held?.key !== key) return;
  const rested = (held.rested = performance.now());
  const wait = () => {
    if (HAND.held !== held || held.rested !== rested) return;
    const idle = document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning';
    if (idle && performance.now() - rested > WAIT_MS) drop(); else setTimeout(wait, 200);
  };
  wait();
};

if (!HAND.listening) {
  HAND.listening = true;
  addEventListener('lab-moved', onMoved);
  addEventListener('lab-rested', onRested);
}

// A picture has come from the server: whether what is blended stays over it.
const settleBlend = (node, old) => {
  const { chart } = node, { held } = HAND, along = held && chart.along?.[held.key];
  if (!old || !along || old.frames.context !== along[0]) return;
  const last = held.rested && Math.abs(Math.log10(along[1]) - held.target) < THERE;
  if (!last) chart.map.blend = Object.assign(old, { table: chart.map.heat.table, low: chart.map.heat.low, high: chart.map.heat.high });
};

return { settleBlend };
})();
