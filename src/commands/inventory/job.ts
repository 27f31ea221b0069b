import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { IdIndex } from '../../bulk/id-index.ts';
import type { JournalHeader, JournalImage, RunFlags } from '../../bulk/journal.ts';
import { readJournal } from '../../bulk/journal-reader.ts';
import type { Guards } from '../../bulk/plan.ts';
import { type ReadOptions, type RowInput, type RowIssues, readKeys, readRows } from '../../bulk/read.ts';
import type { Rows } from '../../bulk/rows.ts';
import { imageInfo, type RunIdentity, type RunStore } from '../../bulk/runs.ts';
import { type StayingEntries, toUndoRows } from '../../bulk/undo.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { ManyError, UsageError } from '../../errors.ts';
import { openSource, type Source } from '../../input/source.ts';
import { counted, groupDigits } from '../../text.ts';
import {
  type ApplyFlags,
  type BeginFlags,
  type InputFlags,
  type PlanFlags,
  toGuards,
  toRunFlags,
} from './flags.ts';

/** Rows to be written, and everything that one session of a run needs to know about them. */
export interface Job {
  readonly identity: RunIdentity;
  /** The activity in the progress line, such as `applying`. */
  readonly verb: string;
  /** The input as the user named it; for an undo, the run that it takes back. */
  readonly name: string;
  readonly file: string | null;
  readonly rows: Rows;
  readonly index: IdIndex;
  /** The plan must pass all of them. */
  readonly guards: readonly Guards[];
  /** Rejected rows are read from it again. */
  readonly input: RowInput | undefined;
  /** The id of the run: a new one, or the one that is resumed. */
  readonly run?: string;
  /** The results of earlier sessions, if the job resumes a run. */
  readonly earlier?: Earlier | undefined;
  /** Called when all rows have been processed, with the run if it was kept. */
  finished?(run: string | undefined, isPartial: boolean): Promise<void>;
}

export interface Earlier {
  readonly image: JournalImage;
  /** Rows whose failure stands. */
  readonly failed: readonly number[];
}

/** The job of the rows of an input, as the flags have it. */
export async function readJob(context: Context, source: Source, flags: ApplyFlags): Promise<Job> {
  const guards = toGuards(flags);
  const runFlags = toRunFlags(flags);
  // Without a service to call, a large input need not be read first.
  await context.client('many');
  const table = runFlags.key && (await readTable(context, runFlags.key.file));
  const input = await readInput(context, source, toReadOptions(runFlags, table?.ids), flags);
  const { rows, index, layout, sha256 } = input;
  if (rows.hasExpectations && runFlags.blind)
    throw new UsageError(`${source.name}: --blind reads no counts to compare with the column expected`);
  const identified: RunFlags = {
    ...runFlags,
    format: layout?.format ?? null,
    delimiter: layout?.delimiter ?? null,
    key: runFlags.key && {
      ...runFlags.key,
      file: resolve(context.io.cwd, runFlags.key.file),
      sha256: table?.sha256 ?? '',
    },
  };
  return {
    identity: { kind: 'apply', sha256, target: await targetOf(context), flags: identified },
    verb: 'applying',
    name: source.name,
    file: source.path ?? null,
    rows,
    index,
    guards: [guards],
    input,
  };
}

async function readTable(context: Context, file: string) {
  const table = await openSource(context.io, file);
  try {
    return await readKeys(table);
  } finally {
    await table.close();
  }
}

function toReadOptions(flags: RunFlags, ids: ReadOptions['ids']): ReadOptions {
  return {
    format: flags.format ?? undefined,
    delimiter: flags.delimiter || undefined,
    map: flags.map,
    key: flags.key?.column,
    ids,
    columns: flags.columns ?? undefined,
    thousands: flags.thousands ?? undefined,
    relative: flags.relative,
    onDuplicate: flags.onDuplicate,
    shard: flags.shard ?? undefined,
  };
}

/**
 * Reads and checks a whole input.
 *
 * @throws ManyError of UsageErrors, one for each row that is wrong, unless those are to be skipped.
 */
async function readInput(
  context: Context,
  source: Source,
  options: ReadOptions,
  flags: InputFlags,
): Promise<RowInput> {
  const input = await readRows(source, options);
  const { issues, conflicts, rows, same, overruled } = input;
  if (issues.count > 0 && !flags.skipInvalid)
    throw refusal(source, issues, {
      what: `${counted(issues.count, 'row', 'rows')} of ${rows.length} invalid`,
      hint: '--skip-invalid goes on without them',
    });
  if (conflicts.count > 0)
    throw refusal(source, conflicts, {
      what: `${counted(conflicts.count, 'row', 'rows')} at odds with another row for the same pet`,
      hint: options.relative
        ? '--on-duplicate sum adds them up'
        : '--on-duplicate first or last says which one counts',
    });
  if (rows.length === 0 && !flags.allowEmpty)
    throw new UsageError(`${source.name}: no data rows`, '--allow-empty lets that pass');
  for (const text of issueTexts(source, issues)) await context.notice(`warning: ${text}`);
  const more = issues.count - issues.first.length;
  if (more > 0)
    await context.notice(
      `warning: ${source.name}: and ${counted(more, 'more invalid row', 'more invalid rows')}`,
    );
  if (same > 0)
    await context.notice(`warning: ${source.name}: ${counted(same, 'row', 'rows')} repeated, counted once`);
  if (overruled > 0) {
    const how = options.relative ? 'added to another row' : 'skipped because of another row';
    await context.notice(
      `warning: ${source.name}: ${counted(overruled, 'row', 'rows')} ${how} for the same pet`,
    );
  }
  return input;
}

