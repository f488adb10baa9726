import { chart } from '../chart.js';
import { finite, firstShown } from '../data.js';
import { choice, h, select, toggle } from '../dom.js';
import { count, value } from '../format.js';
import { onTheme, theme } from '../palette.js';

const bands = { sd: '±1 standard deviation', se: '±1 standard error', quantile: '10% to 90% of the replicates', none: 'no band' };

/// Regret over time, with its legend and controls.
export function curves(data) {
  const points = data.points.filter((p) => p.curve);
  if (!points.length) return null;
  const has = (name) => points.some((p) => Array.isArray(p.curve.regret[name]));
  const times = points.flatMap((p) => p.curve.t.filter((t) => t > 0));
  const wide = Math.max(...times) / Math.min(...times) >= 50;
  const several = points.some((p) => p.replicates !== 1);
  const kinds = [['sd', 'sd', several && has('sd')], ['se', 'se', several && has('sd')], ['quantile', '10–90%', several && has('q10') && has('q90')], ['none', 'none', true]]
    .filter(([, , there]) => there).map(([key, text]) => [key, text]);
  const [world] = data.worlds;
  const of = (w) => new Set(w.points.filter((p) => p.curve).map((p) => p.id));
  const first = world ? of(world) : firstShown(data);
  const regret = data.measure === 'Regret';
  const state = { shown: new Set(first), band: kinds[0][0], xlog: wide, ylog: wide && regret, perRound: false, half: false, twoThirds: false };

  function series(p) {
    const { t, regret } = p.curve;
    const centre = state.band === 'quantile' && regret.median ? regret.median : regret.mean || regret.median || [];
    const scale = (list) => list.map((v, i) => (finite(v) ? (state.perRound ? v / t[i] : v) : null));
    const half = { sd: 1, se: 1 / Math.sqrt(p.replicates || 1) }[state.band];
    let edges = null;
    if (half && regret.sd && p.replicates !== 1) {
      const side = (sign) => centre.map((v, i) => (finite(v) && finite(regret.sd[i]) ? v + sign * half * regret.sd[i] : null));
      edges = [side(-1), side(1)];
    } else if (state.band === 'quantile' && regret.q10 && regret.q90) edges = [regret.q10, regret.q90];
    return {
      id: p.id, label: p.name, xs: t, ys: scale(centre), lo: edges && scale(edges[0]), hi: edges && scale(edges[1]), spread: 'area',
      colour: p.colour, endColour: data.groups.length > 1 ? p.group.colour : null, dash: p.group.dash, end: state.shown.size <= 16 ? p.name : null,
    };
  }

  function make() {
    const lift = state.perRound ? 1 : 0;
    const slopes = state.xlog && state.ylog ? [
      state.half && { power: 1 / 2 - lift, label: state.perRound ? '∝ t^(−1/2)' : '∝ t^(1/2)' },
      state.twoThirds && { power: 2 / 3 - lift, label: state.perRound ? '∝ t^(−1/3)' : '∝ t^(2/3)' }].filter(Boolean) : [];
    return {
      title: state.perRound ? 'Regret per round over time' : `${data.measure} over time`,
      x: { label: 'rounds t →', name: 't =', log: state.xlog, zero: true },
      y: { label: state.perRound ? '↑ regret / t' : `↑ ${data.measure.toLowerCase()}`, log: state.ylog, zero: true },
      series: points.filter((p) => state.shown.has(p.id)).map(series), slopes,
    };
  }

  const view = chart({ id: 'curves', make, height: 440, file: data.summary.name });
  const caption = h('p', { class: 'caption' });
  const hint = h('span', { class: 'faint hint' }, 'log axes only');
  const slopeBoxes = [toggle('t^1/2', state.half, (on) => { state.half = on; update(); }, { 'data-slope': 'half', 'aria-label': 'Reference slope t to the 1/2' }),
    toggle('t^2/3', state.twoThirds, (on) => { state.twoThirds = on; update(); }, { 'data-slope': 'two-thirds', 'aria-label': 'Reference slope t to the 2/3' })];
  const { list, refresh } = legendList(data, points, state, first, view, () => update());

  function update() {
    const both = state.xlog && state.ylog;
    for (const box of slopeBoxes) box.querySelector('input').disabled = !both;
    hint.hidden = both;
    const replicates = [...new Set(points.map((p) => p.replicates).filter(finite))];
    if (replicates.length === 1 && replicates[0] === 1) {
      caption.textContent = 'One replicate.';
      refresh();
      view.draw();
      return;
    }
    const what = state.band === 'quantile' ? 'Median' : 'Mean';
    const over = replicates.length === 1 ? count(replicates[0], 'replicate') : 'the replicates';
    const band = `; ${state.band === 'none' ? '' : 'band: '}${bands[state.band]}`;
    caption.textContent = `${what} over ${over}${band}. ${state.shown.size < points.length ? `Showing ${state.shown.size} of ${count(points.length, 'point')}.` : ''}`;
    refresh();
    view.draw();
  }

  const controls = h('div', { class: 'controls' },
    world && select('World', data.worlds.map((w, i) => [String(i), w.name]), '0', (i) => { state.shown.clear(); for (const id of of(data.worlds[i])) state.shown.add(id); update(); }),
    kinds.length > 1 && choice('Band', kinds, state.band, (v) => { state.band = v; update(); }),
    choice('x', [['lin', 'linear'], ['log', 'log']], state.xlog ? 'log' : 'lin', (v) => { state.xlog = v === 'log'; update(); }),
    choice('y', [['lin', 'linear'], ['log', 'log']], state.ylog ? 'log' : 'lin', (v) => { state.ylog = v === 'log'; update(); }),
    regret && toggle('per round', state.perRound, (on) => { state.perRound = on; update(); }, { 'data-toggle': 'per-round', 'aria-label': 'Regret divided by t' }),
    regret && h('span', { class: 'choice', role: 'group', 'aria-label': 'Reference slopes' }, h('span', { class: 'choice-name' }, 'Slopes'), slopeBoxes, hint),
    view.downloads);
  update();
  return h('section', { id: 'curves' }, h('h2', {}, `${data.measure} over time`), controls,
    points.length > 1 ? h('div', { class: 'with-legend' }, view.host, list) : view.host, caption);
}

