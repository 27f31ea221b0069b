import { attemptsOf } from '../client/attempt.ts';
import { collectRecords } from '../client/whole-list.ts';
import type { Context } from '../context.ts';
import { type Column, compareBy, pickColumns, type View } from '../output/columns.ts';
import { errorSentence } from '../output/error.ts';
import { canRedraw, openScreen, type Screen } from '../output/screen.ts';
import { withinLimits } from '../process/deadline.ts';
import { CliError, InterruptedError, type Signal, UsageError } from '../process/errors.ts';
import { type JsonObject, printJson } from '../process/exact-json.ts';
import { type Look, poll } from '../process/poll.ts';
import { inTwoSteps } from '../process/signals.ts';
import { sanitize, secondsText } from '../process/text.ts';
import type { Access } from './access.ts';
import { openView } from './print-records.ts';

interface WatchOptions {
  readonly intervalMs: number;
  readonly limit: number | undefined;
  /** Reads the list once, page by page. */
  read(): Promise<AsyncIterable<readonly JsonObject[]>>;
}

/** The result of a poll. */
interface PollResult {
  readonly records: readonly JsonObject[];
  /** The records that the poll before did not read, or read with other values. */
  readonly changed: ReadonlySet<JsonObject>;
  readonly view: View<JsonObject>;
}

/**
 * Polls a list and redraws its table until a signal ends it. Then it returns without an error, with the exit code of the
 * signal. If a poll fails, the cause is shown above the last table. The next poll comes after the interval, or after
 * Retry-After if that is longer.
 *
 * @throws UsageError if stdout is not a terminal, or the format is not a table.
 */
export async function watchRecords(access: Access, options: WatchOptions): Promise<void> {
  const { context } = access;
  const { intervalMs } = options;
  await checkTerminal(context);
  const screen = openScreen(context.io);
  const end = new AbortController();
  const stop = (signal: Signal) => {
    context.setExitCode(new InterruptedError(signal).exitCode);
    end.abort();
  };
  let last: readonly JsonObject[] | undefined;
  let lines: readonly string[] = [];
  const look = async (): Promise<Look<void>> => {
    try {
      const result = await readPoll(access, options, last);
      last = result.records;
      lines = await drawTable(access, screen, result);
      await screen.draw([...(await drawTitle(access, intervalMs, result.changed.size)), ...lines]);
      return { value: undefined, isFinal: false };
    } catch (error) {
      if (end.signal.aborted || !(error instanceof CliError) || error.kind === 'usage') throw error;
      const { retryAfterMs = 0 } = attemptsOf(error).at(-1) ?? {};
      const waitMs = Math.max(intervalMs, retryAfterMs);
      const cause = `${clockText(context)}: ${errorSentence(error)}; the next poll is in ${Math.round(waitMs / 1000)} s`;
      const { red } = await context.style('stdout');
      const folded = [sanitize(cause)];
      await screen.draw([...folded.map((line) => red(line)), ...lines]);
      return { value: undefined, isFinal: false, leastPauseMs: waitMs };
    }
  };
  try {
    const lookWhileWatched = () => withinLimits({ signals: [end.signal] }, look);
    const schedule = { pauseMs: () => intervalMs, signal: end.signal };
    await inTwoSteps(context, { stop }, () => poll(lookWhileWatched, schedule));
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    await screen.close();
  }
}

async function checkTerminal({ io, settings }: Context): Promise<void> {
  const format = settings.get('output');
  if (format === 'table' && canRedraw(io)) return;
  throw new UsageError(
    `--watch: the output must be a table on a terminal, but ${format === 'table' ? 'stdout is none' : `the output format is ${format}`}`,
    'run the command in a loop, or wait for a value with `get --until status=sold`',
  );
}

/**
 * Reads the list once.
 *
 * @param last the records of the poll before. Undefined for the first poll, in which no record counts as changed.
 */
async function readPoll(
  access: Access,
  { limit, read }: WatchOptions,
  last: readonly JsonObject[] | undefined,
): Promise<PollResult> {
  const { sort } = access.context.flags;
  access.names.forget();
  const list = await collectRecords(await read(), sort === undefined ? limit : undefined);
  const { view, readNames } = await openView(access, true);
  await readNames();
  if (sort !== undefined) list.sort(compareBy(view, sort));
  const before = new Set(last?.map((record) => printJson(record)));
  const records = list.slice(0, limit);
  const changed = records.filter((record) => last !== undefined && !before.has(printJson(record)));
  return { records, changed: new Set(changed), view };
}

/** Draws the lines of the table. Changed records have a mark, and come first if the table is taller than the screen. */
async function drawTable(
  { context }: Access,
  screen: Screen,
  { records, changed, view }: PollResult,
): Promise<readonly string[]> {
  const printer = await context.printer();
  const mark: Column<JsonObject> = { name: ' ', value: (record) => (changed.has(record) ? '*' : ' ') };
  const columns = [mark, ...pickColumns(view, context.flags.fields)];
  const draw = async (ordered: readonly JsonObject[]) =>
    (await printer.tableText(columns, ordered)).trimEnd().split('\n');
  const lines = await draw(records);
  if (lines.length < screen.height() || changed.size === 0) return lines;
  return draw([...changed, ...records.filter((record) => !changed.has(record))]);
}

/** Draws the line above the table: the list, the time of the poll, and the number of changed records. */
async function drawTitle(
  { context, noun }: Access,
  intervalMs: number,
  changed: number,
): Promise<readonly string[]> {
  const { settings } = context;
  const storeName = settings.offline ? 'the embedded store' : (settings.get('base-url') ?? '');
  const title = `${noun.plural} of ${sanitize(storeName)} at ${clockText(context)}, every ${secondsText(intervalMs)}`;
  const { bold } = await context.style('stdout');
  return [bold(changed === 0 ? title : `${title}: ${changed} changed`)];
}

function clockText({ now }: Context): string {
  return now().toTimeString().slice(0, 8);
}
