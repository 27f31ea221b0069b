import { UsageError } from '../process/errors.ts';
import { type Outcome, type Row, uncertaintyOf } from '../writes/decide.ts';
import { findNextCommand } from './report.ts';
import {
  bookedCode,
  fateOf,
  isAppliedOrUncertain,
  isUnfinished,
  type Run,
  type RunRow,
  rowName,
} from './run.ts';
import { areDisjoint } from './run-header.ts';
import { type RunInfo, type RunList, readRun, runsOfDelivery, runsOnTarget, runTime } from './run-store.ts';

// What other runs on the target mean for the rows of a run: a delivery is booked once, an uncertain row that another run has
// planned since stays unknown, and an undo leaves alone what a later run has written.

/** The outcomes that the rows of a run get because of other runs, whatever their records show. */
export type Claims = ReadonlyMap<Row, Outcome>;

/**
 * Finds what other runs claim of the open rows of a run.
 *
 * @param undone the run that an undo takes back.
 * @throws UsageError if a journal that may be of the target cannot be read.
 */
export async function claimsOn(list: RunList, run: Run, undone: Run | undefined): Promise<Claims> {
  const rows = run.rows.filter(isUnfinished);
  const booked = await claimBooked(list, run, rows);
  const left = undone ? claimNotApplied(undone, rows) : [];
  return new Map([...booked, ...(await claimPlannedLater(list, run, rows, undone)), ...left]);
}

type Claim = readonly [Row, Outcome];

/**
 * Checks that no run is used from another profile, one that still exists: the two may be different services behind one address.
 *
 * @param profile the active profile.
 * @throws UsageError `other_profile`.
 */
export function checkProfile(
  info: Pick<RunInfo, 'id' | 'header'>,
  profile: string | undefined,
  profiles: readonly string[],
): void {
  const { profile: other } = info.header;
  if (other === null || other === profile || !profiles.includes(other)) return;
  const active = profile === undefined ? 'no profile is active' : `the active profile is ${profile}`;
  throw new UsageError(
    `run ${info.id} was made with the profile ${other}, and ${active}; nothing was sent`,
    `if they are one service, give --profile ${other}; else give one a tenant: petstore config set tenant <name> --profile ${other}`,
    'other_profile',
  );
}

/**
 * Finds another run of a delivery that is not finished, with the command that ends it: nobody knows yet what it books. Other
 * shards of the same number have other rows.
 */
export async function findOpenDelivery(
  list: RunList,
  { header: { flags, delivery, target } }: Run,
): Promise<{ readonly id: string; readonly command: readonly string[] } | undefined> {
  if (flags.again || delivery === null) return undefined;
  for (const info of runsOfDelivery(list, target, delivery)) {
    const { id, undo, state } = info;
    const isOpen = undo ? undo.state !== 'finished' : state === 'stopped' || state === 'running';
    if (!isOpen || areDisjoint(info.header.flags.shard, flags.shard)) continue;
    const last = (await readRun(list, undo?.id ?? id)).run;
    return { id: undo?.id ?? id, command: findNextCommand(last) ?? [undo ? 'undo' : 'resume', id] };
  }
  return undefined;
}

/** A row of a delivery that another run with its number has booked is left out, unless it was taken back since. */
async function claimBooked(list: RunList, run: Run, rows: readonly RunRow[]): Promise<readonly Claim[]> {
  const bookings = new Map<bigint, { readonly info: RunInfo; readonly change: number }>();
  const { flags, delivery, target } = run.header;
  if (flags.again || delivery === null) return [];
  for (const info of runsOfDelivery(list, target, delivery)) {
    if (info.id === run.id) continue;
    const takenBack = await readTakenBack(list, info);
    for (const { id, intent, state } of (await readRun(list, info.id)).run.rows)
      if (id !== undefined && intent.kind === 'add' && fateOf({ state }) === 'applied' && !takenBack.has(id))
        bookings.set(id, { info, change: intent.change });
  }
  return rows.flatMap((row): Claim[] => {
    const booking = bookings.get(row.id ?? -1n);
    if (!booking || row.intent.kind !== 'add' || uncertaintyOf(row)) return [];
    const { info, change } = booking;
    const message = `booked by ${runTime(info)}`;
    if (change === row.intent.change)
      return [[row, { state: 'unchanged', reason: { code: bookedCode, message } }]];
    const both = `${message} with ${signed(change)}, and the file has ${signed(row.intent.change)}`;
    return [[row, { state: 'failed', reason: { code: 'booked_otherwise', message: both } }]];
  });
}

