// One chart on the page: uPlot gives canvas, axes and cursor; figure.js the marks. `make()` returns the figure to show.
import uPlot from 'uplot';
import { h, replace } from './dom.js';
import { outputs } from './export.js';
import { fontFamily, fontSize, layout, marker, paint, shapes } from './figure.js';
import { number } from './format.js';
import { onTheme, theme } from './palette.js';

export function chart({ id, make, height = 400, readout = 'x', file, sentence, keys = 'never' }) {
  const host = h('div', { class: 'canvas', tabindex: 0, role: 'img', 'data-chart': id });
  const key = h('div', { class: 'key', 'aria-hidden': 'true' });
  const tip = h('div', { class: 'tip', hidden: true });
  let figure = make();
  let lay = null;
  let plot = null;
  let focus = null;
  let width = 0;

  function draw() {
    if (!width) return;
    figure = make();
    const tall = Math.round(width < 500 ? Math.min(height, 320) : height);
    lay = layout(figure, width, tall);
    host.setAttribute('aria-label', `${figure.title}. ${sentence || 'The numbers are in the tables below.'} Arrow keys move the readout.`);
    const axis = (name, extra) => ({
      scale: name, font: `${fontSize}px ${fontFamily}`, stroke: () => theme().muted,
      splits: () => [...lay.ticks[name].major, ...lay.ticks[name].minor].sort((a, b) => a - b),
      filter: (u, splits) => splits,
      values: (u, splits) => splits.map((v) => (lay.ticks[name].major.includes(v) ? number(v, 4) : '')),
      ...extra,
    });
    const major = (name) => (u, splits) => splits.map((v) => (lay.ticks[name].major.includes(v) ? v : null));
    if (plot) plot.destroy();
    plot = new uPlot({
      width, height: tall, legend: { show: false }, padding: [lay.box.top, lay.right, 0, 0],
      cursor: { x: readout === 'x', y: false, drag: { x: false, y: false, setScale: false }, points: { show: false } },
      scales: {
        x: { time: false, distr: figure.x.log ? 3 : 1, range: () => lay.range.x },
        y: { distr: figure.y.log ? 3 : 1, range: () => lay.range.y },
      },
      axes: [
        axis('x', { size: 48, gap: 4, grid: { show: false }, ticks: { size: 5, width: 1, stroke: () => theme().axis }, border: { show: true, width: 1, stroke: () => theme().axis } }),
        axis('y', { size: lay.box.left, gap: 7, ticks: { show: false }, grid: { width: 1, stroke: () => theme().grid, filter: major('y') } }),
      ],
      series: [{}, { show: true, paths: () => null, points: { show: false } }],
      hooks: {
        draw: [(u) => {
          const ratio = u.ctx.canvas.width / u.width;
          u.ctx.save();
          u.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
          paint(u.ctx, shapes(figure, lay, theme(), focus), lay.box, theme());
          u.ctx.restore();
        }],
        setCursor: [(u) => read(u.cursor.left, u.cursor.top)],
      },
    }, [lay.range.x, lay.range.y], host);
    tip.hidden = true;
    plot.over.append(tip);
    const named = [...figure.series, ...(figure.rules || [])];
    replace(key, keys === 'always' || (keys === 'narrow' && width < 560) ? named.map(sample) : null);
  }

  /// A line of the key, with the mark as it is drawn.
  function sample(s) {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', '0 0 20 12');
    const path = (attributes) => {
      const p = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      for (const [name, v] of Object.entries(attributes)) p.setAttribute(name, v);
      svg.append(p);
    };
    const ink = s.colour(theme());
    if (s.line !== false) path({ d: 'M0 6h20', stroke: ink, 'stroke-width': 1.8, 'stroke-dasharray': (s.dash || []).join(' ') });
    if (s.marker) path({ d: marker(s.marker, 10, 6, 4), fill: ink });
    return h('span', {}, svg, s.label);
  }

  const near = (list, want, at) => {
    let best = -1;
    list.forEach((v, i) => {
      if (typeof v === 'number' && (best < 0 || Math.abs(at(v) - want) < Math.abs(at(list[best]) - want))) best = i;
    });
    return best;
  };

  function read(left, top) {
    if (left === undefined || left < 0) {
      tip.hidden = true;
      light(null);
      return;
    }
    const [px, py] = [left + lay.box.left, top + lay.box.top];
    const found = [];
    for (const s of figure.series) {
      if (s.hidden) continue;
      if (readout === 'x') {
        const i = near(s.xs, px, lay.sx);
        const off = i < 0 ? Infinity : Math.abs(lay.sx(s.xs[i]) - px);
        if (typeof s.ys[i] === 'number' && off < Math.max(24, lay.box.width / 12)) found.push({ s, i, away: Math.abs(lay.sy(s.ys[i]) - py) });
      } else {
        s.xs.forEach((x, i) => {
          if (typeof x !== 'number' || typeof s.ys[i] !== 'number') return;
          const away = Math.hypot(lay.sx(x) - px, lay.sy(s.ys[i]) - py);
          if (away < 40) found.push({ s, i, away });
        });
      }
    }
    const closest = found.reduce((best, e) => (!best || e.away < best.away ? e : best), null);
    if (!closest) { tip.hidden = true; light(null); return; }
    light(closest.s.id);
    const most = 12;
    let rows = readout === 'x' ? found.sort((a, b) => b.s.ys[b.i] - a.s.ys[a.i]) : [closest];
    const from = Math.max(0, Math.min(rows.indexOf(closest) - most / 2, rows.length - most));
    const left_out = Math.max(0, rows.length - most);
    rows = rows.slice(from, from + most);
    const head = figure.readHead ? figure.readHead(closest.s, closest.i) : `${figure.x.name || figure.x.label} ${number(closest.s.xs[closest.i], 4)}`;
    replace(tip, h('div', { class: 'tip-head' }, head), h('table', {}, rows.map((e) => {
      const spread = e.s.lo && typeof e.s.lo[e.i] === 'number' ? `${number(e.s.lo[e.i])} – ${number(e.s.hi[e.i])}` : '';
      return h('tr', { class: e === closest ? 'near' : '' }, h('td', {}, h('i', { class: 'swatch', style: `background:${e.s.colour(theme())}` }), e.s.label),
        h('td', { class: 'num' }, number(e.s.ys[e.i], 4)), h('td', { class: 'num faint' }, spread));
    })), left_out ? h('div', { class: 'faint' }, `and ${left_out} more`) : null);
    tip.hidden = false;
    const [w, t] = [tip.offsetWidth, tip.offsetHeight];
    const x = left + w + 18 > lay.box.width ? Math.max(4 - lay.box.left, left - w - 14) : left + 14;
    tip.style.transform = `translate(${Math.round(x)}px,${Math.round(Math.max(0, Math.min(lay.box.height - t, top - t / 2)))}px)`;
  }

  function light(id) {
    if (id === focus) return;
    focus = id;
    if (plot) plot.redraw(false, false);
  }

  host.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !plot) return;
    event.preventDefault();
    const stops = [...new Set(figure.series.flatMap((s) => s.xs.filter((v, i) => typeof v === 'number' && typeof s.ys[i] === 'number')))]
      .map((v) => [v, lay.sx(v) - lay.box.left]).filter(([, p]) => p >= 0 && p <= lay.box.width).sort((a, b) => a[1] - b[1]);
    if (!stops.length) return;
    const now = plot.cursor.left >= 0 ? near(stops.map((s) => s[1]), plot.cursor.left, (v) => v) + step : step > 0 ? 0 : stops.length - 1;
    const [v, left] = stops[Math.max(0, Math.min(stops.length - 1, now))];
    const s = figure.series.find((one) => one.xs.includes(v));
    plot.setCursor({ left, top: Math.max(0, Math.min(lay.box.height, lay.sy(s.ys[s.xs.indexOf(v)]) - lay.box.top)) });
  });
  host.addEventListener('blur', () => { if (plot) plot.setCursor({ left: -10, top: -10 }); });

  new ResizeObserver(() => {
    const now = Math.floor(host.clientWidth);
    if (now && now !== width) { width = now; draw(); }
  }).observe(host);
  onTheme(draw);
  const { downloads, paper } = outputs(id, file, () => figure);
  return { host: h('div', { class: 'plot' }, host, key, paper), downloads, draw, light };
}
