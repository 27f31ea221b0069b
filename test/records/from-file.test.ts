import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('reads back the edited CSV of pets list, with categories by name', async () => {
  using shop = openShop();
  const { stdout } = await shop.run('pets list --limit 3 -o csv');
  const stdin = stdout.replace('Bella,Dogs,available', 'Bellissima,cats,');
  const run = await shop.run('pets update --from - -o ids', { stdin });
  expect(run).toMatchObject({ code: 0, stdout: '1\n2\n3\n' });
  expect(await shop.json('pets get 1')).toEqual({
    id: 1,
    name: 'Bellissima',
    categoryId: 2,
    status: 'available',
  });
});

test('creates from CSV: leaves ids out with a note, and removes the guard of a formula', async () => {
  using shop = openShop();
  const stdin = `id,name,category,status\n7,'=Rex,dogs,\n8,"Mia, the 2nd",2,sold\n`;
  const run = await shop.run('pets create --from - -o jsonl', { stdin });
  expect(run.stdout).toBe(
    '{"id":26,"name":"=Rex","categoryId":1,"status":"available"}\n' +
      '{"id":27,"name":"Mia, the 2nd","categoryId":2,"status":"sold"}\n',
  );
  expect(run.stderr).toContain('note: ids in the file are left out');
});

test('reads back the edited CSV of orders list', async () => {
  using shop = openShop();
  const { stdout } = await shop.run('orders list --open --limit 1 -o csv');
  // A spreadsheet saves it in capitals.
  const stdin = stdout.replace(/false/, 'TRUE');
  expect(await shop.run('orders update --from -', { stdin })).toMatchObject({ code: 0 });
  expect(await shop.json('orders get 7')).toMatchObject({ complete: true });
});

test('the CSV of a list, read back unedited, changes no text, although it shows controls as escapes', async () => {
  using shop = openShop();
  const names = ['\u001b[31mred', 'zero\u200bwidth', '=1+1', "'=1", 'a\r\nb', '"q", c'];
  const stdin = names.map((name) => `${JSON.stringify({ name, categoryId: 1 })}\n`).join('');
  await shop.run('pets create --from -', { stdin });
  const before = await shop.json('pets list');
  const list = await shop.run('pets list -o csv');
  expect((await shop.run('pets update --from -', { stdin: list.stdout })).code).toBe(0);
  expect(await shop.json('pets list')).toEqual(before);
});

test('updates from JSON lines, and keeps the fields that a record does not name', async () => {
  using shop = openShop();
  const stdin = '{"id":1,"status":"sold"}\n{"id":2,"category":"Birds"}\n';
  expect((await shop.run('pets update --from -', { stdin })).code).toBe(0);
  expect(await shop.json('pets get 1 2')).toMatchObject([
    { name: 'Bella', status: 'sold' },
    { name: 'Max', categoryId: 3 },
  ]);
});

test('sends a field whose name every object has', async () => {
  const fields = '"name":"Rex","categoryId":1,"constructor":"c","__proto__":{"x":1}';
  await using server = await recordingServer({}, () => ({
    body: { id: 1, name: 'Rex', categoryId: 1 },
  }));
  const run = await runAt(server, 'pets create --from - -q', {
    stdin: `{${fields}}`,
  });
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(server.seen.find(({ method }) => method === 'POST')?.body).toBe(`{${fields}}`);
});

test.each([
  ['ids', '3\n7\n'],
  ['CSV', 'id,name,category,status\n3,Luna,Cats,available\n7,x,Cats,sold\n'],
  ['a JSON array of ids', '[3, 7]'],
  ['JSON lines', '{"id":3}\n{"id":7}\n'],
])('deletes the records whose ids are in %s', async (_, stdin) => {
  await using server = await recordingServer({}, () => ({ status: 204 }));
  const run = await runAt(server, 'pets delete --from - --yes', { stdin });
  expect(run).toMatchObject({ code: 0, stdout: '', stderr: 'deleted pet 3\ndeleted pet 7\n' });
  expect(server.calls().sort()).toEqual(['DELETE /pets/3', 'DELETE /pets/7']);
});

