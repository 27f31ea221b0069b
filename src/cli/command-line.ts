import { join } from 'node:path';
import type { Context } from '../context.ts';
import { requireColumns } from '../output/columns.ts';
import type { Output } from '../output/printer.ts';
import { plainStyle } from '../output/style.ts';
import { exitCodes, OutputClosedError, UsageError } from '../process/errors.ts';
import { choicesText, didYouMean } from '../process/text.ts';
import {
  asksForHelp,
  findHelp,
  findUnknown,
  meaningOfLine,
  nameOf,
  readPage,
  readTable,
  type WordTable,
} from './command-words.ts';
import type { GlobalFlags } from './flag.ts';
import { parseLine } from './parse-line.ts';
import { type Action, actionOf, commandName, flagsOf, type ParsedLine, type Program } from './verb.ts';

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
export async function readCommandLine(
  argv: readonly string[],
  program: Program,
  packageDir: string,
): Promise<CommandLine> {
  const table = readTable(join(packageDir, 'dist'));
  if (argv[0] === '__complete') {
    const words = argv.slice(argv[1] === '--' ? 2 : 1);
    // The flags before the cursor select the service and the columns whose values are offered.
    const line = await parseLine(program, meaningOfLine(table, words.slice(0, -1)));
    const run = (context: Context) => program.complete(context, line, words).then(() => exitCodes.done);
    return { flags: line.flags, isCompletion: true, usesConfig: true, run };
  }
  const meaning = meaningOfLine(table, argv);
  const line = await parseLine(program, meaning);
  const { path, values, command, problem } = line;
  if (values.version === true && !problem) return readCommandLine(['version'], program, packageDir);
  // In `-yh` only commander sees the flag.
  if (values.help === true && !asksForHelp(argv))
    return readCommandLine([...path, '--help'], program, packageDir);
  const action = actionOf(command);
  const flags = { output: action?.defaultFormat, ...line.flags };
  const unknown = findUnknown(table, meaning);
  const isIncomplete = unknown !== undefined || (!action && !problem);
  // `without-program.ts` answers most of these lines.
  if (asksForHelp(argv) || isIncomplete)
    return {
      flags,
      isCompletion: false,
      usesConfig: false,
      run: (context) => printHelp(context, argv, table),
    };
  const usesConfig = action?.wrongSettings !== 'unread';
  return { flags, isCompletion: false, usesConfig, run: (context) => runLine(context, line) };
}

/** Prints the help page that a line asks for, or the page of a group without a verb. @throws UsageError for an unknown command. */
export async function printHelp(
  context: Context,
  argv: readonly string[],
  table?: WordTable,
): Promise<number> {
  const dist = join(context.io.packageDir, 'dist');
  const help = findHelp(table ?? readTable(dist), argv);
  if (typeof help !== 'string') throw new UsageError(help.message, help.hint);
  const stream = asksForHelp(argv) ? 'stdout' : 'stderr';
  const isStyled = (await context.style(stream)) !== plainStyle;
  await context.io[stream].write(readPage(dist, help, isStyled));
  return stream === 'stderr' ? exitCodes.usage : exitCodes.done;
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
  const wrongValue = Object.values(values).find((value) => value instanceof UsageError);
  if (wrongValue) throw wrongValue;
  await requireValidSettings(context, action);
  const format = context.settings.get('output');
  if (action.formats && !action.formats.includes(format))
    throw new UsageError(`${name}: -o ${format}: must be one of ${choicesText(action.formats)}`);
  const view = await action.view?.(context, values);
  const { flags, io } = context;
  if (!view && (flags.fields ?? flags.sort) !== undefined)
    throw new UsageError(`${name}: --fields and --sort do not apply: it prints no columns`);
  if (view && flags.fields?.join() === 'help') {
    await io.stdout.write(view.columns.map((column) => `${column.name}\n`).join(''));
    return exitCodes.done;
  }
  if (view) requireColumns(view, flags);
  if (action.writes === 'records') requireNoOwnHeaders(flags);
  const commandContext = { ...context, printer: context.printer.withView(view) };
  return printOutput(commandContext, await action.run(commandContext, values));
}

/** @throws UsageError for a header that commands set themselves, with the type of a body or the condition of a write. */
function requireNoOwnHeaders({ headers = [] }: GlobalFlags): void {
  for (const header of headers) {
    const [name] = /^\s*(content-type|if-match|if-none-match)(?=\s*:)/i.exec(header) ?? [];
    if (name !== undefined)
      throw new UsageError(`--header: the command sets ${name} itself`, '`petstore api request` sends any');
  }
}

/** @throws UsageError for a wrong flag, and for a wrong setting unless the command tolerates it. */
async function requireValidSettings({ settings, notice }: Context, { wrongSettings }: Action): Promise<void> {
  // Such a command has not read the config, so it does not know the profiles.
  if (wrongSettings === 'unread') return;
  const { problems, warnings } = settings;
  const wrongFlag = problems.find(({ details }) => details.code === 'invalid_flag');
  if (wrongFlag) throw wrongFlag;
  if (wrongSettings === 'ignore') return;
  if (wrongSettings !== 'warn' && problems[0]) throw problems[0];
  for (const { message, details } of problems)
    await notice('warning', [message, details.hint].filter(Boolean).join('; '));
  for (const warning of warnings) await notice('warning', warning);
}

/**
 * Prints an output and then its notices, even if stdout cannot be written.
 *
 * @returns the exit code, even if the reader of stdout has gone.
 * @throws the error of the output, or else the error of stdout.
 */
async function printOutput({ notice, printer }: Context, output: Output): Promise<number> {
  const failure = await printer.output(output).then(
    () => undefined,
    (error: unknown) => (error instanceof OutputClosedError ? undefined : error),
  );
  // Without this warning a user may repeat a write that was done.
  if (failure && output.warningIfUnprinted !== undefined) await notice('warning', output.warningIfUnprinted);
  for (const each of output.notices ?? []) await notice(...each);
  const error = output.error ?? failure;
  if (error) throw error;
  return output.exitCode ?? exitCodes.done;
}

/** Flags that switch off a question or a guard. They are not suggested for a typo. */
const guardedFlags = ['--yes', '--again', '--allow-zero'];

function toParseError({ path, command, problem }: ParsedLine): UsageError {
  const name = commandName(path);
  const seeHelp = `see \`${name} --help\``;
  if (problem?.kind !== 'unknown-flag')
    return new UsageError(`${name}: ${problem?.message}`, problem?.hint ?? seeHelp);
  const names = Object.values(flagsOf(command)).map(nameOf);
  const sentence = `unknown flag '${problem.name}'`;
  if (names.includes(problem.name))
    return new UsageError(`petstore: ${sentence}`, `put it after the command: ${name}`);
  const harmless = names.filter((each) => !guardedFlags.includes(each));
  // The words after it may be its value and a command that has the flag.
  const otherHint = path.length > 0 ? seeHelp : `put a flag of a command after the command; ${seeHelp}`;
  return new UsageError(`${name}: ${sentence}`, didYouMean(problem.name, harmless) ?? otherHint);
}
