import { offeredOperation, UnboundError } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { Client } from '../client/client.ts';
import { Pace } from '../client/pace.ts';
import type { Context } from '../context.ts';
import type { CliError } from '../process/errors.ts';
import { Stop } from '../process/signals.ts';
import type { Intent } from '../writes/decide.ts';
import { createRecordPort, type RecordPort } from '../writes/port.ts';
import { type RunInfo, type RunList, readRun } from './list-runs.ts';
import { idOfRow, isAppliedOrUncertain, newRow, type RunRow } from './row.ts';
import { createRun, defaultFlags, type Run, runKinds } from './run.ts';

/** The runs that a session is about. */
export interface SessionRuns {
  /** All runs of this user, as listed after the target was locked. A dry run locks nothing. */
  readonly list: RunList;
  readonly run: Run;
  /** The run that an undo takes back. */
  readonly undoneRun?: Run | undefined;
}

/** Reads a run that goes on. An undo first gets the rows of its run that were applied since. @throws as `readRun`. */
export async function readSessionRuns(list: RunList, { id, header }: RunInfo): Promise<SessionRuns> {
  const run = await readRun(list, id);
  if (header.undoes === null) return { list, run };
  const undoneRun = await readRun(list, header.undoes);
  return { list, run: extendUndo(run, undoneRun), undoneRun };
}

/** Reads a run, and makes its undo. @throws as `readRun`. */
export async function beginUndo(list: RunList, { id }: RunInfo): Promise<SessionRuns> {
  const undoneRun = await readRun(list, id);
  return { list, run: createUndoRun(undoneRun), undoneRun };
}

/**
 * Makes the undo of a run. A row that was set is set back if its record is still as the run left it. A row that added gets
 * the opposite change. A record that the run created is removed if it is as created. Rows that may have been written are
 * rows of the undo too, because its report must name them.
 */
function createUndoRun({ id, header, rows: writtenRows }: Run): Run {
  const rows = writtenRows.filter(isAppliedOrUncertain).map(createUndoRow);
  return createRun(
    {
      ...header,
      kind: 'undo',
      undoes: id ?? null,
      file: null,
      delivery: null,
      // The undo writes only records of the same shard.
      flags: { ...defaultFlags, shard: header.flags.shard },
      rows: rows.length,
      invalid: 0,
      skipped: 0,
    },
    rows,
  );
}

/**
 * Adds to an undo the rows of its run that a person has since settled as applied, and the ids of records they created. Rows that
 * it could not take back are tried again, unless it is still unknown in their run whether they were written.
 */
function extendUndo(undo: Run, undoneRun: Run): Run {
  const earlierRows = new Map(undo.rows.map((row) => [row.line, row]));
  const rows = undoneRun.rows.flatMap((row) => {
    const earlierRow = earlierRows.get(row.line);
    if (!earlierRow) return isAppliedOrUncertain(row) ? createUndoRow(row) : [];
    const isTriedAgain = earlierRow.outcome?.kind === 'failed' && !row.doubt;
    return isTriedAgain ? createUndoRow(row) : earlierRow;
  });
  return { ...undo, rows };
}

function createUndoRow(row: RunRow): RunRow {
  return newRow({ line: row.line, id: idOfRow(row), intent: oppositeOf(row) });
}

function oppositeOf(row: RunRow): Intent {
  const { intent, planned, outcome } = row;
  const { action = 'set', before = null, after = null } = planned ?? {};
  if (intent.kind === 'add')
    return { kind: 'add', change: -intent.change, created: action === 'create' ? after : undefined };
  if (action === 'create') return { kind: 'remove', created: outcome?.made?.value ?? after };
  return { kind: 'set', value: before, expected: after };
}

/** What a session of a run works with. */
export interface Session extends SessionRuns {
  readonly client: Client;
  readonly port: RecordPort;
  /** Reads the inventory entries that are deleted with pets. Only a run that deletes pets has it. */
  readonly stocks: RecordPort | undefined;
  /** The most rows at a time. */
  readonly concurrency: number;
  readonly stop: Stop<CliError>;
}

/** @throws UsageError if the service cannot read or write such values. */
export async function createSession(context: Context, runs: SessionRuns): Promise<Session> {
  const { run } = runs;
  const { settings } = context;
  const { noun, flags } = run.header;
  const client = await context.client('bulk');
  const stop = new Stop<CliError>();
  const pace = new Pace(settings.get('rate'), stop, settings.get('timeout'));
  const options = { pace, sendsEtags: settings.get('etags'), mayCreate: flags.createMissing };
  const port = createRecordPort(client, noun, options);
  checkOffers(client, port, run);
  const deletesPets = noun === 'pets' && run.rows.some(({ intent }) => intent.kind === 'remove');
  return {
    ...runs,
    client,
    port,
    stocks: deletesPets ? createRecordPort(client, 'inventory', options) : undefined,
    concurrency: settings.get('concurrency'),
    stop,
  };
}

/** @throws UsageError if the service lacks an operation that the rows of a run need. */
function checkOffers(
  { contract }: Client,
  port: RecordPort,
  { header: { noun, kind, undoes }, rows }: Run,
): void {
  const { operations } = nouns[noun];
  const sets = rows.some(({ intent }) => intent.kind === 'set' || intent.kind === 'add');
  if (undoes === null || sets) offeredOperation(contract, operations[runKinds[kind].operation]);
  if (kind !== 'create' && !port.canRead)
    throw new UnboundError(
      `the service offers neither ${operations.get} nor ${operations.list}, so nothing can be planned`,
    );
}
