import type { Attempt } from '../client/attempt.ts';
import type { CallOptions } from '../client/call.ts';
import { collect } from '../client/whole-list.ts';
import type { Context } from '../context.ts';
import { type Column, compareBy, pickColumns, pickFields, type View } from '../output/columns.ts';
import { canRedraw, openScreen } from '../output/screen.ts';
import { tableWriter } from '../output/table.ts';
import { race, sleep } from '../process/deadline.ts';
import { CliError, InterruptedError, UsageError } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import { sanitize } from '../process/text.ts';
import type { Access, Noun } from './noun.ts';
import { fillView } from './print-records.ts';

interface Watched<Entity> {
  readonly intervalMs: number;
  readonly limit: number | undefined;
  /** Reads the list once, page by page. */
  read(options: CallOptions): Promise<AsyncIterable<readonly Entity[]>>;
}

/** The differences between a poll and the one before; at first all records are added. */
interface Changes<Entity> {
  readonly added: ReadonlySet<Entity>;
  readonly changed: ReadonlySet<Entity>;
  readonly deleted: ReadonlySet<Entity>;
}

/** The display of a watch. */
interface Display<Entity> {
  show(records: readonly Entity[], view: View<Entity>, changes: Changes<Entity>): Promise<void>;
  fail(why: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Polls a list until a signal ends it. On a terminal it redraws a table in place; otherwise it prints changes as JSON
 * lines. The signal is the end and no failure: there is no message, and the exit code is the signal's. A failed poll is
 * reported, and polling continues, after the time in Retry-After if the answer has one.
 */
export async function watchRecords<Entity>(access: Access<Entity>, watched: Watched<Entity>): Promise<void> {
  const { context, noun } = access;
  const { intervalMs } = watched;
  const display = await openDisplay<Entity>(context, noun, intervalMs);
  const end = new AbortController();
  const release = context.interrupts.take((signal) => {
    context.exitCode = new InterruptedError(signal).exitCode;
    end.abort();
  });
  const poll = createPoll(access, watched, display);
  const pollOnce = async (): Promise<number> => {
    let askedMs = 0;
    const afterAttempt = ({ retryAfterMs = 0 }: Attempt) => {
      askedMs = retryAfterMs;
    };
    try {
      await poll({ afterAttempt });
      return intervalMs;
    } catch (error) {
      if (end.signal.aborted || !(error instanceof CliError) || error.kind === 'usage') throw error;
      const waitMs = Math.max(intervalMs, askedMs);
      await display.fail(`${error.message}; the next attempt is in ${Math.round(waitMs / 1000)} s`);
      return waitMs;
    }
  };
  try {
    for (;;) await sleep(await race({ signals: [end.signal] }, pollOnce), end.signal);
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    release();
    await display.close();
  }
}

/** Returns a function that reads the list and shows the differences from its last reading. */
function createPoll<Entity>(
  access: Access<Entity>,
  { limit, read }: Watched<Entity>,
  display: Display<Entity>,
): (options: CallOptions) => Promise<void> {
  const { sort } = access.context.flags;
  let before = new Map<string, Entity>();
  return async (options) => {
    access.names.forget();
    const records = await collect(await read(options), sort === undefined ? limit : undefined);
    const { view } = await fillView(access, 'list');
    if (sort !== undefined) records.sort(compareBy(view, sort));
    const shown = records.slice(0, limit);
    const now = new Map(shown.map((record) => [keyOf(record), record]));
    const changes = { added: new Set<Entity>(), changed: new Set<Entity>(), deleted: new Set<Entity>() };
    for (const [key, record] of now) {
      const old = before.get(key);
      if (old === undefined) changes.added.add(record);
      else if (printJson(record) !== printJson(old)) changes.changed.add(record);
    }
    for (const [key, record] of before) if (!now.has(key)) changes.deleted.add(record);
    before = now;
    await display.show(shown, view, changes);
  };
}

/** The identity of a record: its id, or the whole record if it has none. */
function keyOf(record: unknown): string {
  const { id, petId } = record as { readonly id?: unknown; readonly petId?: unknown };
  return String(id ?? petId ?? printJson(record));
}

/** @throws UsageError for a format that cannot show changes. */
async function openDisplay<Entity>(
  context: Context,
  noun: Noun<Entity>,
  intervalMs: number,
): Promise<Display<Entity>> {
  const { value: format, source } = (await context.settings()).explain('output');
  if (format === 'table' && canRedraw(context.io)) return screenDisplay(context, noun, intervalMs);
  if (format === 'jsonl' || (format === 'table' && source === 'default')) return eventDisplay(context);
  throw new UsageError(
    `--watch: prints changes as jsonl, but the output format is ${format}`,
    'give -o jsonl, or none; a terminal shows a table',
  );
}

function eventDisplay<Entity>(context: Context): Display<Entity> {
  const { fields } = context.flags;
  const { stdout } = context.io;
  return {
    async show(_, view, changes) {
      const columns = fields && pickColumns(view, fields);
      const picked = (record: Entity) => (columns ? pickFields(columns, record) : record);
      const lines = (['deleted', 'changed', 'added'] as const).flatMap((event) =>
        [...changes[event]].map((record) => `${printJson({ event, record: picked(record) })}\n`),
      );
      if (lines.length > 0) await stdout.write(lines.join(''));
    },
    fail: (why) => context.print(`note: ${why}`),
    close: async () => {},
  };
}

/** A table whose first column marks records that the last poll added (+) or changed (*). */
async function screenDisplay<Entity>(
  context: Context,
  noun: Noun<Entity>,
  intervalMs: number,
): Promise<Display<Entity>> {
  const { io, flags } = context;
  const screen = openScreen(io);
  const style = await context.style('stdout');
  const clock = () => context.now().toTimeString().slice(0, 8);
  let drawn: readonly string[] = [];
  const settings = await context.settings();
  const place = settings.offline ? 'the embedded store' : (settings.get('base-url') ?? '');
  let isFirst = true;
  return {
    close: () => screen.close(),
    // The reason replaces the head.
    fail: (why) => screen.draw([style.red(`${clock()}: ${sanitize(why)}`), ...drawn]),
    async show(records, view, { added, changed, deleted }) {
      const fresh = isFirst ? new Set<Entity>() : added;
      isFirst = false;
      const counts = Object.entries({ added: fresh.size, changed: changed.size, deleted: deleted.size })
        .filter(([, count]) => count > 0)
        .map(([what, count]) => `${count} ${what}`);
      const head = `${noun.many} of ${sanitize(place)} at ${clock()}, every ${intervalMs / 1000} s`;
      const mark: Column<Entity> = {
        name: ' ',
        value: (record) => (changed.has(record) ? '*' : fresh.has(record) ? '+' : ' '),
      };
      const writer = tableWriter({
        columns: [mark, ...pickColumns(view, flags.fields)],
        isPicked: true,
        shape: 'list',
        header: !flags.noHeader,
        isTerminal: true,
        width: io.stdout.width ?? 80,
        style,
        value: (record) => record,
      });
      const table = `${records.length > 0 ? await writer.print(records) : ''}${await writer.end()}`;
      const title = counts.length === 0 ? head : `${head}: ${counts.join(', ')}`;
      drawn = table.trimEnd().split('\n');
      await screen.draw([style.bold(title), ...drawn]);
    },
  };
}
