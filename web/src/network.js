// A network as shapes: links by how many messages they carried, agents, sinks, the server, and what was lost.
import { marker } from './figure.js';
import { number } from './format.js';
import { arrange } from './graph.js';
import { colour } from './palette.js';

const f = (v) => (Math.round(v * 10) / 10).toString();
const few = 30;  // links up to which counts are printed
const most = 5000;  // links that are drawn: of more, an even choice; a browser takes seconds for a hundred thousand
export const line = ({ from, to }) => `M${f(from[0])} ${f(from[1])}L${f(to[0])} ${f(to[1])}`;
const cross = (x, y, r) => `M${f(x - r)} ${f(y - r)}L${f(x + r)} ${f(y + r)}M${f(x + r)} ${f(y - r)}L${f(x - r)} ${f(y + r)}`;
const along = ({ from, to }, k) => [0, 1].map((i) => from[i] + k * (to[i] - from[i]));
const silent = (e) => !(e.messages > 0);
const plural = (n) => (n === 1 ? 'message' : 'messages');

/// Messages to 0..1; a log scale where the counts lie far apart.
function scale(net) {
  const counts = net.edges.map((e) => e.messages).filter((v) => v > 0);
  let [low, high] = [Infinity, 0];
  for (const v of counts) { low = Math.min(low, v); high = Math.max(high, v); }
  const log = high / low > 50;
  const share = (v) => (!(v > 0) ? 0 : log ? Math.log(v / low) / Math.log(high / low) : v / high);
  const nice = (v) => { const p = 10 ** Math.floor(Math.log10(v)); return [1, 2, 5, 10].map((m) => m * p).filter((x) => x <= v * 1.001).pop(); };
  const wanted = !counts.length ? [] : low === high ? [low] : log ? [low, nice(Math.sqrt(low * high)), high] : [low, nice((low + high) / 2), high];
  return { share, log, samples: [...new Set(wanted)].sort((a, b) => a - b), same: low === high && counts.length === net.edges.length };
}

export const linkName = (e) => (e.a ? `${e.a} – ${e.b}` : `server – ${e.b}`);
export const linkSays = (e) => [e.messages === null ? '' : `${number(e.messages, 4)} ${plural(e.messages)}`, e.cut ? 'link cut' : ''].filter(Boolean).join(', ');
export const nodeName = (net, i) => (i === 0 ? 'Server' : `Agent ${i}${net.sinks.has(i) ? ', sink' : ''}${net.lost.has(i) ? ', lost' : ''}`);

/// How far nodes keep from each other: a low quantile of the distances to the nearest one.
function spacing(at) {
  const there = at.filter(Boolean);
  const nearest = there.map(([x, y], i) => {
    let best = Infinity;
    there.forEach((p, j) => { if (j !== i) best = Math.min(best, (p[0] - x) ** 2 + (p[1] - y) ** 2); });
    return Math.sqrt(best);
  }).sort((a, b) => a - b);
  return nearest[Math.floor(nearest.length / 10)];
}

/// How links are drawn: wider and stronger for more messages, sheer where there are many.
function pen(net, theme) {
  const many = net.edges.length;
  const dense = many > 400;
  const widest = many <= 80 ? 6 : dense ? 2 : 3.5;
  const thin = dense ? 0.5 : 0.9;
  return {
    stroke: (share, quiet) => ({ stroke: quiet ? theme.muted : colour({ hue: 0, fade: 1 - share })(theme), width: thin + (widest - thin) * share, dash: quiet ? [1, 4] : [] }),
    alpha: (share) => (dense ? Math.max(0.1, Math.min(1, 700 / many) * (0.25 + 0.75 * share ** 2)) : 1),
    cut: { stroke: theme.ink, width: 1.2, dash: [5, 4] },
  };
}

/// The whole links that are drawn, in their order; which ones of too many, a hash of the ends decides.
function chosen(links) {
  const whole = links.filter((l) => !l.e.cut);
  const hash = ({ e }) => Math.imul(Math.imul(e.a, 0x9e3779b1) ^ (e.b + 0x7f4a7c15), 0x85ebca6b) >>> 0;
  return whole.length <= most ? whole : whole.filter((l) => hash(l) < (most / whole.length) * 2 ** 32);
}

