import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

interface Item {
  readonly petId: number;
  readonly quantity: number;
  readonly status: string;
}

test('lists petId, quantity and status', async () => {
  const { stdout } = await runCli('--offline inventory list --limit 1 -o csv');
  expect(stdout).toBe('petId,quantity,status\n1,1,available\n');
});

test('filters by status and by a quantity under a number', async () => {
  using shop = openShop();
  const all = (await shop.json('inventory list')) as Item[];
  const low = await shop.json('inventory list --below 2 --status available');
  expect(low).toEqual(all.filter(({ quantity, status }) => quantity < 2 && status === 'available'));
  expect(low).not.toEqual([]);
  expect(await shop.json('inventory list --below 0')).toEqual([]);
});

test('stops at the limit also if it filters the list itself', async () => {
  const { stdout } = await runCli('--offline inventory ls --below 1 --limit 2 -o ids');
  expect(stdout.trim().split('\n')).toHaveLength(2);
});

test('sets, gets, deletes and creates an entry', async () => {
  using shop = openShop();
  const entry = { petId: 4, quantity: 12, status: 'pending' };
  expect(await shop.json('inventory set 4 12')).toEqual(entry);
  expect(await shop.json('inventory get 4')).toEqual(entry);
  const deleted = await shop.run('inventory delete 4 --yes -q');
  expect(deleted).toEqual({ code: 0, stdout: '', stderr: '' });
  expect((await shop.run('inventory get 4')).code).toBe(5);
  expect(await shop.json('inventory create 4 3')).toEqual({ ...entry, quantity: 3 });
  expect(await shop.run('inventory create 4 3')).toMatchObject({ code: 1, stdout: '' });
});

test('names the entry that will go', async () => {
  using shop = openShop();
  const run = await shop.typing('inventory delete 1', [
    ['Delete the inventory entry of pet 1 (1 in stock)?', 'y\r'],
  ]);
  expect(run.code).toBe(0);
  expect(run.stderr).toContain('deleted the inventory entry of pet 1 (1 in stock)\n');
});

test.each([
  [['+5'], 15],
  [['-5'], 5],
  [['5'], 15],
  [['-10'], 0],
  [['--', '-3'], 7],
])('adjusts 10 by %j to %i', async (change, sum) => {
  using shop = openShop();
  await shop.run('inventory set 4 10');
  const run = await shop.run(['inventory', 'adjust', '-o', 'json', '4', ...change]);
  expect(run).toMatchObject({ code: 0, stdout: `{"petId":4,"quantity":${sum},"status":"pending"}\n` });
  expect(run.stderr).toBe('');
});

test('refuses to go below 0', async () => {
  using shop = openShop();
  await shop.run('inventory set 4 2');
  const run = await shop.run('inventory adjust 4 -3');
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('error: adjust the stock of pet 4: 2 now, -3: the count would go below 0\n');
  expect(await shop.json('inventory get 4')).toMatchObject({ quantity: 2 });
});

test('warns that an adjustment is not atomic if the service sends no ETag', async () => {
  await using server = await recordingServer({}, () => ({
    body: { petId: 4, quantity: 10, status: 'sold' },
  }));
  const run = await runAt(server, 'inventory adjust 4 +1');
  expect(run.stderr).toContain('note: adjust is not atomic');
});

test('adjusts atomically if the service sends an ETag, and warns no more', async () => {
  await using server = await recordingServer({}, ({ method }) =>
    method === 'GET'
      ? { headers: { etag: '"3"' }, body: { petId: 4, quantity: 10, status: 'sold' } }
      : { status: 412, body: { code: 'precondition_failed', message: 'changed', status: 412 } },
  );
  const run = await runAt(server, 'inventory adjust 4 +1');
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).not.toContain('atomic');
  expect(server.seen.at(-1)).toMatchObject({
    method: 'PUT',
    headers: { 'if-match': '"3"' },
    body: '{"quantity":11}',
  });
});

test('adjusts a count beyond a double without rounding, or refuses', async () => {
  await using server = await recordingServer({}, () => ({
    headers: { 'content-type': 'application/json' },
    body: '{"petId":4,"quantity":9007199254740993,"status":"sold"}',
  }));
  const run = await runAt(server, 'inventory adjust 4 -1');
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(server.seen.map(({ method }) => method)).toEqual(['GET']);
});

test('takes the status of the pet for a new entry even if getPet is gone', async () => {
  const pet = { id: 3, name: 'Rex', categoryId: 1, status: 'sold' };
  await using server = await recordingServer({}, ({ method, path, body }) => {
    if (method === 'POST') return { status: 201, body: JSON.parse(body) };
    return path.startsWith('/pets/') ? { status: 410 } : { body: [pet] };
  });
  const run = await runAt(server, 'inventory create 3 8 -o json');
  expect(run).toMatchObject({ code: 0, stdout: '{"petId":3,"quantity":8,"status":"sold"}\n' });
  expect(run.stderr).toContain('looking through listPets');
});

test.each([
  [['set', '4', '-1'], "quantity '-1': must be an integer from 0 to 9007199254740991"],
  [['set', '4', '1.0'], "quantity '1.0'"],
  [['set', '4', ''], "quantity ''"],
  [['set', '4', '9007199254740992'], "quantity '9007199254740992'"],
  [['set', '-1', '1'], "petId '-1'"],
  [['set', '4'], 'quantity'],
  [['adjust', '4', 'five'], "change 'five'"],
  [['adjust', '4', '1.5'], "change '1.5'"],
  [['list', '--below', '-1'], '--below'],
])('refuses %j with exit 2', async (words, message) => {
  const run = await runCli(['--offline', 'inventory', ...words]);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(message);
});

test('a dry run of an adjustment reads, and shows the PUT with the sum', async () => {
  using shop = openShop();
  await shop.run('inventory set 4 10');
  const run = await shop.run('inventory adjust 4 +5 --dry-run -o json');
  expect(JSON.parse(run.stdout)).toMatchObject({ method: 'PUT', body: { quantity: 15 } });
  expect(await shop.json('inventory get 4')).toMatchObject({ quantity: 10 });
});

test('a deprecated and a beta operation give one warning each', async () => {
  const run = await runCli('inventory create 1 5 --offline');
  expect(run.stderr).toMatch(
    /^warning: inventory create uses an endpoint that ends on .*, in \d+ days .*\nwarning: inventory create uses an endpoint that is beta and may change\nerror: /,
  );
});

test.each([
  ['set', '5'],
  ['adjust', '+4'],
])('%s fails and prints the entry if the service answers with another count', async (verb, count) => {
  await using server = await recordingServer({}, ({ method }) => ({
    body: { petId: 1, quantity: method === 'PUT' ? 999 : 1, status: 'sold' },
  }));
  const run = await runCli(['inventory', verb, '1', count, '--base-url', server.url]);
  expect(run).toMatchObject({ code: 1, stdout: expect.stringContaining('999') });
  expect(run.stderr).toContain('the service answered quantity 999, not 5\n');
});
