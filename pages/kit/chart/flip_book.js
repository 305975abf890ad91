// A flip book: frames of bytes become colours on a canvas; between two frames their values are mixed.

const CALM = matchMedia('(prefers-reduced-motion: reduce)');

const bytesOf = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));

const take = (book, data) => {
  const parsed = JSON.parse(data.book), size = parsed.rows * parsed.columns, bytes = bytesOf(parsed.frames);
  Object.assign(book, parsed, { stamp: data.stamp, names: data.names, size });
  book.pages = Array.from({ length: parsed.count }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
  book.table = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const [r, g, b] = parsed.colours.slice(3 * i, 3 * i + 3);
    book.table[i] = (255 << 24) | (b << 16) | (g << 8) | r;
  }
  book.small.width = parsed.columns;
  book.small.height = parsed.rows;
  book.image = book.small.getContext('2d').createImageData(parsed.columns, parsed.rows);
  book.pixels = new Uint32Array(book.image.data.buffer);
  book.at = Math.min(book.at, parsed.count - 1);
  book.slider.max = parsed.count - 1;
};

const fill = (book, first, second, share) => {
  const { pixels, table, size } = book;
  for (let i = 0; i < size; i++) {
    const a = first[i], b = second[i];
    pixels[i] = table[a && b ? Math.round(a + share * (b - a)) : share < 0.5 ? a : b]; // 0: missing
  }
};

const drawCoast = (book, context, width, height) => {
  context.lineJoin = 'round'; // a sharp corner of a bay or a letter would throw a spike
  for (const [colour, thick] of book.ink) {
    context.strokeStyle = colour;
    context.lineWidth = thick * devicePixelRatio;
    context.beginPath();
    for (const line of book.coast) for (let i = 0; i < line.length; i += 2) {
      context[i ? 'lineTo' : 'moveTo'](line[i] * width, line[i + 1] * height);
    }
    context.stroke();
  }
};

const WHOLE = [0, 0, 1, 1];
const NARROW = 150; // CSS pixels of a map below which the maps of a sheet stand two in a row
const BETWEEN = 8, TITLE = 22; // CSS pixels between two of them and for the title above each

// Where the maps of a sheet stand on a canvas of so many pixels across: in its own row, or two in a row on a phone.
// Each has its box on the sheet in shares, and its place in pixels; `sheet` is the size that the whole sheet would have.
const layOut = (book, width) => {
  const boxes = book.maps || [WHOLE], dot = devicePixelRatio, strip = book.titles ? TITLE * dot : 0;
  const [, top, share, tall] = boxes[0], across = boxes.filter(([, y]) => y === top).length;
  const paired = across > 2 && share * width < NARROW * dot, columns = paired ? 2 : across;
  const wide = paired ? (width - BETWEEN * dot) / 2 : share * width, sheet = [wide / share, wide / share * book.aspect];
  const high = tall * sheet[1];
  const places = boxes.map(([x, y], i) => {
    const row = Math.floor(i / columns), down = paired ? row * (high + BETWEEN * dot) : y * sheet[1];
    return [paired ? i % 2 * (wide + BETWEEN * dot) : x * sheet[0], down + (row + 1) * strip];
  });
  const free = paired && boxes.length % 2 ? (places.at(-1)[1] - strip) / dot : 0;
  return { boxes, places, sheet, wide, high, free, height: Math.round(places.at(-1)[1] + high) };
};

// A book that follows stands beside the last map of its leader where that is alone in its row (page_layout.css).
const tellFree = ({ canvas }, free) => {
  const holder = canvas.closest('[class*=st-key-lab-books]');
  if (!holder || canvas.closest('.flip[data-follows]')) return;
  holder.toggleAttribute('data-free', free > 0);
  holder.style.setProperty('--lab-free', `${free}px`);
};

// The share of the sheet's width and height under a point of the canvas; null between maps.
const onSheet = (book, x, y) => {
  const { boxes, places, sheet, wide, high } = layOut(book, book.canvas.width), dot = devicePixelRatio;
  const i = places.findIndex(([left, top]) => x * dot >= left && x * dot < left + wide && y * dot >= top && y * dot < top + high);
  if (i < 0) return null;
  return [boxes[i][0] + (x * dot - places[i][0]) / sheet[0], boxes[i][1] + (y * dot - places[i][1]) / sheet[1]];
};

const drawTitle = (book, context, title, ink, left, top) => {
  context.font = `${14 * devicePixelRatio}px ${book.font ??= getComputedStyle(book.canvas).fontFamily}`;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.fillStyle = ink;
  context.fillText(title, left + 2 * devicePixelRatio, top - TITLE * devicePixelRatio / 2);
};

