import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';
import { spawnCli } from '../helpers/spawn-cli.ts';

test('creates a pet and prints the record in the answer, with its category by name in a table', async () => {
  using shop = openShop();
  const run = await shop.run('pets create --name Rex --category Cats --status pending -o json');
  const rex = { id: 26, name: 'Rex', categoryId: 2, status: 'pending' };
  expect(run).toEqual({ code: 0, stdout: `${JSON.stringify(rex)}\n`, stderr: '' });
  expect(await shop.json('pets get 26')).toEqual(rex);
  const table = await shop.run('pets create --name Rex --category 1');
  expect(table.stdout).toBe('id  name  category  status\n27  Rex   Dogs      available\n');
});

test('creates, gets, updates, completes and deletes an order', async () => {
  using shop = openShop();
  const created = await shop.json('orders create --pet 1 --quantity 2 --ship-date 2027-01-15');
  expect(created).toEqual({ id: 11, petId: 1, quantity: 2, shipDate: '2027-01-15T00:00:00Z' });
  expect(await shop.json('orders get 11')).toEqual(created);
  const moved = await shop.json('orders update 11 --ship-date 2027-02-01T10:30:00+02:00 --no-complete');
  expect(moved).toEqual({ ...(created as object), shipDate: '2027-02-01T10:30:00+02:00', complete: false });
  expect(await shop.json('orders complete 11')).toEqual({ ...(moved as object), complete: true });
  expect((await shop.run('orders delete 11 --yes')).code).toBe(0);
  expect((await shop.run('orders get 11')).code).toBe(5);
});

test('creates, gets, updates and deletes a category', async () => {
  using shop = openShop();
  const created = await shop.json('categories create --name Amphibians --description Frogs');
  expect(created).toEqual({ id: 7, name: 'Amphibians', description: 'Frogs' });
  expect(await shop.json('categories get 7')).toEqual(created);
  const emptied = { id: 7, name: 'Amphibians', description: '' };
  expect(await shop.json('categories', 'update', '7', '--description', '')).toEqual(emptied);
  const deleted = { code: 0, stdout: '', stderr: 'deleted category 7\n' };
  expect(await shop.run('categories rm 7 -y')).toEqual(deleted);
  expect((await shop.run('categories get 7')).code).toBe(5);
});

test.each([
  ['pets create --status sold', 'create pet: --name and --category are missing\n'],
  ['categories create', 'create category: --name is missing\n'],
  ['categories update 1', 'update category: nothing to change\n'],
  ['categories get 1.5', "id '1.5': must be"],
  ['orders create', 'create order: --pet and --quantity are missing\n'],
  ['orders create --pet 1.5', "--pet '1.5': must be an integer from 0 to 9223372036854775807"],
  ['orders create --pet 1 --quantity -1', "--quantity '-1': must be an integer from 0"],
  ['orders create --pet 1 --quantity 1e3', "--quantity '1e3': must be an integer from 0"],
  ['orders create --pet 1 --ship-date 2027-02-30', "--ship-date '2027-02-30': must be a date"],
  ['orders list --open --complete', '--open'],
  ['orders update 1', 'update order: nothing to change\n'],
  ['pets create --from - --name Rex', '--from'],
  ['pets create --name Rex --category 1 --fields colour', "no field 'colour'"],
])('%s is refused with exit 2, and nothing is written', async (line, message) => {
  await using server = await recordingServer({});
  const run = await runAt(server, line);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(message);
  expect(server.seen).toEqual([]);
});

test("exits 1 with the service's own code if the service refuses", async () => {
  const run = await runCli('--offline orders create --pet 999 -o json');
  expect(run).toMatchObject({ code: 1, stdout: '' });
  const error = { kind: 'failed', code: 'unknown_reference', status: 422 };
  expect(JSON.parse(run.stderr).error).toMatchObject(error);
});

const person = { terminals: ['stdin', 'stderr'] } as const;

test.each([
  [{ CI: '1' }, '', 'CI is set'],
  [{ TERM: 'dumb' }, '', 'TERM is dumb'],
  [{}, ' --no-input', ''],
])('asks nobody with %j%s', async (env, flag, why) => {
  const run = await runCli(`--offline pets delete 1${flag}`, { ...person, env });
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr.replace(/\s+/g, ' ')).toContain(why);
  const create = await runCli(`--offline pets create${flag}`, { ...person, env });
  expect(create.stderr).toContain('--name and --category are missing');
});

