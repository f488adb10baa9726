// Opens a report in Chromium: one made by the binary (BANDANA_REPORT) or one made here from fixture.json.
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test, { after, before } from 'node:test';
import { fixture, launch, open, settle, temporary, writeReport } from './page.mjs';

const given = process.env.BANDANA_REPORT;
let browser;
let folder;
let path;
let data;

before(async () => {
  folder = await temporary();
  path = given ? resolve(given) : await writeReport(await fixture(), join(folder, 'report.html'));
  const page = await readFile(path, 'utf8');
  data = JSON.parse(page.match(/<script type="application\/json" id="bandana-data">([\s\S]*?)<\/script>/)[1]);
  browser = await launch();
});
after(async () => {
  if (browser) await browser.close();
  await rm(folder, { recursive: true });
});

const points = () => data.summary.points;
const epsilons = () => new Set(points().map((p) => (p.point || {})['privacy.epsilon']).filter((x) => typeof x === 'number'));

/// Returns, for each chart, how many pixels of its canvas were drawn on.
const inked = (page) => page.$$eval('[data-chart] canvas', (list) => Object.fromEntries(list.map((canvas) => {
  const { data: rgba } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] > 40) n++;
  return [canvas.closest('[data-chart]').dataset.chart, n];
})));
const picture = (page, chart) => page.$eval(`[data-chart=${chart}] canvas`, (canvas) => canvas.toDataURL());

async function using(report, options, work) {
  const { context, page, trouble } = await open(browser, report, options);
  try {
    await work(page);
    assert.deepEqual(trouble, []);
  } finally {
    await context.close();
  }
}

/// Checks that a press changes the chart's picture.
async function changes(page, chart, what, press) {
  const old = await picture(page, chart);
  await press();
  await settle(page);
  assert.notEqual(await picture(page, chart), old, `${what} leaves ${chart} as it was`);
}

const pressOther = (page, section, group) => page.locator(`#${section} [aria-label="${group}"] button[aria-pressed=false]`).first().click();

test('opens offline without an error, and every chart is drawn', () => using(path, {}, async (page) => {
  assert.ok((await page.textContent('h1')).includes(data.summary.name));
  const ink = await inked(page);
  assert.ok('curves' in ink, 'there is no regret curve');
  for (const [name, n] of Object.entries(ink)) assert.ok(n > 1500, `${name} is blank: ${n} pixels`);
  assert.equal('epsilon' in ink, epsilons().size > 1);
  assert.equal('phases-active' in ink, (data.phases || []).length > 1);
  await page.screenshot({ path: process.env.BANDANA_SCREENSHOT || join(folder, 'report.png'), fullPage: true });
}));

const madeVerdict = (claim, expected, holds, evidence, more = {}) => ({
  claim, paper: 'p1 Fig. 2(a)', version: null, expected, reason: null, judged: !evidence.startsWith('cannot'), left: false, holds, evidence, horizons: [], replicates: 0, resolves: null, printed: null, measured: null, delivers: [], ...more });

