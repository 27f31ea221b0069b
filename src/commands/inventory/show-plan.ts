import { changeOf, type Plan } from '../../bulk/make-plan.ts';
import type { Count } from '../../bulk/number-lists.ts';
import { eachAtPace } from '../../bulk/pace.ts';
import { marks } from '../../bulk/rows.ts';
import type { Run } from '../../bulk/run.ts';
import { type FailureKind, failuresOf } from '../../bulk/summary.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { inPages, Printer } from '../../output/print.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';
import { Names } from '../../records/names.ts';

/**
 * A row of a plan. `now` is null for a pet without an entry, undefined if it is not written; `new` is null for a removed
 * entry.
 */
interface ChangeRecord {
  /** Undefined for an invalid row. */
  readonly petId: bigint | undefined;
  readonly name: string | null;
  readonly now: Count | undefined;
  readonly new: Count | undefined;
  readonly change: number | undefined;
  readonly line: number;
  /** `planned`, or why it is not written. */
  readonly state: string;
  readonly reason: string | undefined;
}

/** How many changes are shown before the question. */
const shownChanges = 20;
/** With more changes than this, the names of their pets are not read. */
const maxNames = 100;

/**
 * @param isForPeople whether changes have a sign, and removals a word; programs get numbers and null.
 * @param hasProblems whether rows that cannot be written are among them.
 */
function changesView(isForPeople: boolean, hasProblems = true): View<ChangeRecord> {
  const problems = hasProblems ? {} : ({ extra: true } as const);
  const removed = isForPeople ? 'removed' : null;
  return {
    noun: 'changes',
    columns: [
      { name: 'petId', value: ({ petId }) => petId, align: 'right' },
      { name: 'name', value: ({ name }) => name },
      { name: 'now', value: ({ now }) => now, align: 'right' },
      { name: 'new', value: (row) => (row.new === null ? removed : row.new), align: 'right' },
      {
        name: 'change',
        value: ({ change }) => (change && isForPeople ? signed(change) : change),
        align: 'right',
      },
      { name: 'state', value: ({ state }) => state, status: true, ...problems },
      { name: 'reason', value: ({ reason }) => reason, ...problems },
      { name: 'line', value: ({ line }) => line, align: 'right', extra: true },
    ],
  };
}

/** Checks `--fields` and `--sort` for a plan before anything is sent. @see Printer.check */
export async function checkPlanView(context: Context): Promise<void> {
  const printer = await context.printer();
  await printer.check(changesView(printer.format === 'table'));
}

/** Prints the plan on stdout, in the format asked for: what is written, and what cannot be. */
export async function printPlan(context: Context, run: Run, plan: Plan): Promise<void> {
  const printer = await context.printer();
  const isTable = printer.format === 'table';
  const named = plan.changes > maxNames ? [] : [...run.rows.inState('unprocessed')];
  const names = await readPetNames(context, run, named);
  const view = changesView(isTable, !isTable || countProblems(run) > 0);
  await printer.records(inPages(changesOf(run, names)), view);
}

/** How many rows of the plan cannot be written. */
export function countProblems(run: Run): number {
  return invalidOf(run).length + run.rows.count((row) => isFailed(run, row));
}

/** The invalid rows of a plan; that of a resumed run has none. */
function invalidOf({ invalid, earlier }: Run): Run['invalid'] {
  return earlier ? [] : invalid;
}

function isFailed({ rows }: Run, row: number): boolean {
  return rows.isMarked(row, marks.planned) && (rows.isState(row, 'failed') || rows.isState(row, 'unknown'));
}

/** The rows of a plan that are written or cannot be, in the order of the input. */
function* changesOf(run: Run, names: ReadonlyMap<bigint, string>): Generator<ChangeRecord> {
  const { rows } = run;
  const invalid = invalidOf(run);
  let next = 0;
  function* invalidBefore(end: number): Generator<ChangeRecord> {
    for (let row = invalid[next]; row && row.line < end; row = invalid[next]) {
      next += 1;
      yield { ...unwritten, petId: undefined, line: row.line, state: 'invalid', reason: row.message };
    }
  }
  for (const row of rows.where((each) => rows.isState(each, 'unprocessed') || isFailed(run, each))) {
    yield* invalidBefore(rows.line(row));
    yield toRecord(run, row, names);
  }
  yield* invalidBefore(Number.POSITIVE_INFINITY);
}

const unwritten = { now: undefined, new: undefined, change: undefined, name: null };

