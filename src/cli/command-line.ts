import { join } from 'node:path';
import { CommanderError, Option, Command as Parser } from 'commander';
import type { Context } from '../context.ts';
import { checkColumns, type View } from '../output/columns.ts';
import type { Output, PreparedCommand } from '../output/printer.ts';
import { plainStyle } from '../output/style.ts';
import { exitCodes, OutputClosedError, UsageError } from '../process/errors.ts';
import { closestWord } from '../process/text.ts';
import { asksForHelp, findHelp, nameOf, readPage, readTable } from './command-words.ts';
import { type Flag, type GlobalFlags, writeFlags } from './flag.ts';
import {
  type Action,
  actionOf,
  commandName,
  flagsOf,
  type Group,
  isGroup,
  loadCommand,
  type ParsedLine,
  type Program,
  type Values,
} from './verb.ts';

/** A command line that has been read and not yet run. */
interface CommandLine {
  readonly flags: GlobalFlags;
  readonly isCompletion: boolean;
  /** True if the command reads the config. Help, the version and completion scripts do not. */
  readonly usesConfig: boolean;
  /** Runs it and returns the exit code. */
  run(context: Context): Promise<number>;
}

/** Reads a command line. If it is wrong, `run` of the result throws the error. */
export async function readCommandLine(argv: readonly string[], program: Program): Promise<CommandLine> {
  if (argv[0] === '__complete') {
    const words = argv.slice(argv[1] === '--' ? 2 : 1);
    // The flags before the cursor select the service and the columns whose values are offered.
    const line = await parseLine(program, words.slice(0, -1));
    const run = (context: Context) => program.complete(context, line, words).then(() => exitCodes.done);
    return { flags: line.flags, isCompletion: true, usesConfig: true, run };
  }
  const line = await parseLine(program, argv);
  const { values, command, problem } = line;
  if (values.version === true) return readCommandLine(['version'], program);
  const action = actionOf(command);
  const flags = { output: action?.defaultFormat, ...line.flags };
  // bin/petstore.js answers most of these lines without the program.
  const lacksVerb = isGroup(command) && (problem ? verbProblems.includes(problem.code) : !action);
  if (asksForHelp(argv) || lacksVerb)
    return { flags, isCompletion: false, usesConfig: false, run: (context) => printHelp(context, argv) };
  const usesConfig = action?.wrongSettings !== 'unread';
  const run = async (context: Context) => {
    // In `pets upate --status sold` commander finds fault with the flag, but the command before it is wrong.
    const flagAt = argv.findIndex((word) => problem?.message.includes(`'${word}'`));
    if (isGroup(command) && flagAt > 0) findPage(context, argv.slice(0, flagAt));
    return await runLine(context, line);
  };
  return { flags, isCompletion: false, usesConfig, run };
}

/** The errors of commander for a group without a verb, or with an unknown one. */
const verbProblems = ['commander.help', 'commander.unknownCommand', 'commander.excessArguments'];

/** Prints the help page that a line asks for, or that of a group without a verb. @throws UsageError for an unknown command. */
export async function printHelp(context: Context, argv: readonly string[]): Promise<number> {
  const page = findPage(context, argv);
  const stream = asksForHelp(argv) ? 'stdout' : 'stderr';
  const isStyled = (await context.style(stream)) !== plainStyle;
  await context.io[stream].write(readPage(distOf(context), page, isStyled));
  return stream === 'stderr' ? exitCodes.usage : exitCodes.done;
}

/** Finds the name of the help page of a line. @throws UsageError for an unknown command. */
function findPage(context: Context, argv: readonly string[]): string {
  const help = findHelp(readTable(distOf(context)), argv);
  if (typeof help !== 'string') throw new UsageError(help.message, help.hint);
  return help;
}

function distOf({ io }: Context): string {
  return join(io.packageDir, 'dist');
}

/**
 * Runs the command of a line and prints its output. It checks flags, settings and columns before the command sends a request.
 * `--fields help` lists the columns instead of running the command.
 *
 * @returns the exit code.
 * @throws UsageError for a wrong line, and any error of the command.
 */
async function runLine(context: Context, line: ParsedLine): Promise<number> {
  const name = commandName(line.path);
  const action = actionOf(line.command);
  if (line.problem || !action) throw toParseError(line);
  const { values } = line;
  checkValues(name, action, values);
  await checkSettings(context, action);
  const { view, run } = await prepare(context, action, values);
  const { flags, io } = context;
  if (!view) rejectColumnFlags(context, name);
  else if (flags.fields?.join() === 'help') {
    await io.stdout.write(view.columns.map((column) => `${column.name}\n`).join(''));
    return exitCodes.done;
  } else checkColumns(view, flags);
  const output = await run();
  return output ? printOutput(context, output, view) : exitCodes.done;
}

/** @throws UsageError for a write flag of a command that does not write, and for a wrong value. */
function checkValues(name: string, action: Action, values: Values): void {
  const takenKeys = Object.entries(flagsOf(action)).map(([key, flag]) => flag.key ?? key);
  const misplaced = Object.entries(writeFlags).find(([key]) => key in values && !takenKeys.includes(key));
  if (misplaced) throw new UsageError(`${name}: unknown option '${nameOf(misplaced[1])}'`);
  const wrongValue = Object.values(values).find((value) => value instanceof UsageError);
  if (wrongValue) throw wrongValue;
}

async function prepare(context: Context, action: Action, values: Values): Promise<PreparedCommand> {
  if ('prepare' in action) return action.prepare(context, values);
  return { view: undefined, run: async () => (await action.run(context, values)) ?? undefined };
}

