import { version } from '../../package.json';
import { colorModes } from '../config/setting-values.ts';
import { type Context, warnOfSettings } from '../context.ts';
import { createStyle } from '../output/style.ts';
import { exitCodes, UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import type { Unfinished } from './complete.ts';
import { argumentsOf, nameOf, valuesOf } from './flag.ts';
import { type GlobalFlags, globalsOf } from './global-flags.ts';
import { topicNames } from './topics.ts';
import type { Line } from './tree.ts';
import { type Action, commandName, flagsOf, isGroup, type Program } from './verb.ts';

// From words to a command: `verb.ts` and `flag.ts` say what a command is, as data, and `global-flags.ts` has the flags of
// all of them. `tree.ts` lets commander read the words by that data. This file makes a task of what was read, and carries
// it out. `words-error.ts` says what is wrong with the words. `help.ts`, `find-help.ts`, `topics.ts` with `topics.txt`, and
// `manual.ts` make help of the same data; `complete.ts` answers the Tab key.

/** A command line, read and not yet carried out. */
export interface CommandLine {
  /** The flags that several commands share, parsed. */
  readonly flags: GlobalFlags;
  /** The names of the command, such as `pets get`. */
  readonly name: string;
  readonly task: Task;
}

/** Whether a command line may depend on the config. Help and the version do not open it, and work whatever it holds. */
export function usesConfig({ task }: CommandLine): boolean {
  if (task.kind === 'action') return !task.action.opensNoConfig;
  return task.kind === 'refusal' || task.kind === 'completion';
}

/** What a command line asks for. */
type Task =
  | { readonly kind: 'introduction' }
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly line: Line }
  /** A group without a verb. */
  | { readonly kind: 'usage'; readonly line: Line }
  /** The help of a word that is neither a command nor a topic. */
  | { readonly kind: 'search'; readonly word: string; readonly error: UsageError }
  | { readonly kind: 'completion'; readonly unfinished: Unfinished }
  | { readonly kind: 'action'; readonly action: Action; readonly values: Readonly<Record<string, unknown>> }
  | { readonly kind: 'refusal'; readonly error: unknown };

/** Reads the words of a command line. Never throws: an error in the words is a task too. */
export async function readCommandLine(argv: readonly string[], program: Program): Promise<CommandLine> {
  if (argv[0] === '__complete') {
    const unfinished = await (await import('./complete.ts')).readUnfinished(argv.slice(1), program);
    return { flags: globalsOf(unfinished.line.flagUses), name: '', task: { kind: 'completion', unfinished } };
  }
  if (argv.length === 0) return { flags: {}, name: '', task: { kind: 'introduction' } };
  const helpWords = wordsOfHelp(argv);
  const line = await readWords(program, helpWords ?? argv, helpWords !== undefined);
  const flags = globalsOf(line.flagUses);
  const name = line.path.join(' ');
  const isGiven = (key: string) => line.flagUses.some((each) => each.key === key);
  if (isGiven('version')) return { flags, name, task: { kind: 'version' } };
  try {
    const task = await taskOf(line, helpWords !== undefined || isGiven('help'));
    return { flags: task.kind === 'action' ? (task.values as GlobalFlags) : flags, name, task };
  } catch (error) {
    return { flags, name, task: { kind: 'refusal', error } };
  }
}

/** @throws UsageError if the words are wrong, or a value is. */
async function taskOf(line: Line, asksHelp: boolean): Promise<Task> {
  const { path, command, operands, flagUses, problem } = line;
  const isWrong = problem && problem.code !== (asksHelp ? '' : 'commander.help');
  if (isWrong && (!asksHelp || problem.code === 'commander.unknownCommand')) {
    const isSearch = asksHelp && path.length === 0;
    const error = (await import('./words-error.ts')).wordsError(line, problem, isSearch ? topicNames : []);
    const [word = ''] = operands;
    if (isSearch && !error.details.hint?.startsWith('did you mean')) return { kind: 'search', word, error };
    throw error;
  }
  if (asksHelp) return { kind: 'help', line };
  const action = isGroup(command) ? command.alone : command;
  if (!action) return { kind: 'usage', line };
  const flags = flagsOf(action);
  const misplaced = flagUses.find(({ key }) => !(key in flags));
  if (misplaced) throw new UsageError(`${commandName(path)}: unknown option '${nameOf(misplaced.flag)}'`);
  return {
    kind: 'action',
    action,
    values: { ...argumentsOf(operands, action.args), ...valuesOf(flagUses, flags) },
  };
}

