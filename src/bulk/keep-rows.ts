import { existsSync } from 'node:fs';
import { isDeniedStatus } from '../client/answer-table.ts';
import { shownCode } from '../client/reasons.ts';
import { type Reject, rejectsName, writeRejects } from '../input/rejects.ts';
import { CliError, messageOf, systemReason } from '../process/errors.ts';
import type { FileName } from '../process/files.ts';
import type { Stop } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import type { Outcome } from '../writes/decide.ts';
import type { RowKeeper, Settled } from '../writes/settle.ts';
import type { Journal } from './journal.ts';
import type { Plan } from './plan.ts';
import type { Report } from './report.ts';
import { type RunRow, rowTotals } from './row.ts';
import { isReject, type Run } from './run.ts';
import type { RunChange } from './run-events.ts';

/** The most rows that share a mark, because a mark waits for the disk. */
const maxMarkedRows = 512;
/** The most if one of the rows is not a plain set. After a kill such a row stays unknown if others have changed its record meanwhile. */
const maxMarkedChanges = 64;

/**
 * Yields the rows of a plan, and marks them in the journal before they are sent: after a power cut, a row without a mark was
 * certainly never sent. If a mark cannot be written, the run stops.
 */
export function* markBeforeSending(
  changes: readonly RunRow[],
  journal: Journal,
  stop: Stop<CliError>,
  concurrency: number,
): Generator<RunRow> {
  const maxSharing = ({ intent, planned }: RunRow) => {
    // After a kill only a person can settle a marked create.
    if (planned?.action === 'create') return concurrency;
    return intent.kind === 'set' && intent.expected === undefined ? maxMarkedRows : maxMarkedChanges;
  };
  for (let from = 0; from < changes.length; ) {
    const rows: RunRow[] = [];
    let most = Number.POSITIVE_INFINITY;
    for (const row of changes.slice(from, from + maxMarkedRows)) {
      most = Math.min(most, maxSharing(row));
      if (rows.length >= most) break;
      rows.push(row);
    }
    from += rows.length;
    try {
      journal.appendChanges([{ kind: 'mark', rows }]);
      journal.sync();
    } catch (error) {
      stop.trigger(new CliError('partial', messageOf(error)));
      return;
    }
    yield* rows;
  }
}

/** Keeps the rows of a session. */
export interface SessionKeeper extends Required<RowKeeper<RunRow>> {
  /** `ended`: all rows that have an outcome. */
  readonly counts: { readonly ended: number; readonly failed: number; readonly unknown: number };
  /** Keeps the outcomes that still wait. Call it at the end. */
  flush(): Promise<void>;
}

/** How long outcomes wait for a save of the embedded store. */
const saveEveryMs = 1000;

interface KeeperOptions {
  readonly stop: Stop<CliError>;
  /** The number of failed and unknown rows at which the run stops. */
  readonly maxErrors: number;
  /** Saves the embedded store. Other services have none. */
  readonly saveStore: (() => Promise<void>) | undefined;
}

/**
 * Keeps rows in a journal, and stops the run after a row as `whyStop` says. Outcomes wait a moment, because many lines in one
 * write cost as much as one: the mark of a row is in the journal already, so a resume reads a row whose outcome is lost. If the
 * run writes to the embedded store, they wait until the store is saved. If an outcome cannot be kept, the run stops.
 */
export function createRowKeeper(
  journal: Journal,
  { stop, maxErrors, saveStore }: KeeperOptions,
): SessionKeeper {
  let waitingEvents: Extract<RunChange, { kind: 'outcome' }>[] = [];
  const counts = { ended: 0, failed: 0, unknown: 0 };
  let timer: NodeJS.Timeout | undefined;
  let flushed = Promise.resolve();
  const keepWaiting = async () => {
    const events = waitingEvents;
    waitingEvents = [];
    let unsaved: { readonly outcome: Outcome; readonly doubt: 'sent' } | undefined;
    try {
      await saveStore?.();
    } catch (error) {
      const message = `the embedded store could not be saved: ${messageOf(error)}`;
      stop.trigger(new CliError('partial', message));
      unsaved = { outcome: { kind: 'unknown', reason: { code: 'not_saved', message } }, doubt: 'sent' };
    }
    try {
      // A row that was certainly not written stays so.
      const isUnsaved = ({ outcome }: (typeof events)[number]) => unsaved && outcome.kind === 'applied';
      journal.appendChanges(events.map((event) => (isUnsaved(event) ? { ...event, ...unsaved } : event)));
    } catch (error) {
      stop.trigger(new CliError('partial', messageOf(error)));
    }
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    // One save at a time.
    flushed = flushed.then(keepWaiting);
    return flushed;
  };
  return {
    async mark(row, planned) {
      journal.appendChanges([{ kind: 'mark', rows: [row], planned }]);
      journal.sync();
    },
    async outcome(row, settled) {
      const { state, outcome } = settled;
      if (!outcome) return;
      counts.ended += 1;
      if (outcome.kind === 'failed' || outcome.kind === 'unknown') {
        counts[outcome.kind] += 1;
        const why = whyStop(settled, counts.failed + counts.unknown, maxErrors);
        if (why) stop.trigger(why);
      }
      const doubt = outcome.kind === 'unknown' ? state.doubt : undefined;
      waitingEvents.push({ kind: 'outcome', row, outcome, doubt });
      // Creates do not wait for more rows: after a kill only a person can settle them.
      timer ??= setTimeout(flush, saveStore && row.intent.kind !== 'create' ? saveEveryMs : 0);
    },
    counts,
    flush,
  };
}

