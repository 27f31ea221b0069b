import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { CliError, OutputClosedError } from '../../src/process/errors.ts';
import { type RecordingServer, recordingServer } from '../helpers/recording-server.ts';
import { fakeIo, type Run, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-writes-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Every write of the four nouns, by the method of its request. */
const writes = [
  ['POST', 'pets create --name Rex --category 1'],
  ['PUT', 'pets update 1 --name Rexy'],
  ['DELETE', 'pets delete 1 --yes'],
  ['POST', 'categories create --name Insects'],
  ['PUT', 'categories update 1 --name Hounds'],
  ['DELETE', 'categories delete 1 --yes'],
  ['POST', 'orders create --pet 1'],
  ['PUT', 'orders update 1 --quantity 2'],
  ['PUT', 'orders complete 1'],
  ['DELETE', 'orders delete 1 --yes'],
  ['PUT', 'inventory set 1 5'],
  ['PUT', 'inventory adjust 1 +5'],
  ['POST', 'inventory create 1 5'],
  ['DELETE', 'inventory delete 1 --yes'],
] as const;
const record = { id: 1, petId: 1, name: 'Rex', categoryId: 1, status: 'sold', quantity: 1 };

function service(): Promise<RecordingServer> {
  return recordingServer({}, ({ method, path, body }) => {
    if (method === 'GET' && path === '/categories') return { body: [] };
    if (method === 'DELETE') return { status: 204 };
    return { status: method === 'POST' ? 201 : 200, body: { ...record, ...JSON.parse(body || '{}') } };
  });
}

function written({ seen }: RecordingServer): string[] {
  return seen.map(({ method }) => method).filter((method) => method !== 'GET');
}

function runOn({ url }: RecordingServer, line: string, ...flags: string[]): Promise<Run> {
  // The profile is protected: without its name nothing is written.
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ profile: 'prod', profiles: { prod: { 'base-url': url, protected: true } } }),
  );
  return runCli([...line.split(' '), ...flags], { env: { PETSTORE_CONFIG_DIR: folder } });
}

test.each(writes)('sends one %s for %s if the protected profile is named', async (method, line) => {
  await using server = await service();
  expect(await runOn(server, line, '--confirm', 'prod')).toMatchObject({ code: 0 });
  expect(written(server)).toEqual([method]);
});

test.each(writes)('shows the %s of %s with --dry-run, and sends no write', async (method, line) => {
  await using server = await service();
  const run = await runOn(server, line, '--dry-run', '-o', 'json');
  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ method, url: expect.stringContaining(server.url) });
  expect(written(server)).toEqual([]);
});

test.each(writes)('refuses a protected profile that is not named: %s %s', async (_, line) => {
  await using server = await service();
  const run = await runOn(server, line);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('prod is protected');
  expect(written(server)).toEqual([]);
});

test.each(writes)('checks --fields before the %s of %s', async (_, line) => {
  await using server = await service();
  const run = await runOn(server, line, '--confirm', 'prod', '--fields', 'colour');
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(server.seen).toEqual([]);
});

test('--dry-run of a list prints a list, even if it has one record or all others failed', async () => {
  using shop = openShop();
  const preview = ['--dry-run', '-o', 'json'];
  const created = await shop.run(['pets', 'create', '--from', '-', ...preview], {
    stdin: 'name,category\nRex,1\n',
  });
  expect(JSON.parse(created.stdout)).toMatchObject([{ method: 'POST' }]);
  const updated = await shop.run(['pets', 'update', '1', '999', '--status', 'sold', ...preview]);
  expect(updated.code).toBe(3);
  expect(JSON.parse(updated.stdout)).toMatchObject([{ method: 'PUT' }]);
});

/** Runs with an stdout that fails from the second write on. */
function runInto(error: Error, argv: readonly string[], options: { file: string; stdin?: string }) {
  const env = { PETSTORE_OFFLINE_STORE: options.file };
  const io = fakeIo({ stdin: options.stdin ?? '', cwd: temporaryFolder(), env });
  let writes = 0;
  const write = async () => {
    writes += 1;
    if (writes > 1) throw error;
  };
  const code = main(argv, { ...io, stdout: { ...io.stdout, write } });
  return code.then((exit) => ({ code: exit, stderr: io.written('stderr') }));
}

const records = '{"name":"a","categoryId":1}\n'.repeat(9);

test('a closed stdout does not stop the writes', async () => {
  using shop = openShop();
  const argv = ['--offline', 'pets', 'create', '--from', '-', '-o', 'ids'];
  const run = await runInto(new OutputClosedError(), argv, { file: shop.file, stdin: records });
  expect(run).toEqual({ code: 0, stderr: '' });
  expect(await shop.json('pets list')).toHaveLength(34);
});