test('verdicts are a table at the top, and what is not as expected stands out', async () => {
  const verdict = {
    exhibit: 'p1-fig2a', title: 'Fig. 2(a)', stand_in: 'Made-up loans stand in for real ones.', bounds: [],
    scale: { name: 'smoke', differs: [{ key: 'replicates', here: '2', paper: '20' }] },
    not_runnable: [{ what: 'Table III', paper: 'p1 Table III', reason: 'Its data are not public.' }],
    verdicts: [madeVerdict('it <b>falls</b>', true, true, '5 +- 1', { version: 'printed', horizons: [1000], replicates: 7, resolves: { difference: 0.12 } }),
      madeVerdict('it is free', false, false, '9. Not expected to hold: it costs', { version: 'ours', resolves: { exponent: 0.05 } }),
      madeVerdict('it is close', true, false, '7', { resolves: { gap: 0.2 } }), madeVerdict('it is there', false, false, 'cannot be judged: no point'),
      madeVerdict('it is far', true, false, 'later', { judged: false, left: true }),
      madeVerdict('it is hidden', true, true, '8', { resolves: { epsilon: 1.5 } }), madeVerdict('it is dim', true, true, '8', { resolves: { epsilon: null } }),
      madeVerdict('it is exact', true, true, '8', { resolves: { difference: 0 } })],
  };
  const report = await writeReport({ ...(await fixture()), verdict }, join(folder, 'verdicts.html'));
  await using(report, {}, async (page) => {
    assert.equal(await page.locator('main > section').first().getAttribute('id'), 'verdicts');
    const rows = await page.locator('#verdicts tbody tr').allInnerTexts();
    assert.equal(rows.length, 8);
    assert.ok(rows[0].includes('T = 1000, 7 runs.') && rows[4].includes('left to scale paper'));
    assert.ok(rows[0].includes('it <b>falls</b>') && rows[0].includes('5 ± 1') && rows[0].includes('as printed'));
    assert.ok(rows[0].includes('A difference of 12 % would be clear.') && rows[1].includes('An exponent that differs by 0.05'));
    assert.ok(rows[2].includes('Sides that differ by 0.2 would be clear.') && rows[5].includes('An epsilon of 1.5 would be clear.'));
    assert.ok(rows[6].includes('too few runs to see anything') && rows[7].includes('The runs do not differ.'));
    assert.deepEqual(await page.locator('#verdicts tr.surprise td:first-child').allInnerTexts(), ['it is close', 'it is there']);
    assert.equal(await page.locator('#verdicts .warn').count(), 2);
    const text = await page.innerText('#verdicts');
    assert.match(text, /5 of 7 claims came out as expected[^]*replicates = 2 \(the paper: 20\)[^]*too few runs/);
    assert.match(text, /Stand-in: Made-up loans/);
    assert.match(text, /1 item of the paper that cannot be run as printed[^]*Table III \(p1 Table III\): Its data are not public/);
  });
  await using(path, {}, async (page) => { if (!data.verdict) assert.equal(await page.locator('#verdicts').count(), 0); });
});

test('bounds are drawn beside what was measured, and rates are called rates', async () => {
  const bound = (says, rate) => ({ says, paper: 'p1 Theorem 5.1', rate, of: 'ours', along: 'horizon', x: [1e4, 1e5, 1e6], measured: [100, 300, 1000], se: [5, 9, 20], bound: [500, 1600, 5000] });
  const verdict = { exhibit: 'x', title: 'x', stand_in: null, not_runnable: [], scale: { name: 'paper', differs: [] },
    verdicts: [madeVerdict('it falls', true, true, '5')], bounds: [bound('the bound', false), bound('the rate', true), { says: 'missing', paper: 'p', rate: false, missing: 'no point' }] };
  const report = await writeReport({ ...(await fixture()), verdict }, join(folder, 'bounds.html'));
  await using(report, {}, async (page) => {
    assert.equal(await page.locator('#bounds figure').count(), 2);
    const ink = await inked(page);
    for (const name of ['bound-0', 'bound-1']) assert.ok(ink[name] > 1500, `${name} is blank: ${ink[name]} pixels`);
    const [first, second] = await page.locator('#bounds figure').allInnerTexts();
    assert.ok(first.includes('with the constants of the theorem') && second.includes('The constant is fitted'));
  });
});

test('axes, bands and points answer', () => using(path, {}, async (page) => {
  await changes(page, 'curves', 'the y axis', () => pressOther(page, 'curves', 'y'));
  await changes(page, 'curves', 'the x axis', () => pressOther(page, 'curves', 'x'));
  await changes(page, 'curves', 'per round', () => page.check('[data-toggle=per-round]'));
  if (await page.locator('#curves [aria-label=Band]').count() && points().some((p) => p.replicates > 1)) {
    await changes(page, 'curves', 'the band', () => page.click('#curves [aria-label=Band] [data-value=none]'));
  }
  for (const axis of ['x', 'y']) await page.click(`#curves [aria-label=${axis}] [data-value=log]`);
  await changes(page, 'curves', 'a slope', () => page.check('[data-slope=half]'));
  if (points().length > 1) await changes(page, 'curves', 'a point', () => page.locator('.chip[aria-pressed=true]').first().click());
  if (epsilons().size > 1) await changes(page, 'epsilon', 'the y axis', () => pressOther(page, 'epsilon', 'y'));
}));

