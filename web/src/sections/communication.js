import { chart } from '../chart.js';
import { finite } from '../data.js';
import { choice, h, select } from '../dom.js';
import { count, metricName, value } from '../format.js';
import { interval } from '../stats.js';

const costs = ['communication_reals', 'communication_bits', 'communication_cost', 'bytes_on_wire', 'clients', 'syncs'];

/// Final regret against what was sent.
export function communication(data) {
  const mean = (p, m) => (p.metrics[m] && finite(p.metrics[m].mean) ? p.metrics[m].mean : null);
  const there = costs.filter((m) => data.points.some((p) => mean(p, m) > 0 && mean(p, 'regret') !== null));
  if (!there.length || data.points.length < 2) return null;
  const state = { metric: there.includes('communication_reals') ? 'communication_reals' : there.includes('clients') ? 'clients' : there[0], log: true };

  function make() {
    const edge = (p, m, side) => { const i = interval(p.metrics[m], 'se'); return i ? i[side] : null; };
    const many = data.points.length > 40;
    return {
      title: `Regret against ${metricName(state.metric).toLowerCase()}`,
      x: { label: `${metricName(state.metric).toLowerCase()} →`, log: state.log, pad: 0.07, zero: true },
      y: { label: '↑ regret', log: state.log, zero: true, pad: 0.09 },
      readHead: (s, i) => `${metricName(state.metric)} ${value(s.xs[i])}`,
      series: data.groups.map((g, k) => {
        const list = g.points.filter((p) => mean(p, state.metric) !== null && mean(p, 'regret') !== null && (!state.log || (mean(p, state.metric) > 0 && mean(p, 'regret') > 0)));
        const on = (m) => list.map((p) => mean(p, m));
        return {
          id: `group${k}`, label: g.name, xs: on(state.metric), ys: on('regret'),
          lo: list.map((p) => edge(p, 'regret', 0)), hi: list.map((p) => edge(p, 'regret', 1)),
          xlo: list.map((p) => edge(p, state.metric, 0)), xhi: list.map((p) => edge(p, state.metric, 1)), spread: 'bars',
          marker: g.marker, radius: 4.5, width: 1, faint: true, colour: g.colour, tints: list.map((p) => p.colour), line: g.points.some((p) => p.step !== null),
          texts: many ? null : list.map((p, i) => {
            if (p.step === null) return g.name;
            const first = i === 0 || i === list.length - 1;
            return list.length === 1 ? p.name : i === 0 ? p.name : first ? p.short : null;
          }),
        };
      }).filter((s) => s.xs.length),
    };
  }

  const view = chart({ id: 'communication', make, keys: data.points.length > 40 ? 'always' : 'narrow', height: 400, readout: 'point', file: data.summary.name });
  const caption = h('p', { class: 'caption' });
  const update = () => {
    const lost = state.log ? data.points.filter((p) => !(mean(p, state.metric) > 0)).length : 0;
    caption.textContent = `Means at the horizon, ±1 standard error. ${data.ramp && data.groups.length > 1 ? `Thin lines join a group's points in order of ${data.keyName(data.ramp)}. ` : ''}`
      + (lost ? `${count(lost, 'point')} without this cost ${lost === 1 ? 'is' : 'are'} not on the log axes.` : '');
    view.draw();
  };
  update();
  return h('section', { id: 'communication' }, h('h2', {}, 'Regret against communication'),
    h('div', { class: 'controls' },
      there.length > 1 && select('Cost', there.map((m) => [m, metricName(m)]), state.metric, (v) => { state.metric = v; update(); }),
      choice('Axes', [['lin', 'linear'], ['log', 'log']], 'log', (v) => { state.log = v === 'log'; update(); }), view.downloads),
    view.host, caption);
}
