// Page One dimension: the posterior of f, computed here at every move of a slider.

const line = (() => {
const given = window.teachLine, STEPS = 400, body = document.querySelector('.sliders');
const values = Object.fromEntries(given.sliders.map(({ name, value }) => [name, value]));
let count = given.stops.length - 1, kept = null;

const written = value => Number(value.toPrecision(3)) === 0 ? '0' : Math.abs(value) < 1e-3 || Math.abs(value) >= 1e4
  ? value.toExponential(1).replace('-', '−').replace('e+', 'e') : String(Number(value.toPrecision(3))).replace('-', '−');
const fixed = (value, digits) => value.toFixed(digits).replace('-', '−');

// ---- numbers -----------------------------------------------------------------------------------------------------
// What depends on the pairs alone: kept while other sliders move.
const problem = () => {
  if (kept?.count === count) return kept;
  const n = given.stops[count], data = Object.fromEntries(['x', 'y', 'query', 'z'].map(name => [name, Float64Array.from(given[name].slice(0, n))]));
  const grid = posterior.gridOf(data.x), truth = grid.map(window.teachTarget), learned = given.baselines[count];
  const others = { impute: posterior.impute(data, learned, grid), cascade: posterior.cascade(data, learned, grid) };
  return (kept = { count, n, data, grid, truth, others });
};

const compute = () => {
  const now = problem(), result = posterior.deconditioned(now.data, values, now.grid);
  const rows = { ...(result && { task_transformed_gp: result }), ...now.others };
  const scores = Object.fromEntries(Object.entries(rows).map(([name, each]) => [name, posterior.scores(now.truth, each)]));
  return { ...now, result, scores };
};

// ---- pictures ----------------------------------------------------------------------------------------------------
const band = (at, low, high, colour, name) => ({ x: [...at, ...[...at].reverse()], y: [...high, ...[...low].reverse()], colour, alpha: 0.22, width: 0, fill: 'self', name });

const scatter = ({ title, labels, curve }, { at, mean, low, high }, x, y, colour) => ({
  title, height: 270, alt: `${title}.`, across: [{ title: labels[0] }], up: { title: labels[1] },
  marks: [band(at, low, high, 'grey', ''), { x, y, dots: 'circle', size: 6, alpha: 0.75, colour, name: '' },
    { x: at, y: mean, colour: 'ink', width: 2, name: curve }],
});

const windowOf = truth => {
  const [low, high] = [Math.min(...truth), Math.max(...truth)], room = Math.max(0.5 * (high - low), 0.3);
  return [low - room, high + room];
};

const functionOf = ({ grid, truth, result, others }) => {
  const { hues, titles } = given, own = hues.task_transformed_gp;
  const naive = Object.entries(others).map(([name, { mean }]) => ({ x: grid, y: mean, colour: hues[name], width: 2, dash: 'dash', name: titles[name] }));
  const found = result ? [band(grid, result.mean.map((m, i) => m - 2 * result.sd[i]), result.mean.map((m, i) => m + 2 * result.sd[i]), own, ''),
    ...naive, { x: grid, y: truth, colour: 'ink', width: 2.5, dash: 'dot', name: 'truth' }, { x: grid, y: result.mean, colour: own, width: 3.5, name: `${titles.task_transformed_gp}, ± 2 sd` }] : naive;
  return { title: given.function, height: Math.max(320, Math.min(560, innerHeight - 390)), alt: `${given.function}.`, across: [{ title: 'x', range: [grid[0], grid[grid.length - 1]] }],
    up: { title: 'f(x)', range: windowOf(truth) }, marks: found };
};

const table = ({ scores, result }) => {
  const rows = Object.keys(given.titles).filter(name => scores[name]).map(name => `<tr><th scope="row">${given.titles[name]}</th>
    <td>${fixed(scores[name].rmse, 3)}</td><td>${fixed(100 * scores[name].coverage, 0)} %</td><td>${name === 'task_transformed_gp' ? fixed(result.evidence, 1) : '–'}</td></tr>`);
  return `<thead><tr><td></td><th scope="col">RMSE</th><th scope="col">f within ± 2 sd</th><th scope="col">log evidence</th></tr></thead><tbody>${rows.join('')}</tbody>`;
};

let pairsDrawn = '';
const draw = () => {
  const begun = performance.now(), now = compute(), { result, scores, data } = now;
  const words = result ? `The task-transformed GP recovers f with RMSE ${fixed(scores.task_transformed_gp.rmse, 3)}.` : 'The matrix is singular: raise λ or σ².';
  chart.draw(document.getElementById('function'), functionOf(now), words);
  const pairs = `${now.n} ${innerWidth}`;
  if (pairs !== pairsDrawn) {
    chart.draw(document.getElementById('first'), scatter(given.scatters[0], given.first, data.y, data.x, 'teal'), given.scatters[0].caption);
    chart.draw(document.getElementById('second'), scatter(given.scatters[1], given.second, data.query, data.z, 'rust'), given.scatters[1].caption);
    pairsDrawn = pairs;
  }
  document.getElementById('scores').innerHTML = table(now);
  document.getElementById('problem').textContent = result ? '' : words;
  window.teach = { values: { ...values, n: now.n }, ...now, ms: performance.now() - begun, frames: (window.teach?.frames ?? 0) + 1 };
};

let waiting = false;
const redraw = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
};

// ---- controls ----------------------------------------------------------------------------------------------------
// Positions of a slider are evenly spaced in logarithms.
const place = ({ low, high }, value) => Math.round(STEPS * Math.log(value / low) / Math.log(high / low));
const valueAt = ({ low, high, value }, at) => at === place({ low, high }, value) ? value : Number((low * (high / low) ** (at / STEPS)).toPrecision(4));

// What a slider says of its value: of a variance its standard deviation, as on the page.
const reading = ({ name, variance }) => written(variance ? Math.sqrt(values[name]) : values[name]);

const tell = (input, text) => {
  input.setAttribute('aria-valuetext', text);
  document.querySelector(`output[for="${input.id}"]`).textContent = text;
};

const showAll = () => {
  for (const slider of given.sliders) {
    const input = document.getElementById(slider.name);
    input.value = place(slider, values[slider.name]);
    tell(input, reading(slider));
  }
  const input = document.getElementById('n');
  input.value = count;
  tell(input, String(given.stops[count]));
};

// Set sliders by name, n among them, and redraw.
const set = ({ n, ...others }) => {
  Object.assign(values, others);
  if (n) count = given.stops.indexOf(n);
  showAll();
  redraw();
};

const reset = () => set({ ...Object.fromEntries(given.sliders.map(({ name, value }) => [name, value])), n: given.stops[given.stops.length - 1] });

body.addEventListener('input', ({ target: input }) => {
  const slider = given.sliders.find(({ name }) => name === input.id), at = Number(input.value);
  if (slider) values[slider.name] = valueAt(slider, at);
  else count = at;
  tell(input, slider ? reading(slider) : String(given.stops[count]));
  redraw();
});
document.getElementById('reset').addEventListener('click', reset);
given.presets.forEach((preset, i) => document.getElementById(`preset-${i}`).addEventListener('click', () => {
  reset();
  set(preset.values);
  document.getElementById('about').textContent = preset.about;
}));
addEventListener('resize', () => { pairsDrawn = ''; redraw(); });
const printing = begins => {
  begins ? document.documentElement.dataset.print = '' : delete document.documentElement.dataset.print;
  pairsDrawn = '';
  draw();
};
addEventListener('beforeprint', () => printing(true));
addEventListener('afterprint', () => printing(false));
showAll();
draw();
return { set, compute };
})();