function linkShapes(links, { stroke, alpha, cut }, theme) {
  const out = [];
  const title = ({ e }) => `${linkName(e)}: ${linkSays(e)}`;
  for (const l of chosen(links)) out.push({ d: line(l), ...stroke(l.share, silent(l.e)), alpha: alpha(l.share), title: title(l), kind: 'link' });
  for (const l of links.filter((one) => one.e.cut)) {
    out.push({ d: line(l), ...cut, title: title(l), kind: 'link' }, { d: cross(...along(l, 0.5), 5), stroke: theme.ink, width: 1.8 });
  }
  return out;
}

/// The counts beside their links, where no node, link or other count is.
function countShapes(links, spots, { stroke }, theme) {
  const square = ([x, y], r) => [x - r, y - r, x + r, y + r];
  const taken = [...spots.map((s) => square([s.x, s.y], s.r + 1)), ...links.filter((l) => l.e.cut).map((l) => square(along(l, 0.5), 7)),
    ...links.flatMap((l) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((k) => square(along(l, k / 10), 1.5)))];
  const shared = (a, b, i) => Math.max(0, Math.min(a[i + 2], b[i + 2]) - Math.max(a[i], b[i]));
  const over = ({ area }) => taken.reduce((sum, b) => sum + shared(area, b, 0) * shared(area, b, 1), 0);
  return links.filter((l) => l.e.messages !== null).reverse().map((l) => {
    const text = number(l.e.messages, 4);
    const half = text.length * 3.3 + 1;
    const [dx, dy] = [l.to[0] - l.from[0], l.to[1] - l.from[1]];
    const length = Math.hypot(dx, dy) || 1;
    const off = (Math.abs(dy) * half + Math.abs(dx) * 6) / length + stroke(l.share).width / 2 + 1;
    const best = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74].flatMap((k) => [off, -off].map((o) => {
      const [x, y] = along(l, k);
      const [cx, cy] = [x + (o * dy) / length, y - (o * dx) / length];
      return { x: cx, y: cy + 4, area: [cx - half, cy - 6, cx + half, cy + 6] };
    })).reduce((one, other) => (over(other) < over(one) - 0.5 ? other : one));
    taken.push(best.area);
    return { text, x: best.x, y: best.y, anchor: 'middle', fill: theme.ink, size: 11, halo: true, kind: 'count' };
  });
}

/// An agent is a circle, a sink a diamond, the server a box; what was lost is dashed and crossed.
function nodeShapes(net, { i, x, y, r }, theme, named = true) {
  const [sink, gone] = [net.sinks.has(i), net.lost.has(i)];
  const title = nodeName(net, i);
  if (i === 0) {
    return [{ d: `M${f(x - 25)} ${f(y - 10)}h50v20h-50Z`, fill: theme.ink, stroke: theme.paper, width: 1.5, title, kind: 'server' },
      { text: 'server', x, y: y + 4, anchor: 'middle', fill: theme.paper, bold: true }, ...(gone ? [{ d: cross(x, y, 14), stroke: theme.hues[1], width: 2 }] : [])];
  }
  // All agents of a network have their numbers, or none.
  const [small, labelled] = [r < 4, named && net.nodes < 1000 && r >= (net.nodes < 100 ? 6.2 : 6.8)];
  const fill = gone ? theme.paper : sink ? theme.hues[1] : small ? theme.ink : theme.node;
  const out = [{ d: marker(sink ? 'diamond' : 'circle', x, y, sink ? Math.max(r, 4) * 1.05 : r), fill, stroke: gone ? theme.ink : sink || small ? theme.paper : theme.muted,
    width: small ? 0.6 : 1.2, dash: gone ? [2.5, 2] : [], title, kind: gone ? 'lost' : sink ? 'sink' : 'agent' }];
  const size = Math.min(11, r * (i > 99 ? 1 : 1.15));
  if (labelled) out.push({ text: String(i), x, y: y + 0.36 * size, anchor: 'middle', fill: sink && !gone ? theme.paper : theme.ink, size, bold: sink && !gone });
  // Behind a label, the cross' ends show.
  if (gone) out[labelled ? 'unshift' : 'push']({ d: cross(x, y, labelled ? r * 1.15 : Math.max(3.5, r * 0.7)), stroke: theme.ink, width: labelled ? 1.6 : 1.2 });
  return out;
}

