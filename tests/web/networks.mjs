// Networks for the tests in the form of summary.json, with counts from a formula.
const count = (a, b) => 4 + ((7 * a + 13 * b) % 23);
const random = (seed) => () => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed / 2 ** 32; };

export const complete = (n, from = 1) => Array.from({ length: n }, (_, i) => Array.from({ length: i }, (_, j) => [from + j, from + i, count(i, j)])).flat();
export const star = (n, from = 1) => Array.from({ length: n - 1 }, (_, i) => [from, from + i + 1, count(i, 3)]);
export const ring = (n, from = 1) => Array.from({ length: n }, (_, i) => [from + i, from + ((i + 1) % n), count(i, 1)]);
export const line = (n, from = 1) => ring(n, from).slice(0, -1);
export const grid = (across, rows, from = 1) => Array.from({ length: across * rows }, (_, i) => [
  ...(i % across < across - 1 ? [[from + i, from + i + 1, count(i, 1)]] : []), ...(i + across < across * rows ? [[from + i, from + i + across, count(i, 2)]] : [])]).flat();

/// A ring in a shuffled order, so that it is connected, and random links.
export function tangled(n, links, seed = 5, from = 1) {
  const draw = random(seed);
  const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => ((a * 7919) % n) - ((b * 7919) % n) || a - b);
  const found = new Map();
  const add = (a, b) => { if (a !== b) found.set(`${Math.min(a, b)} ${Math.max(a, b)}`, [from + Math.min(a, b), from + Math.max(a, b), Math.floor(1 + 900 * draw() ** 3)]); };
  for (let i = 1; i < n; i++) add(order[i], order[Math.floor(draw() * i)]);
  while (found.size < links) add(Math.floor(draw() * n), Math.floor(draw() * n));
  return [...found.values()];
}

export const alone = (nodes, edges, more = {}) => ({
  nodes, server: false, edges, uplinks: [], sinks: [], components: [Array.from({ length: nodes }, (_, i) => i + 1)], lost: { agents: [], links: [] }, ...more });

export const workers = (nodes, more = {}) => alone(nodes, [], {
  server: true, uplinks: Array.from({ length: nodes }, (_, i) => [i + 1, count(i, 5)]), components: Array.from({ length: nodes }, (_, i) => [i + 1]), ...more });

/// Five components of different shapes, each with a sink; one agent and one link are lost.
export const hybrid = () => ({
  nodes: 40, server: true,
  edges: [...complete(6), ...star(8, 7), ...ring(9, 15), ...grid(4, 2, 24), ...tangled(9, 12, 3, 32)],
  uplinks: [[2, 12], [7, 12], [17, 12], [25, 12], [33, 11], [34, 1]], sinks: [2, 7, 17, 25, 33],
  components: [[1, 6], [7, 14], [15, 23], [24, 31], [32, 40]].map(([a, b]) => Array.from({ length: b - a + 1 }, (_, i) => a + i)),
  lost: { agents: [20], links: [[24, 28]] },
});

const metric = (mean, se = 0) => ({ mean, sd: se * 2, se, n: 4, values: [mean, mean, mean, mean] });

/// The fixture with one point per network; null is a point without one. `metrics` gives additional metrics of a point.
export function networked(doc, networks, metrics = () => ({})) {
  const base = doc.summary.points[0];
  doc.summary.name = 'who talks to whom';
  doc.summary.points = networks.map(([label, network], i) => ({
    ...base, point: { 'federation.topology': label }, label, algorithm: 'hdp-mab', replicates: 4,
    metrics: { regret: base.metrics.regret, rounds: metric(5), ...(network && { links_peer: metric((network.edges || []).length), messages: metric((network.edges || []).reduce((sum, e) => sum + (e[2] || 0), 0), 3.2),
      slots: metric(15), communication_reals: metric(18240, 55), bytes_on_wire: metric(263000, 812), communication_cost: metric(1240.5, 1.2), paper_cost: metric(980), waiting_pulls: metric(600) }),
    ...metrics(label, i) },
    ...(network && { network }),
  }));
  doc.swept = ['federation.topology'];
  delete doc.phases;
  return doc;
}
export { metric };
