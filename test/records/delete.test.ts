import { expect, test } from 'vitest';
import { runTyping } from '../helpers/person.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

/** Pets of the seeded shop without an open order. */
const free = ['1', '2', '3'];

test('deletes with --yes, reports it on stderr and prints nothing', async () => {
  using shop = openShop();
  const run = await shop.run(['pets', 'delete', ...free, '--yes']);
  expect(run).toEqual({ code: 0, stdout: '', stderr: 'deleted pet 1\ndeleted pet 2\ndeleted pet 3\n' });
  expect(await shop.json('pets list')).toHaveLength(22);
});

test('needs --yes if there is no terminal, and sends nothing', async () => {
  await using server = await recordingServer({});
  const run = await runAt(server, 'pets delete 1', { stdin: 'y\n' });
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('hint: use --yes\n');
  expect(server.seen).toEqual([]);
});

test('names what it will delete, and accepts yes', async () => {
  using shop = openShop();
  const run = await shop.typing('pets rm 1 -q', [['Delete pet 1 (Bella) and its inventory entry (', 'y\r']]);
  expect(run).toMatchObject({ code: 0, stdout: '' });
  expect((await shop.run('pets get 1')).code).toBe(5);
});

test.each([
  ['n\r', 2],
  ['\r', 2],
  ['\x03', 130],
])('keeps it at the answer %j and exits %i', async (keys, code) => {
  using shop = openShop();
  const run = await shop.typing('pets delete 1 2', [
    ['Delete 2 pets: 1 (Bella), 2 (Max), and their inventory entries?', keys],
  ]);
  expect(run).toMatchObject({ code, stdout: '' });
  expect(await shop.json('pets list')).toHaveLength(25);
});

test('asks only about the pets that exist', async () => {
  using shop = openShop();
  expect(await shop.typing('pets delete 999', [])).toMatchObject({ code: 5, stdout: '' });
  const run = await shop.typing('pets delete 999 1', [
    ['Delete pet 1 (Bella) and its inventory entry (', 'y\r'],
  ]);
  expect(run.code).toBe(3);
  expect(run.stderr).toContain('pet 999 does not exist');
  expect(await shop.json('pets list')).toHaveLength(24);
});

test('tries all, and exits 3 if some failed', async () => {
  using shop = openShop();
  const run = await shop.run('pets delete 1 999 1 2 --yes');
  expect(run).toMatchObject({ code: 3, stdout: '' });
  expect(run.stderr).toMatch(
    /^deleted pet 1\ndeleted pet 2\nerror: delete .*pet 999 does not exist \(404 not_found\)\n$/,
  );
});

test('the JSON error lists what was deleted in its warnings', async () => {
  using shop = openShop();
  const run = await shop.run('pets delete 1 999 --yes -o json');
  expect(run).toMatchObject({ code: 3, stdout: '' });
  expect(JSON.parse(run.stderr).error).toMatchObject({ kind: 'partial', warnings: ['deleted pet 1'] });
  const done = await shop.run('pets delete 2 --yes -o json');
  expect(done).toEqual({ code: 0, stdout: '', stderr: 'deleted pet 2\n' });
});

test('does not delete a pet with an open order', async () => {
  using shop = openShop();
  const run = await shop.run('pets delete 4 -y -o json');
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(run.stderr).error).toMatchObject({ kind: 'failed', code: 'in_use', status: 409 });
});

test('asks by id if the pet may not be read', async () => {
  await using server = await recordingServer({}, ({ method }) => ({ status: method === 'GET' ? 403 : 204 }));
  const run = await runTyping(
    ['pets', 'delete', '1', '--base-url', server.url],
    [[`Delete pet 1 on ${server.url}?`, 'y\r']],
  );
  expect(run.code).toBe(0);
  expect(server.calls()).toEqual(['GET /pets/1', 'DELETE /pets/1']);
});

test('a dry run shows each request, asks nothing and sends nothing', async () => {
  using shop = openShop();
  const run = await shop.run('pets delete 1 2 --dry-run -o jsonl');
  expect(run.code).toBe(0);
  const requests = run.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(requests).toMatchObject([
    { method: 'DELETE', url: expect.stringMatching(/\/pets\/1$/) },
    { method: 'DELETE', url: expect.stringMatching(/\/pets\/2$/) },
  ]);
  expect(await shop.json('pets list')).toHaveLength(25);
});

test('does not delete a category with pets, names it in the question, and says what uses it', async () => {
  using shop = openShop();
  const run = await shop.typing('categories delete 1', [['Delete category 1 (Dogs)?', 'y\r']]);
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toContain('409 in_use');
  expect(run.stderr).toContain('see what uses it: petstore pets list --category 1 --offline\n');
});
