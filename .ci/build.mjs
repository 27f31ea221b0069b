// Builds dist: one bundle, split so that a command loads only what it needs, packed (see pack.mjs), the manual page,
// and the licences of bundled packages. The chunks are CommonJS, because Node loads those faster than ES modules;
// esbuild splits only ES modules, so each chunk is converted to CommonJS afterwards.
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { build, transform } from 'esbuild';
import { writeChunks } from './pack.mjs';

const outdir = 'dist';
/** Packages that most commands load; a chunk with any other package is packed alone. */
const lightPackages = ['commander', 'valibot'];
const common = {
  format: 'cjs',
  platform: 'node',
  target: 'node20.18',
  minifySyntax: true,
  // Without this esbuild keeps each pattern with Unicode classes of a package, used or not, and every start creates it.
  supported: { 'regexp-unicode-property-escapes': true },
};
// The package gives Node its CommonJS form, whose names a bundled `import()` would not see.
const alias = { yaml: resolve('node_modules/yaml/browser/index.js') };

/** Modules that packages load at once and this program does not need: executable subcommands, HTTP/2. */
const withoutUnused = {
  name: 'packages without modules that they load and never use',
  setup({ onLoad }) {
    const change = (filter, from, to) =>
      onLoad({ filter }, async ({ path }) => ({
        contents: replaced(await readFile(path, 'utf8'), from, to),
      }));
    change(
      /commander\/lib\/command\.js$/,
      "const childProcess = require('node:child_process');",
      "const childProcess = { get spawn() { return require('node:child_process').spawn; } };",
    );
    // If Node was built without it, undici works without its constants.
    change(
      /undici\/lib\/dispatcher\/client-h2\.js$/,
      "http2 = require('node:http2')",
      'http2 = { constants: {} }',
    );
  },
};

/** `import('./file?raw')` gives the text of a file, as it does in Vite. */
const rawText = {
  name: 'raw text',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.replace(/\?raw$/, '')),
      namespace: 'raw',
    }));
    onLoad({ filter: /.*/, namespace: 'raw' }, async ({ path }) => ({
      contents: await readFile(path, 'utf8'),
      loader: 'text',
    }));
  },
};

/**
 * Makes a CommonJS chunk export plain values when it has run. esbuild exports getters, a copy of them whose getters call
 * those, and one more copy for each `import()`: milliseconds of a start, and some of every use. Plain values will do, because
 * the chunks of a split bundle do not import each other in a circle, and no module assigns to what it exports.
 */
function exportingValues(code) {
  if (code.includes('__esm('))
    throw new Error('a module of this chunk sets its exports after the chunk has run');
  const imported = code.replace(/__toESM\((require\("\.\/[^"]+"\))\)/g, '$1');
  const getters =
    /^__export\(stdin_exports, \{([^}]*)\}\);\nmodule\.exports = __toCommonJS\(stdin_exports\);$/m;
  const [all, exported] = getters.exec(imported) ?? [];
  if (!all && code.includes('__toCommonJS(stdin_exports)'))
    throw new Error('esbuild exports in another form');
  if (!all) return imported;
  return `${imported.replace(all, '')}\nObject.assign(exports, { __esModule: true, ${exported.replaceAll('() => ', '')} });`;
}

function replaced(text, from, to) {
  if (!text.includes(from)) throw new Error(`a package no longer holds: ${from}`);
  return text.replace(from, to);
}

const { outputFiles, metafile } = await build({
  ...common,
  alias,
  plugins: [withoutUnused, rawText],
  entryPoints: { main: 'src/bin.ts' },
  bundle: true,
  splitting: true,
  write: false,
  metafile: true,
  outdir,
  format: 'esm',
  legalComments: 'none',
  chunkNames: '[name]-[hash]',
});
await rm(outdir, { recursive: true, force: true });
await mkdir(outdir, { recursive: true });
const chunks = Object.fromEntries(
  await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      // A native import() in CommonJS would start Node's ES module loader, which costs as much as commander.
      const { code } = await transform(text, {
        ...common,
        supported: { ...common.supported, 'dynamic-import': false },
      });
      const small = await transform(exportingValues(code), { ...common, minify: true, treeShaking: true });
      return [basename(path), small.code];
    }),
  ),
);
const packages = packagesByFile(metafile);
const light = Object.keys(chunks).filter((file) =>
  packages[file].every((name) => lightPackages.includes(name)),
);
const scratch = await mkdtemp(join(tmpdir(), 'petstore-build-'));
await writeChunks(outdir, { chunks, light, scratch });
await rm(scratch, { recursive: true });
await writeFile(join(outdir, 'packages.json'), JSON.stringify(packages, null, 2));
await writeFile(join(outdir, 'LICENSES.txt'), licencesOf(Object.values(packages).flat()));

const manualWriter = resolve(outdir, 'write-manual.js');
await build({
  ...common,
  alias,
  plugins: [rawText],
  entryPoints: ['src/write-manual.ts'],
  bundle: true,
  outfile: manualWriter,
  logLevel: 'error',
});
const { writeManual } = createRequire(import.meta.url)(manualWriter);
await writeManual(join(outdir, 'petstore.1'));
await rm(manualWriter);

/** The packages that each chunk holds, by the chunk's name. */
function packagesByFile({ outputs }) {
  const rows = Object.entries(outputs).map(([file, { inputs }]) => {
    const names = Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .flatMap(([input]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []);
    return [basename(file), [...new Set(names)].sort()];
  });
  return Object.fromEntries(rows);
}

/** Writes the licence texts of bundled packages next to the bundle, as the licences require. */
function licencesOf(names) {
  const texts = [...new Set(names)].sort().map((name) => {
    const folder = join('node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
  });
  return texts.join('\n----\n\n');
}
