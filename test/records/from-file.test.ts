import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordingServer, refusal } from '../helpers/recording-server.ts';
import { failed, runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';
import { openWorkspace } from '../helpers/stock-shop.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { startInTerminal } from '../helpers/terminal.ts';
import { testWith } from '../helpers/tools.ts';

const available = (id: number, name: string) => ({ id, name, categoryId: 1, status: 'available' });

test('update reads the edited CSV of a list: categories by name, an empty cell left out', async () => {
  const shop = openShop();
  const pets = await shop.run('pets list --limit 3 -o csv');
  const stdin = pets.stdout.replace('Bella,Dogs,available', 'Bellissima,cats,');
  expect(await shop.run('pets update --from - --yes', { stdin })).toMatchObject({ code: 0 });
  expect(await shop.json('pets get 1')).toEqual({ ...available(1, 'Bellissima'), categoryId: 2 });
  const orders = await shop.run('orders list --open --limit 1 -o csv');
  // A spreadsheet saves it in capitals.
  const edited = orders.stdout.replace(/false/, 'TRUE');
  expect(await shop.run('orders update --from - --yes', { stdin: edited })).toMatchObject({ code: 0 });
  expect(await shop.json('orders get 7')).toMatchObject({ complete: true });
});

test('a CSV of categories that share a name has their ids, and is read back', async () => {
  const shop = openShop();
  await shop.run('categories create --name dogs');
  const { stdout: stdin } = await shop.run('pets list --limit 3 -o csv');
  expect(stdin).toMatch(/^1,Bella,1,/m);
  expect(stdin).toMatch(/^\d+,\w+,Cats,/m);
  expect(await shop.run('pets update --from -', { stdin })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^nothing to do: 3 rows need no write\n/),
  });
});

test.each([
  ['CSV', 'id,name,category,status\n3,Luna,Cats,available\n7,x,Cats,sold\n'],
  ['JSON lines', '{"id":3}\n{"id":7}\n'],
])('delete takes the ids in %s', async (_, stdin) => {
  const shop = openShop();
  await shop.run('orders delete 1 2 3 4 5 6 7 8 9 10 --yes');
  expect(await shop.run('pets delete --from - --yes', { stdin })).toMatchObject({ code: 0 });
  const left = (await shop.run('pets list -o ids')).stdout.split('\n', 7);
  expect(left).toEqual(['1', '2', '4', '5', '6', '8', '9']);
  expect(await shop.json('pets list')).toHaveLength(23);
});

const two = (id: number | string) => `[{"name":"a","categoryId":1},{"name":"b","categoryId":${id}}]`;

test.each([
  ['pets create', 'name,colour\nRex,red\n', "stdin:1: column 'colour': pets have no such field"],
  ['pets create', 'name,category\nRex\n', 'stdin:2: categoryId is required'],
  ['pets create', '[{"name":"Rex","category":null}]', 'categoryId is required'],
  ['pets create', '{"name":"a","categoryId":1,"chip":"A-12"}', "column 'chip': pets have no such field"],
  ['pets update', '{"id":1,"stauts":"sold"}', "column 'stauts': pets have no such field"],
  ['pets delete --yes', '{"id":1,"colour":"red"}', "column 'colour': pets have no such field"],
  ['pets create', '{"name":"Rex","categoryId":1}\n{"name":7}', 'stdin:2: categoryId is required'],
  [
    'pets create',
    '{"name":"a","categoryId":1,"status":"lost"}',
    "stdin:1: status 'lost': must be one of available, pending, sold",
  ],
  ['pets create', two(-1), 'categoryId -1: must be a whole number from 0 to 9223372036854775807'],
  ['pets create', two('9223372036854775808'), 'categoryId 9223372036854775808: must be'],
  ['pets update', 'name,status\nRex,sold\n', 'stdin:2: id is required'],
  ['pets update', '{"id":1.2E+18,"name":"x"}', "stdin:1: id '1.2E+18': must be a whole number"],
  ['pets update', 'id,status\n1,sold\n1,pending\n', 'stdin:2: line 2 and line 3 are for pet 1\n'],
  ['pets update', 'id,category,categoryId\n1,Dogs,1\n', 'both mean categoryId'],
  ['pets update', '{"id":1,"categoryId":true}', 'stdin:1: categoryId true: must be a whole number'],
  ['pets update', 'Bella\n', "stdin:1: column 'Bella': pets have no such field; they have id, name"],
  ['pets update 3', 'id\n3\n', 'give ids or --from, not both'],
  ['orders update', 'id,quantity\n1,many\n', "stdin:2: quantity 'many': must be a whole number"],
  ['orders update', 'id,complete\n1,yes\n', "stdin:2: complete 'yes': must be true or false"],
  ['pets delete --yes', '3\nx\n', "stdin:2: id 'x': must be a whole number"],
  ['pets delete 3', 'id\n3\n', 'give ids or --from, not both'],
])('%s refuses %j before anything is sent', async (line, stdin, message) => {
  await using server = await recordingServer({});
  expect(await runAt(server, `${line} --from -`, { stdin })).toMatchObject(failed(2, message));
  expect(server.requests).toEqual([]);
});

