import { expect, test } from 'vitest';
import { canRedraw, openScreen } from '../../src/output/screen.ts';
import { fakeIo } from '../helpers/run-cli.ts';

const terminal = { terminals: ['stdout'], rows: 5 } as const;

test('each drawing replaces the one before in one write', async () => {
  const io = fakeIo(terminal);
  const screen = openScreen(io);
  await screen.draw(['one', 'two']);
  const first = io.written('stdout');
  await screen.draw(['three']);
  expect(first).toBe('\x1b[?25l\n\n\n\n\x1b[H\x1b[?7lone\x1b[K\ntwo\x1b[K\n\x1b[?7h\x1b[J');
  expect(io.written('stdout').slice(first.length)).toBe('\x1b[H\x1b[?7lthree\x1b[K\n\x1b[?7h\x1b[J');
});

test('lines beyond the height of the terminal are counted', async () => {
  const io = fakeIo(terminal);
  await openScreen(io).draw(['1', '2', '3', '4', '5', '6']);
  expect(io.written('stdout')).toContain('3\x1b[K\n… 3 more lines\x1b[K\n\x1b[?7h');
  expect(io.written('stdout')).not.toContain('4\x1b[K');
});

test('closing shows the cursor again, once, and only if something was drawn', async () => {
  const io = fakeIo(terminal);
  const screen = openScreen(io);
  await screen.close();
  expect(io.written('stdout')).toBe('');
  await screen.draw([]);
  await screen.close();
  await screen.close();
  expect(io.written('stdout').split('\x1b[?25h')).toHaveLength(2);
});

test('a pipe and a dumb terminal cannot be redrawn', () => {
  expect(canRedraw(fakeIo(terminal))).toBe(true);
  expect(canRedraw(fakeIo())).toBe(false);
  expect(canRedraw(fakeIo({ ...terminal, env: { TERM: 'dumb' } }))).toBe(false);
});
