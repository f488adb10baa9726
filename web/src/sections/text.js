import { h, scroller } from '../dom.js';
import { count, duration, number, value } from '../format.js';
import { finite } from '../data.js';
import { voids } from './privacy.js';

function sentence(data) {
  const { points, keys } = data;
  const algorithms = [...new Set(points.map((p) => p.algorithm).filter(Boolean))];
  const horizon = Math.max(0, ...points.map((p) => (p.curve ? p.curve.t[p.curve.t.length - 1] : 0)).filter(finite));
  const replicates = [...new Set(points.map((p) => p.replicates).filter(finite))];
  const size = (key) => new Set(points.map((p) => p.point[key]).filter((x) => x !== undefined && x !== null).map((x) => JSON.stringify(x))).size;
  const who = algorithms.length > 4 ? count(algorithms.length, 'algorithm') : algorithms.join(', ') || 'An experiment';
  const swept = keys.length ? ` (${keys.map((key) => `${size(key)} ${{ model: 'models', algorithm: 'algorithms' }[data.keyName(key)] || `values of ${data.keyName(key)}`}`).join(' × ')})` : '';
  return [who, horizon ? ` over ${number(horizon, 4)} rounds` : '', points.length > 1 ? `: ${count(points.length, 'point')}${swept}` : '',
    replicates.length === 1 ? `, ${count(replicates[0], 'replicate')}${points.length > 1 ? ' each' : ''}` : ''].join('') + '.';
}

function finding(data) {
  const done = data.points.filter((p) => p.metrics.regret && finite(p.metrics.regret.mean));
  if (!done.length) return '';
  const sorted = [...done].sort((a, b) => a.metrics.regret.mean - b.metrics.regret.mean);
  const [best, worst] = [sorted[0], sorted[sorted.length - 1]];
  const is = (p) => number(p.metrics.regret.mean);
  if (best === worst) return `Final regret ${is(best)}.`;
  return `Final regret runs from ${is(best)} (${best.name}) to ${is(worst)} (${worst.name}).`;
}

export function header(data, links) {
  const { summary } = data;
  const facts = [summary.version && ['version', summary.version], summary.spec_sha256 && ['spec', summary.spec_sha256.slice(0, 12), summary.spec_sha256],
    finite(summary.wall_s) && ['wall', duration(summary.wall_s)], finite(summary.cpu_s) && ['cpu', duration(summary.cpu_s)]].filter(Boolean);
  return h('header', {}, h('p', { class: 'eyebrow' }, 'Bandana report'), h('h1', {}, summary.name || 'Untitled experiment'),
    h('p', { class: 'lead' }, sentence(data), ' ', finding(data)),
    h('dl', { class: 'facts' }, facts.map(([name, text, title]) => h('div', {}, h('dt', {}, name), h('dd', { title }, text)))),
    voids(data),
    h('nav', { 'aria-label': 'Sections' }, links.map(([id, text]) => h('a', { href: `#${id}` }, text))));
}

export function facts(data) {
  if (!Array.isArray(data.facts) || !data.facts.length) return null;
  return h('section', { id: 'facts' }, h('h2', {}, 'What happened'),
    scroller('', h('table', { class: 'data' }, h('tbody', {}, data.facts.map((f) => h('tr', {}, h('th', { scope: 'row' }, f.name), h('td', {}, value(f.value))))))));
}

export function spec(data) {
  if (!data.spec) return null;
  return h('section', { id: 'spec' }, h('h2', {}, 'Spec'),
    h('details', {}, h('summary', {}, `The resolved spec, every default written out (${count(data.spec.trim().split('\n').length, 'line')})`), h('pre', { tabindex: 0, 'aria-label': 'Resolved spec' }, data.spec)));
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea', { style: 'position:fixed;opacity:0' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

export function again(data) {
  if (!data.command) return null;
  const button = h('button', {
    type: 'button', 'aria-label': 'Copy the command', 'data-copy': true,
    onclick: async () => {
      await copy(data.command);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    },
  }, 'Copy');
  return h('section', { id: 'again' }, h('h2', {}, 'Run it again'), h('div', { class: 'command' }, h('code', {}, data.command), button));
}
