import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

test.each([
  ['today', day(0)],
  ['tomorrow', day(1)],
  ['+3d', day(3)],
  ['+1w', day(7)],
  ['2030-02-03', '2030-02-03'],
])('--ship-date %s is a day in UTC', async (text, expected) => {
  using shop = openShop();
  const order = await shop.json('orders', 'create', '--pet', '3', '--quantity', '1', '--ship-date', text);
  expect(order).toMatchObject({ shipDate: `${expected}T00:00:00Z` });
});

test.each(['yesterday', '+1y', '2030-02-30', '-1d'])('--ship-date %s is refused', async (text) => {
  const run = await runCli(['--offline', 'orders', 'create', '--pet', '3', `--ship-date=${text}`]);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(`--ship-date '${text}': must be a date such as`);
});

test('an order is overdue when the day of its ship date is over, and due before a date if it ships before', async () => {
  using shop = openShop();
  const create = async (...flags: string[]) =>
    ((await shop.json('orders', 'create', '--pet', '3', '--quantity', '1', ...flags)) as { id: number }).id;
  const list = async (...flags: string[]) =>
    ((await shop.json('orders', 'list', ...flags)) as { id: number }[]).map(({ id }) => id);
  const yesterday = await create('--ship-date', `${day(-1)}T23:59:59Z`);
  const done = await create('--ship-date', day(-1), '--complete');
  const today = await create('--ship-date', 'today');
  const later = await create('--ship-date', '+1w');
  const undated = await create();
  const own = [yesterday, done, today, later, undated];
  const among = (ids: readonly number[]) => ids.filter((id) => own.includes(id));
  expect(among(await list('--overdue'))).toEqual([yesterday]);
  expect(among(await list('--due-before', 'tomorrow'))).toEqual([yesterday, today]);
  expect(among(await list('--due-before', '+2w'))).toEqual([yesterday, today, later]);
});
