const minus = (text) => text.replace('-', '\u2212');
const units = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
const finite = (x) => typeof x === 'number' && Number.isFinite(x);
const scientific = (x, digits) => x.toExponential(digits).replace(/\.?0+e/, 'e').replace('e+', 'e');

/// 12.3k, 0.0123, 1e-6; a dash for what is missing or not finite.
export function number(x, digits = 3) {
  if (!finite(x)) return '\u2013';
  const size = Math.abs(x);
  if (size === 0) return '0';
  if (size >= 1e15 || size < 1e-3) return minus(scientific(x, digits - 1));
  for (const [unit, name] of units) {
    if (size >= unit * (1 - 0.5 * 10 ** -digits)) return minus(String(Number((x / unit).toPrecision(digits))) + name);
  }
  return minus(String(Number(x.toPrecision(digits))));
}

/// e^x as a factor: 20.1, 2980, 7.2·10¹⁰.
export function power(x) {
  if (x < Math.log(1e4)) return String(Number(Math.exp(x).toPrecision(3)));
  const [digits, exponent] = (10 ** ((x / Math.LN10) % 1)).toExponential(1).split('e');
  const raised = String(Math.floor(x / Math.LN10) + Number(exponent)).replace(/\d/g, (d) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[d]);
  return `${Number(digits)}·10${raised}`;
}

/// "12.34k ± 0.21k": both in one unit, rounded at the second digit of the error; `alone` leaves out the error.
export function withError(x, error, alone = false) {
  if (!finite(x)) return '\u2013';
  if (!finite(error) || error <= Math.abs(x) * 1e-9) return number(x, 4);
  const size = Math.max(Math.abs(x), error);
  if (size >= 1e15 || size < 1e-3) return alone ? number(x) : `${number(x)} ± ${number(error, 2)}`;
  const [unit, name] = units.find(([value]) => size >= value) || [1, ''];
  const decimals = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(error / unit))));
  const left = `${minus((x / unit).toFixed(decimals))}${name}`;
  return alone ? left : `${left} ± ${(error / unit).toFixed(decimals)}${name}`;
}

export function duration(seconds) {
  if (!finite(seconds)) return '\u2013';
  if (seconds < 1) return `${number(seconds * 1000, 2)} ms`;
  if (seconds < 120) return `${number(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

export const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

export function value(x) {
  if (typeof x === 'number') return number(x, 4);
  if (x === null || x === undefined) return '\u2013';
  return typeof x === 'object' ? JSON.stringify(x) : String(x);
}

export const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'bandana';

const metricNames = {
  regret: 'Regret', regret_per_agent: 'Regret per agent', communication_reals: 'Communication (reals)',
  communication_bits: 'Communication (bits)', communication_cost: 'Communication (cost)', bytes_on_wire: 'Bytes on the wire',
  links_server: 'Links to the server', links_peer: 'Links between agents', slots: 'Message slots', messages: 'Messages',
  paper_cost: 'Cost by the paper’s formula', waiting_pulls: 'Waiting pulls', waiting_regret: 'Regret of waiting pulls', lost_tallies: 'Lost tallies', disagreements: 'Disagreements',
  value: 'Reward a round', value_low: 'Reward, 95% from', value_high: 'Reward, 95% to', offered: 'Rounds on offer', matched: 'Rounds that match', unsolved: 'Estimates left out', eliminated: 'Arms left out', estimation_error: 'Distance of theta',
  clients: 'Clients', rounds: 'Rounds', syncs: 'Syncs', first_sync: 'First sync (round)', repairs: 'Repairs of V', best_action_rate: 'Best action rate',
};
export const metricName = (name) => metricNames[name] || name.replace(/_/g, ' ');
