import { colorModes } from '../config/values.ts';
import type { MutableContext } from '../context.ts';
import { exitCodes } from '../errors.ts';
import { commandName, type Found, findCommand, flagsOf, unknownCommand } from './find.ts';
import type { GlobalFlags } from './global-flags.ts';
import { firstFlags, type Program, root } from './program.ts';
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
  const found = await findCommand(root, program.entries, expandHelp(argv, program.topics));
  const { path, unknown } = found;
  const command = found.command;
  const flags = flagsOf(command);
  const { given } = readWords(found.rest, Object.values(flags));
  // An error in the words is already printed in the format and the colours that the words ask for.
  context.useFlags(firstFlags(given));
  if (unknown !== undefined && isGroup(command))
    throw unknownCommand(path, unknown, path.length === 0 ? program.entries : command.verbs);
  if (given.some(({ flag }) => flag === flags.help)) return showHelp(context, 'stdout', { found, program });
  const verb = isGroup(command) ? command.verbs.find(({ name }) => name === command.alone) : command;
  const action = verb && !isGroup(verb) ? verb : undefined;
  const { parseWords } = await import('./parse.ts');
  const values = parseWords(
    commandName(path),
    { ...(action?.args && { args: action.args }), flags: action ? flagsOf(action) : flags },
    found.rest,
  );
  context.useFlags(values as GlobalFlags, path.join(' '));
  if (!action) return showHelp(context, 'stderr', { found, program });
  await action.run(context, values);
  await context.tellNotices();
  return context.exitCode;
}

async function showHelp(
  context: MutableContext,
  stream: 'stdout' | 'stderr',
  { found, program }: { readonly found: Found; readonly program: Program },
): Promise<number> {
  const { helpColumns, helpOf } = await import('./help.ts');
  const text = helpOf(found, program, helpColumns(context.io));
  // Not the colours of the settings, because help does not open the config.
  const { createStyle } = await import('../output/style.ts');
  const mode = colorModes.find((each) => each === context.flags.color) ?? 'auto';
  const { bold } = await createStyle(context.io[stream], context.io.env, mode);
  await context.io[stream].write(text.replace(/^\w[\w ]*:$/gm, (title) => bold(title)));
  return stream === 'stdout' ? exitCodes.done : exitCodes.usage;
}

/**
 * Turns `help pets list`, `pets help list`, `--help pets list` and `pets --help list` into `pets list --help`; a topic
 * is left as it is.
 */
export function expandHelp(words: readonly string[], topics: readonly string[]): readonly string[] {
  const [first = '', second = ''] = words;
  if (asksForHelp(first))
    return topics.includes(second) ? ['help', ...words.slice(1)] : [...words.slice(1), '--help'];
  if (first.startsWith('-') || !asksForHelp(second)) return words;
  return [first, ...words.slice(2), '--help'];
}

function asksForHelp(word: string): boolean {
  return word === 'help' || word === '--help' || word === '-h';
}
