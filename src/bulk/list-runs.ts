import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, fileError, isMissing, UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { readBegin, readEnd, readJournal, readUnreadableHead, type UnreadableHead } from './read-journal.ts';
import { isSameTarget, type Run, type RunHeader, type SessionEnd, type Target } from './run.ts';
import { openRowCount, type RunTotals, rowTotals } from './run-row.ts';
import { runFolderOf } from './target.ts';

/** A run that has begun. */
export interface ListedRun extends Readonly<Omit<SessionEnd, 'ended'>> {
  readonly id: string;
  readonly started: string;
  readonly header: RunHeader;
  /** `open`: rows are left or unknown, or its last session has no end. `undone`: an undo has finished. */
  readonly state: 'open' | 'finished' | 'undone';
  /** The last undo of the run, if there is one. */
  readonly undo: ListedRun | undefined;
}

/** The runs of a folder at one moment. */
export interface RunList {
  readonly folder: string;
  /** The runs with a complete plan, the newest first. */
  readonly runs: readonly ListedRun[];
  /** The journals that cannot be read, the newest first. */
  readonly unreadable: readonly UnreadableRun[];
}

/** A journal that is damaged, or that another version of petstore has written. */
interface UnreadableRun extends UnreadableHead {
  readonly id: string;
  readonly problem: CliError;
}

const journalNamePattern = /^r([1-9]\d{0,14})\.jsonl$/;

/** Lists the runs of this user. @throws CliError if the folder, or the end of a journal, cannot be read. */
export async function listRuns(io: Io): Promise<RunList> {
  const folder = runFolderOf(io);
  const runs: ListedRun[] = [];
  const unreadable: UnreadableRun[] = [];
  const undos = new Map<string, ListedRun>();
  for (const id of await readRunIds(folder))
    try {
      // Newest first, so an undo comes before its run.
      const info = await readListedRun(journalPath(folder, id), undos.get(id));
      if (!info) continue;
      runs.push(info);
      const { undoes } = info.header;
      if (undoes !== undefined && !undos.has(undoes)) undos.set(undoes, info);
    } catch (problem) {
      if (!(problem instanceof CliError)) throw problem;
      unreadable.push({ id, problem, ...readUnreadableHead(journalPath(folder, id)) });
    }
  return { folder, runs, unreadable };
}

/** Finds the runs on a target, the newest first. */
export function runsOnTarget({ runs }: RunList, target: Target): ListedRun[] {
  return runs.filter(({ header }) => isSameTarget(header.target, target));
}

/** Finds the journals that cannot be read and may be of a target. */
export function unreadableOn({ unreadable }: RunList, target: Target): UnreadableRun[] {
  return unreadable.filter(({ target: other }) => other === undefined || isSameTarget(other, target));
}

/**
 * Checks that no journal that cannot be read keeps a run of the target from going on. An earlier run of another version does not.
 *
 * @param info the run that is to go on, if there is one.
 * @throws CliError `usage` for a journal that may have taken back the run, or planned its records later.
 */
export function requireReadableRuns(list: RunList, target: Target, info: ListedRun | undefined): void {
  for (const { id, isDamaged, problem } of unreadableOn(list, target))
    if (isDamaged || !info || Number(id.slice(1)) > Number(info.id.slice(1))) throw problem;
}

export function isOpen({ state }: Pick<ListedRun, 'state'>): boolean {
  return state === 'open';
}

/** Finds a run. @throws CliError `usage` if its journal cannot be read; UsageError if the run does not exist. */
export function findRun({ runs, unreadable }: RunList, id: string): ListedRun {
  const info = runs.find((run) => run.id === id);
  if (info) return info;
  throw unreadable.find((run) => run.id === id)?.problem ?? noRunError(id);
}

/** Reads the facts of one run. @throws as `findRun`. */
export async function readHeader(io: Io, id: string): Promise<RunHeader> {
  const folder = runFolderOf(io);
  if (!(await readRunIds(folder)).includes(id)) throw noRunError(id);
  return readBegin(journalPath(folder, id)).header;
}

/**
 * Reads the whole journal of a run. Rows that a killed session may have sent are uncertain.
 *
 * @throws as `findRun`.
 */
export async function readRun({ folder }: Pick<RunList, 'folder'>, id: string): Promise<Run> {
  const run = await readJournal(journalPath(folder, id));
  if (!run) throw noRunError(id);
  return run;
}

/** The number of the next plan on a target, from 1. Two shards may plan at once and get one number: they share no record. */
export function nextPlanNumber({ runs }: RunList, target: Target): number {
  const onTarget = runs.filter(({ header }) => isSameTarget(header.target, target));
  return onTarget.reduce((last, { planNumber }) => Math.max(last, planNumber), 0) + 1;
}

export function journalPath(folder: string, id: string): string {
  return join(folder, `${id}.jsonl`);
}

function noRunError(id: string): UsageError {
  return new UsageError(`run ${id}: no such run`, '`petstore runs` lists all of them');
}

/** Reads the ids of all runs, the newest first. */
export async function readRunIds(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error) => {
    if (isMissing(error)) return [];
    throw fileError('read', folder, error);
  });
  const numbers = names.flatMap((name) => journalNamePattern.exec(name)?.[1] ?? []).map(Number);
  return numbers.sort((a, b) => b - a).map((number) => `r${number}`);
}

/** Reads the facts of a run, if it has a complete plan. @throws CliError if its journal cannot be read. */
async function readListedRun(path: string, undo: ListedRun | undefined): Promise<ListedRun | undefined> {
  const end = readEnd(path);
  if (end) return { ...readBegin(path), ...end, state: stateOf(end, undo), undo };
  const run = await readJournal(path);
  return run && toListedRun(run, undo);
}

/** Returns the facts of a run that has been read whole. */
export function toListedRun(run: Run, undo?: ListedRun): ListedRun {
  const { id = '', started = '', header, rows, planNumber, rejects, end } = run;
  const totals = rowTotals(rows, header);
  const state = end || undo?.state === 'finished' ? stateOf(totals, undo) : 'open';
  return { id, started, header, planNumber, ...totals, rejects, state, undo };
}

function stateOf(totals: RunTotals, undo: ListedRun | undefined): ListedRun['state'] {
  if (undo?.state === 'finished') return 'undone';
  return openRowCount(totals) === 0 ? 'finished' : 'open';
}
