import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

interface Import {
  readonly file: string;
  readonly target: string;
  readonly dynamic: boolean;
  readonly typeOnly: boolean;
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src', name));
const imports = files.flatMap(importsOf);

/** The only files that may name a package, and whether it must be loaded only where it is used. */
const owners: Readonly<Record<string, { readonly files: readonly string[]; readonly heavy?: true }>> = {
  commander: { files: ['src/cli/parse-line.ts', 'src/cli/help.ts'] },
  valibot: { files: ['src/api', 'src/bulk', 'src/client', 'src/server', 'src/writes'] },
  yaml: { files: ['src/process/exact-yaml.ts'], heavy: true },
  '@scalar/openapi-upgrader': { files: ['src/binding/description.ts'], heavy: true },
  'fast-string-width': { files: ['src/output/table.ts'], heavy: true },
  undici: { files: ['src/client/transport/undici.ts'] },
  chalk: { files: ['src/output/style.ts'], heavy: true },
  'cli-table3': { files: ['src/output/table.ts'], heavy: true },
  conf: { files: ['src/config/file.ts'] },
  '@inquirer/prompts': { files: ['src/input/prompt.ts'] },
};

/** Files and folders from the outside in: each imports from its own layer or from a later one. */
const layers: readonly (readonly string[])[] = [
  ['src/bin.ts', 'src/without-program.ts'],
  ['src/main.ts'],
  ['src/commands'],
  ['src/connect.ts'],
  ['src/cli', 'src/records', 'src/bulk', 'src/checks', 'src/asking.ts', 'src/context.ts'],
  ['src/writes'],
  ['src/client', 'src/server', 'src/binding', 'src/config', 'src/input', 'src/output'],
  ['src/api'],
  ['src/process'],
];

test('imports go one way, from the commands down to the process', () => {
  const upward = local(imports).filter(({ file, target }) => layerOf(target) < layerOf(file));
  expect(upward.map(show)).toEqual([]);
});

test('CONTRIBUTING.md lists the layers', () => {
  const list = readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/^ {4}(\S.*?) {2}/gm);
  const documented = Array.from(list, ([, names = '']) => names.split(', ')).flat();
  expect(documented.map((name) => `src/${name}`)).toEqual(layers.flat());
});

/** Parts that never import each other. */
const apart: readonly (readonly string[])[] = [
  ['src/cli', 'src/records', 'src/bulk', 'src/checks'],
  ['src/client', 'src/server'],
];

test.each(apart.map((parts) => ({ parts })))('$parts do not import each other', ({ parts }) => {
  const partOf = (file: string) => parts.find((part) => within(file, part));
  expect(across(partOf)).toEqual([]);
});

test('a command never imports another command', () => {
  expect(across(commandOf)).toEqual([]);
});

test('each package is named by its owners, by all of them and by nobody else; a heavy one is loaded where it is used', () => {
  const packages = imports
    .filter(({ target }) => !target.startsWith('.') && !target.startsWith('node:'))
    .map((each) => ({ ...each, name: packageOf(each.target) }));
  const found = packages.map(({ name, file }) => {
    const place = owners[name]?.files.find((each) => within(file, each));
    return `${name} in ${place ?? file}`;
  });
  const named = Object.entries(owners).flatMap(([name, { files }]) =>
    files.map((place) => `${name} in ${place}`),
  );
  expect([...new Set(found)].sort()).toEqual(named.sort());
  const early = packages.filter(
    ({ name, dynamic, typeOnly }) => owners[name]?.heavy && !dynamic && !typeOnly,
  );
  expect(early.map(show)).toEqual([]);
});

test('only io.ts, the clock and without-program.ts read the process', () => {
  const readers = files
    .filter(
      (file) => !['src/process/io.ts', 'src/process/deadline.ts', 'src/without-program.ts'].includes(file),
    )
    .filter((file) =>
      /(?<![\w.'-])process\.(?!\s)|'node:process'/.test(withoutComments(readFileSync(file, 'utf8'))),
    );
  expect(readers).toEqual([]);
});

test.each(readdirSync('src').filter((name) => !name.includes('.')))(
  'src/%s/README.md has a line for each file of the folder',
  (folder) => {
    const readme = readFileSync(join('src', folder, 'README.md'), 'utf8');
    const lines = Array.from(readme.matchAll(/^\| `(.+?)` \|/gm), ([, name]) => name);
    const names = readdirSync(join('src', folder), { recursive: true, encoding: 'utf8' });
    expect(lines.sort()).toEqual(names.filter((name) => /(?<!README)\.\w+$/.test(name)).sort());
  },
);

test('no function, and no other exported name, is declared in two files', () => {
  const places = new Map<string, string[]>();
  const declaration =
    /^(?:(?:export )?(?:async )?function\*?|export (?:abstract )?(?:class|const|let|interface|type|enum)) ([\w$]+)/gm;
  for (const file of files)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(declaration))
      places.set(name, [...new Set([...(places.get(name) ?? []), file])]);
  const shared = [...places].filter(([, found]) => found.length > 1);
  expect(shared).toEqual([]);
});

test('no two files have one name, but a command and the file that does its work may', () => {
  const places = new Map<string, string[]>();
  for (const file of files.filter((each) => basename(each) !== 'index.ts')) {
    const key = `${within(file, 'src/commands') ? 'commands' : 'domain'} ${basename(file)}`;
    places.set(key, [...(places.get(key) ?? []), file]);
  }
  expect([...places.values()].filter((found) => found.length > 1)).toEqual([]);
});

function importsOf(file: string): Import[] {
  const forms =
    /^(?:import|export)\s(type\s)?(?:[^'"();]*?from\s)?'([^']+)'|(?<!typeof )\bimport\('([^']+)'\)/gm;
  return Array.from(readFileSync(file, 'utf8').matchAll(forms), ([, type, fixed, loaded]) => ({
    file,
    target: fixed ?? loaded ?? '',
    dynamic: loaded !== undefined,
    typeOnly: type !== undefined,
  }));
}

/** Imports of the project's own files, the target as a path from the root. */
function local(all: readonly Import[]): Import[] {
  return all
    .filter(({ target }) => target.startsWith('.'))
    .map((each) => ({ ...each, target: relative('.', join(dirname(each.file), each.target)) }))
    .filter(({ target }) => target.startsWith('src/'));
}

/** The imports from one part to another. */
function across(partOf: (file: string) => string | undefined): string[] {
  return local(imports)
    .filter(({ file, target }) => {
      const [from, to] = [partOf(file), partOf(target)];
      return from !== undefined && to !== undefined && from !== to;
    })
    .map(show);
}

function layerOf(file: string): number {
  const layer = layers.findIndex((places) => places.some((place) => within(file, place)));
  if (layer === -1) throw new Error(`${file} is in no layer`);
  return layer;
}

/** The command of a file. Some files are shared: the list of commands, and what several commands have. */
function commandOf(file: string): string | undefined {
  const shared = /^src\/commands\/(index|record-files|record-verbs|shared-flags)\.ts$/;
  return shared.test(file) ? undefined : /^src\/commands\/(\w[\w-]*)(?:\/|\.ts$)/.exec(file)?.[1];
}

function packageOf(target: string): string {
  return target.split('/', target.startsWith('@') ? 2 : 1).join('/');
}

function within(file: string, place: string): boolean {
  return file === place || file.startsWith(`${place}/`);
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

function show({ file, target }: Import): string {
  return `${file} -> ${target}`;
}
