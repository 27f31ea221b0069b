import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { leanPackages } from '../../.ci/lean-packages.mjs';
import { writeFileAtomic } from '../../src/process/files.ts';
import { holderOf, takeLock, withLock } from '../../src/process/lock.ts';
import { openConfig } from '../helpers/config-folder.ts';
import { randomOf } from '../helpers/random.ts';
import { runCli } from '../helpers/run-cli.ts';
import { cliPath, nodeBinary, spawnCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = temporaryFolder();
const worker = join(folder, 'worker.cjs');

/** Another process, that holds a lock, rewrites a file again and again, or makes fifty changes of the config. */
beforeAll(async () => {
  const contents = `
    import { editConfig, addProfile } from './src/config/edit.ts';
    import { writeFileAtomic } from './src/process/files.ts';
    import { processIo } from './src/process/io.ts';
    import { withLock } from './src/process/lock.ts';
    const [, , mode, path] = process.argv;
    const hold = () => { process.stdout.write('held'); return new Promise((done) => setTimeout(done, 60000)); };
    const set = (profile) => editConfig(processIo(), (config) => addProfile(config, profile, { retries: 1 }));
    const modes = {
      hold: () => withLock(path, hold),
      rewrite: async () => { for (let turn = 0; ; turn += 1) writeFileAtomic(path, 'ab'[turn % 2].repeat(200000)); },
      set: async () => { for (let turn = 0; turn < 50; turn += 1) await set('p' + path + '.' + turn); },
    };
    modes[mode]();`;
  const resolveDir = resolve(import.meta.dirname, '../..');
  const stdin = { contents, resolveDir, loader: 'ts' } as const;
  await build({
    stdin,
    bundle: true,
    platform: 'node',
    plugins: [leanPackages],
    outfile: worker,
    logLevel: 'error',
  });
});

function start(mode: 'hold' | 'rewrite' | 'set', path: string) {
  return spawn(nodeBinary, [worker, mode, path], { env: { PETSTORE_CONFIG_DIR: join(folder, 'config') } });
}

describe('a write', () => {
  test.each([
    ['of a file', 'rewrite', join(folder, 'rewritten'), /^(a{200000}|b{200000})$/],
    // It may have made all of its changes before it is killed.
    ['of the config', 'set', join(folder, 'config', 'config.json'), /^\{\s+"profiles": .*\}\n$/s],
  ] as const)('%s is whole after a kill, old or new', async (_, mode, path, whole) => {
    // Each run of the tests has moments of its own, and a failure names their seed.
    const seed = Number(process.env.PETSTORE_TEST_SEED ?? process.pid);
    const random = randomOf(seed, mode);
    for (let turn = 0; turn < 4; turn += 1) {
      fs.rmSync(path, { force: true });
      const child = start(mode, mode === 'set' ? `killed${turn}` : path);
      const exit = once(child, 'exit');
      await vi.waitUntil(() => fs.existsSync(path), { timeout: 100_000, interval: 1 });
      await sleep(random.next() * 50);
      child.kill('SIGKILL');
      await exit;
      expect(fs.readFileSync(path, 'utf8'), `PETSTORE_TEST_SEED=${seed}, kill ${turn}`).toMatch(whole);
    }
    fs.rmSync(join(folder, 'config'), { recursive: true, force: true });
  });

  test('does not replace a device', () => {
    expect(() => writeFileAtomic('/dev/null', 'x')).toThrow('/dev/null: is not a regular file');
  });

  test('of eight processes that make fifty changes each keeps all four hundred', async () => {
    const writers = Array.from({ length: 8 }, (_, writer) => once(start('set', String(writer)), 'exit'));
    await Promise.all(writers);
    expect(fs.readdirSync(join(folder, 'config'))).toEqual(['config.json']);
    const config = JSON.parse(fs.readFileSync(join(folder, 'config', 'config.json'), 'utf8'));
    expect(Object.keys(config.profiles)).toHaveLength(400);
  });
});

const space = fs.existsSync('/proc/self/ns/pid') ? ` ${fs.readlinkSync('/proc/self/ns/pid')}` : '';
const hostId = hostname() + space;

describe('a lock', () => {
  async function holder(path: string) {
    const child = start('hold', path);
    await once(child.stdout, 'data');
    return child;
  }

  test('of a killed process is taken over by exactly one that waits', async () => {
    const path = join(folder, 'killed');
    const child = await holder(path);
    const log: string[] = [];
    const waiting = Array.from({ length: 10 }, () =>
      withLock(path, async () => {
        log.push('in');
        await sleep(2);
        log.push('out');
      }),
    );
    child.kill('SIGKILL');
    await Promise.all(waiting);
    expect(log).toEqual(Array.from({ length: 10 }, () => ['in', 'out']).flat());
    expect(fs.readdirSync(folder).filter((name) => name.includes('.lock'))).toEqual([]);
  });

  test('that stays held is an error that names its process, after the wait', async () => {
    const path = join(folder, 'held');
    const child = await holder(path);
    const message = `${path} is locked by process ${child.pid}`;
    await expect(takeLock(path, { waitMs: 50 })).rejects.toMatchObject({ kind: 'failed', message });
    child.kill('SIGKILL');
  });

  test.each([
    ['of a process that is gone', `4194305 5 ${hostId}`],
    ['of an earlier process with the id of this one', `${process.pid} 5 ${hostId}`],
  ])('%s is taken over at once', async (name, owner) => {
    const path = join(folder, name);
    fs.writeFileSync(`${path}.lock`, owner);
    (await takeLock(path, { waitMs: 0 }))();
    expect(fs.existsSync(`${path}.lock`)).toBe(false);
  });

  test('whose process was killed before it wrote its name is taken over after ten seconds', async () => {
    const path = join(folder, 'nameless');
    fs.writeFileSync(`${path}.lock`, '');
    await expect(takeLock(path, { waitMs: 0 })).rejects.toThrow('lock');
    const past = new Date(Date.now() - 11_000);
    fs.utimesSync(`${path}.lock`, past, past);
    (await takeLock(path, { waitMs: 0 }))();
  });

  test.each([
    ['another host', 'elsewhere'],
    ['another container with the name of this host', `${hostname()} pid:[1]`],
  ])('of a process of %s is never taken over', async (_, host) => {
    const path = join(folder, 'elsewhere');
    fs.writeFileSync(`${path}.lock`, `4194305 5 ${host}`);
    const message = `${path} is locked by process 4194305 of ${host}`;
    const hint = `wait for that process to end; if it is gone, remove ${path}.lock`;
    await expect(takeLock(path, { waitMs: 0 })).rejects.toMatchObject({ message, details: { hint } });
  });

  test('is released when its work fails, but not if another process has it by then', async () => {
    const path = join(folder, 'lost');
    await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await withLock(path, async () => {
      fs.unlinkSync(`${path}.lock`);
      fs.writeFileSync(`${path}.lock`, 'other');
    });
    expect(fs.readFileSync(`${path}.lock`, 'utf8')).toBe('other');
  });

  test('of a file is the same through a link to the file', async () => {
    const [real, link] = [join(folder, 'there'), join(folder, 'link')];
    fs.writeFileSync(real, '');
    fs.symlinkSync(real, link);
    await withLock(link, async () => {
      expect(holderOf(real)?.process).toBe(String(process.pid));
      await expect(takeLock(real, { waitMs: 20 })).rejects.toThrow('is locked by');
    });
  });

  test('is never an unrelated file, which stays as it is', async () => {
    const path = join(folder, 'taken');
    fs.writeFileSync(`${path}.lock`, 'mine');
    await expect(takeLock(path, { waitMs: 0 })).rejects.toThrow('is locked by process (not known yet)');
    expect(fs.readFileSync(`${path}.lock`, 'utf8')).toBe('mine');
  });
});

// These run the built program, because the build leaves out parts of conf.

const note = 'n'.repeat(20_000);

function largeConfig() {
  const config = openConfig({ profiles: { a: { 'base-url': 'http://127.0.0.1:9', note } } });
  return { ...config, text: fs.readFileSync(config.path, 'utf8') };
}

test('on a full disk the config keeps its old content, and the error says so', () => {
  const { folder, path, text, env } = largeConfig();
  // No file can grow beyond 8 KiB; without the trap the signal would end the process.
  const script = `trap '' XFSZ; ulimit -f 16; exec "$@"`;
  const words = [nodeBinary, cliPath, 'config', 'set', 'timeout', '5s'];
  const options = { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' } as const;
  const run = spawnSync('sh', ['-c', script, 'sh', ...words], options);
  expect(run).toMatchObject({ status: 1, stdout: '' });
  expect(run.stderr).toMatch(new RegExp(`^error: write ${path}: file too large`));
  expect(fs.readFileSync(path, 'utf8')).toBe(text);
  expect(fs.readdirSync(folder)).toEqual(['config.json']);
  // Nor is a part of a code cache left.
  expect(fs.readdirSync('dist').filter((name) => /cache\.\d+$/.test(name))).toEqual([]);
});

test('the file is replaced and not overwritten, in a snap too', async () => {
  const { path, env } = largeConfig();
  const before = fs.statSync(path).ino;
  const run = await spawnCli(['config', 'set', 'timeout', '5s'], { env: { ...env, SNAP: '/snap/shop/1' } });
  expect(run).toMatchObject({ code: 0, stderr: 'timeout is 5s\n' });
  expect(fs.statSync(path).ino).not.toBe(before);
  expect(JSON.parse(fs.readFileSync(path, 'utf8'))).toMatchObject({
    timeout: '5s',
    profiles: { a: { note } },
  });
  expect(fs.statSync(path).mode & 0o777).toBe(0o600);
});

test('a command that reads makes no folder, and reads a config in a read-only folder', async () => {
  const parent = temporaryFolder();
  const folder = join(parent, 'config');
  const env = { PETSTORE_CONFIG_DIR: folder };
  expect(await spawnCli(['config', 'explain'], { env })).toMatchObject({ code: 0, stderr: '' });
  for (const line of ['config get output', 'config path', 'profile list', '--offline pets list'])
    expect(await runCli(line, { env })).toMatchObject({ code: 0, stderr: '' });
  expect(fs.existsSync(folder)).toBe(false);
  fs.mkdirSync(folder);
  fs.writeFileSync(join(folder, 'config.json'), '{"output": "csv"}', { mode: 0o600 });
  fs.chmodSync(folder, 0o500);
  expect(await spawnCli(['config', 'get', 'output'], { env })).toMatchObject({ code: 0, stdout: 'csv\n' });
  expect(fs.readdirSync(folder)).toEqual(['config.json']);
});
