import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, UsageError } from '../process/errors.ts';
import { ensurePrivateFolder, syncPath } from '../process/files.ts';
import { withLock } from '../process/lock.ts';
import { fileError, isMissing } from '../process/system-error.ts';
import { Journal, type RunEnd, type RunHeader } from './journal.ts';
import { countRun, type JournalImage, otherVersion, readHeader, readJournal } from './read-journal.ts';
import { isLeft, isOpen, type StateCounts } from './rows.ts';
import { liveClaims } from './target.ts';

/**
 * `stopped`: rows are left or unknown, or its last session was killed. `undone`: an undo has set back all of its rows.
 */
type RunState = 'running' | 'stopped' | 'finished' | 'undone';

/** A past run. */
export interface RunInfo {
  readonly header: RunHeader;
  readonly state: RunState;
  readonly counts: StateCounts;
  /** Of its rows without an outcome, those that a killed session may have sent. */
  readonly unsettled: number;
  /** How many rows a further session takes, and how many of those are not unknown. */
  readonly open: number;
  readonly left: number;
  /** The number of its last plan. */
  readonly planned: number;
  /** The last undo of it, if there is one. */
  readonly undo: RunInfo | undefined;
}

/** A run whose journal cannot be read; `header` is undefined if that cannot be read either. */
interface UnreadableRun {
  readonly run: string;
  readonly header: RunHeader | undefined;
  readonly problem: CliError;
}

