// A map of the story on two canvases, by map_canvas.js, with its value under the pointer.

const field = (() => {
const themeOf = node => {
  const style = getComputedStyle(node);
  return { ink: style.color, paper: style.backgroundColor, font: style.fontFamily };
};

// What map_canvas.js reads, with the field's values from its levels.
const read = spec => {
  const map = mapCanvas.readMap(spec), { low, step } = spec.data[0].z;
  map.heat.z = Float32Array.from(map.heat.z, level => level === 255 ? NaN : low + step * level);
  return map;
};

const parts = node => {
  if (!node.querySelector('canvas')) node.innerHTML = '<div class="map"><canvas></canvas><canvas></canvas><output hidden></output></div>';
  return [node.firstChild, ...node.querySelectorAll('canvas'), node.querySelector('output')];
};

const tell = (node, event) => {
  const { map, frame } = node.field, tip = parts(node)[3], box = node.firstChild.getBoundingClientRect();
  const [left, top] = [event.clientX - box.left, event.clientY - box.top], [x, y] = [frame.ofX(left), frame.ofY(top)];
  const value = frame.holds(left, top) ? mapCanvas.valueAt(map.heat, x, y) : NaN;
  tip.hidden = !Number.isFinite(value);
  if (tip.hidden) return;
  const [lat, lon] = mapCanvas.placeAt(map.place, x, y);
  const place = `${Math.abs(lat).toFixed(2)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(lon).toFixed(2)}° ${lon < 0 ? 'W' : 'E'}`;
  tip.textContent = `${map.units ? `${Number(value.toPrecision(4))} ${map.units} · ` : ''}${place}`;
  Object.assign(tip.style, { left: `${Math.min(left, box.width - 190)}px`, top: `${Math.max(0, top - 34)}px` });
};

const draw = (node, spec, words) => {
  const [frameNode, under, over] = parts(node), width = node.clientWidth || 320, { layout } = spec;
  if (node.field?.spec !== spec) node.field = { ...node.field, spec, map: read(spec) };
  const { map } = node.field, { margin } = layout;
  const aspect = (layout.yaxis.scaleratio ?? 1) * (map.home.y[1] - map.home.y[0]) / (map.home.x[1] - map.home.x[0]);
  const height = Math.round(Math.min(layout.height, (width - margin.l - margin.r) * aspect + margin.t + margin.b));
  const ratio = window.devicePixelRatio || 1, frame = mapCanvas.frameOf(map, width, height);
  node.field.frame = frame;
  Object.assign(frameNode.style, { width: `${width}px`, height: `${height}px` });
  for (const canvas of [under, over]) Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  mapCanvas.paintPixels(under, map, frame, width, height, ratio);
  mapCanvas.paintOver(over, map, frame, width, height, ratio, themeOf(node));
  frameNode.setAttribute('role', 'img');
  frameNode.setAttribute('aria-label', `${layout.meta.alt} ${words}`);
  frameNode.onpointermove = event => tell(node, event);
  frameNode.onpointerleave = () => { parts(node)[3].hidden = true; };
};

return { draw };
})();
