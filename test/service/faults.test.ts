import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { type Faults, withFaults } from '../../src/server/faults.ts';
import { createRandom } from '../../src/server/random.ts';

const fine: HttpResponse = { status: 200, fields: {}, body: 'fine' };
let done = 0;

beforeEach(() => {
  done = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createApp(faults: Faults, seed = 1) {
  const app = () => {
    done += 1;
    return fine;
  };
  const faulty = withFaults(app, faults, createRandom(seed));
  return async () => faulty({ method: 'GET', url: 'http://shop.test/pets', fields: {} });
}

test('without faults every request is answered', async () => {
  expect(await createApp({})()).toBe(fine);
});

test('waits before each answer', async () => {
  vi.useRealTimers();
  const send = createApp({ latencyMs: 60 });
  const started = performance.now();
  await Promise.all([send(), send(), send()]);
  expect(performance.now() - started).toBeGreaterThanOrEqual(55);
});

test('fails the given share of requests without carrying them out, the same ones for the same seed', async () => {
  const run = async (seed: number) => {
    const send = createApp({ errorRate: 0.25 }, seed);
    const statuses: number[] = [];
    for (let at = 0; at < 400; at += 1) statuses.push((await send()).status);
    return statuses;
  };
  const statuses = await run(1);
  const failed = statuses.filter((status) => status === 503).length;
  expect(failed).toBeGreaterThan(70);
  expect(failed).toBeLessThan(130);
  expect(done).toBe(400 - failed);
  expect(await run(1)).toEqual(statuses);
  expect(await run(2)).not.toEqual(statuses);
});

test('lets the given number of requests a second through, and answers the others 429 with Retry-After', async () => {
  const send = createApp({ ratePerSecond: 5 });
  const statuses = async () => {
    const all: number[] = [];
    for (let at = 0; at < 8; at += 1) all.push((await send()).status);
    return all;
  };
  expect(await statuses()).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  const refused = await send();
  expect(refused.fields).toMatchObject({ 'retry-after': '1', 'content-type': 'application/json' });
  expect(JSON.parse(String(refused.body))).toMatchObject({ code: 'rate_limited', status: 429 });
  vi.advanceTimersByTime(400);
  expect(await statuses()).toEqual([200, 200, 429, 429, 429, 429, 429, 429]);
  vi.advanceTimersByTime(60_000);
  expect((await statuses()).filter((status) => status === 200)).toHaveLength(5);
});

test('with a rate below one a second, Retry-After is longer', async () => {
  const send = createApp({ ratePerSecond: 0.2 });
  expect((await send()).status).toBe(200);
  expect((await send()).fields['retry-after']).toBe('5');
});
