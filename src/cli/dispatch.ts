import { version } from '../../package.json';
import { colorModes } from '../config/setting-values.ts';
import type { MutableContext } from '../context.ts';
import { exitCodes, UsageError } from '../process/errors.ts';
import { argumentsOf, nameOf, valuesOf } from './flag.ts';
import { type GlobalFlags, globalsOf } from './global-flags.ts';
import { topicNames } from './topics.ts';
import type { Line } from './tree.ts';
import { commandName, flagsOf, isGroup, type Program } from './verb.ts';

/** Runs the command that the words name, and gives its exit code. */
export async function runCommand(
  argv: readonly string[],
  context: MutableContext,
  program: Program,
): Promise<number> {
  if (argv[0] === '__complete')
    return (await import('./complete.ts')).complete(argv.slice(1), context, program);
  if (argv.length === 0) {
    await context.io.stdout.write((await import('./help.ts')).introduction);
    return exitCodes.done;
  }
  const topic = wordsOfHelp(argv);
  const line = await read(program, topic ?? argv, topic !== undefined);
  const { path, command, operands, given, problem } = line;
  const isGiven = (name: string) => given.some(({ key }) => key === name);
  if (isGiven('version')) return showVersion(context);
  // An error in the words is already printed in the format and the colours that the words ask for.
  context.useFlags(globalsOf(given));
  const asksHelp = topic !== undefined || isGiven('help');
  const isWrong = problem && problem.code !== (asksHelp ? '' : 'commander.help');
  if (isWrong && (!asksHelp || problem.code === 'commander.unknownCommand'))
    return refuseWords(context, program, line, problem, asksHelp);
  if (asksHelp) return showHelp(context, 'stdout', line);
  const action = isGroup(command) ? command.alone : command;
  if (!action) return showHelp(context, 'stderr', line);
  const flags = flagsOf(action);
  const misplaced = given.find(({ key }) => !(key in flags));
  if (misplaced) throw new UsageError(`${commandName(path)}: unknown option '${nameOf(misplaced.flag)}'`);
  const values = { ...argumentsOf(operands, action.args), ...valuesOf(given, flags) };
  context.useFlags(values as GlobalFlags, path.join(' '), action.repairs);
  await action.run(context, values);
  await context.printNotices();
  return context.exitCode;
}

/** `petstore --help` alone does without commander. */
async function read(program: Program, words: readonly string[], isLenient: boolean): Promise<Line> {
  if (words.length === 0)
    return { path: [], named: program, command: program, group: program, given: [], operands: [] };
  return (await import('./tree.ts')).readLine(program, words, isLenient);
}

/** With `help <word>` it finds the topics and commands that have the word. @throws UsageError otherwise */
async function refuseWords(
  context: MutableContext,
  program: Program,
  line: Line,
  problem: NonNullable<Line['problem']>,
  asksHelp: boolean,
): Promise<number> {
  const near = asksHelp && line.path.length === 0 ? topicNames : [];
  const error = (await import('./words-error.ts')).wordsError(line, problem, near);
  if (near.length === 0 || error.details.hint?.startsWith('did you mean')) throw error;
  const { helpWith } = await import('./find-help.ts');
  const text = await helpWith(
    line.operands[0] ?? '',
    program,
    (await import('./help.ts')).helpWidth(context.io),
  );
  if (text === undefined) throw error;
  await context.io.stdout.write(text);
  return exitCodes.done;
}

/** Whatever else is given: `--version` never fails. */
async function showVersion({ io }: MutableContext): Promise<number> {
  await io.stdout.write(`${version}\n`);
  return exitCodes.done;
}

async function showHelp(context: MutableContext, stream: 'stdout' | 'stderr', line: Line): Promise<number> {
  const { helpWidth, helpOf } = await import('./help.ts');
  // Not the colours of the settings, because help does not open the config.
  const { createStyle } = await import('../output/style.ts');
  const mode = colorModes.find((each) => each === context.flags.color) ?? 'auto';
  const { bold } = await createStyle(context.io[stream], context.io.env, mode);
  const text = helpOf(line, helpWidth(context.io));
  await context.io[stream].write(text.replace(/^\w[\w ]*:$/gm, (title) => bold(title)));
  return stream === 'stdout' ? exitCodes.done : exitCodes.usage;
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
