// A figure is plain data; here it becomes ranges, a layout and a list of shapes in CSS pixels. The screen (over
// uPlot's axes), the SVG and the PNG are drawn from that one list.
//   {title, x: {label, log, ticks?, pad?, zero?}, y: {...}, series: [{id, label, xs, ys, lo?, hi?, xlo?, xhi?, colour,
//    width?, dash?, marker?, line?, spread?: 'area' | 'bars', step?, end?}], rules: [{y, lo?, hi?, label, colour, dash}], slopes: [{power, label}],
//    dodge?, size?: [width, height] of the exports}
import { number } from './format.js';
import { ticks } from './ticks.js';

export const fontFamily = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
export const fontSize = 12;
const good = (axis, v) => typeof v === 'number' && Number.isFinite(v) && (!axis.log || v > 0);
const textWidth = (text) => text.length * 6.4;
export const clip = (text, most = 26) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function widen(axis, min, max) {
  if (!(min <= max)) return axis.log ? [1, 10] : [0, 1];
  const pad = axis.pad || 0;
  if (axis.log) {
    if (max / min < 1.2) return [min / 1.5, max * 1.5];
    const factor = (max / min) ** pad;
    return [min / factor, max * factor];
  }
  if (axis.zero && min > 0) min = 0;
  const span = max - min || Math.abs(max) || 1;
  return [axis.zero && min === 0 ? 0 : min - span * pad, max + span * pad];
}

function ranges(figure) {
  const { x, y } = figure;
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  const edges = [];
  const sides = [];
  for (const s of figure.series) {
    s.xs.forEach((v, i) => {
      if (!good(x, v) || !good(y, s.ys[i])) return;
      x0 = Math.min(x0, v); x1 = Math.max(x1, v);
      y0 = Math.min(y0, s.ys[i]); y1 = Math.max(y1, s.ys[i]);
      if (s.hi && good(y, s.hi[i])) edges.push(s.hi[i]);
      if (s.lo && good(y, s.lo[i])) edges.push(s.lo[i]);
      if (s.xlo) sides.push(...[s.xlo[i], s.xhi[i]].filter((e) => good(x, e)));
    });
  }
  for (const r of figure.rules || []) for (const v of [r.y, r.lo, r.hi]) if (good(y, v)) edges.push(v);
  // On a log axis a band that reaches down to nothing may not squeeze the lines.
  const floor = y.log ? y0 / 3 : -Infinity;
  for (const v of edges) { y0 = Math.min(y0, Math.max(v, floor)); y1 = Math.max(y1, v); }
  const wall = x.log ? x0 / 3 : -Infinity;
  for (const v of sides) { x0 = Math.min(x0, Math.max(v, wall)); x1 = Math.max(x1, v); }
  return { x: widen(x, x0, x1), y: widen({ pad: y.log ? 0.035 : 0.05, ...y }, y0, y1) };
}

const last = (s, x, y) => {
  for (let i = s.xs.length - 1; i >= 0; i--) if (good(x, s.xs[i]) && good(y, s.ys[i])) return i;
  return -1;
};

/// Ranges, ticks and the plot's box for a given outer size.
export function layout(figure, width, height) {
  const range = ranges(figure);
  const roomy = width >= 560;
  const ends = roomy ? figure.series.filter((s) => s.end && last(s, figure.x, figure.y) >= 0) : [];
  const rules = roomy ? (figure.rules || []).filter((r) => r.label && good(figure.y, r.y)) : [];
  const labels = [...ends.map((s) => clip(s.end)), ...rules.map((r) => clip(r.label))];
  const right = labels.length ? Math.min(190, Math.max(...labels.map(textWidth)) + 26) : 16;
  const yt = ticks(figure.y, ...range.y, Math.max(3, Math.floor(height / (figure.y.log ? 45 : 58))));
  const left = Math.max(34, Math.max(0, ...yt.major.map((v) => textWidth(number(v, 4)))) + 14);
  const box = { left, top: 30, width: Math.max(40, width - left - right), height: Math.max(40, height - 30 - 48) };
  const xt = ticks(figure.x, ...range.x, Math.max(2, Math.floor(box.width / (figure.x.whole ? 40 : 60))));
  const scale = (axis, [min, max], from, length) => (axis.log
    ? (v) => from + (length * Math.log(v / min)) / Math.log(max / min)
    : (v) => from + (length * (v - min)) / (max - min));
  return {
    width, height, box, right, range, ticks: { x: xt, y: yt }, ends, rules,
    sx: scale(figure.x, range.x, box.left, box.width), sy: scale(figure.y, range.y, box.top + box.height, -box.height),
  };
}

const f = (v) => (Math.round(v * 100) / 100).toString();

