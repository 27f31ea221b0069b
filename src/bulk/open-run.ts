import { type Intent, plannedOf, type Row } from '../writes/decide.ts';
import { type Claims, claimsOn } from './claims.ts';
import { createRun, isAppliedOrUncertain, madeIdOf, newRow, type Run, type RunRow } from './run.ts';
import { defaultFlags } from './run-header.ts';
import { type RunList, readRun } from './run-store.ts';
import type { RunChoice } from './which-run.ts';

/** A run that is about to be planned and carried out. */
export interface OpenRun {
  readonly run: Run;
  /** What other runs on the target mean for its rows. */
  readonly claims: Claims;
  /** The run that it undoes. */
  readonly undone?: Run | undefined;
}

/**
 * Opens a run to be resumed, or its undo.
 *
 * @throws UsageError if a journal that may be of the target cannot be read.
 */
export async function openChosenRun(
  list: RunList,
  { action, info }: Extract<RunChoice, { action: 'resume' | 'undo' }>,
): Promise<OpenRun> {
  const chosen = await readRun(list, info.id);
  const { undoes } = info.header;
  const isNew = action === 'undo';
  const undone = isNew ? chosen : undoes === null ? undefined : await readRun(list, undoes);
  const run = isNew ? createUndoRun(chosen) : undone ? extendUndo(chosen, undone) : chosen;
  return { run, claims: await claimsOn(list, run, undone), undone };
}

/**
 * Makes the undo of a run. A row that was set is set back if its record is still as the run left it. A row that added gets
 * the opposite change. A record that the run created is removed if it is as created. Rows that may have been written are
 * rows of the undo too, so that it names them.
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
      flags: { ...defaultFlags, relative: header.flags.relative, shard: header.flags.shard },
      rows: rows.length,
      invalid: 0,
      skipped: 0,
    },
    rows,
  );
}

/** Adds to an undo that goes on what has been settled as applied in its run since, also the ids of records that it made. */
function extendUndo(undo: Run, undone: Run): Run {
  const known = new Map(undo.rows.map((row) => [row.line, row]));
  const all = createUndoRun(undone).rows.map((row) => {
    const earlier = known.get(row.line);
    known.delete(row.line);
    return earlier?.id === undefined ? row : earlier;
  });
  return { ...undo, rows: [...known.values(), ...all] };
}

function createUndoRow(row: Row): RunRow {
  return newRow({ line: row.line, id: row.id ?? madeIdOf(row), intent: oppositeOf(row) });
}

function oppositeOf(row: Row): Intent {
  const { intent, state } = row;
  const { action = 'set', before = null, after = null } = plannedOf(row) ?? {};
  const made = state.at === 'settled' ? state.outcome.made : undefined;
  if (intent.kind === 'add')
    return { kind: 'add', change: -intent.change, created: action === 'create' ? after : undefined };
  if (action === 'create') return { kind: 'remove', expected: made?.value ?? after };
  return { kind: 'set', value: before, expected: after };
}
