import { Writable } from 'node:stream';
import { plainStyle, type Style, withoutColor } from '../output/style.ts';
import { CliError, interruption, isInterruption, UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { sanitize } from '../process/text.ts';

/** Asks questions on stderr. Ctrl-C throws an interruption, the end of the input UsageError. */
export interface Prompt {
  /** Asks for a text until it can be parsed, and returns its value. @param parse throws a CliError that says what is wrong */
  text<Value>(message: string, parse: (text: string) => Value | Promise<Value>): Promise<Value>;
  /** Asks for yes or no. Enter alone means no. */
  confirm(message: string): Promise<boolean>;
  select<Value>(
    message: string,
    choices: readonly { readonly name: string; readonly value: Value }[],
  ): Promise<Value>;
}

interface PromptOptions {
  /** Ends a question when it is aborted. Its reason is thrown. */
  readonly signal: AbortSignal;
  readonly style: Style;
}

/** The number of choices that a list shows at a time. */
const pageSize = 10;

/** Creates the prompt of a terminal, drawn on stderr. */
export async function createPrompt(io: Io, options: PromptOptions): Promise<Prompt> {
  const { input, confirm, select } = await import('@inquirer/prompts');
  const ask = <Value>(question: (streams: Streams) => Promise<Value>) => answerTo(io, options, question);
  return {
    async text(question, parse) {
      const validate = async (text: string) => {
        try {
          await parse(text);
          return true;
        } catch (error) {
          if (error instanceof CliError) return sanitize(error.message);
          throw error;
        }
      };
      return parse(await ask((streams) => input({ message: sanitize(question), validate }, streams)));
    },
    confirm: (question) =>
      ask((streams) => confirm({ message: sanitize(question), default: false }, streams)),
    select(question, choices) {
      const safeChoices = choices.map(({ name, value }) => ({ name: sanitize(name), value }));
      return ask((streams) =>
        select({ message: sanitize(question), choices: safeChoices, pageSize }, streams),
      );
    },
  };
}

interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

/** Asks a question. @throws an interruption or UsageError if it is not answered. */
async function answerTo<Value>(
  io: Io,
  { signal, style }: PromptOptions,
  question: (streams: Streams) => Promise<Value>,
): Promise<Value> {
  const output = createOutput(io, style);
  const input = (io.stdin.isTerminal ? undefined : io.keyboard()) ?? io.stdin.stream;
  const inputEnd = new AbortController();
  // At Ctrl-D inquirer closes its reader, which pauses the stream, and then waits forever. An answer closes the reader too, but then
  // the question settles within this turn of the event loop.
  const end = () =>
    setImmediate(() =>
      inputEnd.abort(new UsageError('no answer: the input has ended', undefined, 'declined')),
    );
  const onHangup = () => inputEnd.abort(interruption('SIGHUP'));
  input.on('pause', end).on('end', end).on('error', onHangup);
  const stop = AbortSignal.any([signal, inputEnd.signal]);
  const listeners = new Set(input.listeners('error'));
  try {
    const answer = question({ input, output, signal: stop });
    // readline emits an error of the input again on its interface, which has no listener. When the terminal hangs up, that would end
    // the process at once.
    for (const listener of input.listeners('error'))
      if (!listeners.has(listener)) input.off('error', listener as () => void);
    return await answer;
  } catch (error) {
    const isCtrlC = error instanceof Error && error.name === 'ExitPromptError';
    const cause = stop.aborted ? stop.reason : isCtrlC ? interruption('SIGINT') : error;
    // All questions come before the first write.
    throw isInterruption(cause) ? cause.with({}, 'interrupted, nothing was written') : cause;
  } finally {
    input.off('pause', end).off('end', end).off('error', onHangup);
    await new Promise((resolve) => output.end(resolve));
  }
}

/** Creates a stream that writes to stderr, and that a question may end. It drops colours if stderr has none. */
function createOutput({ stderr }: Io, style: Style): Writable {
  const inStyle = (text: string) => (style === plainStyle ? withoutColor(text) : text);
  const stream = new Writable({
    write: (chunk, _, done) => void stderr.write(inStyle(String(chunk))).then(() => done(), done),
  });
  // If the reader of stderr has gone, the next write of the command reports that.
  stream.on('error', () => {});
  return Object.assign(stream, { isTTY: stderr.isTerminal, columns: stderr.width });
}
