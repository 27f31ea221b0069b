import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPrompt } from '../../src/input/prompt.ts';
import { plainStyle } from '../../src/output/style.ts';
import { InterruptedError, UsageError } from '../../src/process/errors.ts';
import { seated } from '../helpers/person.ts';

async function sit() {
  const { io, keyboard } = seated({ env: { TERM: 'dumb' } });
  const abort = new AbortController();
  const prompt = await createPrompt(io, { signal: abort.signal, style: plainStyle });
  const type = async (...lines: string[]) => {
    for (const line of lines) {
      await sleep(20);
      keyboard.write(`${line}\n`);
    }
  };
  return { io, prompt, abort, keyboard, type };
}

const categories = ['Dogs', 'Cats', 'Hot dogs'].map((name, at) => ({ name, value: BigInt(at) }));

test('writes only plain lines to a dumb terminal', async () => {
  const { prompt, type, io } = await sit();
  const answers = (async () => [
    await prompt.text('Name', { refuse: (text) => (text === '' ? 'must not be empty' : undefined) }),
    await prompt.text('Na\x1bme', { initial: 'Mia' }),
    await prompt.confirm('Delete pet 1?'),
    await prompt.confirm('Delete pet 2?'),
    await prompt.select('Category', categories),
    await prompt.search('Category', categories),
  ])();
  await type('', 'Rex', '', 'y', '', '2', 'dogs', '9', 'Hot');
  expect(await answers).toEqual(['Rex', 'Mia', true, false, 1n, 2n]);
  expect(io.written('stderr')).toBe(
    'Name must not be empty\nName Na\\x1bme (Mia) Delete pet 1? (y/N) Delete pet 2? (y/N) ' +
      'Category:\n   1  Dogs\n   2  Cats\n   3  Hot dogs\nNumber or name: ' +
      'Category:\n   1  Dogs\n   2  Cats\n   3  Hot dogs\nNumber or name: which of them: Dogs, Hot dogs?\n' +
      'Number or name: that is none of them\nNumber or name: ',
  );
  expect(io.written('stdout')).toBe('');
});

test('ends the question at the end of the input, and at Ctrl-C', async () => {
  const one = await sit();
  const unanswered = one.prompt.confirm('Delete?');
  one.keyboard.end();
  await expect(unanswered).rejects.toBeInstanceOf(UsageError);
  const other = await sit();
  const broken = other.prompt.confirm('Delete?');
  setTimeout(() => other.abort.abort(new InterruptedError('SIGINT')), 20);
  await expect(broken).rejects.toBeInstanceOf(InterruptedError);
  expect(other.io.written('stderr')).toBe('Delete? (y/N) \n');
});
