import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { CliError, OutputClosedError } from '../../src/process/errors.ts';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { fakeIo, type RunOptions, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Runs `api request` against a service that always gives the same response. `requests` has its requests. */
async function send(
  argv: readonly string[],
  reply: Reply = { body: { ok: true } },
  options: RunOptions = {},
) {
  await using server = await recordingServer({}, () => reply);
  const target = ['--base-url', `${server.url}/v1`, '--retries', '0'];
  const run = await runCli(['api', 'request', ...argv, ...target], options);
  return { ...run, requests: server.requests };
}

describe('the request', () => {
  test('goes below the base URL, fields of a GET in its query', async () => {
    const run = await send(['get', 'pets:all?a=1', '-f', 'status=sold', '-f', 'name=R & B']);
    expect(run).toMatchObject({ code: 0, stdout: '{"ok":true}', stderr: '' });
    expect(run.requests).toMatchObject([
      { method: 'GET', path: '/v1/pets:all?a=1&status=sold&name=R+%26+B' },
    ]);
  });

  test('has its fields as text, or as JSON behind `:=`', async () => {
    const fields = ['name=007', 'categoryId:=9007199254740993', 'vip:=true', 'note=null', 'tags:=["a"]'];
    const { requests } = await send(['POST', '/pets', ...fields.flatMap((field) => ['-f', field])]);
    expect(requests[0]).toMatchObject({
      body: '{"name":"007","categoryId":9007199254740993,"vip":true,"note":"null","tags":["a"]}',
      headers: { 'content-type': 'application/json' },
    });
  });

  test('has the bytes of a file or of stdin as its body, and its fields in the query', async () => {
    const path = join(temporaryFolder(), 'body');
    await writeFile(path, ' {"a": 1}\n');
    const { requests } = await send(['PUT', '/x', '--input', path, '-f', 'q=1']);
    expect(requests[0]).toMatchObject({ path: '/v1/x?q=1', body: ' {"a": 1}\n' });
    const csv = ['--input', '-', '-H', 'Content-Type: text/csv'];
    const piped = await send(['POST', '/x', ...csv], {}, { stdin: 'a,b\n' });
    expect(piped.requests[0]).toMatchObject({ body: 'a,b\n', headers: { 'content-type': 'text/csv' } });
    const deletion = await send(['DELETE', '/x', '--input', '-'], {}, { stdin: '{"a":"é"}' });
    expect(deletion.requests[0]).toMatchObject({ body: '{"a":"é"}', headers: { 'content-length': '10' } });
  });

  test('carries the credential, and only to the service', async () => {
    const env = { PETSTORE_TOKEN: 'secret' };
    const { requests } = await send(['GET', '/pets'], {}, { env });
    expect(requests[0]?.headers.authorization).toBe('Bearer secret');
    const other = await send(['GET', 'http://127.0.0.1:9/pets'], {}, { env });
    expect(other).toMatchObject({ code: 2, stdout: '', requests: [] });
  });

  test('is shown and not sent with --dry-run', async () => {
    const { stdout, requests } = await send(['POST', '/pets', '-f', 'name=Rex', '--dry-run', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ method: 'POST', body: { name: 'Rex' } });
    const text = await send(['PUT', '/pets', '--input', '-', '--dry-run'], {}, { stdin: 'a "b"\n' });
    expect(text.stdout.split('\n\n')[1]).toBe('a "b"\n');
    expect([...requests, ...text.requests]).toEqual([]);
  });

  test.each([
    ['FETCH /pets', "METHOD 'FETCH': must be one of GET, HEAD, OPTIONS, POST"],
    ['GET /pets -f status', 'must be name=value'],
    ['POST /pets -f a:={', "-f a '{': must be JSON"],
    ['GET /pets --input -', 'takes no --input'],
    ['POST /pets --input /nonexistent/file', 'no such file'],
    ['POST /pets --input /nonexistent/file --json', '"code":"invalid_input"'],
  ])('is not sent for %s', async (line, why) => {
    const run = await send(line.split(' '));
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(why), requests: [] });
  });
});

describe('the output', () => {
  const controls = { body: 'a\r\n\tb\u001b[31m\r\u202e', headers: { 'x-a': 'b' } };

  test('is the unchanged body, with -i after its head, and on a terminal has no control sequences', async () => {
    expect((await send(['GET', '/x'], controls)).stdout).toBe(controls.body);
    const piped = (await send(['GET', '/x', '-i'], { ...controls, status: 202 })).stdout;
    expect(piped).toMatch(/^HTTP\/1\.1 202 Accepted\n/);
    expect(piped.endsWith(`\n\n${controls.body}`)).toBe(true);
    const { stdout } = await send(['GET', '/x', '-i'], controls, { terminals: ['stdout'] });
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\n(.+\n)*x-a: b\n/);
    expect(stdout.endsWith('\n\na\\x0d\n\tb\\x1b[31m\\x0d\\u202e\n')).toBe(true);
  });

  test.each([
    [400, 1],
    [401, 4],
    [404, 5],
    [500, 6],
  ])('is the body for status %i too, with exit code %i', async (status, code) => {
    const body = { code: 'x', message: 'because', status };
    const run = await send(['GET', '/x'], { status, body });
    expect(run).toMatchObject({
      code,
      stdout: JSON.stringify(body),
      stderr: expect.stringContaining('because'),
    });
  });

  const tryIt = 'warning: the service asks tools not to try out listOrders (x-hideTryItPanel)\n';

  test.each<[what: string, line: string, reply: Reply, stderr: string]>([
    ['nothing for another operation', 'GET /pets', { body: [] }, ''],
    ['that the service asks not to offer the operation', 'GET /store/orders', { body: [] }, tryIt],
  ])('says %s', async (_, line, reply, stderr) => {
    const run = await send(line.split(' '), reply);
    expect([run.code, run.stderr.replace(/\n(?=.)/g, ' ')]).toEqual([0, stderr]);
  });
});

test.each<[status: number, failure: Error, code: number, stderr: string]>([
  [
    201,
    new CliError('failed', 'write to stdout: full'),
    1,
    'warning: the service answered 201\nerror: write to stdout: full\n',
  ],
  [201, new OutputClosedError(), 0, ''],
  [422, new OutputClosedError(), 1, 'error: unprocessable (POST'],
])(
  'says what the service answered, %i, if the answer cannot be written: %s',
  async (status, failure, code, stderr) => {
    await using server = await recordingServer({}, () => ({ status, body: { message: 'unprocessable' } }));
    const io = fakeIo();
    const write = () => Promise.reject(failure);
    const argv = ['api', 'request', 'POST', '/x', '--base-url', server.url];
    expect(await main(argv, { ...io, stdout: { ...io.stdout, write } })).toBe(code);
    expect(io.written('stderr').startsWith(stderr)).toBe(true);
  },
);
