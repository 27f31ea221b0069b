import { colorModes } from '../config/values.ts';
import type { MutableContext } from '../context.ts';
import { exitCodes, UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type AnyCommand, CommanderError, mergeFlags } from './command.ts';
import { expandHelp } from './help/index.ts';
import { overview } from './help/overview.ts';
import { createProgram, type ProgramText } from './program.ts';

/** Runs the command that the words name, and gives its exit code. */
export async function runCommand(argv: readonly string[], context: MutableContext): Promise<number> {
  if (argv.length === 0) {
    await context.io.stdout.write(overview);
    return exitCodes.done;
  }
  const text: ProgramText = { out: '', err: '' };
  const words = expandHelp(argv);
  const { root, command, unknown } = await createProgram(context, {
    words,
    text,
    onAction: context.useFlags,
  });
  try {
    await root.parseAsync(unknown === undefined ? [...words] : withoutHelp(words), { from: 'user' });
    await context.tellLifecycle();
    return context.exitCode;
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (!isHelp(thrown)) throw toUsageError(thrown, command);
    return text.err === '' ? exitCodes.done : exitCodes.usage;
  } finally {
    const { color } = mergeFlags(command);
    if (text.out !== '') await showHelp(context.io, { stream: 'stdout', text: text.out, color });
    if (text.err !== '') await showHelp(context.io, { stream: 'stderr', text: text.err, color });
  }
}

interface ShownHelp {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  readonly color: string | undefined;
}

async function showHelp(io: Io, { stream, text, color }: ShownHelp): Promise<void> {
  // The version is no help, and has no styles to drop.
  if (!text.includes('\x1b')) return io[stream].write(text);
  const { isColored } = await import('../output/style.ts');
  const mode = colorModes.find((each) => each === color) ?? 'auto';
  await io[stream].write(isColored(io[stream], io.env, mode) ? text : text.replace(/\x1b\[\d+m/g, ''));
}

function isHelp({ code }: CommanderError): boolean {
  return code === 'commander.helpDisplayed' || code === 'commander.help' || code === 'commander.version';
}

/** No command has this help to show: commander would show that of the program, and exit as if all were well. */
function withoutHelp(words: readonly string[]): string[] {
  return words.filter((word) => word !== '--help' && word !== '-h');
}

/** commander writes `error: why\n(Did you mean x?)`: the second line becomes the hint. */
function toUsageError({ message }: CommanderError, command: AnyCommand): UsageError {
  const refused = refusedChoice(message);
  if (refused) return new UsageError(refused);
  const [why = '', suggestion] = message.replace(/^error: /, '').split('\n');
  const path = pathOf(command);
  return new UsageError(
    `${path}: ${why}`,
    suggestion === undefined ? `see \`${path} --help\`` : didYouMean(suggestion, command),
  );
}

/** An alias is as near as the name it stands for: the name alone is told. */
function didYouMean(suggestion: string, { commands }: AnyCommand): string {
  const words = /^\(Did you mean (?:one of )?(.*)\?\)$/.exec(suggestion)?.[1]?.split(', ') ?? [];
  const toName = (word: string) => commands.find((sub) => sub.aliases().includes(word))?.name() ?? word;
  const names = [...new Set(words.map(toName))];
  return `did you mean ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}?`;
}

/** `--status 'x': must be one of a, b`, as every other value is refused. */
function refusedChoice(message: string): string | undefined {
  const told =
    /^error: option '(?:-\w, )?(?<name>--[\w-]+).*?' argument '(?<value>.*)' is invalid\. Allowed choices are (?<words>.*)\.$/s;
  const operand =
    /^error: command-argument value '(?<value>.*)' is invalid for argument '(?<name>.*?)'\. Allowed choices are (?<words>.*)\.$/s;
  const { name, value, words } = (told.exec(message) ?? operand.exec(message))?.groups ?? {};
  return name && `${name} '${value}': must be one of ${words}`;
}

function pathOf(command: AnyCommand): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
