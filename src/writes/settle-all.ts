import { eachAtPace, type StopReason } from '../client/pace.ts';
import type { CliError } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import type { Planned, Row } from './decide.ts';
import type { RecordPort } from './port.ts';
import { type Settled, type SettleLimits, settle } from './settle.ts';

/** How many rows are settled. */
export interface Totals {
  /** Rows that have an outcome now, failed and unknown ones included. */
  settled: number;
  failed: number;
  unknown: number;
  /** Further attempts of all rows. */
  retries: number;
}

interface SettleAllOptions {
  readonly limits: SettleLimits & { readonly stop: Stop<StopReason> };
  /** The most rows at a time. */
  readonly atOnce: number;
  /**
   * Set for a run: the number of failed and unknown rows at which it stops. It also stops if every remaining row would fail
   * in the same way, or if the service adds what it is told to set. Undefined for a command with ids: all are tried.
   */
  readonly maxErrors?: number | undefined;
  /** Counts while rows are settled, for the live line. */
  readonly totals?: Totals;
}

/** What is kept of a row: other values with which it is written, before they are sent; and what became of it. */
export type Kept =
  | { readonly kind: 'mark'; readonly planned: Planned }
  | { readonly kind: 'outcome'; readonly settled: Settled };

/**
 * Settles rows, several at a time, and hands what is to be kept of each to `keep`. No row begins after the stop. Rows have
 * different records, so there are never two requests for one record at once.
 *
 * @throws what `keep` throws.
 */
export async function settleAll(
  port: RecordPort,
  rows: Iterable<Row>,
  { limits, atOnce, maxErrors, totals = createTotals() }: SettleAllOptions,
  keep: (row: Row, kept: Kept) => Promise<void>,
): Promise<void> {
  const { stop } = limits;
  const isRun = maxErrors !== undefined;
  let isConfirmed = false;
  const settleOne = async (row: Row, isFirstCount: boolean): Promise<Settled> => {
    const mark = (planned: Planned) => keep(row, { kind: 'mark', planned });
    const settled = await settle(port, row, limits, { isFirstCount, isConfirmed, mark });
    const { outcome, aim, attempts } = settled;
    isConfirmed ||= isRun && aim === 'confirm' && outcome?.kind === 'applied';
    totals.retries += Math.max(0, attempts - 1);
    if (outcome) totals.settled += 1;
    if (outcome?.kind === 'failed' || outcome?.kind === 'unknown') totals[outcome.kind] += 1;
    const why = isRun ? whyStop(settled, totals, maxErrors) : undefined;
    if (why) stop.stop(why);
    await keep(row, { kind: 'outcome', settled });
    return settled;
  };
  // The first count over 0 goes alone: a service that adds what it is told to set must not spoil all of them.
  let isSetting = !isRun;
  let probe: Promise<Settled> | undefined;
  await eachAtPace({ max: atOnce }, stop.untilStopped(rows), async (row) => {
    while (!isSetting && isCountOverZero(row) && probe) await probe.catch(() => {});
    if (isSetting || !isCountOverZero(row)) return void (await settleOne(row, !isRun));
    probe = settleOne(row, true);
    try {
      const { outcome, attempted } = await probe;
      isSetting = outcome?.kind === 'applied' && attempted !== undefined;
    } finally {
      probe = undefined;
    }
  });
}

export function createTotals(): Totals {
  return { settled: 0, failed: 0, unknown: 0, retries: 0 };
}

function isCountOverZero({ planned }: Row): boolean {
  const { action, before = null } = planned ?? {};
  return action === 'set' && typeof before === 'number' && before > 0;
}

/** Returns why a run stops after a row, if it does: its other rows would fail in the same way, or too many have failed. */
function whyStop(
  { outcome, error }: Settled,
  { failed, unknown }: Totals,
  maxErrors: number,
): StopReason | undefined {
  if (outcome?.kind !== 'failed' && outcome?.kind !== 'unknown') return undefined;
  const { code, message = '' } = outcome.reason ?? {};
  if (code === 'other_count')
    return {
      kind: 'unavailable',
      message,
      hint: 'look at this count, and ask the owner of the service what updateInventory does',
    };
  const fatal = error && whyAllFail(error);
  if (fatal || failed + unknown < maxErrors) return fatal;
  const failures = counted(
    failed + unknown,
    'row has failed or is unknown',
    'rows have failed or are unknown',
  );
  return { kind: 'partial', message: `${failures}, as many as --max-errors allows` };
}

function whyAllFail({ message, kind, details: { hint, status, reason } }: CliError): StopReason | undefined {
  if (reason === 'tls') return { kind, message: `TLS failed: ${message}`, hint };
  if (reason === 'redirect') return { kind, message: `the service redirects writes: ${message}`, hint };
  // A rule of a gateway refuses every row.
  return kind === 'auth' || status === 403 ? { kind, message, hint } : undefined;
}
