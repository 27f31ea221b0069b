import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { type JournalHeader, type RunFlags, readHeader, readJournal } from '../../../bulk/journal.ts';
import { type ReadOptions, type RowInput, type RowIssues, readKeys, readRows } from '../../../bulk/read.ts';
import {
  type Hold,
  imageInfo,
  isResumable,
  isSameRun,
  type RunIdentity,
  type RunInfo,
  type RunState,
  RunStore,
} from '../../../bulk/runs.ts';
import { reopenRows, type StayingEntries, toUndoRows } from '../../../bulk/undo.ts';
import { resolvePaths } from '../../../config/paths.ts';
import type { Context } from '../../../context.ts';
import { CliError, exitCodes, ManyError, UsageError } from '../../../errors.ts';
import { openSource, type Source } from '../../../input/source.ts';
import { counted, groupDigits } from '../../../text.ts';
import { refuseOtherTarget, targetOf } from '../place.ts';
import {
  type BeginFlags,
  type InputFlags,
  type PlanFlags,
  type SessionFlags,
  toGuards,
  toLockWait,
  toRunFlags,
} from './flags.ts';
import type { Job } from './job.ts';
import { runBulk, showDifferences } from './run.ts';

export type ApplyFlags = InputFlags & PlanFlags & BeginFlags & SessionFlags;

/** Applies a file, or goes on with the unfinished run of the same content at the same place. */
export async function applyInput(context: Context, path: string, flags: ApplyFlags): Promise<void> {
  const source = await openSource(context.io, path);
  try {
    await applySource(context, source, flags);
  } finally {
    await source.close();
  }
}

async function applySource(context: Context, source: Source, flags: ApplyFlags): Promise<void> {
  const runs = runStore(context);
  const job = await readJob(context, source, flags);
  if (context.flags.dryRun) return runBulk(context, runs, job, flags);
  await holdTarget(context, runs, job, flags, async (hold) => {
    await tellOthers(context, runs, job);
    if (flags.restart) await giveUpEarlier(context, runs, job, flags);
    const earlier = await findEarlier(context, runs, job);
    if (earlier === undefined && job.identity.flags.relative && !flags.again)
      await refuseBooked(context, runs, job);
    await runJob(context, runs, { job, earlier, hold, flags });
  });
}

/** Prints what applying a file would change; exits 8 if that is anything. */
export async function diffInput(
  context: Context,
  path: string,
  flags: InputFlags & PlanFlags & SessionFlags,
): Promise<void> {
  const source = await openSource(context.io, path);
  try {
    const job = await readJob(context, source, { ...flags, allowZero: true });
    if (await showDifferences(context, job, flags)) context.exitCode = exitCodes.differs;
  } finally {
    await source.close();
  }
}

/** Goes on with a run that was stopped or killed: by its id, or the newest one of this place. */
export async function resumeRun(
  context: Context,
  run: string | undefined,
  flags: SessionFlags,
): Promise<void> {
  const runs = runStore(context);
  const id = run === undefined ? await newestResumable(context, runs) : await runs.resolve(run);
  const header = await readHeader(runs.pathOf(id));
  await refuseOtherTarget(context, header);
  if (!runs.isRunning(id)) refuseClosed(id, await runs.info(id));
  if (header.kind === 'undo') return undoRun(context, header.name, flags);
  const source = await openSource(context.io, header.file ?? '-');
  try {
    const job = await readJob(context, source, { ...flags, ...flagsOf(header) });
    if (!isSameRun(header, job.identity))
      throw new UsageError(
        `resume ${id}: ${source.name} is not what the run began with`,
        'apply it as a run of its own with `petstore inventory apply`',
      );
    if (context.flags.dryRun) return await previewResumed(context, runs, id, job, flags);
    await holdTarget(context, runs, job, flags, (hold) =>
      runJob(context, runs, { job, earlier: id, hold, flags }),
    );
  } finally {
    await source.close();
  }
}

async function previewResumed(
  context: Context,
  runs: RunStore,
  id: string,
  job: Job,
  flags: SessionFlags,
): Promise<void> {
  await runBulk(context, runs, await withEarlier(context, runs, id, job), flags);
}

