import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchSilence } from '../../src/commands/smoke/display.ts';
import { connect } from '../../src/connect.ts';
import { createContext } from '../../src/context.ts';
import { type FakeIo, fakeIo, type RunOptions } from '../helpers/run-cli.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'hrtime'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function watched(options: RunOptions): { io: FakeIo; silence: ReturnType<typeof watchSilence> } {
  const io = fakeIo(options);
  return { io, silence: watchSilence(createContext(io, connect)) };
}

test('the terminal shows that a check takes over a second, until its result comes', () => {
  const { io, silence } = watched({ terminals: ['stderr'] });
  vi.advanceTimersByTime(900);
  expect(io.written('stderr')).toBe('');
  silence.end();
  vi.advanceTimersByTime(2000);
  expect(io.written('stderr')).toBe(
    [1, 2].map((seconds) => `\r\x1b[Kwaiting for the service ${seconds} s, 1 check is done`).join(''),
  );
  silence.close();
  expect(io.written('stderr')).toMatch(/\r\x1b\[K$/);
  vi.advanceTimersByTime(5000);
  expect(io.written('stderr')).toMatch(/done\r\x1b\[K$/);
});

test.each<RunOptions>([
  {},
  { terminals: ['stderr'], env: { CI: 'true' } },
  { terminals: ['stderr'], env: { TERM: 'dumb' } },
])('nothing is drawn without a person at the terminal: %j', (options) => {
  const { io } = watched(options);
  vi.advanceTimersByTime(5000);
  expect(io.written('stderr')).toBe('');
});
