// Maps on plain canvases, drawn from the figures of deconditioning.figures.maps: pixels through a colour table, and over
// them coast, marks, coordinates, scale bar, colour bar and words. It needs two canvases and a size, and knows no page.

const mapCanvas = (() => {
const LEVELS = 1024, MOST_CELLS = 4096, EARTH_KM = 6371.0088;
const LIGHT = 'white', DARK = 'black'; // lines and words over a map, seen on any of its colours

// ---- numbers and colours -----------------------------------------------------------------------------------------
const ARRAYS = {
  f4: Float32Array, f8: Float64Array, u1: Uint8Array, i1: Int8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array,
};

const bytesOf = text => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
};

// Plotly's typed array or a list, also one of rows; what is null is missing.
const numbersOf = given => given?.bdata !== undefined ? new ARRAYS[given.dtype](bytesOf(given.bdata).buffer)
  : Float64Array.from((given ?? []).flat(), value => value ?? NaN);

const channels = colour => {
  const hex = /^#([0-9a-f]{6})/i.exec(colour.trim());
  if (hex) return [0, 2, 4].map(i => parseInt(hex[1].slice(i, i + 2), 16));
  return (colour.match(/[\d.]+/g) || [255, 255, 255]).slice(0, 3).map(Number);
};

const word = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

const tableOf = scale => {
  const stops = scale.map(([at, colour]) => [at, channels(colour)]), table = new Uint32Array(LEVELS);
  for (let i = 0, k = 0; i < LEVELS; i++) {
    const at = i / (LEVELS - 1);
    while (k < stops.length - 2 && stops[k + 1][0] < at) k++;
    const [[low, from], [high, to]] = [stops[k], stops[Math.min(k + 1, stops.length - 1)]];
    const share = high > low ? Math.min(1, Math.max(0, (at - low) / (high - low))) : 0;
    table[i] = word(from.map((part, c) => Math.round(part + share * (to[c] - part))));
  }
  return table;
};

// ---- pixels ------------------------------------------------------------------------------------------------------
// Evenly spaced cells from `from` up to `to`, and which of the trace's own each one shows: the same where these are even.
const lattice = (trace, name, count) => {
  const even = (from, to, index) => from <= to ? { from, to, index } : { from: to, to: from, index: index.reverse() };
  const same = () => Uint32Array.from({ length: count }, (_, i) => i);
  if (trace[name] === undefined) {
    const start = trace[`${name}0`] ?? 0, step = trace[`d${name}`] ?? 1;
    return even(start - step / 2, start + (count - 0.5) * step, same());
  }
  const given = numbersOf(trace[name]);
  const edge = i => i <= 0 ? 1.5 * given[0] - 0.5 * given[1] : i >= count ? 1.5 * given[count - 1] - 0.5 * given[count - 2]
    : (given[i - 1] + given[i]) / 2;
  if (count === 1 && given.length === 1) return even(given[0] - 0.5, given[0] + 0.5, same());
  const edges = given.length === count + 1 ? given : Float64Array.from({ length: count + 1 }, (_, i) => edge(i));
  const least = Math.min(...Array.from({ length: count }, (_, i) => Math.abs(edges[i + 1] - edges[i]))) || 1;
  const length = edges[count] - edges[0], cells = Math.min(MOST_CELLS, Math.max(count, Math.ceil(4 * Math.abs(length) / least)));
  let k = 0;
  return even(edges[0], edges[count], Uint32Array.from({ length: cells }, (_, i) => {
    const at = (i + 0.5) / cells * length;
    while (k < count - 1 && (edges[k + 1] - edges[0] - at) * Math.sign(length) <= 0) k++;
    return k;
  }));
};

const readHeat = (trace, missing) => {
  const z = numbersOf(trace.z);
  const rows = trace.z.shape ? Number(trace.z.shape.split(',')[0]) : trace.z.length, columns = z.length / rows;
  return {
    z, rows, columns, x: lattice(trace, 'x', columns), y: lattice(trace, 'y', rows), low: trace.zmin, high: trace.zmax,
    scale: trace.colorscale, table: tableOf(trace.colorscale), missing: word(channels(missing)), picture: null,
  };
};

// One picture's values, or a blend of two of one grid: share 0 is the first, 1 the second.
const colourise = (heat, first = heat.z, second = null, share = 0) => {
  const { x, y, columns, low, high, table, missing } = heat, [wide, tall] = [x.index.length, y.index.length];
  heat.picture ??= Object.assign(document.createElement('canvas'), { width: wide, height: tall });
  const pen = (heat.pen ??= heat.picture.getContext('2d')), image = (heat.image ??= pen.createImageData(wide, tall));
  const pixels = (heat.pixels ??= new Uint32Array(image.data.buffer)), last = LEVELS - 1, by = last / ((high - low) || 1);
  for (let row = tall - 1, k = 0; row >= 0; row--) {
    const begin = y.index[row] * columns;
    for (let column = 0; column < wide; column++) {
      const at = begin + x.index[column];
      let value = first[at];
      if (second) value += share * (second[at] - value);
      const level = (value - low) * by;
      pixels[k++] = value === value ? table[level <= 0 ? 0 : level >= last ? last : (level + 0.5) | 0] : missing;
    }
  }
  pen.putImageData(image, 0, 0);
};

const cellOf = ({ from, to, index }, at) => {
  const k = Math.floor((at - from) / (to - from) * index.length);
  return index[at === to ? k - 1 : k];
};

// The value of the pixel at a place, NaN where it is missing, undefined outside the field.
const valueAt = (heat, x, y) => {
  const [row, column] = [cellOf(heat.y, y), cellOf(heat.x, x)];
  return row === undefined || column === undefined ? undefined : heat.z[row * heat.columns + column];
};

// What the region at a place is called, empty where there is none.
const regionAt = ({ heat, regions }, x, y) => {
  const [row, column] = [cellOf(heat.y, y), cellOf(heat.x, x)];
  return regions && row !== undefined && column !== undefined ? regions.names[regions.of[row * heat.columns + column]] : '';
};

// The middle of the pixel at a place.
const middleAt = (heat, x, y) => [[heat.x, x], [heat.y, y]].map(([{ from, to, index }, at]) => {
  const k = cellOf({ from, to, index }, at), [first, last] = [index.indexOf(k), index.lastIndexOf(k)];
  return from + (first + last + 1) / 2 / index.length * (to - from);
});

// ---- a figure ----------------------------------------------------------------------------------------------------
// Lines and marks are kept in shares of the frame, which single precision holds however large a projection's metres are.
const readLine = (trace, home) => {
  const [x, y] = [numbersOf(trace.x), numbersOf(trace.y)], mode = trace.mode ?? 'lines';
  const points = Array.from(x, (at, i) => [(at - home.x[0]) / (home.x[1] - home.x[0]), (home.y[1] - y[i]) / (home.y[1] - home.y[0])]);
  const path = mode.includes('lines') ? new Path2D() : null;
  let open = false;
  if (path) for (const [u, v] of points) {
    const known = Number.isFinite(u) && Number.isFinite(v);
    if (known) path[open ? 'lineTo' : 'moveTo'](u, v);
    open = known;
  }
  return { points, path, line: trace.line ?? {}, marker: mode.includes('markers') ? trace.marker ?? {} : null,
    words: mode.includes('text') ? [trace.text].flat() : null, font: trace.textfont ?? {}, hover: trace.hovertext ?? null };
};

const plain = text => {
  const words = (text ?? '').replace(/<br\s*\/?>/g, ' ').replace(/<\/?(b|i|em|sub|sup|span)\b[^>]*>/g, '');
  return new DOMParser().parseFromString(words.replaceAll('<', '&lt;'), 'text/html').documentElement.textContent;
};

const readMap = figure => {
  const { data, layout } = figure, home = { x: [...layout.xaxis.range], y: [...layout.yaxis.range] };
  const trace = data.find(each => each.type === 'heatmap');
  const regions = layout.meta?.regions && { names: layout.meta.regions.names, of: numbersOf(layout.meta.regions.of) };
  const place = layout.meta?.place && Object.fromEntries(Object.entries(layout.meta.place).map(([k, v]) => [k, numbersOf(v)]));
  return {
    heat: readHeat(trace, layout.plot_bgcolor), pinned: null, blend: null, home, place: place || null, regions, layout,
    lines: data.filter(each => each !== trace).map(each => readLine(each, home)), units: layout.meta?.units ?? '',
    bar: trace.showscale === false ? null : trace.colorbar ?? {}, title: plain(layout.title?.text),
    notes: (layout.annotations ?? []).map(note => ({ ...note, text: plain(note.text) })), shapes: layout.shapes ?? [],
  };
};

// Latitude and longitude of a place in the figure's own coordinates.
const placeAt = (place, x, y) => {
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

// ---- where things are --------------------------------------------------------------------------------------------
// The frame of a map in an element of that size, at a view {x, y} of the figure's coordinates.
const frameOf = (map, width, height, view) => {
  const { home, layout } = map, m = layout.margin, [wide, tall] = [width - m.l - m.r, height - m.t - m.b];
  const aspect = (layout.yaxis.scaleratio ?? 1) * (home.y[1] - home.y[0]) / (home.x[1] - home.x[0]);
  const across = Math.max(1, Math.round(Math.min(wide, tall / aspect))), up = Math.max(1, Math.round(across * aspect));
  const left = Math.round(m.l + (wide - across) / 2), top = Math.round(m.t + (tall - up) / 2);
  const { x, y } = view ?? home;
  return {
    left, top, width: across, height: up, x: [...x], y: [...y],
    toX: at => left + (at - x[0]) / (x[1] - x[0]) * across, toY: at => top + (y[1] - at) / (y[1] - y[0]) * up,
    ofX: px => x[0] + (px - left) / across * (x[1] - x[0]), ofY: px => y[1] - (px - top) / up * (y[1] - y[0]),
    holds: (px, py) => px >= left && px <= left + across && py >= top && py <= top + up,
  };
};

const sized = (canvas, width, height, ratio) => {
  const [wide, tall] = [width, height].map(length => Math.round(length * ratio));
  if (canvas.width !== wide || canvas.height !== tall) Object.assign(canvas, { width: wide, height: tall });
  const pen = canvas.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
};

const clipped = (pen, { left, top, width, height }, draw) => {
  pen.save();
  pen.beginPath();
  pen.rect(left, top, width, height);
  pen.clip();
  draw();
  pen.restore();
};

// ---- painting ----------------------------------------------------------------------------------------------------
const drawHeat = (pen, heat, frame) => {
  if (!heat.picture) colourise(heat);
  const part = ({ from, to, index }, [low, high]) => [low, high].map((at, end) => {
    const k = (at - from) / (to - from) * index.length;
    return Math.min(index.length, Math.max(0, end ? Math.ceil(k) : Math.floor(k)));
  });
  const [[i0, i1], [j0, j1]] = [part(heat.y, frame.y), part(heat.x, frame.x)], rows = heat.y.index.length;
  if (i1 <= i0 || j1 <= j0) return;
  const at = ({ from, to, index }, k) => from + k / index.length * (to - from);
  const [x0, x1, y0, y1] = [at(heat.x, j0), at(heat.x, j1), at(heat.y, i0), at(heat.y, i1)];
  const [left, top] = [frame.toX(x0), frame.toY(y1)];
  pen.imageSmoothingEnabled = false;
  pen.drawImage(heat.picture, j0, rows - i1, j1 - j0, i1 - i0, left, top, frame.toX(x1) - left, frame.toY(y0) - top);
};

// The pixels; a pinned map lies left of `share` of the width.
const paintPixels = (canvas, map, frame, width, height, ratio, share = 0.5) => {
  const pen = sized(canvas, width, height, ratio), { left, top } = frame;
  clipped(pen, frame, () => {
    pen.fillStyle = map.layout.plot_bgcolor;
    pen.fillRect(left, top, frame.width, frame.height);
    drawHeat(pen, map.blend ?? map.heat, frame);
  });
  if (map.pinned) clipped(pen, { ...frame, width: share * frame.width }, () => {
    pen.fillRect(left, top, frame.width, frame.height);
    drawHeat(pen, map.pinned, frame);
  });
  return pen;
};

const halo = (pen, text, x, y) => {
  pen.lineJoin = 'round';
  pen.lineWidth = 3;
  pen.strokeStyle = LIGHT;
  pen.strokeText(text, x, y);
  pen.fillStyle = DARK;
  pen.fillText(text, x, y);
};

const MARKS = {
  x: r => new Path2D(`M${-r},${-r} L${r},${r} M${-r},${r} L${r},${-r}`),
  diamond: r => new Path2D(`M0,${-r} L${r},0 L0,${r} L${-r},0 Z`),
  square: r => new Path2D(`M${-r},${-r} H${r} V${r} H${-r} Z`),
  star: r => new Path2D(`M${Array.from({ length: 10 }, (_, i) => [0.45 + 0.55 * (i % 2), Math.PI * (i + 0.5) / 5 + Math.PI / 5])
    .map(([part, at]) => `${(r * part * Math.sin(at + Math.PI / 10)).toFixed(2)},${(r * part * -Math.cos(at + Math.PI / 10)).toFixed(2)}`).join(' L')} Z`),
  circle: r => { const path = new Path2D(); path.arc(0, 0, r, 0, 2 * Math.PI); return path; },
};

const drawMark = (pen, marker, x, y, i) => {
  const open = marker.symbol === 'x', rim = marker.line ?? {};
  const path = (MARKS[marker.symbol] ?? MARKS.circle)((marker.size ?? 6) / 2);
  pen.save();
  pen.translate(x, y);
  if (!open) { pen.fillStyle = [marker.color].flat()[Array.isArray(marker.color) ? i : 0] ?? DARK; pen.fill(path); }
  for (const [colour, width] of open ? [[rim.color, 3 + 2 * (rim.width ?? 0)], [marker.color, 3]] : [[rim.color, rim.width ?? 0]]) {
    if (!width || !colour) continue;
    Object.assign(pen, { strokeStyle: colour, lineWidth: width });
    pen.stroke(path);
  }
  pen.restore();
};

const drawLine = (pen, { points, path, line, marker, words, font }, map, frame) => {
  const { home } = map, span = axis => frame[axis][1] - frame[axis][0], whole = axis => home[axis][1] - home[axis][0];
  const [a, d] = [frame.width * whole('x') / span('x'), frame.height * whole('y') / span('y')];
  const [e, f] = [frame.toX(home.x[0]), frame.toY(home.y[1])];
  if (path) {
    const placed = new Path2D();
    placed.addPath(path, { a, b: 0, c: 0, d, e, f });
    Object.assign(pen, { strokeStyle: line.color ?? DARK, lineWidth: line.width ?? 2, lineJoin: 'round' });
    pen.setLineDash(line.dash === 'dash' ? [9, 6] : line.dash === 'dot' ? [3, 3] : []);
    pen.stroke(placed);
    pen.setLineDash([]);
  }
  const put = draw => points.forEach(([u, v], i) => { if (Number.isFinite(u + v)) draw(e + a * u, f + d * v, i); });
  if (marker) put((x, y, i) => drawMark(pen, marker, x, y, i));
  if (words) {
    Object.assign(pen, { font: `${font.size ?? 11}px ${map.family}`, textAlign: 'center', textBaseline: 'bottom' });
    put((x, y, i) => halo(pen, plain(words[i % words.length]), x, y - (marker ? (marker.size ?? 6) / 2 + 1 : 0)));
  }
};

const drawShape = (pen, shape, frame) => {
  pen.save();
  if (shape.type === 'path') { // pixels from a point of the paper, upwards
    pen.translate(frame.left + (shape.xanchor ?? 0) * frame.width, frame.top + (1 - (shape.yanchor ?? 0)) * frame.height);
    pen.scale(1, -1);
    pen.fillStyle = shape.fillcolor ?? DARK;
    const outline = new Path2D(shape.path);
    pen.fill(outline);
    if (shape.line?.width) { Object.assign(pen, { strokeStyle: shape.line.color ?? DARK, lineWidth: shape.line.width }); pen.stroke(outline); }
  } else if (shape.line?.width) {
    const [x0, x1, y0, y1] = [frame.toX(shape.x0), frame.toX(shape.x1), frame.toY(shape.y0), frame.toY(shape.y1)];
    Object.assign(pen, { strokeStyle: shape.line.color ?? DARK, lineWidth: shape.line.width });
    pen.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
  }
  pen.restore();
};

// What a mark within so many pixels of a place says of itself; empty where there is none.
const markAt = (map, frame, px, py, within = 8) => {
  let best = within, words = '';
  const { home } = map, along = (axis, share) => home[axis][0] + share * (home[axis][1] - home[axis][0]);
  for (const { points, hover } of map.lines) {
    if (hover) points.forEach(([u, v], i) => {
      const away = Math.hypot(frame.toX(along('x', u)) - px, frame.toY(along('y', 1 - v)) - py);
      if (away <= best) [best, words] = [away, hover[i]];
    });
  }
  return words;
};

// ---- coordinates and kilometres ----------------------------------------------------------------------------------
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 45, 60, 90];

const degreesAt = (at, sides) => {
  const size = Number(Math.abs(at).toFixed(2));
  return size % 180 === 0 ? `${size}°` : `${size}° ${sides[at < 0 ? 1 : 0]}`;
};

// Round degrees along an edge of the view: where along it, and what they are; at most so many.
const roundDegrees = (angles, most) => {
  const turned = angles.slice();
  for (let i = 1; i < turned.length; i++) turned[i] += 360 * Math.round((turned[i - 1] - turned[i]) / 360);
  const spread = Math.max(...turned) - Math.min(...turned), step = STEPS.find(each => spread / each <= most) ?? 90, result = [];
  if (!(spread > 0)) return result;
  for (let i = 1; i < turned.length; i++) {
    const [low, high] = [Math.min(turned[i - 1], turned[i]), Math.max(turned[i - 1], turned[i])];
    for (let k = Math.ceil(low / step - 1e-9); k * step < high - 1e-9 * step; k++) {
      result.push([(i - 1 + (k * step - turned[i - 1]) / (turned[i] - turned[i - 1])) / (turned.length - 1), k * step]);
    }
  }
  return result;
};

const east = lon => ((lon + 180) % 360 + 360) % 360 - 180;
const SAMPLES = Array.from({ length: 49 }, (_, i) => i / 48);

const drawCoordinates = (pen, map, frame, size) => {
  const { left, top, width, height, x, y } = frame, bottom = top + height;
  const across = roundDegrees(SAMPLES.map(s => placeAt(map.place, x[0] + s * (x[1] - x[0]), y[0])[1]), width / 75);
  const up = roundDegrees(SAMPLES.map(s => placeAt(map.place, x[0], y[0] + s * (y[1] - y[0]))[0]), height / 55);
  const line = (...ends) => { for (const [ink, thick] of [[LIGHT, 3], [DARK, 1.2]]) {
    Object.assign(pen, { strokeStyle: ink, lineWidth: thick });
    pen.beginPath();
    pen.moveTo(ends[0], ends[1]);
    pen.lineTo(ends[2], ends[3]);
    pen.stroke();
  } };
  pen.font = `${size}px ${map.family}`;
  Object.assign(pen, { textAlign: 'center', textBaseline: 'bottom' });
  let free = left + 4;
  for (const [share, lon] of across) {
    const text = degreesAt(east(lon), 'EW'), at = left + share * width, half = pen.measureText(text).width / 2;
    if (at - half < free || at + half > left + width - 4) continue;
    free = at + half + 8;
    line(at, bottom, at, bottom - 5);
    halo(pen, text, at, bottom - 6);
  }
  Object.assign(pen, { textAlign: 'left', textBaseline: 'middle' });
  for (const [share, lat] of up) {
    const at = bottom - share * height;
    if (at < top + size || at > bottom - 2.2 * size) continue;
    line(left, at, left + 5, at);
    halo(pen, degreesAt(lat, 'NS'), left + 8, at);
  }
};

const kilometres = ([lat, lon], [lat2, lon2]) => {
  const [a, b, c, d] = [lat, lat2, (lat2 - lat) / 2, (lon2 - lon) / 2].map(each => each * Math.PI / 180);
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(Math.sin(c) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(d) ** 2)));
};

