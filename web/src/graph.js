// Where the nodes of a network go. Positions are in units of about one link; the same network always gives the same ones.

/// A small generator with a fixed seed, in [0, 1).
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const around = (n, radius, turn = 0) => Array.from({ length: n }, (_, i) => {
  const angle = (2 * Math.PI * i) / n + turn - Math.PI / 2;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
});

const turned = (at, by) => at.map(([x, y]) => [x * Math.cos(by) - y * Math.sin(by), x * Math.sin(by) + y * Math.cos(by)]);

/// The hub in the middle; many leaves stand on three rings, so that they keep apart.
function star(n, hub) {
  const rings = n > 90 ? 3 : 1;
  const radius = Math.max(1.3, ((n - 1) * 1.1) / (2 * Math.PI * Math.min(2, rings)));
  const leaves = around(n - 1, radius);
  return Array.from({ length: n }, (_, i) => {
    if (i === hub) return [0, 0];
    const k = i < hub ? i : i - 1;
    return leaves[k].map((v) => v * (1 - 0.14 * (k % rings)));
  });
}

/// Nodes in reading order, every second row backwards: a long line stays one line.
function snake(order) {
  const n = order.length;
  const across = n <= 14 ? n : Math.ceil(Math.sqrt(n * 2));
  const out = [];
  order.forEach((node, k) => {
    const row = Math.floor(k / across);
    out[node] = [row % 2 ? across - 1 - (k % across) : k % across, row];
  });
  return out;
}

function walk(next, start) {
  const order = [start];
  const seen = new Set(order);
  for (let at = start; ;) {
    const step = next[at].find((j) => !seen.has(j));
    if (step === undefined) return order;
    seen.add(step);
    order.push(step);
    at = step;
  }
}

/// How wide the grid is whose rows are the nodes in order; 0 where it is none. A few links may be missing.
function gridWidth(n, links) {
  const far = links.map(([a, b]) => Math.abs(a - b)).filter((d) => d > 1);
  const across = far[0];
  if (!across || far.some((d) => d !== across) || across >= n) return 0;
  if (links.some(([a, b]) => Math.abs(a - b) === 1 && Math.max(a, b) % across === 0)) return 0;
  const full = (n - across) + (n - Math.ceil(n / across));
  return links.length >= 0.85 * full ? across : 0;
}

/// Steps between all pairs of nodes; pairs that no path joins are one step further apart than any other.
function distances(n, next) {
  const far = new Uint16Array(n * n).fill(65535);
  const queue = new Uint16Array(n);
  let most = 1;
  for (let s = 0; s < n; s++) {
    const row = s * n;
    far[row + s] = 0;
    queue[0] = s;
    for (let head = 0, tail = 1; head < tail; head++) {
      const i = queue[head];
      for (const j of next[i]) {
        if (far[row + j] !== 65535) continue;
        far[row + j] = far[row + i] + 1;
        most = Math.max(most, far[row + j]);
        queue[tail++] = j;
      }
    }
  }
  return far.map((d) => (d === 65535 ? most + 1 : d));
}

/// Stress by stochastic gradient descent (Zheng, Pawar, Goodman 2018): distances on paper near those in the graph.
function stress(n, next) {
  const random = generator(7);
  const far = distances(n, next);
  const start = around(n, Math.sqrt(n) / 2);
  const xs = Float64Array.from(start, (p) => p[0] + random() - 0.5);
  const ys = Float64Array.from(start, (p) => p[1] + random() - 0.5);
  const pairs = new Uint32Array((n * (n - 1)) / 2);
  let [k, longest] = [0, 1];
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) { pairs[k++] = i * n + j; longest = Math.max(longest, far[i * n + j]); }
  const rounds = 24;
  for (let r = 0; r < rounds; r++) {
    const rate = longest ** 2 * (0.1 / longest ** 2) ** (r / (rounds - 1));
    for (k = pairs.length - 1; k > 0; k--) {
      const other = Math.floor(random() * (k + 1));
      const kept = pairs[k];
      pairs[k] = pairs[other];
      pairs[other] = kept;
    }
    for (k = 0; k < pairs.length; k++) {
      const [i, j, want] = [Math.floor(pairs[k] / n), pairs[k] % n, far[pairs[k]]];
      const [dx, dy] = [xs[i] - xs[j], ys[i] - ys[j]];
      const length = Math.sqrt(dx * dx + dy * dy) || 1e-6;
      const move = (Math.min(1, rate / (want * want)) * (length - want)) / (2 * length);
      xs[i] -= move * dx; ys[i] -= move * dy;
      xs[j] += move * dx; ys[j] += move * dy;
    }
  }
  // Nodes that came to lie on each other move apart.
  const apart = 0.6 * Math.min(1, (Math.max(...xs) - Math.min(...xs)) / Math.sqrt(n));
  for (let r = 0; r < 12; r++) {
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < i; j++) {
        const [dx, dy] = [xs[i] - xs[j] || 1e-3, ys[i] - ys[j]];
        const length = Math.sqrt(dx * dx + dy * dy);
        if (length >= apart) continue;
        const move = (apart - length) / (2 * length);
        xs[i] += move * dx; ys[i] += move * dy;
        xs[j] -= move * dx; ys[j] -= move * dy;
      }
    }
  }
  const at = Array.from(xs, (x, i) => [x, ys[i]]);
  // The long side lies down.
  const mean = [0, 1].map((k) => at.reduce((sum, p) => sum + p[k], 0) / n);
  let [xx, xy, yy] = [0, 0, 0];
  for (const p of at) { const [x, y] = [p[0] - mean[0], p[1] - mean[1]]; xx += x * x; xy += x * y; yy += y * y; }
  return turned(at, -Math.atan2(2 * xy, xx - yy) / 2);
}

