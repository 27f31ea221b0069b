import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { sanitize } from '../text.ts';
import { type Choice, matching, type Prompt, readable } from './question.ts';

/**
 * Questions for a terminal that handles nothing but line ends, such as one inside an editor: one line each, for the
 * question and for the answer.
 *
 * @param signal ends a question; its reason is thrown.
 */
export function createLinePrompt(io: Io, signal: AbortSignal): Prompt {
  const say = (text: string) => io.stderr.write(text);
  const ask = async (question: string): Promise<string> => {
    await say(`${question} `);
    try {
      return await readLine(io.stdin.stream, signal);
    } catch (error) {
      // The next output is not an answer and begins on its own line.
      await say('\n');
      throw error;
    }
  };
  /** Asks until an answer can be parsed, and says what is wrong with the others. */
  const askFor = async <Value>(
    question: string,
    read: (answer: string) => Value | Refused,
  ): Promise<Value> => {
    for (;;) {
      const value = read(await ask(question));
      if (!(value instanceof Refused)) return value;
      await say(`${value.why}\n`);
    }
  };
  const choose = async <Value>(question: string, choices: readonly Choice<Value>[]): Promise<Value> => {
    const offered = choices.map(readable);
    const lines = offered.map(({ name, description }, at) => {
      return `${String(at + 1).padStart(4)}  ${name}${description === undefined ? '' : `  ${description}`}\n`;
    });
    await say(`${sanitize(question)}:\n${lines.join('')}`);
    return askFor('Number or name:', (answer) => chosen(offered, answer.trim()));
  };
  return {
    text(question, { initial = '', refuse } = {}) {
      const shown = initial === '' ? '' : ` (${sanitize(initial)})`;
      return askFor(`${sanitize(question)}${shown}`, (answer) => {
        const text = answer === '' ? initial : answer;
        const why = refuse?.(text);
        return why === undefined ? text : new Refused(sanitize(why));
      });
    },
    confirm: async (question) => /^y(es)?$/i.test((await ask(`${sanitize(question)} (y/N)`)).trim()),
    select: choose,
    search: choose,
  };
}

/** An unusable answer, and why it is. */
class Refused {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

function chosen<Value>(
  choices: readonly { readonly name: string; readonly value: Value }[],
  answer: string,
): Value | Refused {
  const named = choices.find(({ name }) => name === answer) ?? choices[Number(answer) - 1];
  const [first, ...others] = named ? [named] : answer === '' ? [] : matching(choices, answer);
  if (first === undefined) return new Refused('that is none of them');
  return others.length === 0
    ? first.value
    : new Refused(`which of them: ${[first, ...others].map(({ name }) => name).join(', ')}?`);
}

/** @throws UsageError if the input ends; the reason of the signal if it is aborted. */
async function readLine(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input, terminal: false });
  const left = new AbortController();
  const stop = AbortSignal.any([signal, left.signal]);
  const ended = once(lines, 'close', { signal: stop }).then(() => undefined);
  try {
    const line = await Promise.race([once(lines, 'line', { signal: stop }), ended]);
    if (line === undefined) throw new UsageError('no answer: the input has ended');
    return String(line[0]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    ended.catch(() => {});
    left.abort();
    lines.close();
  }
}
