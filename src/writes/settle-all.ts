import { forEachConcurrently } from '../process/deadline.ts';
import type { Planned, Row } from './decide.ts';
import type { RecordPort } from './port.ts';
import { type Settled, type SettleOptions, settle } from './settle.ts';

interface SettleAllOptions extends SettleOptions {
  /** The most rows at a time. */
  readonly concurrency: number;
}

/** Keeps what happens to rows. */
export interface RowKeeper<SomeRow extends Row> {
  /** Keeps other values with which a row of a run is written, before they are sent. A command without a journal has none. */
  mark?(row: SomeRow, planned: Planned): Promise<void>;
  outcome(row: SomeRow, settled: Settled): Promise<void>;
}

/**
 * Settles rows, several at a time, and passes the result of each to `keeper`. No row begins after the stop. No two rows have the
 * same record, so there are never two requests for one record at once.
 *
 * @throws what `keeper` throws.
 */
export async function settleAll<SomeRow extends Row>(
  port: RecordPort,
  rows: Iterable<SomeRow>,
  { concurrency, ...options }: SettleAllOptions,
  keeper: RowKeeper<SomeRow>,
): Promise<void> {
  let isConfirmed = false;
  const settleOne = async (row: SomeRow): Promise<Settled> => {
    const settled = await settle(port, row, options, isConfirmed, async (planned) =>
      keeper.mark?.(row, planned),
    );
    const { state, outcome } = settled;
    const isReadBack = state.aim === 'confirm' && state.lastWrite?.verdict === 'empty';
    isConfirmed ||= options.isRun && isReadBack && outcome?.kind === 'applied';
    await keeper.outcome(row, settled);
    return settled;
  };
  await forEachConcurrently(concurrency, rows, oneCountFirst(settleOne), options.stopped);
}

/**
 * Settles rows that replace a count one at a time until one of them is applied, because a service that adds instead of setting
 * must not change all of them. Other rows do not wait.
 */
function oneCountFirst<SomeRow extends Row>(
  settleOne: (row: SomeRow) => Promise<Settled>,
): (row: SomeRow) => Promise<unknown> {
  let isCountApplied = false;
  let firstCount: Promise<Settled> | undefined;
  return async (row) => {
    while (!isCountApplied && firstCount && replacesCount(row)) await firstCount.catch(() => {});
    const settling = settleOne(row);
    if (isCountApplied || !replacesCount(row)) return settling;
    firstCount = settling;
    try {
      const { state, outcome } = await settling;
      isCountApplied = outcome?.kind === 'applied' && state.lastWrite !== undefined;
    } finally {
      firstCount = undefined;
    }
    return settling;
  };
}

/** Returns true if a row sets a count that is not 0. From 0, a service that adds shows the same result as one that sets. */
function replacesCount({ planned }: Row): boolean {
  const { action, before = null } = planned ?? {};
  return action === 'set' && typeof before === 'number' && before !== 0;
}
