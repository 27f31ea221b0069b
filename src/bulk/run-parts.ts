import type { Source } from '../input/source.ts';
import { countLeft, type JournalImage } from './journal.ts';
import type { NewRun, RunParts } from './open-run.ts';
import type { RowInput } from './read.ts';
import { Rows } from './rows.ts';
import { defaultFlags } from './run-flags.ts';
import type { RunStore } from './run-store.ts';

/** The run of an input. */
export function newRun(
  input: RowInput,
  { target, ...given }: Pick<NewRun, 'target' | 'flags' | 'guards'>,
): RunParts {
  const { source, rows, layout, sha256, delivery = null, rejectedBy } = input;
  const { invalid, skipped } = rows.countStates();
  const delimiter = layout?.delimiter || given.flags.delimiter;
  return {
    source,
    rows,
    header: {
      kind: 'apply',
      target,
      name: source.name,
      file: source.path ?? null,
      sha256,
      format: layout?.format ?? 'csv',
      delivery,
      rejectedBy,
      undoes: null,
      ...given,
      flags: { ...given.flags, delimiter: delimiter || null },
      rows: rows.length,
      invalid,
      skipped,
    },
  };
}

/**
 * The run that sets back what a run has written, or may have: each row expects the count that the run wrote. An entry
 * that the run created is removed.
 */
export function undoOf({ header, rows: ran }: JournalImage): RunParts {
  const rows = new Rows();
  for (let at = 0; at < ran.length; at += 1) {
    const before = ran.before(at);
    if (!ran.mayHaveBeenWritten(at) || before === undefined) continue;
    rows.index(rows.add({ id: ran.id(at), after: before, expected: ran.after(at), line: 0 }));
  }
  const { run, target, name, format, flags } = header;
  return {
    rows,
    header: {
      kind: 'undo',
      target,
      name,
      file: null,
      sha256: null,
      format,
      delivery: null,
      rejectedBy: [],
      undoes: run,
      // It touches the pets of its run's shard.
      flags: { ...defaultFlags, shard: flags.shard },
      guards: { allowZero: true },
      rows: rows.length,
      invalid: 0,
      skipped: 0,
    },
  };
}

/** What is left of a run: a second plan in the same journal. */
export function restOf(image: JournalImage, source: Source | undefined): RunParts {
  return { header: image.header, rows: image.rows, earlier: image, source };
}

/** Whether a resumed session has anything to do: rows, or the rejects of a session that was killed. */
export function isLeft(image: JournalImage): boolean {
  return !image.end || countLeft(image.rows) > 0;
}

/**
 * Which later run on the same target wrote, or may have written, a pet of a run, by row. For a run of counts that is
 * resumed every later run counts; for an undo those that another undo would set back.
 *
 * @throws CliError `failed` if the journal of one cannot be read.
 */
export async function laterRuns(
  runs: RunStore,
  { header, rows, earlier }: RunParts,
): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  const after = header.undoes ?? (header.flags.relative ? undefined : earlier?.header.run);
  if (after === undefined) return found;
  for (const info of await runs.onTarget(header.target, after)) {
    const { run, kind } = info.header;
    if (header.kind === 'undo' && (kind === 'undo' || info.state === 'undone')) continue;
    const { rows: wrote } = await runs.read(run);
    for (let at = 0; at < wrote.length; at += 1) {
      const row = wrote.mayHaveBeenWritten(at) ? rows.find(wrote.id(at)) : undefined;
      if (row !== undefined && !found.has(row)) found.set(row, run);
    }
  }
  return found;
}
