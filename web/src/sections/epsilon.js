import { chart } from '../chart.js';
import { finite } from '../data.js';
import { choice, h, select } from '../dom.js';
import { metricName } from '../format.js';
import { interval } from '../stats.js';

const words = {
  bootstrap: 'Bars: 95% bootstrap interval of the mean (percentile, 2000 draws, fixed seed).', se: 'Bars: ±1 standard error.',
  sd: 'Bars: ±1 standard deviation.', quantile: 'Bars: 10% to 90% of the replicates.', none: '',
};

/// A final metric against epsilon: a line for each combination of the other swept keys, a rule for each point without one.
export function epsilon(data) {
  const key = data.epsilon;
  if (!key) return null;
  const metrics = ['regret', 'regret_per_agent', 'best_action_rate', 'value'].filter((m) => data.points.some((p) => p.metrics[m] && finite(p.metrics[m].mean)));
  if (!metrics.length) return null;
  const lines = new Map();
  for (const p of data.points) {
    if (!finite(p.point[key])) continue;
    const name = data.ramp === key ? p.group : 'all';
    if (!lines.has(name)) lines.set(name, []);
    lines.get(name).push(p);
  }
  for (const list of lines.values()) list.sort((a, b) => a.point[key] - b.point[key]);
  const without = data.points.filter((p) => !finite(p.point[key]));
  const values = [...new Set(data.points.map((p) => p.point[key]).filter(finite))].sort((a, b) => a - b);
  const spread = data.points.some((p) => p.metrics[metrics[0]] && (p.metrics[metrics[0]].values || []).length > 1);
  const ratio = (m) => { const v = data.points.map((p) => p.metrics[m] && p.metrics[m].mean).filter((x) => x > 0); return Math.max(...v) / Math.min(...v); };
  const state = { metric: metrics[0], band: spread ? 'bootstrap' : 'none', xlog: values[0] > 0 && values[values.length - 1] / values[0] > 4, ylog: ratio(metrics[0]) > 12 };

  function make() {
    const at = (p) => p.metrics[state.metric];
    const mean = (p) => (at(p) && finite(at(p).mean) ? at(p).mean : null);
    const edge = (p, side) => { const i = state.band === 'none' ? null : interval(at(p), state.band); return i ? i[side] : null; };
    return {
      title: `${metricName(state.metric)} against ε`, dodge: true,
      x: { label: 'privacy parameter ε (smaller is more private) →', name: 'ε =', log: state.xlog, ticks: values.length <= 10 ? values : null, pad: 0.05 },
      y: { label: `↑ ${metricName(state.metric).toLowerCase()}`, log: state.ylog, zero: true },
      series: [...lines].map(([group, list], i) => {
        const own = group === 'all' ? list[0].group : group;
        const name = group === 'all' ? data.points[0].algorithm || 'mean' : group.name;
        return { id: `line${i}`, label: name, xs: list.map((p) => p.point[key]), ys: list.map(mean), lo: list.map((p) => edge(p, 0)), hi: list.map((p) => edge(p, 1)),
          spread: 'bars', marker: own.marker, dash: own.dash, colour: own.colour, end: lines.size <= 20 ? name : null };
      }),
      rules: without.filter((p) => mean(p) !== null).map((p) => ({ id: `rule${p.id}`, y: mean(p), lo: edge(p, 0), hi: edge(p, 1), label: p.name, colour: p.group.colour, dash: [6, 4] })),
    };
  }

  const view = chart({ id: 'epsilon', make, keys: 'narrow', height: 400, file: data.summary.name });
  const caption = h('p', { class: 'caption' });
  const update = () => {
    caption.textContent = `Mean at the horizon. ${words[state.band]} ${without.length ? 'Dashed: no ε, for reference.' : ''}`;
    view.draw();
  };
  update();
  return h('section', { id: 'epsilon' }, h('h2', {}, `${metricName(metrics[0])} against ε`),
    h('div', { class: 'controls' },
      metrics.length > 1 && select('Metric', metrics.map((m) => [m, metricName(m)]), state.metric, (v) => { state.metric = v; update(); }),
      spread && choice('Bars', [['bootstrap', '95% bootstrap'], ['se', 'se'], ['sd', 'sd'], ['quantile', '10–90%'], ['none', 'none']], state.band, (v) => { state.band = v; update(); }),
      choice('x', [['lin', 'linear'], ['log', 'log']], state.xlog ? 'log' : 'lin', (v) => { state.xlog = v === 'log'; update(); }),
      choice('y', [['lin', 'linear'], ['log', 'log']], state.ylog ? 'log' : 'lin', (v) => { state.ylog = v === 'log'; update(); }),
      view.downloads),
    view.host, caption);
}