/// Explains the marks and the scale of the links. Returns shapes from `top` on, and where they end.
function key(net, links, spots, of, { stroke, cut }, theme, width, top) {
  const out = [];
  let [x, y] = [12, top + 20];
  const entry = (text, room, marks) => {
    const length = room + text.length * 6.4 + 20;
    if (x > 12 && x + length > width - 4) { x = 12; y += 20; }
    out.push(...marks(x, y - 4), { text, x: x + room, y, anchor: 'start', fill: theme.ink });
    x += length;
  };
  const sample = (how) => (mx, my) => [{ d: `M${f(mx)} ${f(my)}h24`, ...how }];
  const agents = spots.filter((s) => s.i);
  const { sinks, lost } = net;
  for (const [name, one] of [['agent', agents.find(({ i }) => !sinks.has(i) && !lost.has(i))], ['sink', agents.find(({ i }) => sinks.has(i) && !lost.has(i))], ['lost agent', agents.find(({ i }) => lost.has(i))]]) {
    if (one) entry(name, 20, (mx, my) => nodeShapes(net, { i: one.i, x: mx + 7, y: my, r: one.r < 4 ? 3 : 6 }, theme, false).map(({ title, kind, ...s }) => s));
  }
  if (links.some((l) => l.e.cut)) entry('cut link', 30, (mx, my) => [...sample(cut)(mx, my), { d: cross(mx + 12, my, 4), stroke: theme.ink, width: 1.6 }]);
  const quiet = links.filter((l) => !l.e.cut && silent(l.e));
  if (quiet.length) entry(quiet.some((l) => l.e.messages === null) ? 'not counted' : 'no message', 30, sample(stroke(0, true)));
  of.samples.forEach((v, k) => entry(`${number(v, 4)}${k < of.samples.length - 1 ? '' : ` ${plural(v)}${of.same ? ' on each link' : ''}${of.log ? ', log scale' : ''}`}`, 30, sample(stroke(of.share(v)))));
  const shown = chosen(links).length;
  if (links.length > most) entry(`${number(shown)} of ${number(links.length, 4)} links are drawn`, 0, () => []);
  return { shapes: out, end: Math.round(y + 12) };
}

/// {list, height, spots, links}: the shapes at a width, and where nodes and links are.
export function draw(net, width, theme) {
  const [tall, longest, edge] = [width < 500 ? 380 : 520, 105, 22];
  const plan = arrange(net, width - 2 * edge, tall - 2 * edge);
  const size = Math.min((width - 2 * edge) / (plan.width || 1e-9), (tall - 2 * edge) / (plan.height || 1e-9), longest);
  const height = Math.max(60, plan.height * size + 2 * edge);
  const at = plan.at.map(([x, y]) => [(width - plan.width * size) / 2 + x * size, edge + y * size]);
  const of = scale(net);
  const links = net.edges.map((e) => ({ e, share: of.share(e.messages), from: at[e.a], to: at[e.b] })).sort((a, b) => a.share - b.share);
  const degree = new Map();
  for (const { e } of links) for (const i of [e.a, e.b]) degree.set(i, (degree.get(i) || 0) + 1);
  const radius = Math.max(2.2, Math.min(11, (net.nodes > 150 ? 0.28 : 0.36) * spacing(at)));
  const hub = (i) => links.length < 2 * net.nodes && degree.get(i) > 40;
  const spots = [];
  at.forEach(([x, y], i) => spots.push({ i, x, y, r: i === 0 ? 14 : hub(i) ? Math.max(8, radius) : radius }));
  const how = pen(net, theme);
  const late = (s) => (s.i === 0 ? 2 : Number(net.sinks.has(s.i)));
  const below = key(net, links, spots, of, how, theme, width, height);
  const list = [...linkShapes(links, how, theme), ...(links.length <= few ? countShapes(links, spots, how, theme) : []),
    ...[...spots].sort((a, b) => late(a) - late(b)).flatMap((s) => nodeShapes(net, s, theme)), ...below.shapes];
  return { list, height: below.end, spots, links };
}
