import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, fileError, isMissing, UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { readBegin, readEnd, readJournal, salvageHead, type UnreadableHead } from './read-journal.ts';
import {
  isSameTarget,
  numbersOf,
  openRowCount,
  type Run,
  type RunBegin,
  type RunHeader,
  type RunLog,
  type RunNumbers,
  type Target,
} from './run.ts';
import { runFolderOf } from './target.ts';

/** The runs of a folder at one moment. */
export interface RunList {
  readonly folder: string;
  /** The runs with a complete plan, the newest first. */
  readonly runs: readonly Run[];
  /** The journals that cannot be read, the newest first. */
  readonly unreadable: readonly UnreadableRun[];
}

/** A journal that is damaged, or that another version of petstore has written. */
interface UnreadableRun extends UnreadableHead {
  readonly id: string;
  readonly problem: CliError;
}

const journalNamePattern = /^r([1-9]\d{0,14})\.jsonl$/;

/** Lists the runs of this user. A journal that cannot be read is in `unreadable`. @throws CliError if the folder cannot be read. */
export async function listRuns(io: Io): Promise<RunList> {
  const folder = runFolderOf(io);
  const runs: Run[] = [];
  const unreadable: UnreadableRun[] = [];
  const undos = new Map<string, Run>();
  for (const id of await readRunIds(folder))
    try {
      // Newest first, so an undo comes before its run.
      const run = await readRun(journalPath(folder, id), undos.get(id));
      if (!run) continue;
      runs.push(run);
      const { undoes } = run.header;
      if (undoes !== undefined && !undos.has(undoes)) undos.set(undoes, run);
    } catch (problem) {
      if (!(problem instanceof CliError)) throw problem;
      unreadable.push({ id, problem, ...salvageHead(journalPath(folder, id)) });
    }
  return { folder, runs, unreadable };
}

/** Finds the runs on a target, the newest first. */
export function runsOnTarget({ runs }: RunList, target: Target): Run[] {
  return runs.filter(({ header }) => isSameTarget(header.target, target));
}

/** Finds the journals that cannot be read and may be of a target. */
export function unreadableOn({ unreadable }: RunList, target: Target): UnreadableRun[] {
  return unreadable.filter(({ target: other }) => other === undefined || isSameTarget(other, target));
}

/**
 * Checks that no unreadable journal stops a run. One that another version wrote before the run began does not stop it.
 *
 * @param run the run that is to go on, if there is one.
 * @throws CliError `usage` for a journal that may have taken back the run, or planned its records later.
 */
export function requireReadableRuns(list: RunList, target: Target, run: Run | undefined): void {
  for (const { id, isDamaged, problem } of unreadableOn(list, target))
    if (isDamaged || !run || Number(id.slice(1)) > Number(run.id.slice(1))) throw problem;
}

export function isOpen({ state }: Run): boolean {
  return state === 'open';
}

/** Returns the run with an id. @throws CliError `usage` if its journal cannot be read; UsageError if the run does not exist. */
export function requireRun({ runs, unreadable }: RunList, id: string): Run {
  const found = runs.find((run) => run.id === id);
  if (found) return found;
  throw unreadable.find((run) => run.id === id)?.problem ?? noRunError(id);
}

/** Reads the header of one run. @throws as `requireRun`. */
export async function readHeader(io: Io, id: string): Promise<RunHeader> {
  const folder = runFolderOf(io);
  if (!(await readRunIds(folder)).includes(id)) throw noRunError(id);
  const path = journalPath(folder, id);
  const { header } = readBegin(path) ?? (await readJournal(path)) ?? {};
  if (!header) throw noRunError(id);
  return header;
}

/**
 * Reads the whole journal of a run. Rows that a killed session may have sent are uncertain.
 *
 * @throws as `requireRun`.
 */
export async function readLog({ folder }: Pick<RunList, 'folder'>, id: string): Promise<RunLog> {
  const log = await readJournal(journalPath(folder, id));
  if (!log) throw noRunError(id);
  return log;
}

/** The number of the next plan on a target, from 1. Two shards may plan at once and get one number: they share no record. */
export function nextPlanNumber(list: RunList, target: Target): number {
  return runsOnTarget(list, target).reduce((last, { planNumber }) => Math.max(last, planNumber), 0) + 1;
}

export function journalPath(folder: string, id: string): string {
  return join(folder, `${id}.jsonl`);
}

function noRunError(id: string): UsageError {
  return new UsageError(`run ${id}: no such run`, '`petstore runs` lists all runs');
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

/**
 * Reads the first and the last line of a journal, or all lines if its last session has no end. Returns undefined if it has no complete
 * plan.
 *
 * @throws CliError if it cannot be read.
 */
async function readRun(path: string, undo: Run | undefined): Promise<Run | undefined> {
  const end = readEnd(path);
  const log = end ? undefined : await readJournal(path);
  const begin = readBegin(path);
  if (begin && end) return toRun(begin, end, true, undo);
  return begin && log && toRun(begin, numbersOf(log), log.isEnded, undo);
}

/** Returns a run. @param isEnded false if its last session has no end. */
export function toRun(begin: RunBegin, numbers: RunNumbers, isEnded: boolean, undo?: Run): Run {
  return { ...begin, ...numbers, state: stateOf(numbers, isEnded, undo), undo };
}

function stateOf(numbers: RunNumbers, isEnded: boolean, undo: Run | undefined): Run['state'] {
  if (undo?.state === 'finished') return undo.counts.failed === 0 ? 'undone' : 'partly undone';
  return isEnded && openRowCount(numbers) === 0 ? 'finished' : 'open';
}