/** `petstore --help` alone does without commander. */
async function readWords(program: Program, words: readonly string[], isLenient: boolean): Promise<Line> {
  if (words.length === 0)
    return { path: [], entry: program, command: program, group: program, flagUses: [], operands: [] };
  return (await import('./tree.ts')).readLine(program, words, isLenient);
}

/**
 * Carries out a command line, and gives its exit code.
 *
 * @throws CliError
 */
export async function carryOut(
  { flags, task }: CommandLine,
  context: Context,
  program: Program,
): Promise<number> {
  const { io } = context;
  switch (task.kind) {
    case 'introduction':
      await io.stdout.write((await import('./help.ts')).introduction);
      return exitCodes.done;
    case 'version':
      await io.stdout.write(`${version}\n`);
      return exitCodes.done;
    case 'help':
      await writeHelp(io, 'stdout', flags, task.line);
      return exitCodes.done;
    case 'usage':
      await writeHelp(io, 'stderr', flags, task.line);
      return exitCodes.usage;
    case 'search':
      await io.stdout.write(await searchResult(task, io, program));
      return exitCodes.done;
    case 'completion':
      return (await import('./complete.ts')).complete(task.unfinished, context, program);
    case 'action':
      await checkSettings(context, task.action);
      await task.action.run(context, task.values);
      await context.printNotices();
      return context.exitCode;
    case 'refusal':
      throw task.error;
  }
}

/** @throws UsageError for a wrong flag, and also for a wrong setting if the command does not work in spite of it. */
async function checkSettings(context: Context, { repairs, opensNoConfig }: Action): Promise<void> {
  if (opensNoConfig) return;
  const { problems } = context.settings;
  const wrongFlag = problems.find(({ details }) => details.code === 'invalid_flag');
  if (wrongFlag) throw wrongFlag;
  if (repairs) return;
  if (problems[0]) throw problems[0];
  await warnOfSettings(context);
}

/** The topics and commands whose help has the word. @throws UsageError if there are none */
async function searchResult(
  { word, error }: Extract<Task, { kind: 'search' }>,
  io: Io,
  program: Program,
): Promise<string> {
  const { helpWidth } = await import('./help.ts');
  const text = await (await import('./find-help.ts')).helpWith(word, program, helpWidth(io));
  if (text === undefined) throw error;
  return text;
}

/** Help has the colours that the command line asks for, whatever the settings say. */
async function writeHelp(
  io: Io,
  stream: 'stdout' | 'stderr',
  { color }: GlobalFlags,
  line: Line,
): Promise<void> {
  const { helpWidth, helpOf } = await import('./help.ts');
  const { bold } = await createStyle(io[stream], io.env, colorModes.find((mode) => mode === color) ?? 'auto');
  await io[stream].write(helpOf(line, helpWidth(io)).replace(/^\w[\w ]*:$/gm, (title) => bold(title)));
}

/**
 * The words whose help is asked for: `pets list` of `pets list --help`, `--help pets list`, `help pets list` and `pets help
 * list`. Undefined if none is; a topic is a command of its own.
 */
function wordsOfHelp(argv: readonly string[]): readonly string[] | undefined {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  const others = words.filter((word) => word !== '--help' && word !== '-h');
  const at = others[0]?.startsWith('-') ? -1 : others.slice(0, 2).indexOf('help');
  const isTopic = topicNames.some((name) => name === others[at + 1]);
  if (at === 0 && isTopic) return undefined;
  if (at !== -1) return others.filter((_, index) => index !== at);
  return others.length < words.length ? others : undefined;
}
