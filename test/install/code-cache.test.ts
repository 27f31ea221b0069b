import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { nodeBinary, type Outcome, spawnCli } from '../helpers/spawn-cli.ts';
import { testAsRoot } from '../helpers/tools.ts';

/** A copy of the program. Another user must be able to reach it, so it does not lie in a TMPDIR that may be private. */
let folder: string;

beforeEach(() => {
  folder = fs.mkdtempSync('/var/tmp/petstore-cache-');
  // Tests beside this one write caches in dist, under a temporary name first.
  const filter = (path: string) => !/\.cache(?:\.|$)/.test(path);
  for (const part of ['package.json', 'bin', 'dist'])
    fs.cpSync(part, join(folder, part), { recursive: true, filter });
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

/** The paths of the caches in a folder, by default beside the bundle. */
function caches(place = join(folder, 'dist')): string[] {
  return fs
    .readdirSync(place)
    .filter((name) => name.endsWith('.cache'))
    .map((name) => join(place, name));
}

function run(line: string, env: Record<string, string> = {}): Promise<Outcome> {
  return spawnCli(line.split(' '), { cli: join(folder, 'bin/petstore.js'), env });
}

const list = '--offline pets list -o ids';

/** When the one cache was written, in nanoseconds: a run that uses it leaves it alone. */
function writtenAt(): bigint {
  const [only = '', ...others] = caches();
  expect(others).toEqual([]);
  return fs.statSync(only, { bigint: true }).mtimeNs;
}

test('a run leaves a cache for the next of its kind, which uses it and does the same', async () => {
  const first = await run(list);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  const written = writtenAt();
  expect(await run(list)).toMatchObject({ code: 0, stdout: first.stdout, stderr: '' });
  // Flags of V8 would need a cache of their own, and a run that fails has run only few of its functions.
  await run(list, { NODE_OPTIONS: '--stack-trace-limit=5' });
  await run('pets lsit');
  await run('--offline orders get 99');
  expect(writtenAt()).toBe(written);
  for (const line of [
    'config get output',
    'config get timeout',
    '-o json --offline pets list',
    '--offline pets get 3 -o yaml',
  ])
    await run(line);
  // A value never names one.
  const names = caches().map((path) => /([\w-]+?)-\d/.exec(basename(path))?.[1]);
  expect(names.toSorted()).toEqual([
    'petstore-config-get',
    'petstore-pets-list-offline',
    'reads-pets-get-offline',
    'reads-pets-list-offline',
    'yaml',
  ]);
});

const nouns = ['pets', 'categories', 'orders', 'inventory'];

test.each(nouns)('the bundle for reads prints what the whole program prints: %s', async (noun) => {
  for (const line of [`${noun} list`, `${noun} get 3`]) {
    const whole = await runCli(`--offline ${line} -o yaml`);
    expect(whole).toMatchObject({ code: 0, stderr: '' });
    expect(await run(`--offline ${line} -o yaml`)).toMatchObject(whole);
  }
  expect(caches().filter((path) => basename(path).startsWith('reads-'))).toHaveLength(2);
});

test('help and completion do without the program even for a command that has a cache', async () => {
  await run('config get output');
  fs.rmSync(join(folder, 'dist/petstore.js'));
  for (const line of ['config get -h', 'config get --help', 'help config get', '__complete -- config get --'])
    expect(await run(line)).toMatchObject({ code: 0, stderr: '' });
});

test('a cache that is cut short or of another version is replaced', async () => {
  const whole = await run(list);
  const [path = ''] = caches();
  const bundle = join(folder, 'dist/reads.js');
  const end = fs.readFileSync(path).subarray(-9);
  const damages = [
    () => fs.truncateSync(path, 100),
    () => fs.truncateSync(path, 0),
    // Even if its last bytes are there.
    () => fs.writeFileSync(path, Buffer.concat([fs.readFileSync(path).subarray(0, 1000), end])),
    () => fs.writeFileSync(bundle, `${fs.readFileSync(bundle, 'latin1').slice(0, -9)}00000000\n`),
  ];
  for (const damage of damages) {
    damage();
    const written = writtenAt();
    expect(await run(list)).toMatchObject({ code: 0, stdout: whole.stdout, stderr: '' });
    expect(writtenAt()).not.toBe(written);
  }
});

test('a cache that others may write is never run, and nobody else may write what a run leaves', async () => {
  const whole = await run(list);
  const [path = ''] = caches();
  const cli = join(folder, 'bin/petstore.js');
  const words = ['-c', 'umask 0; exec "$@"', 'sh', nodeBinary, cli, ...list.split(' ')];
  const env = { PATH: process.env.PATH, PETSTORE_OFFLINE_STORE: ':memory:' };
  for (const mode of [0o620, 0o602]) {
    fs.chmodSync(path, mode);
    const { status, stdout } = spawnSync('sh', words, { env, encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, whole.stdout]);
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
  }
});

describe('another user', () => {
  const nobody = 54321;

  /** Runs the program as a user whom the system does not know. */
  function runAs(uid: number, line: string, env: Record<string, string>, cwd = '/') {
    const node = join(folder, 'node');
    fs.chmodSync(folder, 0o755);
    // Another user may not be allowed to reach the original.
    if (!fs.existsSync(node)) fs.copyFileSync(fs.realpathSync(nodeBinary), node);
    const words = [join(folder, 'bin/petstore.js'), ...line.split(' ')];
    return spawnSync(node, words, { uid, cwd, env, encoding: 'utf8' });
  }

  testAsRoot()('has caches in a folder of their own, and never runs those of others', () => {
    const home = join(folder, 'home');
    fs.mkdirSync(home);
    fs.chownSync(home, nobody, nobody);
    const operations = (env: Record<string, string>, uid = nobody) =>
      expect(runAs(uid, 'api operations -o ids', env, home)).toMatchObject({ status: 0, stderr: '' });
    // No cache is read or left below the current folder.
    operations({ HOME: '.', XDG_CACHE_HOME: 'cache' });
    expect(fs.readdirSync(home)).toEqual([]);
    operations({ HOME: home });
    const userCaches = join(home, '.cache/petstore');
    expect(fs.statSync(userCaches).mode & 0o777).toBe(0o700);
    expect(caches()).toEqual([]);
    const [cache = ''] = caches(userCaches);
    // One that belongs to somebody else is not used, so the run leaves its own.
    fs.chownSync(cache, 0, 0);
    operations({ HOME: home });
    expect(fs.statSync(cache).uid).toBe(nobody);
    // Root leaves and uses none for a program that belongs to another user.
    fs.chownSync(join(folder, 'dist'), nobody, nobody);
    operations({}, 0);
    expect(caches()).toEqual([]);
  });

  testAsRoot()('without HOME can use the program, and is told what they may not read or write', () => {
    const config = join(folder, 'config');
    fs.mkdirSync(config);
    fs.chownSync(config, nobody, nobody);
    const create = 'profile create p --base-url http://127.0.0.1:9';
    expect(runAs(nobody, create, {})).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/permission denied\nhint: PETSTORE_CONFIG_DIR names another folder/),
    });
    expect(runAs(nobody, create, { PETSTORE_CONFIG_DIR: config })).toMatchObject({ status: 0 });
    expect(runAs(nobody, '--offline pets list -o ids', {})).toMatchObject({ status: 0, stderr: '' });
    fs.chmodSync(join(config, 'config.json'), 0o000);
    expect(runAs(nobody, '--offline pets list', { PETSTORE_CONFIG_DIR: config })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('permission denied\nhint: let your user read it'),
    });
  });
});
