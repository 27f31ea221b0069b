import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type ProgressState, startProgress } from '../../src/output/progress.ts';
import { openStreams } from '../../src/output/streams.ts';
import { plainStyle } from '../../src/output/style.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { fakeIo, type RunOptions } from '../helpers/run-cli.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const terminal: RunOptions = { terminals: ['stderr'], columns: 100 };

function start(run: RunOptions, mode: Parameters<typeof startProgress>[2]['mode'] = 'auto') {
  const fake = fakeIo(run);
  const { io, liveLine } = openStreams(fake, createSecrets());
  const state: { -readonly [Key in keyof ProgressState]: ProgressState[Key] } = {
    done: 0,
    total: 20_000,
    failed: 0,
    concurrency: 8,
  };
  const options = { mode, label: 'applying', unit: 'rows', style: plainStyle, read: () => state };
  const stop = startProgress(io, liveLine, options);
  return { io, state, stop, written: () => fake.written('stderr') };
}

test('a terminal shows one bar with all facts', async () => {
  const { state, written } = start(terminal);
  Object.assign(state, { done: 9000, failed: 3 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(written().split('\r\x1b[K').at(-1)).toBe(
    'applying  ━━━━━━━━━─────────────  45%  9,000/20,000 rows  3 failed  0:02 left  9,000/s  8 at once',
  );
});

test('the bar is drawn at most ten times a second', async () => {
  const { written } = start(terminal);
  await vi.advanceTimersByTimeAsync(3000);
  expect(written().split('\r\x1b[K').length - 1).toBeLessThanOrEqual(30);
});

test.each([20, 40, 60, 80, 140])('the bar fits a terminal of %i columns', async (columns) => {
  const { state, written } = start({ ...terminal, columns });
  Object.assign(state, { done: 9000, failed: 12_345 });
  await vi.advanceTimersByTimeAsync(200);
  expect(written().split('\r\x1b[K').at(-1)?.length).toBeLessThan(columns);
});

test('the rate is that of the last seconds', async () => {
  const { state, written } = start(terminal);
  state.done = 10_000;
  await vi.advanceTimersByTimeAsync(20_000);
  state.done = 10_100;
  await vi.advanceTimersByTimeAsync(5000);
  expect(written().split('\r\x1b[K').at(-1)).toContain('  20/s');
});

test('other output replaces the bar', async () => {
  const { io, written } = start(terminal);
  await vi.advanceTimersByTimeAsync(100);
  await io.stderr.write('note: something\n');
  expect(written().endsWith('\r\x1b[Knote: something\n')).toBe(true);
});

test('the bar is erased when the work stops', async () => {
  const { stop, written } = start(terminal);
  await vi.advanceTimersByTimeAsync(100);
  await stop();
  expect(written().endsWith('\r\x1b[K')).toBe(true);
  const before = written();
  await vi.advanceTimersByTimeAsync(1000);
  expect(written()).toBe(before);
});

test('names rows that are unknown, and does not call them failed', async () => {
  const { state, written } = start({});
  Object.assign(state, { done: 9000, failed: 0, unknown: 2 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written()).toContain(' applying: 45%, 9,000/20,000 rows, 2 unknown, ');
});

test.each<[string, RunOptions]>([
  ['a pipe', {}],
  ['a terminal of a CI job', { ...terminal, env: { CI: 'true' } }],
  ['a dumb terminal', { ...terminal, env: { TERM: 'dumb' } }],
])('%s gets a plain line every ten seconds, with the time', async (_, run) => {
  vi.setSystemTime('2027-11-21T02:15:00Z');
  const { state, written } = start(run);
  Object.assign(state, { done: 9000, failed: 3 });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(written()).toBe(
    '2027-11-21T02:15:10Z applying: 45%, 9,000/20,000 rows, 3 failed, 0:13 left, 900/s, 8 at once\n'.concat(
      '2027-11-21T02:15:20Z applying: 45%, 9,000/20,000 rows, 3 failed, 0/s, 8 at once\n',
    ),
  );
});

test('work of unknown size is counted', async () => {
  vi.setSystemTime('2027-11-21T02:15:00Z');
  const { state, written } = start({});
  Object.assign(state, { done: 1_234_567, total: undefined, concurrency: undefined });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written()).toBe('2027-11-21T02:15:10Z applying: 1,234,567 rows, 123,457/s\n');
});

test('the mode none writes nothing', async () => {
  const { stop, written } = start(terminal, 'none');
  await vi.advanceTimersByTimeAsync(20_000);
  await stop();
  expect(written()).toBe('');
});