const unknownCategories = 'id,category\n1,Cats\n2,Dragons\n3,Unicorns\n';

test('unknown categories are invalid rows, and all are named before any write', async () => {
  const shop = openShop();
  const run = await shop.run('pets update --from -', { stdin: unknownCategories });
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain("error: stdin:3: category 'Dragons': no category has this name");
  expect(run.stderr).toContain("error: stdin:4: category 'Unicorns': no category has this name");
  expect(run.stderr).toContain('error: stdin: 2 rows are invalid; nothing was sent');
  expect(await shop.json('pets get 1')).toMatchObject({ categoryId: 1 });
});

test('--skip-invalid skips rows with an unknown category, and writes the others', async () => {
  const shop = openShop();
  const words = 'pets update --from - --skip-invalid --yes -o json';
  const skipping = await shop.run(words, { stdin: unknownCategories });
  expect(skipping.code).toBe(3);
  expect(JSON.parse(skipping.stdout)).toMatchObject({ applied: 1, invalid: 2, rows: 3 });
  expect(await shop.json('pets get 1')).toMatchObject({ categoryId: 2 });
  const created = await shop.run('pets create --from - --skip-invalid --yes -o json', {
    stdin: '[{"name":"Draco","category":"Dragons"},{"name":"Mia","category":"cats"}]',
  });
  expect([created.code, created.stderr]).toEqual([3, expect.stringContaining('stdin: record 1: category')]);
  expect(JSON.parse(created.stdout)).toMatchObject({ applied: 1, invalid: 1 });
});

test('headers and keys are read without regard to case, spaces and underscores, words and dates with outer spaces', async () => {
  const shop = openShop();
  const runs = [
    ['orders update', 'ID;Pet_ID;Ship Date ;complete\n8; 5; 2027-01-01T09:00:00+00:00 ; TRUE\n'],
    ['orders update', '[{"Id":9,"pet_id":5,"quantity":10,"ship_date":"2027-01-01T00:00:00Z"}]'],
    ['pets update', 'Name,ID,status,,\nRexi,1, Sold ,,\n'],
  ];
  for (const [line, stdin = ''] of runs)
    expect(await shop.run(`${line} --from - --yes`, { stdin })).toMatchObject({ code: 0 });
  expect(await shop.json('orders get 8')).toMatchObject({
    petId: 5,
    shipDate: '2027-01-01T09:00:00+00:00',
    complete: true,
  });
  const changed = { petId: 5, quantity: 10, shipDate: '2027-01-01T00:00:00Z' };
  expect(await shop.json('orders get 9')).toMatchObject(changed);
  expect(await shop.json('pets get 1')).toMatchObject({ name: 'Rexi', status: 'sold' });
});

test('the plan of a row with the name of a category has its id', async () => {
  const shop = openShop();
  const stdin = '[{"id":1,"category":"cats"},{"id":2,"category":{"id":3,"name":"Birds"}}]';
  const table = await shop.run('pets update --from - --dry-run', { stdin });
  expect(table.stdout).toMatch(/^ 1 +categoryId 1 +categoryId 2 +planned/m);
  const plan = (await shop.run('pets update --from - --dry-run -o json', { stdin })).stdout;
  expect(JSON.parse(plan)).toMatchObject([
    { before: { categoryId: 1 }, after: { categoryId: 2 } },
    { after: { categoryId: 3 } },
  ]);
});

