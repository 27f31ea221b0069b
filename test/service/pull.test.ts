import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { seedStore } from '../../src/server/seed.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import type { Store } from '../../src/server/store.ts';
import { failed, type RunOptions, runCli } from '../helpers/run-cli.ts';
import { serve } from '../helpers/serving.ts';
import { openShop } from '../helpers/shop.ts';

let shop: ReturnType<typeof openShop>;
let store: Store;
let server: RunningServer;
let requests: string[];

beforeEach(async () => {
  shop = openShop();
  store = seedStore(1100);
  store.orders.put(9223372036854775806n, { id: 9223372036854775806n, petId: 7n, complete: true });
  requests = [];
  server = await startServer({
    host: '127.0.0.1',
    port: 0,
    store,
    onExchange: ({ method, target }) => requests.push(`${method} ${target}`),
  });
});
afterEach(() => server.close());

/** Runs a command with the service as its target. */
function run(line: string, env: RunOptions['env'] = {}) {
  return runCli(`--base-url ${server.url} ${line}`, { env: { PETSTORE_OFFLINE_STORE: shop.file, ...env } });
}

test('pull copies every record with its id into the embedded store, and sends only GET', async () => {
  const pulled = await run('offline pull --yes');
  expect(pulled).toMatchObject({ code: 0, stdout: '' });
  expect(pulled.stderr).toMatch(
    new RegExp(`^pulled [\\d,]+ records from ${server.url} into the embedded store\n$`),
  );
  expect(requests.filter((request) => !request.startsWith('GET '))).toEqual([]);
  expect(requests.filter((request) => request.includes('/pets'))).toHaveLength(2);
  for (const noun of ['pets', 'categories', 'orders', 'inventory']) {
    const there = await run(`${noun} list -o csv`);
    expect(await shop.run(`${noun} list -o csv`)).toMatchObject({ code: 0, stdout: there.stdout });
  }
  expect(statSync(shop.file).mode & 0o777).toBe(0o600);
});

test('records created after the pull get ids above those of the service', async () => {
  await run('offline pull --yes');
  expect(await shop.json('pets create --name Rex --category 1')).toMatchObject({ id: 1101 });
  const order = await shop.run('orders create --pet 1 --quantity 2 -o ids');
  expect(order.stdout).toBe('9223372036854775807\n');
});

test('pull asks before it replaces the embedded store, and before its first request', async () => {
  await shop.json('inventory set 1 77');
  store.inventory.put(1n, { petId: 1n, quantity: 3, status: 'available' });
  requests = [];
  const text = readFileSync(shop.file, 'utf8');
  expect(await run('offline pull')).toMatchObject(
    failed(2, /replace the embedded store by .*: this needs a confirmation.*\n.*--yes/),
  );
  expect(requests).toEqual([]);
  expect(readFileSync(shop.file, 'utf8')).toBe(text);
  expect(await run('offline pull --yes')).toMatchObject({ code: 0 });
  expect(await shop.json('inventory get 1')).toMatchObject({ quantity: 3 });
});

test('a service that fails during the pull leaves the store unchanged', async () => {
  await shop.json('pets list');
  const text = readFileSync(shop.file, 'utf8');
  await server.close();
  server = await startServer({ host: '127.0.0.1', port: 0, store, faults: { errorRate: 0.5 } });
  expect(await run('offline pull --yes --retries 0')).toMatchObject({ code: 6 });
  expect(readFileSync(shop.file, 'utf8')).toBe(text);
});

test('records that do not fit together are an error that names the first, and nothing is stored', async () => {
  store.inventory.put(5000n, { petId: 5000n, quantity: 1, status: 'sold' });
  await shop.json('pets list');
  const text = readFileSync(shop.file, 'utf8');
  const refused = await run('offline pull --yes');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(readFileSync(shop.file, 'utf8')).toBe(text);
  expect(refused.stderr).toMatch(
    /cannot be kept as they are: \/inventory\/\d+\/petId: is not a pet .*\nhint: pull again/,
  );
  for (const id of [1n, 2n]) store.orders.put(id, { id, quantity: -1, complete: false });
  expect((await run('offline pull --yes')).stderr).toMatch(/\/orders\/0\/quantity: .*\d \(and 1 more\)\n$/);
});

test('--to writes a new file for serve --data, and never one that exists', async () => {
  const file = join(shop.file, '..', 'shop.json');
  expect(await run(`offline pull --to ${file}`)).toMatchObject({ code: 0, stdout: '' });
  const text = readFileSync(file, 'utf8');
  expect(JSON.parse(text).pets).toHaveLength(1100);
  requests = [];
  const refused = await run(`offline pull --to ${file}`);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toBe(`error: --to ${file}: the file exists\nhint: name a new one\n`);
  expect(requests).toEqual([]);
  await using served = await serve(`--data ${file}`);
  const pets = await fetch(`${served.url}/pets?limit=1&after=1099`);
  expect(await pets.json()).toMatchObject([{ id: 1100 }]);
});

test('reset asks, then starts the store again with its seed', async () => {
  await shop.json('pets delete 1 -y').catch(() => {});
  const refused = await shop.run('offline reset');
  expect(refused).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^error: reset the embedded store: this needs a confirmation, .*\nhint: use --yes\n$/,
    ),
  });
  expect((await shop.run('pets get 1')).code).toBe(5);
  const reset = await shop.typing('offline reset', [['Reset the embedded store', 'y\r']]);
  expect(reset.code).toBe(0);
  expect(await shop.json('pets get 1')).toMatchObject({ name: 'Bella' });
});

test('pull needs a service, and pull and reset a file that is a store or is not there', async () => {
  expect((await shop.run('offline pull')).stderr).toContain('cannot be copied into itself');
  writeFileSync(shop.file, 'my notes');
  for (const verb of ['pull', 'reset']) {
    expect(await run(`offline ${verb} --yes`)).toMatchObject(failed(2, `${shop.file}: is not JSON`));
    const env = { PETSTORE_OFFLINE_STORE: ':memory:' };
    expect(await run(`offline ${verb} --yes`, env)).toMatchObject(failed(2, ':memory:'));
  }
  expect(readFileSync(shop.file, 'utf8')).toBe('my notes');
});
