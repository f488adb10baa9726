// The committed bundle must equal what the sources give.
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporary, web } from './page.mjs';

test('web/dist is up to date', async () => {
  const { build } = await import(pathToFileURL(join(web, 'build.mjs')).href);
  const folder = await temporary();
  try {
    await build(folder);
    for (const name of ['report.js', 'report.css']) {
      const [fresh, kept] = await Promise.all([folder, join(web, 'dist')].map((dir) => readFile(join(dir, name))));
      assert.ok(fresh.equals(kept), `${name} is stale: npm run --prefix web build`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the lock names no registry', async () => {
  assert.doesNotMatch(await readFile(join(web, 'package-lock.json'), 'utf8'), /"resolved"|https?:/);
});
