import { isDeniedStatus } from '../client/answer-table.ts';
import { CliError, messageOf } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import { countText } from '../process/text.ts';
import { isPlainSet } from '../writes/decide.ts';
import type { RecordPort } from '../writes/port.ts';
import { reasonRule } from '../writes/reasons.ts';
import { type Outcome, outcomeOf, type PlannedWrite, reasonOf } from '../writes/row.ts';
import type { RowKeeper, SettleResult } from '../writes/settle.ts';
import type { Journal } from './journal.ts';
import type { RunEvent } from './run-events.ts';
import type { RunRow } from './run-row.ts';

/** The most rows that share a mark if all of them are plain sets. Rows share marks because a mark waits for the disk. */
const maxPlainSets = 512;
/**
 * The most rows that share a mark if one of them is not a plain set. A kill leaves every marked row uncertain. Such a row then stays
 * unknown if somebody has changed its record meanwhile, and a smaller mark leaves fewer of them.
 */
const maxOtherRows = 64;

/** Returns the rows that share the next mark, beginning at an index. */
function rowsOfMark({ rowsToWrite, port: { abilities, limits } }: KeeperOptions, from: number): RunRow[] {
  const maxSharing = ({ intent, planned }: RunRow) => {
    // After a kill only a person can settle a marked create, or a marked row that cannot be read by itself.
    if (planned?.action === 'create' || !abilities.canReadEach) return limits.concurrency;
    return isPlainSet(intent) ? maxPlainSets : maxOtherRows;
  };
  const rows: RunRow[] = [];
  let most = Number.POSITIVE_INFINITY;
  for (const row of rowsToWrite.slice(from, from + maxPlainSets)) {
    most = Math.min(most, maxSharing(row));
    if (rows.length >= most) break;
    rows.push(row);
  }
  return rows;
}

interface SessionKeeper extends Required<RowKeeper<RunRow>> {
  /** `ended`: the number of all rows that have an outcome. */
  readonly counts: { readonly ended: number; readonly failed: number; readonly unknown: number };
  /** Keeps the outcomes that still wait. Call it at the end. */
  flush(): Promise<void>;
}

/** How long outcomes wait for a save of the embedded store. */
const saveEveryMs = 1000;

interface KeeperOptions {
  readonly rowsToWrite: readonly RunRow[];
  readonly port: RecordPort;
  readonly stop: Stop;
  /** The number of failed and unknown rows at which the run stops. */
  readonly maxErrors: number;
}

/**
 * Keeps rows in a journal, and stops the run after a row as `stopErrorOf` says. A row is marked before it is sent: after a power cut, a row
 * without a mark was certainly never sent. Outcomes wait a moment, because many lines in one write cost as much as one. They may be
 * lost: the row is marked, so a resume reads its record. If the run writes to the embedded store, they wait until the store is saved.
 * If a mark or an outcome cannot be kept, the run stops.
 */
export function createRowKeeper(journal: Journal, options: KeeperOptions): SessionKeeper {
  const { stop, maxErrors, port } = options;
  /** The index of the first row of the plan that no mark has named. */
  let unmarkedFrom = 0;
  let waitingEvents: Extract<RunEvent, { kind: 'outcome' }>[] = [];
  /** The outcome of each applied row once the embedded store could not be saved: its change in memory is lost. */
  let unsaved: Outcome | undefined;
  const counts = { ended: 0, failed: 0, unknown: 0 };
  let timer: NodeJS.Timeout | undefined;
  let flushed = Promise.resolve();
  /** Writes to the journal. If that fails, stops the run and returns false. */
  const writeOrStop = (write: () => void): boolean => {
    try {
      write();
      return true;
    } catch (error) {
      stop.trigger(new CliError('partial', messageOf(error)));
      return false;
    }
  };
  /** Marks rows, and returns when the mark is on the disk. */
  const keepMark = (rows: readonly RunRow[], planned?: PlannedWrite) =>
    writeOrStop(() => {
      journal.append([{ kind: 'mark', rows: rows.map(({ line }) => line), planned }]);
      journal.sync();
    });
  const writeWaiting = async () => {
    const events = waitingEvents;
    if (events.length === 0) return;
    waitingEvents = [];
    try {
      await port.saveStore?.();
    } catch (error) {
      const message = `the embedded store could not be saved: ${messageOf(error)}`;
      stop.trigger(new CliError('partial', message));
      unsaved = { kind: 'unknown', reason: { code: 'not_saved', message }, doubt: 'sent' };
    }
    // A row that was certainly not written stays so.
    const keptEvents = events.map((event) =>
      unsaved && event.outcome.kind === 'applied' ? { ...event, outcome: unsaved } : event,
    );
    writeOrStop(() => journal.append(keptEvents));
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    // One save at a time.
    flushed = flushed.then(writeWaiting);
    return flushed;
  };
  return {
    mark(row, planned) {
      if (planned !== row.planned) return keepMark([row], planned);
      while (!journal.log.marked.has(row.line)) {
        const rows = rowsOfMark(options, unmarkedFrom);
        if (rows.length === 0) throw new Error(`the plan does not write the row of line ${row.line}`);
        unmarkedFrom += rows.length;
        if (!keepMark(rows.filter((each) => !outcomeOf(each)))) return false;
      }
      return true;
    },
    async keepOutcome(row, settled) {
      const { state, outcome } = settled;
      if (!outcome) return;
      counts.ended += 1;
      if (outcome.kind === 'failed' || outcome.kind === 'unknown') {
        counts[outcome.kind] += 1;
        const why = stopErrorOf(settled, counts.failed + counts.unknown, maxErrors);
        if (why) stop.trigger(why);
      }
      waitingEvents.push({ kind: 'outcome', row: row.line, outcome });
      // The outcome of a create does not wait: after a kill only a person can settle it.
      if (state.planned?.action === 'create') void flush();
      else timer ??= setTimeout(flush, port.saveStore ? saveEveryMs : 0);
    },
    counts,
    flush,
  };
}

/**
 * Returns why the run stops after a row that has failed or is unknown: the other rows would fail in the same way, or too many have.
 *
 * @param count the number of such rows in this session, and `limit` the number at which the run stops.
 */
function stopErrorOf({ outcome, error }: SettleResult, count: number, limit: number): CliError | undefined {
  const reason = outcome && reasonOf(outcome);
  if (reason && reasonRule(reason.code).stopsRun)
    return new CliError('unavailable', reason.message, {
      hint: 'look at this count, and ask the owner of the service whether an update sets a count or adds to it',
    });
  const { status, noAnswer } = error?.details ?? {};
  // A credential that is not enough for one row is not enough for any.
  const isFatal = noAnswer === 'tls' || noAnswer === 'redirect' || isDeniedStatus(status);
  if (isFatal) return error;
  if (count < limit) return undefined;
  const failures = countText(count, 'write has failed or is unknown', 'writes have failed or are unknown');
  return new CliError('partial', `${failures}, which is the limit of --max-errors`);
}
