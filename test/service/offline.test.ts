import { writeFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { parseJson } from '../../src/process/exact-json.ts';
import { createOfflineTransport, replaceStore } from '../../src/server/offline.ts';
import { seedStore } from '../../src/server/seed.ts';
import type { Store } from '../../src/server/store.ts';
import { printStore, readStore } from '../../src/server/store-file.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const options = { lockWaitMs: 10_000 };
let folder: string;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'state', 'store.json');
});

async function send(method: string, path: string, body?: string): Promise<HttpResponse> {
  return sendTo(await createOfflineTransport(file, options), method, path, body);
}

function sendTo(
  transport: Awaited<ReturnType<typeof createOfflineTransport>>,
  ...[method, path, body]: [string, string, string?]
): Promise<HttpResponse> {
  return transport.send(
    { method, url: `http://offline.invalid${path}`, headers: { 'content-type': 'application/json' }, body },
    { cancellation: { isCancelled: false, reason: undefined, onCancel: () => {} }, onSending: () => {} },
  );
}

const rex = '{"name":"Rex","categoryId":1}';

test('a transport finds what another has written since, in a file that only its owner may read', async () => {
  const transport = await createOfflineTransport(file, options);
  expect((await send('POST', '/pets', rex)).status).toBe(201);
  const { body } = await sendTo(transport, 'GET', '/pets/26');
  expect(parseJson(String(body))).toMatchObject({ name: 'Rex' });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'state'))).mode & 0o777).toBe(0o700);
});

test('the first read saves the seed; without permission to write, the seed can still be read', async () => {
  await send('GET', '/pets');
  expect(JSON.parse(await readFile(file, 'utf8')).pets).toHaveLength(25);
  file = join(folder, 'other.json');
  await mkdir(`${file}.lock`);
  expect((await send('GET', '/pets')).status).toBe(200);
  await expect(send('POST', '/pets', rex)).rejects.toMatchObject({ kind: 'failed' });
  file = '/dev/null/store.json';
  await expect(send('GET', '/pets')).rejects.toMatchObject({ kind: 'usage' });
});

test('ids are not assigned again after a restart, and keep every digit in the file', async () => {
  await send('POST', '/pets', rex);
  await send('DELETE', '/pets/26');
  await send('PUT', '/store/inventory/1', '{"quantity":9007199254740991}');
  expect(await readFile(file, 'utf8')).toContain('"quantity":9007199254740991');
  expect((await send('POST', '/pets', rex)).headers.location).toBe('/pets/27');
});

test('timers and signals have their turn while requests are answered', async () => {
  const transport = await createOfflineTransport(':memory:', options);
  let isStopped = false;
  setTimeout(() => {
    isStopped = true;
  }, 1);
  const startMs = Date.now();
  const client = async () => {
    while (!isStopped && Date.now() - startMs < 5000) await sendTo(transport, 'GET', '/pets/1');
  };
  // They pause together: one after the other, they would take 50 ms each.
  await Promise.all(Array.from({ length: 64 }, client));
  expect(Date.now() - startMs).toBeLessThan(2000);
});

// A run that goes on would write to the new store what it read in the old one, and its journal would name the old one.
test.each([
  ['reset', () => replaceStore(file, seedStore(), 1000)],
  ['removed', () => rm(file)],
])('a transport refuses a store that was %s meanwhile', async (_, replace) => {
  const transport = await createOfflineTransport(file, options);
  await replace();
  const refusal = { kind: 'failed', message: expect.stringContaining('was replaced') };
  await expect(sendTo(transport, 'GET', '/pets/1')).rejects.toMatchObject(refusal);
  await expect(sendTo(transport, 'POST', '/pets', rex)).rejects.toMatchObject(refusal);
  expect(readStore(file)?.pets.all ?? seedStore().pets.all).toHaveLength(25);
});

test.each([
  ['', 'is not JSON'],
  ['{"pets": [', 'is not JSON'],
  ['[]', 'must be an object'],
  ['{"pets": [{"id": 1, "categoryId": 1}]}', '/pets/0/name: is required'],
  ['{"pet": []}', '/pet'],
  ['{"categories": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]}', '/categories/1/id: occurs twice'],
  ['{"categories": [{"id": -1, "name": "a"}]}', '/categories/0/id: must be a whole number from 0'],
  ['{"inventory": [{"petId": 1, "quantity": 1}]}', '/inventory/0/petId: is not a pet of the file'],
])('a file that does not hold a shop is an error and stays unchanged: %s', async (text, why) => {
  await send('GET', '/pets');
  await writeFile(file, text);
  for (const method of ['GET', 'POST']) {
    const failure = await send(method, '/pets', rex).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'usage' });
    expect((failure as Error).message).toContain(`${file}: `);
    expect((failure as Error).message).toContain(why);
  }
  expect(await readFile(file, 'utf8')).toBe(text);
});

test('if the file cannot be written, the store does not change', async () => {
  const transport = await createOfflineTransport(file, options);
  const state = join(folder, 'state');
  await rename(state, `${state}.away`);
  await writeFile(state, '');
  await expect(sendTo(transport, 'POST', '/pets', rex)).rejects.toThrow(`make folder ${state}`);
  await rm(state);
  await rename(`${state}.away`, state);
  expect((await sendTo(transport, 'POST', '/pets', rex)).headers.location).toBe('/pets/26');
});

test('the records of both stores refer to each other, and are the same each time', () => {
  const sizes = ({ categories, pets, orders, inventory }: Store) =>
    [categories, pets, orders, inventory].map(({ all }) => all.length);
  expect(sizes(seedStore())).toEqual([6, 25, 10, 25]);
  expect(seedStore(500).pets.all.length).toBe(500);
  expect(printStore(seedStore(500))).toBe(printStore(seedStore(500)));
  // Reading checks that the records fit together.
  for (const store of [seedStore(), seedStore(500)]) {
    const path = join(folder, 'shop.json');
    writeFileSync(path, printStore(store));
    expect(printStore(readStore(path) ?? store)).toBe(printStore(store));
  }
});

test('an id that a version before 4.0.0 gave and deleted is not given again', async () => {
  await mkdir(join(folder, 'state'));
  await writeFile(
    file,
    '{"categories":[{"id":1,"name":"Dogs"}],"ids":{"categories":{"next":2,"retired":[7,9223372036854775807]}}}',
  );
  expect((await send('POST', '/categories', '{"name":"Cats"}')).headers.location).toBe('/categories/8');
});

test('a file may lack statuses, entries and id counters, and the pet of a complete order', async () => {
  await mkdir(join(folder, 'state'));
  const order = '{"id":1,"petId":9,"complete":true}';
  await writeFile(
    file,
    `{"categories":[{"id":7,"name":"Dogs"}],"orders":[${order}],"pets":[{"id":9007199254740993,"name":"Rex","categoryId":7}]}`,
  );
  const body = async (path: string) => String((await send('GET', path)).body);
  expect(await body('/pets/9007199254740993')).toContain('"status":"available"');
  expect(await body('/store/inventory')).toBe(
    '[{"petId":9007199254740993,"quantity":0,"status":"available"}]',
  );
  expect(await body('/store/orders')).toBe(`[${order}]`);
  const created = await send('POST', '/pets', '{"name":"Max","categoryId":7}');
  expect(created.headers.location).toBe('/pets/9007199254740994');
});
