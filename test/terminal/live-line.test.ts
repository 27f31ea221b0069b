import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withProgress } from '../../src/output/progress.ts';
import { openStreams } from '../../src/output/streams.ts';
import { plainStyle } from '../../src/output/style.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { fakeIo, type RunOptions } from '../helpers/run-cli.ts';

beforeEach(() => void vi.useFakeTimers({ now: new Date('2027-11-21T02:15:00Z') }));
afterEach(() => void vi.useRealTimers());

const terminal: RunOptions = { terminals: ['stderr'], columns: 100 };
const erase = '\r\x1b[K';

/** A process with its live line. */
function open(run: RunOptions = terminal) {
  const fake = fakeIo(run);
  const { io, liveLine: line } = openStreams(fake, createSecrets());
  const written = () => fake.written('stderr');
  const drawn = () => written().split(erase);
  return { io, line, written, drawn, last: () => drawn().at(-1) };
}

test('a text is drawn again only if it changes, or after other output, which replaces it', async () => {
  const { io, line, written } = open({ ...terminal, columns: 10 });
  line.show(() => 'x'.repeat(20));
  await vi.advanceTimersByTimeAsync(1000);
  await io.stderr.write('note\n');
  await vi.advanceTimersByTimeAsync(1000);
  // A long text is cut to the width of the terminal.
  const shown = `${erase}${'x'.repeat(7)}`;
  expect(written()).toBe(`${shown}${erase}note\n${shown}`);
});

type State = ReturnType<Parameters<typeof withProgress>[1]['read']>;

function start(run: RunOptions = terminal) {
  const { io, line, ...shown } = open(run);
  const state: { -readonly [Key in keyof State]: State[Key] } = { done: 0, total: 20_000, failed: 0 };
  const options = { label: 'applying', unit: 'rows', read: () => state };
  let stop = () => {};
  const promise = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const context = { io, liveLine: line, isQuiet: false, style: async () => plainStyle };
  void withProgress(context, options, () => promise);
  return { state, stop, ...shown };
}

test('a terminal shows the progress as one bar until the work stops', async () => {
  const { state, stop, last, drawn, written } = start();
  Object.assign(state, { done: 9000, failed: 3 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(last()).toBe('applying  ━━━━━━━━━━━━━─────────────────  9,000/20,000 rows  3 failed  9,000/s');
  expect(drawn().length).toBeLessThanOrEqual(11);
  stop();
  await vi.advanceTimersByTimeAsync(0);
  const before = written();
  expect(before.endsWith(erase)).toBe(true);
  await vi.advanceTimersByTimeAsync(1000);
  expect(written()).toBe(before);
});

test.each([20, 40, 60, 80, 140])('the bar fits a terminal of %i columns', async (columns) => {
  const { state, last } = start({ ...terminal, columns });
  Object.assign(state, { done: 9000, failed: 12_345 });
  await vi.advanceTimersByTimeAsync(200);
  expect(last()?.length).toBeLessThan(columns);
});

const counted = { done: 9000, failed: 3 };
const unknownSize = { done: 1_234_567, total: undefined };

test.each<[string, RunOptions, object, string]>([
  ['a pipe', {}, counted, '9,000/20,000 rows, 3 failed, 900/s'],
  ['a pipe', {}, unknownSize, '1,234,567 rows, 123,457/s'],
  ['a pipe', {}, { ...counted, wait: 'no answer' }, '9,000/20,000 rows, 3 failed, no answer'],
  ['a CI job', { ...terminal, env: { CI: '1' } }, unknownSize, '1,234,567 rows, 123,457/s'],
  ['a dumb terminal', { ...terminal, env: { TERM: 'dumb' } }, unknownSize, '1,234,567 rows, 123,457/s'],
])('%s gets a plain line of progress every ten seconds, with the time', async (_, run, counts, facts) => {
  const { state, written } = start(run);
  Object.assign(state, counts);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written()).toBe(`2027-11-21T02:15:10Z applying: ${facts}\n`);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written()).toContain('\n2027-11-21T02:15:20Z applying: ');
});
