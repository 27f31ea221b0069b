import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listenHere } from '../helpers/listen.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const list = (...flags: string[]) => runCli(['--offline', 'pets', 'list', ...flags]);

test('shows id, name, category by its name, and status, aligned and uncoloured in a pipe', async () => {
  const { code, stdout, stderr } = await list('--limit', '4');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatchInlineSnapshot(`
    "id  name     category  status
     1  Bella    Dogs      available
     2  Max      Dogs      available
     3  Luna     Cats      available
     4  Charlie  Dogs      pending
    "
  `);
});

test.each([
  ['csv', 'id,name,category,status\n1,Bella,Dogs,available\n'],
  ['tsv', 'id\tname\tcategory\tstatus\n1\tBella\tDogs\tavailable\n'],
  ['json', '[{"id":1,"name":"Bella","categoryId":1,"status":"available"}]\n'],
  ['jsonl', '{"id":1,"name":"Bella","categoryId":1,"status":"available"}\n'],
  ['yaml', '- id: 1\n  name: Bella\n  categoryId: 1\n  status: available\n'],
  ['ids', '1\n'],
])('prints as %s', async (format, expected) => {
  expect(await list('--limit', '1', '-o', format)).toEqual({ code: 0, stdout: expected, stderr: '' });
});

test.each([
  ['categories', 'id,name,description\n1,Dogs,Puppies and grown dogs of every size\n'],
  ['orders', 'id,pet,quantity,shipDate,complete\n1,5,1,2026-03-02T09:00:00Z,true\n'],
  ['inventory', 'petId,quantity,status\n1,1,available\n'],
])('the columns of %s', async (noun, expected) => {
  expect((await runCli(`--offline ${noun} list --limit 1 -o csv`)).stdout).toBe(expected);
});

test('shows categoryId if --fields names it, and lists the fields there are', async () => {
  const { stdout } = await list('--limit', '1', '--fields', 'categoryId,name', '-o', 'csv');
  expect(stdout).toBe('categoryId,name\n1,Bella\n');
  expect((await list('--fields', 'help')).stdout).toBe('id\nname\ncategory\nstatus\ncategoryId\n');
  expect(await list('--fields', 'colour')).toMatchObject({ code: 2, stdout: '' });
});

type Fields = Readonly<Record<string, unknown>>;

test.each<[string, string, (record: Fields) => boolean]>([
  ['pets', '--status sold', ({ status }) => status === 'sold'],
  ['pets', '--status Sold', ({ status }) => status === 'sold'],
  ['pets', '--status sold,pending', ({ status }) => status !== 'available'],
  ['pets', '--status sold --status pending', ({ status }) => status !== 'available'],
  ['pets', '--category 2', ({ categoryId }) => categoryId === 2],
  ['pets', '--category cats', ({ categoryId }) => categoryId === 2],
  ['pets', '--name LU', ({ name }) => String(name).toLowerCase().includes('lu')],
  ['orders', '--open', ({ complete }) => complete !== true],
  ['orders', '--complete', ({ complete }) => complete === true],
  ['orders', '--pet 4', ({ petId }) => petId === 4],
  ['inventory', '--status sold --status pending', ({ status }) => status !== 'available'],
  ['inventory', '--below 2', ({ quantity }) => Number(quantity) < 2],
])('%s list %s prints the records that match, and no others', async (noun, flags, matches) => {
  using shop = openShop();
  const all = (await shop.json(`${noun} list`)) as Fields[];
  const some = await shop.json(`${noun} list ${flags}`);
  expect(some).toEqual(all.filter(matches));
  expect(some).not.toEqual([]);
  expect(some).not.toEqual(all);
});

test('prints an empty list as a header, [] or nothing, and exits 0', async () => {
  expect((await list('--category', '999')).stdout).toBe('id  name  category  status\n');
  expect((await list('--category', '999', '-o', 'json')).stdout).toBe('[]\n');
  expect((await list('--category', '999', '-o', 'ids')).stdout).toBe('');
});

test('applies --limit after --sort, and after a filter of its own', async () => {
  expect((await list('--sort', '-id', '--limit', '2', '-o', 'ids')).stdout).toBe('25\n24\n');
  const named = await list('--name', 'L', '--limit', '2', '-o', 'csv', '--fields', 'name');
  expect(named.stdout).toBe('name\nBella\nLuna\n');
});

test.each([
  ['--category', 'Dragons', 5, "category 'Dragons': no category has this name"],
  ['--category', '', 2, '--category: must not be empty'],
  ['--category', '99999999999999999999', 2, 'must be an integer from 0 to 9223372036854775807'],
  ['--status', 'lost', 2, 'available, pending, sold'],
  ['--limit', '0', 2, "--limit '0': must be an integer from 1"],
  ['--limit', 'ten', 2, '--limit'],
])('refuses %s %j with exit %i', async (flag, value, code, message) => {
  const run = await list(flag, value);
  expect(run).toMatchObject({ code, stdout: '' });
  expect(run.stderr).toContain(message);
});

