import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { monotonicMs } from '../../src/process/deadline.ts';
import { InterruptedError } from '../../src/process/errors.ts';
import { type Exchange, misbehave } from '../helpers/misbehaving-server.ts';
import { connect, transports } from './connect.ts';
import * as mode from './modes.ts';

const connections = 3;
const set = { id: 1n, body: { quantity: 5 } };

describe.concurrent.each(Object.entries(transports))('over %s', (name, open) => {
  test('no more sockets are open than allowed, and they are reused', async () => {
    const slowly = (exchange: Exchange) => setTimeout(() => mode.wellBehaved(exchange), 5);
    await using server = await misbehave(mode.always(slowly));
    const client = await connect(open, server.url, { connections });
    await Promise.all(Array.from({ length: 30 }, () => client.write('updateInventory', set)));
    expect(server.requests).toHaveLength(30);
    expect(server.mostOpen).toBeLessThanOrEqual(connections);
    expect(server.connections).toBeLessThanOrEqual(connections);
  });

  test('a reset on a connection that was used before is retried for a PUT, and not for a POST', async () => {
    const onlyOnce = (exchange: Exchange) =>
      exchange.numberOnConnection === 1 ? mode.wellBehaved(exchange) : mode.reset(exchange);
    await using server = await misbehave(mode.always(onlyOnce));
    const client = await connect(open, server.url, { connections: 1 });
    await client.write('updateInventory', set);
    expect(await client.write('updateInventory', set)).toMatchObject({
      verdict: 'shown',
      attempt: { number: 2 },
    });
    const created = await client.write('createCategory', { body: { name: 'Dogs' } });
    expect(created.attempt).toMatchObject({ number: 1, isSent: true });
    // A single command gives a POST a connection of its own.
    expect(created.reason?.code).toBe(name === 'node:http' ? undefined : 'reset');
  });

  test('a queued request ends at its deadline and is never sent', async () => {
    await using server = await misbehave(mode.always(mode.silence));
    const client = await connect(open, server.url, { connections, retries: 0, timeoutMs: 3000 });
    const startMs = monotonicMs();
    // Those in the queue end while every connection is still taken.
    const calls = Array.from({ length: 9 }, (_, at) =>
      client.write('updateInventory', set, { deadlineMs: startMs + (at < connections ? 3000 : 1000) }),
    );
    const results = await Promise.all(calls);
    expect(results.map(({ reason }) => reason?.code)).toEqual(Array(9).fill('timeout'));
    expect(results.map(({ attempt }) => attempt?.isSent)).toEqual(
      Array.from(calls, (_, at) => at < connections),
    );
    await sleep(100);
    expect(server.requests).toHaveLength(connections);
  });

  test('an abort ends every call with its reason, and closes its socket', async () => {
    const sockets: Exchange['socket'][] = [];
    await using server = await misbehave(mode.always(({ socket }) => void sockets.push(socket)));
    const controller = new AbortController();
    const client = await connect(open, server.url, { connections, signal: controller.signal });
    const calls = Array.from({ length: 5 }, () =>
      client.write('updateInventory', set).catch((error) => ({ verdict: 'unsent', error })),
    );
    while (server.requests.length < connections) await sleep(10);
    controller.abort(new InterruptedError('SIGINT'));
    const verdicts = (await Promise.all(calls)).map(({ verdict, error }) => {
      expect(error).toBeInstanceOf(InterruptedError);
      return verdict;
    });
    expect(verdicts).toEqual(Array.from(calls, (_, at) => (at < connections ? 'pending' : 'unsent')));
    await vi.waitUntil(() => sockets.every(({ closed }) => closed), { timeout: 100_000 });
  });
});
