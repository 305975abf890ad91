// A pinned picture (A) beside the live one (B): curves of A as ghosts under B's; on a map A left of a divider, B right
// of it, on one colour scale. Joined to plotly_live.js, which calls `joinPinned` before it draws and `placeDivider` after.

const GHOST = { opacity: 0.45, showlegend: false, hoverinfo: 'skip' };
const DIVIDERS = (window.__labDividers ??= new Map()); // group of charts -> where the divider stands, per cent

const isMap = figure => figure.layout.meta?.role === 'map';
const heatOf = figure => figure.data.find(trace => trace.type === 'heatmap');
const sameData = (a, b) => JSON.stringify([a.x, a.y, a.z]) === JSON.stringify([b.x, b.y, b.z]);

const ghosts = (a, b) => a.data
  .filter(trace => /^scatter/.test(trace.type || 'scatter') && !trace.fill && trace.hoverinfo !== 'skip')
  .filter(trace => !b.data.some(other => sameData(trace, other)))
  .map(trace => ({ ...trace, ...GHOST, name: `A: ${trace.name || ''}`, line: { ...trace.line, dash: 'dot' } }));

const joinMaps = (a, b) => {
  const left = heatOf(a), right = heatOf(b);
  if (!left || !right || a.layout.uirevision !== b.layout.uirevision) return false; // another grid
  if (JSON.stringify(left.colorscale) === JSON.stringify(right.colorscale)) {
    right.zmin = Math.min(left.zmin, right.zmin);
    right.zmax = Math.max(left.zmax, right.zmax);
  }
  const one = { zmin: right.zmin, zmax: right.zmax, colorscale: right.colorscale };
  b.data.splice(b.data.indexOf(right) + 1, 0, { ...left, ...one, name: 'A', showscale: false });
  return true;
};

// B's figure with A in it; whether there is a divider to be placed.
const joinPinned = (node, figure, text) => {
  const chart = node.chart;
  chart.split = false;
  if (!text) return;
  const pinned = JSON.parse(text);
  if (isMap(pinned) && isMap(figure)) chart.split = joinMaps(pinned, figure);
  else if (!isMap(pinned) && !isMap(figure)) figure.data.unshift(...ghosts(pinned, figure));
};

const SVG = 'http://www.w3.org/2000/svg';
const clipOf = node => {
  const svg = node.querySelector('svg.main-svg');
  let rect = svg.querySelector('.lab-split rect');
  if (!rect) {
    const id = `lab-split-${Math.random().toString(36).slice(2)}`, clip = document.createElementNS(SVG, 'clipPath');
    clip.id = id;
    clip.classList.add('lab-split');
    rect = clip.appendChild(document.createElementNS(SVG, 'rect'));
    svg.querySelector('defs').append(clip);
  }
  return rect;
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
    node.chart.group.members.forEach(member => member.chart.drawn && placeDivider(member));
  });
  for (const name of ['pointerdown', 'mousedown', 'touchstart', 'keydown']) {
    divider.addEventListener(name, event => event.stopPropagation());
  }
  node.append(divider);
  return divider;
};

const shareOf = node => (DIVIDERS.get(node.chart.group) ?? 50) / 100;

const placeDivider = node => {
  const chart = node.chart, old = node.querySelector('.live-divider');
  if (!chart.split || !chart.plot._fullLayout) { old?.remove(); delete node.dataset.divider; return; }
  const { xaxis, yaxis } = chart.plot._fullLayout, share = shareOf(node), width = xaxis._length, height = yaxis._length;
  const rect = clipOf(node), layers = node.querySelectorAll('.heatmaplayer .hm');
  Object.entries({ x: 0, y: 0, width: share * width, height }).forEach(([name, at]) => rect.setAttribute(name, at));
  layers.forEach((layer, index) => {
    if (index === layers.length - 1) layer.setAttribute('clip-path', `url(#${rect.parentNode.id})`);
    else layer.removeAttribute('clip-path');
  });
  const divider = dividerOf(node), input = divider.lastChild;
  Object.assign(divider.style, { left: `${xaxis._offset}px`, top: `${yaxis._offset}px`, width: `${width}px`, height: `${height}px` });
  divider.style.setProperty('--share', share);
  input.value = Math.round(100 * share);
  input.setAttribute('aria-valuetext', `A on ${Math.round(100 * share)} per cent of the map`);
  node.dataset.divider = input.value;
};

// Which heat map is seen at x: A's left of the divider.
const shownTrace = (node, x) => {
  const chart = node.chart, { xaxis } = chart.plot._fullLayout;
  const heats = chart.plot._fullData.filter(trace => trace.type === 'heatmap');
  return chart.split && xaxis.d2p(x) < shareOf(node) * xaxis._length ? heats[1] : heats[0];
};
