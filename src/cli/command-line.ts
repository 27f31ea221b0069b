import { join } from 'node:path';
import type { Context } from '../context.ts';
import { requireColumns, type View } from '../output/columns.ts';
import type { Output } from '../output/printer.ts';
import { plainStyle } from '../output/style.ts';
import { exitCodes, OutputClosedError, UsageError } from '../process/errors.ts';
import { closestWord } from '../process/text.ts';
import { asksForHelp, findHelp, nameOf, readPage, readTable } from './command-words.ts';
import { type GlobalFlags, writeFlags } from './flag.ts';
import { parseLine } from './parse-line.ts';
import {
  type Action,
  actionOf,
  commandName,
  flagsOf,
  isGroup,
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
  // In `-yh` only commander sees the flag.
  if (values.help === true && !asksForHelp(argv)) return readCommandLine([...line.path, '--help'], program);
  const action = actionOf(command);
  const flags = { output: action?.defaultFormat, ...line.flags };
  // bin/petstore.js answers most of these lines without the program.
  if (asksForHelp(argv) || problem?.kind === 'no-verb')
    return { flags, isCompletion: false, usesConfig: false, run: (context) => printHelp(context, argv) };
  const usesConfig = action?.wrongSettings !== 'unread';
  const run = async (context: Context) => {
    // In `pets upate --status sold` the flag is unknown only because the command before it is.
    const flagAt = problem?.kind === 'unknown-flag' ? argv.indexOf(problem.word) : 0;
    if (isGroup(command) && flagAt > 0) findPage(context, argv.slice(0, flagAt));
    return await runLine(context, line);
  };
  return { flags, isCompletion: false, usesConfig, run };
}

/** Prints the help page that a line asks for, or the page of a group without a verb. @throws UsageError for an unknown command. */
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
  requireValidValues(name, action, values);
  await requireValidSettings(context, action);
  const view = await action.view?.(context, values);
  const { flags, io } = context;
  if (!view) requireNoColumnFlags(context, name);
  else if (flags.fields?.join() === 'help') {
    await io.stdout.write(view.columns.map((column) => `${column.name}\n`).join(''));
    return exitCodes.done;
  } else requireColumns(view, flags);
  const output = await action.run(context, values);
  return output ? printOutput(context, output, view) : exitCodes.done;
}

/** @throws UsageError for a write flag of a command that does not write, and for a wrong value. */
function requireValidValues(name: string, action: Action, values: Values): void {
  const takenKeys = Object.entries(flagsOf(action)).map(([key, flag]) => flag.key ?? key);
  const misplaced = Object.entries(writeFlags).find(([key]) => key in values && !takenKeys.includes(key));
  if (misplaced) throw new UsageError(`${name}: unknown option '${nameOf(misplaced[1])}'`);
  const wrongValue = Object.values(values).find((value) => value instanceof UsageError);
  if (wrongValue) throw wrongValue;
}

/** @throws UsageError for a wrong flag, and for a wrong setting unless the command tolerates it. */
async function requireValidSettings({ settings, notice }: Context, { wrongSettings }: Action): Promise<void> {
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
function requireNoColumnFlags({ flags: { fields, sort } }: Context, name: string): void {
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
  const seeHelp = `see \`${name} --help\``;
  if (problem?.kind !== 'unknown-flag') return new UsageError(`${name}: ${problem?.message}`, seeHelp);
  const [flagName = '', ...values] = problem.word.split('=');
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
    path.length === 0 ? `put a flag of a command after the command; ${seeHelp}` : seeHelp,
  );
}