// A round number of kilometres at the middle of the view; none where the view is so large that it holds nowhere else.
const scaleBar = (map, frame) => {
  const { x, y, width } = frame, middle = (y[0] + y[1]) / 2, along = SAMPLES.map(s => placeAt(map.place, x[0] + s * (x[1] - x[0]), middle));
  const ends = [y[0], y[1]].map(at => placeAt(map.place, (x[0] + x[1]) / 2, at)[0]);
  const whole = along.slice(1).reduce((sum, here, i) => sum + kilometres(along[i], here), 0);
  if (Math.abs(ends[1] - ends[0]) > 60 || !(whole > 0) || whole > 15000 || width < 180) return null;
  const decade = 10 ** Math.floor(Math.log10(0.28 * whole)), length = [5, 2, 1].map(each => each * decade).find(each => each <= 0.28 * whole);
  return { pixels: length / whole * width, text: `${Number(length.toPrecision(3))} km` };
};

const drawScale = (pen, map, frame, size) => {
  const bar = scaleBar(map, frame);
  if (!bar) return;
  const right = frame.left + frame.width - 8, base = frame.top + frame.height - 2.2 * size, left = right - bar.pixels;
  for (const [ink, thick] of [[LIGHT, 4], [DARK, 1.8]]) {
    Object.assign(pen, { strokeStyle: ink, lineWidth: thick });
    pen.stroke(new Path2D(`M${left},${base - 4} V${base} H${right} V${base - 4}`));
  }
  Object.assign(pen, { font: `${size}px ${map.family}`, textAlign: 'center', textBaseline: 'bottom' });
  halo(pen, bar.text, (left + right) / 2, base - 3);
};

