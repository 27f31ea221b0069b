import type { MutableContext } from '../context.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { type AnyCommand, CommanderError } from './command.ts';
import { expandHelp } from './help-command.ts';
import { overview } from './overview.ts';
import { createProgram, namedCommand, type ProgramText } from './program.ts';

/** Runs the command that the words name, and gives its exit code. */
export async function runCommand(argv: readonly string[], context: MutableContext): Promise<number> {
  if (argv.length === 0) {
    await context.io.stdout.write(overview);
    return exitCodes.done;
  }
  const text: ProgramText = { out: '', err: '' };
  const words = expandHelp(argv);
  const program = await createProgram(context, { words, text, onAction: context.useFlags });
  const named = namedCommand(program, words);
  try {
    await program.parseAsync(named.unknown === undefined ? [...words] : withoutHelp(words), { from: 'user' });
    await context.tellLifeCycle();
    return context.exitCode;
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (!isHelp(thrown)) throw toUsageError(thrown, named.command);
    return text.err === '' ? exitCodes.done : exitCodes.usage;
  } finally {
    if (text.out !== '') await context.io.stdout.write(text.out);
    if (text.err !== '') await context.io.stderr.write(text.err);
  }
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
  const [why = '', suggestion] = message.replace(/^error: /, '').split('\n');
  const path = pathOf(command);
  return new UsageError(
    `${path}: ${why}`,
    suggestion?.replace(/^\((.*)\)$/, '$1') ?? `see \`${path} --help\``,
  );
}

function pathOf(command: AnyCommand): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