const LEGIBLE = 170; // pixels of a map's width from which names of cities fit on it

// The right edge of the map on which a place lies, as a share of the sheet.
const edgeOf = (book, at) => {
  const [x, , wide] = (book.maps || []).find(([left, , width]) => at >= left && at <= left + width) || [0, 0, 1];
  return x + wide;
};

const drawCities = (book, context, width, height) => {
  const dot = devicePixelRatio, [, , share] = (book.maps || [[0, 0, 1]])[0];
  if (share * width < LEGIBLE * dot) return;
  context.font = `${11 * dot}px ${book.font ??= getComputedStyle(book.canvas).fontFamily}`;
  context.lineJoin = 'round';
  context.textBaseline = 'middle';
  for (const [name, x, y] of book.cities || []) for (const [colour, thick] of book.ink) {
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 1.4 * thick * dot;
    const marked = (book.marks || []).some(([u, v]) => Math.hypot((u - x) * width, (v - y) * height) < 9 * dot);
    if (!marked) { // the ring of a place stands for the dot
      context.beginPath();
      context.arc(x * width, y * height, 1.6 * dot, 0, 2 * Math.PI);
      context.stroke();
    }
    const last = colour === book.ink[book.ink.length - 1][0], right = edgeOf(book, x) * width;
    const away = (marked ? 11 : 5) * dot, fits = x * width + away + context.measureText(name).width < right;
    context.textAlign = fits ? 'left' : 'right';
    context[last ? 'fillText' : 'strokeText'](name, x * width + (fits ? away : -away), y * height);
  }
};

// Where stations stand: a small dot of two colours.
const drawDots = (book, context, width, height) => {
  for (const [x, y] of book.dots || []) for (const [colour, thick] of book.ink) {
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x * width, y * height, (1 + 0.6 * thick) * devicePixelRatio, 0, 2 * Math.PI);
    context.fill();
  }
};

// Where a place is marked: a ring of two colours, to be seen on any map.
const drawMarks = (book, context, width, height) => {
  for (const [x, y] of book.marks || []) for (const [colour, thick] of book.ink) {
    context.strokeStyle = colour;
    context.lineWidth = 1.6 * thick * devicePixelRatio;
    context.beginPath();
    context.arc(x * width, y * height, 5 * devicePixelRatio, 0, 2 * Math.PI);
    context.stroke();
  }
};

// On a narrow bar the ticks beside its ends give way to these.
const thinTicks = node => {
  const ticks = [...node.querySelectorAll('.flip-scale div span')].map(tick => [tick, tick.getBoundingClientRect()]);
  if (!ticks.length) return;
  let [, last] = ticks[0];
  const [, right] = ticks.at(-1);
  for (const [tick, box] of ticks.slice(1, -1)) {
    const apart = box.left > last.right + 3 && box.right < right.left - 3;
    tick.style.visibility = apart ? '' : 'hidden';
    if (apart) last = box;
  }
};

const paint = book => {
  const { canvas } = book, width = Math.round(canvas.clientWidth * devicePixelRatio);
  if (!width || !book.pages) return;
  const { boxes, places, sheet, wide, high, free, height } = layOut(book, width);
  tellFree(book, free);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const low = Math.floor(book.at) % book.count, share = book.at - Math.floor(book.at);
  fill(book, book.pages[low], book.pages[(low + 1) % book.count], share);
  book.small.getContext('2d').putImageData(book.image, 0, 0);
  const context = canvas.getContext('2d');
  context.imageSmoothingEnabled = false;
  context.clearRect(0, 0, width, height);
  const ink = book.titles && getComputedStyle(canvas).color; // asked for once, while nothing of the page has changed
  places.forEach(([left, top], i) => {
    if (book.titles) drawTitle(book, context, book.titles[i], ink, left, top);
    context.save();
    context.beginPath();
    context.rect(left, top, wide, high);
    context.clip();
    context.translate(left - boxes[i][0] * sheet[0], top - boxes[i][1] * sheet[1]);
    context.drawImage(book.small, 0, 0, ...sheet);
    drawCoast(book, context, ...sheet);
    drawDots(book, context, ...sheet);
    drawCities(book, context, ...sheet);
    drawMarks(book, context, ...sheet);
    context.restore();
  });
  const shown = Math.round(book.at) % book.count;
  book.slider.value = shown;
  if (book.output.textContent !== book.names[shown]) book.output.textContent = book.names[shown];
  book.node.dataset.frame = shown;
  book.node.dataset.painted = Number(book.node.dataset.painted || 0) + 1;
  for (const other of BOOKS) if (other.follows && other.follows === book.name && other !== book) {
    other.at = book.at;
    paint(other);
  }
};

