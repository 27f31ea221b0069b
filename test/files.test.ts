import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensurePrivateFolder, writeFileAtomic } from '../src/files.ts';
import { withLock } from '../src/lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-files-'));
const worker = join(folder, 'worker.cjs');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const contents = `
    import { readFileSync } from 'node:fs';
    import { writeFileAtomic } from './src/files.ts';
    import { withLock } from './src/lock.ts';
    const [, , path, mode] = process.argv;
    const run = async () => {
      if (mode === 'hold') await withLock(path, () => { process.stdout.write('held'); return new Promise((r) => setTimeout(r, 60000)); });
      if (mode === 'rewrite') for (;;) await writeFileAtomic(path, (Math.random() < 0.5 ? 'a' : 'b').repeat(200000));
      for (let turn = 0; turn < 25; turn += 1)
        await withLock(path, async () => {
          const count = Number(readFileSync(path, 'utf8'));
          await writeFileAtomic(path, String(count + 1));
        });
    };
    run();`;
  await build({
    stdin: { contents, resolveDir: resolve(import.meta.dirname, '..'), loader: 'ts' },
    bundle: true,
    platform: 'node',
    outfile: worker,
    logLevel: 'error',
  });
});

test('a written file is its owner’s alone, and nothing is left beside it', async () => {
  const path = join(folder, 'private', 'deep', 'config.json');
  await ensurePrivateFolder(join(path, '..'));
  await writeFileAtomic(path, 'one');
  await writeFileAtomic(path, 'two');
  expect(readFileSync(path, 'utf8')).toBe('two');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'private')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(path, '..'))).toEqual(['config.json']);
});

test('a folder that cannot be made is an error that names it, at once', async () => {
  await expect(ensurePrivateFolder('/proc/absent/deep')).rejects.toThrow(
    'make folder /proc/absent/deep: no such file or directory',
  );
  writeFileSync(join(folder, 'file'), '');
  await expect(ensurePrivateFolder(join(folder, 'file'))).rejects.toThrow('file already exists');
  await expect(ensurePrivateFolder(join(folder, 'file', 'deep'))).rejects.toThrow('not a directory');
});

test('a write through a symbolic link keeps the link', async () => {
  writeFileSync(join(folder, 'real'), 'old');
  symlinkSync('real', join(folder, 'link'));
  await writeFileAtomic(join(folder, 'link'), 'new');
  expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('new');
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('a write that fails names the file and the reason', async () => {
  await expect(writeFileAtomic(join(folder, 'absent', 'file'), '')).rejects.toThrow(
    /^write .*absent\/file: no such file or directory$/,
  );
});

test('four processes that count to twenty-five together count to a hundred', async () => {
  const path = join(folder, 'counter');
  writeFileSync(path, '0');
  await Promise.all(
    Array.from({ length: 4 }, () => once(spawn(process.execPath, [worker, path, 'count']), 'exit')),
  );
  expect(readFileSync(path, 'utf8')).toBe('100');
}, 30_000);

test('the lock of a killed process is taken over by exactly one of those who wait', async () => {
  const path = join(folder, 'killed');
  const child = await holder(path);
  const log: string[] = [];
  const waiting = Array.from({ length: 10 }, () =>
    withLock(path, async () => {
      log.push('in');
      await new Promise((done) => setTimeout(done, 2));
      log.push('out');
    }),
  );
  child.kill('SIGKILL');
  await Promise.all(waiting);
  expect(log).toEqual(Array.from({ length: 10 }, () => ['in', 'out']).flat());
  expect(readdirSync(folder).filter((name) => name.includes('.lock'))).toEqual([]);
});

test('a lock that stays held is an error that names its process, after the wait', async () => {
  const path = join(folder, 'held');
  const child = await holder(path);
  await expect(withLock(path, async () => {}, { waitMs: 50 })).rejects.toMatchObject({
    kind: 'failed',
    message: `lock ${path}.lock: process ${child.pid} on ${hostname()} holds it`,
  });
  child.kill('SIGKILL');
});

test('a lock from another machine counts as held, one from before a reboot does not', async () => {
  const path = join(folder, 'foreign');
  symlinkSync('1~5~abcdef12-1~elsewhere', `${path}.lock`);
  await expect(withLock(path, async () => {}, { waitMs: 20 })).rejects.toThrow('on elsewhere holds it');
  const rebooted = join(folder, 'rebooted');
  symlinkSync(`1~5~before-1~${hostname()}`, `${rebooted}.lock`);
  expect(await withLock(rebooted, async () => 'in', { waitMs: 20 })).toBe('in');
});

test('a lock is released when its work fails', async () => {
  const path = join(folder, 'failing');
  await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLock(path, async () => 'in', { waitMs: 0 })).toBe('in');
});

test('a kill in the middle of a write leaves the old or the new content, whole', async () => {
  const path = join(folder, 'rewritten');
  writeFileSync(path, 'a'.repeat(200_000));
  for (let turn = 0; turn < 8; turn += 1) {
    const child = spawn(process.execPath, [worker, path, 'rewrite']);
    await new Promise((done) => setTimeout(done, 60 + Math.random() * 40));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(readFileSync(path, 'utf8')).toMatch(/^(a{200000}|b{200000})$/);
  }
});

async function holder(path: string) {
  const child = spawn(process.execPath, [worker, path, 'hold']);
  await once(child.stdout, 'data');
  return child;
}
