import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPrompt, type Prompt } from '../../src/input/prompt.ts';
import { plainStyle } from '../../src/output/style.ts';
import { InterruptedError, UsageError } from '../../src/process/errors.ts';
import { seated } from '../helpers/person.ts';
import type { FakeIo } from '../helpers/run-cli.ts';

interface Seat {
  readonly io: FakeIo;
  readonly prompt: Prompt;
  readonly abort: AbortController;
  type(keys: string): Promise<void>;
}

async function sit(): Promise<Seat> {
  const { io, keyboard } = seated();
  const abort = new AbortController();
  const prompt = await createPrompt(io, { signal: abort.signal, style: plainStyle });
  return {
    io,
    prompt,
    abort,
    async type(keys) {
      await sleep(20);
      keyboard.write(keys);
    },
  };
}

const categories = ['Dogs', 'Cats'].map((name, at) => ({ name, value: BigInt(at) }));

test('Ctrl-D ends a question instead of leaving it open', async () => {
  const { prompt, type } = await sit();
  const answer = prompt.select('Category', categories);
  await type('\x04');
  await expect(answer).rejects.toThrow(UsageError);
});

test('an interrupt from elsewhere ends the question with its own reason', async () => {
  const { prompt, abort } = await sit();
  const answer = prompt.select('Category', categories);
  abort.abort(new InterruptedError('SIGTERM'));
  await expect(answer).rejects.toMatchObject({ exitCode: 143 });
});

test('foreign text in questions and choices becomes visible escapes', async () => {
  const { prompt, type, io } = await sit();
  const answer = prompt.select('Where is \x1b[2J?', [{ name: 'here\x07', value: 1 }]);
  await type('\r');
  await answer;
  const drawn = io.written('stderr');
  expect(drawn).toContain('\\x1b[2J');
  expect(drawn).toContain('here\\x07');
  expect(drawn).not.toMatch(/\x1b\[2J|\x07|\x1b\]/);
});
