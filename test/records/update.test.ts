import { expect, test } from 'vitest';
import { type RecordingServer, recordingServer, refusal } from '../helpers/recording-server.ts';
import { runAt } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

const rex = { id: 3, name: 'Rex', categoryId: 1, status: 'sold', chip: { maker: 'A', serial: 12 } };

/** A service with one pet, whose answers have these headers. */
function petService(headers: Record<string, string> = {}): Promise<RecordingServer> {
  return recordingServer({}, ({ method, path, body }) => {
    if (path.startsWith('/categories')) return { body: [] };
    return { headers, body: method === 'GET' ? rex : { id: 3, ...JSON.parse(body) } };
  });
}

const putOf = ({ requests }: RecordingServer) => requests.find(({ method }) => method === 'PUT');

test('update sends unknown fields back unchanged, and the ETag as If-Match if there is one', async () => {
  await using tagged = await petService({ etag: '"v7"' });
  await using plain = await petService();
  for (const server of [tagged, plain]) await runAt(server, 'pets update 3 --status available');
  expect(putOf(tagged)?.body).toBe(
    '{"name":"Rex","categoryId":1,"status":"available","chip":{"maker":"A","serial":12}}',
  );
  expect(putOf(tagged)?.headers['if-match']).toBe('"v7"');
  expect(putOf(plain)?.headers['if-match']).toBeUndefined();
});

test('complete leaves the other fields of an order unchanged', async () => {
  const order = { id: 1, petId: 5, quantity: -3, shipDate: null, note: null, price: 12.5 };
  await using server = await recordingServer({}, () => ({ body: order }));
  await runAt(server, 'orders complete 1');
  expect(putOf(server)?.body).toBe(
    '{"id":1,"petId":5,"quantity":-3,"note":null,"price":12.5,"complete":true}',
  );
});

test('update changes several records at once, and tries all of them', async () => {
  const shop = openShop();
  const run = await shop.run('pets update 1 2 3 --status sold -o ids');
  expect(run).toMatchObject({ code: 0, stdout: '1\n2\n3\n' });
  const open = ((await shop.json('orders list --open')) as { id: number }[]).map(({ id }) => id);
  const orders = await shop.run(`orders complete ${open.join(' ')} 999 -o ids -q`);
  expect(orders).toMatchObject({ code: 3, stdout: open.map((id) => `${id}\n`).join('') });
  expect(await shop.json('orders list --open')).toEqual([]);
});

test('a 412 to the tag of a fresh reading names the cache, and the tag is not left out', async () => {
  await using server = await recordingServer({}, ({ method }) =>
    method === 'PUT' ? refusal(412) : { headers: { etag: '"v1"', age: '41' }, body: rex },
  );
  const run = await runAt(server, 'pets update 3 --name x --retries 1 -o json');
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(run.stderr).error).toMatchObject({
    message: expect.stringMatching(/a cache .* may have answered these readings; the reading is 41 s old/),
    hint: expect.stringMatching(/^(?!.*etags).*help gateways/),
  });
  const tags = server.requests
    .filter(({ method }) => method === 'PUT')
    .map(({ headers }) => headers['if-match']);
  expect(tags).toEqual(['"v1"', '"v1"']);
});

test('a field that is only sent back is not compared with the answer', async () => {
  let version = 1;
  await using server = await recordingServer({}, ({ method, body }) => {
    if (method === 'PUT') version += 1;
    return { body: { ...(method === 'PUT' ? { ...JSON.parse(body), id: 3 } : rex), version } };
  });
  expect(await runAt(server, 'pets update 3 --status available')).toMatchObject({ code: 0 });
  expect(JSON.parse(putOf(server)?.body ?? '')).toMatchObject({ version: 1 });
});

test.each([
  ['999 --name x', 5],
  ['998 999 --status sold', 5],
  ['1 --category Dragons', 5],
  ['1 --category 999', 1],
  ['abc --name x', 5],
])('update %s exits %i and changes nothing', async (words, code) => {
  const shop = openShop();
  const before = await shop.json('pets list');
  expect(await shop.run(`pets update ${words}`)).toMatchObject({ code, stdout: '' });
  expect(await shop.json('pets list')).toEqual(before);
});

test('an update, an adjustment and a set show a person what changed', async () => {
  const shop = openShop();
  const notesOf = async (line: string) => (await shop.run(line, { terminals: ['stderr'] })).stderr;
  expect(await notesOf('pets update 1 --status sold')).toContain('pet 1: status available -> sold\n');
  expect(await notesOf('inventory set 1 1')).toContain('inventory entry 1: nothing changed\n');
  expect(await notesOf('inventory adjust 1 +87')).toContain('inventory entry 1: quantity 1 -> 88\n');
  expect(await notesOf('inventory set 1 6')).toContain('inventory entry 1: quantity 88 -> 6\n');
  expect((await shop.run('inventory adjust 1 +1')).stderr).toBe('');
});
