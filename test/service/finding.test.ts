import { describe, expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { sparse, warehouse } from '../helpers/descriptions.ts';
import { type Reply, recordingServer, type Seen } from '../helpers/recording-server.ts';
import { type Run, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Looks for a description and binds it, without storing what was bound. */
function bind(...argv: string[]): Promise<Run> {
  return runCli(['api', 'bind', ...argv, '--dry-run', '--retries', '0']);
}

const page: Reply = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Welcome: a shop</title>',
};

describe('a service leads to its description', () => {
  test('by a link with rel="service-desc", whatever the status', async () => {
    const link = '</about>; rel="about", <docs/api.json>; rel="service-desc"';
    await using server = await recordingServer({ '/docs/api.json': sparse }, () => ({
      status: 404,
      headers: { link },
    }));
    const result = await bind(server.url);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain(`found the description at ${server.url}/docs/api.json`);
  });

  test('in spite of an address that redirects to a login on another origin, which is never asked', async () => {
    await using login = await recordingServer({ '/': sparse });
    await using server = await recordingServer({ '/v3/api-docs': sparse }, () => ({
      status: 302,
      headers: { location: login.url },
    }));
    const result = await bind(server.url);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain(`found the description at ${server.url}/v3/api-docs`);
    expect(login.seen).toEqual([]);
  });

  test.each(['/openapi.json', '/openapi.yaml', '/v3/api-docs', '/swagger/v1/swagger.json', '/swagger.json'])(
    'by the usual path %s, ignoring web pages that answer 200',
    async (path) => {
      await using server = await recordingServer({ [path]: sparse }, () => page);
      const result = await bind(`${server.url}/`);
      expect(result.code).toBe(0);
      expect(result.stderr).toContain(`found the description at ${server.url}${path}`);
    },
  );

  test('below its base URL first, and then below its origin', async () => {
    await using server = await recordingServer({ '/v2/openapi.json': warehouse, '/openapi.json': sparse });
    const below = await bind('--base-url', `${server.url}/v2`);
    expect(below.stderr).toContain(`${server.url}/v2/openapi.json`);
    expect((await bind(`${server.url}/v1`)).stderr).toContain(`at ${server.url}/openapi.json`);
  });

  test('by the first of several', async () => {
    await using server = await recordingServer({ '/openapi.json': sparse, '/swagger.json': toOpenApi() });
    expect((await bind(server.url)).stderr).toContain(`at ${server.url}/openapi.json`);
  });
});

test('without a description, the error lists what was tried; another origin is never asked', async () => {
  await using other = await recordingServer({ '/openapi.json': sparse });
  const headers = { link: `<${other.url}/openapi.json>; rel="service-desc"` };
  await using server = await recordingServer({}, (seen: Seen) =>
    seen.path === '/' ? { ...page, headers } : { status: 404 },
  );
  const refused = await bind(server.url);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  const words = refused.stderr.replace(/\s+/g, ' ');
  for (const part of [
    `${server.url}/ (200, not a description)`,
    `${other.url}/openapi.json (of another origin)`,
    '/openapi.yaml (404)',
  ])
    expect(words).toContain(part);
  expect(other.seen).toEqual([]);
});

test('without an argument and a base URL, the command is refused', async () => {
  const refused = await bind();
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('no base URL is set');
});

test('a service that does not answer is unavailable', async () => {
  expect(await bind('http://127.0.0.1:9')).toMatchObject({ code: 6 });
});

describe('a document from a URL', () => {
  test('is fetched with the documents on its origin that it refers to, and with no other', async () => {
    await using other = await recordingServer({ '/a.yaml': 'get: {}' });
    const list = {
      content: { 'application/json': { schema: { type: 'array', items: { $ref: 'Pet.yaml' } } } },
    };
    await using server = await recordingServer({
      '/docs/openapi.json': { openapi: '3.0.0', paths: { '/pets': { get: { responses: { 200: list } } } } },
      '/docs/Pet.yaml': 'type: object\nproperties: { id: {}, name: {}, categoryId: {} }',
      '/bad.json': { openapi: '3.0.0', paths: { '/a': { $ref: `${other.url}/a.yaml` } } },
    });
    const result = await bind(`${server.url}/docs/openapi.json`);
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/listPets +bound +GET +\/pets +answers an array of Pet/);
    const refused = await bind(`${server.url}/bad.json`);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('of its own origin only');
    expect(other.seen).toEqual([]);
  });

  test('is asked with the credential only with --with-token, and only on the origin of the service', async () => {
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
    const sent = docs.seen.map(({ headers }) => headers.authorization);
    expect(sent).toEqual([undefined, undefined, undefined, 'Bearer secret']);
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
    const sent = docs.seen.map(({ headers }) => headers['x-api-key']);
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
    expect(docs.seen).toEqual([]);
  });
});
