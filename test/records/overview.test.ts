import { expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { type Description, ownDescription } from '../helpers/own-description.ts';
import { recordingServer, refusal } from '../helpers/recording-server.ts';
import { failed, runAt } from '../helpers/run-cli.ts';

const past = '1970-01-01T00:00:00Z';
const future = '2999-01-02T00:00:00Z';
const shop: Readonly<Record<string, readonly object[]>> = {
  '/pets': [
    { id: 1, name: 'Luna', categoryId: 1, status: 'available' },
    { id: 2, name: 'Max', categoryId: 2, status: 'sold' },
    { id: 3, name: '\u001b[31mRed', categoryId: 2 },
  ],
  '/store/inventory': [
    { petId: 1, quantity: 4, status: 'available' },
    { petId: 2, quantity: 0, status: 'sold' },
    { petId: 3, quantity: 9, status: 'available' },
  ],
  '/store/orders': [
    { id: 1, petId: 1, quantity: 1 },
    { id: 2, petId: 1, quantity: 2, shipDate: future, complete: false },
    { id: 5, petId: 1, quantity: 5, shipDate: 'Week 12' },
    { id: 3, petId: 2, quantity: 3, shipDate: past },
    { id: 4, petId: 2, quantity: 4, shipDate: past, complete: true },
  ],
};

const service = () => recordingServer(shop);

test('the overview is the state of the shop as data, from one read of every list', async () => {
  await using server = await service();
  const run = await runAt(server, 'overview -q -o json');
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(run.stdout)).toEqual({
    pets: [
      { status: 'available', total: 2 },
      { status: 'sold', total: 1 },
    ],
    inventory: [
      { petId: 1, name: 'Luna', quantity: 4 },
      { petId: 3, name: '\u001b[31mRed', quantity: 9 },
    ],
    orders: [
      { id: 3, petId: 2, name: 'Max', quantity: 3, shipDate: past, overdue: true },
      { id: 2, petId: 1, name: 'Luna', quantity: 2, shipDate: future, overdue: false },
      { id: 1, petId: 1, name: 'Luna', quantity: 1, overdue: false },
      { id: 5, petId: 1, name: 'Luna', quantity: 5, shipDate: 'Week 12', overdue: false },
    ],
  });
  expect(server.requests).toHaveLength(3);
});

test('overview prints three tables, and nothing raw', async () => {
  await using server = await service();
  const { stdout } = await runAt(server, 'overview --below 9');
  expect(stdout).toMatchInlineSnapshot(`
    "Pets
    status     total
    available      2
    sold           1

    Lowest counts, without sold pets
    petId  name  quantity
        1  Luna         4

    Open orders: 4
    id  pet  name  quantity  shipDate              overdue
     3    2  Max          3  1970-01-01T00:00:00Z  overdue
     2    1  Luna         2  2999-01-02T00:00:00Z
     1    1  Luna         1
     5    1  Luna         5  Week 12
    "
  `);
  const shown = await runAt(server, 'overview --color never', { terminals: ['stdout'] });
  expect(shown.stdout).toMatch(
    /^Pets\n┌.*^Lowest counts, without sold pets\n┌.*│ \\x1b\[31mRed │.*^Open orders: 4\n┌/ms,
  );
});

test('overview lists the ten lowest counts and ten orders, and counts all orders', async () => {
  const toItem = (id: number) => ({ id, petId: id, quantity: 15 - id, status: 'available' });
  const body = Array.from({ length: 14 }, (_, at) => toItem(at + 1));
  await using server = await recordingServer({}, ({ path }) => ({
    body: path.startsWith('/store') ? body : [],
  }));
  const { inventory, orders } = JSON.parse((await runAt(server, 'overview -q -o json')).stdout);
  const counts = inventory.map(({ quantity }: { quantity: number }) => quantity);
  expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(orders).toHaveLength(10);
  expect((await runAt(server, 'overview')).stdout).toMatch(/^Open orders: 14\n/m);
});

test('a list that the service does not offer is named, and one that cannot be read is an error', async () => {
  await using server = await service();
  const changes: ((document: Description) => void)[] = [
    ({ paths }) => delete paths['/store/orders'],
    ({ components }) => delete components.schemas.Order?.properties.complete,
  ];
  for (const change of changes) {
    const { done } = await bindTo(server, ownDescription(change));
    expect(await done('overview')).toMatch(/^Pets\n.*^Open orders\nnot shown by the service\n$/ms);
    expect(JSON.parse(await done('overview -o json'))).toMatchObject({ inventory: [{}, {}], orders: null });
  }
  await using refusing = await recordingServer({ '/pets': [], '/store/inventory': [] }, () => refusal(403));
  expect(await runAt(refusing, 'overview')).toMatchObject(failed(4, 'it says no'));
});
