import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listenHere } from '../../helpers/listen.ts';
import { recordingServer } from '../../helpers/recording-server.ts';
import { runCli } from '../../helpers/run-cli.ts';

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

test('shows categoryId if --fields names it, and lists the fields there are', async () => {
  expect((await list('--limit', '1', '--fields', 'categoryId,name', '-o', 'csv')).stdout).toBe(
    'categoryId,name\n1,Bella\n',
  );
  expect((await list('--fields', 'help')).stdout).toBe('id\nname\ncategory\nstatus\ncategoryId\n');
  expect(await list('--fields', 'colour')).toMatchObject({ code: 2, stdout: '' });
});

test.each([
  ['--status', 'sold'],
  ['--category', '2'],
  ['--category', 'Cats'],
  ['--category', 'cats'],
])('filters by %s %s', async (flag, value) => {
  const { code, stdout } = await list(flag, value, '-o', 'jsonl');
  const pets = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  expect(pets.length).toBeGreaterThan(0);
  for (const pet of pets)
    expect(flag === '--status' ? pet.status : pet.categoryId).toBe(flag === '--status' ? 'sold' : 2);
});

test('matches any of several statuses, separated by commas or given with the flag again', async () => {
  const commas = await list('--status', 'sold,pending', '-o', 'csv', '--fields', 'status', '--no-header');
  expect(new Set(commas.stdout.trim().split('\n'))).toEqual(new Set(['sold', 'pending']));
  const again = ['--status', 'sold', '--status', 'pending'];
  expect((await list(...again, '-o', 'csv', '--fields', 'status', '--no-header')).stdout).toBe(commas.stdout);
});

test('prints an empty list as a header, [] or nothing, and exits 0', async () => {
  expect((await list('--category', '999')).stdout).toBe('id  name  category  status\n');
  expect((await list('--category', '999', '-o', 'json')).stdout).toBe('[]\n');
  expect((await list('--category', '999', '-o', 'ids')).stdout).toBe('');
});

test('applies --limit after --sort', async () => {
  expect((await list('--sort', '-id', '--limit', '2', '-o', 'ids')).stdout).toBe('25\n24\n');
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

test('refuses a name that two categories have, and lists their ids', async () => {
  await using server = await recordingServer({
    '/categories': [
      { id: 1, name: 'Dogs' },
      { id: 7, name: 'Dogs' },
    ],
  });
  const run = await runCli(['pets', 'list', '--category', 'Dogs', '--base-url', server.url]);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('hint: give its id: 1, 7\n');
  expect(server.seen.map(({ path }) => path)).toEqual(['/categories?limit=1000']);
});

test('shows the id of a category if categories cannot be read', async () => {
  await using server = await recordingServer({
    '/pets': [{ id: 1, name: 'Rex', categoryId: 9007199254740, status: 'sold' }],
  });
  const run = await runCli(['pets', 'list', '--base-url', server.url]);
  expect(run).toMatchObject({
    code: 0,
    stdout: 'id  name  category       status\n 1  Rex   9007199254740  sold\n',
  });
  expect(run.stderr).toContain('note: categories are shown by id');
});

test('reads no categories if the column is not shown', async () => {
  await using server = await recordingServer({ '/pets': [], '/categories': [] });
  await runCli(['pets', 'list', '-o', 'json', '--base-url', server.url]);
  await runCli(['pets', 'list', '--fields', 'id,name', '--base-url', server.url]);
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
  const run = await runCli(['pets', 'list', '--base-url', `http://127.0.0.1:${port}`, '--timeout', '2s']);
  server.close();
  expect(run).toMatchObject({ code: 0, stdout: 'id  name  category  status\n' });
});

test('requests no more pets and pages than it shows', async () => {
  const page = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ id: from + at, name: 'x', categoryId: 1, status: 'sold' }));
  await using server = await recordingServer({}, ({ path }) => {
    const url = new URL(path, 'http://x');
    const [after, limit] = [
      Number(url.searchParams.get('after') ?? 0),
      Number(url.searchParams.get('limit')),
    ];
    url.searchParams.set('after', String(after + limit));
    return { body: page(after + 1, limit), headers: { link: `<${url.pathname}${url.search}>; rel="next"` } };
  });
  const run = await runCli(['pets', 'list', '--limit', '1500', '-o', 'ids', '--base-url', server.url]);
  expect(run.stdout.trim().split('\n')).toHaveLength(1500);
  expect(server.calls()).toEqual(['GET /pets?limit=750', 'GET /pets?limit=750&after=750']);
});

test('without a target, names the ways to give one', async () => {
  const run = await runCli(['pets', 'list']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  for (const way of ['--base-url', 'profile create', '--offline']) expect(run.stderr).toContain(way);
});

test('without an active profile, lists the profiles', async () => {
  const home = mkdtempSync(join(tmpdir(), 'petstore-list-'));
  writeFileSync(join(home, 'config.json'), '{"profiles":{"staging":{"base-url":"http://a"}}}');
  const run = await runCli(['pets', 'list'], { env: { PETSTORE_CONFIG_DIR: home } });
  rmSync(home, { recursive: true });
  expect(run.stderr).toContain('choose a profile with --profile <name> (staging)');
});
