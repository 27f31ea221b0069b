import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { seedStore } from '../../src/server/seed.ts';
import { type Listening, startServer } from '../../src/server/server.ts';
import { withFaults } from '../../src/server/wrappers.ts';
import { runAt } from '../helpers/run-cli.ts';

describe('a server with a token, for the pages of an origin', () => {
  const page = 'http://localhost:3000';
  const bearer = 'Bearer meow';
  let server: Listening;
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
