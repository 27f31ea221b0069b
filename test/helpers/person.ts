import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { type FakeIo, fakeIo, type Run, type RunOptions } from './run-cli.ts';

/** Creates a process whose stdin is a terminal, and the keyboard of that terminal. */
export function withKeyboard(options: RunOptions = {}): {
  readonly io: FakeIo;
  readonly keyboard: PassThrough;
} {
  const keyboard = new PassThrough();
  const io = fakeIo({ ...options, terminals: ['stdin', 'stderr'] });
  return {
    keyboard,
    io: { ...io, stdin: { isTerminal: true, isRead: false, bytes: () => keyboard, stream: keyboard } },
  };
}

/** Each text for which a person waits, and the keys that the person types then. */
export type Answers = readonly (readonly [text: string, keys: string])[];

/** Runs the program for a person at a terminal, who types each answer after its text has appeared. */
export async function runTyping(
  argv: readonly string[],
  answers: Answers,
  options: RunOptions = {},
): Promise<Run> {
  const { io, keyboard } = withKeyboard(options);
  const ended = main(argv, io);
  for (const [text, keys] of answers) {
    await vi.waitFor(() => expect(io.written('stderr')).toContain(text), { timeout: 5000, interval: 10 });
    await sleep(20);
    keyboard.write(keys);
  }
  return { code: await ended, stdout: io.written('stdout'), stderr: io.written('stderr') };
}