test('the readout follows the mouse and the keys', () => using(path, {}, async (page) => {
  const tip = page.locator('[data-chart=curves] .tip');
  const over = page.locator('[data-chart=curves] .u-over');
  await over.hover({ position: { x: 200, y: 100 } });
  await tip.waitFor({ state: 'visible' });
  assert.match(await tip.innerText(), /t = \S+/);
  await page.mouse.move(0, 0);
  await page.focus('[data-chart=curves]');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await tip.waitFor({ state: 'visible' });
}));

test('privacy is said in words', () => using(path, {}, async (page) => {
  const said = await page.innerText('#privacy');
  const loud = (await page.locator('header [role=alert]').allInnerTexts()).join('\n');
  for (const { privacy } of points()) {
    if (!privacy) continue;
    for (const d of privacy.delivered || []) for (const word of [d.adversary, d.unit, d.proof, d.only_if]) if (word) assert.ok(said.includes(word), `"${word}" is not said`);
    if (!(privacy.delivered || []).length) assert.ok(said.includes('No privacy is claimed'));
    if (privacy.void) assert.ok(loud.includes(privacy.void), `"${privacy.void}" is not loud`);
  }
}));

test('the table sorts', () => using(path, {}, async (page) => {
  assert.equal(await page.locator('#table tbody tr').count(), points().length);
  const order = () => page.$$eval('#table tbody tr', (rows) => rows.map((row) => Number(row.dataset.point)));
  const means = async () => (await order()).map((i) => points()[i].metrics.regret && points()[i].metrics.regret.mean).filter((x) => typeof x === 'number');
  await page.click('#table [data-sort=regret]');
  assert.deepEqual(await means(), [...await means()].sort((a, b) => a - b));
  await page.click('#table [data-sort=regret]');
  assert.deepEqual(await means(), [...await means()].sort((a, b) => b - a));
}));

test('each chart saves as SVG and as PNG', () => using(path, {}, async (page) => {
  const saved = async (button) => {
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
    return readFile(await download.path());
  };
  for (const button of await page.locator('[data-save=svg]').all()) {
    const text = (await saved(button)).toString();
    const wrong = await page.evaluate((xml) => {
      const root = new DOMParser().parseFromString(xml, 'application/xml');
      const fault = root.querySelector('parsererror');
      if (fault) return fault.textContent;
      return root.documentElement.localName === 'svg' && root.querySelectorAll('text').length > 3 && root.querySelectorAll('path').length > 3 ? '' : 'too little in it';
    }, text);
    assert.equal(wrong, '');
    assert.doesNotMatch(text, /NaN|Infinity|undefined/);
  }
  const png = await saved(page.locator('[data-save=png]').first());
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  assert.ok(png.length > 5000);
}));

for (const width of [380, 768, 1900]) {
  test(`fits ${width} pixels`, () => using(path, { viewport: { width, height: 800 }, colorScheme: width === 768 ? 'dark' : 'light' }, async (page) => {
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width);
    for (const [name, n] of Object.entries(await inked(page))) assert.ok(n > 800, `${name} is blank`);
  }));
}

test('prints in light colours, charts as SVG', () => using(path, { colorScheme: 'dark' }, async (page) => {
  assert.ok((await page.pdf({ format: 'A4' })).length > 10_000);
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.equal(await page.locator('.paper svg').count(), await page.locator('[data-chart]').count());
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
}));

test('the command is copied', () => using(path, { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  await page.click('[data-copy]');
  await page.waitForFunction(() => document.querySelector('[data-copy]').textContent === 'Copied');
}));

// Reports for cases that the one report does not have; they are always made here.
const made = (name, change) => (async () => {
  const doc = await fixture();
  change(doc);
  return writeReport(doc, join(folder, `${name}.html`));
})();

