// Builds dist: a bundle of the program with commander, conf and valibot, a smaller one for commands that only read records, a bundle
// of each further package, which the program loads when it needs the package, the table of commands, and the licences of the
// bundled packages.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { leanPackages } from './lean-packages.mjs';

const outdir = 'dist';
/** The packages that most commands load. They are part of the bundle of the program, and so of its code cache. */
const packagesInside = ['commander', 'conf', 'valibot'];
// What the bundle of a package begins with, if that is not the package itself.
const entries = {
  // The package gives Node its CommonJS form, whose names a bundled `import()` would not see.
  yaml: resolve('node_modules/yaml/browser/index.js'),
  // Only parts of these packages are used, and the whole takes longer to load.
  '@inquirer/prompts': resolve('.ci/parts/inquirer.mjs'),
  undici: resolve('.ci/parts/undici.mjs'),
};
const common = {
  bundle: true,
  metafile: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20.18',
  minify: true,
  legalComments: 'none',
  supported: {
    // A native import() in CommonJS would start Node's ES module loader, which costs as much as commander.
    'dynamic-import': false,
    // Without this esbuild keeps each pattern with Unicode classes of a package, used or not, and every start creates it.
    'regexp-unicode-property-escapes': true,
  },
};

/** Lets `import('./file?raw')` return the text of a file, as in Vite. */
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

/** The packages that the program loads, by the names of their bundles. */
const packages = new Map();
const packagesApart = {
  name: 'a bundle for each package',
  setup({ onResolve }) {
    onResolve({ filter: /^[@a-z]/ }, ({ path, kind, importer }) => {
      if (/node_modules[\\/]conf[\\/]/.test(importer)) return undefined;
      if (kind === 'entry-point' || path.startsWith('node:') || packagesInside.includes(path))
        return undefined;
      const file = `${path.replace('@', '').replaceAll('/', '-').replace(/\.js$/, '')}.js`;
      packages.set(file, entries[path] ?? path);
      return { path: `../dist/${file}`, external: true };
    });
  },
};

/** The modules that `list` and `get` of a noun load. Of those that commands load, the bundle for reads has no others. */
const readModules = /(?:^\.\/(?:pets|categories|orders|inventory\/index)|\/list-and-get)\.ts$/;
const onlyReads = {
  name: 'only reads',
  setup({ onResolve }) {
    onResolve({ filter: /\.ts$/ }, ({ path, kind, importer }) => {
      const isLoadedByCommand = kind === 'dynamic-import' && /src[\\/]commands[\\/]/.test(importer);
      return isLoadedByCommand && !readModules.test(path) ? { path, external: true } : undefined;
    });
  },
};

await rm(outdir, { recursive: true, force: true });
await mkdir(outdir, { recursive: true });
const results = [
  await buildBundle('petstore.js', 'src/bin.ts', [rawText, leanPackages, packagesApart]),
  await buildBundle('reads.js', 'src/bin.ts', [rawText, leanPackages, onlyReads, packagesApart]),
  await build({
    ...common,
    plugins: [packagesApart],
    entryPoints: ['src/without-program.ts'],
    outfile: join(outdir, 'without-program.js'),
  }),
];
for (const [file, entry] of packages) results.push(await buildBundle(file, entry, [leanPackages]));
await writeFile(join(outdir, 'LICENSES.txt'), licencesOf(results.flatMap(packagesIn)));

// The commands as data, for help and completion.
const tree = resolve(outdir, 'tree.js');
await build({
  ...common,
  alias: { yaml: entries.yaml },
  plugins: [rawText, leanPackages],
  stdin: {
    contents: `export { makeHelpFiles } from './cli/help.ts';
      export { program } from './commands/index.ts';`,
    resolveDir: 'src',
  },
  outfile: tree,
});
const { makeHelpFiles, program } = createRequire(import.meta.url)(tree);
await rm(tree);
for (const [name, text] of Object.entries(await makeHelpFiles(program)))
  await writeFile(join(outdir, name), text);

/** Builds a bundle that bin/petstore.js runs as a function, with a code cache. The bundle ends with a hash of its content. */
async function buildBundle(file, entry, plugins) {
  const outfile = join(outdir, file);
  const banner = { js: '(function (require, module, __dirname) {' };
  const footer = { js: '})' };
  const result = await build({ ...common, plugins, entryPoints: [entry], outfile, banner, footer });
  const content = await readFile(outfile);
  // bin/petstore.js reads it as Latin-1, which is the fastest. esbuild escapes texts, but not patterns.
  if (content.some((byte) => byte > 0x7f)) throw new Error(`${outfile} is not ASCII: escape its patterns`);
  await appendFile(outfile, `// ${createHash('sha256').update(content).digest('hex').slice(0, 8)}\n`);
  return result;
}

/** Returns the folders of the packages in a bundle. */
function packagesIn({ metafile }) {
  return Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([input]) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []);
}

/** Returns the licence texts of the packages. The licences require them beside the code. */
function licencesOf(folders) {
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
  });
  return texts.join('\n----\n\n');
}
