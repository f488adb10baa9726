import { h, scroller } from '../dom.js';
import { count } from '../format.js';

const judged = (v) => !v.evidence.startsWith('cannot be judged');
const asExpected = (v) => judged(v) && v.holds === v.expected;
const seen = (v) => (v.holds ? 'holds' : judged(v) ? 'not seen' : 'not judged');

/// What a paper claims, held against this run. What came out other than expected is marked, in words and colour.
export function verdicts(data) {
  const list = Array.isArray(data.verdicts) ? data.verdicts : [];
  if (!list.length) return null;
  return h('section', { id: 'verdicts' }, h('h2', {}, 'What the paper claims, and what is seen'),
    h('p', { class: 'prose' }, `${list.filter(asExpected).length} of ${count(list.length, 'claim')} came out as expected. `,
      'A comparison of means is seen only where it is clear: by 3 standard errors of the difference on paired instances. What is expected not to hold says why. ', data.verdicts_note),
    scroller('', h('table', { class: 'data verdicts' },
      h('thead', {}, h('tr', {}, ['Claim', 'Paper', 'Expected', 'Seen', 'Evidence'].map((text) => h('th', { scope: 'col' }, text)))),
      h('tbody', {}, list.map((v) => h('tr', { class: asExpected(v) ? null : 'surprise' },
        h('td', {}, v.claim), h('td', {}, v.paper), h('td', {}, v.expected ? 'holds' : 'does not hold'),
        h('td', {}, seen(v), asExpected(v) ? null : h('strong', { class: 'warn' }, ', not as expected')), h('td', { class: 'small' }, v.evidence.replace(/\+-/g, '±'))))))));
}
