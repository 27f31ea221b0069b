import { expect, test } from 'vitest';
import { runTyping } from '../helpers/person.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

const two = [
  { id: 4, name: 'Luna', categoryId: 1, status: 'available' },
  { id: 9, name: 'LUNA', categoryId: 1, status: 'sold' },
  { id: 7, name: 'Lunette', categoryId: 1 },
];

/** A service with two pets of the same name and one other. */
function service() {
  return recordingServer({}, ({ method, path, body }) => {
    const [route = ''] = path.split('?');
    if (route === '/pets') return { body: two };
    if (route === '/categories') return { body: [{ id: 1, name: 'Dogs' }] };
    if (method === 'DELETE') return { status: 204 };
    const id = Number(route.split('/').at(-1));
    const record = route.startsWith('/pets/')
      ? two.find((pet) => pet.id === id)
      : { petId: id, quantity: 3, status: 'sold' };
    return { body: method === 'PUT' ? { ...record, ...JSON.parse(body) } : record };
  });
}

test.each([
  [['pets', 'get', 'luna'], { id: 3, name: 'Luna' }],
  [['pets', 'update', 'LUNA', '--status', 'pending'], { id: 3, status: 'pending' }],
  [['inventory', 'get', 'luna'], { petId: 3 }],
  [['inventory', 'set', 'luna', '10'], { petId: 3, quantity: 10 }],
  [['inventory', 'adjust', 'Luna', '+2'], { petId: 3 }],
  [['categories', 'get', 'dogs'], { id: 1, name: 'Dogs' }],
  [['orders', 'create', '--pet', 'luna', '--quantity', '1'], { petId: 3 }],
])('%j finds the record with that name', async (argv, record) => {
  using shop = openShop();
  expect(await shop.json(...argv)).toMatchObject(record);
});

test('exits 2 with their ids for a name that several pets have, and writes nothing', async () => {
  await using server = await service();
  const run = await runAt(server, 'inventory set luna 5');
  expect(run).toMatchObject({
    code: 2,
    stdout: '',
    stderr:
      "error: pet 'luna': 2 pets have this name\nhint: give its id: 4 (Dogs, available), 9 (Dogs, sold)\n",
  });
  expect(server.seen.every(({ method }) => method === 'GET')).toBe(true);
});

test('a person chooses one of several pets with the same name, and sees the category and status of each', async () => {
  await using server = await service();
  const argv = ['pets', 'get', 'luna', '-o', 'ids', '--base-url', server.url];
  const run = await runTyping(argv, [['Which pet?', '\x1b[B\r']]);
  expect(run).toMatchObject({ code: 0, stdout: '9\n' });
  expect(run.stderr).toMatch(/Luna \(4\).*Dogs, available/s);
});

test('exits 5 with the nearest names for an unknown name', async () => {
  using shop = openShop();
  const run = await shop.run('pets get lunna');
  expect(run).toMatchObject({ code: 5, stdout: '' });
  expect(run.stderr).toMatch(/^error: pet 'lunna': no pet has this name\nhint: the nearest names are Luna, /);
});

test.each([
  ['inventory', 'list', '--limit', '1'],
  ['inventory', 'get', '4'],
  ['orders', 'list', '--limit', '1'],
  ['orders', 'get', '7'],
])('the table of a terminal has the name of the pet: %s %s %s', async (...argv) => {
  using shop = openShop();
  const run = await shop.run([...argv, '--color', 'never'], { terminals: ['stdout'] });
  expect(run.stdout).toMatch(/│ name +│/);
  expect(run.stdout).toMatch(/│ (Bella|Charlie|Milo) +│/);
  expect((await shop.run(argv)).stdout).not.toContain('name');
  expect((await shop.run([...argv, '-o', 'json'])).stdout).not.toContain('name');
});

test('--fields prints the name in every format', async () => {
  using shop = openShop();
  const run = await shop.run('inventory list --fields petId,name --limit 1 -o json');
  expect(run.stdout).toBe('[{"petId":1,"name":"Bella"}]\n');
});

test('finds the name of a pet in the whole list of a service that does not page', async () => {
  await using server = await service();
  const argv = [
    'inventory',
    'get',
    '7',
    '4',
    '--fields',
    'petId,name',
    '-o',
    'csv',
    '--base-url',
    server.url,
  ];
  expect(await runCli(argv)).toMatchObject({
    code: 0,
    stdout: 'petId,name\n7,Lunette\n4,Luna\n',
    stderr: '',
  });
});

test('leaves names empty, with a note, if they cannot be read', async () => {
  await using server = await recordingServer({}, ({ path }) =>
    path.startsWith('/pets') ? { status: 403 } : { body: [{ petId: 1, quantity: 2, status: 'sold' }] },
  );
  const argv = ['inventory', 'list', '--fields', 'petId,name', '-o', 'csv', '--base-url', server.url];
  const run = await runCli(argv);
  expect(run).toMatchObject({ code: 0, stdout: 'petId,name\n1,\n' });
  expect(run.stderr).toContain('note: names of pets are left empty because they could not be read: ');
});

test('reads the count back after an adjustment whose answer was lost, and never suggests a second one', async () => {
  let quantity = 3;
  let etag = 1;
  await using server = await recordingServer({}, ({ method, headers, body }) => {
    if (method === 'GET')
      return { headers: { etag: `"${etag}"` }, body: { petId: 4, quantity, status: 'sold' } };
    if (headers['if-match'] !== `"${etag}"`)
      return { status: 412, body: { code: 'precondition_failed', message: 'changed', status: 412 } };
    ({ quantity } = JSON.parse(body));
    etag += 1;
    return { status: 502 };
  });
  const argv = ['inventory', 'adjust', '4', '+5', '--base-url', server.url];
  const run = await runCli([...argv, '-o', 'json']);
  expect(run.code).toBe(1);
  const { error } = JSON.parse(run.stderr.trim().split('\n').at(-1) ?? '');
  expect(error).toMatchObject({ retryable: false, applied: 'unknown', status: 412 });
  expect(error.hint).toContain('petstore inventory get 4');
  quantity = 3;
  const shown = await runCli(argv);
  expect(shown.stderr).toContain('read back, the count is 8, which is the result of this adjustment');
});

test('tries all of several names, and fails for an unknown one', async () => {
  using shop = openShop();
  const run = await shop.run('pets get luna nobody 1 -o ids');
  expect(run).toMatchObject({ code: 3, stdout: '3\n1\n' });
  expect(run.stderr).toContain("pet 'nobody': no pet has this name");
});

test('a name is found although its accents are encoded in another way', async () => {
  using shop = openShop();
  const composed = 'Caf\u00e9';
  const decomposed = 'cafe\u0301';
  await shop.run(['pets', 'create', '--name', composed, '--category', '1']);
  expect(await shop.json('pets', 'get', decomposed)).toMatchObject({ name: composed });
  expect(await shop.json('pets', 'list', '--name', decomposed)).toHaveLength(1);
});
