import { CommanderError, Option, Command as Parser } from 'commander';
import { UsageError } from '../process/errors.ts';
import { nameOf } from './command-words.ts';
import type { Flag } from './flag.ts';
import {
  type Action,
  actionOf,
  type Command,
  flagsOf,
  type Group,
  isGroup,
  type LineProblem,
  loadCommand,
  type ParsedLine,
  type Program,
} from './verb.ts';

/**
 * Parses a command line with commander. Only the commands on the line are loaded, each when commander reaches it. Every level takes
 * the global flags, so that they can be anywhere.
 */
export async function parseLine(program: Program, words: readonly string[]): Promise<ParsedLine> {
  const root = new Parser(program.name);
  let position: Pick<ParsedLine, 'path' | 'command'> = { path: [], command: program };
  let innermost = root;
  const flagWords = words.filter((word) => word.startsWith('-'));
  // The program itself prints errors and help. Commander would load all of node:net to find out how wide stderr is.
  root
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureHelp({ formatHelp: () => '' })
    .configureOutput({
      writeErr: () => {},
      outputError: () => {},
      getErrHelpWidth: () => 80,
      getErrHasColors: () => false,
    });

  function enter(parser: Parser, next: typeof position): void {
    position = next;
    innermost = parser;
    parser.helpOption(false).helpCommand(false).enablePositionalOptions();
    for (const [key, value] of Object.entries(parser.parent?.opts() ?? {})) parser.setOptionValue(key, value);
    // Commander takes a millisecond for the options of a level, so it gets only those that may be on the line.
    for (const [key, flag] of Object.entries(flagWords.length > 0 ? flagsOf(next.command) : {}))
      if (flagWords.some((word) => mayName(word, flag))) parser.addOption(toOption(key, flag));
    const action = actionOf(next.command);
    if (action) takeArguments(parser, action);
    if (isGroup(next.command)) addVerbs(parser, next.command);
  }

  function addVerbs(parser: Parser, group: Group): void {
    // To save time, commander also gets only the verbs on the line.
    for (const { name, aliases = [] } of group.verbs)
      if ([name, ...aliases].some((word) => words.includes(word))) parser.command(name).aliases(aliases);
    parser.hook('preSubcommand', async (_, subcommand) => {
      const entry = group.verbs.find(({ name }) => name === subcommand.name());
      if (!entry) return;
      const command = await loadCommand(entry);
      enter(subcommand, { path: [...position.path, entry.name], command });
    });
  }

  enter(root, position);
  const error = await root.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (thrown: unknown) => {
      if (thrown instanceof CommanderError) return thrown;
      throw thrown;
    },
  );
  const keys = Object.keys(('args' in position.command && position.command.args) || {});
  const args = Object.fromEntries(keys.map((key, at) => [key, innermost.processedArgs[at]]));
  const flags = innermost.opts();
  return {
    ...position,
    flags,
    values: { ...args, ...flags },
    problem: toLineProblem(position.command, error),
  };
}

/** The errors of commander for a group without a verb, or with an unknown one. */
const verbErrors = ['commander.help', 'commander.unknownCommand', 'commander.excessArguments'];

/** Reads the error of commander, which has its facts only in the text of its message. */
function toLineProblem(command: Command, error: CommanderError | undefined): LineProblem | undefined {
  const lacksVerb = error ? verbErrors.includes(error.code) : !actionOf(command);
  if (isGroup(command) && lacksVerb) return { kind: 'no-verb', message: 'a verb is missing' };
  if (!error) return undefined;
  const message = error.message.replace('error: ', '');
  if (error.code !== 'commander.unknownOption') return { kind: 'wrong-word', message };
  const [word = ''] = /(?<=').*(?=')/s.exec(message) ?? [];
  return { kind: 'unknown-flag', word };
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

function takeArguments(parser: Parser, { args = {} }: Action): void {
  parser.action(() => {});
  for (const { syntax, parse } of Object.values(args)) {
    const argument = parser.createArgument(syntax);
    if (parse) argument.argParser(returnUsageError(parse));
    parser.addArgument(argument);
  }
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
