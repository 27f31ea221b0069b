import type { CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { sleep } from '../deadline.ts';
import { CliError, UsageError } from '../errors.ts';
import { printJson } from '../json.ts';
import { type Column, compareBy, pickColumns, type View } from '../output/columns.ts';
import { createPrinter } from '../output/print.ts';
import { canRedraw, openScreen } from '../output/screen.ts';
import { sanitize } from '../text.ts';
import { forgetNames } from './names.ts';
import type { Noun } from './noun.ts';
import { fillView } from './view.ts';

interface Watched<Entity> {
  readonly intervalMs: number;
  readonly limit: number | undefined;
  /** Reads the list once, page by page. */
  read(options: CallOptions): Promise<AsyncIterable<readonly Entity[]>>;
}

/** The display of a watch. */
interface Display<Entity> {
  show(rows: readonly Entity[], view: View<Entity>, changes: Changes<Entity>): Promise<void>;
  fail(why: string): Promise<void>;
  close(): Promise<void>;
}

/** The differences between a poll and the one before; at first all records are added. */
interface Changes<Entity> {
  readonly added: ReadonlySet<Entity>;
  readonly changed: ReadonlySet<Entity>;
  readonly deleted: readonly Entity[];
}

/**
 * Polls a list until it is interrupted. On a terminal it redraws a table in place; otherwise it prints changes as JSON
 * lines. A failed poll is reported, and polling continues.
 */
export async function watchRecords<Entity>(
  context: Context,
  client: Client,
  noun: Noun<Entity>,
  { intervalMs, limit, read }: Watched<Entity>,
): Promise<never> {
  const display = await openDisplay<Entity>(context, noun, intervalMs);
  const { sort } = context.flags;
  let before = new Map<string, { readonly row: Entity; readonly text: string }>();
  const poll = async (options: CallOptions) => {
    forgetNames(client);
    const rows: Entity[] = [];
    for await (const page of await read(options)) for (const row of page) rows.push(row);
    const { view } = await fillView(context, client, noun, 'list');
    if (sort !== undefined) rows.sort(compareBy(view, sort));
    const shown = rows.slice(0, limit);
    const now = new Map(shown.map((row) => [keyOf(row), { row, text: printJson(row) }]));
    await display.show(shown, view, {
      added: new Set(shown.filter((row) => !before.has(keyOf(row)))),
      changed: new Set(
        shown.filter((row) => {
          const old = before.get(keyOf(row));
          return old !== undefined && old.text !== now.get(keyOf(row))?.text;
        }),
      ),
      deleted: [...before].filter(([key]) => !now.has(key)).map(([, { row }]) => row),
    });
    before = now;
  };
  try {
    return await pollForever(context, intervalMs, poll, display.fail);
  } finally {
    await display.close();
  }
}

/**
 * Polls until it is interrupted. A failed poll is reported, and polling continues, after the time in Retry-After if the
 * answer has one.
 *
 * @param poll sends its requests with these options.
 */
export async function pollForever(
  context: Context,
  intervalMs: number,
  poll: (options: CallOptions) => Promise<void>,
  fail: (why: string) => Promise<void>,
): Promise<never> {
  const { signal } = context.interrupts;
  for (;;) {
    let askedMs = 0;
    let waitMs = intervalMs;
    try {
      await poll({
        afterAttempt: ({ retryAfterMs = 0 }) => {
          askedMs = retryAfterMs;
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CliError) || error.kind === 'usage') throw error;
      waitMs = Math.max(intervalMs, askedMs);
      await fail(`${error.message}; the next attempt is in ${Math.round(waitMs / 1000)} s`);
    }
    await sleep(waitMs, signal);
  }
}

/** The identity of a record: its id, or the whole record if it has none. */
function keyOf(row: unknown): string {
  const { id, petId } = row as { readonly id?: unknown; readonly petId?: unknown };
  return String(id ?? petId ?? printJson(row));
}

/** @throws UsageError for a format that cannot show changes. */
async function openDisplay<Entity>(
  context: Context,
  noun: Noun<Entity>,
  intervalMs: number,
): Promise<Display<Entity>> {
  const { io } = context;
  const { value: format, source } = (await context.settings()).explain('output');
  if (format === 'table' && canRedraw(io)) return screenDisplay(context, noun, intervalMs);
  if (format === 'jsonl' || (format === 'table' && source === 'default')) return eventDisplay(context);
  throw new UsageError(
    `--watch: prints changes as jsonl, but the output format is ${format}`,
    'give -o jsonl, or none; a terminal shows a table',
  );
}

function eventDisplay<Entity>(context: Context): Display<Entity> {
  const fields = context.flags.fields?.split(',').map((field) => field.trim());
  const { stdout } = context.io;
  return {
    async show(rows, view, { added, changed, deleted }) {
      const columns = fields && pickColumns(view, fields);
      const record = (row: Entity) =>
        columns ? Object.fromEntries(columns.map(({ name, value }) => [name, value(row) ?? null])) : row;
      const line = (event: string, row: Entity) => `${printJson({ event, record: record(row) })}\n`;
      const lines = [
        ...deleted.map((row) => line('deleted', row)),
        ...rows.filter((row) => changed.has(row)).map((row) => line('changed', row)),
        ...rows.filter((row) => added.has(row)).map((row) => line('added', row)),
      ];
      if (lines.length > 0) await stdout.write(lines.join(''));
    },
    fail: (why) => context.notice(`note: ${why}`),
    close: async () => {},
  };
}

/** A table whose first column marks rows that the last poll added (+) or changed (*). */
async function screenDisplay<Entity>(
  context: Context,
  noun: Noun<Entity>,
  intervalMs: number,
): Promise<Display<Entity>> {
  const screen = openScreen(context.io);
  const style = await context.style('stdout');
  const settings = await context.settings();
  const place = settings.offline ? 'the embedded store' : (settings.get('base-url') ?? '');
  const clock = () => context.now().toTimeString().slice(0, 8);
  let table: readonly string[] = [];
  let isFirst = true;
  return {
    async show(rows, view, { added, changed, deleted }) {
      const counts = [
        ...(isFirst ? [] : [[added.size, 'added'] as const]),
        [changed.size, 'changed'] as const,
        [deleted.length, 'deleted'] as const,
      ];
      const told = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
      const head = `${noun.many} of ${sanitize(place)} at ${clock()}, every ${intervalMs / 1000} s`;
      const mark: Column<Entity> = {
        name: ' ',
        value: (row) => (changed.has(row) ? '*' : !isFirst && added.has(row) ? '+' : ' '),
      };
      table = [
        style.bold(told.length === 0 ? head : `${head}: ${told.join(', ')}`),
        ...(await drawTable(context, rows, view, mark)),
      ];
      isFirst = false;
      await screen.draw(table);
    },
    async fail(why) {
      await screen.draw([style.red(`${clock()}: ${sanitize(why)}`), ...table.slice(1)]);
    },
    close: () => screen.close(),
  };
}

/** The lines of the table that `list` would print, with an additional first column. */
async function drawTable<Entity>(
  context: Context,
  rows: readonly Entity[],
  view: View<Entity>,
  mark: Column<Entity>,
): Promise<readonly string[]> {
  const { io, flags } = context;
  let text = '';
  const stdout = Object.create(io.stdout, {
    write: {
      value: async (piece: string | Uint8Array) => {
        text += String(piece);
      },
    },
  });
  const printer = createPrinter(
    { ...io, stdout },
    {
      format: 'table',
      fields: undefined,
      sort: undefined,
      header: flags.noHeader !== true,
      color: (await context.settings()).get('color'),
      quiet: true,
    },
  );
  const columns = pickColumns(
    view,
    flags.fields?.split(',').map((field) => field.trim()),
  ).map(({ extra: _, ...column }) => column);
  await printer.records([rows], { ...view, columns: [mark, ...columns] });
  return text.replace(/\n$/, '').split('\n');
}
