// Opens pages of the documentation site, which script/docs has built into $BANDANA_SITE, at two widths. No page is wider than
// its window, nothing is asked of the network, and pictures can be read. Screenshots go to the folder $BANDANA_SCREENSHOT.
import assert from 'node:assert/strict';
import { access, mkdir, readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import test, { after, before } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launch, open, temporary } from './page.mjs';

const site = resolve(process.env.BANDANA_SITE || 'build/site');
const images = join(dirname(fileURLToPath(import.meta.url)), '../../docs/images');
const pages = [
  'index', 'researcher', 'engineer', 'privacy-officer', 'programmer', 'tutorial',
  'concepts/trust-models', 'concepts/who-sees-what', 'concepts/epsilon', 'concepts/reading-a-claim',
  'how-to/compare-algorithms', 'calibration', 'ledger', 'audit', 'glossary', 'limitations', 'your-first-algorithm', 'cpp',
  'reference/index', 'reference/algorithms/dp-dpe', 'reference/algorithms/lin-ucb', 'reference/environments/linear',
  'reference/privatizers/shuffle', 'reference/exhibits/p1-fig2a', 'reference/cpp/index', 'reference/cpp/algorithm',
  'papers/index', 'papers/p1', 'papers/p3', 'proofs/index', 'proofs/sensitivity', 'proofs/accounting', 'claims',
  'tree/CONTRIBUTING', 'tree/README', 'search', 'genindex',
];
const widths = { wide: 1280, narrow: 400 };

let browser;
let pictures;

// These are made if the Python package is built.
const pythonPages = ['reference/python/index', 'reference/python/bandana', 'reference/python/bandana.calibrate', 'reference/python/bandana.policies'];

before(async () => {
  pictures = process.env.BANDANA_SCREENSHOT || await temporary();
  await mkdir(pictures, { recursive: true });
  if (await access(join(site, `${pythonPages[0]}.html`)).then(() => true, () => false)) pages.push(...pythonPages);
  browser = await launch();
});
after(async () => { if (browser) await browser.close(); });

/// Returns what sticks out of the window to the right: the page itself, or elements of it that no box inside the article scrolls.
const tooWide = (page) => page.evaluate(() => {
  const wide = document.documentElement.clientWidth;
  const scrolls = (element) => {
    for (let e = element.parentElement; e && e.tagName !== 'ARTICLE'; e = e.parentElement) {
      if (/auto|scroll|hidden/.test(getComputedStyle(e).overflowX)) return true;
    }
    return false;
  };
  const found = [];
  if (document.documentElement.scrollWidth > wide) found.push(`the page: ${document.documentElement.scrollWidth} of ${wide}`);
  for (const element of document.querySelectorAll('article *')) {
    const { right, width } = element.getBoundingClientRect();
    if (width > 0 && right > wide + 1 && !scrolls(element)) found.push(`${element.tagName} ${element.className}: ${(element.textContent || '').slice(0, 40)}`);
  }
  return found.slice(0, 5);
});

for (const [name, width] of Object.entries(widths)) {
  test(`no page is wider than ${width} pixels`, async () => {
    for (const place of pages) {
      const { context, page, trouble } = await open(browser, join(site, `${place}.html`), { viewport: { width, height: 900 } });
      await page.screenshot({ path: join(pictures, `${place.replaceAll('/', '_')}-${name}.png`) });
      assert.deepEqual(await tooWide(page), [], place);
      assert.deepEqual(trouble, [], place);
      assert.ok((await page.innerText('body')).length > 100, `${place} is empty`);
      await context.close();
    }
  });
}

test('a planted wide element is seen', async () => {
  const { context, page } = await open(browser, join(site, 'index.html'), { viewport: { width: 400, height: 900 } });
  await page.evaluate(() => { document.querySelector('article').insertAdjacentHTML('beforeend', '<div style="width: 500px">wide</div>'); });
  assert.notDeepEqual(await tooWide(page), []);
  await context.close();
});

test('the search finds a word, without a server', async () => {
  const { context, page, trouble } = await open(browser, `${join(site, 'search.html')}`);
  await page.goto(`${pathToFileURL(join(site, 'search.html')).href}?q=PrivUnit`);
  await page.waitForSelector('#search-results li a', { timeout: 20_000 });
  assert.deepEqual(trouble, []);
  await context.close();
});

test('the theme can be switched', async () => {
  const { context, page } = await open(browser, join(site, 'index.html'), { colorScheme: 'light' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await background();
  for (let i = 0; i < 3 && (await background()) === before; i++) await page.click('.theme-toggle-content button');
  assert.notEqual(await background(), before);
  await context.close();
});

test('on a narrow screen the table of contents opens', async () => {
  const { context, page } = await open(browser, join(site, 'index.html'), { viewport: { width: 400, height: 900 } });
  await page.click('label.nav-overlay-icon');
  await page.waitForTimeout(400);
  const box = await page.locator('.sidebar-tree a', { hasText: 'For researchers' }).first().boundingBox();
  assert.ok(box && box.x >= 0 && box.x < 400, 'the entry is out of sight');
  await context.close();
});

test('texts of the drawings stay inside them and can be read in light and dark', async () => {
  const drawings = (await readdir(images)).filter((name) => name.endsWith('.svg'));
  assert.ok(drawings.length >= 4);
  for (const colorScheme of ['light', 'dark']) {
    for (const name of drawings) {
      const { context, page } = await open(browser, join(images, name), { colorScheme, viewport: { width: 600, height: 700 } });
      const wrong = await page.evaluate(() => {
        const svg = document.documentElement;
        const [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
        const brightness = (color) => {
          const [r, g, b] = color.match(/[\d.]+/g).map(Number);
          return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
        };
        const found = [];
        for (const text of svg.querySelectorAll('text')) {
          const box = text.getBBox();
          if (box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height) found.push(`outside: ${text.textContent}`);
          let behind;
          for (const rect of svg.querySelectorAll('rect')) {
            const r = rect.getBBox();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            if (x >= r.x && x <= r.x + r.width && y >= r.y && y <= r.y + r.height) {
              behind = rect;
              if (!rect.classList.contains('paper') && (box.x < r.x || box.x + box.width > r.x + r.width)) found.push(`wider than its box: ${text.textContent}`);
            }
          }
          if (behind && Math.abs(brightness(getComputedStyle(text).fill) - brightness(getComputedStyle(behind).fill)) < 0.45) found.push(`faint: ${text.textContent}`);
        }
        return found;
      });
      assert.deepEqual(wrong, [], `${name}, ${colorScheme}`);
      await context.close();
    }
  }
});
