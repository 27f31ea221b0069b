import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, UsageError } from '../process/errors.ts';
import { ensurePrivateFolder } from '../process/files.ts';
import { holderOf, withLock } from '../process/lock.ts';
import { fileError } from '../process/system-error.ts';
import { Journal } from './journal.ts';
import type { Ending, EndLine, JournalHeader } from './journal-lines.ts';
import { type JournalImage, readEnd, readHeader, readJournal } from './journal-reader.ts';
import type { State } from './rows.ts';
import { isIdOf, type RunIdentity, toRunId } from './run-identity.ts';

/** `running`: a process is working on it; `killed`: it ended without an end line. */
export type RunState = Ending | 'running' | 'killed';

/** A past run and its state. */
export interface RunInfo {
  readonly header: JournalHeader;
  readonly state: RunState;
  /** The run that undid it; `restart` if another one replaced it. */
  readonly by: string | undefined;
  /** For an undone run: true if some rows could not be undone. */
  readonly isPartial: boolean;
  readonly counts: Readonly<Record<State, number>>;
  /** When its journal was last written to, in milliseconds since the epoch. */
  readonly lastAt: number;
}

/** A run: its state, or why that cannot be read; `header` is undefined if it cannot be read either. */
type PastRun =
  | { readonly header: JournalHeader; readonly info: RunInfo; readonly problem?: undefined }
  | { readonly header: JournalHeader | undefined; readonly info?: undefined; readonly problem: CliError };

/** The file of a journal. */
export interface JournalFile {
  readonly run: string;
  readonly path: string;
  /** True if it was set aside because it could not be read. */
  readonly isAside: boolean;
}

const journalName = /^(\d{8}-\d{9}-[0-9a-f]{6})\.jsonl(\.damaged)?$/;

export function isUnfinished(state: RunState): boolean {
  return state === 'stopped' || state === 'killed';
}

/** The journals of past runs, one file each: `<date>-<time>-<key>.jsonl`; the key is a hash of the identity. */
export class RunStore {
  readonly folder: string;

  constructor(stateDir: string) {
    this.folder = join(stateDir, 'runs');
  }

  pathOf(run: string): string {
    return join(this.folder, `${run}.jsonl`);
  }

  /** Ids of all runs, the newest first. */
  async ids(): Promise<string[]> {
    return (await this.journals()).filter(({ isAside }) => !isAside).map(({ run }) => run);
  }

  /** The journals of all runs, the newest first, with those that were set aside. */
  async journals(): Promise<JournalFile[]> {
    const names = (await this.names()).sort().reverse();
    return names.flatMap((name): JournalFile | [] => {
      const [, run, damaged] = journalName.exec(name) ?? [];
      return run === undefined ? [] : { run, path: join(this.folder, name), isAside: damaged !== undefined };
    });
  }

  /** Ids of the runs that may have this identity, the newest first. */
  async idsLike(identity: RunIdentity): Promise<string[]> {
    return (await this.ids()).filter((id) => isIdOf(id, identity));
  }

  /** The id that equals this text, or begins with it. @throws UsageError if there is none, or more than one. */
  async resolve(text: string): Promise<string> {
    const ids = await this.ids();
    const matches = ids.filter((id) => id === text || (text !== '' && id.startsWith(text)));
    const [match, another] = matches;
    if (match === undefined)
      throw new UsageError(`run ${text}: no such run`, '`petstore inventory runs` lists those there are');
    if (another !== undefined)
      throw new UsageError(
        `run ${text}: ${matches.length} runs begin so: ${matches.slice(0, 5).join(', ')}${matches.length > 5 ? ', …' : ''}`,
      );
    return match;
  }

  /** A new unique id. */
  async newId(identity: RunIdentity): Promise<string> {
    await this.ensureFolder();
    const names = await this.names();
    const taken = new Set(names.map((name) => name.split('.')[0]));
    // Journals whose process was killed before the plan was complete: nothing was sent.
    for (const name of names)
      if (name.endsWith('.jsonl.new') && !this.isRunning(name.replace('.jsonl.new', '')))
        await rm(join(this.folder, name), { force: true });
    let startedMs = Date.now();
    while (taken.has(toRunId(identity, startedMs))) startedMs += 1;
    return toRunId(identity, startedMs);
  }

