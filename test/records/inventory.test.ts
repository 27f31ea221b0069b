import { expect, test } from 'vitest';
import { failed } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

test('sets, gets, deletes and creates an entry', async () => {
  const shop = openShop();
  const entry = { petId: 4, quantity: 12, status: 'pending' };
  expect(await shop.json('inventory set 4 12')).toEqual(entry);
  expect(await shop.json('inventory get 4')).toEqual(entry);
  const question = 'Delete inventory entry 4 (12 in stock) in the embedded store?';
  expect(await shop.typing('inventory delete 4', [[question, 'y\r']])).toMatchObject(
    failed(0, 'deleted inventory entry 4 (12 in stock)\n'),
  );
  expect((await shop.run('inventory get 4')).code).toBe(5);
  expect(await shop.json('inventory create 4 3')).toEqual({ ...entry, quantity: 3 });
  expect(await shop.run('inventory create 4 3')).toMatchObject({ code: 1, stdout: '' });
});

test('adjusts by a signed or a plain number, and refuses to go below 0', async () => {
  const shop = openShop();
  await shop.run('inventory set 4 10');
  for (const step of ['+5 = 15', '-5 = 10', '5 = 15', '-- -3 = 12', '-12 = 0']) {
    const [change, sum] = step.split(' = ');
    const run = await shop.run(`inventory adjust -o json 4 ${change}`);
    const stdout = `{"petId":4,"quantity":${sum},"status":"pending"}\n`;
    expect(run).toEqual({ code: 0, stdout, stderr: '' });
  }
  expect(await shop.run('inventory adjust 4 -3')).toMatchObject(
    failed(2, 'error: the count of pet 4: 0 - 3 is below 0\n'),
  );
  expect(await shop.json('inventory get 4')).toMatchObject({ quantity: 0 });
});
