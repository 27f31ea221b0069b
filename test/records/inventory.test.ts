import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

test('sets, gets, deletes and creates an entry', async () => {
  using shop = openShop();
  const entry = { petId: 4, quantity: 12, status: 'pending' };
  expect(await shop.json('inventory set 4 12')).toEqual(entry);
  expect(await shop.json('inventory get 4')).toEqual(entry);
  const question = 'Delete the inventory entry of pet 4 (12 in stock)?';
  const deleted = await shop.typing('inventory delete 4', [[question, 'y\r']]);
  expect(deleted).toMatchObject({ code: 0, stdout: '' });
  expect(deleted.stderr).toContain('deleted the inventory entry of pet 4 (12 in stock)\n');
  expect((await shop.run('inventory get 4')).code).toBe(5);
  expect(await shop.json('inventory create 4 3')).toEqual({ ...entry, quantity: 3 });
  expect(await shop.run('inventory create 4 3')).toMatchObject({ code: 1, stdout: '' });
});

test('adjusts by a signed or a plain number, and refuses to go below 0', async () => {
  using shop = openShop();
  await shop.run('inventory set 4 10');
  for (const [change, sum] of [
    ['+5', 15],
    ['-5', 10],
    ['5', 15],
    ['-- -3', 12],
    ['-12', 0],
  ]) {
    const run = await shop.run(`inventory adjust -o json 4 ${change}`);
    const stdout = `{"petId":4,"quantity":${sum},"status":"pending"}\n`;
    expect(run).toEqual({ code: 0, stdout, stderr: '' });
  }
  const run = await shop.run('inventory adjust 4 -3');
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('error: the count of pet 4: 0 - 3 is below 0\n');
  expect(await shop.json('inventory get 4')).toMatchObject({ quantity: 0 });
});

test('of many adjustments at once each is counted, or refused', async () => {
  using shop = openShop();
  await shop.run('inventory set 1 0');
  const runs = await Promise.all(Array.from({ length: 12 }, () => shop.run('inventory adjust 1 +1 -q')));
  const codes = runs.map(({ code }) => code);
  expect(codes.filter((code) => code !== 0 && code !== 1)).toEqual([]);
  const quantity = codes.filter((code) => code === 0).length;
  expect(await shop.json('inventory get 1')).toMatchObject({ quantity });
});

const refused = { status: 412, body: { code: 'precondition_failed', message: 'changed', status: 412 } };

test.each([
  [10, 0, 61],
  [11, 1, 65],
])('an adjustment that meets %i others is made again ten times, and exits %i', async (others, code, sum) => {
  let quantity = 10;
  let left = others;
  await using server = await recordingServer({}, ({ method, headers, body }) => {
    if (method === 'PUT' && left > 0) {
      left -= 1;
      quantity += 5;
      return refused;
    }
    if (method === 'PUT' && headers['if-match'] !== `"${quantity}"`) return refused;
    if (method === 'PUT') ({ quantity } = JSON.parse(body));
    return { headers: { etag: `"${quantity}"` }, body: { petId: 4, quantity, status: 'sold' } };
  });
  expect((await runAt(server, 'inventory adjust 4 +1')).code).toBe(code);
  expect(quantity).toBe(sum);
});

test('a count beyond a double is never rounded by an adjustment', async () => {
  const body = '{"petId":4,"quantity":9007199254740993,"status":"sold"}';
  await using server = await recordingServer({}, () => ({ body }));
  const run = await runAt(server, 'inventory adjust 4 -1');
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(server.seen.map(({ method }) => method)).toEqual(['GET']);
});