  /** Whether a process is working on the run. */
  isRunning(run: string): boolean {
    return holderOf(this.pathOf(run)) !== undefined;
  }

  /**
   * Does `work` while no other process reads or writes the run's journal. @throws CliError `unavailable` if one does.
   */
  async holdRun<Value>(run: string, work: () => Promise<Value>): Promise<Value> {
    await this.ensureFolder();
    const path = this.pathOf(run);
    const holder = holderOf(path);
    if (holder)
      throw new CliError('unavailable', `run ${run}: process ${holder} is at work on it`, {
        hint: 'wait for it to end',
        retryable: true,
      });
    return withLock(path, work, { waitMs: 0 });
  }

  /** The state of a run: from its last line, or from all lines if it ended without one. @throws CliError `failed` */
  async info(run: string): Promise<RunInfo> {
    const path = this.pathOf(run);
    const isRunning = this.isRunning(run);
    const header = await readHeader(path);
    const last = isRunning ? undefined : readEnd(path);
    if (last) return toInfo(header, last.ended, last, last.counts);
    if (isRunning) return infoOf(await readJournal(path), 'running');
    return infoOf(await readJournal(path, { unsettled: 'unknown' }));
  }

  async look(run: string): Promise<PastRun> {
    try {
      const info = await this.info(run);
      return { header: info.header, info };
    } catch (problem) {
      if (!(problem instanceof CliError)) throw problem;
      return { header: await readHeader(this.pathOf(run)).catch(() => undefined), problem };
    }
  }

  /** Marks a run as undone or discarded. @throws CliError `failed` if its journal cannot be read or written. */
  async conclude(run: string, end: Pick<EndLine, 'ended' | 'by' | 'isPartial'>): Promise<void> {
    const path = this.pathOf(run);
    const image = await readJournal(path, { unsettled: 'unknown' });
    const { counts, by } = infoOf(image);
    // An undo that had nothing to write is not a run.
    const unnamed = end.ended === 'undone' ? (by ?? 'undo') : undefined;
    await Journal.conclude(path, image, { ...end, by: end.by ?? unnamed, counts, at: Date.now() });
  }

  /** Renames a journal that cannot be read; nothing of it is lost. */
  async setAside(run: string): Promise<string> {
    const path = `${this.pathOf(run)}.damaged`;
    await rename(this.pathOf(run), path).catch((error) => {
      throw fileError('rename', this.pathOf(run), error);
    });
    return path;
  }

  async remove(run: string): Promise<void> {
    await rm(this.pathOf(run), { force: true }).catch((error) => {
      throw fileError('delete', this.pathOf(run), error);
    });
  }

  private async names(): Promise<string[]> {
    return readdir(this.folder).catch((error) => {
      if (error.code === 'ENOENT') return [];
      throw fileError('read', this.folder, error);
    });
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
}

/** The state of a run, from its journal. */
export function infoOf(image: JournalImage, state?: RunState): RunInfo {
  const { header, rows, ending, lastAt } = image;
  const { invalid, skipped, flags } = header;
  const counts = rows.countStates();
  // Rows that were left out have no line, so among blank rows they look like untouched ones; of a blind run that was
  // killed, also like those that may have been sent.
  const hidden = invalid + skipped - counts.invalid - counts.skipped;
  const quiet = flags.blind ? 'unprocessed' : 'unchanged';
  const amongQuiet = Math.min(hidden, counts[quiet]);
  const unknown = counts.unknown - (hidden - amongQuiet);
  const told = { ...counts, invalid, skipped, unknown, [quiet]: counts[quiet] - amongQuiet };
  return { ...toInfo(header, state ?? ending?.ended ?? 'killed', ending, told), lastAt };
}

function toInfo(
  header: JournalHeader,
  state: RunState,
  end: EndLine | undefined,
  counts: RunInfo['counts'],
): RunInfo {
  const isPartial = end?.isPartial === true;
  return { header, state, by: end?.by, isPartial, counts, lastAt: end?.at ?? Date.parse(header.started) };
}
