import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const program = resolve(import.meta.dirname, '../../bin/petstore.js');
const folder = mkdtempSync(join(tmpdir(), 'petstore-named-'));
afterAll(() => rmSync(folder, { recursive: true }));
const pipe = join(folder, 'pipe');
execFileSync('mkfifo', [pipe]);

/** Every flag that names a file to read. */
const readers: readonly (readonly [flag: string, words: (file: string) => string[]])[] = [
  ['pets create --from', (file) => ['pets', 'create', '--from', file, '--offline', '--yes']],
  ['inventory apply', (file) => ['inventory', 'apply', file, '--offline', '--yes']],
  ['api request --input', (file) => ['api', 'request', 'POST', '/pets', '--input', file, '--offline']],
  ['api bind', (file) => ['api', 'bind', file]],
  ['--ca-cert', (file) => ['pets', 'list', '--base-url', 'https://127.0.0.1:1', '--ca-cert', file]],
  ['--client-cert', (file) => ['pets', 'list', '--base-url', 'https://127.0.0.1:1', '--client-cert', file]],
];

function start(words: readonly string[]) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    PETSTORE_CONFIG_DIR: join(folder, 'config'),
    PETSTORE_STATE_DIR: join(folder, 'state'),
  };
  return spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function outcome(child: ReturnType<typeof start>) {
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const [code, signal] = await once(child, 'close');
  return { code: code as number | null, signal: signal as string | null, stderr };
}

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
] as const;
const ends = readers.map(([flag, words], at) => [flag, ...(signals[at % 3] ?? signals[0]), words] as const);

test.concurrent.each(ends)('%s that waits for a pipe ends with %s', async (_, signal, code, words) => {
  const child = start(words(pipe));
  const ended = outcome(child);
  setTimeout(() => child.kill(signal), 1000);
  expect(await ended).toMatchObject({ code });
});

test.concurrent.each(readers)('%s of /dev/zero ends with a message of its size', async (_, words) => {
  const { code, stderr } = await outcome(start(words('/dev/zero')));
  expect(code).toBe(2);
  expect(stderr).toMatch(/\/dev\/zero: is longer than \d+ [KMG]iB/);
});

test('a pipe that a writer leaves empty is an empty file, and not waited for', async () => {
  const child = start(['pets', 'create', '--from', pipe, '--offline', '--yes']);
  const ended = outcome(child);
  setTimeout(() => writeFileSync(pipe, ''), 500);
  expect(await ended).toMatchObject({ code: 2, stderr: expect.stringContaining('has no records') });
});

test.each(['--report', '--rejects'])('%s into a pipe that nobody reads ends with SIGTERM', async (flag) => {
  const rows = join(folder, 'rows.csv');
  writeFileSync(rows, 'petId,quantity\n999,5\n');
  const words =
    flag === '--report'
      ? ['smoke', '--offline', '--report', `json=${pipe}`]
      : ['inventory', 'apply', rows, '--offline', '--yes', '--force', '--rejects', pipe];
  const child = start(words);
  const ended = outcome(child);
  setTimeout(() => child.kill('SIGTERM'), 2500);
  expect(await ended).toMatchObject({ code: 143 });
});
