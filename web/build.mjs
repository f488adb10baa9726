// Bundles src/ into dist/report.js and dist/report.css, which bandana embeds and pastes into report.html.
// Equal sources and the pinned esbuild give equal bytes.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const root = dirname(fileURLToPath(import.meta.url));
const limit = 140_000;

export async function build(outdir = join(root, 'dist')) {
  const licence = (await readFile(join(root, 'node_modules/uplot/LICENSE'), 'utf8')).replace(/\s+/g, ' ').trim();
  const shared = { absWorkingDir: root, bundle: true, minify: true, write: false, charset: 'utf8', legalComments: 'none', logLevel: 'warning' };
  const js = await esbuild.build({
    ...shared, entryPoints: ['src/main.js'], format: 'iife', target: ['es2020'], banner: { js: `/* Contains uPlot. ${licence} */` },
  });
  const css = await esbuild.build({ ...shared, entryPoints: ['src/report.css'], target: ['chrome90', 'firefox90', 'safari14'] });
  const out = { 'report.js': js.outputFiles[0].text, 'report.css': css.outputFiles[0].text };
  for (const [name, text] of Object.entries(out)) {
    if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name} would end its element inside an HTML page`);
  }
  const bytes = Object.values(out).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > limit) throw new Error(`${bytes} bytes are over the limit of ${limit}`);
  await mkdir(outdir, { recursive: true });
  for (const [name, text] of Object.entries(out)) await writeFile(join(outdir, name), text);
  return bytes;
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  console.log(`${await build(process.argv[2])} bytes`);
}