/// One component: `links` join the indices 0..n-1; `top` is the node that should be near the top, or -1.
export function shape(n, links, top = -1) {
  if (n === 1) return { kind: 'dot', at: [[0, 0]] };
  const next = Array.from({ length: n }, () => []);
  for (const [a, b] of links) { next[a].push(b); next[b].push(a); }
  const most = Math.max(...next.map((list) => list.length));
  const hub = next.findIndex((list) => list.length === n - 1);
  const circle = (order, kind) => {
    const first = Math.max(0, order.indexOf(top));
    const ring = around(n, n < 4 ? 0.7 : Math.max(1.1, (n * 1.1) / (2 * Math.PI)));
    const at = [];
    order.forEach((node, k) => { at[node] = ring[(k - first + n) % n]; });
    return { kind, at };
  };
  const all = next.map((_, i) => i);
  if (n > 3 && links.length === n - 1 && hub >= 0) return { kind: 'star', at: star(n, hub) };
  const end = next.findIndex((list) => list.length === 1);
  const order = most <= 2 ? walk(next, end >= 0 ? end : Math.max(0, top)) : [];
  if (order.length === n) return end >= 0 ? { kind: 'line', at: snake(order) } : circle(order, 'ring');
  const across = gridWidth(n, links);
  if (across) return { kind: 'grid', at: all.map((i) => [i % across, Math.floor(i / across)]) };
  const near = links.filter(([a, b]) => { const d = Math.abs(a - b); return Math.min(d, n - d) <= Math.max(2, n / 12); }).length;
  const dense = links.length >= 0.25 * n * (n - 1);
  if (dense || n <= 6 || (n > 12 && links.length >= n && near >= 0.6 * links.length)) return circle(all, 'circle');
  const at = stress(n, next);
  const middle = at.reduce((sum, p) => sum + p[1], 0) / n;
  return { kind: 'force', at: top >= 0 && at[top][1] > middle ? at.map(([x, y]) => [x, -y]) : at };
}

/// Components by their smallest node: what links join, and what the data calls a component.
function parts(nodes, joined) {
  const root = Array.from({ length: nodes + 1 }, (_, i) => i);
  const find = (i) => { while (root[i] !== i) { root[i] = root[root[i]]; i = root[i]; } return i; };
  for (const [a, b] of joined) { const [x, y] = [find(a), find(b)]; root[Math.max(x, y)] = Math.min(x, y); }
  const found = new Map();
  for (let i = 1; i <= nodes; i++) { const r = find(i); if (!found.has(r)) found.set(r, []); found.get(r).push(i); }
  return [...found.values()];
}

function boxed(at) {
  const [xs, ys] = [at.map((p) => p[0]), at.map((p) => p[1])];
  const [x0, y0] = [Math.min(...xs), Math.min(...ys)];
  return { at: at.map(([x, y]) => [x - x0, y - y0]), width: Math.max(...xs) - x0, height: Math.max(...ys) - y0 };
}

const gap = 1.7;

/// Boxes in rows, centred; as many rows as fill `wide` by `tall` best, but one row if that is near and wanted. Each box gets x and y.
function shelves(boxes, wide, tall, oneRow) {
  let best = null;
  const total = boxes.reduce((sum, b) => sum + b.width + gap, 0);
  for (let rows = 1; rows <= Math.min(boxes.length, 24); rows++) {
    const most = Math.max(total / rows + gap, ...boxes.map((b) => b.width));
    const lines = [];
    for (const b of boxes) {
      const line = lines[lines.length - 1];
      if (line && line.width + gap + b.width <= most) { line.list.push(b); line.width += gap + b.width; } else lines.push({ list: [b], width: b.width });
    }
    const width = Math.max(...lines.map((l) => l.width));
    const heights = lines.map((l) => Math.max(...l.list.map((b) => b.height)));
    const height = heights.reduce((sum, v) => sum + v + gap, -gap);
    const fit = Math.min(wide / (width + 1), tall / (height + 1));
    if (!best || fit > best.fit * (oneRow ? 2 : 1.001)) best = { fit, lines, heights, width, height };
  }
  let y = 0;
  best.lines.forEach((line, k) => {
    let x = (best.width - line.width) / 2;
    for (const b of line.list) { b.x = x; b.y = y + (best.heights[k] - b.height) / 2; x += b.width + gap; }
    y += best.heights[k] + gap;
  });
  return best;
}