const created = {
  pet: { id: 26, name: 'Rex', categoryId: 3, status: 'pending' },
  order: { id: 11, petId: 3, quantity: 2, complete: false },
};

test.each<[string, [string, string][], object]>([
  [
    'pets create',
    [
      ['Name', '\r'],
      ['must not be empty', 'Rex\r'],
      ['Category', 'bir'],
      ['Birds', '\r'],
      ['Status', '\x1b[B\r'],
    ],
    created.pet,
  ],
  [
    'pets create --category Birds',
    [
      ['Name', 'Rex\r'],
      ['Status', '\x1b[B\r'],
    ],
    created.pet,
  ],
  ['pets create --category Birds --name Rex', [], { ...created.pet, status: 'available' }],
  [
    'categories create',
    [
      ['Name', 'Insects\r'],
      ['Description (Enter for none)', '\r'],
    ],
    { id: 7, name: 'Insects' },
  ],
  [
    'orders create',
    [
      ['Id or name of the pet', 'Lunna\r'],
      ['no pet has this name; the nearest names are Luna', '\x15Luna\r'],
      ['Quantity', '2\r'],
      ['Ship date (Enter for none)', '2027-01-15\r'],
      ['complete', '\r'],
    ],
    { ...created.order, shipDate: '2027-01-15T00:00:00Z' },
  ],
  [
    'orders create --pet 3',
    [
      ['Quantity', '2\r'],
      ['Ship date (Enter for none)', '\r'],
      ['complete', '\r'],
    ],
    created.order,
  ],
])('%s asks a person for what is missing, and for nothing else', async (line, answers, record) => {
  using shop = openShop();
  const run = await shop.typing(`${line} -o json`, answers);
  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toEqual(record);
  if (answers.length === 0) expect(run.stderr).toBe('');
});

test('Ctrl-C at a question exits 130 and creates nothing', async () => {
  using shop = openShop();
  expect(await shop.typing('pets create', [['Name', '\x03']])).toMatchObject({ code: 130, stdout: '' });
  expect(await shop.json('pets list')).toHaveLength(25);
});

test('a dry run shows the request and sends nothing; secrets are masked', async () => {
  await using server = await recordingServer({});
  const env = { PETSTORE_TOKEN: 's3cret' };
  const text = await runAt(server, 'pets create --name Rex --category 1 --dry-run', { env });
  expect(text).toMatchObject({ code: 0, stderr: '' });
  expect(text.stdout).toContain('/pets\n');
  expect(text.stdout).toContain('\n\n{\n  "name": "Rex",\n  "categoryId": 1\n}\n');
  const one = await runAt(server, 'pets create --name Rex --category 1 --dry-run -o json', { env });
  expect(JSON.parse(one.stdout)).toMatchObject({
    method: 'POST',
    url: `${server.url}/pets`,
    headers: { authorization: '***' },
    body: { name: 'Rex', categoryId: 1 },
  });
  const stdin = '{"name":"a","categoryId":1}\n{"name":"b","categoryId":1}';
  const many = await runAt(server, 'pets create --from - --dry-run -o json', { env, stdin });
  expect(JSON.parse(many.stdout)).toMatchObject([{ body: { name: 'a' } }, { body: { name: 'b' } }]);
  expect(text.stdout + one.stdout + many.stdout).not.toContain('s3cret');
  expect(server.seen).toEqual([]);
});

test('loses none of twenty pets that are created at the same time on one store', async () => {
  using shop = openShop();
  const env = { PETSTORE_OFFLINE_STORE: shop.file };
  const argv = (at: number) => [
    '--offline',
    'pets',
    'create',
    '--name',
    `pet ${at}`,
    '--category',
    '1',
    '-o',
    'ids',
  ];
  const runs = await Promise.all(Array.from({ length: 20 }, (_, at) => spawnCli(argv(at), { env })));
  for (const run of runs) expect(run).toMatchObject({ code: 0, stderr: '' });
  const ids = runs.map(({ stdout }) => Number(stdout)).sort((one, other) => one - other);
  expect(ids).toEqual(Array.from({ length: 20 }, (_, at) => 26 + at));
  expect(await shop.json('pets list')).toHaveLength(45);
}, 30_000);
