import { expect, test } from 'vitest';
import { type RecordingServer, recordingServer, refusal } from '../helpers/recording-server.ts';
import { failed, runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';
import { spawnCli } from '../helpers/spawn-cli.ts';

const rex = { id: 26, name: 'Rex', categoryId: 2, status: 'pending' };
const order = { id: 11, petId: 1, quantity: 2, shipDate: '2027-01-15T00:00:00Z', complete: false };
const frogs = { id: 7, name: 'Frogs', description: 'Toads' };
const createRex = 'pets create --name Rex --category Cats --status pending';
const createFrogs = 'categories create --name Frogs --description Toads';
const moved = { shipDate: '2027-02-01T10:30:00+02:00', complete: false };

test.each([
  ['pet 26', rex, createRex, [['pets update 26 --name Rexy --category 3', { name: 'Rexy', categoryId: 3 }]]],
  [
    'order 11',
    order,
    'orders create --pet 1 --quantity 2 --ship-date 2027-01-15',
    [
      ['orders update 11 --ship-date 2027-02-01T10:30:00+02:00 --no-complete', moved],
      ['orders complete 11', { complete: true }],
    ],
  ],
  ['category 7', frogs, createFrogs, [['categories update 7 --description=', { description: '' }]]],
] as const)('%s is created, read, changed and deleted', async (name, created, create, changes) => {
  const shop = openShop();
  const [noun = ''] = create.split(' ');
  expect(await shop.json(create)).toEqual(created);
  let record: object = created;
  expect(await shop.json(`${noun} get ${created.id}`)).toEqual(record);
  for (const [change, fields] of changes) {
    record = { ...record, ...fields };
    expect(await shop.json(change)).toEqual(record);
  }
  const deleted = { code: 0, stdout: '', stderr: `deleted ${name}\n` };
  expect(await shop.run(`${noun} rm ${created.id} -y`)).toEqual(deleted);
  expect((await shop.run(`${noun} get ${created.id}`)).code).toBe(5);
});

const person = { terminals: ['stdin', 'stderr'] } as const;

test.each([
  [{ CI: '1' }, '', 'CI is set'],
  [{ TERM: 'dumb' }, '', 'TERM is dumb'],
  [{}, ' --no-input', '--no-input is given'],
])('delete and create ask nobody with %j%s', async (env, flag, why) => {
  expect(await runCli(`--offline pets delete 1${flag}`, { ...person, env })).toMatchObject(failed(2, why));
  expect(await runCli(`--offline pets create${flag}`, { ...person, env })).toMatchObject(
    failed(2, '--name and --category are missing'),
  );
});

const records = {
  pet: { id: 26, name: 'Rex', categoryId: 3, status: 'pending' },
  order: { id: 11, petId: 3, quantity: 2, complete: false },
};
const category = ['Category', '\x1b[B\x1b[B\r'] as const;
const name = [
  ['Name', '\r'],
  ['must not be empty', 'Rex\r'],
] as const;
const status = ['Status', '\x1b[B\r'] as const;
const pet = [
  ['Pet', 'lunna\r'],
  ['no pet has this name', '\x7f\x7f\x7fna\r'],
] as const;
const quantity = ['Quantity', '2\r'] as const;
const date = ['Ship date (Enter for none)', '2027-01-15\r'] as const;
const noDate = ['Ship date (Enter for none)', '\r'] as const;
const description = ['Description (Enter for none)', '\r'] as const;

test.each([
  ['pets create', [...name, category, status], records.pet],
  ['pets create --category Birds', [...name, status], records.pet],
  ['pets create --category Birds --name Rex', [], { ...records.pet, status: 'available' }],
  ['categories create', [['Name', 'Insects\r'], description], { id: 7, name: 'Insects' }],
  ['orders create', [...pet, quantity, noDate], records.order],
  ['orders create --pet 3', [quantity, date], { ...records.order, shipDate: '2027-01-15T00:00:00Z' }],
] as const)('%s asks a person for what is missing, and for nothing else', async (line, answers, record) => {
  const shop = openShop();
  const run = await shop.typing(`${line} -o json`, answers);
  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toEqual(record);
  if (answers.length === 0) expect(run.stderr).toBe('');
});

test('a dry run shows the request as on the wire, its credential masked, and sends nothing', async () => {
  await using server = await recordingServer({});
  const env = { PETSTORE_TOKEN: 's3cret' };
  const { stdout } = await runAt(server, 'pets create --name Rex --category 1 --dry-run', { env });
  expect(stdout).toMatch(/^POST \S*\/pets\n/);
  expect(stdout).toContain('authorization: ***\n');
  expect(stdout.endsWith('\n\n{\n  "name": "Rex",\n  "categoryId": 1\n}\n')).toBe(true);
  expect(server.requests).toEqual([]);
});

test('loses no create and no change of a count, four of each at the same time on one store', async () => {
  const shop = openShop();
  const env = { PETSTORE_OFFLINE_STORE: shop.file };
  const { quantity } = (await shop.json('inventory get 1')) as { quantity: number };
  const lines = ['pets create --name Rex --category 1 -o ids', 'inventory adjust 1 +1 -o ids'];
  const runs = await Promise.all(
    lines.flatMap((line) =>
      Array.from({ length: 4 }, () => spawnCli(`--offline ${line}`.split(' '), { env })),
    ),
  );
  for (const run of runs) expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(runs.map(({ stdout }) => Number(stdout)).sort((a, b) => a - b)).toEqual([
    1, 1, 1, 1, 26, 27, 28, 29,
  ]);
  expect(await shop.json('pets list')).toHaveLength(29);
  expect(await shop.json('inventory get 1')).toMatchObject({ quantity: quantity + 4 });
});

const chippedRex = { id: 3, name: 'Rex', categoryId: 1, status: 'sold', chip: { maker: 'A', serial: 12 } };

/** A service with one pet, whose answers have these headers. */
function petService(headers: Record<string, string> = {}): Promise<RecordingServer> {
  return recordingServer({}, ({ method, path, body }) => {
    if (path.startsWith('/categories')) return { body: [] };
    return { headers, body: method === 'GET' ? chippedRex : { id: 3, ...JSON.parse(body) } };
  });
}

test('update sends unknown fields back unchanged, and the ETag as If-Match if there is one', async () => {
  await using tagged = await petService({ etag: '"v7"' });
  await using plain = await petService();
  for (const server of [tagged, plain]) await runAt(server, 'pets update 3 --status available');
  expect(tagged.writes()[0]?.body).toBe(
    '{"name":"Rex","categoryId":1,"status":"available","chip":{"maker":"A","serial":12}}',
  );
  expect(tagged.writes()[0]?.headers['if-match']).toBe('"v7"');
  expect(plain.writes()[0]?.headers['if-match']).toBeUndefined();
});

test('complete leaves the other fields of an order unchanged', async () => {
  const order = { id: 1, petId: 5, quantity: -3, shipDate: null, note: null, price: 12.5 };
  await using server = await recordingServer({}, () => ({ body: order }));
  await runAt(server, 'orders complete 1');
  expect(server.writes()[0]?.body).toBe(
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
    method === 'PUT' ? refusal(412) : { headers: { etag: '"v1"', age: '41' }, body: chippedRex },
  );
  const run = await runAt(server, 'pets update 3 --name x --retries 1 -o json');
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(run.stderr).error).toMatchObject({
    message: expect.stringMatching(/a cache .* may have answered these readings; the reading is 41 s old/),
    hint: expect.stringMatching(/^(?!.*etags).*help gateways/),
  });
  const tags = server.writes().map(({ headers }) => headers['if-match']);
  expect(tags).toEqual(['"v1"', '"v1"']);
});

test('a field that is only sent back is not compared with the answer', async () => {
  let version = 1;
  await using server = await recordingServer({}, ({ method, body }) => {
    if (method === 'PUT') version += 1;
    return { body: { ...(method === 'PUT' ? { ...JSON.parse(body), id: 3 } : chippedRex), version } };
  });
  expect(await runAt(server, 'pets update 3 --status available')).toMatchObject({ code: 0 });
  expect(JSON.parse(server.writes()[0]?.body ?? '')).toMatchObject({ version: 1 });
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
  expect((await shop.run('inventory set 4 3')).stderr).toContain('`petstore inventory create <petId>');
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
    failed(2, 'error: inventory entry 4: 0 - 3 is below 0\n'),
  );
  expect(await shop.json('inventory get 4')).toMatchObject({ quantity: 0 });
});
