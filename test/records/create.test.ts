import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
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
const pet = ['Pet', 'luna\r'] as const;
const quantity = ['Quantity', '2\r'] as const;
const date = ['Ship date (Enter for none)', '2027-01-15\r'] as const;
const noDate = ['Ship date (Enter for none)', '\r'] as const;
const description = ['Description (Enter for none)', '\r'] as const;

test.each([
  ['pets create', [...name, category, status], records.pet],
  ['pets create --category Birds', [...name, status], records.pet],
  ['pets create --category Birds --name Rex', [], { ...records.pet, status: 'available' }],
  ['categories create', [['Name', 'Insects\r'], description], { id: 7, name: 'Insects' }],
  ['orders create', [pet, quantity, noDate], records.order],
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
