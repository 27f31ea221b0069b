import { expect, test } from 'vitest';
import { shelves, toCsv } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';

const apply = 'inventory apply stock.csv --yes';

test('a run that is declined, stopped by a guard, dry or without a row leaves no journal', async () => {
  await using shop = await stockShop([5, 5, 5], {
    'stock.csv': toCsv([6, 6, 6]),
    'same.csv': toCsv([5]),
    'none.csv': 'petId,quantity\n',
  });
  expect(await shop.report('inventory apply stock.csv')).toMatchObject({
    code: 2,
    error: { code: 'confirmation_needed' },
  });
  expect(await shop.report(`${apply} --max-changes 1`)).toMatchObject({ code: 2, error: { code: 'guard' } });
  expect((await shop.run(`${apply} --dry-run`)).code).toBe(0);
  expect((await shop.run('inventory apply none.csv')).code).toBe(0);
  expect((await shop.run('runs -o json')).stdout).toBe('[]\n');
  // A file that changes nothing asks nothing, and is a run.
  const same = await shop.report('inventory apply same.csv');
  expect(same).toMatchObject({ code: 0, unchanged: 1, id: 'r1' });
  expect(shop.writes()).toEqual([]);
});

test.each([
  ['the report has no such field', `${apply} --fields petId`],
  ['the report cannot be sorted by it', `${apply} --sort nothing`],
  ['a plan has no such field', `${apply} --dry-run --fields applied`],
  ['a diff has no such field', 'inventory diff stock.csv --fields applied'],
  ['one mark cannot have two meanings', `${apply} --thousands . --decimal .`],
  ['only a delivery is booked again', `${apply} --again`],
  ['only a delivery has a number', `${apply} --delivery LS-1`],
  ['a number is not empty', ['inventory', 'apply', 'stock.csv', '--relative', '--yes', '--delivery', '']],
  ['the file is empty', 'inventory apply empty.csv --yes'],
  ['there is no such file', 'inventory apply nowhere.csv --yes'],
  ['rejects do not go to stdout', `${apply} --rejects -`],
  ['the folder of the rejects is missing', `${apply} --rejects nowhere/r.csv`],
])('refuses before any request: %s', async (_, words) => {
  await using shop = await stockShop([5, 5], { 'stock.csv': toCsv([6, 6]), 'empty.csv': '' });
  expect(await shop.run(words)).toMatchObject({ code: 2, stdout: '' });
  expect(shop.requests).toEqual([]);
});

test('without a service it says so, before it reads the file', async () => {
  await using shop = await stockShop([], {});
  const nowhere = await shop.run(apply, { env: { PETSTORE_BASE_URL: '' } });
  expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('no service') });
});

test('a pet without an entry is failed, or created with --create-missing, from 0 if relative', async () => {
  await using shop = await stockShop([5, 5], {
    'stock.csv': 'petId,quantity\n1,6\n9,7\n',
    'd.csv': 'id,change\n7,3\n',
  });
  const first = await shop.report(apply);
  expect(first).toMatchObject({ code: 3, applied: 1, failed: 1 });
  expect(JSON.stringify(first.failures)).toContain('no_entry');
  const created = await shop.report(`${apply} --create-missing`);
  expect(created).toMatchObject({ code: 0, applied: 1, unchanged: 1 });
  const relative = 'inventory apply d.csv --relative --delivery LS-1 --yes';
  expect(await shop.report(relative)).toMatchObject({ code: 1, failed: 1 });
  expect(await shop.report(`${relative} --create-missing`)).toMatchObject({ code: 0, applied: 1 });
  expect(Object.fromEntries(shop.stock)).toEqual({ 1: 6, 2: 5, 9: 7, 7: 3 });
});

test('a row with an expected count overwrites nothing else, one without sets its value', async () => {
  const rest = shelves(118, 5).map(([petId, count]) => `${petId + 2},${count},\n`);
  await using shop = await stockShop(shelves(120, 5), {
    'stock.csv': `petId,quantity,expected\n1,6,5\n2,6,\n${rest.join('')}`,
  });
  // The plan reads the list; right after it others write.
  let isListed = false;
  shop.misbehave = ({ petId }) => {
    if (isListed && petId !== undefined && shop.writes().length === 0)
      for (const each of ['1', '2']) shop.stock.set(each, 50);
    isListed ||= petId === undefined;
    return undefined;
  };
  expect(await shop.report(`${apply} --concurrency 1`)).toMatchObject({ applied: 1, failed: 1 });
  expect([shop.stock.get('1'), shop.stock.get('2')]).toEqual([50, 6]);
});

test.each([
  ['--max-changes 5', /6 of 10 rows.*--max-changes/],
  ['--max-changes 59%', /6 of 10 rows.*59%/],
  ['--max-delta 94 --allow-zero', /pet 1 from 100 to 0.*--max-delta/],
  ['--max-changes 60% --max-delta 100', /6 of 10 rows go to 0/],
])('is stopped by the guard %s before anything is sent', async (guard, message) => {
  await using shop = await stockShop(shelves(10, 100), {
    'stock.csv': toCsv(shelves(10, (petId) => (petId <= 6 ? 0 : 100))),
  });
  const error = { code: 'guard', message: expect.stringMatching(message) };
  expect(await shop.report(`${apply} ${guard}`)).toMatchObject({ code: 2, error });
  expect(shop.writes()).toEqual([]);
  const allowed = '--max-changes 60% --max-delta 100 --allow-zero';
  expect(await shop.report(`${apply} ${allowed}`)).toMatchObject({ code: 0, applied: 6 });
});

test('a guard groups the digits of its numbers, as the plan does', async () => {
  await using shop = await stockShop([5], { 'stock.csv': toCsv([[1, 12345]]) });
  const { stderr } = await shop.run(`${apply} --max-delta 1234`);
  expect(stderr).toContain('line 2 changes pet 1 from 5 to 12,345, and --max-delta allows 1,234');
});

test('entries that are created with 0 need no --allow-zero', async () => {
  await using shop = await stockShop([5], { 'stock.csv': toCsv(shelves(10, 0)) });
  expect(await shop.report(`${apply} --create-missing`)).toMatchObject({ code: 0, applied: 10 });
});

test('a base URL with a wrong path fails as such, and not as rows without an entry', async () => {
  await using shop = await stockShop([5], { 'stock.csv': toCsv([6]) });
  shop.misbehave = () => ({ status: 404, body: { code: 'not_found', message: 'there is no such path' } });
  const { code, error, failed } = await shop.report(apply);
  expect({ code, failed }).toEqual({ code: 6, failed: undefined });
  expect(error).toMatchObject({
    message: 'there is no such path',
    hint: expect.stringContaining('base URL'),
  });
});
