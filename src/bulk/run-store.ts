import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, UsageError } from '../process/errors.ts';
import { ensurePrivateFolder, syncPath } from '../process/files.ts';
import { withLock } from '../process/lock.ts';
import { fileError, isMissing } from '../process/system-error.ts';
import { Journal, type RunEnd } from './journal.ts';
import { type JournalHead, type JournalImage, otherVersion, readHead, readJournal } from './read-journal.ts';
import { rowTotals } from './rows.ts';
import type { RunHeader } from './run-header.ts';
import { liveClaims } from './target.ts';

/** The folder of all journals, one file each: `r7.jsonl`. */
export function runFolder(stateDir: string): string {
  return join(stateDir, 'runs');
}

/** A run that was begun. */
export interface RunInfo extends JournalHead, Omit<RunEnd, 'ended'> {
  /**
   * `stopped`: rows are left or unknown, or its last session was killed. `undone`: an undo has set back all of its rows.
   */
  readonly state: 'running' | 'stopped' | 'finished' | 'undone';
  /** Of its rows without an outcome, those that a killed session may have sent. */
  readonly unsettled: number;
  /** The last undo of it, if there is one. */
  readonly undo: RunInfo | undefined;
}

/** A run whose plan is in its journal. */
export interface RunStart {
  readonly id: string;
  readonly journal: Journal;
  /** The number of the plan on the target. */
  readonly planNumber: number;
}

/** The runs of a folder at one moment. */
export interface RunList {
  readonly folder: string;
  /** The newest first. A run without a complete plan does not exist. */
  readonly runs: readonly RunInfo[];
  /** The runs whose journals cannot be read; `header` is undefined if even that cannot be read. */
  readonly unreadable: readonly {
    readonly id: string;
    readonly header: RunHeader | undefined;
    readonly problem: CliError;
  }[];
}

const journalName = /^r([1-9]\d{0,14})\.jsonl$/;
/** All journals together may have so many bytes; so many of the last runs are kept in any case. */
const maxBytes = 2 ** 30;
const keptRuns = 50;

export async function listRuns(folder: string): Promise<RunList> {
  const runs: RunInfo[] = [];
  const unreadable: RunList['unreadable'][number][] = [];
  const running = new Set((await liveClaims(folder)).map(({ run }) => run));
  for (const id of await idsIn(folder))
    try {
      // An undo is newer than the run that it undoes, and the newest one counts.
      const undo = runs.find(({ header }) => header.undoes === id);
      const info = await readInfo(journalPath(folder, id), running.has(id), undo);
      if (info) runs.push(info);
    } catch (problem) {
      if (!(problem instanceof CliError)) throw problem;
      const head = await readHead(journalPath(folder, id)).catch(() => undefined);
      unreadable.push({ id, header: head?.header, problem });
    }
  return { folder, runs, unreadable };
}

/**
 * The runs on a target, the newest first.
 *
 * @param after only runs that began after this one.
 * @throws CliError `failed` if a journal that may be one of them cannot be read. Another version of this program looks
 *   after its own.
 */
export function runsOnTarget({ runs, unreadable }: RunList, target: string, after = 'r0'): RunInfo[] {
  const isLater = (id: string) => numberOf(id) > numberOf(after);
  for (const { id, header, problem } of unreadable)
    if (isLater(id) && problem.details.code !== otherVersion && (!header || header.target === target))
      throw problem;
  return runs.filter(({ id, header }) => header.target === target && isLater(id));
}

/** @throws CliError `failed` if its journal cannot be read; UsageError if it does not exist. */
export function findRun({ runs, unreadable }: RunList, id: string): RunInfo {
  const info = runs.find((run) => run.id === id);
  if (info) return info;
  throw unreadable.find((run) => run.id === id)?.problem ?? noSuchRun(id);
}

/** The whole journal of a run. @throws as `findRun` */
export async function readRun(folder: string, id: string): Promise<JournalImage> {
  const image = await readJournal(journalPath(folder, id));
  if (!image) throw noSuchRun(id);
  return image;
}

/** The number of the next plan on a target. */
export function nextPlan({ runs }: RunList, target: string): number {
  const numbers = runs.filter(({ header }) => header.target === target).map(({ planned }) => planned);
  return Math.max(0, ...numbers) + 1;
}

/**
 * Creates the next run, and removes journals without a plan and old ones.
 *
 * @param write must keep a whole plan in the journal.
 * @throws CliError `failed`; then the run does not exist.
 */