/// A position for each node, [0] for the server, in a box of `width` by `height`; `wide` and `tall` say what room there is.
/// Takes a network as `tidy` makes it.
export function arrange(net, wide, tall) {
  const { nodes, links, server } = net;
  if (server && !links.length) {
    const { at, width, height } = boxed(star(nodes + 1, 0));
    return { at, width, height, parts: [], kinds: ['star'] };
  }
  if (!net.shaped) {
    const home = [];
    const groups = parts(nodes, [...links, ...net.together]);
    groups.forEach((list, k) => list.forEach((node, i) => { home[node] = [k, i]; }));
    const inside = groups.map(() => []);
    for (const [a, b] of links) inside[home[a][0]].push([home[a][1], home[b][1]]);
    net.shaped = groups.map((list, k) => {
      const { kind, at } = shape(list.length, inside[k], list.findIndex((node) => net.sinks.has(node)));
      return { list, kind, ...boxed(at) };
    });
  }
  const boxes = net.shaped.map((b) => ({ ...b }));
  const place = (width, height, top) => {
    const at = [];
    for (const b of boxes) b.list.forEach((node, i) => { at[node] = [b.x + b.at[i][0], b.y + b.at[i][1] + top]; });
    if (server) at[0] = [width / 2, top ? 0 : height / 2];
    return { at, width, height: height + top, parts: boxes.map((b) => b.list), kinds: boxes.map((b) => b.kind) };
  };
  if (server && boxes.length > 10) {
    // Many components stand around the server, their tops towards it.
    const size = (b) => Math.hypot(b.width, b.height) + 1;
    const total = boxes.reduce((sum, b) => sum + size(b), 0);
    const radius = Math.max(2, total / (2 * Math.PI), Math.max(...boxes.map(size)) * 0.8);
    let before = 0;
    for (const b of boxes) {
      const angle = (2 * Math.PI * (before + size(b) / 2)) / total;
      before += size(b);
      Object.assign(b, boxed(turned(b.at, angle + Math.PI)));
      b.x = radius * Math.sin(angle) - b.width / 2;
      b.y = -radius * Math.cos(angle) - b.height / 2;
    }
    const [x0, y0] = [Math.min(...boxes.map((b) => b.x)), Math.min(...boxes.map((b) => b.y))];
    for (const b of boxes) { b.x -= x0; b.y -= y0; }
    const made = place(Math.max(...boxes.map((b) => b.x + b.width)), Math.max(...boxes.map((b) => b.y + b.height)), 0);
    made.at[0] = [-x0, -y0];
    return made;
  }
  const best = shelves(boxes, wide, tall, server && wide > 500);
  return place(best.width, best.height, server ? 1.2 + best.height * 0.12 + (boxes.length > 1 ? best.width * 0.06 : 0) : 0);
}

const pair = (e, nodes) => Array.isArray(e) && [e[0], e[1]].every((v) => Number.isInteger(v) && v >= 1 && v <= nodes) && e[0] !== e[1];

/// A network of the summary without what cannot be drawn; null where nothing is left.
export function tidy(raw) {
  if (!raw || !Number.isInteger(raw.nodes) || raw.nodes < 1 || raw.nodes > 5000) return null;
  const { nodes } = raw;
  const lost = raw.lost || {};
  const known = (list) => (Array.isArray(list) ? list : []).filter((v) => Number.isInteger(v) && v >= 0 && v <= nodes);
  const counted = (v) => (typeof v === 'number' && Number.isFinite(v) && v >= 0 ? v : null);
  const edges = new Map();
  const add = (a, b, messages, cut) => {
    const key = Math.min(a, b) * (nodes + 1) + Math.max(a, b);
    const e = edges.get(key);
    if (!e) edges.set(key, { a: Math.min(a, b), b: Math.max(a, b), messages, cut });
    else Object.assign(e, { cut: e.cut || cut, messages: messages === null ? e.messages : messages + (e.messages || 0) });
  };
  for (const e of raw.edges || []) if (pair(e, nodes)) add(e[0], e[1], counted(e[2]), false);
  for (const e of raw.uplinks || []) if (Array.isArray(e) && known([e[0]])[0]) add(0, e[0], counted(e[1]), false);
  for (const e of lost.links || []) {
    if (pair(e, nodes)) add(e[0], e[1], null, true);
    else if (Array.isArray(e) && e.includes(0) && known(e).length === 2 && e[0] !== e[1]) add(0, e[0] + e[1], null, true);
  }
  const list = [...edges.values()];
  const together = (Array.isArray(raw.components) ? raw.components : []).flatMap((c) => known(c).slice(1).map((v) => [known(c)[0], v])).filter((e) => pair(e, nodes));
  const links = list.filter((e) => e.a > 0).map((e) => [e.a, e.b]);
  return { nodes, server: Boolean(raw.server) || list.some((e) => e.a === 0), edges: list, links,
    sinks: new Set(known(raw.sinks)), lost: new Set(known(lost.agents)), together };
}
