import { expect, test } from 'vitest';
import { recordingServer } from '../../helpers/recording-server.ts';
import { runCli } from '../../helpers/run-cli.ts';
import { openShop } from '../../helpers/shop.ts';

interface Order {
  readonly id: number;
  readonly petId: number;
  readonly complete: boolean;
}

test('lists id, pet, quantity, shipDate and complete', async () => {
  const { stdout } = await runCli(['--offline', 'orders', 'list', '--limit', '1', '-o', 'csv']);
  expect(stdout).toBe('id,pet,quantity,shipDate,complete\n1,5,1,2026-03-02T09:00:00Z,true\n');
});

test.each([
  [['--open'], ({ complete }: Order) => !complete],
  [['--complete'], ({ complete }: Order) => complete],
  [['--pet', '4'], ({ petId }: Order) => petId === 4],
])('filters by %j', async (flags, matches) => {
  using shop = openShop();
  const all = (await shop.json('orders', 'list')) as Order[];
  const some = (await shop.json('order', 'ls', ...flags)) as Order[];
  expect(some).toEqual(all.filter(matches));
  expect(some.length).toBeGreaterThan(0);
  expect(some.length).toBeLessThan(all.length);
});

test('creates, gets, updates, completes and deletes an order', async () => {
  using shop = openShop();
  const created = await shop.json(
    'orders',
    'create',
    '--pet',
    '1',
    '--quantity',
    '2',
    '--ship-date',
    '2027-01-15',
  );
  expect(created).toEqual({ id: 11, petId: 1, quantity: 2, shipDate: '2027-01-15T00:00:00Z' });
  expect(await shop.json('orders', 'get', '11')).toEqual(created);
  const moved = await shop.json(
    'orders',
    'update',
    '11',
    '--ship-date',
    '2027-02-01T10:30:00+02:00',
    '--no-complete',
  );
  expect(moved).toEqual({ ...(created as object), shipDate: '2027-02-01T10:30:00+02:00', complete: false });
  expect(await shop.json('orders', 'complete', '11')).toEqual({ ...(moved as object), complete: true });
  expect((await shop.run(['orders', 'delete', '11', '--yes'])).code).toBe(0);
  expect((await shop.run(['orders', 'get', '11'])).code).toBe(5);
});

test('completes several orders, and tries all of them', async () => {
  using shop = openShop();
  const open = ((await shop.json('orders', 'list', '--open')) as Order[]).map(({ id }) => String(id));
  const run = await shop.run(['orders', 'complete', ...open, '999', '-o', 'ids', '-q']);
  expect(run).toMatchObject({ code: 3, stdout: open.map((id) => `${id}\n`).join('') });
  expect(await shop.json('orders', 'list', '--open')).toEqual([]);
});

test('completes an order with its other fields unchanged, and with If-Match', async () => {
  const order = { id: 1, petId: 5, quantity: -3, shipDate: null, note: null, price: 12.5 };
  await using server = await recordingServer({}, () => ({ headers: { etag: '"1"' }, body: order }));
  await runCli(['orders', 'complete', '1', '--base-url', server.url]);
  const put = server.seen.find(({ method }) => method === 'PUT');
  expect(put?.body).toBe('{"id":1,"petId":5,"quantity":-3,"note":null,"price":12.5,"complete":true}');
  expect(put?.headers['if-match']).toBe('"1"');
});

test('keeps every digit of the largest id: created from a file, listed, updated, deleted', async () => {
  using shop = openShop();
  const id = '9223372036854775807';
  const stdin = `{"id":${id},"petId":1,"quantity":1}\n{"id":9007199254740993,"petId":2}\n`;
  const created = await shop.run(['orders', 'create', '--from', '-', '-o', 'jsonl'], { stdin });
  expect(created).toEqual({ code: 0, stdout: stdin, stderr: '' });
  expect((await shop.run(['orders', 'list', '-o', 'ids'])).stdout).toMatch(
    /\n9007199254740993\n9223372036854775807\n$/,
  );
  for (const format of ['table', 'csv', 'tsv', 'yaml'])
    expect((await shop.run(['orders', 'list', '-o', format])).stdout).toContain(id);
  const updated = await shop.run(['orders', 'update', id, '--quantity', '7', '-o', 'json', '-q']);
  expect(updated).toEqual({ code: 0, stdout: `{"id":${id},"petId":1,"quantity":7}\n`, stderr: '' });
  const deleted = await shop.run(['orders', 'delete', id, '--yes']);
  expect(deleted).toEqual({ code: 0, stdout: '', stderr: `deleted order ${id}\n` });
  expect((await shop.run(['orders', 'get', id])).code).toBe(5);
});

test('asks a person for the pet, the quantity, the ship date and whether it is complete', async () => {
  using shop = openShop();
  const run = await shop.typing(
    ['orders', 'create', '-o', 'json'],
    [
      ['pet', '3\r'],
      ['Quantity', '2\r'],
      ['Ship date', '2027-01-15\r'],
      ['complete', '\r'],
    ],
  );
  expect(run).toMatchObject({
    code: 0,
    stdout: '{"id":11,"petId":3,"quantity":2,"shipDate":"2027-01-15T00:00:00Z","complete":false}\n',
  });
});

test('asks a person for the quantity if only the pet is given, and says what may be left out', async () => {
  using shop = openShop();
  const run = await shop.typing(
    ['orders', 'create', '--pet', '3', '-o', 'json'],
    [
      ['Quantity', '2\r'],
      ['Ship date (Enter for none)', '\r'],
      ['complete', '\r'],
    ],
  );
  expect(run).toMatchObject({ code: 0, stdout: '{"id":11,"petId":3,"quantity":2,"complete":false}\n' });
});

test('asks again for a pet whose name no pet has', async () => {
  using shop = openShop();
  const run = await shop.typing(
    ['orders', 'create', '-o', 'json'],
    [
      ['pet', 'Lunna\r'],
      ['no pet has this name; the nearest names are Luna', '\x15Luna\r'],
      ['Quantity', '2\r'],
      ['Ship date', '\r'],
      ['complete', '\r'],
    ],
  );
  expect(run).toMatchObject({ code: 0, stdout: '{"id":11,"petId":3,"quantity":2,"complete":false}\n' });
});

test.each([
  [['create'], 'error: create order: --pet and --quantity are missing\n'],
  [['create', '--pet', '1.5'], "--pet '1.5': must be an integer from 0 to 9223372036854775807"],
  [['create', '--pet', '1', '--quantity', '-1'], "--quantity '-1': must be an integer from 0"],
  [['create', '--pet', '1', '--quantity', '1e3'], "--quantity '1e3': must be an integer from 0"],
  [['create', '--pet', '1', '--ship-date', '2027-02-30'], "--ship-date '2027-02-30': must be a date"],
  [['create', '--pet', '1', '--ship-date', 'yesterday'], '--ship-date'],
  [['list', '--open', '--complete'], '--open'],
  [['update', '1'], 'error: update order: nothing to change\n'],
])('refuses %j with exit 2', async (words, message) => {
  const run = await runCli(['--offline', 'orders', ...words]);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(message);
});

test("exits 1 with the service's own code if the service refuses", async () => {
  const run = await runCli(['--offline', 'orders', 'create', '--pet', '999', '-o', 'json']);
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(run.stderr).error).toMatchObject({
    kind: 'failed',
    code: 'unknown_reference',
    status: 422,
  });
});