// ---- round the map -----------------------------------------------------------------------------------------------
const drawBar = (pen, map, frame, theme) => {
  const { bar, heat } = map, length = (bar.len ?? 0.9) * frame.width, left = frame.left + (bar.x ?? 0.5) * frame.width - length / 2;
  const thick = bar.thickness ?? 9, top = frame.top + frame.height + (bar.ypad ?? 8), size = bar.tickfont?.size ?? 11;
  const shades = pen.createLinearGradient(left, 0, left + length, 0);
  heat.scale.forEach(([at, colour]) => shades.addColorStop(at, colour));
  pen.fillStyle = shades;
  pen.fillRect(left, top, length, thick);
  if (bar.outlinewidth) {
    Object.assign(pen, { strokeStyle: bar.outlinecolor ?? theme.ink, lineWidth: bar.outlinewidth });
    pen.strokeRect(left, top, length, thick);
  }
  Object.assign(pen, { font: `${size}px ${map.family}`, fillStyle: theme.ink, textAlign: 'center', textBaseline: 'top' });
  const at = value => left + (value - heat.low) / ((heat.high - heat.low) || 1) * length, taken = [];
  const words = [...(bar.tickvals ?? [heat.low, heat.high])].map((value, i) => [value, bar.ticktext?.[i] ?? String(Number(value.toPrecision(4)))]);
  for (const [value, text] of [...words.splice(0, 1), ...words.splice(-1), ...words]) { // both ends before what is between
    const half = pen.measureText(text).width / 2 + 2, x = Math.min(Math.max(at(value), half), frame.right - half);
    if (taken.some(([from, to]) => x + half > from && x - half < to)) continue;
    taken.push([x - half, x + half]);
    pen.fillText(text, x, top + thick + 4);
  }
};

