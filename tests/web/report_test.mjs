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

/// How many pixels of each canvas something was drawn on, by chart.
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

/// A press must change the chart's picture.
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
    for (const d of privacy.delivered || []) for (const word of [d.adversary, d.unit, d.proof]) if (word) assert.ok(said.includes(word), `"${word}" is not said`);
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

// What one report cannot show; these are always made here.
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
