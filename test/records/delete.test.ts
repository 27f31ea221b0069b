import { expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { openConfig } from '../helpers/config-folder.ts';
import { describeLines } from '../helpers/corpus.ts';
import { type Answers, runTyping } from '../helpers/person.ts';
import { recordingServer, refusal } from '../helpers/recording-server.ts';
import { failed, runAt } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

test('delete tries all, each once, reports them on stderr, and exits 3 if some failed', async () => {
  const shop = openShop();
  const run = await shop.run('pets delete 1 999 1 2 --yes');
  expect(run).toMatchObject({ code: 3, stdout: '' });
  expect(run.stderr).toMatch(
    /^deleted pet 1\ndeleted pet 2\nerror: pet 999 does not exist \(GET \S*\/pets\/999: 404 not_found\)\n$/,
  );
  expect(await shop.json('pets list')).toHaveLength(23);
});

test.each([
  ['y\r', 0, 23, ''],
  ['n\r', 2, 25, ' not confirmed, nothing was written: delete 2 pets: '],
  ['\r', 2, 25, ' not confirmed, nothing was written: delete 2 pets: '],
  ['\x03', 130, 25, ''],
])('the question names what will be deleted; the answer %j exits %i', async (keys, code, left, says) => {
  const shop = openShop();
  const question = 'Delete 2 pets: 1 (Bella, with its inventory entry: ';
  const run = await shop.typing('pets delete 1 2 -q', [[question, keys]]);
  expect(run).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(says) });
  expect(await shop.json('pets list')).toHaveLength(left);
});

test('the question names only the pets that exist', async () => {
  const shop = openShop();
  expect(await shop.typing('pets delete 999', [])).toMatchObject({ code: 5, stdout: '' });
  const question = 'Delete pet 1 (Bella, with its inventory entry: ';
  expect(await shop.typing('pets delete 999 1', [[question, 'y\r']])).toMatchObject(
    failed(3, 'pet 999 does not exist'),
  );
  expect(await shop.json('pets list')).toHaveLength(24);
});

test('delete leaves records that are in use, and names each', async () => {
  const shop = openShop();
  const pet = await shop.run('pets delete 4 -y -o json');
  expect(pet).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(pet.stderr).error).toMatchObject({ kind: 'failed', code: 'in_use', status: 409 });
  // Of several that fail alike, each is named.
  const several = await shop.run('categories delete 1 2 --yes');
  expect(several.stderr).toMatch(/error: category 1 .*\nerror: category 2 /);
  expect(await shop.json('pets get 4')).toMatchObject({ id: 4 });
  expect((await shop.run('categories list -o ids')).stdout).toMatch(/^1\n2\n/);
});

test('a pet that may not be read is not deleted, because nobody knows what would go', async () => {
  await using server = await recordingServer({}, ({ method }) => ({ status: method === 'GET' ? 403 : 204 }));
  const run = await runAt(server, 'pets delete 1 --yes');
  expect(run.code).toBe(4);
  expect(server.calls()).toEqual(['GET /pets/1']);
});

test('writes that are bound alone are used, a delete with --yes, and need no reading', async () => {
  await using server = await recordingServer({}, ({ method }) =>
    method === 'PATCH' ? { body: { id: 1, name: 'Rex' } } : { status: 204 },
  );
  const routes = ['PATCH /pets/{petId} Pet -> Pet', 'DELETE /pets/{petId}'];
  const shop = await bindTo(server, describeLines('Pet: id# name', ...routes));
  const how = 'by its id, because the service offers no way to read it';
  const stderr = `deleted pet 1 ${how}\ndeleted pet 2 ${how}\n`;
  expect(await shop.run('pets delete 1 2 --yes')).toMatchObject({ code: 0, stderr });
  expect(await shop.run('pets update 1 --name Rex', { terminals: ['stderr'] })).toMatchObject({ stderr: '' });
  expect(server.calls()).toEqual(['DELETE /pets/1', 'DELETE /pets/2', 'PATCH /pets/1']);
});

test('a pet that has got a field since the question is not deleted', async () => {
  const shown = { id: 1, name: 'Rex', categoryId: 1 };
  let readings = 0;
  await using server = await recordingServer({}, ({ path }) => {
    if (path !== '/pets/1') return refusal(404);
    readings += 1;
    return { body: readings === 1 ? shown : { ...shown, status: 'pending' } };
  });
  const question = [['Delete pet 1 (Rex) on', 'y\r']] as const;
  expect(await runTyping(['pets', 'delete', '1', '--base-url', server.url], question)).toMatchObject(
    failed(1, 'pet 1 was changed in the meantime: status "pending" now'),
  );
  expect(server.calls()).not.toContain('DELETE /pets/1');
});

test.each([
  ['pets', '/pets', { name: 'Rex', categoryId: 1 }],
  ['categories', '/categories', { name: 'Dogs' }],
  ['orders', '/store/orders', { petId: 1, quantity: 2 }],
  ['inventory', '/store/inventory', { quantity: 2, status: 'sold' }],
])(
  '%s delete leaves a record that no question has shown, because it was missing then',
  async (noun, path, fields) => {
    let isThere = true;
    await using server = await recordingServer({}, ({ method, path: place }) => {
      if (method === 'DELETE') return { status: 204 };
      // Each command reads record 9 twice, and does not find it at first.
      if (place === `${path}/9`) isThere = !isThere;
      const id = Number(place.at(-1));
      return isThere || id === 8 ? { body: { id, petId: id, ...fields } } : refusal(404);
    });
    const { env } = openConfig({ profiles: { prod: { 'base-url': server.url, protected: true } } });
    const run = (line: string, answers: Answers) =>
      runTyping(`${noun} delete ${line}`.split(' '), answers, { env });
    const appeared = '9 was changed in the meantime: ';
    expect(await run('9 --profile prod', [])).toMatchObject(failed(1, appeared));
    expect(await run(`9 8 --base-url ${server.url}`, [['8 (', 'y\r']])).toMatchObject(failed(3, appeared));
    expect(server.calls().filter((call) => call.startsWith('DELETE '))).toEqual([`DELETE ${path}/8`]);
  },
);
