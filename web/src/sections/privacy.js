import { h, scroller } from '../dom.js';
import { count, number, power } from '../format.js';
import { finite } from '../data.js';

/// A promise that people read is never better than what is true.
const roundedUp = (x, digits) => {
  const near = Number(x.toPrecision(digits));
  return near >= x ? near : Number((x + 10 ** (Math.floor(Math.log10(x)) - digits + 1) / 2).toPrecision(digits));
};

const pair = (g) => (!g ? '–' : `ε = ${finite(g.epsilon) ? number(roundedUp(g.epsilon, 4), 4) : '∞'}${finite(g.delta) ? (g.delta > 0 ? `, δ = ${number(roundedUp(g.delta, 3), 3)}` : ', δ = 0') : ''}`);

/// Points of one promise differ only in the numbers: they share a card.
function cards(points) {
  const found = new Map();
  for (const p of points) {
    const { delivered = [], void: why = null, nominal = null } = p.privacy;
    const key = JSON.stringify([why, delivered.map((d) => [d.adversary, d.unit, d.neighbours, d.proof, d.only_if, d.asked]), delivered.length ? 0 : Boolean(nominal)]);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(p);
  }
  return [...found.values()].sort((a, b) => Boolean(b[0].privacy.void) - Boolean(a[0].privacy.void));
}

/// Who an adversary is, without what it sees and on what conditions: the paragraph above the table has all of it. A comma ends
/// nothing: "everyone who sees the releases, and works with no agent" must not become "everyone who sees the releases".
const who = (adversary) => (adversary || 'unnamed adversary').split(/[:;]|\. /)[0];

export const banner = (why, names) => h('div', { class: 'void', role: 'alert' }, h('strong', {}, 'Privacy claim void. '), h('span', {}, why), names && h('div', { class: 'small' }, names));

export function voids(data) {
  const reasons = new Map();
  for (const p of data.points) if (p.privacy && p.privacy.void) reasons.set(p.privacy.void, [...(reasons.get(p.privacy.void) || []), p]);
  return [...reasons].map(([why, list]) => banner(why, data.points.length > 1
    ? `${list.length === data.points.length ? 'All' : `${list.length} of`} ${count(data.points.length, 'point')}${list.length <= 6 && list.length < data.points.length ? `: ${list.map((p) => p.name).join('; ')}` : ''}.` : null));
}

function promise(d) {
  const parts = [h('strong', {}, d.adversary || 'unnamed adversary')];
  return h('p', { class: 'promise' }, 'Against ', parts, '. Protected: ', h('strong', {}, d.unit || 'unit not stated'),
    d.neighbours && [' (neighbouring inputs: ', h('strong', {}, d.neighbours), ')'], '. ',
    d.only_if && ['Only if ', h('strong', {}, d.only_if), '. '], d.proof && ['Proof: ', h('code', {}, d.proof), '.']);
}

/// The guarantee that was asked for is the budget of the claim's agents, or else what the spec sets for all.
function guarantee(p, d, i) {
  const asked = (p.privacy.asked || [])[i] || p.privacy.nominal;
  const more = (name) => finite(asked[name]) && finite(d[name]) && d[name] > asked[name] * (1 + 1e-9);
  const weaker = d.asked !== false && asked && (more('epsilon') || more('delta'));
  return [h('td', {}, pair(d)), h('td', {}, finite(d.epsilon) ? `×${power(d.epsilon)}` : h('strong', {}, 'no protection'), weaker && h('span', { class: 'warn' }, ' weaker than asked'))];
}

export function privacy(data) {
  const points = data.points.filter((p) => p.privacy);
  if (!points.length) return null;
  return h('section', { id: 'privacy' }, h('h2', {}, 'Privacy statement'),
    h('p', { class: 'prose' }, 'An (ε, δ) guarantee says: changing one protected unit changes the probability of anything the adversary can see by a factor of at most e^ε, up to an additive δ. Asked: what the spec sets. Delivered: what is proved for this run.'),
    [...new Set((data.summary.points || []).filter((p) => !p.network).flatMap((p) => p.notes || []))].map((note) => h('p', { class: 'prose' }, note)),
    data.simulated && h('p', { class: 'prose', id: 'simulated' }, (data.measure === 'Regret' ? 'This is a simulation: nobody’s data went in, and its noise' : 'This is a simulation on a log, all of which this program has read. Its noise') + ' came from the spec’s seed. The guarantee is what a deployment of the same settings gives, with noise from the operating system’s entropy and the exact sampler.'),
    cards(points).map((list) => {
      const { delivered = [], void: why, nominal } = list[0].privacy;
      const names = list.map((p) => p.name).join('; ');
      if (!delivered.length) {
        return h('article', { class: 'card', 'data-privacy': 'none' }, why && banner(why), h('h3', {}, list.length > 8 ? count(list.length, 'point') : names),
          h('p', { class: 'promise' }, h('strong', {}, 'No privacy is claimed.'), nominal ? ` Asked for: ${[...new Set(list.map((p) => pair(p.privacy.nominal)))].join('; ')}.` : ''),
          list.length > 8 && h('details', {}, h('summary', {}, 'Which points'), h('p', { class: 'small' }, names)));
      }
      const groups = [...new Set(list.map((p) => p.group.name))];
      const table = scroller('', h('table', { class: 'data' },
        h('thead', {}, h('tr', {}, h('th', {}, 'Point'), h('th', {}, 'Asked'), delivered.length > 1 && h('th', {}, 'Against'), h('th', {}, 'Protected'), h('th', {}, 'Delivered'), h('th', {}, 'Probabilities change by at most'))),
        h('tbody', {}, list.map((p) => p.privacy.delivered.map((d, i) => h('tr', {},
          i === 0 && h('td', { rowspan: delivered.length }, p.name), i === 0 && h('td', { rowspan: delivered.length }, pair(p.privacy.nominal)),
          delivered.length > 1 && h('td', {}, who(d.adversary)), h('td', {}, d.unit || 'not stated'), guarantee(p, d, i)))))));
      return h('article', { class: 'card', 'data-privacy': 'claimed' }, why && banner(why),
        h('h3', {}, list.length === 1 ? list[0].name : groups.length <= 4 ? groups.join('; ') : count(list.length, 'point')),
        why && h('p', { class: 'promise' }, 'The numbers below do not hold for the reason above.'),
        delivered.map(promise), list.length > 12 ? h('details', {}, h('summary', {}, `All ${list.length} points`), table) : table);
    }));
}
