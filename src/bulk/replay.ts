import { CliError } from '../errors.ts';
import type { EndLine, JournalHeader, OutcomeLine, PlannedChange } from './journal-lines.ts';
import type { Journal } from './journal-reader.ts';
import { Rows } from './rows.ts';
import { NumberColumn } from './segments.ts';

/** What a journal says of its run so far, beside what it says of each row. */
export interface Replay {
  readonly header: JournalHeader;
  /** Whether the plan was written to its end. */
  readonly isPlanned: boolean;
  /** Whether the plan saw ETags: they may be those of before a write of this very run. */
  readonly hasETags: boolean;
  /** Rows up to this number may have been sent. */
  readonly sentTo: number;
  /** When the last dated line was written, in milliseconds since the epoch. */
  readonly lastAt: number;
  readonly ending: EndLine | undefined;
  /** Byte at which the line of a row's failure begins. */
  readonly failureAt: NumberColumn;
}

/**
 * Puts what a journal says onto the rows of its input: states, and counts before the run.
 *
 * @param rows those of the input, or blank ones, which then get ids and quantities too. @see blankRows
 * @throws CliError `failed` where a line speaks of another row than the input has there.
 */
export async function replayJournal(journal: Journal, rows: Rows): Promise<Replay> {
  const { header } = journal;
  const failureAt = createOffsets();
  let replay: Replay = {
    header,
    isPlanned: false,
    hasETags: false,
    sentTo: -1,
    lastAt: Date.parse(header.started),
    ending: undefined,
    failureAt,
  };
  for await (const { line, start } of journal.lines) {
    replay = { ...replay, lastAt: 'at' in line ? line.at : replay.lastAt, ending: undefined };
    if ('row' in line) {
      putOutcome(rows, line);
      if (line.state === 'failed' || line.state === 'unknown') failureAt.set(line.row, start);
    } else if ('plan' in line) {
      for (const change of line.plan) putChange(rows, change);
      replay = {
        ...replay,
        hasETags: replay.hasETags || line.plan.some(([, , , , etag]) => etag !== undefined),
      };
    } else if ('planned' in line) replay = { ...replay, isPlanned: true };
    else if ('sending' in line) replay = { ...replay, sentTo: Math.max(replay.sentTo, line.sending) };
    else replay = { ...replay, ending: line };
  }
  return replay;
}

/** Rows of which nothing is known yet but their number. */
export function blankRows(count: number): Rows {
  const rows = new Rows();
  for (let row = 0; row < count; row += 1) rows.add({ id: 0, quantity: 0, line: row });
  return rows;
}

export function createOffsets(): NumberColumn {
  return new NumberColumn((length) => new Float64Array(length));
}

function putChange(rows: Rows, [row, petId, before, after]: PlannedChange): void {
  identify(rows, row, { id: petId, quantity: after });
  rows.setBefore(row, toCount(before));
}

function putOutcome(rows: Rows, { row, petId, state, before, after }: OutcomeLine): void {
  identify(rows, row, { id: petId, quantity: after });
  rows.setState(row, state);
  if (before !== undefined) rows.setBefore(row, toCount(before));
}

/** A count beyond a double, which the service may have had, comes as a bigint; nothing goes back to it. */
function toCount(before: number | bigint | null): number | null {
  return before === null ? null : Number(before);
}

function identify(
  rows: Rows,
  row: number,
  { id, quantity }: { id: number | bigint; quantity: number | null },
): void {
  if (row >= rows.length) throw otherRow(row);
  if (rows.id(row) === 0n) rows.put(row, { id, quantity });
  else if (rows.id(row) !== BigInt(id) || rows.quantity(row) !== quantity) throw otherRow(row);
}

function otherRow(row: number): CliError {
  return new CliError('failed', `the journal does not fit the input: row ${row + 1} is another one`);
}