function refusal(
  source: Source,
  issues: RowIssues,
  { what, hint }: { readonly what: string; readonly hint: string },
): ManyError {
  const more = issues.count - issues.first.length;
  const summary = `${source.name}: ${what}${more > 0 ? ` (the first ${issues.first.length} are above)` : ''}, nothing was sent`;
  const errors = issueTexts(source, issues).map((text) => new UsageError(text));
  return new ManyError(summary, [...errors, new UsageError(summary, hint)], 0);
}

function issueTexts(source: Source, { first }: RowIssues): string[] {
  return first.map(({ line, column, message }) => `${source.name}:${line}:${column}: ${message}`);
}

/** The job that takes a run back; its lock is to be held. */
export async function readUndoJob(context: Context, runs: RunStore, run: string): Promise<Job> {
  const { image, rows: ran } = await readJournal(runs.pathOf(run));
  const { state, by, isPartial } = imageInfo(image, ran);
  if (state === 'undone' && !isPartial) throw new UsageError(`undo ${run}: run ${by} has undone it already`);
  const { operations } = (await context.client('many')).contract;
  const { rows, index, createsEntries, staying } = toUndoRows(image, ran, operations.has('deleteInventory'));
  if (staying.count > 0) await context.notice(stayingText(staying));
  const { target, flags } = image.header;
  const sha256 = createHash('sha256').update(run).digest('hex');
  return {
    identity: { kind: 'undo', sha256, target, flags: undoFlags(flags, createsEntries) },
    verb: 'undoing',
    name: run,
    file: null,
    rows,
    index,
    guards: [],
    input: undefined,
    async finished(undo, isStillPartial) {
      await runs.conclude(run, {
        ended: 'undone',
        by: undo ?? by ?? 'undo',
        isPartial: isStillPartial || undefined,
        at: context.now().getTime(),
      });
    },
  };
}

/** An undo reads no input; it touches the pets of its run's shard. */
function undoFlags({ shard }: RunFlags, createMissing: boolean): RunFlags {
  return {
    ...{ format: null, delimiter: null, map: {}, columns: null, key: null, thousands: null },
    ...{ onDuplicate: 'error', skipInvalid: false, shard, blind: false, relative: false, createMissing },
  };
}

/** Names what an undo leaves behind if the service, as it is bound, takes no entry away. */
function stayingText({ count, first }: StayingEntries): string {
  const verb = count === 1 ? 'stays' : 'stay';
  const more = count - first.length;
  const others = more > 0 ? ` and ${groupDigits(more)} more` : '';
  return `warning: ${counted(count, 'entry', 'entries')} that the run made ${verb}, because the service offers no deleteInventory: ${count === 1 ? 'pet' : 'pets'} ${first.join(', ')}${others}`;
}

/** The flags that make `apply` read the input, and write it, as the run did. */
export function flagsOf({ flags }: JournalHeader): InputFlags & PlanFlags & BeginFlags {
  const { format, delimiter, map, columns, key, thousands, onDuplicate, shard } = flags;
  return {
    format: format ?? undefined,
    delimiter: delimiter || undefined,
    map: Object.entries(map).map(([field, column]) => `${field}=${column}`),
    columns: columns?.join(),
    key: key ? `${key.column}=${key.file}` : undefined,
    thousands: thousands ?? undefined,
    onDuplicate,
    skipInvalid: flags.skipInvalid || undefined,
    shard: shard ? `${shard.index}/${shard.count}` : undefined,
    blind: flags.blind || undefined,
    relative: flags.relative || undefined,
    createMissing: flags.createMissing || undefined,
    // The guards are those of the journal's header.
    allowZero: true,
    allowEmpty: true,
  };
}

/** The target of writes for the journal: the base URL, or the file of the embedded store. */
export async function targetOf(context: Context): Promise<string> {
  const settings = await context.settings();
  if (settings.offline) return `offline:${resolvePaths(context.io).offlineStore}`;
  return settings.get('base-url') ?? '';
}

/** A run can only be resumed or undone on its own target. @throws UsageError on any other. */
export async function refuseOtherTarget(context: Context, { run, target }: JournalHeader): Promise<void> {
  const here = await targetOf(context);
  if (here === target) return;
  const goes = here === '' ? 'this command has no service to go to' : `this command goes to ${here}`;
  throw new UsageError(`run ${run} wrote to ${target}, and ${goes}`, placeHint(target));
}

function placeHint(target: string): string {
  return target.startsWith('offline:')
    ? 'give --offline, with PETSTORE_OFFLINE_STORE if the store is not the usual one'
    : `give --base-url ${target}, or --profile with the profile of that run`;
}
