import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { nodeBinary } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = temporaryFolder();
/** What is installed, before anything has run. */
let files: readonly string[];
/** What npm said. */
let installation: string;

/** npm's own settings of the run that started this one would lead the inner npm astray. */
const env: Record<string, string | undefined> = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))),
  PATH: `${dirname(nodeBinary)}${delimiter}${process.env.PATH}`,
  PETSTORE_OFFLINE_STORE: ':memory:',
};

beforeAll(() => {
  npm(['pack', '--ignore-scripts', '--pack-destination', folder], process.cwd());
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  installation = npm(['install', '--offline', '--no-audit', '--no-fund', tarball()]);
  files = readdirSync(join(folder, 'node_modules', 'petstore'), { recursive: true, encoding: 'utf8' });
});

test('the packed tool installs without a script, a warning or a package beside it, and runs', () => {
  expect(installation).toMatch(/added 1 package/);
  expect(installation).not.toContain('warn');
  const modules = join(folder, 'node_modules');
  const packed = readFileSync(join(modules, 'petstore', 'package.json'), 'utf8');
  const scripts = Object.keys(JSON.parse(packed).scripts);
  expect(scripts.filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['petstore']);
  const words = ['--offline', 'pets', 'list', '--limit', '1', '-o', 'ids'];
  expect(execFileSync(join(modules, '.bin', 'petstore'), words, { env, encoding: 'utf8' })).toBe('1\n');
});

test('the package holds the completions and the licences, and no code cache', () => {
  expect(files.filter((file) => file.endsWith('.cache'))).toEqual([]);
  const scripts = ['petstore.bash', '_petstore', 'petstore.fish'].map((name) => join('completions', name));
  expect(files).toEqual(
    expect.arrayContaining([...scripts, join('dist', 'LICENSES.txt'), 'LICENSE', 'README.md']),
  );
});

function tarball(): string {
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
}

/** Runs npm, and returns what it prints on both streams. */
function npm(args: readonly string[], cwd = folder): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, env, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout + stderr;
}
