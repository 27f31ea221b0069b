import { takesParameter } from '../../api/contract.ts';
import { eachAtPace } from '../../bulk/pace.ts';
import type { Plan } from '../../bulk/plan.ts';
import type { Session } from '../../bulk/session.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { Printer } from '../../output/print.ts';
import { groupDigits } from '../../process/text.ts';

/**
 * A change in the output. `now` is null for a pet without an entry, undefined if it was not read; `new` is null for a
 * removed entry.
 */
interface ChangeRecord {
  readonly petId: bigint;
  readonly name: string | null;
  readonly now: number | null | undefined;
  readonly new: number | null;
  readonly change: number | undefined;
  readonly line: number;
}

/** How many changes are shown before the question. */
const shownChanges = 20;
/** With more changes than this, the names of their pets are not read. */
const mostNames = 100;

/** @param isForPeople whether changes have a sign, and removals a word; programs get numbers and null. */
function changesView(isForPeople: boolean): View<ChangeRecord> {
  return {
    noun: 'changes',
    columns: [
      { name: 'petId', value: ({ petId }) => petId, align: 'right' },
      { name: 'name', value: ({ name }) => name },
      { name: 'now', value: ({ now }) => now, align: 'right' },
      { name: 'new', value: (change) => change.new ?? (isForPeople ? 'removed' : null), align: 'right' },
      {
        name: 'change',
        value: ({ change }) => (change && isForPeople ? signed(change) : change),
        align: 'right',
      },
      { name: 'line', value: ({ line }) => line, align: 'right', extra: true },
    ],
  };
}

/** Prints all changes on stdout, in the format asked for. */
export async function printChanges(context: Context, plan: Plan): Promise<void> {
  const printer = await context.printer();
  await printer.records(changePages(plan), viewFor(printer));
}

/** Checks `--fields` and `--sort` for the changes before anything is sent. @see Printer.check */
export async function checkChangesView(context: Context): Promise<void> {
  const printer = await context.printer();
  await printer.check(viewFor(printer));
}

function viewFor({ format }: Printer): View<ChangeRecord> {
  return changesView(format === 'table');
}

/** Shows the largest changes on stderr. */
export async function showLargestChanges(context: Context, plan: Plan): Promise<void> {
  const { io, flags } = context;
  const color = (await context.settings()).get('color');
  const columns = { fields: undefined, sort: undefined, header: true };
  const shown = { format: 'table', ...columns, color, quiet: true } as const;
  const rows = await largestChanges(plan);
  if (rows.length > 0 && !flags.quiet)
    await new Printer({ ...io, stdout: io.stderr }, shown).records([rows], changesView(true));
  if (plan.changes > rows.length)
    await context.notice(`and ${groupDigits(plan.changes - rows.length)} more; --dry-run shows all of them`);
}

function signed(change: number): string {
  return change > 0 ? `+${groupDigits(change)}` : groupDigits(change);
}

/** The largest changes first; of a blind plan the first rows. */
async function largestChanges({ session }: Plan): Promise<ChangeRecord[]> {
  const { rows, flags } = session;
  const size = (row: number) => Math.abs((rows.quantity(row) ?? 0) - (rows.before(row) ?? 0));
  let largest: number[] = [];
  for (const row of rows.inState('unprocessed')) {
    largest.push(row);
    if (flags.blind && largest.length === shownChanges) break;
    if (largest.length < 50 * shownChanges) continue;
    largest = largest.sort((one, other) => size(other) - size(one)).slice(0, shownChanges);
  }
  if (!flags.blind) largest.sort((one, other) => size(other) - size(one));
  const shown = largest.slice(0, shownChanges);
  const names = await readPetNames(session, shown);
  return shown.map((row) => toRecord(session, row, names));
}

async function* changePages({ changes, session }: Plan): AsyncGenerator<ChangeRecord[]> {
  const changed = session.rows.inState('unprocessed');
  const names = await readPetNames(session, changes > mostNames ? [] : [...changed]);
  let page: ChangeRecord[] = [];
  for (const row of session.rows.inState('unprocessed')) {
    page.push(toRecord(session, row, names));
    if (page.length < 1000) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

function toRecord({ rows }: Session, row: number, names: ReadonlyMap<bigint, string>): ChangeRecord {
  const now = rows.before(row);
  const quantity = rows.quantity(row);
  const petId = rows.id(row);
  const change = now === undefined ? undefined : (quantity ?? 0) - (now ?? 0);
  return { petId, name: names.get(petId) ?? null, now, new: quantity, change, line: rows.line(row) };
}

/**
 * The names of the pets of a few rows, for people; unreadable ones are left out. Each is read as the first of the list
 * after the id before it, because the operation that reads one pet is deprecated.
 */
async function readPetNames(session: Session, rows: readonly number[]): Promise<ReadonlyMap<bigint, string>> {
  const { client } = session;
  const names = new Map<bigint, string>();
  const list = client.contract.operations.get('listPets');
  if (!list || !takesParameter(list, 'after')) return names;
  await eachAtPace(session.pace, rows, async (row) => {
    const id = session.rows.id(row);
    // A name is worth no long wait.
    for await (const [pet] of client.list('listPets', {}, { after: id - 1n, limit: 1, retries: 1 })) {
      if (pet?.id === id) names.set(id, pet.name);
      return;
    }
  }).catch(() => {});
  return names;
}