test.each([
  ['pets update', 'name,status\nRex,sold\n', 'stdin:2: id is required'],
  ['pets update', 'id,status\n1,sold\n1,sold\n', 'stdin:3: id 1 appears twice in the file'],
  ['pets update', 'id,status\n1,lost\n', 'stdin:2: status must be one of'],
  ['pets update', 'id,colour\n1,red\n', "stdin:1: column 'colour': pets have no such field"],
  ['pets update', 'id,category,categoryId\n1,Dogs,1\n', 'mean the same'],
  ['pets update', 'id,name,name\n1,a,b\n', "stdin:1: duplicate column 'name'"],
  ['pets update', '', 'stdin: has no records'],
  ['pets update', 'id,name\n', 'stdin: has no records'],
  ['pets update', '{"id":1,"categoryId":"Dogs"}', 'stdin:1: categoryId must be an integer'],
  ['orders update', 'id,quantity\n1,many\n', "stdin:2: quantity 'many': must be an integer"],
  ['orders update', 'id,complete\n1,yes\n', "stdin:2: complete 'yes': must be true or false"],
  ['pets delete --yes', '3\nx\n', "stdin:2: id 'x': must be an integer"],
  ['pets delete --yes', 'Luna\n', "stdin:1: id 'Luna': must be an integer"],
  ['pets delete --yes', '-3\n', "stdin:1: id '-3': must be an integer"],
  [
    'pets update',
    '- id: 1\n  status: sold\n',
    'hint: the file must be CSV with a header, JSON or JSON lines',
  ],
  ['pets delete --yes', '3\n3\n', 'stdin:2: id 3 appears twice in the file'],
  ['pets update 3', 'id\n3\n', 'give ids or --from, not both'],
  ['pets delete 3', 'id\n3\n', 'give ids or --from, not both'],
])('%s refuses %j before anything is sent', async (words, stdin, message) => {
  await using server = await recordingServer({});
  const run = await runCli([...words.split(' '), '--from', '-', '--base-url', server.url], { stdin });
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(message);
  expect(server.seen).toEqual([]);
});

test('names the place of an unknown category before any write', async () => {
  using shop = openShop();
  const stdin = 'id,category\n1,Cats\n2,Dragons\n';
  const run = await shop.run('pets update --from -', { stdin });
  expect(run).toMatchObject({ code: 5, stdout: '' });
  expect(run.stderr).toContain("error: stdin:3: category 'Dragons': no category has this name");
  expect(await shop.json('pets get 1')).toMatchObject({ categoryId: 1 });
});

test('starts no further record after a refused token, and reports those in progress as they end', async () => {
  let puts = 0;
  await using server = await recordingServer({}, ({ method, path }) => {
    if (method === 'GET') return { body: { id: Number(path.split('/').at(-1)), name: 'x', categoryId: 1 } };
    puts += 1;
    return path.endsWith('/1')
      ? { status: 401 }
      : { body: { id: Number(path.split('/').at(-1)), name: 'x', categoryId: 1 } };
  });
  const stdin = `id,status\n${Array.from({ length: 50 }, (_, at) => `${at + 1},sold`).join('\n')}\n`;
  const argv = ['pets', 'update', '--from', '-', '-o', 'ids', '--base-url', server.url];
  const run = await runCli(argv, { stdin, cwd: temporaryFolder() });
  expect(run.code).toBe(3);
  const written = run.stdout.trim().split('\n').length;
  expect(written).toBe(puts - 1);
  expect(run.stderr).toContain(`stopped: the ${50 - puts} pets after it were not sent`);
});

test('parallel adjustments of the embedded store are all counted, and none has a note', async () => {
  using shop = openShop();
  await shop.run('inventory set 1 0');
  const runs = await Promise.all(Array.from({ length: 11 }, () => shop.run('inventory adjust 1 +1 -o ids')));
  for (const run of runs) expect(run).toEqual({ code: 0, stdout: '1\n', stderr: '' });
  expect(await shop.json('inventory get 1')).toMatchObject({ quantity: 11 });
});

test('an empty list of ids is nothing to do', async () => {
  using shop = openShop();
  for (const stdin of ['', '\n', 'id,name\n', '[]'])
    expect(await shop.run('pets delete --from - --yes', { stdin })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'note: stdin has no ids: nothing to delete\n',
    });
});

test('the TSV of a list is read as it is written: escapes, and quotes that belong to a name', async () => {
  using shop = openShop();
  const names = ['a\tb', 'c\\n', 'd\ne', '"quoted"', 'back\\slash'];
  const stdin = names.map((name) => `${JSON.stringify({ name, categoryId: 1 })}\n`).join('');
  await shop.run('pets create --from -', { stdin });
  const list = await shop.run('pets list -o tsv');
  const copies = await shop.run('pets create --from - -o json', { stdin: list.stdout });
  const created: { name: string }[] = JSON.parse(copies.stdout);
  expect(created.slice(-names.length).map(({ name }) => name)).toEqual(names);
});

