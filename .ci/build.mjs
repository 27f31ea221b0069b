// Builds dist: one bundle, split so that a command loads only what it needs, and the manual page. The chunks are
// CommonJS, for Node starts those faster than ES modules; esbuild splits only ES modules, so each chunk is turned into
// CommonJS afterwards. With --completions it writes the scripts of completions/ too.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { build, transform } from 'esbuild';

const outdir = 'dist';
const common = {
  format: 'cjs',
  platform: 'node',
  target: 'node20.18',
  charset: 'utf8',
  minifySyntax: true,
};
// The package gives Node its CommonJS form, whose names a bundled `import()` would not see.
const alias = { yaml: resolve('node_modules/yaml/browser/index.js') };

const { outputFiles } = await build({
  ...common,
  alias,
  entryPoints: { main: 'src/bin.ts' },
  bundle: true,
  splitting: true,
  write: false,
  outdir,
  format: 'esm',
  legalComments: 'none',
  chunkNames: '[name]-[hash]',
});
await rm(outdir, { recursive: true, force: true });
await mkdir(outdir, { recursive: true });
await Promise.all(
  outputFiles.map(async ({ path, text }) => {
    // A native import() in CommonJS would start Node's ES module loader, which costs as much as commander.
    const { code } = await transform(text, { ...common, supported: { 'dynamic-import': false } });
    await writeFile(join(outdir, basename(path)), code);
  }),
);

const generator = resolve(outdir, 'generate.js');
await build({
  ...common,
  alias,
  entryPoints: ['src/generate.ts'],
  bundle: true,
  outfile: generator,
  logLevel: 'error',
});
const { writeCompletions, writeManual } = createRequire(import.meta.url)(generator);
await writeManual(join(outdir, 'petstore.1'));
if (process.argv.includes('--completions')) await writeCompletions('completions');
await rm(generator);
