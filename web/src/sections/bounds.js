import { chart } from '../chart.js';
import { h } from '../dom.js';
import { colour } from '../palette.js';

/// Draws each theorem's bound, or its rate, beside what was measured.
export function bounds(data) {
  const list = ((data.verdict && data.verdict.bounds) || []).filter((b) => b.x && b.x.length > 1);
  if (!list.length) return null;
  const figures = list.map((b, i) => {
    const positive = (xs) => xs.every((v) => v > 0);
    const make = () => ({
      title: b.says,
      x: { label: `${b.along} →`, name: `${b.along} =`, log: positive(b.x), ticks: b.x.length <= 10 ? b.x : null, pad: 0.05 },
      y: { label: '↑ measured, and the bound', log: positive(b.measured) && positive(b.bound) },
      series: [
        { id: 'measured', label: b.of, xs: b.x, ys: b.measured, lo: b.measured.map((v, k) => v - b.se[k]), hi: b.measured.map((v, k) => v + b.se[k]),
          spread: 'bars', marker: 'circle', colour: colour({ hue: 0 }), end: b.of },
        { id: 'bound', label: b.rate ? 'rate, constant fitted' : 'bound', xs: b.x, ys: b.bound, dash: [7, 4], colour: colour({ hue: 1 }),
          end: b.rate ? 'rate, constant fitted' : 'bound' },
      ],
    });
    const view = chart({ id: `bound-${i}`, make, keys: 'narrow', height: 320, file: `${data.summary.name} ${b.paper}`, sentence: b.says });
    const caption = b.rate
      ? 'Dashed: the rate of the theorem, which has no known constant. The constant is fitted to the last point.'
      : 'Dashed: the bound with the constants of the theorem.';
    return h('figure', { class: 'bound' }, h('h3', {}, `${b.says} (${b.paper})`), h('div', { class: 'controls' }, view.downloads), view.host,
      h('p', { class: 'caption' }, `${caption} Bars: ±1 standard error.`));
  });
  return h('section', { id: 'bounds' }, h('h2', {}, 'Bounds and rates'), figures);
}
