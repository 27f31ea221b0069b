import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLiveLine } from '../../src/output/live-line.ts';
import { fakeIo, type RunOptions } from '../helpers/run-cli.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** What is written after the terminal of 80 columns was made narrower. */
function afterNarrowing(columns: number, env: Record<string, string> = {}): string {
  const fake = fakeIo({ terminals: ['stderr'], env });
  let width = 80;
  const stderr = Object.defineProperties(
    { ...fake.stderr },
    { width: { get: () => width } },
  ) as typeof fake.stderr;
  const line = createLiveLine({ ...fake, stderr });
  let text = `\x1b[32m${'━'.repeat(30)}\x1b[39m${'x'.repeat(40)}`;
  line.show(() => text);
  vi.advanceTimersByTime(100);
  const before = fake.written('stderr').length;
  width = columns;
  text = 'short';
  vi.advanceTimersByTime(100);
  return fake.written('stderr').slice(before);
}

test('a line that a narrowed terminal has folded is erased completely', () => {
  expect(afterNarrowing(80)).toBe('\r\x1b[Kshort');
  expect(afterNarrowing(70)).toBe('\r\x1b[Kshort');
  expect(afterNarrowing(60)).toBe('\r\x1b[1A\x1b[Jshort');
  expect(afterNarrowing(20)).toBe('\r\x1b[3A\x1b[Jshort');
});

test('xterm does not fold, so the line above stays', () => {
  expect(afterNarrowing(20, { XTERM_VERSION: 'XTerm(390)' })).toBe('\r\x1b[Kshort');
});

test('the activity that began first is shown until it ends', () => {
  const fake = fakeIo({ terminals: ['stderr'] });
  const line = createLiveLine(fake);
  const hideFirst = line.show(() => 'first');
  const hideSecond = line.show(() => 'second');
  vi.advanceTimersByTime(100);
  hideFirst();
  vi.advanceTimersByTime(100);
  hideSecond();
  vi.advanceTimersByTime(1000);
  expect(fake.written('stderr').split('\r\x1b[K')).toEqual(['', 'first', '', 'second', '']);
});

test('a text is drawn again only if it changes, or after other output', () => {
  const fake = fakeIo({ terminals: ['stderr'] });
  const line = createLiveLine(fake);
  line.show(() => 'same');
  vi.advanceTimersByTime(1000);
  line.clear();
  vi.advanceTimersByTime(1000);
  expect(fake.written('stderr').split('\r\x1b[K')).toEqual(['', 'same', '', 'same']);
});

test('nothing is drawn after the line was closed', () => {
  const fake = fakeIo({ terminals: ['stderr'] });
  const line = createLiveLine(fake);
  const hide = line.show(() => 'text');
  vi.advanceTimersByTime(100);
  line.close();
  vi.advanceTimersByTime(1000);
  hide();
  expect(fake.written('stderr')).toBe('\r\x1b[Ktext\r\x1b[K');
});

test('a long text is cut to the width of the terminal', () => {
  const fake = fakeIo({ terminals: ['stderr'], columns: 10 });
  createLiveLine(fake).show(() => 'x'.repeat(20));
  vi.advanceTimersByTime(100);
  expect(fake.written('stderr')).toBe(`\r\x1b[K${'x'.repeat(9)}`);
});

const terminal: RunOptions = { terminals: ['stderr'] };

test.each<[string, RunOptions]>([
  ['a pipe', {}],
  ['a CI job', { ...terminal, env: { CI: '1' } }],
  ['a dumb terminal', { ...terminal, env: { TERM: 'dumb' } }],
])('nothing is drawn on %s', (_, run) => {
  const fake = fakeIo(run);
  const line = createLiveLine(fake);
  line.show(() => 'text');
  vi.advanceTimersByTime(1000);
  expect(fake.written('stderr')).toBe('');
});
