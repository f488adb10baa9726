import { h, scroller } from '../dom.js';
import { count } from '../format.js';

const seen = (v) => (v.holds ? 'holds' : 'not seen');

/// What a paper claims, held against this run. What came out other than expected is marked, in words and colour.
export function verdicts(data) {
  const list = Array.isArray(data.verdicts) ? data.verdicts : [];
  if (!list.length) return null;
  const surprises = list.filter((v) => v.holds !== v.expected).length;
  return h('section', { id: 'verdicts' }, h('h2', {}, 'What the paper claims, and what is seen'),
    h('p', { class: 'prose' }, `${list.length - surprises} of ${count(list.length, 'claim')} came out as expected. `,
      'A claim is seen only where its comparison of means on paired instances is clear; one that is expected not to hold says why.'),
    scroller('', h('table', { class: 'data verdicts' },
      h('thead', {}, h('tr', {}, ['Claim', 'Paper', 'Expected', 'Seen', 'Evidence'].map((text) => h('th', { scope: 'col' }, text)))),
      h('tbody', {}, list.map((v) => h('tr', { class: v.holds === v.expected ? null : 'surprise' },
        h('td', {}, v.claim), h('td', {}, v.paper), h('td', {}, v.expected ? 'holds' : 'does not hold'),
        h('td', {}, seen(v), v.holds === v.expected ? null : h('strong', { class: 'warn' }, ' not as expected')), h('td', { class: 'small' }, v.evidence)))))));
}
