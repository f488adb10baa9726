import { value } from './format.js';
import { colour, dashes, markers } from './palette.js';

const epsilonKey = 'privacy.epsilon';
const names = { 'privacy.epsilon': 'ε', 'privacy.delta': 'δ', 'privacy.model': 'model', 'algorithm.name': 'algorithm' };
export const finite = (x) => typeof x === 'number' && Number.isFinite(x);

/// Reads the page's JSON into points that carry a group, a colour and a short name each.
export function read(raw) {
  const summary = raw.summary || {};
  const points = (summary.points || []).map((p, id) => ({
    id, point: p.point || {}, algorithm: p.algorithm || '', label: p.label || '', replicates: p.replicates,
    metrics: p.metrics || {}, curve: p.curve && p.curve.t && p.curve.t.length && p.curve.regret ? p.curve : null, privacy: p.privacy || null, network: p.network || null,
  }));
  const data = { ...raw, summary, points, measure: 'Regret' };
  const known = (p) => (p.curve.regret.mean || []).some(finite);
  const curved = points.filter((p) => p.curve);
  if (curved.length && !curved.some(known) && curved.every((p) => p.curve.value)) {  // a log, which knows no regret
    data.measure = 'Reward a round';
    for (const p of curved) p.curve = { ...p.curve, regret: p.curve.value };
  }
  data.keys = sweptKeys(raw, points);
  data.keyName = keyNamer(data.keys);
  data.epsilon = distinct(points.map((p) => p.point[epsilonKey]).filter(finite)).length > 1 ? epsilonKey : null;
  data.ramp = rampKey(data);
  data.worlds = worlds(data);
  group(data);
  style(data);
  return data;
}

const distinct = (list) => [...new Set(list)];
const text = (x) => (x === undefined || x === null ? '' : JSON.stringify(x));

function sweptKeys(raw, points) {
  const all = distinct(points.flatMap((p) => Object.keys(p.point)));
  const varies = (key) => distinct(points.map((p) => text(p.point[key]))).length > 1;
  const told = (raw.swept || []).filter((key) => all.includes(key) && varies(key));
  return told.concat(all.filter((key) => varies(key) && !told.includes(key)));
}

function keyNamer(keys) {
  const short = (key) => names[key] || key.split('.').pop().replace(/_/g, ' ');
  return (key) => (keys.filter((other) => short(other) === short(key)).length > 1 ? key : short(key));
}

/// Points by the environment that they are in, where these differ in kind and there are too many points to look
/// at together; else nothing.
function worlds({ keys, keyName, points }, most = 12) {
  const own = keys.filter((key) => key.startsWith('environment.'));
  if (points.length <= most || !own.some((key) => points.some((p) => typeof p.point[key] === 'string'))) return [];
  const found = new Map();
  for (const p of points) {
    const said = (key) => { const x = p.point[key]; return x === undefined || x === null ? '' : typeof x === 'string' ? x : `${keyName(key)} ${value(x)}`; };
    const name = own.map(said).filter(Boolean).join(', ');
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(p);
  }
  const list = [...found].map(([name, members]) => ({ name, points: members }));
  return list.length > 1 && list.length <= 12 && list.every((w) => w.points.length > 1) ? list : [];
}

/// The key whose values become shades of a group's colour.
function rampKey({ keys, points, epsilon }) {
  const numeric = keys.filter((key) => points.every((p) => p.point[key] === undefined || p.point[key] === null || finite(p.point[key])));
  const size = (key) => distinct(points.map((p) => p.point[key])).length;
  const alone = (key) => distinct(points.map((p) => p.point[key])).length === points.length && distinct(points.map((p) => p.algorithm)).length === 1
    && points.every((p) => finite(p.point[key]));
  if (epsilon && (keys.length > 1 || !alone(epsilon))) return epsilon;
  const longest = [...numeric].sort((a, b) => size(b) - size(a))[0] || null;
  if (keys.length > 1) return longest;
  return longest && size(longest) > 8 ? longest : null;
}

/// Returns the name of a key's value in a legend: words stand alone, numbers keep their key.
export function saying(data, key, x) {
  if (x === undefined || x === null) return '';
  return typeof x === 'string' ? x : `${data.keyName(key)} ${value(x)}`;
}

/// A label without what it says of the shaded key ("exact, privacy.epsilon = 1" is "exact").
function bare(label, key, x) {
  if (!key || !finite(x)) return label;
  const plain = (s) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const said = [key, key.split('.').pop(), names[key]].filter(Boolean).map(plain).join('|');
  return label.replace(new RegExp(`[\\s,;/]*(${said})\\s*[=:]?\\s*${plain(String(x))}(\\.0+)?(?![\\d.])`, 'g'), '').replace(/^[\s,;/]+/, '');
}

