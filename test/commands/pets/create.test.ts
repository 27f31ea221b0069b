import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recordingServer } from '../../helpers/recording-server.ts';
import { runCli } from '../../helpers/run-cli.ts';
import { openShop } from '../../helpers/shop.ts';
import { spawnCli } from '../../helpers/spawn-cli.ts';

test('creates a pet and prints the record in the answer', async () => {
  using shop = openShop();
  const run = await shop.run([
    'pets',
    'create',
    '--name',
    'Rex',
    '--category',
    'Cats',
    '--status',
    'pending',
    '-o',
    'json',
  ]);
  expect(run).toEqual({
    code: 0,
    stdout: '{"id":26,"name":"Rex","categoryId":2,"status":"pending"}\n',
    stderr: '',
  });
  expect(await shop.json('pets', 'get', '26')).toEqual({
    id: 26,
    name: 'Rex',
    categoryId: 2,
    status: 'pending',
  });
});

test('shows the new pet with its category by name', async () => {
  using shop = openShop();
  const run = await shop.run(['pets', 'create', '--name', 'Rex', '--category', '1']);
  expect(run.stdout).toBe('id  name  category  status\n26  Rex   Dogs      available\n');
});

test('names the flags that are missing if there is no terminal', async () => {
  const run = await runCli(['--offline', 'pets', 'create', '--status', 'sold']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('error: create pet: --name and --category are missing\n');
});

test.each([{ CI: '1' }, {}])('asks nobody in CI, nor with --no-input (%j)', async (env) => {
  const run = await runCli(['--offline', 'pets', 'create', '--no-input'], {
    env,
    terminals: ['stdin', 'stderr'],
  });
  expect(run).toMatchObject({ code: 2, stdout: '' });
});

test('asks a person for what is missing: a name, a category by search, a status by choice', async () => {
  using shop = openShop();
  const run = await shop.typing(
    ['pets', 'create', '-o', 'json'],
    [
      ['Name', '\r'],
      ['must not be empty', 'Rex\r'],
      ['Category', 'bir'],
      ['Birds', '\r'],
      ['Status', '\x1b[B\r'],
    ],
  );
  expect(run).toMatchObject({
    code: 0,
    stdout: '{"id":26,"name":"Rex","categoryId":3,"status":"pending"}\n',
  });
  expect(run.stderr).toContain('must not be empty');
});

test('asks only for missing fields, and for none if all required ones are given', async () => {
  using shop = openShop();
  const asked = await shop.typing(
    ['pets', 'create', '--category', 'Dogs', '-o', 'ids'],
    [
      ['Name', 'Rex\r'],
      ['Status', '\r'],
    ],
  );
  expect(asked).toMatchObject({ code: 0, stdout: '26\n' });
  expect(asked.stderr).not.toContain('Category');
  const given = await shop.typing(['pets', 'create', '--category', 'Dogs', '--name', 'Rex', '-o', 'ids'], []);
  expect(given).toEqual({ code: 0, stdout: '27\n', stderr: '' });
});

test('Ctrl-C at a question exits 130 and creates nothing', async () => {
  using shop = openShop();
  const run = await shop.typing(['pets', 'create'], [['Name', '\x03']]);
  expect(run).toMatchObject({ code: 130, stdout: '' });
  expect(await shop.json('pets', 'list')).toHaveLength(25);
});

test.each([
  [
    'a JSON object',
    '{"name":"Rex","categoryId":1}',
    '{"id":26,"name":"Rex","categoryId":1,"status":"available"}\n',
  ],
  [
    'a JSON array of one',
    '[{"name":"Rex","categoryId":1}]',
    '[{"id":26,"name":"Rex","categoryId":1,"status":"available"}]\n',
  ],
  [
    'JSON lines',
    '{"name":"Rex","categoryId":1}\n\n{"name":"Mia","categoryId":2,"status":"sold"}\n',
    '[{"id":26,"name":"Rex","categoryId":1,"status":"available"},{"id":27,"name":"Mia","categoryId":2,"status":"sold"}]\n',
  ],
])('creates from %s on stdin', async (_, stdin, stdout) => {
  using shop = openShop();
  expect(await shop.run(['pets', 'create', '--from', '-', '-o', 'json'], { stdin })).toEqual({
    code: 0,
    stdout,
    stderr: '',
  });
});

test('creates in the order of the file', async () => {
  using shop = openShop();
  const lines = Array.from({ length: 30 }, (_, at) => JSON.stringify({ name: `pet ${at}`, categoryId: 1 }));
  const file = `${shop.file}.jsonl`;
  writeFileSync(file, lines.join('\n'));
  const run = await shop.run([
    'pets',
    'create',
    '--from',
    file,
    '--fields',
    'id,name',
    '-o',
    'csv',
    '--no-header',
  ]);
  expect(run).toMatchObject({ code: 0, stdout: lines.map((_, at) => `${26 + at},pet ${at}\n`).join('') });
});

test('reads the JSON of pets list, and leaves the ids out with one note', async () => {
  using shop = openShop();
  const { stdout: stdin } = await shop.run(['pets', 'list', '--category', 'Fish', '-o', 'json']);
  const run = await shop.run(['pets', 'create', '--from', '-', '-o', 'ids'], { stdin });
  expect(run.stdout).toMatch(/^26\n27\n/);
  expect(run.stderr).toBe(
    'note: ids in the file are left out because the service gives each new pet its own\n',
  );
});

test.each([
  ['{"name":"Rex","categoryId":1}\n{"name":7}', 'stdin:2: name must be a string; categoryId is required'],
  [
    '{"name":"Rex","categoryId":1,"status":"lost"}',
    'stdin:1: status must be one of available, pending, sold',
  ],
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
])('refuses %j before anything is sent', async (stdin, message) => {
  await using server = await recordingServer({});
  const run = await runCli(['pets', 'create', '--from', '-', '--base-url', server.url], { stdin });
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(message);
  expect(server.seen).toEqual([]);
});

test('names a file that does not exist', async () => {
  const run = await runCli(['--offline', 'pets', 'create', '--from', '/nonexistent/pets.json']);
  expect(run).toMatchObject({ code: 2, stdout: '', stderr: 'error: /nonexistent/pets.json: no such file\n' });
});

test('a file and flags at once are refused', async () => {
  const run = await runCli(['--offline', 'pets', 'create', '--from', '-', '--name', 'Rex']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
});

test('lists the refused records of a file in the JSON error', async () => {
  using shop = openShop();
  const stdin = '{"name":"a","categoryId":1}\n{"name":"b","categoryId":999}\n';
  const run = await shop.run(['pets', 'create', '--from', '-', '-o', 'json'], { stdin });
  expect(run.code).toBe(3);
  expect(JSON.parse(run.stderr).error).toMatchObject({
    kind: 'partial',
    errors: [{ code: 'unknown_reference', message: expect.stringMatching(/^stdin:2: \/categoryId/) }],
  });
});

test('continues after a record that the service refuses, and names its place', async () => {
  using shop = openShop();
  const stdin = '{"name":"a","categoryId":1}\n{"name":"b","categoryId":999}\n{"name":"c","categoryId":1}\n';
  const run = await shop.run(['pets', 'create', '--from', '-', '-o', 'ids'], { stdin });
  expect(run).toMatchObject({ code: 3, stdout: '26\n27\n' });
  expect(run.stderr).toContain('error: stdin:2: create a pet: POST /pets: /categoryId');
});

test('stops at a refused token, and says how many records were not sent', async () => {
  const body = { code: 'unauthorized', message: 'no', status: 401 };
  await using server = await recordingServer({}, () => ({ status: 401, body }));
  const stdin = '{"name":"a","categoryId":1}\n'.repeat(5);
  const run = await runCli(['pets', 'create', '--from', '-', '--base-url', server.url], { stdin });
  expect(run).toMatchObject({ code: 4, stdout: '' });
  expect(run.stderr).toContain('error: stopped: the 4 pets after it were not sent\n');
  expect(server.calls().filter((call) => call.startsWith('POST'))).toHaveLength(1);
  expect(run.stderr).not.toContain('note:');
  const asJson = await runCli(['pets', 'create', '--from', '-', '-o', 'json', '--base-url', server.url], {
    stdin,
  });
  expect(JSON.parse(asJson.stderr).error.message).toBe('1 of 5 pets failed, 4 were not sent');
});

test('sends unknown fields unchanged, and notes them', async () => {
  await using server = await recordingServer({}, ({ body }) => ({
    status: 201,
    body: { id: 1, ...JSON.parse(body) },
  }));
  const stdin = '{"name":"Rex","categoryId":1,"chip":"A-12"}';
  const run = await runCli(['pets', 'create', '--from', '-', '-o', 'json', '--base-url', server.url], {
    stdin,
  });
  expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({ name: 'Rex', categoryId: 1, chip: 'A-12' });
  expect(JSON.parse(run.stdout)).toMatchObject({ chip: 'A-12' });
  expect(run.stderr).toContain('chip');
});

test('an unknown field to show is refused before anything is written', async () => {
  using shop = openShop();
  expect(
    await shop.run(['pets', 'create', '--name', 'Rex', '--category', '1', '--fields', 'colour']),
  ).toMatchObject({ code: 2 });
  expect(await shop.json('pets', 'list')).toHaveLength(25);
});

test('a dry run shows the request and sends nothing', async () => {
  using shop = openShop();
  const run = await shop.run(['pets', 'create', '--name', 'Rex', '--category', 'Dogs', '--dry-run']);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(run.stdout).toContain('POST /pets\n');
  expect(run.stdout).toContain('\n\n{\n  "name": "Rex",\n  "categoryId": 1\n}\n');
  expect(await shop.json('pets', 'list')).toHaveLength(25);
});

test('a dry run as JSON is one object, of many records an array; secrets are masked', async () => {
  await using server = await recordingServer({});
  const env = { PETSTORE_TOKEN: 's3cret' };
  const flags = ['--dry-run', '--base-url', server.url];
  const one = await runCli(['pets', 'create', '--name', 'Rex', '--category', '1', ...flags, '-o', 'json'], {
    env,
  });
  expect(JSON.parse(one.stdout)).toMatchObject({
    method: 'POST',
    url: `${server.url}/pets`,
    headers: { authorization: '***' },
    body: { name: 'Rex', categoryId: 1 },
  });
  const stdin = '{"name":"a","categoryId":1}\n{"name":"b","categoryId":1}';
  const many = await runCli(['pets', 'create', '--from', '-', ...flags, '-o', 'json'], { env, stdin });
  expect(JSON.parse(many.stdout).map(({ body }: { body: { name: string } }) => body.name)).toEqual([
    'a',
    'b',
  ]);
  expect(one.stdout + many.stdout).not.toContain('s3cret');
  expect(server.seen).toEqual([]);
});

test('loses none of twenty pets that are created at the same time on one store', async () => {
  using shop = openShop();
  const env = { PETSTORE_OFFLINE_STORE: shop.file };
  const runs = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      spawnCli(['--offline', 'pets', 'create', '--name', `pet ${at}`, '--category', '1', '-o', 'ids'], {
        env,
      }),
    ),
  );
  expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    runs.map(() => ({ code: 0, stderr: '' })),
  );
  const ids = runs.map(({ stdout }) => Number(stdout)).sort((one, other) => one - other);
  expect(ids).toEqual(Array.from({ length: 20 }, (_, at) => 26 + at));
  expect(await shop.json('pets', 'list')).toHaveLength(45);
  expect(JSON.parse(readFileSync(shop.file, 'utf8'))).toBeTruthy();
}, 30_000);
