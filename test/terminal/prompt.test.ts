import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPrompt } from '../../src/input/prompt.ts';
import { plainStyle } from '../../src/output/style.ts';
import { withKeyboard } from '../helpers/person.ts';

async function openPrompt() {
  const { io, keyboard } = withKeyboard();
  const prompt = await createPrompt(io, { signal: new AbortController().signal, style: plainStyle });
  const type = async (keys: string) => {
    await sleep(20);
    keyboard.write(keys);
  };
  return { io, prompt, type };
}

test('Ctrl-D ends a question instead of leaving it open', async () => {
  const { prompt, type } = await openPrompt();
  const answer = prompt.select('Category', [{ name: 'Dogs', value: 1n }]);
  await type('\x04');
  await expect(answer).rejects.toThrow('no answer: the input has ended');
});

test('foreign text in questions and choices becomes visible escapes', async () => {
  const { prompt, type, io } = await openPrompt();
  const answer = prompt.select('Where is \x1b[2J?', [{ name: 'here\x07', value: 1 }]);
  await type('\r');
  await answer;
  const drawn = io.written('stderr');
  expect(drawn).toContain('\\x1b[2J');
  expect(drawn).toContain('here\\x07');
  expect(drawn).not.toMatch(/\x1b\[2J|\x07|\x1b\]/);
});
