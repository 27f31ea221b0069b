import type { MutableContext } from '../context.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { CommanderError } from './command.ts';
import { expandHelp } from './help-command.ts';
import { overview } from './overview.ts';
import { createProgram, type ProgramText } from './program.ts';

/** Runs the command that the words name, and gives its exit code. */
export async function runCommand(argv: readonly string[], context: MutableContext): Promise<number> {
  if (argv.length === 0) {
    await context.io.stdout.write(overview);
    return exitCodes.done;
  }
  const text: ProgramText = { out: '', err: '' };
  const words = expandHelp(argv);
  const program = await createProgram(context, { words, text, onAction: context.useFlags });
  try {
    await program.parseAsync([...words], { from: 'user' });
    await context.tellLifeCycle();
    return context.exitCode;
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (!isHelp(thrown)) throw toUsageError(thrown);
    return text.err === '' ? exitCodes.done : exitCodes.usage;
  } finally {
    if (text.out !== '') await context.io.stdout.write(text.out);
    if (text.err !== '') await context.io.stderr.write(text.err);
  }
}

function isHelp({ code }: CommanderError): boolean {
  return code === 'commander.helpDisplayed' || code === 'commander.help' || code === 'commander.version';
}

/** commander writes `error: why\n(Did you mean x?)`: the second line becomes the hint. */
function toUsageError({ message }: CommanderError): UsageError {
  const [why = '', suggestion] = message.replace(/^error: /, '').split('\n');
  return new UsageError(why, suggestion?.replace(/^\((.*)\)$/, '$1') ?? 'see petstore --help');
}
