import { collectRecords } from '../client/whole-list.ts';
import { errorSentence } from '../output/error.ts';
import { sleep, withinLimits } from '../process/deadline.ts';
import { CliError, InterruptedError, type Signal, UsageError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { sanitize, secondsText } from '../process/text.ts';
import { type Access, openView } from './access.ts';
import { Names } from './names.ts';

interface WatchOptions {
  readonly intervalMs: number;
  readonly limit: number | undefined;
  read(): Promise<AsyncIterable<readonly JsonObject[]>>;
}

const clearScreen = '\x1b[2J\x1b[H';

/**
 * Reads a list again and again, and each time clears the terminal and prints the table with its time. A failed reading prints
 * its cause below the table. A signal ends it, without an error and with the exit code of the signal.
 *
 * @throws UsageError if stdout is not a terminal, or the format is not a table.
 */
export async function watchRecords(access: Access, options: WatchOptions): Promise<void> {
  const { context } = access;
  const { io, settings } = context;
  if (settings.get('output') !== 'table' || !io.stdout.isTerminal || io.env.TERM === 'dumb')
    throw new UsageError('--watch: the output must be a table on a terminal', 'run the command in a loop');
  const end = new AbortController();
  const stop = (signal: Signal) => {
    context.setExitCode(new InterruptedError(signal).exitCode);
    end.abort();
  };
  const release = context.interrupts.takeOver(stop);
  try {
    for (;;) {
      await withinLimits({ signals: [end.signal] }, () => printOnce(access, options));
      await sleep(options.intervalMs, end.signal);
    }
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    release();
  }
}

async function printOnce(access: Access, { intervalMs, limit, read }: WatchOptions): Promise<void> {
  const { context, client, noun } = access;
  const { io, settings } = context;
  const { bold, red } = await context.style('stdout');
  const clock = context.now().toTimeString().slice(0, 8);
  try {
    const records = await collectRecords(await read());
    const { view, readNames } = await openView({ ...access, names: new Names(context, client) }, true);
    await readNames();
    const store = settings.offline ? 'the embedded store' : (settings.get('base-url') ?? '');
    const title = `${noun.plural} of ${sanitize(store)} at ${clock}, every ${secondsText(intervalMs)}`;
    await io.stdout.write(`${clearScreen}${bold(title)}\n`);
    await (await context.printer()).records([records], view, limit);
  } catch (error) {
    if (!(error instanceof CliError) || error.kind === 'usage') throw error;
    await io.stdout.write(`${red(`${clock}: ${sanitize(errorSentence(error))}`)}\n`);
  }
}
