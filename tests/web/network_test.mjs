// Tests of a network's drawing: where its nodes are, what is marked, and what the user can ask.
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { arrange, tidy } from '../../web/src/graph.js';
import { alone, complete, grid, hybrid, line, metric, networked, ring, star, tangled, workers } from './networks.mjs';
import { fixture, launch, open, settle, temporary, writeReport } from './page.mjs';

const many = [['complete 12', alone(12, complete(12))], ['star 50', alone(50, star(50))], ['hybrid', hybrid()], ['random 500', alone(500, tangled(500, 1500))],
  ['ring 10', alone(10, ring(10))], ['grid', alone(60, grid(10, 6))], ['none', null]];
const lossy = (label) => (label === 'hybrid' ? { lost_tallies: metric(12, 1), disagreements: metric(2), links_server: metric(5) } : {});

let browser;
let folder;
let path;

before(async () => {
  folder = await temporary();
  path = await report('networks', many, lossy);
  browser = await launch();
});
after(async () => {
  if (browser) await browser.close();
  await rm(folder, { recursive: true });
});

const report = async (name, networks, metrics) => writeReport(networked(await fixture(), networks, metrics), join(folder, `${name}.html`));

async function using(file, options, work) {
  const { context, page, trouble } = await open(browser, file, options);
  try {
    await work(page);
    assert.deepEqual(trouble, []);
  } finally {
    await context.close();
  }
}

async function choose(page, name) {
  await page.selectOption('#network [aria-label=Point]', { label: name });
  await settle(page);
}
const drawn = (page, kind) => page.locator(`[data-chart=network] svg .${kind}`).count();

const layouts = [
  ['circle', alone(12, complete(12))], ['star', alone(50, star(50))], ['ring', alone(50, ring(50))], ['line', alone(40, line(40))], ['grid', alone(60, grid(10, 6))], ['force', alone(80, tangled(80, 160))],
  ['star', workers(50)], ['dot', alone(1, [])], ['line', alone(2, [[1, 2, 3]])], ['circle,star,ring,grid,force', hybrid()], ['force', alone(500, tangled(500, 1500))],
  ['circle', alone(100, Array.from({ length: 100 }, (_, i) => [[i + 1, ((i + 1) % 100) + 1, 1], [i + 1, ((i + 2) % 100) + 1, 1], ...(i % 10 ? [] : [[i + 1, ((i + 37) % 100) + 1, 1]])]).flat())],
];
layouts.forEach(([kinds, raw], k) => test(`layout ${k}: ${kinds}, ${raw.nodes} agents, each in a place of its own, always the same`, () => {
  const plan = arrange(tidy(raw), 800, 500);
  assert.equal(plan.kinds.join(), kinds);
  const first = raw.server ? 0 : 1;
  for (let i = first; i <= raw.nodes; i++) {
    const [x, y] = plan.at[i];
    assert.ok(x >= -1e-9 && x <= plan.width + 1e-9 && y >= -1e-9 && y <= plan.height + 1e-9, `${i} at ${x}, ${y} of ${plan.width}, ${plan.height}`);
    for (let j = first; j < i; j++) assert.ok(Math.hypot(x - plan.at[j][0], y - plan.at[j][1]) > 0.05, `${i} lies on ${j}`);
  }
  assert.deepEqual(arrange(tidy(raw), 800, 500).at, plan.at);
}));

test('the hub of a star is in the middle, a server on top, and components keep apart', () => {
  const { at, width, height } = arrange(tidy(alone(50, star(50))), 800, 500);
  assert.ok(Math.hypot(at[1][0] - width / 2, at[1][1] - height / 2) < 0.05 * width);
  const plan = arrange(tidy(hybrid()), 800, 500);
  assert.ok(plan.at.slice(1).every(([, y]) => y > plan.at[0][1] + 0.5));
  const boxes = plan.parts.map((list) => [0, 1].flatMap((i) => [Math.min(...list.map((n) => plan.at[n][i])), Math.max(...list.map((n) => plan.at[n][i]))]));
  boxes.forEach((a, i) => boxes.slice(0, i).forEach((b) => assert.ok(a[0] > b[1] || b[0] > a[1] || a[2] > b[3] || b[2] > a[3], 'two components overlap')));
});

test('five hundred nodes are laid out in well under a second', () => {
  const start = process.cpuUsage();
  arrange(tidy(alone(500, tangled(500, 3000))), 800, 500);
  const { user, system } = process.cpuUsage(start);
  assert.ok(user + system < 1e6, `${(user + system) / 1e6} s`);
});

