// Tests of reports of P5's runs: with many environments one is shown at a time, and logs have no regret.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { launch, open, settle, temporary, writeReport } from './page.mjs';

let browser;
let folder;
before(async () => {
  folder = await temporary();
  browser = await launch();
});
after(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

const t = [1, 10, 100, 1000];
const line = (end) => ({ mean: t.map((x) => (end * x) / 1000), sd: t.map(() => 0.1), median: t.map((x) => (end * x) / 1000), q10: t.map(() => 0), q90: t.map(() => end) });
const unknown = { mean: t.map(() => null), sd: t.map(() => null), median: t.map(() => null), q10: t.map(() => null), q90: t.map(() => null) };
const claim = { nominal: { epsilon: 1, delta: 0 }, delivered: [{ adversary: 'everyone', epsilon: 1, delta: 0, unit: 'one user', neighbours: 'replace-one', proof: 'docs/proofs/local-gradient.md' }], void: null };
const metric = (mean) => ({ mean, sd: 1, se: 1, n: 2, values: [mean, mean] });

async function using(name, points, work) {
  const data = { summary: { name, version: '0', spec_sha256: '0', wall_s: 1, cpu_s: 1, points }, spec: '', command: 'bandana run x.toml', swept: [], simulated: true };
  const { context, page, trouble } = await open(browser, await writeReport(data, join(folder, `${name}.html`)), {});
  try {
    await work(page);
    assert.deepEqual(trouble, []);
  } finally {
    await context.close();
  }
}

test('worlds are looked at one at a time', () => {
  const points = [];
  for (const link of ['identity', 'logistic']) {
    for (let i = 0; i < 8; i++) {
      points.push({ point: { 'environment.link': link, 'algorithm.step': i }, label: `${link} step=${i}`, algorithm: 'ldp-sgd', replicates: 2,
        metrics: { regret: metric(10 + i) }, curve: { t, regret: line(10 + i) }, privacy: claim });
    }
  }
  return using('worlds', points, async (page) => {
    const shown = () => page.$$eval('#curves .chip[aria-pressed=true]', (list) => list.map((b) => b.title));
    assert.equal((await shown()).length, 8);
    assert.ok((await shown()).every((name) => name.includes('identity')), String(await shown()));
    await page.selectOption('#curves select[aria-label=World]', { label: 'logistic' });
    await settle(page);
    assert.equal((await shown()).length, 8);
    assert.ok((await shown()).every((name) => name.includes('logistic')), String(await shown()));
  });
});

test('a log shows what a round earned, and what its claim is not about', () => {
  const note = 'It is not for the people in the log.';
  const points = ['ldp-sgd', 'ldp-ols'].map((algorithm) => ({ point: { 'algorithm.name': algorithm }, label: algorithm, algorithm, replicates: 2, notes: [note],
    metrics: { regret: metric(null), value: metric(0.7) }, curve: { t, regret: unknown, value: line(0.7) }, privacy: claim }));
  return using('log', points, async (page) => {
    assert.equal(await page.textContent('#curves h2'), 'Reward a round over time');
    assert.equal(await page.locator('#curves [data-slope]').count(), 0);
    const text = await page.innerText('#privacy');
    assert.ok(text.includes(note) && text.includes('simulation on a log'), text);
  });
});
