// A pinned picture (A) beside the live one (B): curves of A as ghosts under B's; on a map A left of a divider, B right
// of it, on one colour scale. Joined to plotly_live.js, which calls `joinPinned`, and to canvas_map.js, which calls
// `joinPinnedMap` before it paints and `placeDivider` after.

const GHOST = { opacity: 0.45, showlegend: false, hoverinfo: 'skip' };
const DIVIDERS = (window.__labDividers ??= new Map()); // group of charts -> where the divider stands, per cent

const isMap = figure => figure.layout.meta?.role === 'map';
const heatOf = figure => figure.data.find(trace => trace.type === 'heatmap');
const sameData = (a, b) => JSON.stringify([a.x, a.y, a.z]) === JSON.stringify([b.x, b.y, b.z]);

const ghosts = (a, b) => a.data
  .filter(trace => /^scatter/.test(trace.type || 'scatter') && !trace.fill && trace.hoverinfo !== 'skip')
  .filter(trace => !b.data.some(other => sameData(trace, other)))
  .map(trace => ({ ...trace, ...GHOST, name: `A: ${trace.name || ''}`, line: { ...trace.line, dash: 'dot' } }));

// B's figure with the curves of A in it.
const joinPinned = (figure, text) => {
  const pinned = text && JSON.parse(text);
  if (pinned && !isMap(pinned)) figure.data.unshift(...ghosts(pinned, figure));
};

// B's map with the field of A, where that is of the same place; one scale of colours where both have the same colours.
const joinPinnedMap = (map, figure, text) => {
  const pinned = text && JSON.parse(text), left = pinned && isMap(pinned) && heatOf(pinned), right = heatOf(figure);
  if (!left || pinned.layout.uirevision !== figure.layout.uirevision) return;
  if (JSON.stringify(left.colorscale) === JSON.stringify(right.colorscale)) {
    map.heat.low = Math.min(left.zmin, right.zmin);
    map.heat.high = Math.max(left.zmax, right.zmax);
  }
  const { low, high } = map.heat;
  map.pinned = mapCanvas.readHeat({ ...left, zmin: low, zmax: high, colorscale: right.colorscale }, figure.layout.plot_bgcolor);
};

const dividerOf = node => {
  let divider = node.querySelector('.live-divider');
  if (divider) return divider;
  divider = document.createElement('div');
  divider.className = 'live-divider';
  divider.innerHTML = '<i></i><b>A</b><b>B</b><input type="range" min="0" max="100" step="1">';
  divider.lastChild.setAttribute('aria-label', 'Divider: the pinned map A on the left, the live map B on the right');
  divider.lastChild.addEventListener('input', event => {
    DIVIDERS.set(node.chart.group, Number(event.target.value));
    node.chart.group.members.forEach(member => { if (member.chart.map) { repaint(member, 'pixels'); placeDivider(member); } });
  });
  for (const name of ['pointerdown', 'mousedown', 'touchstart', 'keydown']) {
    divider.addEventListener(name, event => event.stopPropagation());
  }
  node.append(divider);
  return divider;
};

const shareOf = node => (DIVIDERS.get(node.chart.group) ?? 50) / 100;

const placeDivider = node => {
  const { map, frame } = node.chart;
  if (!map?.pinned) { node.querySelector('.live-divider')?.remove(); delete node.dataset.divider; return; }
  const share = shareOf(node), divider = dividerOf(node), input = divider.lastChild;
  for (const name of ['left', 'top', 'width', 'height']) divider.style[name] = `${frame[name]}px`;
  divider.style.setProperty('--share', share);
  input.value = Math.round(100 * share);
  input.setAttribute('aria-valuetext', `A on ${Math.round(100 * share)} per cent of the map`);
  node.dataset.divider = input.value;
};
