import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { Argument, verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { helpColumns } from './columns.ts';
import { topicNames } from './topic-names.ts';

/** `petstore help <topic>`; the words of a command never come here. @see expandHelp */
export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    examples: ['petstore help pets list', ...topicNames.map((name) => `petstore help ${name}`)],
  })
    .addArgument(new Argument('[words...]', `a command, or ${topicNames.join(', ')}`))
    .action(async ([name]) => {
      const topic = topicNames.find((each) => each === name);
      if (!topic)
        throw new UsageError(
          `help: no topic '${name ?? ''}'`,
          'help goes before all flags; see `petstore --help`',
        );
      const { topics, topicText } = await import('./topics.ts');
      await context.io.stdout.write(topicText(topics[topic], helpColumns(context.io)));
    });
}

/**
 * `help pets list` means `pets list --help`, and so do `pets help list`, `--help pets list` and `pets --help list`; a
 * topic stays what it is.
 */
export function expandHelp(words: readonly string[]): readonly string[] {
  const [first = '', second = ''] = words;
  if (asksForHelp(first))
    return topicNames.some((name) => name === second) ? ['help', second] : [...words.slice(1), '--help'];
  if (first.startsWith('-') || !asksForHelp(second)) return words;
  return [first, ...words.slice(2), '--help'];
}

function asksForHelp(word: string): boolean {
  return word === 'help' || word === '--help' || word === '-h';
}
