import { describe, expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import type { Attempt } from '../../src/client/call.ts';
import type { Client } from '../../src/client/client.ts';
import { createClient } from '../../src/client/client.ts';
import { createNodeHttpTransport } from '../../src/client/transport/node-http.ts';
import { createUndiciTransport } from '../../src/client/transport/undici.ts';
import { InterruptedError } from '../../src/process/errors.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { type Exchange, misbehave } from '../helpers/misbehaving-server.ts';
import * as mode from './modes.ts';

const connections = 3;
const transports = { 'node:http': createNodeHttpTransport, undici: createUndiciTransport };
const set = { petId: 1n, body: { quantity: 5 } };
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.concurrent.each(Object.entries(transports))('over %s', (_, open) => {
  async function connect(
    baseUrl: string,
    more: { signal?: AbortSignal; retries?: number; timeoutMs?: number; sockets?: number } = {},
  ): Promise<Client> {
    const {
      signal = new AbortController().signal,
      retries = 4,
      timeoutMs = 10_000,
      sockets = connections,
    } = more;
    const transport = await open({ tls: {}, env: {}, connections: sockets, connectTimeoutMs: timeoutMs });
    return createClient({
      contract: builtInContract,
      baseUrl,
      transport,
      fields: {},
      timeoutMs,
      retries,
      signal,
      secrets: createSecrets(),
    });
  }

  test('no more sockets are open than allowed, and they are reused', async () => {
    const slowly = (exchange: Exchange) => setTimeout(() => mode.wellBehaved(exchange), 5);
    await using server = await misbehave(mode.always(slowly));
    const client = await connect(server.url);
    await Promise.all(Array.from({ length: 30 }, () => client.call('updateInventory', set)));
    await client.close();
    expect(server.requests).toHaveLength(30);
    expect(server.mostOpen).toBeLessThanOrEqual(connections);
    expect(server.connections).toBeLessThanOrEqual(connections);
  });

  test('a reset on a connection that was used before is retried for a PUT, and not for a POST', async () => {
    const onlyOnce = (exchange: Exchange) =>
      exchange.numberOnConnection === 1 ? mode.wellBehaved(exchange) : mode.reset(exchange);
    await using server = await misbehave(mode.always(onlyOnce));
    const client = await connect(server.url, { sockets: 1 });
    await client.call('updateInventory', set);
    expect(await client.call('updateInventory', set)).toMatchObject({ attempts: 2 });
    const post = client.call('createCategory', { body: { name: 'Dogs' } });
    await expect(post).rejects.toMatchObject({ reason: 'reset', sent: true, details: { attempts: 1 } });
    await client.close();
  });

  test('a queued request ends at its deadline and is never sent', async () => {
    await using server = await misbehave(mode.always(mode.silence));
    const client = await connect(server.url, { retries: 0 });
    // Those in the queue end while every connection is still taken.
    const calls = Array.from({ length: 9 }, (_, at) =>
      client
        .call('updateInventory', set, { timeoutMs: at < connections ? 700 : 300 })
        .catch((error) => error),
    );
    const errors = await Promise.all(calls);
    expect(errors.map(({ reason }) => reason)).toEqual(Array(9).fill('timeout'));
    expect(errors.map(({ sent }) => sent)).toEqual(Array.from(calls, (_, at) => at < connections));
    await sleep(100);
    expect(server.connections).toBe(connections);
    expect(server.requests).toHaveLength(connections);
    await client.close();
  });

  test('an abort ends every call at once with its reason, and closes the sockets', async () => {
    await using server = await misbehave(mode.always(mode.silence));
    const controller = new AbortController();
    const client = await connect(server.url, { signal: controller.signal });
    const calls = Array.from({ length: 5 }, () =>
      client.call('updateInventory', set).catch((error) => error),
    );
    while (server.requests.length < connections) await sleep(10);
    const reason = new InterruptedError('SIGINT');
    const started = performance.now();
    controller.abort(reason);
    expect(await Promise.all(calls)).toEqual(Array(5).fill(reason));
    expect(performance.now() - started).toBeLessThan(3000);
    await client.close();
  });

  test("the time in beforeAttempt and a Retry-After up to the caller's limit do not count against the deadline", async () => {
    const later = { status: 429, fields: { 'retry-after': '1', 'content-length': '0' } };
    await using server = await misbehave(
      mode.first(1, ({ socket }) =>
        socket.write(`HTTP/1.1 ${later.status} Later\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n`),
      ),
    );
    const client = await connect(server.url);
    const attempts: Attempt[] = [];
    const answer = await client.call('updateInventory', set, {
      timeoutMs: 800,
      maxRetryAfterMs: 2000,
      beforeAttempt: () => sleep(600) as Promise<void>,
      afterAttempt: (attempt) => attempts.push(attempt),
    });
    expect(answer.attempts).toBe(2);
    expect(attempts.map(({ response, retryAfterMs }) => [response?.status, retryAfterMs])).toEqual([
      [429, 1000],
      [200, undefined],
    ]);
    await client.close();
  });

  test("a Retry-After longer than the caller's limit ends the call", async () => {
    await using server = await misbehave(
      mode.always(({ socket }) =>
        socket.write('HTTP/1.1 503 Later\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n'),
      ),
    );
    const client = await connect(server.url);
    const call = client.call('updateInventory', set, { maxRetryAfterMs: 1000 });
    await expect(call).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('asks to wait 60 s'),
    });
    await client.close();
  });

  test('If-Match is sent with a write that has one', async () => {
    await using server = await misbehave(mode.always(mode.wellBehaved));
    const client = await connect(server.url);
    await client.call('updateInventory', set, { ifMatch: '"7"' });
    await client.close();
    expect(server.requests[0]?.fields['if-match']).toBe('"7"');
  });
});
