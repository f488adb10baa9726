import { h, scroller } from '../dom.js';
import { count, number } from '../format.js';

const asExpected = (v) => v.left || (v.judged && v.holds === v.expected);
const seen = (v) => (v.left ? 'left to scale paper' : v.holds ? 'confirmed' : v.judged ? 'not confirmed' : 'not judged');
const versions = { printed: 'as printed', ours: 'ours' };
const percent = (x) => `${number(100 * x, 2)} %`;

/// Says how small an effect the comparison would have called clear.
function resolution(v) {
  if (!v.resolves) return null;
  const [[kind, value]] = Object.entries(v.resolves);
  if (value === null) return 'There are too few runs to see anything.';
  if (value < 1e-9) return 'The runs do not differ.';
  switch (kind) {
    case 'exponent': return `An exponent that differs by ${number(value, 2)} would be clear.`;
    case 'gap': return `Sides that differ by ${number(value, 2)} would be clear.`;
    case 'epsilon': return `An epsilon of ${number(value, 2)} would be clear.`;
    default: return `A difference of ${percent(value)} would be clear.`;
  }
}

/// Says from which runs a verdict comes, and how small an effect they would have shown.
function power(v) {
  if (!v.replicates) return resolution(v);
  const horizons = v.horizons || [];
  const where = horizons.length ? `T = ${horizons.join(' and ')}, ` : '';
  return [`${where}${count(v.replicates, 'run')}.`, resolution(v)].filter(Boolean).join(' ');
}

/// Says what this scale changes.
function scale(verdict) {
  const changed = verdict.scale.differs.map((d) => `${d.key} = ${d.here} (the paper: ${d.paper === null ? 'the default' : d.paper})`);
  return h('p', { class: 'prose' }, `Scale ${verdict.scale.name}. `,
    changed.length ? `It differs from the paper's scale in ${changed.join('; ')}. ` : "These are the paper's values. ",
    verdict.scale.name === 'smoke' ? 'Scale smoke has too few runs to settle a claim.' : null);
}

/// Compares the paper's claims with this run: the printed version beside ours.
export function verdicts(data) {
  const { verdict } = data;
  if (!verdict || !verdict.verdicts.length) return null;
  const list = verdict.verdicts;
  const judged = list.filter((v) => !v.left);
  const versioned = list.some((v) => v.version);
  const heads = ['Claim', versioned && 'Version', 'Paper', 'Verdict', 'Expected', 'Evidence'].filter(Boolean);
  return h('section', { id: 'verdicts' }, h('h2', {}, "The paper's claims, and what this run shows"),
    verdict.stand_in && h('p', { class: 'void', role: 'note' }, `Stand-in: ${verdict.stand_in}`),
    h('p', { class: 'prose' }, `${judged.filter(asExpected).length} of ${count(judged.length, 'claim')} came out as expected. `,
      judged.length < list.length && `${list.length - judged.length} more are judged at scale paper only. `,
      'A comparison of means counts only if it is clear: by three standard errors of the difference on paired instances. '),
    scale(verdict),
    scroller('', h('table', { class: 'data verdicts' },
      h('thead', {}, h('tr', {}, heads.map((text) => h('th', { scope: 'col' }, text)))),
      h('tbody', {}, list.map((v) => h('tr', { class: asExpected(v) ? null : 'surprise' },
        h('td', {}, v.claim), versioned && h('td', {}, versions[v.version] || ''), h('td', {}, v.paper),
        h('td', {}, seen(v), asExpected(v) ? null : h('strong', { class: 'warn' }, ', not as expected')),
        h('td', {}, v.expected ? 'yes' : 'no'),
        h('td', { class: 'small' }, v.evidence.replace(/\+-/g, '±'), power(v) && h('div', { class: 'faint' }, power(v)))))))),
    verdict.not_runnable.length > 0 && h('div', {}, h('h3', {}, `${count(verdict.not_runnable.length, 'item')} of the paper that cannot be run as printed`),
      h('ul', {}, verdict.not_runnable.map((one) => h('li', {}, `${one.what} (${one.paper}): ${one.reason}`)))));
}