function group(data) {
  const { points, keys, ramp } = data;
  const others = keys.filter((key) => key !== ramp);
  const given = (p) => others.map((key) => saying(data, key, p.point[key])).filter(Boolean).join(', ');
  const algorithms = distinct(points.map((p) => p.algorithm)).length > 1 && !keys.includes('algorithm.name');
  const ways = [
    given,
    (p) => [algorithms ? p.algorithm : '', given(p)].filter(Boolean).join(', '),
    (p) => bare(p.label, ramp, p.point[ramp]) || given(p),
    (p) => `${p.label || given(p)} #${p.id + 1}`,
  ];
  if (data.worlds.length) ways.unshift(ways[2]);  // labels name worlds as their author does
  const clear = (way) => distinct(points.map((p) => `${way(p)}|${ramp ? text(p.point[ramp]) : ''}`)).length === points.length
    && (points.length === 1 || points.every((p) => way(p) || (ramp && finite(p.point[ramp]))));
  const way = ways.find(clear) || ways[3];
  const found = new Map();
  for (const p of points) {
    const name = way(p) || (others.length ? 'other' : p.algorithm || p.label || 'run');
    if (!found.has(name)) found.set(name, { name, points: [] });
    const g = found.get(name);
    p.group = g;
    p.step = ramp && finite(p.point[ramp]) ? p.point[ramp] : null;
    p.short = p.step === null ? name : `${data.keyName(ramp)} ${value(p.step)}`;
    g.points.push(p);
  }
  data.groups = [...found.values()];
  for (const p of points) p.name = p.step === null ? p.group.name : data.groups.length > 1 ? `${p.group.name}, ${p.short}` : p.short;
  for (const g of data.groups) if (ramp) g.points.sort((a, b) => (a.step ?? 0) - (b.step ?? 0));
}

const open = (p) => p.point['privacy.model'] === 'none' || (p.privacy && !p.privacy.nominal && !(p.privacy.delivered || []).length && !p.privacy.void);

/// Two swept keys besides the shades: hue says one, dash and mark the other, where that tells all groups apart.
function hueByKey({ groups, keys, ramp }) {
  const others = keys.filter((key) => key !== ramp);
  if (others.length !== 2 || groups.length <= 8) return null;
  const values = (key) => distinct(groups.map((g) => text(g.points[0].point[key])));
  const pairs = [[others[1], others[0]], others].filter(([hue, mark]) => values(hue).length <= 8 && values(mark).length <= dashes.length);
  if (!pairs.length) return null;
  const [hue, mark] = pairs[0];
  const [hues, marks] = [values(hue), values(mark)];
  const grey = (v) => groups.filter((g) => text(g.points[0].point[hue]) === v).every((g) => g.points.every(open));
  const coloured = hues.filter((v) => !grey(v));
  if (new Set(groups.map((g) => text([g.points[0].point[hue], g.points[0].point[mark]]))).size < groups.length) return null;
  return (g) => ({ hue: coloured.indexOf(text(g.points[0].point[hue])), mark: marks.indexOf(text(g.points[0].point[mark])) });
}

function style(data) {
  const { groups, points, ramp } = data;
  const byKey = hueByKey(data);
  const neutral = groups.filter((g) => g.points.every(open) && groups.length > 1);
  const some = neutral.length < groups.length ? neutral : [];
  let next = 0;
  for (const g of groups) {
    const grey = some.indexOf(g);
    if (byKey) {
      const { hue, mark } = byKey(g);
      Object.assign(g, { hue, dash: dashes[mark], marker: markers[mark] });
    } else {
      g.hue = grey >= 0 && grey < dashes.length ? -1 : next++;
      g.dash = dashes[(g.hue < 0 ? grey : Math.floor(g.hue / 8)) % dashes.length];
      g.marker = markers[(g.hue < 0 ? grey : g.hue + Math.floor(g.hue / 8) + some.length) % markers.length];
    }
    g.colour = colour({ hue: g.hue });
    g.points.forEach((p, j) => {
      const share = g.points.length > 1 ? j / (g.points.length - 1) : 0;
      p.colour = ramp && groups.length === 1 && points.length > 1 ? colour({ ramp: share }) : colour({ hue: g.hue, fade: share });
    });
  }
}

/// The points drawn at first: at most `most`, spread evenly over the groups and, within one, over its steps.
export function firstShown(data, most = 12) {
  const all = data.points.filter((p) => p.curve);
  if (all.length <= most) return new Set(all.map((p) => p.id));
  const groups = data.groups.map((g) => g.points.filter((p) => p.curve)).filter((g) => g.length);
  const spread = (list, n) => (n >= list.length ? list : n === 1 ? [list[Math.floor(list.length / 2)]]
    : Array.from({ length: n }, (_, i) => list[Math.round((i * (list.length - 1)) / (n - 1))]));
  if (groups.length > 16) return new Set(spread(groups, most).map((g) => g[0].id));
  let each = 1;
  while (groups.reduce((sum, g) => sum + Math.min(each + 1, g.length), 0) <= most) each++;
  return new Set(groups.flatMap((g) => spread(g, each)).map((p) => p.id));
}
