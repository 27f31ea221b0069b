import { type IncomingHttpHeaders, request as open } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { seedStore } from '../../src/server/seed.ts';
import { listen, type RunningServer, startServer } from '../../src/server/server.ts';
import { withFaults } from '../../src/server/wrappers.ts';
import { runAt } from '../helpers/run-cli.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function clientsOf({ url, close }: RunningServer) {
  onTestFinished(close);
  return {
    url,
    close,
    send(
      method: string,
      path: string,
      { body = '', ...headers }: Record<string, string> = {},
    ): Promise<Answer> {
      return new Promise((resolve, reject) => {
        const request = open(url + path, { method, headers, agent: false }, async (response) => {
          let text = '';
          for await (const chunk of response) text += chunk;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
        request.on('error', reject).end(body);
      });
    },
  };
}

const here = { host: '127.0.0.1', port: 0 };

async function start(options: Partial<Parameters<typeof listen>[1]> = {}) {
  return clientsOf(await startServer({ ...here, store: seedStore(), ...options }));
}

const json = { 'content-type': 'application/json' };
const rex = '{"name":"Rex","categoryId":1}';
const fine: HttpResponse = { status: 200, headers: {}, body: 'fine' };

test('the server answers over HTTP as the app does in process, in UTF-8', async () => {
  const { send } = await start();
  const created = await send('POST', '/pets', { ...json, body: rex });
  expect(created).toMatchObject({ status: 201, headers: { location: '/pets/26', ...json } });
  expect(await send('DELETE', '/pets/26')).toMatchObject({ status: 204, body: '' });
  const head = await send('HEAD', '/pets/1');
  expect(head).toMatchObject({ status: 200, body: '' });
  expect(Number(head.headers['content-length'])).toBe((await send('GET', '/pets/1')).body.length);
  await send('POST', '/categories', { ...json, body: '{"name":"Käfer 甲虫"}' });
  expect(JSON.parse((await send('GET', '/categories/7')).body)).toEqual({ id: 7, name: 'Käfer 甲虫' });
});

test('the next link has the host of the request', async () => {
  const { send, url } = await start();
  const host = `localhost:${new URL(url).port}`;
  const { headers } = await send('GET', '/pets?limit=1', { host });
  expect(headers.link).toBe(`<http://${host}/pets?limit=1&after=1>; rel="next"`);
});

const ownHosts =
  'localhost 127.0.0.1 127.9.9.9:1 LOCALHOST:80 shop.localhost a.shop.localhost [::1]:4010 localhost.';
const otherHosts =
  'evil.example|localhost.evil.example|127.0.0.1.evil.example|10.0.0.1|localhost@evil|[|x y.localhost|localhost..|' +
  '.localhost|127.999.999.999|localhost/pets|localhost/..|localhost?|localhost:80:80';

test('the server accepts requests for any name of this machine, and for no other host', async () => {
  const { send } = await start();
  const answered = async (host: string) => {
    const { status, body } = await send('GET', '/pets/1', { host });
    return [host, status, JSON.parse(body).code];
  };
  for (const host of ownHosts.split(' ')) expect(await answered(host)).toEqual([host, 200, undefined]);
  for (const host of otherHosts.split('|'))
    expect(await answered(host)).toEqual([host, 421, 'misdirected_request']);
});

test('the server accepts the name of --host, and any address if it listens on every address', async () => {
  const named = await start({ host: 'localhost' });
  expect(named.url).toMatch(/^http:\/\/localhost:\d+$/);
  expect((await named.send('GET', '/pets/1')).status).toBe(200);
  const { send } = await start({ host: '0.0.0.0' });
  expect((await send('GET', '/pets/1', { host: '192.168.7.7:4010' })).status).toBe(200);
  expect((await send('GET', '/pets/1', { host: 'evil.example' })).status).toBe(421);
});

test('the server refuses pages of other origins, and sends no CORS headers', async () => {
  const { send } = await start();
  for (const origin of ['https://evil.example', 'null', 'file://', 'http://localhost.evil.example'])
    expect(JSON.parse((await send('GET', '/pets/1', { origin })).body)).toMatchObject({
      code: 'forbidden_origin',
      status: 403,
    });
  const local = await send('GET', '/pets/1', { origin: 'http://localhost:3000' });
  expect(local.status).toBe(200);
  expect(Object.keys(local.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test('the server refuses a body over 1 MiB with the reason, whether its length is known or not', async () => {
  const { send } = await start();
  const body = ' '.repeat(2 * 1024 * 1024);
  for (const how of [{ 'content-length': String(body.length) }, { 'transfer-encoding': 'chunked' }]) {
    const refused = await send('POST', '/pets', { ...json, ...how, body });
    expect(refused.status).toBe(413);
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'payload_too_large' });
  }
  expect((await send('GET', '/pets/1')).status).toBe(200);
});

test('the server says what is wrong with a request that it cannot read', async () => {
  const { send } = await start();
  const answers = [await send('BREW', '/pets'), await send('GET', '/pets', { 'x-big': '.'.repeat(20_000) })];
  expect(answers.map(({ status, body }) => [status, JSON.parse(body).code])).toEqual([
    [400, 'invalid_request'],
    [431, 'headers_too_large'],
  ]);
});

test('an app that throws is a 500 without the reason, and the next request is answered', async () => {
  const defects: unknown[] = [];
  let crash = true;
  const app = (): HttpResponse => {
    if (crash) throw new Error('secret');
    return fine;
  };
  const { send } = clientsOf(await listen(app, { ...here, onDefect: (error) => defects.push(error) }));
  expect(JSON.parse((await send('GET', '/')).body)).toEqual({
    code: 'internal',
    message: 'the server failed on this request',
    status: 500,
  });
  expect(defects).toHaveLength(1);
  crash = false;
  expect((await send('GET', '/')).body).toBe('fine');
});

test('the server serves its description and /healthz, and refuses writes to them', async () => {
  const { send } = await start();
  expect(await send('GET', '/healthz')).toMatchObject({ status: 200, body: '{"status":"ok"}' });
  expect(JSON.parse((await send('GET', '/openapi.json')).body)).toMatchObject({ openapi: '3.0.3' });
  const yaml = await send('GET', '/openapi.yaml?x=1');
  expect(yaml.headers['content-type']).toBe('application/yaml');
  expect(yaml.body).toMatch(/^openapi: "3.0.3"\n/);
  expect(await send('POST', '/openapi.json', json)).toMatchObject({
    status: 405,
    headers: { allow: 'GET, HEAD' },
  });
});

test('closing does not wait forever for a response that never comes', async () => {
  let isAsked = false;
  const app = () => {
    isAsked = true;
    return new Promise<HttpResponse>(() => {});
  };
  const { send, close } = clientsOf(await listen(app, here));
  const waiting = send('GET', '/').catch((error: Error) => error);
  await expect.poll(() => isAsked).toBe(true);
  await close();
  expect(await waiting).toBeInstanceOf(Error);
});

describe('a server with a token, for the pages of an origin', () => {
  const page = 'http://localhost:3000';
  const bearer = 'Bearer meow';
  let server: RunningServer;
  beforeAll(async () => {
    const options = { host: '127.0.0.1', port: 0, token: 'meow', origins: [page] };
    server = await startServer({ ...options, store: seedStore() });
  });
  afterAll(() => server.close());

  const call = (path: string, headers: Record<string, string>, method = 'GET') =>
    fetch(server.url + path, { method, headers });

  test('answers the API with 401 to requests that do not bear the token, and its documents to all', async () => {
    const wrong: Record<string, string>[] = [{}, { authorization: 'Bearer purr' }, { authorization: 'meow' }];
    for (const headers of wrong) {
      const answer = await call('/pets/3', headers);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await answer.json()).toMatchObject({ code: 'unauthorized', status: 401 });
    }
    expect((await call('/healthz', {})).status).toBe(200);
    const env = { PETSTORE_BASE_URL: server.url, PETSTORE_TOKEN: 'meow' };
    expect(await runAt(server, 'pets get 3 -o ids', { env })).toMatchObject({ code: 0 });
    expect(await runAt(server, 'pets get 3 -o ids')).toMatchObject({ code: 4 });
  });

  test('answers the preflight of a page of the origin, which may read each answer, and refuses other pages', async () => {
    const preflight = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const { status, headers } = await call('/pets', { origin: page, ...preflight }, 'OPTIONS');
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, page]);
    expect(headers.get('access-control-allow-methods')).toContain('POST');
    expect(headers.get('access-control-allow-headers')).toBe(
      'authorization, content-type, if-match, if-none-match',
    );
    for (const [path, authorization] of [
      ['/pets?limit=1', bearer],
      ['/nowhere', bearer],
      ['/openapi.json', bearer],
      ['/pets/3', 'none'],
    ] as const) {
      const answer = await call(path, { origin: page, authorization });
      expect(answer.headers.get('access-control-allow-origin')).toBe(page);
      expect(answer.headers.get('vary')).toBe('origin');
    }
    const other = await call('/pets', { origin: 'https://elsewhere.example', authorization: bearer });
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });
});

describe('an app with faults', () => {
  const request = { method: 'GET', url: 'http://shop.test/pets', headers: {} };
  let done = 0;
  const app = () => {
    done += 1;
    return { status: 200, headers: {}, body: 'fine' };
  };

  test('fails the given share of requests, and does not carry them out', async () => {
    const random = vi.spyOn(Math, 'random');
    onTestFinished(() => random.mockRestore());
    const faulty = withFaults(app, { errorRate: 0.25 });
    random.mockReturnValueOnce(0.24).mockReturnValueOnce(0.25);
    expect([(await faulty(request)).status, (await faulty(request)).status, done]).toEqual([503, 200, 1]);
  });

  test('answers no request before its latency', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const answer = withFaults(app, { latencyMs: 60 })(request);
    await vi.advanceTimersByTimeAsync(59);
    expect(await Promise.race([answer, 'waits'])).toBe('waits');
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toMatchObject({ status: 200 });
  });
});
