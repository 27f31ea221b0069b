// Builds dist: one bundle, split so that a command loads only what it needs. The chunks are CommonJS, for Node starts
// those faster than ES modules; esbuild splits only ES modules, so each chunk is turned into CommonJS afterwards.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';

const outdir = 'dist';
const { outputFiles } = await build({
  entryPoints: { main: 'src/bin.ts' },
  bundle: true,
  splitting: true,
  write: false,
  outdir,
  format: 'esm',
  platform: 'node',
  target: 'node20.18',
  minifySyntax: true,
  charset: 'utf8',
  legalComments: 'none',
  chunkNames: 'chunk-[name]-[hash]',
});
await rm(outdir, { recursive: true, force: true });
await mkdir(outdir, { recursive: true });
await Promise.all(
  outputFiles.map(async ({ path, text }) => {
    const { code } = await transform(text, {
      format: 'cjs',
      platform: 'node',
      target: 'node20.18',
      charset: 'utf8',
    });
    await writeFile(join(outdir, basename(path)), code);
  }),
);
