import { eachAtOnce, type StopReason } from '../client/pace.ts';
import type { Stop } from '../process/signals.ts';
import type { Planned, Row } from './decide.ts';
import type { SettleLimits } from './next.ts';
import type { RecordPort } from './port.ts';
import { type Settled, settle } from './settle.ts';

/** How many rows are settled. */
export interface Totals {
  /** Rows that have an outcome now, failed and unknown ones included. */
  settled: number;
  failed: number;
  unknown: number;
}

interface SettleAllOptions {
  readonly limits: SettleLimits & { readonly stop: Stop<StopReason> };
  /** The most rows at a time. */
  readonly atOnce: number;
  /** Counts while rows are settled, for the live line. */
  readonly totals?: Totals;
}

/** Keeps what happens to rows. */
export interface RowKeeper {
  /** Keeps other values with which a row of a run is written, before they are sent. */
  mark(row: Row, planned: Planned): Promise<void>;
  outcome(row: Row, settled: Settled): Promise<void>;
}

/**
 * Settles rows, several at a time, and hands what is to be kept of each to `keep`. No row begins after the stop. Rows have
 * different records, so there are never two requests for one record at once.
 *
 * @throws what `keep` throws.
 */
export async function settleAll(
  port: RecordPort,
  rows: Iterable<Row>,
  { limits, atOnce, totals = createTotals() }: SettleAllOptions,
  keep: RowKeeper,
): Promise<void> {
  const { stop, timeoutMs } = limits;
  const isRun = timeoutMs === undefined;
  let isConfirmed = false;
  const settleOne = async (row: Row): Promise<Settled> => {
    const settled = await settle(port, row, limits, isConfirmed, (planned) => keep.mark(row, planned));
    const { outcome, aim } = settled;
    isConfirmed ||= isRun && aim === 'confirm' && outcome?.kind === 'applied';
    if (outcome) totals.settled += 1;
    if (outcome?.kind === 'failed' || outcome?.kind === 'unknown') totals[outcome.kind] += 1;
    await keep.outcome(row, settled);
    return settled;
  };
  // The first count that is not 0 goes alone: a service that adds what it is told to set must not spoil all of them.
  let isSetting = !isRun;
  let probe: Promise<Settled> | undefined;
  await eachAtOnce(atOnce, stop.untilStopped(rows), async (row) => {
    while (!isSetting && replacesCount(row) && probe) await probe.catch(() => {});
    const settling = settleOne(row);
    if (isSetting || !replacesCount(row)) return void (await settling);
    probe = settling;
    try {
      const { outcome, attempted } = await probe;
      isSetting = outcome?.kind === 'applied' && attempted !== undefined;
    } finally {
      probe = undefined;
    }
  });
}

export function createTotals(): Totals {
  return { settled: 0, failed: 0, unknown: 0 };
}

function replacesCount({ planned }: Row): boolean {
  const { action, before = null } = planned ?? {};
  return action === 'set' && typeof before === 'number' && before !== 0;
}