const journalName = /^r([1-9]\d{0,14})\.jsonl$/;
/** All journals together may have so many bytes; so many of the last runs are kept in any case. */
const maxBytes = 2 ** 30;
const keptRuns = 50;

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
  private async ids(): Promise<string[]> {
    const names = await readdir(this.folder).catch((error) => {
      if (isMissing(error)) return [];
      throw fileError('read', this.folder, error);
    });
    const numbers = names.flatMap((name) => journalName.exec(name)?.[1] ?? []).map(Number);
    return numbers.sort((one, other) => other - one).map((number) => `r${number}`);
  }

  /** The newest first. A run without a complete plan does not exist. */
  async all(): Promise<{ readonly runs: readonly RunInfo[]; readonly unreadable: readonly UnreadableRun[] }> {
    const runs: RunInfo[] = [];
    const unreadable: UnreadableRun[] = [];
    const running = new Set((await liveClaims(this.folder)).map(({ run }) => run));
    for (const run of await this.ids())
      try {
        // An undo is newer than the run that it undoes, and the newest one counts.
        const undo = runs.find(({ header }) => header.undoes === run);
        const info = await this.look(run, running.has(run), undo);
        if (info) runs.push(info);
      } catch (problem) {
        if (!(problem instanceof CliError)) throw problem;
        const header = await readHeader(this.pathOf(run)).catch(() => undefined);
        unreadable.push({ run, header, problem });
      }
    return { runs, unreadable };
  }

  /**
   * The runs on a target, the newest first.
   *
   * @param after only runs that began after this one.
   * @throws CliError `failed` if a journal that may be one of them cannot be read.
   */
  async onTarget(target: string, after = 'r0'): Promise<RunInfo[]> {
    const { runs, unreadable } = await this.all();
    const isLater = (run: string) => numberOf(run) > numberOf(after);
    for (const { run, header, problem } of unreadable)
      if (isLater(run) && mayBeOn(target, header, problem)) throw problem;
    return runs.filter(({ header }) => header.target === target && isLater(header.run));
  }

  /** @throws CliError `failed` if its journal cannot be read; UsageError if it does not exist. */
  async find(run: string): Promise<RunInfo> {
    const { runs, unreadable } = await this.all();
    const found = runs.find(({ header }) => header.run === run);
    if (found) return found;
    throw unreadable.find((each) => each.run === run)?.problem ?? noSuchRun(run);
  }

  /** @throws as `find` */
  async read(run: string): Promise<JournalImage> {
    const image = await readJournal(this.pathOf(run));
    if (!image) throw noSuchRun(run);
    return image;
  }

  /**
   * Creates the next run: `write` gets its id and its journal, and must write and synchronise a whole plan. Removes
   * journals without a plan, and old ones.
   *
   * @returns its id.
   * @throws CliError `failed`; then the run does not exist.
   */
  async create(write: (run: string, journal: Journal) => void): Promise<string> {
    await this.ensureFolder();
    // Whoever finds a journal without a plan under this lock knows that its process has ended.
    return withLock(
      join(this.folder, 'runs'),
      async () => {
        const [last = 'r0'] = await this.ids();
        await this.removeOld();
        const run = `r${numberOf(last) + 1}`;
        const journal = new Journal(this.pathOf(run));
        try {
          write(run, journal);
          await syncPath(this.folder);
          return run;
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
  async ensureFolder(): Promise<this> {
    try {
      await ensurePrivateFolder(this.folder);
      return this;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const hint = 'what a run does is kept there; PETSTORE_STATE_DIR names another folder';
      throw new CliError(error.kind, error.message, { ...error.details, hint });
    }
  }

  /** The number of the next plan on a target. */
  async nextPlan(target: string): Promise<number> {
    const { runs } = await this.all();
    const numbers = runs.filter(({ header }) => header.target === target).map(({ planned }) => planned);
    return Math.max(0, ...numbers) + 1;
  }

  /** Undefined if it has no complete plan. @throws CliError if its journal cannot be read */
  private async look(
    run: string,
    isRunning: boolean,
    undo: RunInfo | undefined,
  ): Promise<RunInfo | undefined> {
    const path = this.pathOf(run);
    const end = isRunning ? undefined : readEnd(path);
    const image = end ? undefined : await readJournal(path);
    if (!end && !image) return undefined;
    const header = image?.header ?? (await readHeader(path));
    const { counts, open, left, planned } = end ?? factsOf(image as JournalImage);
    const unsettled = end || isRunning ? 0 : counts.unprocessed;
    const ended = end && open === 0 ? 'finished' : 'stopped';
    const state = isRunning ? 'running' : isWhole(undo) ? 'undone' : ended;
    return { header, state, counts, unsettled, open, left, planned, undo };
  }

  /** Removes the oldest finished runs without a delivery number while the journals have too many bytes. */
  private async removeOld(): Promise<void> {
    const { runs, unreadable } = await this.all();
    const known = new Set([...runs.map(({ header }) => header.run), ...unreadable.map(({ run }) => run)]);
    const sizes = new Map<string, number>();
    for (const run of await this.ids()) {
      // A process that was killed left it before its plan was complete: nothing was sent.
      if (!known.has(run)) await rm(this.pathOf(run), { force: true }).catch(() => {});
      else sizes.set(run, await stat(this.pathOf(run)).then(({ size }) => size));
    }
    let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const mayGo = ({ header, state }: RunInfo) =>
      (state === 'finished' || state === 'undone') && header.delivery === null;
    for (const { header } of runs.slice(keptRuns).filter(mayGo).reverse()) {
      if (bytes <= maxBytes) return;
      await rm(this.pathOf(header.run), { force: true }).catch(() => {});
      bytes -= sizes.get(header.run) ?? 0;
    }
  }
}

/** Whether a journal that cannot be read may be one of a target. Another version of this program looks after its own. */
export function mayBeOn(target: string, header: RunHeader | undefined, { details }: CliError): boolean {
  return details.code !== otherVersion && (!header || header.target === target);
}

function noSuchRun(run: string): UsageError {
  return new UsageError(`run ${run}: no such run`, '`petstore runs` lists all of them');
}

/** Runs are numbered in the order in which they began. */
export function numberOf(run: string): number {
  return Number(run.slice(1));
}

/** Whether an undo has ended with every row set back. */
function isWhole(undo: RunInfo | undefined): boolean {
  if (undo?.state !== 'finished') return false;
  const { failed, unknown, unprocessed } = undo.counts;
  return failed + unknown + unprocessed === 0;
}

/** What the end of a run would say if it had one. */
function factsOf(image: JournalImage): Omit<RunEnd, 'ended'> {
  const rows = [...image.rows.values()];
  const { planned } = image;
  const [open, left] = [rows.filter(isOpen).length, rows.filter(isLeft).length];
  return { counts: countRun(image), open, left, planned };
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
