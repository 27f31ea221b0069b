import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type RecordingServer, recordingServer } from '../helpers/recording-server.ts';
import { type Run, runCli } from '../helpers/run-cli.ts';

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
  return recordingServer({}, ({ method, path }) => {
    if (method === 'GET' && path === '/categories') return { body: [] };
    return method === 'DELETE' ? { status: 204 } : { status: method === 'POST' ? 201 : 200, body: record };
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

test.each(writes)('sends one %s for %s, where the protected profile is named', async (method, line) => {
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
