// Opens reports that the real binary ($BANDANA) has written: a sweep and a demo. Screenshots go to the folder
// $BANDANA_SCREENSHOT.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test, { after, before } from 'node:test';
import { promisify } from 'node:util';
import { launch, open, temporary } from './page.mjs';

const run = promisify(execFile);
const bandana = resolve(process.env.BANDANA || 'build/bandana');
const spec = `name = "three models"
horizon = 20_000
seed = 7
replicates = 4
[environment]
dimension = 5
actions = 50
client_sd = 0.1
population = 10_000
[algorithm]
name = "dp-dpe"
[privacy]
model = "none"
delta = 1e-6
[sweep]
"privacy.model" = ["none", "central", "local"]
"privacy.epsilon" = [1, 5, 25]
`;

let browser;
let folder;
let pictures;

before(async () => {
  folder = await temporary();
  pictures = process.env.BANDANA_SCREENSHOT || folder;
  await mkdir(pictures, { recursive: true });
  await writeFile(join(folder, 'spec.toml'), spec);
  await run(bandana, ['run', 'spec.toml', '--out', 'sweep', '--quiet'], { cwd: folder });
  await run(bandana, ['demo', '--out', 'demo'], { cwd: folder });
  await run(bandana, ['demo', '--out', 'seeded', '--insecure-seed', '5'], { cwd: folder });
  await run(bandana, ['run', 'spec.toml', '--out', 'hostile', '--quiet', '--set', 'privacy.model=none', '--set', 'name=</script><script>window.broken = 1</script><b>'], { cwd: folder });
  browser = await launch();
});
after(async () => {
  if (browser) await browser.close();
  await rm(folder, { recursive: true });
});

async function using(report, options, work) {
  const { context, page, trouble } = await open(browser, join(folder, report, 'report.html'), options);
  try {
    await work(page);
    assert.deepEqual(trouble, []);
  } finally {
    await context.close();
  }
}

/// Returns, for each chart, how many pixels of its canvas were drawn on.
const inked = (page) => page.$$eval('[data-chart] canvas', (list) => Object.fromEntries(list.map((canvas) => {
  const { data: rgba } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] > 40) n++;
  return [canvas.closest('[data-chart]').dataset.chart, n];
})));

async function drawn(page, charts) {
  const ink = await inked(page);
  for (const chart of charts) assert.ok(ink[chart] > 1500, `${chart} is blank: ${ink[chart]} pixels`);
  for (const [chart, n] of Object.entries(ink)) assert.ok(n > 1500, `${chart} is blank: ${n} pixels`);
}

const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
const noTraceOfMistakes = async (page) => assert.doesNotMatch(await page.innerText('body'), /\b(NaN|undefined|Infinity|null|\[object)\b/);

test('a sweep: three models, three epsilons', () => using('sweep', {}, async (page) => {
  assert.equal(await page.textContent('h1'), 'three models');
  await drawn(page, ['curves', 'epsilon']);
  assert.equal(await page.locator('#table tbody tr').count(), 7);
  const said = await page.innerText('#privacy');
  for (const part of ['No privacy is claimed', 'the server itself is trusted', 'docs/proofs/central-gaussian.md', 'docs/proofs/local-gaussian.md']) {
    assert.ok(said.includes(part), `"${part}" is not said`);
  }
  assert.equal(await page.locator('header [role=alert]').count(), 0);
  assert.ok((await page.innerText('body')).includes('bandana run spec.toml'));
  await noTraceOfMistakes(page);
  await picture(page, 'sweep');
}));

test('a demo: facts, phases and its promise', () => using('demo', {}, async (page) => {
  await drawn(page, ['curves', 'phases-active']);
  const facts = await page.innerText('#facts');
  for (const part of ['best configuration found', 'tilt', 'regret', 'epsilon spent', 'bytes per client']) assert.ok(facts.includes(part), `no ${part}`);
  assert.ok((await page.innerText('#privacy')).includes('the server itself is trusted'));
  assert.equal(await page.locator('header [role=alert]').count(), 0);
  await noTraceOfMistakes(page);
  await picture(page, 'demo');
}));

test('a demo names the sampler that it used', () => using('demo', {}, async (page) => {
  assert.doesNotMatch(await page.textContent('#spec'), /sampler = "fast"/, 'the roles take the exact sampler alone');
}));

test('a demo with a known seed says loudly that its promise is void', () => using('seeded', {}, async (page) => {
  assert.match((await page.locator('header [role=alert]').allInnerTexts()).join(), /known seed/);
  await picture(page, 'seeded');
}));

test('a hostile name stays text', () => using('hostile', {}, async (page) => {
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await page.textContent('h1'), '</script><script>window.broken = 1</script><b>');
  await drawn(page, ['curves']);
}));

for (const [name, options] of [['dark', { colorScheme: 'dark' }], ['phone', { viewport: { width: 390, height: 844 } }]]) {
  test(`looks right: ${name}`, () => using('sweep', options, async (page) => {
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'it scrolls sideways');
    await drawn(page, ['curves']);
    await picture(page, `sweep-${name}`);
  }));
}
