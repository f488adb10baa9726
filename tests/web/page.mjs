// Helpers of the tests: a report as the binary makes it, and a browser to open it in.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
export const web = join(here, '../../web');
const { chromium } = createRequire(join(web, 'package.json'))('playwright-core');

export const temporary = () => mkdtemp(join(tmpdir(), 'bandana-web-'));
export const fixture = async () => JSON.parse(await readFile(join(here, 'fixture.json'), 'utf8'));

/// Writes the template of report.html, as the C++ side does.
export async function writeReport(data, path) {
  const [css, js] = await Promise.all(['report.css', 'report.js'].map((name) => readFile(join(web, 'dist', name), 'utf8')));
  const json = JSON.stringify(data).replace(/</g, '\\u003c');
  const name = data.summary.name.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  await writeFile(path, `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${name} - Bandana</title><style>${css}</style></head><body><div id="app"></div>`
    + `<script type="application/json" id="bandana-data">${json}</script><script>${js}</script></body></html>`);
  return path;
}

export const launch = () => chromium.launch({
  executablePath: process.env.BANDANA_CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--headless', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

/// Opens a report; `trouble` collects every console error, page error and request that leaves the machine.
export async function open(browser, path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const trouble = [];
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) trouble.push(`console: ${m.text()}`); });
  page.on('pageerror', (e) => trouble.push(`page: ${e.message}`));
  page.on('request', (r) => { if (!/^(file|blob|data):/.test(r.url())) trouble.push(`request: ${r.url()}`); });
  await page.goto(pathToFileURL(path).href);
  await settle(page);
  return { context, page, trouble };
}

/// Waits until the charts have finished drawing.
export const settle = (page) => page.evaluate(() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)));
}));
