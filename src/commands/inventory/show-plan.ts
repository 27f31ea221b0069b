import { takesParameter } from '../../api/contract.ts';
import type { FailureKind } from '../../bulk/ledger.ts';
import { eachAtPace } from '../../bulk/pace.ts';
import type { Plan } from '../../bulk/plan.ts';
import type { Session } from '../../bulk/session.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { createPrinter, type Printer } from '../../output/print.ts';
import type { Style } from '../../output/style.ts';
import { counted, groupDigits, sanitize } from '../../text.ts';

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
export async function showPlan(context: Context, plan: Plan): Promise<void> {
  const { io, flags } = context;
  const color = (await context.settings()).get('color');
  const columns = { fields: undefined, sort: undefined, header: true };
  const shown = { format: 'table', ...columns, color, quiet: true } as const;
  const rows = await largestChanges(plan);
  if (rows.length > 0 && !flags.quiet)
    await createPrinter({ ...io, stdout: io.stderr }, shown).records([rows], changesView(true));
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

/** Prints the totals of the plan and the rows that cannot be written: aligned on a terminal, plain lines in a log. */
export async function tellPlan(context: Context, plan: Plan): Promise<void> {
  const { io, flags } = context;
  const failures = plan.session.ledger.failures();
  if (flags.quiet) return;
  if (io.stderr.isTerminal && !io.env.CI)
    await io.stderr.write(totalsBlock(plan, failures, await context.style('stderr')));
  else for (const line of totalsLines(plan, failures)) await context.notice(line);
}

/** One line of the totals, as texts. */
interface Total {
  readonly label: string;
  readonly count: string;
  readonly noun: string;
  /** The sum of the changes, with its sign. */
  readonly units: string;
  readonly note: string;
  readonly paint?: 'green' | 'yellow' | 'red' | 'dim';
}

/** The totals and the failures as aligned lines for a terminal. */
function totalsBlock(plan: Plan, failures: readonly FailureKind[], style: Style): string {
  const told = [...totalsOf(plan), ...failures.map(failureTotal)];
  const totals = told.length > 0 ? told : [sameTotal(plan)];
  const widest = (key: 'count' | 'noun' | 'units') => Math.max(...totals.map((total) => total[key].length));
  const [counts, nouns, units] = [widest('count'), widest('noun'), widest('units')];
  const lines = totals.map((total) => {
    const { label, count, noun, note, paint } = total;
    const change = total.units.padStart(units);
    const text = `${label.padStart(6)}  ${count.padStart(counts)} ${noun.padEnd(nouns)}  ${change}  ${note}`;
    return `${paint ? style[paint](text.trimEnd()) : text.trimEnd()}\n`;
  });
  return lines.join('');
}

/** The same as plain lines for a log: one for the plan, one for each kind of failure. */
function totalsLines(plan: Plan, failures: readonly FailureKind[]): string[] {
  const { changes, considered, session } = plan;
  const facts = totalsOf(plan).map(({ label, count, noun, units, note }) =>
    [label, count, noun, units, note && `(${note})`].filter((part) => part).join(' '),
  );
  const head = `plan: ${groupDigits(changes)} of ${counted(considered, 'row', 'rows')} to write`;
  const tail = facts.length > 0 ? `: ${facts.join(', ')}` : '';
  const warnings = failures
    .map(failureTotal)
    .map(({ count, noun, note }) => `warning: ${count} ${noun} cannot be written: ${note}`);
  return [head + (session.flags.blind ? ', blind' : tail), ...warnings];
}

function totalsOf(plan: Plan): Total[] {
  const { changes, unchanged, raised, lowered, toZero, created, removed, session } = plan;
  if (session.flags.blind) return [totalOf('blind', changes, { note: 'current counts not read' })];
  const totals: Total[] = [];
  if (raised.rows > 0) {
    const units = `+${groupDigits(raised.units)}`;
    totals.push(totalOf('up', raised.rows, { units, note: noteOf([[created, 'new']]), paint: 'green' }));
  }
  if (lowered.rows > 0) {
    const units = `-${groupDigits(lowered.units)}`;
    const note = noteOf([
      [toZero, 'to 0'],
      [removed, 'removed'],
    ]);
    totals.push(totalOf('down', lowered.rows, { units, note, paint: 'yellow' }));
  }
  return unchanged > 0 ? [...totals, sameTotal(plan)] : totals;
}

function sameTotal({ unchanged }: Plan): Total {
  return totalOf('same', unchanged, { paint: 'dim' });
}

function totalOf(label: string, count: number, more: Partial<Total>): Total {
  const noun = count === 1 ? 'pet' : 'pets';
  return { label, count: groupDigits(count), noun, units: '', note: '', ...more };
}

function failureTotal({ count, example }: FailureKind): Total {
  const noun = count === 1 ? 'row' : 'rows';
  return totalOf('fails', count, { noun, note: exampleText(example), paint: 'red' });
}

function noteOf(parts: readonly (readonly [count: number, what: string])[]): string {
  const told = parts.filter(([count]) => count > 0);
  return told.map(([count, what]) => `${groupDigits(count)} ${what}`).join(', ');
}

/**
 * The names of the pets of a few rows, for people; unreadable ones are left out. Each is read as the first of the list
 * after the id before it, because the operation that reads one pet is deprecated.
 */
async function readPetNames(session: Session, rows: readonly number[]): Promise<ReadonlyMap<bigint, string>> {
  const { client } = session;
  const names = new Map<bigint, string>();
  const list = client.contract.operations.get('listPets');
  if (!list || !takesParameter(list, 'after') || !takesParameter(list, 'limit')) return names;
  await eachAtPace(session.pace, rows, async (row) => {
    const id = session.rows.id(row);
    for await (const [pet] of client.list('listPets', { after: id - 1n, limit: 1 }, { retries: 0 })) {
      if (pet?.id === id) names.set(id, pet.name);
      return;
    }
  }).catch(() => {});
  return names;
}

/** The first row of a kind of failure: its line in the input if it has one, its pet, and the reason. */
export function exampleText({ line, petId, message, requestId }: FailureKind['example']): string {
  const place = line > 0 ? `line ${line}, pet ${petId}` : `pet ${petId}`;
  return sanitize(`${place}: ${message}${requestId === undefined ? '' : ` (request ${requestId})`}`);
}
