import { chart } from '../chart.js';
import { finite } from '../data.js';
import { choice, h } from '../dom.js';
import { colour, dashes } from '../palette.js';

const panels = [
  ['active', 'Active actions', 0, ['support', 'support']], ['width', 'Confidence width', 1], ['clients', 'Clients asked', 2],
  ['noise_stddev', 'Noise sd', 3],
];

/// How an elimination went: small charts on one axis of phases.
export function phases(data) {
  const rows = (data.phases || []).filter((row) => finite(row.epoch));
  const shown = panels.filter(([key]) => rows.some((row) => finite(row[key])));
  if (rows.length < 2 || !shown.length) return null;
  const on = (key) => rows.map((row) => (finite(row[key]) ? row[key] : null));
  const state = { log: true };
  const views = shown.map(([key, title, hue, second]) => {
    const line = (name, label, c, dash, marker) => ({ id: name, label, xs: on('epoch'), ys: on(name), colour: c, dash, marker, radius: 3, width: 1.6 });
    const make = () => ({
      title: `${title} by phase`, size: [440, 300], x: { label: 'phase →', name: 'phase', pad: 0.04, whole: true }, y: { label: '', log: state.log && on(key).every((v) => v === null || v > 0), zero: true },
      series: [line(key, second ? 'active' : title.toLowerCase(), colour({ hue }), [], 'circle'),
        second && rows.some((row) => finite(row[second[0]])) && line(second[0], second[1], colour({ hue, fade: 0.7 }), dashes[1], 'square')].filter(Boolean),
    });
    return { title, view: chart({ id: `phases-${key.replace(/_/g, '-')}`, make, height: 230, file: data.summary.name, sentence: `${rows.length} phases.` }), two: second && rows.some((row) => finite(row[second[0]])) };
  });
  return h('section', { id: 'phases' }, h('h2', {}, 'Active actions by phase'),
    h('div', { class: 'controls' }, choice('y', [['lin', 'linear'], ['log', 'log']], 'log', (v) => { state.log = v === 'log'; for (const { view } of views) view.draw(); })),
    h('div', { class: 'multiples' }, views.map(({ title, view }) => h('figure', {}, h('figcaption', {}, h('span', {}, title), view.downloads), view.host))),
    views.some(({ two }) => two) && h('p', { class: 'caption' }, 'Dashed: the actions in the support of the phase\'s design.'));
}