test('what cannot be drawn is left out', () => {
  assert.equal(tidy(undefined), null);
  assert.equal(tidy({ nodes: 0 }), null);
  assert.equal(tidy({ nodes: 'x', edges: [] }), null);
  const net = tidy({ nodes: 3, edges: [[1, 1, 4], [1, 2, null], [2, 1, 6], [0, 2, 1], [3, 4, 1], 'x', [2, 3, -1]], sinks: [9, 2, 'a'], lost: { agents: [3], links: [[1, 3]] } });
  assert.deepEqual(net.edges.map((e) => [e.a, e.b, e.messages, e.cut]), [[1, 2, 6, false], [2, 3, null, false], [1, 3, null, true]]);
  assert.deepEqual([...net.sinks], [2]);
});

test('no network, no section', async () => using(await writeReport(await fixture(), join(folder, 'without.html')), {}, async (page) => {
  assert.equal(await page.locator('#network').count(), 0);
}));

test('every network is drawn, with its sinks, its server and its losses', () => using(path, {}, async (page) => {
  assert.deepEqual(await page.$$eval('#network option', (list) => list.map((o) => o.textContent)), ['complete 12', 'star 50', 'hybrid', 'random 500', 'ring 10', 'grid']);
  for (const [name, raw] of many.filter(([, one]) => one)) {
    await choose(page, name);
    const { lost } = raw;
    assert.equal(await drawn(page, 'link'), raw.edges.length + raw.uplinks.length, `links of ${name}`);
    assert.equal(await drawn(page, 'sink'), raw.sinks.length);
    assert.equal(await drawn(page, 'lost'), lost.agents.length);
    assert.equal(await drawn(page, 'agent'), raw.nodes - raw.sinks.length - lost.agents.length);
    assert.equal(await drawn(page, 'server'), raw.server ? 1 : 0);
    assert.equal(await drawn(page, 'count'), raw.edges.length <= 30 ? raw.edges.length : 0, `counts of ${name}`);
    assert.doesNotMatch(await page.$eval('[data-chart=network] svg', (e) => e.outerHTML), /NaN|Infinity|undefined/);
    const [inside, outside] = await page.$eval('[data-chart=network] svg', (e) => { const b = e.querySelector('g').getBBox(); return [[b.x, b.y, b.x + b.width, b.y + b.height], [e.clientWidth, e.clientHeight]]; });
    assert.ok(inside[0] >= 0 && inside[1] >= 0 && inside[2] <= outside[0] && inside[3] <= outside[1], `${name}: ${inside} in ${outside}`);
  }
}));

test('more messages, a wider line', () => using(path, {}, async (page) => {
  await choose(page, 'ring 10');
  const widths = await page.$$eval('[data-chart=network] svg .link', (list) => list.map((e) => Number(e.getAttribute('stroke-width'))));
  const inks = await page.$$eval('[data-chart=network] svg .link', (list) => list.map((e) => e.getAttribute('stroke')));
  assert.deepEqual(widths, [...widths].sort((a, b) => a - b));
  assert.equal(new Set(widths).size, new Set(ring(10).map((e) => e[2])).size);
  assert.ok(new Set(inks).size > 3);
  assert.match(await page.textContent('[data-chart=network] svg'), /24 messages$/, 'the key says what the widest is');
}));

test('counts cover neither nodes nor each other', () => using(path, {}, async (page) => {
  await choose(page, 'ring 10');
  const covered = await page.evaluate(() => {
    const boxes = (what) => [...document.querySelectorAll(`[data-chart=network] svg ${what}`)].map((e) => e.getBBox());
    const meet = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y + 3 < b.y + b.height && b.y + 3 < a.y + a.height;
    const [counts, nodes] = [boxes('.count'), boxes('.agent')];
    return counts.filter((a, i) => nodes.some((b) => meet(a, b)) || counts.slice(0, i).some((b) => meet(a, b))).length;
  });
  assert.equal(covered, 0);
}));

test('what was lost is said, where something was', () => using(path, {}, async (page) => {
  assert.equal(await page.locator('#network .losses').count(), 0);
  await choose(page, 'hybrid');
  assert.equal(await page.innerText('#network .losses'), 'Lost: agent 20; the link 24–28; 12 tallies that somebody decided without on average. Agents disagreed on the active arms 2 times on average.');
}));

test('costs stand beside the drawing, and all points’ below', () => using(path, {}, async (page) => {
  await choose(page, 'hybrid');
  const said = await page.innerText('#network .legend');
  for (const part of [/Links to the server\s+5/, /Links between agents\s+53/, /Message slots\s+15/, /Communication \(cost\)\s+1\.24\dk|Communication \(cost\)\s+1\.24k/, /Cost by the paper’s formula\s+980/, /Waiting pulls\s+600/, /Lost tallies\s+12/]) assert.match(said, part);
  assert.deepEqual(await page.locator('#network .costs tbody th').allInnerTexts(), many.slice(0, 6).map(([name]) => name));
  assert.equal(await page.locator('#network .costs tr.chosen th').innerText(), 'hybrid');
}));

