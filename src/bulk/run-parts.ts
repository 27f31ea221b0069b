import type { Source } from '../input/source.ts';
import { countLeft, type JournalImage } from './journal.ts';
import type { NewRun, RunParts } from './open-run.ts';
import type { RowInput } from './read.ts';
import { Rows } from './rows.ts';
import { defaultFlags } from './run-flags.ts';
import type { RunInfo, RunStore } from './run-store.ts';

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
 * Which later run on the same target wrote, or may have written, a pet of a run, by row.
 *
 * @param counts whether a later run counts.
 * @throws CliError `failed` if the journal of one cannot be read.
 */
export async function findLater(
  runs: RunStore,
  { rows, header }: RunParts,
  after: string,
  counts: (run: RunInfo) => boolean,
): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  for (const info of await runs.onTarget(header.target, after)) {
    if (!counts(info)) continue;
    const { rows: wrote } = await runs.read(info.header.run);
    for (let at = 0; at < wrote.length; at += 1) {
      const row = wrote.mayHaveBeenWritten(at) ? rows.find(wrote.id(at)) : undefined;
      if (row !== undefined && !found.has(row)) found.set(row, info.header.run);
    }
  }
  return found;
}

/** For the plan of a run that is resumed: every later run counts. For an undo: those that an undo would set back. */
export async function laterRuns(runs: RunStore, parts: RunParts): Promise<ReadonlyMap<number, string>> {
  const { header, earlier } = parts;
  if (header.kind === 'undo')
    return findLater(
      runs,
      parts,
      header.undoes ?? '',
      (info) => info.header.kind === 'apply' && info.state !== 'undone',
    );
  if (!earlier || header.flags.relative) return new Map();
  return findLater(runs, parts, earlier.header.run, () => true);
}