/** Sets back what a run changed if the count is still the one that it set. */
export async function undoRun(context: Context, run: string, flags: SessionFlags): Promise<void> {
  const runs = runStore(context);
  const header = await readHeader(runs.pathOf(run));
  await refuseOtherTarget(context, header);
  if (context.flags.dryRun) return runBulk(context, runs, await readUndoJob(context, runs, run), flags);
  const place = { identity: header, name: `undo of ${header.run}` };
  await holdTarget(context, runs, place, flags, (hold) =>
    runs.holdRun(run, async () => {
      const job = await readUndoJob(context, runs, run);
      await runJob(context, runs, { job, earlier: await findEarlier(context, runs, job), hold, flags });
    }),
  );
}

/** The job of the rows of an input, as the flags have it. */
async function readJob(context: Context, source: Source, flags: ApplyFlags): Promise<Job> {
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
async function readUndoJob(context: Context, runs: RunStore, run: string): Promise<Job> {
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

export function runStore({ io }: Context): RunStore {
  return new RunStore(resolvePaths(io).stateDir);
}

function holdTarget(
  { interrupts }: Context,
  runs: RunStore,
  { identity, name }: { readonly identity: Pick<RunIdentity, 'target' | 'flags'>; readonly name: string },
  flags: SessionFlags,
  work: (hold: Hold) => Promise<void>,
): Promise<void> {
  const claim = { target: identity.target, shard: identity.flags.shard, name };
  const allowOverlap = flags.allowOverlap === true;
  return runs.holdTarget(claim, { waitMs: toLockWait(flags), allowOverlap, signal: interrupts.signal }, work);
}

interface JobOptions {
  readonly job: Job;
  /** The run that it goes on with; undefined for a new one. */
  readonly earlier: string | undefined;
  readonly hold: Hold;
  readonly flags: SessionFlags;
}

/** Does a job under the lock of its run, whose journal is read only now that nobody else can change it. */
async function runJob(
  context: Context,
  runs: RunStore,
  { job, earlier, hold, flags }: JobOptions,
): Promise<void> {
  const run = earlier ?? (await runs.newId(job.identity, context.now()));
  await hold.tell(run);
  await runs.holdRun(run, async () => {
    const whole = earlier === undefined ? { ...job, run } : await withEarlier(context, runs, run, job);
    await runBulk(context, runs, whole, flags);
  });
}

/** The job with what the earlier sessions of a run left. @throws UsageError if there is nothing to go on with. */
async function withEarlier(context: Context, runs: RunStore, run: string, job: Job): Promise<Job> {
  const { image } = await readJournal(runs.pathOf(run), () => job.rows);
  refuseClosed(run, imageInfo(image, job.rows));
  const { blind, relative } = image.header.flags;
  const failed = reopenRows(job.rows, { image, blind, relative });
  const { unprocessed } = job.rows.countStates();
  const left = `${groupDigits(unprocessed)} of ${groupDigits(job.rows.length)} rows`;
  await context.notice(`resuming run ${run}: ${blind ? `${left} are left` : `looking at ${left} again`}`);
  const given = job.guards.map((guards) => ({ ...guards, allowZero: true }));
  return { ...job, run, earlier: { image, failed }, guards: [image.header.guards, ...given] };
}

const closedBecause: { readonly [S in RunState]?: string } = {
  finished: 'it has finished',
  undone: 'it was undone',
  discarded: 'it was given up',
};

function refuseClosed(run: string, info: RunInfo): void {
  if (isOpen(info)) return;
  const why = info.by === 'restart' ? 'another run was started in its place' : closedBecause[info.state];
  if (why !== undefined) throw new UsageError(`resume ${run}: ${why}`);
}

/** Whether there is something to go on with: of a delivery also rows that may or may not be booked. */
function isOpen({ state, header, counts }: RunInfo): boolean {
  return isResumable(state) || (state === 'finished' && header.flags.relative && counts.unknown > 0);
}

/** The unfinished run of the same rows at the same place; undefined if there is none. */
async function findEarlier(context: Context, runs: RunStore, job: Job): Promise<string | undefined> {
  for (const run of await runs.idsLike(job.identity)) {
    const info = await infoOrWarning(context, runs, run, job.identity);
    if (!info || !isOpen(info) || !isSameRun(info.header, job.identity)) continue;
    if (job.identity.kind === 'apply' || (await isReadable(context, runs, run))) return run;
  }
  return undefined;
}

/** An undo compares before it writes: it may begin anew if the journal of an earlier one is damaged. */
async function isReadable(context: Context, runs: RunStore, run: string): Promise<boolean> {
  try {
    await readJournal(runs.pathOf(run));
    return true;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await context.notice(`warning: ${error.message}`);
    return false;
  }
}

/**
 * How a run stands; undefined, with a warning, if its journal cannot be read: others can.
 *
 * @throws CliError if it may be the run of `identity`, and an apply: to begin anew would lose what it did.
 */
export async function infoOrWarning(
  context: Context,
  runs: RunStore,
  run: string,
  identity?: RunIdentity,
): Promise<RunInfo | undefined> {
  try {
    return await runs.info(run);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const header = await readHeader(runs.pathOf(run)).catch(() => undefined);
    if (identity?.kind === 'apply' && header && isSameRun(header, identity)) throw error;
    await context.notice(`warning: ${error.message}`);
    return undefined;
  }
}

/** Gives up every unfinished run of the same rows, because another one begins. */
async function giveUpEarlier(context: Context, runs: RunStore, job: Job, flags: ApplyFlags): Promise<void> {
  if (job.identity.flags.relative && !flags.again) await refuseBooked(context, runs, job);
  for (const run of await runs.idsLike(job.identity)) {
    const info = await infoOrWarning(context, runs, run);
    if (!info) {
      await context.notice(`warning: run ${run}: its journal is kept as ${await runs.setAside(run)}`);
      continue;
    }
    if (!isOpen(info) || !isSameRun(info.header, job.identity)) continue;
    await runs.holdRun(run, () =>
      runs.conclude(run, { ended: 'discarded', by: 'restart', at: context.now().getTime() }),
    );
  }
}

const bookedForMs = 7 * 24 * 3_600_000;

/** A delivery is booked once. @throws UsageError if the same one was, or perhaps was, within 7 days. */
async function refuseBooked(context: Context, runs: RunStore, job: Job): Promise<void> {
  const { identity } = job;
  for (const run of await runs.ids()) {
    const header = await readHeader(runs.pathOf(run)).catch(() => undefined);
    if (!header || !isSameDelivery(header, identity)) continue;
    const info = await runs.info(run).catch(() => undefined);
    const bookedAt = info?.lastAt ?? Date.parse(header.started);
    if (context.now().getTime() - bookedAt > bookedForMs) continue;
    if (info && !mayBeBooked(info)) continue;
    const unfinished = info && isOpen(info) ? ', and is unfinished' : '';
    throw new UsageError(
      `${job.name}: run ${run} of ${new Date(bookedAt).toISOString()} has booked the same delivery${unfinished}; nothing was sent`,
      'if it came a second time, give --again',
    );
  }
}

function isSameDelivery({ kind, sha256, target, flags }: JournalHeader, identity: RunIdentity): boolean {
  return (
    kind === 'apply' &&
    flags.relative &&
    sha256 === identity.sha256 &&
    target === identity.target &&
    JSON.stringify(flags.shard) === JSON.stringify(identity.flags.shard)
  );
}

function mayBeBooked({ state, isPartial, counts }: RunInfo): boolean {
  if (state === 'undone') return isPartial;
  return state === 'killed' || state === 'running' || counts.applied + counts.unknown > 0;
}

/** Tells of unfinished runs on the same target that this one does not go on with. */
async function tellOthers(context: Context, runs: RunStore, job: Job): Promise<void> {
  for (const run of await runs.ids()) {
    const header = await readHeader(runs.pathOf(run)).catch(() => undefined);
    if (!header || header.target !== job.identity.target || isSameRun(header, job.identity)) continue;
    const info = await runs.info(run).catch(() => undefined);
    if (!info || !isResumable(info.state)) continue;
    const of = header.kind === 'undo' ? `undo of ${header.name}` : header.name;
    await context.notice(`warning: run ${run} of ${of} is unfinished: resume or discard it`);
  }
}

async function newestResumable(context: Context, runs: RunStore): Promise<string> {
  // Without a service to call there is none whose run is meant.
  await context.client('many');
  const target = await targetOf(context);
  for (const run of await runs.ids()) {
    const info = await infoOrWarning(context, runs, run);
    if (info && isOpen(info) && info.header.target === target) return run;
  }
  throw new UsageError(
    `resume: no unfinished run at ${target}`,
    '`petstore inventory runs` lists all of them',
  );
}

/** The flags that make `apply` read the input, and write it, as the run did. */
function flagsOf({ flags }: JournalHeader): InputFlags & PlanFlags & BeginFlags {
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
