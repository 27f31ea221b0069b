import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { main } from '../../src/main.ts';
import { fakeIo, type Run } from './run-cli.ts';

/** Runs with a person at the terminal, who types each answer when a question waits for it. */
export async function answer(
  argv: readonly string[],
  answers: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const io = fakeIo({ terminals: ['stdin', 'stderr'], env });
  const keyboard = new PassThrough();
  const running = main(argv, { ...io, stdin: { isTerminal: true, bytes: () => keyboard, stream: keyboard } });
  let isDone = false;
  void running.finally(() => {
    isDone = true;
  });
  for (const text of answers) {
    const before = io.written('stderr').length;
    for (let waited = 0; io.written('stderr').length === before && waited < 500 && !isDone; waited += 1)
      await sleep(2);
    await sleep(15);
    keyboard.write(`${text}\r`);
  }
  return { code: await running, stdout: io.written('stdout'), stderr: io.written('stderr') };
}
