import type { JournalHeader } from '../../bulk/journal-lines.ts';
import { readHeader, readJournal } from '../../bulk/journal-reader.ts';
import { isIdOf, type RunIdentity, startOf } from '../../bulk/run-identity.ts';
import type { JournalFile, RunInfo, RunStore } from '../../bulk/runs.ts';
import type { Job } from '../../bulk/session.ts';
import type { Context } from '../../context.ts';
import { CliError, UsageError } from '../../process/errors.ts';
import { isOpen } from './earlier.ts';
import { runStore } from './job.ts';

// A delivery is the input of a --relative run. It is booked once, because adding it twice would be wrong.

/** How long a delivery counts as booked, and so how long the journal of its run is kept at least. */
export const bookedForMs = 7 * 24 * 3_600_000;

/** Books a delivery only once. @throws UsageError if the same one was, or may have been, booked within 7 days. */
export async function refuseBooked(context: Context, job: Job): Promise<void> {
  const booking = await findBooking(context, job);
  if (booking !== undefined)
    throw new UsageError(
      `${booking}; nothing was sent`,
      'if it came a second time, give --again',
      'already_booked',
    );
}

/** Which run booked the same delivery within 7 days, as a sentence for the user; undefined if none did. */
export async function findBooking(context: Context, { identity, name }: Job): Promise<string | undefined> {
  if (!identity.flags.relative) return undefined;
  const runs = runStore(context);
  for (const journal of await runs.journals()) {
    const booking = await bookingOf(runs, journal, identity);
    if (!booking || Date.now() - booking.at > bookedForMs) continue;
    return `${name}: run ${journal.run} of ${new Date(booking.at).toISOString()} ${booking.deed}`;
  }
  return undefined;
}

/** When a run booked the same delivery, and how certain that is; undefined if it did not. */
async function bookingOf(
  runs: RunStore,
  { run, path, isAside }: JournalFile,
  identity: RunIdentity,
): Promise<{ readonly at: number; readonly deed: string } | undefined> {
  const header = await readHeader(path).catch(() => undefined);
  // If the journal cannot be read, its name tells which run it was.
  const isSame = header ? isSameDelivery(header, identity) : isIdOf(run, identity);
  if (!isSame) return undefined;
  if (!header || isAside) return { at: startOf(run), deed: 'may have booked the same delivery' };
  const { info } = await runs.look(run);
  if (!info) return { at: Date.parse(header.started), deed: 'may have booked the same delivery' };
  if (!(await mayBeBooked(runs, info))) return undefined;
  const unfinished = isOpen(info) ? ', and is unfinished' : '';
  return { at: info.lastAt, deed: `has booked the same delivery${unfinished}` };
}

function isSameDelivery({ kind, sha256, target, flags }: JournalHeader, identity: RunIdentity): boolean {
  return (
    kind === 'apply' &&
    flags.relative &&
    sha256 === identity.sha256 &&
    target === identity.target &&
    JSON.stringify(flags.shard) === JSON.stringify(identity.flags.shard)
  );
}

/** Whether a run booked some of its rows, or may have, and that still stands. */
async function mayBeBooked(runs: RunStore, info: RunInfo): Promise<boolean> {
  if (await isTakenBack(runs, info)) return false;
  if (mayHaveWritten(info)) return true;
  return info.counts.failed > 0 && (await hasFailedAfterSending(runs.pathOf(info.header.run)));
}

function mayHaveWritten({ state, counts }: RunInfo): boolean {
  return state === 'killed' || state === 'running' || counts.applied + counts.unknown > 0;
}

/** Whether a run was undone whole, and nothing of that was undone again. */
async function isTakenBack(runs: RunStore, { header, state, isPartial }: RunInfo): Promise<boolean> {
  if (state !== 'undone' || isPartial) return false;
  for await (const undo of undosOf(runs, header.run))
    for await (const redo of undosOf(runs, undo)) {
      const { info } = await runs.look(redo);
      if (!info || (mayHaveWritten(info) && !(await isTakenBack(runs, info)))) return false;
    }
  return true;
}

/** The ids of the undos of a run. */
async function* undosOf(runs: RunStore, run: string): AsyncGenerator<string> {
  for (const id of await runs.ids()) {
    const header = await readHeader(runs.pathOf(id)).catch(() => undefined);
    if (header?.kind === 'undo' && header.name === run) yield id;
  }
}

/** Whether a row failed although one of its writes may have been applied; the counts of a run do not tell. */
async function hasFailedAfterSending(path: string): Promise<boolean> {
  try {
    const { rows } = await readJournal(path);
    for (const row of rows.inState('failed')) if (rows.wasSent(row)) return true;
    return false;
  } catch (error) {
    // A damaged journal does not tell.
    if (error instanceof CliError) return true;
    throw error;
  }
}
