import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeBinary, type Outcome, spawnCli } from '../helpers/spawn-cli.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-cache-'));
  cpSync('bin', join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'dist'));
  for (const name of readdirSync('dist').filter((each) => each.endsWith('.js')))
    copyFileSync(join('dist', name), join(folder, 'dist', name));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function caches(): string[] {
  return readdirSync(join(folder, 'dist')).filter((name) => name.endsWith('.cache'));
}

function listPets(): Promise<Outcome> {
  return spawnCli(['--offline', 'pets', 'list', '-o', 'ids'], { cli: join(folder, 'bin/petstore.js') });
}

test('the first run leaves code caches for the next, which does the same', async () => {
  const first = await listPets();
  expect(first).toMatchObject({ code: 0, stderr: '' });
  const left = caches();
  expect(left.length).toBeGreaterThan(2);
  expect(await listPets()).toMatchObject({ code: 0, stdout: first.stdout, stderr: '' });
});

test('a run that needs further code leaves better caches, and a run that needs none leaves them alone', async () => {
  const run = (...argv: string[]) =>
    spawnCli(['--offline', ...argv], { cli: join(folder, 'bin/petstore.js') });
  await run('pets', 'get', '1');
  const afterGet = checksums();
  await run('pets', 'delete', '1', '--yes');
  const afterDelete = checksums();
  const grown = [...afterGet].filter(([name, checksum]) => afterDelete.get(name) !== checksum);
  expect(grown.length).toBeGreaterThan(0);
  await run('pets', 'get', '1');
  expect(checksums()).toEqual(afterDelete);
});

test('a run under flags of V8 leaves the caches of runs without flags alone', async () => {
  await listPets();
  const before = checksums();
  const env = { NODE_OPTIONS: '--stack-trace-limit=5' };
  await spawnCli(['--version'], { cli: join(folder, 'bin/petstore.js'), env });
  expect(checksums()).toEqual(before);
});

/** The checksum of each cache, by its name. */
function checksums(): Map<string, string> {
  const sha256 = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, 'dist', name)))
      .digest('hex');
  return new Map(caches().map((name) => [name, sha256(name)]));
}

test('a code cache that cannot be used is passed over', async () => {
  const whole = await listPets();
  for (const name of caches()) truncateSync(join(folder, 'dist', name), 100);
  expect(await listPets()).toMatchObject({ code: 0, stdout: whole.stdout, stderr: '' });
});

test('V8 takes the code caches that a run leaves', async () => {
  await listPets();
  const check = `
    const [{ readFileSync }, { Script }] = [require('node:fs'), require('node:vm')];
    const rejected = process.argv.slice(1).filter((cache) => {
      const pack = cache.split('-').slice(0, 2).join('-') + '.js';
      const content = readFileSync(cache);
      const cachedData = content.subarray(4, 4 + content.readUInt32LE(0));
      return new Script(readFileSync(pack, 'latin1'), { filename: pack, cachedData }).cachedDataRejected;
    });
    console.log(rejected);`;
  expect(caches().length).toBeGreaterThan(2);
  const answer = execFileSync(nodeBinary, ['-e', check, ...caches()], {
    cwd: join(folder, 'dist'),
    encoding: 'utf8',
  });
  expect(answer).toBe('[]\n');
});

test('a code cache with one flipped bit is passed over', async () => {
  const whole = await listPets();
  for (let round = 0; round < 3; round += 1) {
    const names = caches();
    for (const [at, name] of names.entries())
      flipBit(join(folder, 'dist', name), (round + at / names.length) / 3);
    expect(await listPets()).toMatchObject({ code: 0, stdout: whole.stdout, stderr: '' });
  }
});

/** Flips a bit at a place of a file, from 0 for its start to 1 for its end. */
function flipBit(file: string, place: number): void {
  const content = readFileSync(file);
  const at = Math.floor(content.length * place);
  content[at] = (content[at] ?? 0) ^ 4;
  writeFileSync(file, content);
}

test.runIf(process.getuid?.() === 0)(
  'a user who does not own the program has caches in a folder of their own (skipped unless run by root)',
  async () => {
    const home = join(folder, 'home');
    mkdirSync(home);
    chownSync(home, 65534, 65534);
    chmodSync(folder, 0o755);
    // Another user may not be allowed to reach the original.
    const node = join(folder, 'node');
    copyFileSync(realpathSync(nodeBinary), node);
    const run = (env: Record<string, string> = { HOME: home, XDG_CACHE_HOME: '' }) =>
      spawnSync(node, [join(folder, 'bin/petstore.js'), '--version'], {
        uid: 65534,
        cwd: home,
        env,
        encoding: 'utf8',
      });
    // A cache is code: none is read or left below the current folder.
    expect(run({ HOME: '.', XDG_CACHE_HOME: 'cache' })).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(home)).toEqual([]);
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    const left = readdirSync(join(home, '.cache/petstore'));
    expect(left).not.toEqual([]);
    expect(caches()).toEqual([]);
    // One that belongs to somebody else is not used, so the run leaves its own.
    for (const name of left) chownSync(join(home, '.cache/petstore', name), 0, 0);
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    for (const name of left) expect(statSync(join(home, '.cache/petstore', name)).uid).toBe(65534);
  },
);

test('a code cache that others may write is passed over, and nobody else can write those that a run leaves', async () => {
  const whole = await listPets();
  for (const name of caches()) {
    // Taken for code, it would end the process in another way.
    writeFileSync(join(folder, 'dist', name), 'code of somebody else');
    chmodSync(join(folder, 'dist', name), 0o666);
  }
  const run = spawnSync(
    'sh',
    [
      '-c',
      'umask 0; exec "$@"',
      'sh',
      nodeBinary,
      join(folder, 'bin/petstore.js'),
      '--offline',
      'pets',
      'list',
      '-o',
      'ids',
    ],
    {
      env: { PATH: process.env.PATH, PETSTORE_OFFLINE_STORE: ':memory:' },
      encoding: 'utf8',
    },
  );
  expect(run).toMatchObject({ status: 0, stdout: whole.stdout });
  const left = caches().filter((name) => readFileSync(join(folder, 'dist', name)).length > 100);
  expect(left.length).toBeGreaterThan(2);
  for (const name of left) expect(statSync(join(folder, 'dist', name)).mode & 0o022, name).toBe(0);
});
