import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, UsageError } from '../process/errors.ts';
import { ensurePrivateFolder, syncFolder } from '../process/files.ts';
import { LineFile } from '../process/line-file.ts';
import { withLock } from '../process/lock.ts';
import { fileError, isMissing } from '../process/system-error.ts';
import {
  countRows,
  type JournalImage,
  type RunEnd,
  type RunHeader,
  readHeader,
  readJournal,
} from './journal.ts';
import type { StateCounts } from './rows.ts';
import { runningRuns } from './target.ts';

/**
 * `stopped`: rows are left that `resume` takes, or its last session was killed. `undone`: an undo set all of its rows
 * back.
 */
type RunState = 'running' | 'stopped' | 'finished' | 'undone';

/** A past run. */
export interface RunInfo {
  readonly header: RunHeader;
  readonly state: RunState;
  readonly counts: StateCounts;
  /** How many rows `resume` would take. */
  readonly left: number;
  /** When its last session ended, or its journal was last written to, in milliseconds since the epoch. */
  readonly lastAt: number;
  /** The last undo of it, if there is one. */
  readonly undo: RunInfo | undefined;
}

/** A run whose journal cannot be read; `header` is undefined if that cannot be read either. */
export interface UnreadableRun {
  readonly run: string;
  readonly header: RunHeader | undefined;
  readonly problem: CliError;
  readonly lastAt: number;
}

const journalName = /^r([1-9]\d{0,14})\.jsonl$/;
const dayMs = 24 * 3_600_000;
/** How long journals are kept, except those of unfinished deliveries. */
const keptMs = 90 * dayMs;

export function isUnfinished({ state }: RunInfo): boolean {
  return state === 'stopped';
}

/** The journals of past runs, one file each: `r7.jsonl`. */
export class RunStore {
  readonly folder: string;

  constructor(stateDir: string) {
    this.folder = join(stateDir, 'runs');
  }

  pathOf(run: string): string {
    return join(this.folder, `${run}.jsonl`);
  }

  /** The ids of all runs, the newest first. */
  async ids(): Promise<string[]> {
    const names = await readdir(this.folder).catch((error) => {
      if (isMissing(error)) return [];
      throw fileError('read', this.folder, error);
    });
    const numbers = names.flatMap((name) => journalName.exec(name)?.[1] ?? []).map(Number);
    return numbers.sort((one, other) => other - one).map((number) => `r${number}`);
  }

  /** @throws UsageError if there is no such run */
  async check(run: string): Promise<string> {
    if ((await this.ids()).includes(run)) return run;
    throw new UsageError(`run ${run}: no such run`, '`petstore inventory runs` lists all of them');
  }

  /** The newest first. A run without a complete plan does not exist. */
  async all(): Promise<(RunInfo | UnreadableRun)[]> {
    const found: (RunInfo | UnreadableRun)[] = [];
    const running = await runningRuns(this.folder);
    const undos = new Map<string, RunInfo>();
    for (const run of await this.ids()) {
      const info = await this.look(run, running.has(run), undos.get(run));
      if (info) found.push(info);
      // An undo is newer than the run that it undoes, and the newest one counts.
      if (info && isReadable(info) && info.header.undoes !== null && !undos.has(info.header.undoes))
        undos.set(info.header.undoes, info);
    }
    return found;
  }

  /**
   * The runs on a target, the newest first.
   *
   * @param after only runs that began after this one.
   * @throws CliError `failed` if a journal that may be one of them cannot be read.
   */
  async onTarget(target: string, after?: string): Promise<RunInfo[]> {
    const least = after === undefined ? 0 : numberOf(after);
    const found: RunInfo[] = [];
    for (const each of await this.all())
      if (isReadable(each)) {
        if (each.header.target === target && numberOf(each.header.run) > least) found.push(each);
      } else if (numberOf(each.run) > least && (!each.header || each.header.target === target))
        throw each.problem;
    return found;
  }