test('records that are as the file says are not sent, and are printed and counted', async () => {
  let puts = 0;
  await using server = await recordingServer({}, ({ method, path }) => {
    if (method === 'PUT') puts += 1;
    return { body: { id: Number(path.split('/')[2]), name: 'x', categoryId: 1, status: 'sold' } };
  });
  const stdin = 'id,name,status\n1,x,sold\n2,x,sold\n3,y,sold\n';
  const argv = ['pets', 'update', '--from', '-', '-o', 'ids', '--base-url', server.url];
  const run = await runCli(argv, { stdin, cwd: temporaryFolder() });
  expect(run.stdout.split('\n').slice(0, 2)).toEqual(['1', '2']);
  expect(run.stderr).toContain('note: 2 of 3 pets are as the file says, and were not sent\n');
  expect(puts).toBe(1);
});

test('what was certainly not done goes to a file that creates the rest, and nothing twice', async () => {
  using shop = openShop();
  const cwd = temporaryFolder();
  const failing = await recordingServer({}, ({ body }) => {
    const { name } = JSON.parse(body);
    if (name === 'bad') return { status: 422, body: { code: 'no_name', message: 'no', status: 422 } };
    if (name === 'lost') return { status: 502 };
    if (name === 'other') return { status: 201, body: { id: 8, name: 'Other', categoryId: 1 } };
    return { status: 201, body: { id: 7, name, categoryId: 1 } };
  });
  writeFileSync(join(cwd, 'new.csv'), 'name,category\nRex,1\nbad,1\nlost,1\nother,1\n');
  const argv = ['pets', 'create', '--from', 'new.csv', '-o', 'json', '--base-url', failing.url];
  const run = await runCli(argv, { cwd });
  await failing[Symbol.asyncDispose]();
  expect(run.code).toBe(3);
  const { error } = JSON.parse(run.stderr);
  expect(error.errors.map(({ line }: { line: number }) => line)).toEqual([3, 4, 5]);
  expect(error.warnings).toContain(
    'look at these before you run them again, they may have been done: new.csv:4, new.csv:5',
  );
  const rejects = readFileSync(join(cwd, 'new.rejects.csv'), 'utf8');
  expect(rejects).toMatch(/^name,category,_line,_state,_status,_code,_message\nbad,1,3,failed,422,no_name,/);
  expect(rejects.trim().split('\n')).toHaveLength(2);
  const again = await shop.run('pets create --from new.rejects.csv -o json', { cwd });
  expect(JSON.parse(again.stdout)).toMatchObject([{ name: 'bad', categoryId: 1 }]);
});

test('more than 20 records are asked about once on a terminal, and on none elsewhere', async () => {
  using shop = openShop();
  const stdin = 'name,category\n'.concat('Rex,1\n'.repeat(21));
  expect(await shop.run('pets create --from - -q', { stdin })).toMatchObject({ code: 0 });
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'new.csv'), stdin);
  const no = await shop.typing(
    ['pets', 'create', '--from', join(cwd, 'new.csv')],
    [['Create 21 pets?', 'n\r']],
  );
  expect(no.code).toBe(2);
  expect(no.stderr).toContain('not confirmed, nothing was written');
});

test('a CSV of categories that share a name has their ids, and is read back', async () => {
  using shop = openShop();
  await shop.run('categories create --name dogs');
  const list = await shop.run('pets list --limit 3 -o csv');
  expect(list.stdout).toMatch(/^1,Bella,1,/m);
  expect(list.stdout).toMatch(/^\d+,\w+,Cats,/m);
  expect(await shop.run('pets update --from - -q', { stdin: list.stdout })).toMatchObject({
    code: 0,
  });
});

test.each([
  [
    'a JSON object',
    '{"name":"a","categoryId":1}',
    '{"id":26,"name":"a","categoryId":1,"status":"available"}\n',
  ],
  [
    'a JSON array of one',
    '[{"name":"a","categoryId":1}]',
    '[{"id":26,"name":"a","categoryId":1,"status":"available"}]\n',
  ],
  [
    'JSON lines',
    '{"name":"a","categoryId":1}\n\n{"name":"b","categoryId":2,"status":"sold"}\n',
    '[{"id":26,"name":"a","categoryId":1,"status":"available"},{"id":27,"name":"b","categoryId":2,"status":"sold"}]\n',
  ],
])('creates from %s on stdin', async (_, stdin, stdout) => {
  using shop = openShop();
  expect(await shop.run('pets create --from - -o json', { stdin })).toEqual({ code: 0, stdout, stderr: '' });
});