const bodies: Readonly<Record<string, readonly object[]>> = {
  '/pets': [
    { id: 1, name: 'A', categoryId: 1 },
    { id: 2, name: 'B', categoryId: 2, status: 'sold' },
    { id: 3, name: 'C', categoryId: 2, status: 'pending' },
  ],
  '/store/orders': [{ id: 1, petId: 1, complete: true }, { id: 2, petId: 2, complete: false }, { id: 3 }],
  '/store/inventory': [
    { petId: 4, quantity: 1, status: 'available' },
    { petId: 5, quantity: 9, status: 'sold' },
  ],
};

test.each([
  ['pets list --status sold', '/pets?status=sold&limit=1000', '2'],
  ['pets list --status available', '/pets?status=available&limit=1000', '1'],
  ['pets list --category 2 --limit 1', '/pets?categoryId=2&limit=1', '2'],
  ['orders list --complete', '/store/orders?complete=true&limit=1000', '1'],
  ['orders list --open', '/store/orders?complete=false&limit=1000', '2 3'],
  ['orders list --pet 2', '/store/orders?petId=2&limit=1000', '2'],
  ['inventory list --status sold', '/store/inventory?status=sold&limit=1000', '5'],
])('filters here if the service ignores its own filters: %s', async (words, path, ids) => {
  await using server = await recordingServer({}, (seen) => ({ body: bodies[seen.path.split('?')[0] ?? ''] }));
  const run = await runAt(server, `${words} -o ids`);
  expect(run).toMatchObject({ code: 0, stdout: ids.replace(/(\d+) ?/g, '$1\n') });
  expect(server.seen[0]?.path).toBe(path);
});

test('refuses a name that two categories have, and lists their ids', async () => {
  const dogs = [1, 7].map((id) => ({ id, name: 'Dogs' }));
  await using server = await recordingServer({ '/categories?limit=1000': dogs });
  const run = await runAt(server, 'pets list --category Dogs');
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('hint: give its id: 1, 7\n');
  expect(server.seen.map(({ path }) => path)).toEqual(['/categories?limit=1000']);
});

test('shows the id of a category if categories cannot be read', async () => {
  const pets = [{ id: 1, name: 'Rex', categoryId: 9007199254740, status: 'sold' }];
  await using server = await recordingServer({ '/pets?limit=1000': pets });
  const run = await runAt(server, 'pets list');
  const stdout = 'id  name  category       status\n 1  Rex   9007199254740  sold\n';
  expect(run).toMatchObject({ code: 0, stdout });
  expect(run.stderr).toContain('note: categories are shown by id');
});

test('reads no categories if the column is not shown', async () => {
  await using server = await recordingServer({ '/pets?limit=1000': [], '/categories?limit=1000': [] });
  await runAt(server, 'pets list -o json');
  await runAt(server, 'pets list --fields id,name');
  expect(server.seen.map(({ path }) => path)).toEqual(['/pets?limit=1000', '/pets?limit=1000']);
});

test('requests the categories at the same time as the pets', async () => {
  const held: ServerResponse[] = [];
  const server = createServer((_, response) => {
    held.push(response);
    if (held.length < 2) return;
    for (const each of held) each.setHeader('content-type', 'application/json').end('[]');
  });
  const port = await listenHere(server);
  const run = await runAt({ url: `http://127.0.0.1:${port}` }, 'pets list --timeout 2s');
  server.close();
  expect(run).toMatchObject({ code: 0, stdout: 'id  name  category  status\n' });
});

test('requests no more pets and pages than it shows', async () => {
  await using server = await recordingServer({}, ({ path }) => {
    const url = new URL(path, 'http://x');
    const [after = 0, limit = 0] = ['after', 'limit'].map((name) => Number(url.searchParams.get(name) ?? 0));
    url.searchParams.set('after', String(after + limit));
    const body = Array.from({ length: limit }, (_, at) => ({ id: after + 1 + at, name: 'x', categoryId: 1 }));
    return { body, headers: { link: `<${url.pathname}${url.search}>; rel="next"` } };
  });
  const run = await runAt(server, 'pets list --limit 1500 -o ids');
  expect(run.stdout.trim().split('\n')).toHaveLength(1500);
  expect(server.calls()).toEqual(['GET /pets?limit=750', 'GET /pets?limit=750&after=750']);
});

test('without a target, names the ways to give one, and the profiles if none is active', async () => {
  const run = await runCli('pets list');
  expect(run).toMatchObject({ code: 2, stdout: '' });
  for (const way of ['--base-url', 'profile create', '--offline']) expect(run.stderr).toContain(way);
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), '{"profiles":{"staging":{"base-url":"http://a"}}}');
  const { stderr } = await runCli('pets list', { env: { PETSTORE_CONFIG_DIR: folder } });
  expect(stderr).toContain('choose a profile with --profile <name> (staging)');
});