function toRecord({ rows }: Run, row: number, names: ReadonlyMap<bigint, string>): ChangeRecord {
  const state = rows.state(row);
  const petId = rows.id(row);
  const line = rows.line(row);
  if (state !== 'unprocessed') return { ...unwritten, petId, line, state, reason: rows.reason(row)?.message };
  const now = rows.before(row) ?? null;
  const after = rows.after(row);
  const name = names.get(petId) ?? null;
  const change = changeOf(now, after);
  return { petId, name, now, new: after, change, line, state: 'planned', reason: undefined };
}

/** Shows the largest changes on stderr. */
export async function showLargestChanges(context: Context, run: Run, plan: Plan): Promise<void> {
  const { io, quiet } = context;
  if (quiet) return;
  const color = context.settings.get('color');
  const columns = { fields: undefined, sort: undefined, header: true };
  const shown = { format: 'table', ...columns, color, quiet: true } as const;
  const largest = await largestChanges(context, run);
  await new Printer({ ...io, stdout: io.stderr }, shown).records([largest], changesView(true, false));
  if (plan.changes > largest.length)
    await context.print(
      `and ${groupDigits(plan.changes - largest.length)} more; --dry-run shows all of them`,
    );
}

async function largestChanges(context: Context, run: Run): Promise<ChangeRecord[]> {
  const { rows } = run;
  const size = (row: number) => Math.abs(changeOf(rows.before(row) ?? null, rows.after(row)));
  const bySize = (one: number, other: number) => size(other) - size(one);
  let largest: number[] = [];
  for (const row of rows.inState('unprocessed')) {
    largest.push(row);
    if (largest.length >= 50 * shownChanges) largest = largest.sort(bySize).slice(0, shownChanges);
  }
  const shown = largest.sort(bySize).slice(0, shownChanges);
  const names = await readPetNames(context, run, shown);
  return shown.map((row) => toRecord(run, row, names));
}

function signed(change: number): string {
  return change > 0 ? `+${groupDigits(change)}` : groupDigits(change);
}

/** The names of the pets of a few rows, for people; unreadable ones are left out. */
async function readPetNames(
  context: Context,
  { client, pace, rows }: Run,
  shown: readonly number[],
): Promise<ReadonlyMap<bigint, string>> {
  const names = new Map<bigint, string>();
  const known = new Names(context, client);
  await eachAtPace(pace, shown, async (row) => {
    await known.addPet(rows.id(row), names);
  }).catch(() => {});
  return names;
}

/** Prints the totals of the plan on stderr, and why rows cannot be written. */
export async function printTotals(context: Context, run: Run, plan: Plan): Promise<void> {
  const { changes, rows, unchanged, raised, lowered, toZero, created, removed } = plan;
  const facts = [
    totalOf('up', '+', raised, [[created, 'new']]),
    totalOf('down', '-', lowered, [
      [toZero, 'to 0'],
      [removed, 'removed'],
    ]),
    unchanged > 0 ? `${counted(unchanged, 'pet', 'pets')} the same` : '',
  ].filter((fact) => fact !== '');
  const tail = facts.length > 0 ? `: ${facts.join(', ')}` : '';
  await context.print(`plan: ${groupDigits(changes)} of ${counted(rows, 'row', 'rows')} to write${tail}`);
  const isPlanned = (row: number) => run.rows.isMarked(row, marks.planned);
  for (const { count, example } of failuresOf(run.rows, isPlanned))
    await context.print(
      `warning: ${counted(count, 'row', 'rows')} cannot be written: ${exampleText(example)}`,
    );
}

/** `3 pets down -1,208 (2 removed)`; empty if there are none. */
function totalOf(
  direction: string,
  sign: string,
  { rows, units }: Plan['raised'],
  parts: readonly (readonly [count: number, what: string])[],
): string {
  if (rows === 0) return '';
  const notes = parts.filter(([count]) => count > 0).map(([count, what]) => `${groupDigits(count)} ${what}`);
  const note = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return `${counted(rows, 'pet', 'pets')} ${direction} ${sign}${groupDigits(units)}${note}`;
}

/** The first row of a kind of failure: its line in the input if it has one, its pet, and the reason. */
export function exampleText({ line, petId, message, requestId }: FailureKind['example']): string {
  const place = line > 0 ? `line ${line}, pet ${petId}` : `pet ${petId}`;
  return sanitize(`${place}: ${message}${requestId === undefined ? '' : ` (request ${requestId})`}`);
}