test('creates in the order of the file', async () => {
  using shop = openShop();
  const lines = Array.from({ length: 30 }, (_, at) => JSON.stringify({ name: `pet ${at}`, categoryId: 1 }));
  writeFileSync(`${shop.file}.jsonl`, lines.join('\n'));
  const run = await shop.run(`pets create --from ${shop.file}.jsonl --fields id,name -o csv --no-header`);
  expect(run).toMatchObject({ code: 0, stdout: lines.map((_, at) => `${26 + at},pet ${at}\n`).join('') });
});

test('reads the JSON of pets list, and leaves the ids out with one note', async () => {
  using shop = openShop();
  const { stdout: stdin } = await shop.run('pets list --category Fish -o json');
  const run = await shop.run('pets create --from - -o ids', { stdin });
  expect(run.stdout).toMatch(/^26\n27\n/);
  expect(run.stderr).toBe(
    'note: ids in the file are left out because the service gives each new pet its own\n',
  );
});

test.each([
  ['{"name":"Rex","categoryId":1}\n{"name":7}', 'stdin:2: name must be a string; categoryId is required'],
  ['{"name":"a","categoryId":1,"status":"lost"}', 'stdin:1: status must be one of available, pending, sold'],
  [
    '[{"name":"a","categoryId":1},{"name":"b","categoryId":1.5}]',
    'stdin:1 (record 2): categoryId must be an integer',
  ],
  ['[{"name":"a","categoryId":-1}]', 'stdin:1: categoryId must be an integer from 0 to 9223372036854775807'],
  ['[{"name":"a","categoryId":9223372036854775808}]', 'stdin:1: categoryId must be an int64'],
  ['[1]', 'stdin:1: not a JSON object'],
  ['[{"name":"a","categoryId":1}', 'stdin:1'],
  ['name,colour\nRex,red\n', "stdin:1: column 'colour': pets have no such field"],
  ['name,category\nRex\n', 'stdin:2: it has 1 cell'],
  ['[]', 'stdin: has no records'],
  ['', 'stdin: has no records'],
])('create refuses %j before anything is sent', async (stdin, message) => {
  await using server = await recordingServer({});
  const run = await runAt(server, 'pets create --from -', { stdin });
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(message);
  expect(server.seen).toEqual([]);
});

test('names a file that does not exist', async () => {
  const run = await runCli('--offline pets create --from /nonexistent/pets.json');
  expect(run).toMatchObject({ code: 2, stdout: '', stderr: 'error: /nonexistent/pets.json: no such file\n' });
});

test('stops at a refused token, and says how many records were not sent', async () => {
  const body = { code: 'unauthorized', message: 'no', status: 401 };
  await using server = await recordingServer({}, () => ({ status: 401, body }));
  const stdin = '{"name":"a","categoryId":1}\n'.repeat(5);
  const run = await runAt(server, 'pets create --from -', { stdin });
  expect(run).toMatchObject({ code: 4, stdout: '' });
  expect(run.stderr).toContain('error: stopped: the 4 pets after it were not sent\n');
  // The input itself can be run again.
  expect(run.stderr).not.toContain('note:');
  expect(server.calls().filter((call) => call.startsWith('POST'))).toHaveLength(1);
  const json = await runAt(server, 'pets create --from - -o json', { stdin });
  expect(JSON.parse(json.stderr).error.message).toBe('1 of 5 pets failed, 4 were not sent');
});

test('sends unknown fields unchanged, and notes them', async () => {
  await using server = await recordingServer({}, ({ body }) => ({
    status: 201,
    body: { id: 1, ...JSON.parse(body) },
  }));
  const stdin = '{"name":"Rex","categoryId":1,"chip":"A-12"}';
  const run = await runAt(server, 'pets create --from - -o json', { stdin });
  expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({ name: 'Rex', categoryId: 1, chip: 'A-12' });
  expect(JSON.parse(run.stdout)).toMatchObject({ chip: 'A-12' });
  expect(run.stderr).toContain('note: pets have no such fields, they are sent as they are: chip\n');
});
