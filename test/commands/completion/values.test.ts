import { readdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { recordingServer } from '../../helpers/recording-server.ts';
import { runCli } from '../../helpers/run-cli.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

let folder = '';

// Loading the program for the first time takes longer than a Tab waits.
beforeAll(async () => {
  await using server = await recordingServer({}, () => ({ body: [] }));
  await runCli(['categories', 'list', '--base-url', server.url]);
});

beforeEach(() => {
  folder = temporaryFolder();
});

const offered = (words: readonly string[]) =>
  runCli(['completion', 'values', 'categories', ...words], {
    env: { PETSTORE_CONFIG_DIR: folder, PETSTORE_STATE_DIR: folder },
  });

const none = { code: 0, stdout: '', stderr: '' };
const named = (...names: readonly string[]) => names.map((name, at) => ({ id: at + 1, name }));

test('the category names of a service are asked for once, and kept', { retry: 3 }, async () => {
  await using server = await recordingServer({}, () => ({ body: named('Dogs', 'Small mammals') }));
  const first = await offered(['--base-url', server.url]);
  expect(first).toEqual({ ...none, stdout: 'Dogs\nSmall mammals\n' });
  expect(await offered(['--base-url', server.url])).toEqual(first);
  expect(server.calls()).toHaveLength(1);
});

test.each(['', 'no JSON', 'null', '{"names":5}'])(
  'a kept list that holds %j is asked for again',
  { retry: 3 },
  async (content) => {
    await using server = await recordingServer({}, () => ({ body: named('Dogs') }));
    const first = await offered(['--base-url', server.url]);
    const kept = join(folder, 'completion');
    for (const name of readdirSync(kept)) writeFileSync(join(kept, name), content);
    expect(await offered(['--base-url', server.url])).toEqual(first);
    expect(server.calls()).toHaveLength(2);
  },
);

test('a name that cannot be shown as it is, and so not typed, is not offered', { retry: 3 }, async () => {
  await using server = await recordingServer({}, () => ({
    body: named('Dogs', 'a\nb', '\x1b[31m', 'Zo\u00eb'),
  }));
  expect((await offered(['--base-url', server.url])).stdout).toBe('Dogs\nZoë\n');
});

test.each([
  ['--base-url', 'http://127.0.0.1:1'],
  ['--base-url', '::'],
  ['--profile', 'nobody'],
])('%s %s offers nothing, and says nothing', async (...words) => {
  expect(await offered(words)).toEqual(none);
});

test('a service that does not answer is not waited for', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const started = Date.now();
  expect(await offered(['--base-url', `http://127.0.0.1:${port}`])).toEqual(none);
  expect(Date.now() - started).toBeLessThan(3000);
});

test('a command that takes long to print the token is not waited for', async () => {
  const profile = { 'base-url': 'http://127.0.0.1:1', 'token-command': 'sleep 4' };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles: { slow: profile } }), {
    mode: 0o600,
  });
  const started = Date.now();
  expect(await offered(['--profile', 'slow'])).toEqual(none);
  expect(Date.now() - started).toBeLessThan(3000);
});