test('sixty points: some are shown, all can be', async () => using(await made('many', (doc) => {
  doc.summary.points = ['dp-dpe', 'private-elimination', 'fed-ucb', 'ldp-ols'].flatMap((name) => doc.summary.points.map((p) => (
    { ...p, algorithm: name, point: { 'algorithm.name': name, ...p.point }, privacy: { ...p.privacy, void: name === 'fed-ucb' ? 'the determinant decides' : null } })));
  doc.swept = ['algorithm.name', ...doc.swept];
}), {}, async (page) => {
  const shown = () => page.locator('.chip[aria-pressed=true]').count();
  assert.ok(await shown() <= 16);
  await changes(page, 'curves', 'show all', () => page.click('[data-show=all]'));
  assert.equal(await shown(), 64);
  assert.ok((await page.innerText('header [role=alert]')).includes('the determinant decides'));
}));

test('variants that share their keys keep a line each', async () => using(await made('variants', (doc) => {
  const only = (p, name) => ({ ...p, point: { 'privacy.epsilon': p.point['privacy.epsilon'] }, label: `${name}, privacy.epsilon = ${p.point['privacy.epsilon']}` });
  doc.summary.points = [...doc.summary.points.slice(1, 6).map((p) => only(p, 'exact')), ...doc.summary.points.slice(6, 11).map((p) => only(p, 'paper'))];
  doc.swept = ['privacy.epsilon'];
}), { viewport: { width: 500, height: 800 } }, async (page) => {
  assert.deepEqual(await page.locator('#epsilon .key span').allInnerTexts(), ['exact', 'paper']);
  assert.ok((await page.innerText('#privacy')).includes('paper, ε 0.5'));
}));

test('the privacy table names no larger adversary than the claim does', async () => using(await made('adversary', (doc) => {
  const point = doc.summary.points.find((p) => (p.privacy.delivered || []).length);
  const claim = { ...point.privacy.delivered[0], asked: true, only_if: null };
  point.privacy.delivered = [
    { ...claim, adversary: 'the server, and everyone who sees its releases: they see totals. At most 1 of the clients works with the adversary' },
    { ...claim, asked: false, adversary: 'everyone who sees the releases of all agents, is none of them, and works with none' }];
  point.privacy.asked = [point.privacy.nominal, null];
  doc.summary.points = [point];
}), {}, async (page) => {
  const against = (row) => page.innerText(`#privacy table tbody tr:nth-child(${row}) td:nth-child(${row === 1 ? 3 : 1})`);
  assert.equal(await against(1), 'the server, and everyone who sees its releases');
  assert.equal(await against(2), 'everyone who sees the releases of all agents, is none of them, and works with none');
}));

for (const simulated of [true, undefined]) {
  test(`a run that is ${simulated ? '' : 'not '}marked as simulated ${simulated ? 'says so' : 'says nothing of it'}`, async () => using(await made(`simulated-${simulated}`, (doc) => {
    doc.simulated = simulated;
  }), {}, async (page) => {
    assert.equal(await page.locator('#simulated').count(), simulated ? 1 : 0);
    assert.equal(await page.locator('#privacy > p#simulated').count(), simulated ? 1 : 0);
    assert.equal(/This is a simulation/.test(await page.innerText('#privacy')), Boolean(simulated));
  }));
}

