import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../helpers/certificate.ts';
import { listenHere } from '../helpers/listen.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

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
  runCli(['__complete', '--', ...words, 'pets', 'list', '--category', ''], {
    env: { PETSTORE_CONFIG_DIR: folder, PETSTORE_STATE_DIR: folder },
  });

const none = { code: 0, stdout: '', stderr: '' };
const named = (...names: readonly string[]) => names.map((name, at) => ({ id: at + 1, name }));

test('each Tab asks the service for its categories', { retry: 3 }, async () => {
  await using server = await recordingServer({}, () => ({ body: named('Dogs', 'Small mammals') }));
  const first = await offered(['--base-url', server.url]);
  expect(first).toEqual({ ...none, stdout: 'Dogs\nSmall mammals\n' });
  expect(await offered(['--base-url', server.url])).toEqual(first);
  expect(server.calls()).toHaveLength(2);
});

const complete = async (...words: string[]) => {
  const { stdout } = await runCli(['__complete', '--', ...words], {
    env: { PETSTORE_CONFIG_DIR: folder, PETSTORE_STATE_DIR: folder },
  });
  return stdout.trimEnd().split('\n');
};

test('pets are offered by id, with their names', { retry: 3 }, async () => {
  expect(await complete('--offline', 'pets', 'get', '')).toContain('1\tBella');
  expect(await complete('--offline', 'inventory', 'set', '')).toContain('1\tBella');
});

test('once a letter is typed, pets are offered by name', { retry: 3 }, async () => {
  expect(await complete('--offline', 'pets', 'get', 'Lu')).toEqual(['Luna']);
  expect(await complete('--offline', 'inventory', 'adjust', 'be')).toEqual(['Bella']);
  expect(await complete('--offline', 'orders', 'list', '--pet', 'Lu')).toEqual(['Luna']);
});

test('orders are offered with the name of their pet', { retry: 3 }, async () => {
  const offers = await complete('--offline', 'orders', 'complete', '');
  expect(offers.join('\n')).toMatch(/^\d+\t\d+ of [A-Z]/);
});

test('a Tab runs no token-command, and offers no values of the service then', async () => {
  await using server = await recordingServer({}, () => ({ body: named('Dogs') }));
  const command = `touch ${join(folder, 'asked')}`;
  const config = { 'base-url': server.url, 'token-command': command };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  expect(await offered([])).toEqual({ ...none, stdout: '' });
  expect(server.calls()).toEqual([]);
  expect(existsSync(join(folder, 'asked'))).toBe(false);
});

test('only open orders can be completed', { retry: 3 }, async () => {
  const ids = (await complete('--offline', 'orders', 'complete', '')).map((line) => line.split('\t')[0]);
  const { stdout } = await runCli(['--offline', 'orders', 'list', '--open', '-o', 'ids']);
  expect(ids).toEqual(stdout.trimEnd().split('\n'));
});

test('columns are offered for --fields, and the values of a setting after its key', async () => {
  expect(await complete('pets', 'list', '--fields', '')).toEqual([
    'id',
    'name',
    'category',
    'status',
    'categoryId',
  ]);
  expect(await complete('config', 'set', 'output', '')).toEqual(
    expect.arrayContaining(['table', 'json', 'csv']),
  );
  expect(await complete('config', 'set', '--profile', 'a', 'quiet', '')).toEqual(['true', 'false']);
  expect(await complete('config', 'set', 'out')).toEqual(['output']);
});

test('after a comma the next value of a list is offered', async () => {
  expect(await complete('pets', 'list', '--fields', 'id,n')).toEqual(['id,name']);
  expect(await complete('pets', 'list', '--status=sold,p')).toEqual(['--status=sold,pending']);
  expect(await complete('smoke', '--skip', 'reach,t')).toEqual(['reach,tls']);
});

test('flags are found in clusters, after =, and end at --', async () => {
  expect(await complete('-qo', '')).toEqual(['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'ids']);
  expect(await complete('pets', 'list', '--status=s')).toEqual(['--status=sold']);
  expect(await complete('serve', '--', '')).toEqual([':file']);
  expect(await complete('pets', 'create', '--from', '')).toEqual([':file']);
});

test('the script of each shell is printed', async () => {
  for (const [shell, file] of [
    ['bash', 'petstore.bash'],
    ['zsh', '_petstore'],
    ['fish', 'petstore.fish'],
    ['powershell', 'petstore.ps1'],
  ] as const)
    expect((await runCli(['completion', shell])).stdout).toBe(readFileSync(`completions/${file}`, 'utf8'));
  expect((await runCli(['completion'])).code).toBe(2);
});

test('a command that does not exist offers nothing', async () => {
  expect(await complete('pest', '')).toEqual(['']);
});

test('a name that cannot be shown or typed as it is is not offered', { retry: 3 }, async () => {
  await using server = await recordingServer({}, () => ({
    body: named('Dogs', 'a\nb', '\x1b[31m', 'Zo\u00eb'),
  }));
  expect((await offered(['--base-url', server.url])).stdout).toBe('Dogs\nZoë\n');
});

test('a category is offered by its id if its name would be read as something else', {
  retry: 3,
}, async () => {
  await using server = await recordingServer({}, () => ({
    body: named('Dogs', '5', 'cats', 'Cats', '--yes'),
  }));
  expect((await offered(['--base-url', server.url])).stdout).toBe('Dogs\n2\t5\n3\tcats\n4\tCats\n5\t--yes\n');
});

test('the certificates that the line names count', { retry: 3 }, async () => {
  const identity = await makeCertificate(3);
  const server = createHttpsServer(identity, (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1,"name":"Dogs"}]'),
  );
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${await listenHere(server)}`;
  writeFileSync(join(folder, 'ca.pem'), identity.cert);
  const words = ['--base-url', url, '--ca-cert', join(folder, 'ca.pem')];
  expect((await offered(words)).stdout).toBe('Dogs\n');
});

test('only what the command takes is offered', async () => {
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles: { shop: {} } }));
  expect(await complete('profile', 'delete', '')).toEqual(['shop']);
  expect(await complete('config', 'unset', 'prof')).toEqual(['profile']);
  expect(await complete('config', '--dry')).toEqual(['']);
  expect(await complete('inventory', 'runs', '--dry')).toEqual(['']);
  expect(await complete('inventory', '--dry')).toEqual(['--dry-run\tprint the request and send nothing']);
});

test.each([
  ['--base-url', 'http://127.0.0.1:1'],
  ['--base-url', '::'],
  ['--profile', 'nobody'],
])('%s %s prints nothing', async (...words) => {
  expect(await offered(words)).toEqual(none);
});

test('completion does not wait for a service that does not answer', async () => {
  const server = createServer(() => {});
  const port = await listenHere(server);
  onTestFinished(() => void server.close());
  const started = Date.now();
  expect(await offered(['--base-url', `http://127.0.0.1:${port}`])).toEqual(none);
  expect(Date.now() - started).toBeLessThan(3000);
});

test('completion does not wait for a slow token command', async () => {
  const profile = { 'base-url': 'http://127.0.0.1:1', 'token-command': 'sleep 4' };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles: { slow: profile } }), {
    mode: 0o600,
  });
  const started = Date.now();
  expect(await offered(['--profile', 'slow'])).toEqual(none);
  expect(Date.now() - started).toBeLessThan(3000);
});
