import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { openSource, type Source } from '../../src/input/source.ts';
import { CliError } from '../../src/process/errors.ts';
import { fakeIo } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-source-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

async function textOf(source: Source): Promise<string> {
  let text = '';
  for await (const piece of source.bytes()) text += Buffer.from(piece).toString();
  return text;
}

test('input from a pipe can be read twice, and its copy has no name', async () => {
  vi.stubEnv('TMPDIR', folder);
  const source = await openSource(fakeIo({ stdin: 'petId,quantity\n' }), '-');
  expect(readdirSync(folder)).toEqual([]);
  expect([await textOf(source), await textOf(source)]).toEqual(['petId,quantity\n', 'petId,quantity\n']);
  await source.close();
});

test('a named pipe can be read twice too', async () => {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const written = writeFile(pipe, 'petId,quantity\n');
  const source = await openSource(fakeIo(), pipe);
  await written;
  expect(source).toMatchObject({ name: pipe, path: undefined });
  expect([await textOf(source), await textOf(source)]).toEqual(['petId,quantity\n', 'petId,quantity\n']);
  await source.close();
});

test.runIf(existsSync('/dev/shm'))('a file in memory has a path like any other', async () => {
  const path = join('/dev/shm', `petstore-source-${process.pid}.csv`);
  writeFileSync(path, 'petId\n');
  try {
    const source = await openSource(fakeIo(), path);
    expect(source).toMatchObject({ name: path, path });
    await source.close();
  } finally {
    rmSync(path);
  }
});

test.runIf(process.platform === 'linux')('a file given as /dev/fd has no path of its own', async () => {
  const file = openSync(join(temporaryFolder(), 'stock.csv'), 'w+');
  writeSync(file, 'petId,quantity\n');
  const source = await openSource(fakeIo(), `/dev/fd/${file}`);
  expect(source.path).toBe(undefined);
  expect([await textOf(source), await textOf(source)]).toEqual(['petId,quantity\n', 'petId,quantity\n']);
  await source.close();
  closeSync(file);
});

test('an error names the missing folder for temporary files and TMPDIR', async () => {
  vi.stubEnv('TMPDIR', join(folder, 'missing'));
  await expect(openSource(fakeIo({ stdin: 'x' }), '-')).rejects.toMatchObject({
    kind: 'failed',
    message: `keep stdin in ${join(folder, 'missing')}: no such file or directory`,
    details: { hint: expect.stringContaining('TMPDIR') },
  });
});

test('an input that ends with an error leaves no copy and keeps that error', async () => {
  vi.stubEnv('TMPDIR', folder);
  const broken = new CliError('failed', 'read stdin: the other end has gone');
  const io = fakeIo();
  const stdin = {
    ...io.stdin,
    async *bytes() {
      yield Buffer.from('petId');
      throw broken;
    },
  };
  await expect(openSource({ ...io, stdin }, '-')).rejects.toBe(broken);
  expect(readdirSync(folder)).toEqual([]);
});