test.each(['id\tname\n1\tNULL\n2\tNULL\n', '"id","name"\n1,NA\n2,NA\n', 'id,name\n1,\\N\n2,\\N\n'])(
  'a word for a missing value comes with a warning: %j',
  async (stdin) => {
    const { stderr } = await openShop().run('pets update --from - --dry-run', { stdin });
    expect(stderr).toMatch(
      /^warning: stdin:2: name \S+ is read as text \(and 1 more like this: line 3\); leave a cell/m,
    );
  },
);

test('delete names further columns of a file of ids', async () => {
  const shop = openShop();
  const deleted = await shop.run('categories delete --from - --dry-run', {
    stdin: 'id,name,description\n1,a,\n',
  });
  expect(deleted.stderr).toContain('note: stdin: ignored columns: name, description\n');
  const pets = await shop.run('pets delete --from - --dry-run', { stdin: 'id,Category\n1,Dogs\n' });
  expect(pets.stderr).toContain('note: stdin: ignored columns: Category\n');
});

test('what was certainly not done goes to a file that creates the rest, and nothing twice', async () => {
  const shop = openShop();
  await using failing = await recordingServer({}, ({ method, body }) => {
    if (method === 'GET') return { body: { id: 7, name: 'Other', categoryId: 1 } };
    const { name } = JSON.parse(body);
    if (name === 'bad') return refusal(422);
    if (name === 'lost') return { status: 502 };
    return { status: 201, body: { id: 7, name: name === 'other' ? 'Other' : name, categoryId: 1 } };
  });
  const { folder, write, read, report } = openWorkspace(failing);
  write('new.csv', 'name,category\nRex,1\nbad,1\nlost,1\nother,1\n');
  const created = await report('pets create --from new.csv --yes');
  expect(created).toMatchObject({ code: 3, applied: 1, failed: 1, unknown: 2 });
  expect(read('new.rejects.csv')).toMatch(
    /^name,category,_line,_state,_status,_code,_message\nbad,1,3,failed,422,no,it says no\n$/,
  );
  const again = await shop.run('pets create --from new.rejects.csv --yes -o json', { cwd: folder });
  expect(JSON.parse(again.stdout)).toMatchObject({ rows: 1, applied: 1 });
});

test.each([
  ['create', '[]'],
  ['update', 'id,name\n'],
  ['delete', ''],
])('%s has nothing to do for %j', async (verb, stdin) => {
  const run = await runCli(`--offline pets ${verb} --from - --yes`, { stdin });
  expect(run).toMatchObject({ code: 0, stdout: '' });
  expect(run.stderr).toBe('note: stdin has no records: nothing to do\n');
});

testWith('script')('a question is asked on the terminal itself if the records come from a pipe', async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'pets.csv'), 'name,category\nRex,1\nMia,2\n');
  const folders = { PETSTORE_STATE_DIR: cwd, PETSTORE_CONFIG_DIR: cwd };
  const env = { ...folders, PETSTORE_OFFLINE_STORE: join(cwd, 'store.json') };
  const argv = ['--offline', 'pets', 'create', '--from', '-', '-o', 'ids'];
  const terminal = startInTerminal(argv, { env, cwd, columns: 80, stdin: 'pets.csv' });
  await terminal.until('Create 2 pets in the embedded store?');
  terminal.press('y\r');
  const { code, drawn } = await terminal.ended;
  expect({ code, isDone: drawn.includes('undo with: petstore undo r1') }).toEqual({ code: 0, isDone: true });
});

test('each record of a file is created by one shard, by its line, which invalid ones are of too', async () => {
  const shop = openShop();
  const rows = Array.from({ length: 12 }, (_, at) => `shard ${at},1\n`);
  const stdin = `name,category\n${rows.join('')}invalid,\n`;
  const codes: number[] = [];
  for (const shard of ['1/3', '2/3', '0/3'])
    codes.push(
      (await shop.run(`pets create --from - --shard ${shard} --skip-invalid --yes`, { stdin })).code,
    );
  expect(codes.sort()).toEqual([0, 0, 3]);
  const pets = (await shop.json('pets list --name shard')) as { name: string }[];
  const lines = pets.map(({ name }) => `${name},1`).sort();
  expect(lines).toEqual(rows.map((row) => row.trimEnd()).sort());
});
