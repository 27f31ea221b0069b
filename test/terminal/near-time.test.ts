import { expect, test } from 'vitest';
import { nearTime } from '../../src/output/near-time.ts';
import { openShop } from '../helpers/shop.ts';

const now = new Date('2026-11-24T12:00:00Z');

test.each([
  ['2026-12-02T00:00:00Z', '2026-12-02 (in 8d)'],
  ['2026-11-24T00:00:00Z', '2026-11-24 (today)'],
  ['2026-11-21T00:00:00.000Z', '2026-11-21 (3d ago)'],
  ['2026-11-24T10:00:00Z', '(2h ago)'],
  ['2026-11-24T12:20:00Z', '(in 20m)'],
  ['2026-11-24T12:00:30Z', '(now)'],
  ['2026-12-10T12:00:00Z', '(in 16d)'],
  ['soon', 'soon'],
])('%s is shown as %s', (text, shown) => {
  expect(nearTime(text, now)).toContain(shown);
});

test('a moment within a day is shown in the local time zone', () => {
  const moment = new Date(2026, 10, 24, 9, 5);
  expect(nearTime(moment.toISOString(), now)).toMatch(/^2026-11-24 09:05 \(/);
});

test('a terminal shows when an order ships, and data has RFC 3339', async () => {
  using shop = openShop();
  await shop.run('orders create --pet 1 --quantity 1 --ship-date +8d');
  const line = 'orders get 11 --fields shipDate';
  const shown = await shop.run(`${line} --color never`, { terminals: ['stdout'] });
  expect(shown.stdout).toMatch(/│ \d{4}-\d\d-\d\d \(in 8d\) │/);
  expect((await shop.run(line)).stdout).toMatch(/\d{4}-\d\d-\d\dT00:00:00Z\n$/);
  expect((await shop.run(`${line} -o csv`)).stdout).toMatch(/T00:00:00Z\n$/);
});
