import { Command, Argument as CommanderArgument, CommanderError, Option } from 'commander';
import { UsageError } from '../process/errors.ts';
import { type Argument, type Flag, nameOf } from './flag.ts';

/**
 * Lets commander parse the words after the name of a command.
 *
 * @param name the command as errors name it: `petstore pets list`.
 * @param words as `readWords` gives them for commander.
 * @returns the values of its arguments and flags, by their keys.
 * @throws UsageError that names the command and the mistake.
 */
export function parseWords(
  name: string,
  args: Readonly<Record<string, Argument>>,
  flags: Readonly<Record<string, Flag>>,
  words: readonly string[],
): Record<string, unknown> {
  const command = new Command(name).helpOption(false).exitOverride();
  command.configureOutput({ writeErr: () => {}, outputError: () => {} });
  for (const { written, summary, parse } of Object.values(args)) {
    const argument = new CommanderArgument(written, summary);
    command.addArgument(parse ? argument.argParser(parse) : argument);
  }
  for (const [key, flag] of Object.entries(flags)) command.addOption(new KeyedOption(key, flag));
  try {
    command.parse(words, { from: 'user' });
  } catch (thrown) {
    throw thrown instanceof CommanderError
      ? toUsageError(thrown, name, Object.values(args), Object.values(flags))
      : thrown;
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

/** commander writes `error: <why>\n(Did you mean x?)`; its second line becomes the hint. */
function toUsageError(
  { message }: CommanderError,
  name: string,
  args: readonly Argument[],
  flags: readonly Flag[],
): UsageError {
  const [said = '', suggestion] = message.replace(/^error: /, '').split('\n');
  // Its one message of two sentences: `too many arguments. Expected 0 arguments but got 1.`
  const why = said.replace('. Expected', ': expected').replace(/\.$/, '');
  const [, words] = /^\(Did you mean (.*)\?\)$/.exec(suggestion ?? '') ?? [];
  const [, unknown] = /^unknown option '(.*)'$/.exec(said) ?? [];
  const [, missing] = /^missing required argument '(.*)'$/.exec(said) ?? [];
  const offers = args.find((argument) => nameOf(argument) === missing)?.offers;
  const hint =
    (unknown === undefined ? undefined : hintFor(unknown, flags)) ??
    (typeof offers === 'string' ? listings[offers] : undefined);
  return new UsageError(
    `${name}: ${why}`,
    hint ?? (words ? `did you mean ${words}?` : `see \`${name} --help\``),
  );
}

/** The commands that list what an argument may be. */
const listings: Readonly<Record<string, string>> = {
  run: '`petstore inventory runs` lists the runs',
  profile: '`petstore profile list` lists the profiles',
  ownProfile: '`petstore profile list` lists the profiles',
};

/** What stands for a flag of another program. */
function hintFor(unknown: string, flags: readonly Flag[]): string | undefined {
  const meant = Object.hasOwn(sameFlags, unknown) ? sameFlags[unknown] : undefined;
  const isTaken = flags.some((flag) => nameOf(flag) === meant?.split(' ')[0]);
  if (meant !== undefined && isTaken) return `did you mean ${meant}?`;
  return Object.hasOwn(otherWays, unknown) ? otherWays[unknown] : undefined;
}

/** Flags of gh, kubectl, curl and the like, and what they are called here. */
const sameFlags: Readonly<Record<string, string>> = {
  '--format': '--output',
  '--select': '--fields',
  '--columns': '--fields',
  '--order': '--sort',
  '-n': '--limit',
  '--max': '--limit',
  '--url': '--base-url',
  '--server': '--base-url',
  '--context': '--profile',
  '--env': '--profile',
  '-p': '--profile',
  '--force': '--yes',
  '--silent': '--quiet',
  '--debug': '--verbose',
  '--no-color': '--color never',
};

const jq = 'filter it as JSON: -o json | jq';
const token =
  'a token comes from the variable PETSTORE_TOKEN, or from token-file or token-command of the profile';
const pages = 'a list has the records of all pages unless --limit is given';

const otherWays: Readonly<Record<string, string>> = {
  '--jq': jq,
  '--query': jq,
  '--template': jq,
  '--token': token,
  '--api-key': token,
  '--all': pages,
  '--page': pages,
  '--paginate': pages,
  '-V': 'see `petstore --version`',
};
