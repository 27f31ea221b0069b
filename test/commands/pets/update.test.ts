import { expect, test } from 'vitest';
import { type RecordingServer, recordingServer } from '../../helpers/recording-server.ts';
import { runCli } from '../../helpers/run-cli.ts';
import { openShop } from '../../helpers/shop.ts';

const rex = { id: 3, name: 'Rex', categoryId: 1, status: 'sold', chip: { maker: 'A', serial: 12 } };

/** A service with one pet, whose answers have these headers. */
function petService(headers: Record<string, string> = {}): Promise<RecordingServer> {
  return recordingServer({}, ({ method, path, body }) => {
    if (path.startsWith('/categories')) return { body: [] };
    return { headers, body: method === 'GET' ? rex : { id: 3, ...JSON.parse(body) } };
  });
}

test.each([
  [['--name', 'Rexy'], { name: 'Rexy' }],
  [['--status', 'pending'], { status: 'pending' }],
  [['--category', 'Birds'], { categoryId: 3 }],
  [
    ['--name', 'Rexy', '--category', '2', '--status', 'sold'],
    { name: 'Rexy', categoryId: 2, status: 'sold' },
  ],
])('changes what %j names and nothing else', async (flags, changed) => {
  using shop = openShop();
  const before = await shop.json('pets', 'get', '1');
  const after = { ...(before as object), ...changed };
  expect(await shop.json('pets', 'update', '1', ...flags)).toEqual(after);
  expect(await shop.json('pets', 'get', '1')).toEqual(after);
});

test('sends unknown fields back unchanged', async () => {
  await using server = await petService();
  await runCli(['pets', 'update', '3', '--status', 'available', '--base-url', server.url]);
  const put = server.seen.find(({ method }) => method === 'PUT');
  expect(put?.body).toBe(
    '{"name":"Rex","categoryId":1,"status":"available","chip":{"maker":"A","serial":12}}',
  );
});

test('sends the ETag as If-Match, if there is one', async () => {
  await using tagged = await petService({ etag: '"v7"' });
  await using plain = await petService();
  for (const { url } of [tagged, plain])
    await runCli(['pets', 'update', '3', '--name', 'x', '--base-url', url]);
  const ifMatch = ({ seen }: RecordingServer) =>
    seen.find(({ method }) => method === 'PUT')?.headers['if-match'];
  expect(ifMatch(tagged)).toBe('"v7"');
  expect(ifMatch(plain)).toBeUndefined();
});

test('overwrites nothing if the record has changed in the meantime', async () => {
  await using server = await recordingServer({}, ({ method }) =>
    method === 'GET'
      ? { headers: { etag: '"v7"' }, body: rex }
      : { status: 412, body: { code: 'precondition_failed', message: 'changed', status: 412 } },
  );
  const run = await runCli(['pets', 'update', '3', '--name', 'x', '-o', 'json', '--base-url', server.url]);
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(run.stderr.split('\n').find((line) => line.startsWith('{')) ?? '').error).toMatchObject({
    kind: 'failed',
    status: 412,
    code: 'precondition_failed',
  });
});

test('finds the pet through the list if getPet is gone', async () => {
  await using server = await recordingServer({}, ({ method, path }) => {
    if (method === 'PUT') return { body: { ...rex, name: 'x' } };
    return path.startsWith('/pets/') ? { status: 410 } : { body: [rex] };
  });
  const run = await runCli(['pets', 'update', '3', '--name', 'x', '-o', 'ids', '--base-url', server.url]);
  expect(run).toMatchObject({ code: 0, stdout: '3\n' });
  expect(run.stderr).toContain('looking through listPets');
});

test('a bare 2xx is a success with no record to print', async () => {
  await using server = await recordingServer({}, ({ method }) =>
    method === 'PUT' ? { status: 204 } : { body: rex },
  );
  const run = await runCli(['pets', 'update', '3', '--name', 'x', '-o', 'json', '--base-url', server.url]);
  expect(run).toMatchObject({ code: 0, stdout: '' });
});

test('without changes, names the flags before any request', async () => {
  await using server = await petService();
  const run = await runCli(['pets', 'update', '3', '--base-url', server.url]);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toBe(
    'error: update pet: nothing to change\nhint: give one or more of --name, --category, --status\n',
  );
  expect(server.seen).toEqual([]);
});

test.each([
  [['999', '--name', 'x'], 5],
  [['1', '--category', 'Dragons'], 5],
  [['1', '--category', '999'], 1],
  [['1', '--name', ''], 2],
  [['abc', '--name', 'x'], 5],
  [['1.5', '--name', 'x'], 2],
])('update %j exits %i and changes nothing', async (words, code) => {
  using shop = openShop();
  const before = await shop.json('pets', 'list');
  expect(await shop.run(['pets', 'update', ...words])).toMatchObject({ code, stdout: '' });
  expect(await shop.json('pets', 'list')).toEqual(before);
});

test('a dry run reads the record and shows the PUT', async () => {
  await using server = await petService({ etag: '"v7"' });
  const run = await runCli([
    'pets',
    'update',
    '3',
    '--name',
    'x',
    '--dry-run',
    '-o',
    'json',
    '--base-url',
    server.url,
  ]);
  expect(JSON.parse(run.stdout)).toMatchObject({
    method: 'PUT',
    url: `${server.url}/pets/3`,
    headers: { 'if-match': '"v7"' },
    body: { name: 'x', categoryId: 1, status: 'sold' },
  });
  expect(server.calls()).toEqual(['GET /pets/3']);
});