  /** @throws CliError `failed` if its journal cannot be read; UsageError if it does not exist. */
  async read(run: string): Promise<JournalImage> {
    const image = await readJournal(this.pathOf(await this.check(run)));
    if (image) return image;
    throw new UsageError(`run ${run}: it has no plan, and wrote nothing`);
  }

  /**
   * Creates the next run: `write` gets its id and its file, and must write and synchronise a whole plan. Removes
   * journals without a plan, and old ones.
   *
   * @throws CliError `failed`; then the run does not exist.
   */
  async create(write: (run: string, file: LineFile) => void): Promise<void> {
    await this.ensureFolder();
    // Whoever finds a journal without a plan under this lock knows that its process has ended.
    await withLock(
      join(this.folder, 'runs'),
      async () => {
        const [last = 'r0'] = await this.ids();
        await this.removeOld();
        const run = `r${numberOf(last) + 1}`;
        const file = LineFile.create(this.pathOf(run));
        try {
          write(run, file);
          await syncFolder(this.folder);
        } catch (error) {
          file.close();
          await rm(file.path, { force: true }).catch(() => {});
          throw error;
        }
      },
      { waitMs: 120_000 },
    );
  }

  /** @throws CliError `failed` */
  async ensureFolder(): Promise<void> {
    try {
      await ensurePrivateFolder(this.folder);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const hint = 'what a run does is kept there; PETSTORE_STATE_DIR names another folder';
      throw new CliError(error.kind, error.message, { ...error.details, hint });
    }
  }

  /** Undefined if it has no complete plan. */
  private async look(
    run: string,
    isRunning: boolean,
    undo: RunInfo | undefined,
  ): Promise<RunInfo | UnreadableRun | undefined> {
    const path = this.pathOf(run);
    const lastAt = await writtenAt(path);
    try {
      const end = isRunning ? undefined : readEnd(path);
      if (end) return infoOf(await readHeader(path), { ...end, lastAt: end.ended, undo });
      const image = await readJournal(path);
      if (!image) return undefined;
      const counts = countRows(image);
      if (isRunning) {
        counts.unprocessed += counts.unknown;
        counts.unknown = 0;
      }
      const state = isRunning ? 'running' : 'stopped';
      return infoOf(image.header, { counts, left: image.rows.countLeft(), lastAt, undo, state });
    } catch (problem) {
      if (!(problem instanceof CliError)) throw problem;
      return { run, header: await readHeader(path).catch(() => undefined), problem, lastAt };
    }
  }

  private async removeOld(): Promise<void> {
    const all = await this.all();
    const known = new Set(all.map((each) => (isReadable(each) ? each.header.run : each.run)));
    // A killed process left the others before their plans were complete: nothing was sent.
    const removed = (await this.ids()).filter((run) => !known.has(run));
    for (const each of all) {
      const isOld = Date.now() - each.lastAt > keptMs;
      if (!isOld || !isReadable(each) || each.state === 'running') continue;
      if (!each.header.flags.relative || !isUnfinished(each)) removed.push(each.header.run);
    }
    for (const run of removed) await rm(this.pathOf(run), { force: true }).catch(() => {});
  }
}

export function isReadable(run: RunInfo | UnreadableRun): run is RunInfo {
  return 'state' in run;
}

/** Runs are numbered in the order in which they began. */
export function numberOf(run: string): number {
  return Number(run.slice(1));
}

function writtenAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

function infoOf(
  header: RunHeader,
  facts: Omit<RunInfo, 'header' | 'state'> & { readonly state?: RunState },
): RunInfo {
  const { left, undo, state } = facts;
  const ended = left > 0 ? 'stopped' : 'finished';
  const isUndone = undo !== undefined && isWhole(undo);
  const shownState = state === 'running' ? state : isUndone ? 'undone' : (state ?? ended);
  return { header, ...facts, state: shownState };
}

/** Whether an undo has ended with every row set back. */
function isWhole({ state, counts }: RunInfo): boolean {
  return state === 'finished' && counts.failed + counts.unknown + counts.unprocessed === 0;
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
