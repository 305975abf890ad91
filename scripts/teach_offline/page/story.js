// The ten steps: the step of the address (#3) is shown; its pictures and sentences come from tables that Python computed.

const story = (() => {
const sections = [...document.querySelectorAll('section.step')], state = sections.map(() => ({ at: 0, guess: null, held: 0 }));
const data = sections.map(() => null);
let shown = -1;

// Data of a step is a script: a page that is opened from a folder may fetch nothing.
const load = index => new Promise((resolve, reject) => {
  if (data[index]) return resolve(data[index]);
  const script = Object.assign(document.createElement('script'), { src: `step-${index + 1}.js`, onerror: reject });
  script.onload = async () => {
    data[index] ??= await unpacked(window.teachData[index + 1]);
    state[index].at = data[index].begin;
    resolve(data[index]);
  };
  document.head.append(script);
});

const unpacked = async packed => {
  const bytes = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
};

// A tree with its tables read at a value of the control and at a guess.
const resolved = (tree, pool, at) => {
  if (Array.isArray(tree)) return typeof tree[0] === 'number' ? tree : tree.map(each => resolved(each, pool, at));
  if (tree === null || typeof tree !== 'object') return tree;
  if ('$' in tree) return pool[tree.at[at[tree.$]]];
  return Object.fromEntries(Object.entries(tree).map(([name, each]) => [name, resolved(each, pool, at)]));
};

const readStep = index => {
  const { at, guess } = state[index], { before, after, pool } = data[index];
  return resolved(guess === null ? before : after, pool, { value: at, guess });
};

const drawPictures = (place, { figures, beside, said, lesson }) => {
  const first = figures[0].map ? figures.length : Math.max(1, beside);
  while (place.children.length > figures.length) place.lastChild.remove();
  while (place.children.length < figures.length) place.append(document.createElement('div'));
  place.dataset.beside = first;
  figures.forEach((figure, i) => {
    const node = place.children[i], kind = figure.map ? 'field' : 'chart';
    node.className = `picture${i < first ? '' : ' below'}`;
    if (node.dataset.kind !== kind) { node.innerHTML = ''; node.dataset.kind = kind; }
    const words = i >= Math.max(1, beside) && lesson ? lesson : said;
    figure.map ? field.draw(node, figure.map, words) : chart.draw(node, figure, words);
  });
};

const fill = (section, name, words) => {
  const node = section.querySelector(`.${name}`);
  if (node && node.textContent !== words) node.textContent = words;
};

const answer = (section, index, told) => {
  const { guess, held } = state[index], { verdicts, answers } = data[index];
  section.classList.toggle('revealed', guess !== null);
  section.querySelector('.answer').hidden = guess === null;
  section.querySelector('.guess').hidden = guess !== null;
  fill(section, 'verdict', guess === null ? '' : verdicts[guess][answers[held]]);
  fill(section, 'lesson', guess === null ? '' : told.lesson);
  const closing = section.querySelector('.closing');
  if (closing) closing.hidden = guess === null;
};

const draw = index => {
  const section = sections[index], told = readStep(index), { values, guesses } = data[index];
  drawPictures(section.querySelector('.pictures'), told);
  fill(section, 'said', told.said);
  const checks = told.checks.map(([kind, text]) => `<li class="${kind}">${chart.escaped(text)}</li>`).join('');
  const list = section.querySelector('.checks');
  if (list.innerHTML !== checks) list.innerHTML = checks;
  section.querySelector('.mathematics').innerHTML = `${told.equation}<p><small>Source: ${chart.escaped(told.source)}</small></p>`;
  const control = section.querySelector('.control input[type=range]'), own = section.querySelector('.guess input[type=range]');
  if (control) { fill(section, 'control output', values[state[index].at]); control.setAttribute('aria-valuetext', values[state[index].at]); }
  if (own) { fill(section, 'guess output', guesses[own.value]); own.setAttribute('aria-valuetext', guesses[own.value]); }
  answer(section, index, told);
  window.teach = { step: index + 1, value: values[state[index].at], told };
};

let waiting = false;
const redraw = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; if (data[shown]) draw(shown); });
};

const chosen = (section, name) => {
  const [slider, radio] = [section.querySelector(`.${name} input[type=range]`), section.querySelector(`.${name} input:checked`)];
  return slider ? Number(slider.value) : radio ? Number(radio.value) : null;
};

const listen = (section, index) => {
  section.querySelector('.control').addEventListener('input', () => { state[index].at = chosen(section, 'control'); redraw(); });
  section.querySelector('.guess').addEventListener('input', () => { section.querySelector('.reveal').disabled = chosen(section, 'guess') === null; redraw(); });
  section.querySelector('.reveal').addEventListener('click', () => { Object.assign(state[index], { guess: chosen(section, 'guess'), held: state[index].at }); redraw(); });
  section.querySelector('.again').addEventListener('click', () => { state[index].guess = null; redraw(); });
};

const show = async index => {
  shown = index;
  sections.forEach((section, i) => { section.hidden = i !== index; });
  document.querySelectorAll('.dots a').forEach((dot, i) => dot.toggleAttribute('aria-current', i === index));
  for (const [name, to] of [['back', index - 1], ['next', index + 1]]) {
    const link = document.querySelector(`nav .${name}`);
    link.href = `#${Math.min(sections.length, Math.max(1, to + 1))}`;
    link.setAttribute('aria-disabled', !sections[to]);
  }
  document.title = `${index + 1} · ${sections[index].dataset.title} · ${document.body.dataset.title}`;
  await load(index);
  if (shown === index) redraw();
  if (sections[index + 1]) setTimeout(() => load(index + 1), 300);
};

const ofAddress = () => Math.min(sections.length, Math.max(1, Number(location.hash.slice(1)) || 1)) - 1;
const KEYS = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };

document.body.classList.add('live');
sections.forEach(listen);
addEventListener('hashchange', () => { show(ofAddress()); scrollTo(0, 0); });
addEventListener('resize', redraw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
addEventListener('beforeprint', () => { document.documentElement.dataset.print = ''; if (data[shown]) draw(shown); });
addEventListener('afterprint', () => { delete document.documentElement.dataset.print; redraw(); });
addEventListener('keydown', event => {
  const by = KEYS[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, summary')) return;
  event.preventDefault();
  if (sections[shown + by]) location.hash = `#${shown + by + 1}`;
});
document.fonts?.ready.then(redraw);
show(ofAddress());
return { load };
})();
