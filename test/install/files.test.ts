import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lutimesSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensurePrivateFolder, writeFileAtomic } from '../../src/process/files.ts';
import { holderOf, withLock } from '../../src/process/lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-files-'));
const worker = join(folder, 'worker.cjs');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const contents = `
    import { readFileSync } from 'node:fs';
    import { writeFileAtomic } from './src/process/files.ts';
    import { withLock } from './src/process/lock.ts';
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
    stdin: { contents, resolveDir: resolve(import.meta.dirname, '../..'), loader: 'ts' },
    bundle: true,
    platform: 'node',
    outfile: worker,
    logLevel: 'error',
  });
});

test('only its owner can read a written file, and no temporary file is left', async () => {
  const path = join(folder, 'private', 'deep', 'config.json');
  await ensurePrivateFolder(join(path, '..'));
  await writeFileAtomic(path, 'one');
  await writeFileAtomic(path, 'two');
  expect(readFileSync(path, 'utf8')).toBe('two');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'private')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(path, '..'))).toEqual(['config.json']);
});

test('a folder under /proc, which even root cannot write to, is an error at once and not a hang', async () => {
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

test('a write through a link whose file is missing makes the file and keeps the link', async () => {
  symlinkSync('not-yet', join(folder, 'dangling'));
  await writeFileAtomic(join(folder, 'dangling'), 'new');
  expect(readFileSync(join(folder, 'not-yet'), 'utf8')).toBe('new');
  expect(readlinkSync(join(folder, 'dangling'))).toBe('not-yet');
});

test('a pipe or a device is written to and not replaced', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reader = spawn('cat', [pipe]);
  const text = once(reader.stdout, 'data');
  await writeFileAtomic(pipe, 'through');
  expect(String(await text)).toBe('through');
  expect(statSync(pipe).isFIFO()).toBe(true);
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

test('exactly one waiting process takes over the lock of a killed process', async () => {
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
    message: `lock ${path}.lock: process ${child.pid} holds it`,
  });
  child.kill('SIGKILL');
});

test.each([
  ['of a process that is gone', '4194305~5'],
  ['of an earlier process with the id of this one', `${process.pid}~5`],
  ['of another version of this program', `${process.pid}~5~0~elsewhere`],
  ['without a process', 'x'],
])('a lock %s is taken over at once, also with a time in the future', async (name, owner) => {
  const path = join(folder, name);
  symlinkSync(owner, `${path}.lock`);
  const future = new Date(Date.now() + 86_400_000);
  lutimesSync(`${path}.lock`, future, future);
  expect(await withLock(path, async () => 'in', { waitMs: 0 })).toBe('in');
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test('a file that is not a lock is an error that names it, and stays', async () => {
  const path = join(folder, 'taken');
  writeFileSync(`${path}.lock`, 'mine');
  await expect(withLock(path, async () => {})).rejects.toThrow('it is not a lock of this program');
  expect(readFileSync(`${path}.lock`, 'utf8')).toBe('mine');
});

test('a lock that the user removed and another process took is not released', async () => {
  const path = join(folder, 'lost');
  await withLock(path, async () => {
    unlinkSync(`${path}.lock`);
    symlinkSync('1~5', `${path}.lock`);
  });
  expect(readlinkSync(`${path}.lock`)).toBe('1~5');
});

test.each(['missing', 'there'])('a link and its file (%s) share one lock', async (name) => {
  const [real, link] = [join(folder, name), join(folder, `link-to-${name}`)];
  if (name === 'there') writeFileSync(real, '');
  symlinkSync(name, link);
  await withLock(link, async () => {
    expect(holderOf(real)).toBe(String(process.pid));
    await expect(withLock(real, async () => {}, { waitMs: 20 })).rejects.toThrow('holds it');
  });
});

test('a lock is released when its work fails', async () => {
  const path = join(folder, 'failing');
  await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLock(path, async () => 'in', { waitMs: 0 })).toBe('in');
});

test('a kill during a write leaves the whole old or the whole new content', async () => {
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