/** @throws UsageError for a wrong flag, and for a wrong setting unless the command tolerates it. */
async function checkSettings({ settings, notice }: Context, { wrongSettings }: Action): Promise<void> {
  const { problems, warnings } = settings;
  const wrongFlag = problems.find(({ details }) => details.code === 'invalid_flag');
  if (wrongFlag) throw wrongFlag;
  if (wrongSettings === 'ignore' || wrongSettings === 'unread') return;
  if (wrongSettings !== 'warn' && problems[0]) throw problems[0];
  for (const { message, details } of problems)
    await notice('warning', [message, details.hint].filter(Boolean).join('; '));
  for (const warning of warnings) await notice('warning', warning);
}

/** @throws UsageError for `--fields` or `--sort` of a command that prints no columns. */
function rejectColumnFlags({ flags: { fields, sort } }: Context, name: string): void {
  if (fields === undefined && sort === undefined) return;
  throw new UsageError(
    `${name}: ${fields === undefined ? '--sort' : '--fields'} does not apply: it prints no columns`,
  );
}

/**
 * Prints an output and then its notices, even if stdout cannot be written.
 *
 * @returns the exit code, even if the reader of stdout has gone.
 * @throws the error of the output, or else the error of stdout.
 */
async function printOutput(
  context: Context,
  output: Output,
  view: View<object> | undefined,
): Promise<number> {
  const failure = await context
    .printer()
    .output(output, view)
    .then(
      () => undefined,
      (error: unknown) => (error instanceof OutputClosedError ? undefined : error),
    );
  // Without this warning a user may repeat a write that was done.
  if (failure && output.warningIfUnprinted !== undefined)
    await context.notice('warning', output.warningIfUnprinted);
  for (const notice of output.notices ?? []) await context.notice(...notice);
  const error = output.error ?? failure;
  if (error) throw error;
  const { exitCode = exitCodes.done } = output;
  return typeof exitCode === 'function' ? exitCode() : exitCode;
}

/** Flags that switch off a question or a guard. They are not suggested for a typo. */
const guardedFlags = ['--yes', '--again', '--allow-zero'];

function toParseError({ path, command, problem }: ParsedLine): UsageError {
  const name = commandName(path);
  const message = (problem?.message ?? '').replace('error: ', '');
  const seeHelp = `see \`${name} --help\``;
  if (problem?.code !== 'commander.unknownOption') return new UsageError(`${name}: ${message}`, seeHelp);
  const [word = ''] = /(?<=').*(?=')/s.exec(message) ?? [];
  const [flagName = '', ...values] = word.split('=');
  // The value of an unknown flag may be a token.
  const sentence = `${name}: unknown option '${flagName}${values.length > 0 ? '=…' : ''}'`;
  const names = Object.values(flagsOf(command)).map(nameOf);
  const near = closestWord(
    flagName,
    names.filter((each) => !guardedFlags.includes(each)),
  );
  if (near !== undefined) return new UsageError(sentence, `did you mean ${near}?`);
  return new UsageError(
    sentence,
    path.length === 0 ? `put a flag of a command behind the command; ${seeHelp}` : seeHelp,
  );
}

/**
 * Parses a command line with commander. Only the commands on the line are loaded, each when commander reaches it. Every level takes
 * the global flags, so that they can be anywhere.
 */
async function parseLine(program: Program, words: readonly string[]): Promise<ParsedLine> {
  const root = new Parser(program.name);
  let position: Pick<ParsedLine, 'path' | 'command'> = { path: [], command: program };
  let innermost = root;
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

  function enter(parser: Parser, next: typeof position, rest: readonly string[]): void {
    position = next;
    innermost = parser;
    parser.helpOption(false).helpCommand(false).enablePositionalOptions();
    for (const [key, value] of Object.entries(parser.parent?.opts() ?? {})) parser.setOptionValue(key, value);
    for (const [key, flag] of Object.entries(mayHaveFlags(next.command, rest) ? flagsOf(next.command) : {}))
      parser.addOption(toOption(key, flag));
    const action = actionOf(next.command);
    if (action) takeArguments(parser, action);
    if (isGroup(next.command)) addVerbs(parser, next.command);
  }

  function addVerbs(parser: Parser, group: Group): void {
    // Commander takes a millisecond for a long list of verbs, so it gets only those on the line.
    for (const { name, aliases = [] } of group.verbs)
      if ([name, ...aliases].some((word) => words.includes(word))) parser.command(name).aliases(aliases);
    parser.hook('preSubcommand', async ({ args }, subcommand) => {
      const entry = group.verbs.find(({ name }) => name === subcommand.name());
      if (!entry) return;
      const command = await loadCommand(entry);
      enter(subcommand, { path: [...position.path, entry.name], command }, args.slice(1));
    });
  }

  enter(root, position, words);
  const problem = await root.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (thrown: unknown) => {
      if (thrown instanceof CommanderError) return thrown;
      throw thrown;
    },
  );
  const keys = Object.keys(('args' in position.command && position.command.args) || {});
  const args = Object.fromEntries(keys.map((key, at) => [key, innermost.processedArgs[at]]));
  const flags = innermost.opts();
  return { ...position, flags, values: { ...args, ...flags }, problem };
}

/**
 * Returns true if the words may contain a flag of this level. If the first word names a verb, the flags after it belong to the verb.
 * Then commander need not make the options of this level, which takes a millisecond.
 */
function mayHaveFlags(command: Action | Group, words: readonly string[]): boolean {
  const names = isGroup(command) ? command.verbs.flatMap(({ name, aliases = [] }) => [name, ...aliases]) : [];
  return !names.includes(words[0] ?? '') && words.some((word) => word.startsWith('-'));
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
