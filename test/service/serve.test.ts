import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { failed, fakeIo, runCli } from '../helpers/run-cli.ts';
import { type Serving, serve } from '../helpers/serving.ts';
import { outcomeOf, spawnCli, startCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'shop.json');
});

async function get(serving: Serving, path: string) {
  const response = await fetch(serving.url + path);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

function write({ url }: Pick<Serving, 'url'>, method: string, path: string, body: string): Promise<Response> {
  return fetch(url + path, { method, body, headers: { 'content-type': 'application/json' } });
}

const rex = '{"name":"Rex","categoryId":1}';

test.each(['SIGINT', 'SIGTERM'] as const)(
  'serve prints one line with its URL and stops cleanly at %s',
  async (signal) => {
    const serving = await serve();
    expect(serving.io.written('stdout')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
    expect((await get(serving, '/pets')).body).toHaveLength(25);
    expect(await serving.stop(signal)).toBe(0);
    expect(serving.io.written('stderr')).toBe(`documentation: ${serving.url}/docs\n`);
    await expect(fetch(serving.url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  },
);

test('serve starts empty, or with the given number of pets, the same each time', async () => {
  const petsOf = async (flags: string) => {
    await using shop = await serve(flags);
    return (await get(shop, '/pets?limit=1000')).body;
  };
  expect(await petsOf('--empty')).toEqual([]);
  const pets = await petsOf('--pets 300');
  expect(pets).toHaveLength(300);
  expect(await petsOf('--pets 300')).toEqual(pets);
});

test('--data serves the store of a file and does not change the file', async () => {
  const text =
    '{"categories":[{"id":1,"name":"Dogs"}],"pets":[{"id":9223372036854775807,"name":"Rex","categoryId":1}]}';
  await writeFile(file, text);
  const serving = await serve('--data shop.json', fakeIo({ cwd: folder }));
  expect(await (await fetch(`${serving.url}/pets`)).text()).toBe(
    '[{"id":9223372036854775807,"name":"Rex","categoryId":1,"status":"available"}]',
  );
  await write(serving, 'POST', '/pets', rex);
  await serving.stop();
  expect(await readFile(file, 'utf8')).toBe(text);
});

test('--data is a regular file, and a pipe is not waited for', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const served = (data: string) =>
    runCli(['serve', '--port', '0', '--data', join(folder, data), '--', 'true']);
  expect(await served('pipe')).toMatchObject(failed(2, 'not a regular file'));
  await writeFile(join(folder, 'pets.csv'), 'id,name\n');
  const hint = 'hint: `petstore offline pull --to <file>` writes such a file\n';
  expect(await served('pets.csv')).toMatchObject(failed(2, hint));
});

test('a port in use is an error with the way to a free one; a signal while it starts runs no command', async () => {
  await using serving = await serve();
  const run = await runCli(['serve', '--port', new URL(serving.url).port]);
  expect(run).toMatchObject(failed(1, 'address already in use\nhint: --port 0 takes a free one\n'));
  const io = fakeIo();
  const stderr = { ...io.stderr, write: async () => io.raise('SIGTERM') };
  expect(await main(['serve', '--port', '0', '--', 'sleep', '20'], { ...io, stderr })).toBe(143);
});

test('--read-only refuses every write', async () => {
  await using serving = await serve('--read-only');
  const refused = await write(serving, 'POST', '/pets', rex);
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect(await refused.json()).toMatchObject({ code: 'method_not_allowed' });
  expect((await get(serving, '/pets/1')).status).toBe(200);
});

test('--log writes a line for each request, with control characters escaped', async () => {
  const serving = await serve('--log');
  await get(serving, '/pets?limit=2');
  await fetch(`${serving.url}/nothing`);
  await expect.poll(() => serving.io.written('stderr').split('\n')).toHaveLength(4);
  expect(serving.io.written('stderr')).toMatch(
    /^documentation: .*\n\S+Z GET \/pets\?limit=2 200 [\d.]+ ms\n\S+Z GET \/nothing 404 /,
  );
  await serving.stop();
});

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
])(
  '--host %s warns that others can reach it, and prints an address of the same family, which answers',
  async (host, own) => {
    await using serving = await serve(`--host ${host}`);
    // A machine may have one family alone.
    expect(new URL(serving.url).hostname).toBe(own);
    expect(serving.io.written('stderr')).toContain(`warning: --host ${host}`);
    expect((await get(serving, '/pets/1')).status).toBe(200);
  },
);

test.each([
  [['--port', '70000'], "--port '70000': must be a whole number from 0 to 65535"],
  [['--require-token'], '--require-token: PETSTORE_TOKEN is not set'],
  [['--error-rate', '2'], "--error-rate '2': must be a number from 0 to 1"],
  [['--empty', '--pets', '3'], '--empty cannot be used with --pets'],
  [['--data', 'x.json', '--pets', '3'], '--pets cannot be used with --data'],
  [['--data', '/nonexistent/shop.json'], '--data /nonexistent/shop.json: no such file'],
  [['--port', '0', '-q', '--', './nosuch'], 'run ./nosuch: no such command'],
])('serve refuses %j', async (words, why) => {
  expect(await runCli(['serve', ...words])).toMatchObject(failed(2, why));
});

test('serve runs a command against itself, with the stdout and exit code of the command', async () => {
  const script =
    'fetch(process.env.PETSTORE_BASE_URL + "/pets/3").then(async (r) => { console.log(await r.text(), process.env.PETSTORE_PROFILE); process.exit(7); })';
  const env = { PETSTORE_PROFILE: 'offline' };
  const words = ['serve', '--port', '0', '--', process.execPath, '-e', script];
  const [run, killed] = await Promise.all([
    spawnCli(words, { env }),
    spawnCli(['serve', '--port', '0', '-q', '--', 'sh', '-c', 'kill -9 $$']),
  ]);
  expect(run).toMatchObject({
    code: 7,
    stdout: '{"id":3,"name":"Luna","categoryId":2,"status":"available"} undefined\n',
  });
  expect(run.stderr).toMatch(/^serving http:\/\/127\.0\.0\.1:\d+\n$/);
  // 128 plus the number of the signal that ended it.
  expect(killed).toMatchObject({ code: 137, stdout: '', stderr: '' });
});

test.concurrent.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('passes %s on to its command', async (signal, code) => {
  const child = startCli(['serve', '--port', '0', '--', 'sh', '-c', 'echo ready; exec sleep 20']);
  const outcome = outcomeOf(child);
  await once(child.stdout ?? child, 'data');
  child.kill(signal);
  expect(await outcome).toMatchObject({ code });
});

test('a command that goes on after Ctrl-C at a terminal, which may have been for petstore alone, is interrupted', async () => {
  onTestFinished(() => void vi.useRealTimers());
  const io = fakeIo({ terminals: ['stdin'] });
  const code = main(['serve', '--port', '0', '--', 'sleep', '20'], io);
  await vi.waitUntil(() => io.written('stderr').includes('serving'), { timeout: 10_000 });
  await sleep(100);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  io.raise('SIGINT');
  vi.advanceTimersByTime(12_000);
  expect(await code).toBe(130);
});
