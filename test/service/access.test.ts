import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedStore } from '../../src/server/seed.ts';
import { type Listening, startServer } from '../../src/server/server.ts';
import { runCli } from '../helpers/run-cli.ts';

const page = 'http://localhost:3000';
let server: Listening;
beforeAll(async () => {
  server = await startServer({
    store: seedStore(),
    host: '127.0.0.1',
    port: 0,
    token: 'meow',
    origins: [page],
  });
});
afterAll(() => server.close());

const call = (path: string, headers: Record<string, string>, method = 'GET') =>
  fetch(server.url + path, { method, headers });

test('with a token, the API answers 401 to requests that do not bear it, and its documents are open', async () => {
  for (const headers of [{}, { authorization: 'Bearer purr' }, { authorization: 'meow' }]) {
    const answer = await call('/pets/3', headers as Record<string, string>);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await answer.json()).toMatchObject({ code: 'unauthorized', status: 401 });
  }
  expect((await call('/pets/3', { authorization: 'Bearer meow' })).status).toBe(200);
  expect((await call('/healthz', {})).status).toBe(200);
});

test('a client with PETSTORE_TOKEN is let in, one without it ends with 4', async () => {
  const list = (env: Record<string, string>) =>
    runCli(['pets', 'get', '3', '--base-url', server.url, '-o', 'ids'], { env });
  // A token of the environment belongs to the base URL of the environment.
  expect(await list({ PETSTORE_BASE_URL: server.url, PETSTORE_TOKEN: 'meow' })).toMatchObject({ code: 0 });
  expect(await list({})).toMatchObject({ code: 4 });
});

test('a page of an origin of --cors gets its preflight answered, and may read each answer', async () => {
  const preflight = await call(
    '/pets',
    {
      origin: page,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    },
    'OPTIONS',
  );
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe(page);
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
  expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
  for (const path of ['/pets?limit=1', '/nowhere', '/openapi.json']) {
    const answer = await call(path, { origin: page, authorization: 'Bearer meow' });
    expect(answer.headers.get('access-control-allow-origin')).toBe(page);
    expect(answer.headers.get('vary')).toBe('origin');
  }
  expect((await call('/pets/3', { origin: page })).headers.get('access-control-allow-origin')).toBe(page);
});

test('a page of another origin is refused, and is allowed to read nothing', async () => {
  const answer = await call('/pets', { origin: 'https://elsewhere.example', authorization: 'Bearer meow' });
  expect(answer.status).toBe(403);
  expect(answer.headers.get('access-control-allow-origin')).toBe(null);
});
