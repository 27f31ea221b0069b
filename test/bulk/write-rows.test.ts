import { afterEach, expect, test, vi } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import { Ledger } from '../../src/bulk/ledger.ts';
import { Pace } from '../../src/bulk/pace.ts';
import { Rows } from '../../src/bulk/rows.ts';
import { Stop } from '../../src/bulk/stop.ts';
import { StopRules } from '../../src/bulk/stop-rules.ts';
import { writeRows } from '../../src/bulk/write-rows.ts';
import type { CallOptions, Client } from '../../src/client/client.ts';

afterEach(() => vi.useRealTimers());

/** A client whose service never answers: a call ends when it is given up. */
function silentClient(): Client {
  const call = async (_: string, __: unknown, options: CallOptions) => {
    const { signal } = options;
    await options.beforeAttempt?.();
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  };
  return { contract: builtInContract, call } as unknown as Client;
}

test('what is in flight when a run stops is waited for 10 seconds, and then unknown', async () => {
  vi.useFakeTimers();
  const rows = new Rows();
  for (let id = 1; id <= 5; id += 1) rows.add({ id, quantity: 1, line: id });
  const stop = new Stop();
  const pace = new Pace({ concurrency: 2, rate: undefined, maxRetryWaitMs: 1000 }, stop);
  const ledger = new Ledger(rows);
  let isDone = false;
  const written = writeRows({
    client: silentClient(),
    ledger,
    pace,
    stop,
    rules: new StopRules(stop),
    rows: rows.inState('unprocessed'),
    targetOf: (row) => ({ petId: rows.id(row), quantity: 1, mayCreate: false, mayHaveBeenSent: false }),
    starting: () => {},
    ready: () => undefined,
    readPetStatus: async () => 'available',
  }).then(() => {
    isDone = true;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  stop.stop({ kind: 'interrupted', message: 'interrupted' });
  await vi.advanceTimersByTimeAsync(9900);
  expect(isDone).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(isDone).toBe(true);
  await written;
  expect(rows.countStates()).toMatchObject({ unknown: 2, unprocessed: 3 });
});
