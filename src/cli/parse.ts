import { Command, Argument as CommanderArgument, CommanderError, Option } from 'commander';
import { UsageError } from '../errors.ts';
import { type Argument, type Flag, nameOf, takesValue } from './flag.ts';

interface Taken {
  readonly args?: Readonly<Record<string, Argument>>;
  readonly flags: Readonly<Record<string, Flag>>;
}

/**
 * Lets commander parse the words after the name of a command.
 *
 * @param name the command as errors name it: `petstore pets list`.
 * @returns the values of its arguments and flags, by their keys.
 * @throws UsageError that names the command and the mistake.
 */
export function parseWords(
  name: string,
  { args = {}, flags }: Taken,
  words: readonly string[],
): Record<string, unknown> {
  const command = new Command(name).helpOption(false).exitOverride();
  command.configureOutput({ writeErr: () => {}, outputError: () => {} });
  for (const argument of Object.values(args)) command.addArgument(toCommanderArgument(argument));
  for (const [key, flag] of Object.entries(flags)) command.addOption(new KeyedOption(key, flag));
  try {
    command.parse(closeOptionalValues(words, Object.values(flags)), { from: 'user' });
  } catch (thrown) {
    throw thrown instanceof CommanderError ? toUsageError(thrown, name) : thrown;
  }
  const operands = Object.keys(args).map((key, at) => [key, command.processedArgs[at]]);
  return { ...Object.fromEntries(operands), ...command.opts() };
}

/** An option whose value is stored under the flag's key in the verb. */
class KeyedOption extends Option {
  readonly #key: string;

  constructor(key: string, flag: Flag) {
    super(flag.written, flag.summary);
    this.#key = flag.stands?.key ?? key;
    const { parse, conflicts = [] } = flag;
    if (parse) this.argParser(parse);
    if (flag.stands) this.preset(flag.stands.value);
    else if (this.negate) this.preset(true).default(false);
    this.conflicts([...conflicts]);
  }

  override attributeName(): string {
    return this.#key;
  }
}

function toCommanderArgument({ written, summary, parse }: Argument): CommanderArgument {
  const argument = new CommanderArgument(written, summary);
  return parse ? argument.argParser(parse) : argument;
}

/**
 * Rewrites `--watch 5s` as `--watch=5s`, and a bare `--watch` as `--watch=`: otherwise commander would take any next
 * word as its value.
 */
function closeOptionalValues(words: readonly string[], flags: readonly Flag[]): string[] {
  const open = flags.filter((flag) => takesValue(flag) === 'optional');
  const closed: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') return [...closed, ...words.slice(at)];
    const next = words[at + 1];
    const flag = open.find((each) => nameOf(each) === word);
    if (!flag) closed.push(word);
    else if (next !== undefined && flag.accepts?.test(next)) {
      closed.push(`${word}=${next}`);
      at += 1;
    } else closed.push(`${word}=`);
  }
  return closed;
}

/** commander writes `error: <why>\n(Did you mean x?)`; its second line becomes the hint. */
function toUsageError({ message }: CommanderError, name: string): UsageError {
  const [why = '', suggestion] = message.replace(/^error: /, '').split('\n');
  const [, words] = /^\(Did you mean (.*)\?\)$/.exec(suggestion ?? '') ?? [];
  return new UsageError(`${name}: ${why}`, words ? `did you mean ${words}?` : `see \`${name} --help\``);
}
