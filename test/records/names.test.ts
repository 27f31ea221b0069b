import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed, runAt } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

const pets = [
  { id: 4, name: 'Luna', categoryId: 1, status: 'available' },
  { id: 9, name: 'LUNA', categoryId: 1, status: 'sold' },
  { id: 7, name: 'Lunette', categoryId: 1 },
];

/** A service without pages that has two pets, and two categories, of the same name. It shows each pet twice. */
function service() {
  return recordingServer({}, ({ path }) => {
    const [route = ''] = path.split('?');
    if (route === '/pets') return { body: [...pets, ...pets] };
    if (route === '/categories') return { body: [1, 2].map((id) => ({ id, name: 'Dogs' })) };
    const id = Number(route.split('/').at(-1));
    const isPet = route.startsWith('/pets/');
    return { body: isPet ? pets.find((pet) => pet.id === id) : { petId: id, quantity: 3, status: 'sold' } };
  });
}

test.each([
  ['pets get luna', { id: 3, name: 'Luna' }],
  ['pets update LUNA --status pending', { id: 3, status: 'pending' }],
  ['inventory get luna', { petId: 3 }],
  ['inventory set luna 10', { petId: 3, quantity: 10 }],
  ['inventory adjust Luna +2', { petId: 3 }],
  ['categories get dogs', { id: 1, name: 'Dogs' }],
  ['orders create --pet luna --quantity 1', { petId: 3 }],
])('%s finds the record with that name', async (line, record) => {
  const shop = openShop();
  expect(await shop.json(line)).toMatchObject(record);
});

test.each([
  ['pets get 4 luna', "error: pet 'luna': 2 pets have this name\nhint: give its id: 4, 9\n"],
  ['inventory set luna 5', "error: pet 'luna': 2 pets have this name\nhint: give its id: 4, 9\n"],
  [
    'pets list --category dogs',
    "error: category 'dogs': 2 categories have this name\nhint: give its id: 1, 2\n",
  ],
])(
  '%s exits 2 with the ids of those that have the name, and prints and writes nothing',
  async (line, stderr) => {
    await using server = await service();
    expect(await runAt(server, line)).toEqual({ code: 2, stdout: '', stderr });
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
  },
);

test.each([
  ['pets get lun', "pet 'lun': no pet has this name", 'pets'],
  ['pets list --category dogz', "category 'dogz': no category has this name", 'categories'],
])('%s exits 5, and names the command that lists the names', async (line, message, noun) => {
  const shop = openShop();
  const stderr = `error: ${message}\nhint: see \`petstore ${noun} list --offline\`\n`;
  expect(await shop.run(line)).toEqual({ code: 5, stdout: '', stderr });
});

test.each(['inventory', 'orders'])(
  'the table of a terminal has the names of pets in a list of %s, and their ids for one',
  async (noun) => {
    const shop = openShop();
    const line = `${noun} list --limit 1`;
    const run = await shop.run(`${line} --color never`, { terminals: ['stdout'] });
    expect(run.stdout).toMatch(/│ name +│/);
    expect(run.stdout).toMatch(/│ (Bella|Milo) +│/);
    expect((await shop.run(line)).stdout).not.toContain('name');
    expect((await shop.run(`${line} -o json`)).stdout).not.toContain('name');
    const json = await shop.run(`${line} --fields name -o json`);
    expect(json.stdout).toMatch(/^\[\{"name":"(Bella|Milo)"\}\]\n$/);
    const one = `${noun} get 7`;
    expect((await shop.run(one, { terminals: ['stdout'] })).stdout).not.toContain('name');
    expect(await shop.run(`${one} --fields name`)).toMatchObject(failed(2, 'name'));
  },
);

test.each([
  [
    '/store/inventory',
    [{ petId: 1, quantity: 2, status: 'sold' }],
    'inventory list --fields petId,name',
    'petId,name\n1,\n',
    'note: names of pets could not be read: ',
  ],
  [
    '/pets',
    [{ id: 1, name: 'Rex', categoryId: 9007199254740, status: 'sold' }],
    'pets list',
    'id,name,category,status\n1,Rex,9007199254740,sold\n',
    'note: names of categories could not be read: ',
  ],
])('if only %s can be read, names are left out, with a note', async (path, body, line, stdout, note) => {
  await using server = await recordingServer({ [path]: body });
  const run = await runAt(server, `${line} -o csv`);
  expect(run).toMatchObject({ code: 0, stdout, stderr: expect.stringContaining(note) });
});

test.each(['pets list', 'pets get 1', 'inventory export --fields petId,name', 'overview'])(
  'a failed command has one error and no note about names: %s',
  async (line) => {
    await using server = await recordingServer({}, () => ({ status: 401 }));
    expect(await runAt(server, line)).toMatchObject(failed(4, /^error: .*401.*\n(hint: .*\n)?$/));
  },
);