test('mouse and keys read nodes and links', () => using(path, {}, async (page) => {
  await choose(page, 'ring 10');
  const tip = page.locator('[data-chart=network] .tip');
  await page.locator('[data-chart=network] .agent').first().hover({ force: true });
  await tip.waitFor({ state: 'visible' });
  const [, , up] = ring(10)[0];
  assert.equal(await tip.innerText(), `Agent 1\n2 links, ${up + ring(10)[9][2]} messages`);
  await page.mouse.move(0, 0);
  await tip.waitFor({ state: 'hidden' });
  await page.focus('[data-chart=network]');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.match(await tip.innerText(), /^Agent 2\n/);
  await page.keyboard.press('ArrowDown');
  assert.equal(await tip.innerText(), `1 – 2\n${up} messages`);
  assert.equal(await page.locator('[data-chart=network] .lit path').count(), 3);
  await page.keyboard.press('Escape');
  await tip.waitFor({ state: 'hidden' });
  await choose(page, 'hybrid');
  await page.focus('[data-chart=network]');
  await page.keyboard.press('ArrowRight');
  assert.match(await tip.innerText(), /^Server\n6 links, 60 messages/);
}));

test('the drawing saves as SVG, where hovering works too, and as PNG', () => using(path, {}, async (page) => {
  await choose(page, 'hybrid');
  const saved = async (kind) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`#network [data-save=${kind}]`)]);
    assert.equal(download.suggestedFilename(), `who-talks-to-whom-network.${kind}`);
    return readFile(await download.path());
  };
  const text = (await saved('svg')).toString();
  assert.match(text, /<title>Network of hybrid<\/title>/);
  for (const part of ['<title>24 – 28: ', 'link cut</title>', '<title>Agent 20, lost</title>', '<title>Agent 2, sink</title>', '<title>server – 2: 12 messages</title>']) assert.ok(text.includes(part), part);
  assert.equal(await page.evaluate((xml) => new DOMParser().parseFromString(xml, 'application/xml').querySelectorAll('parsererror').length, text), 0);
  const png = await saved('png');
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  assert.ok(png.length > 20_000);
}));

for (const [name, options] of [['light', {}], ['dark', { colorScheme: 'dark' }], ['phone', { viewport: { width: 380, height: 800 } }]]) {
  test(`looks right: ${name}`, () => using(path, options, async (page) => {
    await choose(page, 'hybrid');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'it scrolls sideways');
    const ground = await page.$eval('[data-chart=network] svg .server', (e) => e.getAttribute('fill'));
    assert.equal(ground, name === 'dark' ? '#e8eaed' : '#1c1f23');
    if (process.env.BANDANA_SCREENSHOT) await page.locator('#network').screenshot({ path: `${process.env.BANDANA_SCREENSHOT}-network-${name}.png` });
  }));
}

test('prints as an SVG in light colours', () => using(path, { colorScheme: 'dark' }, async (page) => {
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.equal(await page.locator('#network .paper svg').count(), 1);
  assert.equal(await page.locator('.paper svg').count(), await page.locator('[data-chart]').count());
  assert.equal(await page.$eval('#network .paper svg > rect', (e) => e.getAttribute('fill')), '#ffffff');
}));

test('missing fields and a hostile name', async () => using(await report('bare', [['<b>x</b>', { nodes: 3 }], ['y', { nodes: 4, edges: [[1, 2], [2, 3, 0]], lost: null, sinks: null }], ['z', { nodes: 2, server: true }], ['none', null]],
  (label) => (label === 'y' ? { links_peer: undefined, messages: { mean: null } } : {})), {}, async (page) => {
  assert.deepEqual(await page.locator('#network [aria-label=Point] button').allInnerTexts(), ['<b>x</b>', 'y', 'z']);
  assert.equal(await drawn(page, 'agent'), 3);
  await page.click('#network [aria-label=Point] button:nth-of-type(2)');
  await settle(page);
  assert.equal(await drawn(page, 'agent'), 4);
  assert.match(await page.textContent('[data-chart=network] svg'), /not counted/);
  await page.click('#network [aria-label=Point] button:nth-of-type(3)');
  await settle(page);
  assert.equal(await drawn(page, 'server'), 1);
  assert.doesNotMatch(await page.innerText('#network'), /\b(NaN|undefined|Infinity|null|\[object)\b/);
}));

test('of too many links an even choice is drawn, and says so; all are read', async () => using(await report('dense', [['all', alone(300, complete(300))]]), {}, async (page) => {
  assert.equal(await page.locator('#network [aria-label=Point]').count(), 0);
  const n = await drawn(page, 'link');
  assert.ok(n > 4500 && n < 5500, `${n} links`);
  assert.match(await page.textContent('[data-chart=network] svg'), /\d\S*k of 44\.85k links are drawn$/);
  await page.focus('[data-chart=network]');
  await page.keyboard.press('ArrowRight');
  assert.match(await page.innerText('[data-chart=network] .tip'), /^Agent 1\n299 links/);
}));
