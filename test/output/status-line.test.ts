import { expect, test } from 'vitest';
import { createStatusLine } from '../../src/output/status-line.ts';
import { fakeIo } from '../helpers/run-cli.ts';

/** What is written after the terminal of 80 columns was made narrower. */
function afterNarrowing(columns: number, env: Record<string, string> = {}): string {
  const fake = fakeIo({ terminals: ['stderr'], env });
  let width = 80;
  const stderr = Object.defineProperties(
    { ...fake.stderr },
    { columns: { get: () => width } },
  ) as typeof fake.stderr;
  const { line } = createStatusLine({ ...fake, stderr });
  line.show(`\x1b[32m${'━'.repeat(30)}\x1b[39m${'x'.repeat(40)}`);
  const before = fake.written('stderr').length;
  width = columns;
  line.show('short');
  return fake.written('stderr').slice(before);
}

test('a line that a narrower terminal has folded is taken away whole', () => {
  expect(afterNarrowing(80)).toBe('\r\x1b[Kshort');
  expect(afterNarrowing(70)).toBe('\r\x1b[Kshort');
  expect(afterNarrowing(60)).toBe('\r\x1b[1A\x1b[Jshort');
  expect(afterNarrowing(20)).toBe('\r\x1b[3A\x1b[Jshort');
});

test('xterm folds nothing, and loses nothing that stands above', () => {
  expect(afterNarrowing(20, { XTERM_VERSION: 'XTerm(390)' })).toBe('\r\x1b[Kshort');
});