/**
 * Returns why the run stops after a row that has failed or is unknown: the other rows would fail in the same way, or too many have.
 *
 * @param count the number of such rows in this session.
 */
function whyStop({ outcome, error }: Settled, count: number, maxErrors: number): CliError | undefined {
  const { code, message = '' } = outcome?.reason ?? {};
  if (code === 'other_count')
    return new CliError('unavailable', message, {
      hint: 'look at this count, and ask the owner of the service what updateInventory does',
    });
  const fatal = error && whyAllFail(error);
  if (fatal || count < maxErrors) return fatal;
  const failures = counted(count, 'row has failed or is unknown', 'rows have failed or are unknown');
  return new CliError('partial', `${failures}, as many as --max-errors allows`);
}

function whyAllFail(error: CliError): CliError | undefined {
  const { status, noAnswer } = error.details;
  if (noAnswer === 'tls') return error.with({}, `TLS failed: ${error.message}`);
  if (noAnswer === 'redirect') return error.with({}, `the service redirects writes: ${error.message}`);
  // If the credential is not enough for one row, it is not enough for any.
  return isDeniedStatus(status) ? error : undefined;
}

/** Writes the rejects of the session, and then its end into the journal. */
export function endSession(
  run: Run,
  plan: Plan,
  journal: Journal,
  file: RejectsFile,
): Pick<Report, 'rejects' | 'unwritten'> {
  try {
    const doubtfulRows = plan.changes.filter((row) => row.doubt && !row.outcome);
    journal.appendChanges(
      doubtfulRows.map((row) => ({ kind: 'outcome', row, outcome: interrupted, doubt: row.doubt })),
    );
    journal.sync();
    return { rejects: writeEnd(run, journal, file), unwritten: undefined };
  } catch (thrown) {
    const error = thrown instanceof CliError ? thrown : new CliError('failed', systemReason(thrown));
    const what = error !== journal.error ? 'rejects' : existsSync(journal.path) ? 'end' : 'journal';
    return { rejects: undefined, unwritten: { what, error } };
  } finally {
    journal.close();
  }
}

/** Where rejects go. Without a name they go beside the input: see `rejectsName`. */
type RejectsFile = Omit<FileName, 'name'> & { readonly name?: string | undefined };

/**
 * Writes the rejects of a session, those that no earlier session has written, and then its end into the journal.
 *
 * @returns the name of the file, with a number if the name was in use, or undefined if there are no rejects.
 * @throws CliError `failed`. If the rejects cannot be written, the journal gets no end, and a resume writes them.
 */
export function writeEnd(
  run: Run,
  journal: Journal,
  { folder, name: namedFile }: RejectsFile,
): string | undefined {
  const { header, rows, invalid, rejectedLines } = run;
  const { format, columns, name, file: path } = header;
  const rejects: Reject[] = rejectedLines
    ? []
    : invalid.map(({ line, text, message }) => ({
        line,
        text,
        state: 'invalid',
        reason: { code: 'invalid', message },
      }));
  for (const row of rows) {
    const { outcome, line, text = '' } = row;
    if (!isReject(run, row) || rejectedLines?.has(line)) continue;
    const reason = outcome?.reason;
    rejects.push({ line, text, state: 'failed', reason: reason && { ...reason, code: shownCode(reason) } });
  }
  const file = { folder, name: namedFile ?? rejectsName({ name, path: path ?? undefined }, format, folder) };
  const writtenFile = rejects.length > 0 ? writeRejects(file, format, columns, rejects) : undefined;
  const end = { ...rowTotals(rows, header), planNumber: run.planNumber, ended: new Date().toISOString() };
  journal.appendChanges([{ kind: 'end', end }]);
  journal.sync();
  return writtenFile;
}

const interrupted: Outcome = {
  kind: 'unknown',
  reason: {
    code: 'interrupted',
    message: 'it may have been sent before, and the run stopped before its record was read',
  },
};