export async function createRun(
  folder: string,
  target: string,
  write: (start: RunStart) => void,
): Promise<RunStart> {
  await ensureRunFolder(folder);
  // Whoever finds a journal without a plan under this lock knows that its process has ended.
  return withLock(
    join(folder, 'runs'),
    async () => {
      const [last = 'r0'] = await idsIn(folder);
      const list = await listRuns(folder);
      await removeOld(list);
      const id = `r${numberOf(last) + 1}`;
      const journal = new Journal(journalPath(folder, id));
      try {
        const start = { id, journal, planNumber: nextPlan(list, target) };
        write(start);
        await syncPath(folder);
        return start;
      } catch (error) {
        journal.close();
        await rm(journal.path, { force: true }).catch(() => {});
        throw error;
      }
    },
    { waitMs: 120_000 },
  );
}

/** Creates the folder of the journals. @throws CliError `failed` */
export async function ensureRunFolder(folder: string): Promise<void> {
  try {
    await ensurePrivateFolder(folder);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const hint = 'what a run does is kept there; PETSTORE_STATE_DIR names another folder';
    throw new CliError(error.kind, error.message, { ...error.details, hint });
  }
}

export function journalPath(folder: string, id: string): string {
  return join(folder, `${id}.jsonl`);
}

/** Runs are numbered in the order in which they began. */
function numberOf(id: string): number {
  return Number(id.slice(1));
}

function noSuchRun(id: string): UsageError {
  return new UsageError(`run ${id}: no such run`, '`petstore runs` lists all of them');
}

/** The ids of all runs, the newest first. */
async function idsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error) => {
    if (isMissing(error)) return [];
    throw fileError('read', folder, error);
  });
  const numbers = names.flatMap((name) => journalName.exec(name)?.[1] ?? []).map(Number);
  return numbers.sort((a, b) => b - a).map((number) => `r${number}`);
}

/** Undefined if the run has no complete plan. @throws CliError if its journal cannot be read */
async function readInfo(
  path: string,
  isRunning: boolean,
  undo: RunInfo | undefined,
): Promise<RunInfo | undefined> {
  const end = isRunning ? undefined : readEnd(path);
  const image = end ? undefined : await readJournal(path);
  if (!end && !image) return undefined;
  const { id, header, started } = image ?? (await readHead(path));
  const { counts, open, left } = end ?? rowTotals([...(image?.rows.values() ?? [])], header);
  const planned = end?.planned ?? image?.planned ?? 0;
  const unsettled = end || isRunning ? 0 : counts.unprocessed;
  const ended = end && open === 0 ? 'finished' : 'stopped';
  const state = isRunning ? 'running' : isWhole(undo) ? 'undone' : ended;
  return { id, header, started, state, counts, unsettled, open, left, planned, undo };
}

/** Whether an undo has ended with every row set back. */
function isWhole(undo: RunInfo | undefined): boolean {
  if (undo?.state !== 'finished') return false;
  const { failed, unknown, unprocessed } = undo.counts;
  return failed + unknown + unprocessed === 0;
}

/** The last line alone, if it ends a session. @throws CliError `failed` if the file cannot be read. */
function readEnd(path: string): RunEnd | undefined {
  const tail = Buffer.alloc(1024);
  let length = 0;
  try {
    const file = openSync(path, 'r');
    try {
      length = readSync(file, tail, 0, tail.length, Math.max(0, fstatSync(file).size - tail.length));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw fileError('read', path, error);
  }
  const text = tail.toString('utf8', 0, length);
  const line = text.endsWith('\n') ? (text.trimEnd().split('\n').at(-1) ?? '') : '';
  try {
    const end = line.startsWith('{"counts":') ? (JSON.parse(line) as RunEnd) : undefined;
    return end?.ended === undefined ? undefined : end;
  } catch {
    return undefined;
  }
}

/** Removes the oldest finished runs without a delivery number while the journals have too many bytes. */
async function removeOld({ folder, runs, unreadable }: RunList): Promise<void> {
  const ids = new Set([...runs, ...unreadable].map(({ id }) => id));
  const sizes = new Map<string, number>();
  for (const id of await idsIn(folder)) {
    // A process that was killed left it before its plan was complete: nothing was sent.
    if (!ids.has(id)) await rm(journalPath(folder, id), { force: true }).catch(() => {});
    else sizes.set(id, await stat(journalPath(folder, id)).then(({ size }) => size));
  }
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const mayGo = ({ header, state }: RunInfo) =>
    (state === 'finished' || state === 'undone') && header.delivery === null;
  for (const { id } of runs.slice(keptRuns).filter(mayGo).reverse()) {
    if (bytes <= maxBytes) return;
    await rm(journalPath(folder, id), { force: true }).catch(() => {});
    bytes -= sizes.get(id) ?? 0;
  }
}
