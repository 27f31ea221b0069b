import type { Plan } from '../../../bulk/plan.ts';
import type { Client } from '../../../client/client.ts';
import type { Context } from '../../../context.ts';
import type { View } from '../../../output/columns.ts';
import { createPrinter, type Printer } from '../../../output/print.ts';
import { groupDigits } from '../../../text.ts';
import { readPetNames } from './pet-names.ts';

/** A change as it is shown; `now` is null for a pet that has no entry, absent where it was not read; `new` is null for an entry that is removed. */
interface ChangeRow {
  readonly petId: bigint;
  readonly name: string | null;
  readonly now: number | null | undefined;
  readonly new: number | null;
  readonly change: number | undefined;
  readonly line: number;
}

/** How many changes a person is shown before the question. */
const shownChanges = 20;
/** Up to so many changes, the names of their pets are read. */
const mostNames = 100;

/** What cells say. */
interface Wording {
  change(change: number): string | number;
  /** Of an entry that is removed. */
  readonly removed: string | null;
}

const forPeople: Wording = { change: signed, removed: 'removed' };
const forMachines: Wording = { change: (change) => change, removed: null };

function changesView({ change: asText, removed }: Wording): View<ChangeRow> {
  return {
    noun: 'changes',
    columns: [
      { name: 'petId', value: ({ petId }) => petId, align: 'right' },
      { name: 'name', value: ({ name }) => name },
      { name: 'now', value: ({ now }) => now, align: 'right' },
      { name: 'new', value: (row) => row.new ?? removed, align: 'right' },
      { name: 'change', value: ({ change }) => change && asText(change), align: 'right' },
      { name: 'line', value: ({ line }) => line, align: 'right', extra: true },
    ],
  };
}

/** Prints all changes on stdout, in the format asked for. */
export async function printChanges(context: Context, client: Client, plan: Plan): Promise<void> {
  const printer = await context.printer();
  await printer.records(changePages(client, plan), viewFor(printer));
}

/** Settles `--fields` and `--sort` of the changes before anything is sent. @see Printer.check */
export async function checkChangesView(context: Context): Promise<void> {
  const printer = await context.printer();
  await printer.check(viewFor(printer));
}

function viewFor({ format }: Printer): View<ChangeRow> {
  return changesView(format === 'table' ? forPeople : forMachines);
}

/** Shows a person the first changes on stderr, and what they add up to. */
export async function showPlan(context: Context, client: Client, plan: Plan): Promise<void> {
  const { io } = context;
  const settings = await context.settings();
  const color = settings.get('color');
  const shown = {
    format: 'table',
    fields: undefined,
    sort: undefined,
    header: true,
    color,
    quiet: true,
  } as const;
  const rows = await firstChanges(client, plan);
  if (rows.length > 0 && !context.quiet)
    await createPrinter({ ...io, stdout: io.stderr }, shown).records([rows], changesView(forPeople));
  if (plan.changes > rows.length)
    await context.notice(`and ${groupDigits(plan.changes - rows.length)} more; --dry-run shows all of them`);
}

function signed(change: number): string {
  return change > 0 ? `+${groupDigits(change)}` : groupDigits(change);
}

async function firstChanges(client: Client, plan: Plan): Promise<ChangeRow[]> {
  const rows: number[] = [];
  for (const row of plan.rows.inState('unprocessed')) {
    if (rows.length === shownChanges) break;
    rows.push(row);
  }
  return toChanges(
    plan,
    rows,
    await readPetNames(
      client,
      rows.map((row) => plan.rows.id(row)),
    ),
  );
}

async function* changePages(client: Client, plan: Plan): AsyncGenerator<ChangeRow[]> {
  const { rows, changes } = plan;
  const ids = changes > mostNames ? [] : Array.from(rows.inState('unprocessed'), (row) => rows.id(row));
  const names = await readPetNames(client, ids);
  let page: number[] = [];
  for (const row of rows.inState('unprocessed')) {
    page.push(row);
    if (page.length < 1000) continue;
    yield toChanges(plan, page, names);
    page = [];
  }
  if (page.length > 0) yield toChanges(plan, page, names);
}

function toChanges({ rows }: Plan, page: readonly number[], names: ReadonlyMap<bigint, string>): ChangeRow[] {
  return page.map((row) => {
    const now = rows.before(row);
    const quantity = rows.quantity(row);
    const petId = rows.id(row);
    const change = now === undefined ? undefined : (quantity ?? 0) - (now ?? 0);
    return { petId, name: names.get(petId) ?? null, now, new: quantity, change, line: rows.line(row) };
  });
}
