import { finite } from '../data.js';
import { h, replace, scroller } from '../dom.js';
import { metricName, number, value, withError } from '../format.js';
import { theme, onTheme } from '../palette.js';
import { median } from '../stats.js';

const order = ['value', 'value_low', 'value_high', 'regret', 'regret_per_agent', 'best_action_rate', 'communication_reals', 'communication_bits', 'communication_cost', 'paper_cost', 'bytes_on_wire', 'messages', 'clients', 'rounds', 'syncs', 'first_sync', 'repairs'];

/// A strip with a tick for each replicate, on the scale of the column.
function strip(values, low, high, log, ink) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'strip');
  svg.setAttribute('viewBox', '0 0 90 14');
  svg.setAttribute('aria-hidden', 'true');
  const at = (v) => 2 + 86 * (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low || 1));
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', values.map((v) => `M${at(v).toFixed(1)} 2v10`).join(''));
  path.setAttribute('stroke', ink);
  svg.append(path);
  return svg;
}

export function tables(data) {
  const { points } = data;
  const present = [...new Set(points.flatMap((p) => Object.keys(p.metrics)))];
  const seen = (m) => m !== 'repairs' || points.some((p) => p.metrics[m] && p.metrics[m].mean > 0);
  const metrics = order.filter((m) => present.includes(m) && seen(m)).concat(present.filter((m) => !order.includes(m)));
  if (!metrics.length) return null;
  const columns = data.keys.length
    ? data.keys.map((key) => ({ title: data.keyName(key), get: (p) => p.point[key], show: (p) => value(p.point[key]) }))
    : [{ title: 'Point', get: (p) => p.name, show: (p) => p.name }];
  const told = points.every((p) => columns.some((c) => c.get(p) !== undefined && c.get(p) !== null));
  if (!told || (data.keys.length && new Set(points.map((p) => JSON.stringify(columns.map((c) => c.get(p))))).size < points.length)) {
    columns.unshift({ title: 'Point', get: (p) => p.name, show: (p) => p.label || p.name });
  }
  if (new Set(points.map((p) => p.algorithm)).size > 1 && !data.keys.includes('algorithm.name')) columns.unshift({ title: 'algorithm', get: (p) => p.algorithm, show: (p) => p.algorithm });
  const keys = columns.length;
  for (const m of metrics) {
    const at = (p) => p.metrics[m] || {};
    const constant = points.every((p) => !(at(p).sd > 0));
    columns.push({ metric: m, title: constant ? '' : 'mean ± se', number: true, get: (p) => at(p).mean, show: (p) => withError(at(p).mean, at(p).se) });
    if (!constant && points.some((p) => (at(p).values || []).length > 1)) {
      columns.push({ metric: m, title: 'median', number: true, get: (p) => median(at(p).values || []), show: (p) => withError(median(at(p).values || []), at(p).se, true) });
      if (m === 'regret') columns.push({ metric: m, title: 'replicates', strip: true });
    }
  }
  const replicates = (p) => ((p.metrics.regret && p.metrics.regret.values) || []).filter(finite);
  const every = points.flatMap(replicates);
  const [low, high] = [Math.min(...every), Math.max(...every)];
  const log = low > 0 && high / low > 12;

  for (const c of columns) c.right = c.number || (!c.strip && points.some((p) => typeof c.get(p) === 'number'));
  const body = h('tbody');
  const state = { column: -1, up: true };
  const rank = (x) => (typeof x === 'number' && !Number.isFinite(x) ? null : x ?? null);
  function rows() {
    const c = columns[state.column];
    const list = [...points];
    if (c) {
      list.sort((a, b) => {
        const [x, y] = [rank(c.get(a)), rank(c.get(b))];
        if (x === null || y === null) return (x === null) - (y === null) || a.id - b.id;
        const sign = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
        return (state.up ? sign : -sign) || a.id - b.id;
      });
    }
    replace(body, list.map((p) => h('tr', { 'data-point': p.id }, columns.map((col, i) => {
      if (col.strip) return h('td', { class: 'strip-cell' }, replicates(p).length ? strip(replicates(p), low, high, log, p.colour(theme())) : '');
      return h(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : null, class: col.right ? (col.title === 'median' ? 'num faint' : 'num') : '' }, col.show(p));
    }))));
  }
  const heads = columns.map((c, i) => {
    if (c.strip) return h('th', { scope: 'col' }, c.title);
    const name = c.metric ? `${metricName(c.metric)}${c.title ? `, ${c.title}` : ''}` : c.title;
    const head = h('th', { scope: 'col', class: c.right ? 'num' : '', 'aria-sort': 'none' }, h('button', {
      type: 'button', class: 'sort', 'aria-label': `Sort by ${name}`, 'data-sort': c.metric ? `${c.metric}${c.title === 'median' ? '.median' : ''}` : c.title,
      onclick: () => {
        state.up = state.column === i ? !state.up : true;
        state.column = i;
        for (const other of heads) if (other.hasAttribute('aria-sort')) other.setAttribute('aria-sort', 'none');
        head.setAttribute('aria-sort', state.up ? 'ascending' : 'descending');
        rows();
      },
    }, c.title || 'mean'));
    return head;
  });
  const spans = metrics.map((m) => h('th', { scope: 'colgroup', colspan: columns.filter((c) => c.metric === m).length, class: 'span' }, metricName(m)));
  rows();
  onTheme(rows);
  const n = [...new Set(points.map((p) => p.replicates).filter(finite))];
  return h('section', { id: 'table' }, h('h2', {}, 'Final metrics'),
    scroller('tall', h('table', { class: 'data metrics' }, h('thead', {}, h('tr', {}, h('td', { colspan: keys }), spans), h('tr', {}, heads)), body)),
    h('p', { class: 'caption' }, `At the horizon${n.length === 1 ? `, ${n[0]} ${n[0] === 1 ? 'replicate' : 'replicates'} a point` : ''}.${points.some((p) => metrics.some((m) => (p.metrics[m] || {}).se > 0)) ? ' ± is the standard error of the mean.' : ''}${every.length > points.length ? ` Each tick is one replicate${log ? ', log scale' : ''}, ${number(low)} to ${number(high)}.` : ''} Headings sort.`));
}