const fitted = (pen, text, width) => {
  if (pen.measureText(text).width <= width) return text;
  let letters = text.length;
  while (letters > 1 && pen.measureText(`${text.slice(0, letters)}…`).width > width) letters--;
  return `${text.slice(0, letters).trimEnd()}…`;
};

const drawWords = (pen, map, frame, theme, width) => {
  const { layout, notes } = map, { font, pad } = layout.title ?? {};
  Object.assign(pen, { fillStyle: theme.ink, textBaseline: 'top', textAlign: 'left' });
  if (map.title) {
    const size = font?.size ?? 14, room = width - (pad?.l ?? 2) - 2;
    pen.font = `${size}px ${map.family}`;
    const fits = Math.max(0.8, Math.min(1, room / pen.measureText(map.title).width)); // smaller before it is cut
    pen.font = `${size * fits}px ${map.family}`;
    pen.fillText(fitted(pen, map.title, room), pad?.l ?? 2, pad?.t ?? 8);
  }
  pen.textAlign = 'center';
  for (const note of notes) {
    pen.font = `${note.font?.size ?? 12}px ${map.family}`;
    const x = frame.left + (note.x ?? 0.5) * frame.width, y = frame.top + (1 - (note.y ?? 0)) * frame.height - (note.yshift ?? 0);
    pen.fillText(fitted(pen, note.text, width - 4), x, y + 3);
  }
};

// Everything but the pixels.
const paintOver = (canvas, map, frame, width, height, ratio, theme) => {
  const pen = sized(canvas, width, height, ratio), size = Math.max(10, (map.bar?.tickfont?.size ?? 11) - 0.5);
  const beside = each => each.xref === 'paper';
  map.family = theme.font;
  clipped(pen, frame, () => {
    for (const line of map.lines) drawLine(pen, line, map, frame);
    for (const shape of map.shapes) if (!beside(shape)) drawShape(pen, shape, frame);
    drawCoordinates(pen, map, frame, size);
    drawScale(pen, map, frame, size);
  });
  if (map.bar) drawBar(pen, map, { ...frame, right: width }, theme);
  for (const shape of map.shapes) if (beside(shape)) drawShape(pen, shape, frame);
  drawWords(pen, map, frame, theme, width);
  return pen;
};

return { readMap, readHeat, lattice, colourise, tableOf, channels, bytesOf, numbersOf, placeAt, valueAt, regionAt, middleAt, markAt, frameOf, sized, plain, drawBar, drawWords, paintPixels, paintOver, LEVELS };
})();