function signed(change: number): string {
  return change < 0 ? String(change) : `+${change}`;
}

/** The ids of the records of a run that its undo has taken back. */
async function readTakenBack(list: RunList, { undo }: RunInfo): Promise<ReadonlySet<bigint>> {
  if (!undo) return new Set();
  const { rows } = (await readRun(list, undo.id)).run;
  const fates = rows.map((row) => [row.id, fateOf(row)] as const);
  return new Set(fates.flatMap(([id, fate]) => (id !== undefined && isDone(fate) ? [id] : [])));
}

function isDone(fate: string): boolean {
  return fate === 'applied' || fate === 'unchanged';
}

/**
 * Finds the rows whose records another run has planned since. Of an uncertain row only a person can tell what became of it.
 * An undo leaves alone a value that a later run has written, or may have, and not taken back.
 */
async function claimPlannedLater(
  list: RunList,
  { header, id: ownId }: Run,
  rows: readonly RunRow[],
  undone: Run | undefined,
): Promise<readonly Claim[]> {
  const sentBy = new Map(undone?.rows.map((row) => [row.line, row.sentBy]));
  const asked = rows.flatMap((row) => {
    const isUncertain = uncertaintyOf(row) !== undefined;
    if (row.id === undefined || (!isUncertain && (!undone || row.intent.kind === 'add'))) return [];
    return [{ row, id: row.id, isUncertain, since: (isUncertain ? row.sentBy : sentBy.get(row.line)) ?? 0 }];
  });
  if (asked.length === 0) return [];
  const oldest = asked.reduce((least, { since }) => Math.min(least, since), Number.POSITIVE_INFINITY);
  const claims = new Map<Row, Outcome>();
  for (const info of runsOnTarget(list, header.target)) {
    const isOwn = info.id === ownId || info.id === undone?.id;
    if (isOwn || info.planned <= oldest || info.header.noun !== header.noun) continue;
    const takenBack = await readTakenBack(list, info);
    const later = new Map((await readRun(list, info.id)).run.rows.map((row) => [row.id, row]));
    for (const { row, id, isUncertain, since } of asked) {
      const other = later.get(id);
      if (!other || other.plannedBy <= since) continue;
      const isWritten = isAppliedOrUncertain(other) && info.header.kind !== 'undo' && !takenBack.has(id);
      if (isUncertain) claims.set(row, plannedLater(info));
      else if (isWritten && !claims.has(row)) claims.set(row, writtenLater(info));
    }
  }
  return [...claims];
}

const laterCode = 'later_run';

function plannedLater(info: RunInfo): Outcome {
  const message = `run ${info.id} has planned this record since, so its value tells nothing: look at it, and say what happened`;
  return { state: 'unknown', reason: { code: laterCode, message } };
}

function writtenLater(info: RunInfo): Outcome {
  const message = `run ${info.id} has written this record since: undo that run first, or apply the file again`;
  return {
    state: 'failed',
    reason: { code: laterCode, message, passes: true, settledBy: ['undo', info.id] },
  };
}

/** An undo takes back what was applied. It leaves alone a row of which nobody knows, until that is settled in its own run. */
function claimNotApplied({ id = '', rows: undoneRows }: Run, rows: readonly RunRow[]): readonly Claim[] {
  const byLine = new Map(undoneRows.map((row) => [row.line, row]));
  return rows.flatMap((row): Claim[] => {
    const undone = byLine.get(row.line);
    if (!undone || uncertaintyOf(row)) return [];
    const fate = fateOf(undone);
    if (fate === 'applied' && row.id !== undefined) return [];
    const name = rowName(undone);
    if (fate === 'failed') return [[row, { state: 'unchanged' }]];
    const [code, message] =
      fate === 'applied'
        ? (['no_id', 'the service made it and did not tell its id: look for it, and delete it'] as const)
        : ([
            'not_settled',
            `nobody knows whether run ${id} wrote it: look at it, and say what happened`,
          ] as const);
    const settledBy = ['runs', 'settle', id, fate === 'applied' ? `${name}=<id>` : name, '--as', 'applied'];
    return [[row, { state: 'failed', reason: { code, message, passes: true, settledBy } }]];
  });
}
