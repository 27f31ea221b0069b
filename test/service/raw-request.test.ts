import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { CliError } from '../../src/process/errors.ts';
import { type RecordingServer, type Reply, recordingServer } from '../helpers/recording-server.ts';
import { fakeIo, type Run, type RunOptions, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

async function send(
  argv: readonly string[],
  reply: Reply = { body: { ok: true } },
  options: RunOptions = {},
): Promise<{ run: Run; server: RecordingServer }> {
  await using server = await recordingServer({}, () => reply);
  const run = await runCli(
    ['api', 'request', ...argv, '--base-url', `${server.url}/v1`, '--retries', '0'],
    options,
  );
  return { run, server };
}

test('an answer of 304 is told, because it has no body', async () => {
  const { run } = await send(['get', '/pets', '-H', 'if-none-match: "1"'], { status: 304 });
  expect(run).toMatchObject({ code: 0, stdout: '' });
  expect(run.stderr).toContain('the service answered 304');
});

describe('the request', () => {
  test('goes below the base URL, fields of a GET in its query', async () => {
    const { run, server } = await send(['get', '/pets?a=1', '-f', 'status=sold', '-f', 'name=R & B']);
    expect(run).toMatchObject({ code: 0, stdout: '{"ok":true}', stderr: '' });
    expect(server.calls()).toEqual(['GET /v1/pets?a=1&status=sold&name=R+%26+B']);
  });

  test('has its fields as JSON, each with its type in the operation', async () => {
    const fields = [
      'name=007',
      'categoryId=9007199254740993',
      'vip=true',
      'note=null and void',
      'tags:=["a"]',
    ];
    const { server } = await send(['POST', '/pets', ...fields.flatMap((field) => ['-f', field])]);
    expect(server.seen[0]?.body).toBe(
      '{"name":"007","categoryId":9007199254740993,"vip":true,"note":"null and void","tags":["a"]}',
    );
    expect(server.seen[0]?.headers['content-type']).toBe('application/json');
  });

  test('has the bytes of a file or of stdin as its body; its fields then go to the query', async () => {
    const folder = temporaryFolder();
    await writeFile(join(folder, 'body'), ' {"a": 1}\n');
    const { server } = await send(['PUT', '/x', '--input', join(folder, 'body'), '-f', 'q=1']);
    expect(server.seen[0]).toMatchObject({ path: '/v1/x?q=1', body: ' {"a": 1}\n' });
    const piped = await send(
      ['POST', '/x', '--input', '-', '-H', 'Content-Type: text/csv'],
      {},
      { stdin: 'a,b\n' },
    );
    expect(piped.server.seen[0]).toMatchObject({ body: 'a,b\n', headers: { 'content-type': 'text/csv' } });
  });

  test('states the length of its body, also if it is a DELETE', async () => {
    const { run, server } = await send(['DELETE', '/x', '--input', '-'], {}, { stdin: '{"a":"é"}' });
    expect(run.code).toBe(0);
    expect(server.seen[0]).toMatchObject({ body: '{"a":"é"}', headers: { 'content-length': '10' } });
  });

  test('carries the credential, and only to the service', async () => {
    const env = { PETSTORE_TOKEN: 'secret' };
    const { server } = await send(['GET', '/pets'], {}, { env });
    expect(server.seen[0]?.headers.authorization).toBe('Bearer secret');
    const { run, server: other } = await send(['GET', 'http://127.0.0.1:9/pets'], {}, { env });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(other.seen).toEqual([]);
  });

  test('is shown and not sent with --dry-run', async () => {
    const { run, server } = await send(['POST', '/pets', '-f', 'name=Rex', '--dry-run', '-o', 'json']);
    expect(JSON.parse(run.stdout)).toMatchObject({ method: 'POST', body: { name: 'Rex' } });
    expect(server.seen).toEqual([]);
  });

  test.each([
    [['FETCH', '/pets'], 'is not a method'],
    [['GET', '/pets', '-f', 'status'], 'must be key=value'],
    [['POST', '/pets', '-f', 'a:={'], '-f a:={'],
    [['GET', '/pets', '--input', '-'], 'takes no --input'],
    [['POST', '/pets', '--input', '/nonexistent/file'], 'no such file'],
    [['GET', '/pets', '-o', 'csv'], '--output csv: api request prints the body as it came'],
    [['GET', '/pets', '-o', 'table'], '--output table: api request prints the body as it came'],
    [['GET', '/pets', '-o', 'yaml'], '--output yaml: api request prints the body as it came'],
  ])('is not sent for %j', async (argv, why) => {
    const { run, server } = await send(argv);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(why);
    expect(server.seen).toEqual([]);
  });
});

describe('the output', () => {
  test('is the unchanged body', async () => {
    const { run } = await send(['GET', '/x'], {
      body: 'a\r\n\tb\u001b[31m',
      headers: { 'content-type': 'text/plain' },
    });
    expect(run.stdout).toBe('a\r\n\tb\u001b[31m');
  });

  test('has no control sequences on a terminal', async () => {
    const body = 'a\n\tb\u001b[31m\r\u202e';
    const { run } = await send(
      ['GET', '/x', '-i'],
      { body, headers: { 'x-a': 'b' } },
      { terminals: ['stdout'] },
    );
    expect(run.stdout).toMatch(/^HTTP\/1\.1 200 OK\n/);
    expect(run.stdout).toContain('x-a: b\n');
    expect(run.stdout.endsWith('\n\na\n\tb\\x1b[31m\\x0d\\u202e\n')).toBe(true);
  });

  test('has the status line and the headers first with -i', async () => {
    const { run } = await send(['GET', '/x', '-i'], { status: 202, body: [], headers: { 'x-a': 'b' } });
    expect(run.stdout).toMatch(/^HTTP\/1\.1 202 Accepted\n(.+\n)*x-a: b\n(.+\n)*\n\[\]$/);
  });

  test.each([
    [400, 1],
    [401, 4],
    [404, 5],
    [500, 6],
  ])('is the body for status %i too, with exit code %i', async (status, code) => {
    const body = { code: 'x', message: 'because', status };
    const { run } = await send(['GET', '/x'], { status, body });
    expect(run).toMatchObject({ code, stdout: JSON.stringify(body) });
    expect(run.stderr).toContain('because');
  });

  test('comes with a warning if the service asks not to offer the operation to be tried', async () => {
    const { run } = await send(['GET', '/store/orders'], { body: [] });
    expect(run).toMatchObject({ code: 0, stdout: '[]' });
    expect(run.stderr).toContain(
      'warning: the service asks tools not to offer listOrders to be tried (x-hideTryItPanel)',
    );
    const other = await send(['GET', '/pets'], { body: [] });
    expect(other.run.stderr).toBe('');
  });

  test('comes with a warning if the operation is deprecated', async () => {
    const { run } = await send(['GET', '/pets/1', '-v'], { body: {}, headers: { deprecation: 'true' } });
    expect(run.stderr).toMatch(/^warning: api request uses an endpoint that is deprecated\n$/m);
    const quiet = await send(['GET', '/pets/1', '-q'], { body: {}, headers: { deprecation: 'true' } });
    expect(quiet.run.stderr).toBe('');
  });
});

test('says that the service answered if the answer cannot be written', async () => {
  await using server = await recordingServer({}, () => ({ status: 201, body: { id: 1 } }));
  const io = fakeIo();
  const write = async () => {
    throw new CliError('failed', 'write to stdout: no space left on device');
  };
  const argv = ['api', 'request', 'POST', '/x', '--base-url', server.url];
  expect(await main(argv, { ...io, stdout: { ...io.stdout, write } })).toBe(1);
  expect(io.written('stderr')).toBe(
    'note: the service answered 201\nerror: write to stdout: no space left on device\n',
  );
});