// The book whose clock a book goes by: its own, or that of the one it follows.
const leader = book => [...BOOKS].find(other => book.follows && other.name === book.follows && other.node.isConnected) || book;

const label = book => {
  book.button.textContent = book.playing ? book.button.dataset.pause : book.button.dataset.play;
  book.node.dataset.playing = book.playing;
};

const step = now => {
  for (const book of BOOKS) {
    if (!book.node.isConnected) { BOOKS.delete(book); continue; }
    if (!book.playing || leader(book) !== book) continue;
    book.at = (book.at + Math.min(0.2, (now - (book.then || now)) / 1000) * book.speed) % book.count;
    book.then = now;
    paint(book);
  }
  going = [...BOOKS].some(book => book.playing) && (requestAnimationFrame(step), true);
};
const BOOKS = new Set();
let going = false;

const play = (book, on) => {
  book.playing = on;
  book.then = 0;
  if (!on) { book.at = Math.round(book.at) % book.count; paint(book); }
  label(book);
  if (on && !going) { going = true; requestAnimationFrame(step); }
};

const turn = (book, steps) => {
  play(book, false);
  book.at = (Math.round(book.at) + steps + book.count) % book.count;
  paint(book);
};

const begin = node => {
  const find = selector => node.querySelector(selector);
  const book = node.book = {
    node, canvas: find('canvas'), button: find('.flip-play'), slider: find('.flip-bar > input'), output: find('output'),
    small: document.createElement('canvas'), at: 0, speed: 2, playing: !CALM.matches,
  };
  book.button.addEventListener('click', () => play(book, !book.playing));
  find('.flip-back').addEventListener('click', () => turn(book, -1));
  find('.flip-next').addEventListener('click', () => turn(book, 1));
  book.slider.addEventListener('input', () => {
    const wanted = Number(book.slider.value); // stopping writes the slider
    play(book, false);
    book.at = wanted;
    paint(book);
  });
  find('.flip-speed').addEventListener('input', event => { book.speed = Number(event.target.value); });
  book.canvas.addEventListener('keydown', event => {
    const first = leader(book);
    const act = { ' ': () => play(first, !first.playing), ArrowLeft: () => turn(first, -1), ArrowRight: () => turn(first, 1) }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  book.canvas.addEventListener('click', event => {
    const point = onSheet(book, event.offsetX, event.offsetY);
    if (book.send && point) book.send(point);
  });
  new ResizeObserver(() => { paint(book); thinTicks(node); }).observe(book.canvas);
  return book;
};

export default function ({ parentElement, data, setTriggerValue }) {
  const node = parentElement.querySelector('.flip');
  if (!node.book) begin(node).playing = data.playing && !CALM.matches;
  const { book } = node;
  BOOKS.add(book);
  Object.assign(book, { name: data.name, follows: data.follows });
  node.toggleAttribute('data-follows', Boolean(data.follows));
  book.canvas.setAttribute('aria-label', data.alt);
  book.slider.setAttribute('aria-label', data.frame);
  for (const [part, word] of [['back', 'Back one'], ['next', 'Next']]) {
    node.querySelector(`.flip-${part}`).setAttribute('aria-label', `${word} ${data.frame.toLowerCase()}`);
  }
  book.send = data.clickable ? point => setTriggerValue('click', point) : null;
  book.canvas.style.cursor = data.clickable ? 'crosshair' : '';
  const moved = JSON.stringify(book.marks) !== JSON.stringify(data.marks);
  book.marks = data.marks;
  if (book.stamp !== data.stamp) {
    take(book, data);
    const [bar, ticks, title] = node.querySelector('.flip-scale').children;
    const stops = [1, 64, 128, 192, 255].map(i => `rgb(${book.colours.slice(3 * i, 3 * i + 3)})`);
    ticks.replaceChildren(...book.ticks.map(([at, word], i, all) => {
      const tick = document.createElement('span'), end = i === all.length - 1;
      tick.textContent = word;
      tick.style.left = `${100 * at}%`;
      tick.style.translate = i === 0 ? '0' : end ? '-100%' : '-50%';
      return tick;
    }));
    title.textContent = book.label;
    thinTicks(node);
    bar.style.background = `linear-gradient(90deg, ${stops})`;
    node.dataset.stamp = data.stamp;
    paint(book);
    play(book, book.playing && !book.follows);
  } else if (moved) paint(book);
}