export function marker(kind, x, y, r) {
  const at = (pairs) => `M${pairs.map(([a, b]) => `${f(x + a * r)} ${f(y + b * r)}`).join('L')}Z`;
  if (kind === 'square') return at([[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]);
  if (kind === 'triangle') return at([[0, -1.2], [1.1, 0.8], [-1.1, 0.8]]);
  if (kind === 'down') return at([[0, 1.2], [1.1, -0.8], [-1.1, -0.8]]);
  if (kind === 'diamond') return at([[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]]);
  if (kind === 'cross') return at([[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]]);
  return `M${f(x - r)} ${f(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
}

/// Moves labels apart so that no two overlap, and keeps them in the box.
function spreadOut(labels, top, bottom, gap = 14) {
  labels.sort((a, b) => a.want - b.want);
  let floor = top;
  for (const l of labels) { l.y = Math.max(l.want, floor); floor = l.y + gap; }
  let ceiling = bottom;
  for (const l of [...labels].reverse()) { l.y = Math.min(l.y, ceiling); ceiling = l.y - gap; }
  return labels;
}

/// Puts texts next to their marks where they cover no mark, bar or other text, and no line if there is such a place; those without a place
/// are left out. A mark's `reach` is how far its bars go: [left, top, right, bottom].
function beside(marks, box) {
  const taken = marks.flatMap(({ x, y, reach: [l, t, r, b] }) => [[x - 7, y - 7, x + 7, y + 7], [l - 3, y - 4, r + 3, y + 4], [x - 4, t - 2, x + 4, b + 2]]);
  const lines = [];
  marks.forEach((m, i) => {
    const p = marks[i - 1];
    if (!p || p.s !== m.s || m.s.line === false) return;
    const n = Math.ceil(Math.hypot(m.x - p.x, m.y - p.y) / 5);
    for (let k = 1; k < n; k++) lines.push([p.x + ((m.x - p.x) * k) / n, p.y + ((m.y - p.y) * k) / n]);
  });
  const free = (a) => a[0] >= box.left && a[2] <= box.left + box.width && a[1] >= box.top && a[3] <= box.top + box.height
    && taken.every((b) => a[2] <= b[0] || a[0] >= b[2] || a[3] <= b[1] || a[1] >= b[3]);
  const clear = (a) => lines.every(([x, y]) => x < a[0] || x > a[2] || y < a[1] || y > a[3]);
  const out = [];
  // The long texts name a group and are the hardest to place.
  for (const { x, y, reach: [l, t, r, b], text, s } of marks.filter((m) => m.text).sort((a, b) => b.text.length - a.text.length)) {
    const w = textWidth(text) * 1.12;
    const places = [[r + 9, y + 4, 'start'], [l - 9, y + 4, 'end']];
    for (const away of [0, 9, 18]) {
      for (const [px, anchor] of [[x + 9, 'start'], [x, 'middle'], [x - 9, 'end']]) places.push([px, y - 9 - away, anchor], [px, y + 19 + away, anchor]);
      places.push([x, t - 8 - away, 'middle'], [x, b + 16 + away, 'middle']);
    }
    const fit = places.map(([px, py, anchor]) => {
      const left = px - (anchor === 'end' ? w : anchor === 'middle' ? w / 2 : 0);
      return { area: [left - 1, py - 11, left + w + 1, py + 4], x: px, y: py, anchor };
    }).filter((p) => free(p.area));
    const best = fit.find((p) => clear(p.area)) || fit[0];
    if (!best) continue;
    taken.push(best.area);
    out.push({ text, x: best.x, y: best.y, anchor: best.anchor, s });
  }
  return out;
}

/// The data's shapes, in drawing order.
export function shapes(figure, lay, theme, focus = null) {
  const { x, y } = figure;
  const { box, sx, sy } = lay;
  const out = [];
  const late = [];
  const bottom = box.top + box.height;
  const rightEdge = box.left + box.width;
  const dim = (s) => (focus !== null && focus !== s.id ? 0.25 : 1);
  // A log axis has no place for what is not above zero: a band's lower edge then runs along the bottom.
  const sky = (v) => (good(y, v) ? Math.max(-1e4, Math.min(1e4, sy(v))) : bottom + 50);

  for (const { power, label } of figure.slopes || []) {
    // All pass through the middle of the curves' ends: slopes matter where t is large.
    const finals = figure.series.map((s) => s.ys[last(s, x, y)]).filter((v) => good(y, v));
    if (!finals.length) continue;
    const [from, to] = lay.range.x;
    const ay = Math.exp(finals.reduce((sum, v) => sum + Math.log(v), 0) / finals.length);
    const at = (v) => ay * (v / to) ** power;
    out.push({ d: `M${f(sx(from))} ${f(sky(at(from)))}L${f(sx(to))} ${f(sky(at(to)))}`, stroke: theme.muted, width: 1, dash: [2, 4], clip: true });
    let start = from;
    if (at(start) > lay.range.y[1]) start = to * (lay.range.y[1] / ay) ** (1 / power);
    if (at(start) < lay.range.y[0]) start = to * (lay.range.y[0] / ay) ** (1 / power);
    late.push({ text: label, x: Math.max(box.left, sx(start)) + 8, y: Math.min(bottom - 6, Math.max(box.top + 12, sky(at(start)) - (power > 0 ? 12 : -2))), anchor: 'start', fill: theme.muted, italic: true, halo: true });
  }

  for (const r of figure.rules || []) {
    if (!good(y, r.y)) continue;
    const ink = r.colour(theme);
    if (good(y, r.lo) && good(y, r.hi)) {
      out.push({ d: `M${f(box.left)} ${f(sky(r.hi))}H${f(rightEdge)}V${f(sky(r.lo))}H${f(box.left)}Z`, fill: ink, alpha: 0.1 * dim(r), clip: true });
    }
    out.push({ d: `M${f(box.left)} ${f(sy(r.y))}H${f(rightEdge)}`, stroke: ink, width: 1.4, dash: r.dash, alpha: dim(r), clip: true });
  }

  for (const s of figure.series) {
    if (s.spread !== 'area' || !s.lo) continue;
    const top = [];
    const low = [];
    s.xs.forEach((v, i) => {
      if (!good(x, v) || !good(y, s.hi[i]) || typeof s.lo[i] !== 'number') return;
      top.push(`${f(sx(v))} ${f(sky(s.hi[i]))}`);
      low.unshift(`${f(sx(v))} ${f(sky(s.lo[i]))}`);
    });
    if (top.length > 1) out.push({ d: `M${top.join('L')}L${low.join('L')}Z`, fill: s.colour(theme), alpha: (focus === s.id ? 0.25 : 0.13) * dim(s), clip: true });
  }

  const marks = [];
  const barred = figure.series.filter((s) => s.spread === 'bars');
  for (const s of figure.series) {
    const ink = s.colour(theme);
    const dodge = s.spread === 'bars' && figure.dodge ? (barred.indexOf(s) - (barred.length - 1) / 2) * Math.min(5, 24 / barred.length) : 0;
    let d = '';
    let open = false;
    const dots = [];
    s.xs.forEach((v, i) => {
      if (!good(x, v) || !good(y, s.ys[i])) { open = open && s.joined; return; }
      const [px, py] = [sx(v) + dodge, sky(s.ys[i])];
      d += open ? (s.step ? `H${f(px)}V${f(py)}` : `L${f(px)} ${f(py)}`) : `M${f(px)} ${f(py)}`;
      open = true;
      dots.push([px, py, i]);
    });
    if (s.line !== false && dots.length > 1) out.push({ d, stroke: ink, width: (s.width || 1.8) * (focus === s.id ? 1.5 : 1), dash: s.dash, alpha: dim(s) * (s.faint ? 0.45 : 1), clip: true });
    for (const [px, py, i] of dots) {
      const bar = (d) => out.push({ d, stroke: ink, width: 1.2, alpha: dim(s) * 0.85, clip: true });
      const reach = [px, py, px, py];
      if (s.spread === 'bars' && s.lo && typeof s.lo[i] === 'number') {
        const [a, b] = [sky(s.hi[i]), sky(s.lo[i])];
        if (b - a > 2.4 * (s.radius || 4)) {
          bar(`M${f(px)} ${f(a)}V${f(b)}M${f(px - 3)} ${f(a)}h6M${f(px - 3)} ${f(b)}h6`);
          [reach[1], reach[3]] = [a, b];
        }
      }
      if (s.spread === 'bars' && s.xlo && typeof s.xlo[i] === 'number') {
        const [a, b] = [good(x, s.xlo[i]) ? Math.max(-1e4, sx(s.xlo[i])) : box.left - 50, sx(s.xhi[i])];
        if (b - a > 2.4 * (s.radius || 4)) {
          bar(`M${f(a)} ${f(py)}H${f(b)}M${f(a)} ${f(py - 3)}v6M${f(b)} ${f(py - 3)}v6`);
          [reach[0], reach[2]] = [a, b];
        }
      }
      const lone = s.line !== false && dots.length === 1;
      if (s.marker || lone) {
        const tint = s.tints ? s.tints[i](theme) : ink;
        out.push({ d: marker(s.marker || 'circle', px, py, s.radius || 4), fill: tint, stroke: theme.paper, width: 1, alpha: dim(s), clip: false });
      }
      if (s.texts) marks.push({ x: px, y: py, reach, text: s.texts[i], s });
    }
  }

  out.push(...late);
  if (lay.width >= 560) out.push(...beside(marks, box).map(({ s, ...t }) => ({ ...t, fill: s.colour(theme), alpha: dim(s), halo: true })));

  const wants = lay.ends.map((s) => {
    const i = last(s, x, y);
    return { id: s.id, want: sky(s.ys[i]), from: sx(s.xs[i]), text: clip(s.end), fill: (s.endColour || s.colour)(theme), stroke: s.colour(theme) };
  }).concat(lay.rules.map((r) => ({ id: r.id, want: sy(r.y), from: rightEdge, text: clip(r.label), fill: r.colour(theme), stroke: r.colour(theme) })));
  for (const l of spreadOut(wants, box.top + 2, bottom - 2)) {
    const alpha = Math.max(0.5, dim(l));
    if (Math.abs(l.y - l.want) > 3 || rightEdge - l.from > 12) {
      out.push({ d: `M${f(l.from + 5)} ${f(l.want)}L${f(rightEdge + 6)} ${f(l.want)}L${f(rightEdge + 14)} ${f(l.y)}`, stroke: l.stroke, width: 0.8, alpha: 0.5 * alpha });
    }
    out.push({ text: l.text, x: rightEdge + 17, y: l.y + 4, anchor: 'start', fill: l.fill, alpha });
  }
  out.push({ text: y.label, x: 2, y: 15, anchor: 'start', fill: theme.muted });
  out.push({ text: x.label, x: rightEdge, y: bottom + 38, anchor: 'end', fill: theme.muted });
  return out;
}

/// Grid, ticks and their labels: what uPlot draws on the screen, for the exports.
export function frame(figure, lay, theme) {
  const { box, sx, sy } = lay;
  const bottom = box.top + box.height;
  const out = [];
  for (const v of lay.ticks.y.major) {
    out.push({ d: `M${f(box.left)} ${f(sy(v))}h${f(box.width)}`, stroke: theme.grid, width: 1 });
    out.push({ text: number(v, 4), x: box.left - 7, y: sy(v) + 4, anchor: 'end', fill: theme.muted });
  }
  for (const v of lay.ticks.x.major) {
    out.push({ d: `M${f(sx(v))} ${f(bottom)}v6`, stroke: theme.axis, width: 1 });
    out.push({ text: number(v, 4), x: sx(v), y: bottom + 20, anchor: 'middle', fill: theme.muted });
  }
  for (const v of lay.ticks.x.minor) out.push({ d: `M${f(sx(v))} ${f(bottom)}v3`, stroke: theme.axis, width: 1 });
  out.push({ d: `M${f(box.left)} ${f(bottom)}h${f(box.width)}`, stroke: theme.axis, width: 1 });
  return out;
}

/// The keys of a figure, laid out in rows below it; returns shapes and the height they take.
export function legend(figure, width, top, theme) {
  const entries = [...figure.series.filter((s) => !s.hidden).map((s) => ({ ...s, text: s.label })),
    ...(figure.rules || []).map((r) => ({ ...r, text: r.label, line: true }))];
  const out = [];
  let [x, y] = [12, top + 14];
  for (const e of entries) {
    const length = 26 + textWidth(e.text) + 18;
    if (x > 12 && x + length > width - 8) { x = 12; y += 18; }
    const ink = e.colour(theme);
    if (e.line !== false) out.push({ d: `M${f(x)} ${f(y - 4)}h20`, stroke: ink, width: 2, dash: e.dash });
    if (e.marker) out.push({ d: marker(e.marker, x + 10, y - 4, 4), fill: ink });
    out.push({ text: e.text, x: x + 26, y, anchor: 'start', fill: theme.ink });
    x += length;
  }
  return { shapes: out, height: entries.length ? y - top + 14 : 0 };
}

/// Paints shapes on a canvas whose unit is one CSS pixel.
export function paint(context, list, box, theme) {
  for (const s of list) {
    context.save();
    if (s.clip) { context.beginPath(); context.rect(box.left, box.top - 4, box.width, box.height + 4); context.clip(); }
    context.globalAlpha = s.alpha ?? 1;
    if (s.text !== undefined) {
      context.font = `${s.italic ? 'italic ' : ''}${s.bold ? '600 ' : ''}${s.size || fontSize}px ${fontFamily}`;
      context.textAlign = s.anchor === 'middle' ? 'center' : s.anchor;
      context.textBaseline = 'alphabetic';
      if (s.halo) { context.strokeStyle = theme.paper; context.lineWidth = 3; context.lineJoin = 'round'; context.strokeText(s.text, s.x, s.y); }
      context.fillStyle = s.fill;
      context.fillText(s.text, s.x, s.y);
    } else {
      const path = new Path2D(s.d);
      if (s.fill) { context.fillStyle = s.fill; context.fill(path); }
      if (s.stroke) {
        context.strokeStyle = s.stroke;
        context.lineWidth = s.width;
        context.lineJoin = 'round';
        context.setLineDash(s.dash || []);
        context.stroke(path);
      }
    }
    context.restore();
  }
}