for (const axes of ['log', 'lin']) {
  test(`wide bars end inside the frame, and labels keep off marks and bars: ${axes}`, async () => using(await made(`bars-${axes}`, (doc) => {
    for (const p of doc.summary.points) for (const name of ['regret', 'communication_reals']) p.metrics[name].se = 0.4 * p.metrics[name].mean;
  }), {}, async (page) => {
    await page.click(`#communication [data-value=${axes}]`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#communication [data-save=svg]')]);
    const found = await page.evaluate((xml) => {
      const svg = document.importNode(new DOMParser().parseFromString(xml, 'image/svg+xml').documentElement, true);
      document.body.append(svg);
      const edges = (e) => { const { x, y, width, height } = e.getBBox(); return [x, y, x + width, y + height]; };
      const frame = edges(svg.querySelector('clipPath rect'));
      const bars = [...svg.querySelectorAll('path[stroke-width="1.2"]')];
      const outside = bars.map(edges).filter((b) => b[0] < frame[0] || b[1] < frame[1] || b[2] > frame[2] || b[3] > frame[3]);
      // A bar's box includes its caps (3 pixels on each side), so a label must stay out of the box.
      const marks = [...bars, ...svg.querySelectorAll('path[stroke="#ffffff"]')].map(edges);
      const labels = [...svg.querySelectorAll('text[paint-order]')];
      const covered = labels.filter((t) => {
        const a = edges(t);
        return marks.some((b) => a[0] < b[2] && a[2] > b[0] && a[1] + 3 < b[3] && a[3] - 3 > b[1]);
      });
      return { bars: bars.length, labels: labels.length, outside, covered: covered.map((t) => t.textContent) };
    }, await readFile(await download.path(), 'utf8'));
    assert.ok(found.bars > 10 && found.labels > 1, `${found.bars} bars, ${found.labels} labels`);
    assert.deepEqual(found.outside, []);
    assert.deepEqual(found.covered, []);
  }));
}

test('large factors are powers of ten', async () => using(await made('factors', (doc) => {
  const p = doc.summary.points[1];
  doc.summary.points = [0.5, 8, 9.5, 25, 1000].map((epsilon) => ({
    ...p, point: { 'privacy.epsilon': epsilon }, privacy: { nominal: { epsilon, delta: 0 }, delivered: [{ ...p.privacy.delivered[0], epsilon, delta: 0 }], void: null } }));
}), {}, async (page) => {
  assert.deepEqual(await page.locator('#privacy tbody td:last-child').allInnerTexts(), ['×1.65', '×2980', '×1.3·10⁴', '×7.2·10¹⁰', '×2·10⁴³⁴']);
}));

test('a condition of a claim is said, also if another point has the claim without it', async () => {
  const condition = 'nobody sees what the agent pulls while it waits';
  await using(await made('condition', (doc) => {
    const p = doc.summary.points[1];
    doc.summary.points = [null, condition].map((only_if, i) => ({
      ...p, point: { 'algorithm.local': i ? 'raw' : 'released' }, label: '', privacy: { nominal: { epsilon: 1, delta: 0 }, delivered: [{ ...p.privacy.delivered[0], only_if }], void: null } }));
  }), {}, async (page) => {
    assert.equal(await page.locator('#privacy [data-privacy=claimed]').count(), 2);
    const said = await page.locator('#privacy [data-privacy=claimed]').allInnerTexts();
    assert.deepEqual(said.map((text) => text.includes(`Only if ${condition}`)), [false, true]);
  });
});

test('a claim is weaker than asked only if it was asked for, for its own budget', async () => using(await made('weaker', (doc) => {
  const p = doc.summary.points[1];
  const one = { ...p.privacy.delivered[0], epsilon: 1, delta: 1e-6, unit: 'one record', asked: true, only_if: null };
  const point = (name, delivered, asked) => ({ ...p, point: { 'algorithm.local': name }, label: '', privacy: { nominal: { epsilon: 1, delta: 1e-6 }, asked, delivered, void: null } });
  doc.summary.points = [
    point('person', [one, { ...one, epsilon: 20, unit: 'one person', asked: false }], [{ epsilon: 1, delta: 1e-6 }, null]),
    point('budgets', [{ ...one, epsilon: 0.25, unit: 'one record of agent 1' }, { ...one, epsilon: 3, unit: 'one record of agent 2' }], [{ epsilon: 0.25, delta: 1e-6 }, { epsilon: 3, delta: 1e-6 }]),
    point('paper', [{ ...one, epsilon: 2, unit: 'one reward' }], [{ epsilon: 1, delta: 1e-6 }]),
    point('delta', [{ ...one, delta: 1e-5, unit: 'one answer' }], [{ epsilon: 1, delta: 1e-6 }])];
}), {}, async (page) => {
  const rows = await page.locator('#privacy tbody tr').allInnerTexts();
  const weaker = Object.fromEntries(['one record\t', 'one person', 'agent 1', 'agent 2', 'one reward', 'one answer'].map((unit) => [unit.trim(), rows.filter((row) => row.includes(unit)).map((row) => row.includes('weaker than asked'))]));
  assert.deepEqual(weaker, { 'one record': [false], 'one person': [false], 'agent 1': [false], 'agent 2': [false], 'one reward': [true], 'one answer': [true] });
}));

test('a table that is cut shows at which side there is more', async () => using(await made('cut', () => {}), { viewport: { width: 380, height: 800 } }, async (page) => {
  const shadow = (side) => page.$eval('#table .scroller', (frame, pseudo) => getComputedStyle(frame, pseudo).opacity, side);
  const scroll = async (to) => { await page.$eval('#table .scroll', (pane, left) => { pane.scrollLeft = left; }, to); await settle(page); };
  const frame = page.locator('#table .scroller');
  assert.ok(await page.$eval('#table .scroll', (pane) => pane.scrollWidth > pane.clientWidth), 'nothing is cut');
  assert.equal(await shadow('::after'), '1');
  assert.doesNotMatch(await frame.getAttribute('class'), /more-left/);
  await scroll(40);
  assert.match(await frame.getAttribute('class'), /more-left more-right|more-right more-left/);
  await scroll(10_000);
  assert.equal(await shadow('::after'), '0');
  for (const one of await page.locator('.scroller').all()) {
    const [cut, told] = await one.evaluate((e) => [e.firstChild.scrollWidth - e.firstChild.clientWidth - e.firstChild.scrollLeft > 1, e.classList.contains('more-right')]);
    assert.equal(told, cut);
  }
}));

const contrasts = (page) => page.evaluate(() => {
  const light = (rgb) => rgb.match(/\d+/g).slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll('.chip .stroke path, .strip path')].map((e) => {
    const ink = light(getComputedStyle(e).stroke);
    return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  });
});

