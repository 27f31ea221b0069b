import { eachAtPace, type StopReason } from '../client/pace.ts';
import { CliError, type UnavailableReason } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import type { Row } from './decide.ts';
import type { Reading, RecordPort } from './port.ts';
import { type RowLimits, type Settled, settle } from './settle.ts';
import { describeValue } from './value.ts';

/** How many rows are settled. */
export interface Totals {
  /** Rows that have an outcome now, failed and unknown ones included. */
  settled: number;
  /** Rows that failed or are unknown. */
  failed: number;
  /** Further attempts of all rows. */
  retries: number;
}

interface SettleAllOptions {
  readonly limits: RowLimits & { readonly stop: Stop<StopReason> };
  /** The most rows at a time. */
  readonly atOnce: number;
  /**
   * Set for a run: the number of failed and unknown rows at which it stops. It also stops if every remaining row would fail
   * in the same way, and its rows go one at a time until the service was seen to store exactly what was sent. Undefined for
   * a command with ids: all of them are tried.
   */
  readonly maxErrors?: number | undefined;
  /** A reading of a row that need not be made again. By default what the plan of a run knows. */
  readonly known?: ((row: Row) => Reading | undefined) | undefined;
  /** Counts while rows are settled, for the live line. */
  readonly totals?: Totals;
}

/**
 * Settles rows, several at a time, and hands each result to `keep`. No row begins after the stop. Rows have different
 * records, so there are never two requests for one record at once.
 *
 * @throws what `keep` throws.
 */
export async function settleAll(
  port: RecordPort,
  rows: Iterable<Row>,
  { limits, atOnce, maxErrors, known, totals = createTotals() }: SettleAllOptions,
  keep: (row: Row, settled: Settled) => Promise<void>,
): Promise<Totals> {
  const { stop } = limits;
  const guard = maxErrors === undefined ? undefined : new RunGuard(stop, maxErrors);
  const settleOne = async (row: Row, readsBack: boolean): Promise<boolean> => {
    const settled = await settle(
      port,
      row,
      { ...limits, readsBack },
      known ? known(row) : knownReading(port, row),
    );
    totals.retries += settled.retries;
    const { outcome } = settled;
    if (outcome) totals.settled += 1;
    if (outcome?.state === 'failed' || outcome?.state === 'unknown') totals.failed += 1;
    guard?.observe(row, settled, totals.failed);
    await keep(row, settled);
    return settled.isExact;
  };
  const remaining = stop.untilStopped(rows);
  // Until the service was seen to store what it is told, a fault of one row must not become a fault of all.
  if (guard) {
    let isExact = false;
    for (let next = remaining.next(); !next.done; next = remaining.next()) {
      isExact = await settleOne(next.value, true);
      if (isExact) break;
    }
    if (!isExact) return totals;
  }
  await eachAtPace({ max: atOnce }, remaining, async (row) => {
    await settleOne(row, false);
  });
  return totals;
}

export function createTotals(): Totals {
  return { settled: 0, failed: 0, retries: 0 };
}

/** What a plan knows of a record that is not read again: whether it exists. */
function knownReading(port: RecordPort, { state, intent }: Row): Reading | undefined {
  if (state.at !== 'planned' || intent.kind !== 'set' || port.readsFirst) return undefined;
  return { record: state.before === null ? undefined : {} };
}

/** The reasons of failures that every remaining row would have too, each with a clause for the message. */
const fatalReasons: Partial<Record<UnavailableReason, string>> = {
  tls: 'TLS failed',
  redirect: 'the service redirects writes',
};

const maxTransportFailures = 20;

/** Stops a run whose remaining rows would fail in the same way. */
class RunGuard {
  private readonly stop: Stop<StopReason>;
  private readonly maxErrors: number;
  private transportFailures = 0;

  constructor(stop: Stop<StopReason>, maxErrors: number) {
    this.stop = stop;
    this.maxErrors = maxErrors;
  }

  observe(row: Row, { outcome, error, attempted, addedUp, planned }: Settled, failed: number): void {
    if (addedUp !== undefined && planned) {
      const [before, after, now] = [planned.before, planned.after, addedUp].map(describeValue);
      this.stop.stop({
        kind: 'partial',
        message: `pet ${row.id} was ${before}, ${after} was sent, and it is ${now} now: the service adds what it is told to set`,
        hint: 'look at this count, and ask the owner of the service what updateInventory does',
      });
      return;
    }
    if (outcome?.state === 'applied' || outcome?.state === 'unchanged') this.transportFailures = 0;
    if (outcome?.state !== 'failed' && outcome?.state !== 'unknown') return;
    const cause = error ?? (attempted?.error instanceof CliError ? attempted.error : undefined);
    if (cause) this.stopIfFatal(cause);
    if (failed < this.maxErrors || this.stop.reason) return;
    const failures = counted(failed, 'row has failed or is unknown', 'rows have failed or are unknown');
    this.stop.stop({ kind: 'partial', message: `${failures}, as many as --max-errors allows` });
  }

  private stopIfFatal({ message, kind, details: { hint, status, reason } }: CliError): void {
    const hasNoAnswer = reason !== undefined && status === undefined;
    this.transportFailures = hasNoAnswer ? this.transportFailures + 1 : 0;
    const fatalClause = reason && fatalReasons[reason];
    if (fatalClause) this.stop.stop({ kind, message: `${fatalClause}: ${message}`, hint });
    // A rule of a gateway refuses every row.
    else if (kind === 'auth' || status === 403) this.stop.stop({ kind, message, hint });
    else if (this.transportFailures >= maxTransportFailures)
      this.stop.stop({
        kind: 'unavailable',
        message: `${maxTransportFailures} rows in a row got no answer: ${message}`,
      });
  }
}
