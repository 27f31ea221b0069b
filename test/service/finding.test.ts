import { describe, expect, test } from 'vitest';
import { sparse } from '../helpers/descriptions.ts';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { failed, type Run, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Finds a description and binds it, without storing the binding. */
function bind(...argv: string[]): Promise<Run> {
  return runCli(['api', 'bind', ...argv, '--dry-run', '--retries', '0']);
}

const page: Reply = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Welcome: a shop</title>',
};

const missing: Reply = { status: 404 };
const usualPaths =
  '/openapi.json /openapi.yaml /v3/api-docs /swagger.json /swagger/v1/swagger.json /api-json /api/schema /doc /openapi/json'.split(
    ' ',
  );

test.each<[how: string, paths: readonly string[], answer: Reply, from: string]>([
  ...usualPaths.map((path): [string, readonly string[], Reply, string] => [
    `by the usual path ${path}, ignoring web pages that answer 200`,
    [path],
    page,
    '/',
  ]),
  ['below its address', ['/v2/openapi.json', '/openapi.json'], missing, '/v2'],
  ['by the first of several', ['/openapi.json', '/swagger.json'], missing, ''],
])('a service leads to its description %s', async (_, paths, answer, from) => {
  const documents = Object.fromEntries(paths.map((path) => [path, sparse]));
  await using server = await recordingServer(documents, () => answer);
  const found = expect.stringContaining(`found the description at ${server.url}${paths[0]}\n`);
  for (const argv of [[server.url + from], ['--base-url', server.url + from]])
    expect(await bind(...argv)).toMatchObject({ code: 0, stderr: found });
});

test('an address that redirects to a login leads to its description without the login, past a path without an answer', async () => {
  await using login = await recordingServer({ '/': sparse });
  await using server = await recordingServer({ '/v3/api-docs': sparse }, ({ path }) =>
    path === '/openapi.json' ? 'reset' : { status: 302, headers: { location: login.url } },
  );
  const { code, stderr } = await bind(server.url);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${server.url}/v3/api-docs`)]);
  expect(login.requests).toEqual([]);
});

test.each<[address: string, calls: readonly string[]]>([
  ['/v1.0', ['', ...usualPaths].map((path) => `GET /v1.0${path}`)],
  ['/v2/openapi.json', ['GET /v2/openapi.json']],
])(
  'an address is searched below itself alone, and one that names a file leads to no other: %s',
  async (address, calls) => {
    await using server = await recordingServer({ '/openapi.json': sparse });
    const refused = await bind(server.url + address);
    expect(refused).toMatchObject(failed(2, `with \`petstore api bind ${server.url}\``));
    expect(server.calls()).toEqual(calls);
  },
);

test('a service that does not answer is unavailable', async () => {
  expect(await bind('http://127.0.0.1:9')).toMatchObject(
    failed(6, 'connection refused (GET http://127.0.0.1:9/)\n'),
  );
});

describe('a document from a URL', () => {
  test('is asked with the credential only with --with-token, on another origin too', async () => {
    await using docs = await recordingServer({ '/openapi.json': sparse });
    const env = { PETSTORE_TOKEN: 'secret', PETSTORE_CONFIG_DIR: temporaryFolder() };
    const run = (line: string) => runCli(line, { env });
    const url = `${docs.url}/openapi.json`;
    await run('profile create far --base-url http://127.0.0.1:9');
    await run(`profile create near --base-url ${docs.url}/v1`);
    expect(await run(`api bind ${url} --profile far --with-token`)).toMatchObject({ code: 0 });
    await run(`api bind ${url} --profile near`);
    await run(`api bind ${url} --base-url http://127.0.0.1:9 --with-token`);
    await run(`api bind ${url} --profile near --with-token`);
    const sent = docs.requests.map(({ headers }) => headers.authorization);
    const bearer = 'Bearer secret';
    expect(sent).toEqual([bearer, undefined, bearer, bearer]);
  });

  test('gets headers of -H only on the origin of the service, --with-token or not', async () => {
    await using docs = await recordingServer({ '/openapi.json': sparse });
    const env = { PETSTORE_TOKEN: 'secret', PETSTORE_CONFIG_DIR: temporaryFolder() };
    const url = `${docs.url}/openapi.json`;
    for (const base of ['http://127.0.0.1:9', docs.url])
      for (const more of [[], ['--with-token']])
        await runCli(['api', 'bind', url, '--base-url', base, '-H', 'X-Api-Key: key-of-shop', ...more], {
          env,
        });
    const sent = docs.requests.map(({ headers }) => headers['x-api-key']);
    expect(sent).toEqual([undefined, undefined, 'key-of-shop', 'key-of-shop']);
  });

  test('is not read at an address with a password, which is shown nowhere', async () => {
    await using docs = await recordingServer({ '/openapi.json': sparse });
    const env = { PETSTORE_CONFIG_DIR: temporaryFolder() };
    const url = `${docs.url.replace('//', '//me:p4ssw0rd@')}/openapi.json`;
    const run = await runCli(['api', 'bind', url, '--base-url', docs.url, '-vv'], { env });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('must not carry a user name or password');
    expect(run.stderr).not.toMatch(/p4ssw0rd|me:/);
    expect(docs.requests).toEqual([]);
  });
});
