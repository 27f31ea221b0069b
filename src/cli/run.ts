import { version } from '../../package.json';
import { colorModes } from '../config/values.ts';
import type { MutableContext } from '../context.ts';
import { exitCodes } from '../process/errors.ts';
import { commandName, type Found, findCommand, flagsOf } from './find.ts';
import { firstFlags, type GlobalFlags, globalFlags, programFlags } from './global-flags.ts';
import { type Program, topicNames } from './program.ts';
import { isGroup } from './verb.ts';
import { readWords } from './words.ts';

/** Runs the command that the words name, and gives its exit code. */
export async function runCommand(
  argv: readonly string[],
  context: MutableContext,
  program: Program,
): Promise<number> {
  if (argv[0] === '__complete')
    return (await import('./complete.ts')).complete(argv.slice(1), context, program);
  if (argv.length === 0) {
    await context.io.stdout.write((await import('./help.ts')).overview);
    return exitCodes.done;
  }
  const found = await findCommand(program, expandHelp(argv));
  const { path, command, rest, unknown } = found;
  const action = isGroup(command) ? command.alone : command;
  const flags = flagsOf(action ?? command);
  const { given, forCommander } = readWords(rest, Object.values(flags));
  // An error in the words is already printed in the format and the colours that the words ask for.
  context.useFlags(firstFlags(given));
  const asksHelp = given.some(({ flag }) => flag === globalFlags.help);
  if (unknown !== undefined)
    throw await (await import('./suggest.ts')).unknownCommand(found, unknown, asksHelp);
  if (asksHelp) return showHelp(context, 'stdout', found);
  if (given.some(({ flag }) => flag === programFlags.version)) return showVersion(context);
  const { parseWords } = await import('./parse.ts');
  const values = parseWords(commandName(path), action?.args ?? {}, flags, forCommander);
  context.useFlags(values as GlobalFlags, path.join(' '), action?.repairs);
  if (!action) return showHelp(context, 'stderr', found);
  await action.run(context, values);
  await context.tellNotices();
  return context.exitCode;
}

/** Whatever else is given: `--version` never fails. */
async function showVersion({ io }: MutableContext): Promise<number> {
  await io.stdout.write(`${version}\n`);
  return exitCodes.done;
}

async function showHelp(context: MutableContext, stream: 'stdout' | 'stderr', found: Found): Promise<number> {
  const { helpWidth, helpOf } = await import('./help.ts');
  // Not the colours of the settings, because help does not open the config.
  const { createStyle } = await import('../output/style.ts');
  const mode = colorModes.find((each) => each === context.flags.color) ?? 'auto';
  const { bold } = await createStyle(context.io[stream], context.io.env, mode);
  const text = helpOf(found, helpWidth(context.io));
  await context.io[stream].write(text.replace(/^\w[\w ]*:$/gm, (title) => bold(title)));
  return stream === 'stdout' ? exitCodes.done : exitCodes.usage;
}

/**
 * Turns `help pets list`, `pets help list`, `--help pets list` and `pets --help list` into `pets list --help`; a topic
 * is left as it is.
 */
function expandHelp(words: readonly string[]): readonly string[] {
  const [first = '', second = ''] = words;
  if (asksForHelp(first))
    return isTopic(second) ? ['help', ...words.slice(1)] : [...words.slice(1), '--help'];
  if (first.startsWith('-') || !asksForHelp(second)) return words;
  return [first, ...words.slice(2), '--help'];
}

function isTopic(word: string): boolean {
  return topicNames.some((name) => name === word);
}

function asksForHelp(word: string): boolean {
  return word === 'help' || word === '--help' || word === '-h';
}
