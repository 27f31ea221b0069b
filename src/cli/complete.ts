import { join } from 'node:path';
import type { Context } from '../context.ts';
import { withinLimits } from '../process/deadline.ts';
import { sanitize } from '../process/text.ts';
import { fixedWords, offersAt, printOffers, readTable } from './command-words.ts';
import type { LookUpKind } from './flag.ts';
import type { ParsedLine } from './parse-line.ts';
import type { Program } from './verb.ts';

/** The longest time that a Tab waits for names from the service, in milliseconds. */
const patienceMs = 300;

/**
 * Prints the possible completions of a command line, one a line: the word, and after a tab its description. The line `:file`
 * asks the shell for file names. It offers only words that begin like the current word.
 *
 * @param words the words of the line without their quotes, the last one as far as it is typed.
 * @param line the words before the last one.
 */
export async function complete(
  words: readonly string[],
  line: ParsedLine,
  context: Context,
  program: Program,
): Promise<void> {
  const { io } = context;
  const offered = offersAt(readTable(join(io.packageDir, 'dist')), words);
  if (offered.is !== 'values') return io.stdout.write(printOffers(offered));
  const { kind, operands, stem } = offered;
  const current = words.at(-1) ?? '';
  const cursor = {
    path: line.path,
    command: line.command,
    values: { ...line.args, ...line.flags },
    operands,
    prefix: current.slice(stem.length),
  };
  // A completion reports no error: what is not there in time is not offered.
  const found = await withinLimits({ limitMs: patienceMs }, async () =>
    program.lookUp(kind as LookUpKind, context, cursor),
  ).catch(() => []);
  const offers = found
    .map((offer) => (typeof offer === 'string' ? { word: offer, summary: '' } : offer))
    // A name with unsafe characters can neither be shown nor typed.
    .filter(({ word }) => sanitize(word) === word)
    .map(({ word, summary }) => ({ word, summary: sanitize(summary) }));
  await io.stdout.write(printOffers(fixedWords(offers, stem, current)));
}
