import { afterEach, expect, test, vi } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import { makePlan } from '../../src/bulk/plan.ts';
import { Rows } from '../../src/bulk/rows.ts';
import { defaultFlags } from '../../src/bulk/run-flags.ts';
import { Session } from '../../src/bulk/session.ts';
import { writeRows } from '../../src/bulk/write.ts';
import type { CallOptions } from '../../src/client/call.ts';
import type { Client } from '../../src/client/client.ts';

afterEach(() => vi.useRealTimers());

/** A client whose service never answers: a call ends when it is abandoned. */
function silentClient(): Client {
  const call = async (_: string, __: unknown, options: CallOptions) => {
    const { signal } = options;
    await options.beforeAttempt?.();
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  };
  return { contract: builtInContract, call } as unknown as Client;
}

test('requests in flight when a run stops have 10 seconds, and then their rows are unknown', async () => {
  vi.useFakeTimers();
  const rows = new Rows();
  for (let id = 1; id <= 5; id += 1) rows.add({ id, quantity: 1, line: id });
  const flags = { ...defaultFlags, blind: true };
  const identity = { kind: 'apply', sha256: '', target: '', flags } as const;
  const session = new Session(
    { identity, name: 'stock.csv', file: null, rows, guards: [], input: undefined },
    {
      ...{ client: silentClient(), mostErrors: 100, concurrency: 2, rate: undefined, maxRetryWaitMs: 1000 },
      readPetStatus: async () => 'available',
    },
  );
  let isDone = false;
  const written = writeRows(await makePlan(session)).then(() => {
    isDone = true;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  session.stop.stop({ kind: 'interrupted', message: 'interrupted' });
  await vi.advanceTimersByTimeAsync(9900);
  expect(isDone).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(isDone).toBe(true);
  await written;
  expect(rows.countStates()).toMatchObject({ unknown: 2, unprocessed: 3 });
});