function stroke(p) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'stroke');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', 'M0 2h16');
  path.setAttribute('stroke-width', '3');
  path.setAttribute('stroke-dasharray', p.group.dash.map((n) => Math.max(1.5, n * 0.6)).join(' '));
  svg.append(path);
  return svg;
}

function legendList(data, points, state, first, view, update) {
  const entries = [];
  const chip = (p, text) => {
    const swatch = stroke(p);
    const button = h('button', {
      type: 'button', class: 'chip', 'data-point': p.id, 'aria-label': `Show ${p.name}`, title: p.name,
      onclick: () => { state.shown.has(p.id) ? state.shown.delete(p.id) : state.shown.add(p.id); update(); },
      onmouseenter: () => view.light(state.shown.has(p.id) ? p.id : null), onmouseleave: () => view.light(null),
      onfocus: () => view.light(state.shown.has(p.id) ? p.id : null), onblur: () => view.light(null),
    }, swatch, h('span', {}, text));
    entries.push({ p, button, swatch });
    return button;
  };
  const groups = data.groups.map((g) => g.points.filter((p) => p.curve)).filter((g) => g.length).map((members) => {
    const { group } = members[0];
    if (members.length === 1 && members[0].step === null) return h('li', {}, chip(members[0], group.name));
    const all = () => members.every((p) => state.shown.has(p.id));
    const stepped = members.some((p) => p.step !== null);
    return h('li', {}, data.groups.length > 1 && h('button', {
      type: 'button', class: 'group', 'aria-label': `Show all or none of ${group.name}`,
      onclick: () => { const on = !all(); for (const p of members) on ? state.shown.add(p.id) : state.shown.delete(p.id); update(); },
    }, group.name, stepped && h('span', { class: 'faint' }, ` by ${data.keyName(data.ramp)}`)),
    h('div', { class: 'chips' }, members.map((p) => chip(p, p.step !== null ? value(p.step) : p.short))));
  });
  const everything = h('button', { type: 'button', class: 'quiet', 'data-show': 'all', onclick: () => { for (const p of points) state.shown.add(p.id); update(); } }, `Show all ${points.length}`);
  const few = h('button', { type: 'button', class: 'quiet', 'data-show': 'few', onclick: () => { state.shown.clear(); for (const id of first) state.shown.add(id); update(); } }, first.size < points.length ? `Show ${first.size}` : 'Reset');
  const nothing = h('button', { type: 'button', class: 'quiet', 'data-show': 'none', onclick: () => { state.shown.clear(); update(); } }, 'None');
  const shades = data.ramp && data.groups.length > 1 && h('p', { class: 'faint small' }, `Stronger colour: smaller ${data.keyName(data.ramp)}`);
  const list = h('aside', { class: 'legend', 'aria-label': 'Legend' }, h('div', { class: 'legend-head' }, everything, first.size < points.length && few, nothing), h('ul', {}, groups), shades);

  function refresh() {
    for (const { p, button, swatch } of entries) {
      button.setAttribute('aria-pressed', String(state.shown.has(p.id)));
      swatch.firstChild.setAttribute('stroke', p.colour(theme()));
    }
    everything.disabled = state.shown.size === points.length;
    nothing.disabled = state.shown.size === 0;
  }
  onTheme(refresh);
  return { list, refresh };
}
