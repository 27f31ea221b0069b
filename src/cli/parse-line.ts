import { CommanderError, Option, Command as Parser } from 'commander';
import { quoteValue, UsageError } from '../process/errors.ts';
import { choicesText } from '../process/text.ts';
import { type LineMeaning, nameOf } from './command-words.ts';
import type { Flag } from './flag.ts';
import {
  actionOf,
  type Command,
  flagsOf,
  isGroup,
  type LineProblem,
  loadCommand,
  type ParsedLine,
  type Program,
} from './verb.ts';

/** Loads the command of a line, and reads its flags and arguments with commander. Global flags may stand before its names. */
export async function parseLine(
  program: Program,
  { command, rest, unknownFlag }: LineMeaning,
): Promise<ParsedLine> {
  const path = command.path.split(' ').filter((name) => name !== '');
  const loaded = await loadAt(program, path);
  const parser = new Parser(program.name);
  // The program itself prints errors and help.
  parser.exitOverride().helpOption(false).showSuggestionAfterError(false);
  parser.configureOutput({ outputError: () => {} });
  // Commander takes a millisecond for all options, so it gets only those that may be on the line.
  const flagWords = rest.filter((word) => word.startsWith('-'));
  for (const [key, flag] of Object.entries(flagWords.length > 0 ? flagsOf(loaded) : {}))
    if (flagWords.some((word) => mayName(word, flag))) parser.addOption(toOption(key, flag));
  const args = Object.entries(actionOf(loaded)?.args ?? {});
  for (const [, { syntax, parse }] of args) {
    const argument = parser.createArgument(syntax);
    if (parse) argument.argParser(returnUsageError(parse));
    parser.addArgument(argument);
  }
  const problem = readWords(parser, rest, unknownFlag, Object.values(flagsOf(loaded)));
  const flags = parser.opts();
  const values = Object.fromEntries(args.map(([key], at) => [key, parser.processedArgs[at]]));
  return { path, command: loaded, flags, values: { ...values, ...flags }, problem };
}

async function loadAt(program: Program, path: readonly string[]): Promise<Command> {
  let command: Command = program;
  for (const name of path) {
    const entry = isGroup(command) ? command.verbs.find((verb) => verb.name === name) : undefined;
    if (!entry) throw new Error(`there is no command ${path.join(' ')}`);
    command = await loadCommand(entry);
  }
  return command;
}

/** Reads a line, and says what is wrong with it. Commander has the facts of an error only in the text of its message. */
function readWords(
  parser: Parser,
  rest: readonly string[],
  unknownFlag: string | undefined,
  flags: readonly Flag[],
): LineProblem | undefined {
  const unknown =
    unknownFlag === undefined ? undefined : ({ kind: 'unknown-flag', name: unknownFlag } as const);
  try {
    parser.parse(rest, { from: 'user' });
    return unknown;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (unknown) return unknown;
    if (error.code === 'commander.excessArguments') {
      const stray = strayWord(parser, rest);
      const hint = /^: \W*https?:/.test(stray) ? 'give the URL with --base-url' : undefined;
      return { kind: 'wrong-word', message: `too many arguments${stray}`, hint };
    }
    const message = error.message.replace('error: ', '').replace(/option '.*?(--[\w-]+).*?'/g, '$1');
    if (error.code !== 'commander.optionMissingArgument') return { kind: 'wrong-word', message };
    const [name = ''] = message.split(' ');
    const { choices } = flags.find((flag) => nameOf(flag) === name) ?? {};
    const values = choices ? `: one of ${choicesText(choices)}` : '';
    return { kind: 'wrong-word', message: `${name} needs a value${values}` };
  }
}

/**
 * Returns the first word that is too many, unless it may be a token: `--require-token s3cret`, `-H X-Key: s3cret`,
 * `config set token s3cret`.
 */
function strayWord({ args, registeredArguments }: Parser, rest: readonly string[]): string {
  const word = args[registeredArguments.length] ?? '';
  const before = rest[rest.indexOf(word) - 1] ?? '';
  const mayBeSecret = rest.some((each) => /^-\w*H|^--header|:$|^(bearer|basic|token)$/i.test(each));
  return mayBeSecret || before.startsWith('-') || /[@?]/.test(word) ? '' : `: ${quoteValue(word)}`;
}

/** Returns true if a word may name a flag: by its name, with or without a value, or by letters such as `-qv`. */
function mayName(word: string, flag: Flag): boolean {
  return word.startsWith(nameOf(flag)) || (!flag.syntax.startsWith('--') && !word.startsWith('--'));
}

function toOption(key: string, { syntax, conflicts = [], key: otherKey, parse }: Flag): Option {
  const option = new Option(syntax).conflicts([...conflicts]);
  // `--no-header` is a flag of its own, not the opposite of `--header`.
  option.negate = false;
  option.attributeName = () => otherKey ?? key;
  if (parse) option.preset('').argParser(returnUsageError(parse));
  return option;
}

/** Makes a parser that returns its error instead of throwing it, because a later word may say how errors are printed. */
function returnUsageError(parse: (text: string, soFar: unknown) => unknown) {
  return (text: string, soFar: unknown): unknown => {
    if (soFar instanceof UsageError) return soFar;
    try {
      return parse(text, soFar);
    } catch (error) {
      if (error instanceof UsageError) return error;
      throw error;
    }
  };
}
