import { UsageError } from '../process/errors.ts';
import type { Outcome, Row } from './decide.ts';
import { bookedRows, hasLaterRun, laterReadingsOf, laterWriters } from './deliveries.ts';
import type { JournalImage } from './read-journal.ts';
import { createRow, isOpen, isPerhapsWritten } from './rows.ts';
import type { RunParts } from './run.ts';
import { defaultFlags } from './run-flags.ts';
import { isUnfinished, type RunInfo, type RunStore } from './run-store.ts';

/** What `resume` or `undo` is to do: go on with a run, undo a run, or nothing, because nothing is left of `info`. */
export type RunChoice =
  | { readonly go: 'resume' | 'undo'; readonly info: RunInfo }
  | { readonly go: 'nothing'; readonly info: RunInfo | undefined };

/**
 * The run that `resume` goes on with: the named one, or the last one on the target.
 *
 * @throws UsageError if it must not be resumed; CliError `failed` if its journal cannot be read.
 */
export async function chooseResume(
  runs: RunStore,
  target: string,
  named: string | undefined,
): Promise<RunChoice> {
  const all = named === undefined ? await runs.onTarget(target) : [await runs.find(named)];
  const [last] = all;
  if (!last) return { go: 'nothing', info: undefined };
  if (named === undefined && !isUnfinished(last) && last.state !== 'running') {
    const older: RunInfo[] = [];
    for (const info of all)
      if (isUnfinished(info) && (await whyNotResumed(runs, info)) === undefined) older.push(info);
    if (older.length === 0) return { go: 'nothing', info: last };
    const names = older.map(({ header }) => `${header.run} (${header.name})`);
    throw new UsageError(
      `resume: the last run, ${last.header.run}, is ${last.state}; unfinished ${older.length === 1 ? 'is' : 'are'} ${names.join(', ')}`,
      `name one: petstore resume ${older[0]?.header.run}`,
    );
  }
  const refusal = await whyNotResumed(runs, last);
  if (refusal) throw refusal;
  return { go: last.open > 0 || last.state !== 'finished' ? 'resume' : 'nothing', info: last };
}

/** Why a run must not be resumed; undefined if it may be. */
async function whyNotResumed(
  runs: RunStore,
  { header, undo, state }: RunInfo,
): Promise<UsageError | undefined> {
  const { run, kind, flags } = header;
  if (undo) {
    const by = undo.header.run;
    return state === 'undone'
      ? new UsageError(`resume ${run}: run ${by} has undone it`, 'apply the file again')
      : new UsageError(
          `resume ${run}: run ${by} has begun to undo it, and has not set back every row`,
          isUnfinished(undo)
            ? `finish the undo, and apply the file again: petstore undo ${run}`
            : 'apply the file again',
        );
  }
  if (kind === 'undo' || flags.relative || state === 'finished') return undefined;
  const later = await hasLaterRun(runs, header);
  if (!later) return undefined;
  return new UsageError(
    `resume ${run}: run ${later.header.run} (${later.header.name}) has come after it, and its values must not be replaced`,
    'apply the file again if it is still right',
  );
}

/**
 * The run that `undo` undoes, or the undo that it goes on with.
 *
 * @throws UsageError for an undo, or if there is no run; CliError `failed` if its journal cannot be read.
 */
export async function chooseUndo(
  runs: RunStore,
  target: string,
  named: string | undefined,
): Promise<RunChoice> {
  const info = named === undefined ? (await runs.onTarget(target))[0] : await runs.find(named);
  if (!info)
    throw new UsageError(`undo: no run at ${target}`, '`petstore runs` lists those of other targets');
  const { header } = info;
  if (named !== undefined && header.kind === 'undo')
    throw new UsageError(
      `undo ${named}: it is an undo itself, of run ${header.undoes}`,
      isUnfinished(info)
        ? `go on with it: petstore undo ${header.undoes}`
        : `apply the file of run ${header.undoes} again`,
    );
  const undo = header.kind === 'undo' ? info : info.undo;
  if (!undo) return { go: 'undo', info };
  return { go: isUnfinished(undo) || undo.state === 'running' ? 'resume' : 'nothing', info: undo };
}

/** The parts of a further session of a run. @param createMissing of this session, if it is given anew */
export function resumeOf(image: JournalImage, createMissing = image.header.flags.createMissing): RunParts {
  const rows = [...image.rows.values()].map((row) => ({ ...row, mayCreate: createMissing }));
  return { header: image.header, rows, invalid: image.invalid, earlier: image };
}

/**
 * The parts of the undo of a run: a row that was set is set back if it is still as the run left it; a row that was added
 * gets the opposite; a record that the run created is removed.
 */
export function undoOf({ header: undone, rows: written }: JournalImage): RunParts {
  const { journal: _, run, started: __, ...header } = undone;
  const rows = [...written.values()].filter(isPerhapsWritten).map(undoRow);
  return {
    rows,
    invalid: [],
    header: {
      ...header,
      ...{ kind: 'undo', undoes: run, file: null, delivery: null },
      // It touches the records of its run's shard.
      flags: { ...defaultFlags, relative: header.flags.relative, shard: header.flags.shard },
      ...{ rows: rows.length, invalid: 0, skipped: 0 },
    },
  };
}

function undoRow(row: Row): Row {
  const { id, intent, before = null, after = null, outcome } = row;
  if (intent.kind === 'set' || before === null)
    return createRow(0, id, { kind: 'set', value: before, expected: after });
  const isCertain = outcome?.state === 'applied';
  return createRow(0, id, { kind: 'add', change: -intent.change }, isCertain ? {} : { undoes: row });
}

/**
 * The same parts with what other runs say: rows that must be left alone, and what later plans have read.
 *
 * @param past of an undo: the journal of the run that it undoes.
 */
export async function withOtherRuns(runs: RunStore, parts: RunParts, past?: JournalImage): Promise<RunParts> {
  const { header, earlier } = parts;
  const rows = parts.rows.filter(isOpen);
  const run = earlier?.header.run;
  const barred = new Map<bigint, Outcome>();
  if (past) {
    const writers = await laterWriters(runs, past);
    for (const { id, intent } of rows) {
      const writer = writers.get(id);
      if (writer !== undefined && intent.kind === 'set') barred.set(id, writtenLater(writer));
    }
  } else if (header.flags.relative && !header.flags.again) {
    const unsent = rows.filter(({ isSent }) => !isSent);
    const bookings = await bookedRows(runs, { ...header, ...(run !== undefined && { run }) }, unsent);
    for (const [id, outcome] of bookings) barred.set(id, outcome);
  }
  const sent = rows.flatMap((row) => {
    const plans = row.isSent ? earlier?.rows.get(row.id)?.plans : past?.rows.get(row.id)?.plans;
    const number = plans?.at(-1)?.number;
    const planOf = row.isSent ? run : past?.header.run;
    const key = row.isSent ? row : row.undoes;
    return key?.intent.kind === 'add' && number !== undefined && planOf !== undefined
      ? [{ row: key, run: planOf, number }]
      : [];
  });
  return { ...parts, barred, laterReadings: await laterReadingsOf(runs, header.target, sent) };
}

function writtenLater(run: string): Outcome {
  const message = `run ${run} has written this record since: undo that run first, or apply the file again`;
  const reason = { code: 'written_later', message, passes: true, settledBy: `undo ${run}` };
  return { state: 'failed', reason };
}
