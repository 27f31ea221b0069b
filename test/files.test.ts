import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
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
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ensurePrivateFolder, writeFileAtomic } from '../src/process/files.ts';
import { holderOf, withLock } from '../src/process/lock.ts';

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
    stdin: { contents, resolveDir: resolve(import.meta.dirname, '..'), loader: 'ts' },
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
    message: `lock ${path}.lock: process ${child.pid} on ${hostname()} holds it`,
  });
  child.kill('SIGKILL');
});

test.each([
  ['another host', '0~elsewhere'],
  ['a container with the name of its host and processes of its own', `1~${hostname()}`],
])(
  'a lock of %s is held while it is touched, and taken over after 30 s without a sign of life',
  async (_, place) => {
    const path = join(folder, place);
    symlinkSync(`1~5~${place}`, `${path}.lock`);
    touch(`${path}.lock`, 29_000);
    await expect(withLock(path, async () => {}, { waitMs: 20 })).rejects.toThrow(
      `process 1 on ${place.split('~')[1]} holds it`,
    );
    touch(`${path}.lock`, 30_000);
    expect(await withLock(path, async () => 'in', { waitMs: 0 })).toBe('in');
    expect(existsSync(`${path}.lock`)).toBe(false);
  },
);

test('a lock names the start time of its process, so another process with the same id does not keep it', async () => {
  const path = join(folder, 'reused');
  await withLock(path, async () => {
    const [, , ...place] = readlinkSync(`${path}.lock`).split('~');
    const other = join(folder, 'other');
    symlinkSync([process.pid, 5, ...place].join('~'), `${other}.lock`);
    expect(await withLock(other, async () => 'in', { waitMs: 0 })).toBe('in');
  });
});

test('the owner touches its lock', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'Date'] });
  try {
    const path = join(folder, 'touched');
    await withLock(path, async () => {
      touch(`${path}.lock`, 100_000);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(Date.now() - lstatSync(`${path}.lock`).mtimeMs).toBeLessThan(1_000);
    });
  } finally {
    vi.useRealTimers();
  }
});

test('a lock that another host took over meanwhile is not released', async () => {
  const path = join(folder, 'lost');
  await withLock(path, async () => {
    unlinkSync(`${path}.lock`);
    symlinkSync('1~5~0~elsewhere', `${path}.lock`);
  });
  expect(readlinkSync(`${path}.lock`)).toBe('1~5~0~elsewhere');
});

test.each(['missing', 'there'])('a link and its file (%s) share one lock', async (name) => {
  const [real, link] = [join(folder, name), join(folder, `link-to-${name}`)];
  if (name === 'there') writeFileSync(real, '');
  symlinkSync(name, link);
  await withLock(link, async () => {
    expect(holderOf(real)).toMatchObject({ process: String(process.pid), host: hostname() });
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

function touch(lock: string, ageMs: number): void {
  const time = new Date(Date.now() - ageMs);
  lutimesSync(lock, time, time);
}

async function holder(path: string) {
  const child = spawn(process.execPath, [worker, path, 'hold']);
  await once(child.stdout, 'data');
  return child;
}