test('a full disk stops the writes, and a note says how many were written', async () => {
  using shop = openShop();
  const argv = ['--offline', 'pets', 'create', '--from', '-', '-o', 'ids'];
  const full = new CliError('failed', 'write to stdout: no space left on device');
  const run = await runInto(full, argv, { file: shop.file, stdin: records });
  expect(run).toEqual({
    code: 1,
    stderr:
      'note: 2 of 9 pets were written\n' +
      'note: 7 pets not done: see stdin.rejects.jsonl, and run: petstore pets create --from stdin.rejects.jsonl --offline\n' +
      'error: write to stdout: no space left on device\n',
  });
  expect(await shop.json('pets list')).toHaveLength(27);
});

test('a full disk during several writes at once waits for those under way and counts them', async () => {
  let written = 0;
  await using server = await recordingServer({}, ({ method, path }) => {
    if (method === 'PUT') written += 1;
    const status = method === 'PUT' ? 'sold' : 'available';
    return { body: { id: Number(path.split('/')[2]), name: 'a', categoryId: 1, status } };
  });
  const changes = Array.from({ length: 30 }, (_, at) => `{"id":${at + 1},"status":"sold"}`).join('\n');
  const argv = ['pets', 'update', '--from', '-', '-o', 'json', '--base-url', server.url];
  const full = new CliError('failed', 'write to stdout: no space left on device');
  const run = await runInto(full, argv, { file: '', stdin: changes });
  expect(run.code).toBe(1);
  expect(JSON.parse(run.stderr).error.warnings[0]).toBe(`${written} of 30 pets were written`);
});

test('a full disk after a lone write leaves no doubt that it was sent', async () => {
  using shop = openShop();
  const io = fakeIo({ env: { PETSTORE_OFFLINE_STORE: shop.file } });
  const write = async () => {
    throw new CliError('failed', 'write to stdout: no space left on device');
  };
  const code = await main(['--offline', 'inventory', 'set', '12', '7'], {
    ...io,
    stdout: { ...io.stdout, write },
  });
  expect(code).toBe(1);
  expect(io.written('stderr')).toBe(
    'note: the write succeeded, but its record could not be printed\nerror: write to stdout: no space left on device\n',
  );
  expect(await shop.json('inventory get 12')).toMatchObject({ quantity: 7 });
});

/** Runs with a closed stderr. */
function runUnheard(argv: readonly string[], { file, stdin = '' }: { file: string; stdin?: string }) {
  const io = fakeIo({ stdin, env: { PETSTORE_OFFLINE_STORE: file } });
  const write = async () => {
    throw new OutputClosedError();
  };
  return main(['--offline', ...argv], { ...io, stderr: { ...io.stderr, write } });
}

test('a closed stderr does not stop the deletes', async () => {
  using shop = openShop();
  const ids = Array.from({ length: 20 }, (_, at) => String(at + 1));
  await runUnheard(['pets', 'delete', ...ids, '--yes'], shop);
  const left = (await shop.json('pets list')) as unknown[];
  // Pets with an open order stay.
  expect(left.length).toBeLessThan(10);
});

test('a closed stderr does not prevent a write', async () => {
  using shop = openShop();
  expect(await runUnheard(['inventory', 'adjust', '12', '+2'], shop)).toBe(0);
  expect(await shop.json('inventory get 12')).toMatchObject({ quantity: 42 });
});

test('a full disk exits 1 even if stderr is closed', async () => {
  using shop = openShop();
  const io = fakeIo({ stdin: records, cwd: temporaryFolder(), env: { PETSTORE_OFFLINE_STORE: shop.file } });
  const stdout = async () => {
    throw new CliError('failed', 'write to stdout: no space left on device');
  };
  const stderr = async () => {
    throw new OutputClosedError();
  };
  const code = await main(['--offline', 'pets', 'create', '--from', '-', '-o', 'ids'], {
    ...io,
    stdout: { ...io.stdout, write: stdout },
    stderr: { ...io.stderr, write: stderr },
  });
  expect(code).toBe(1);
});

test('Ctrl-C between writes exits 130, and a note says how many were written', async () => {
  using shop = openShop();
  const io = fakeIo({ stdin: records, cwd: temporaryFolder(), env: { PETSTORE_OFFLINE_STORE: shop.file } });
  const write = async (text: string | Uint8Array) => {
    await io.stdout.write(text);
    if (io.written('stdout').endsWith('28\n')) io.raise('SIGINT');
  };
  const argv = ['--offline', 'pets', 'create', '--from', '-', '-o', 'ids'];
  expect(await main(argv, { ...io, stdout: { ...io.stdout, write } })).toBe(130);
  expect(io.written('stdout')).toBe('26\n27\n28\n');
  expect(io.written('stderr')).toBe(
    'note: no further write begins; waiting for those under way; a second signal ends at once\n' +
      'note: 6 pets not done: see stdin.rejects.jsonl, and run: petstore pets create --from stdin.rejects.jsonl --offline\n' +
      'error: interrupted: 3 of 9 pets were written\n',
  );
  const again = await shop.run('pets create --from stdin.rejects.jsonl', { cwd: io.cwd });
  expect(again).toMatchObject({ code: 0, stderr: '' });
  expect(await shop.json('pets list')).toHaveLength(34);
});