for (const [name, groups] of [['one ramp', 1], ['a ramp of each hue', 9]]) {
  test(`every shade is seen in the dark: ${name}`, async () => using(await made(`dark-${groups}`, (doc) => {
    const steps = doc.summary.points.slice(1, 6);
    doc.summary.points = Array.from({ length: groups }, (_, i) => steps.map((p, k) => ({
      ...p, point: { 'algorithm.name': `a${i}`, 'privacy.epsilon': 2 ** k }, algorithm: `a${i}`, label: '', privacy: i ? p.privacy : null }))).flat();
    doc.swept = [];
  }), { colorScheme: 'dark' }, async (page) => {
    const all = await contrasts(page);
    assert.ok(all.length >= 10 * groups, `${all.length} shades`);
    assert.ok(Math.min(...all) >= 3, `a contrast of ${Math.min(...all)}`);
  }));
}

test('missing parts leave their sections out, markup stays text', async () => using(await made('bare', (doc) => {
  const p = doc.summary.points[1];
  doc.summary = { name: '<b>bold</b> & </script>', points: [{ point: {}, algorithm: 'pe', replicates: 1, metrics: { regret: { mean: null, sd: null, se: null, n: 1, values: [null] } }, curve: { t: p.curve.t, regret: { mean: p.curve.regret.mean.map((v, i) => (i % 5 ? v : null)) } } }] };
  delete doc.phases;
  delete doc.spec;
  delete doc.command;
  delete doc.swept;
  doc.facts = [{ name: 'best action', value: 417 }];
}), {}, async (page) => {
  assert.equal(await page.textContent('h1'), '<b>bold</b> & </script>');
  assert.deepEqual(await page.$$eval('section', (list) => list.map((s) => s.id)), ['facts', 'curves', 'table']);
}));

test('an empty summary still opens', async () => using(await made('empty', (doc) => { doc.summary.points = []; }), {}, async (page) => {
  assert.deepEqual(await page.$$eval('section', (list) => list.map((s) => s.id)), ['phases', 'spec', 'again']);
}));
