import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { CliError, UsageError } from '../errors.ts';
import { fileError } from '../file-error.ts';
import { ensurePrivateFolder } from '../files.ts';
import { processId } from '../io.ts';
import { holderOf, withLock } from '../lock.ts';
import type { InputOptions, JournalHeader } from './journal-lines.ts';
import { type Journal, openJournal } from './journal-reader.ts';
import { JournalWriter } from './journal-writer.ts';

const keyLength = 6;

/** What makes two runs the same: the same rows for the same place. */
export type RunIdentity = Pick<JournalHeader, 'kind' | 'sha256' | 'target' | 'input'>;

/** The journals of past runs: one file each, `<date>-<time>-<key>.jsonl`, its key following from what the run is. */
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
    const names = await readdir(this.folder).catch((error) => {
      if (error.code === 'ENOENT') return [];
      throw fileError('read', this.folder, error);
    });
    const ids = names.flatMap((name) => /^(\d{8}-\d{9}-[0-9a-f]{6})\.jsonl$/.exec(name)?.[1] ?? []);
    return ids.sort().reverse();
  }

  /** Ids of the runs that may be this one, the newest first. */
  async idsLike(identity: RunIdentity): Promise<string[]> {
    return (await this.ids()).filter((id) => id.endsWith(keyOf(identity)));
  }

  /** The id that this text is, or begins. @throws UsageError where there is none, or more than one. */
  async resolve(text: string): Promise<string> {
    const ids = await this.ids();
    const matches = ids.filter((id) => id === text || (text !== '' && id.startsWith(text)));
    const [match, another] = matches;
    if (match === undefined)
      throw new UsageError(`run ${text}: no such run`, '`petstore inventory runs` lists those there are');
    if (another !== undefined)
      throw new UsageError(`run ${text}: ${matches.length} runs begin so: ${matches.slice(0, 5).join(', ')}`);
    return match;
  }

  /** Whether another process is at work on the run, or on another one of the same rows. */
  isHeld(run: string): boolean {
    const holder = holderOf(this.lockPath(run));
    return holder !== undefined && holder.process !== String(processId());
  }

  /**
   * Does `work` while no other process is at work on these rows.
   *
   * @throws CliError `failed` where one is, naming it.
   */
  async hold<Value>(identity: RunIdentity, work: () => Promise<Value>): Promise<Value> {
    const path = this.lockPath(keyOf(identity));
    await this.ensureFolder();
    const holder = holderOf(path);
    if (holder)
      throw new CliError(
        'failed',
        `process ${holder.process} on ${holder.host} is at work on the same rows`,
        {
          hint: `wait for it to end; \`petstore inventory runs\` shows its run${wayAround(holder, path)}`,
          retryable: true,
        },
      );
    return withLock(path, work, { waitMs: 0 });
  }

  private async ensureFolder(): Promise<void> {
    try {
      await ensurePrivateFolder(this.folder);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const hint = 'what a run does is kept there; PETSTORE_STATE_DIR names another folder';
      throw new CliError(error.kind, error.message, { ...error.details, hint });
    }
  }

  private lockPath(runOrKey: string): string {
    return join(this.folder, runOrKey.slice(-keyLength));
  }

  open(run: string): Promise<Journal | undefined> {
    return openJournal(this.pathOf(run));
  }

  /** Starts the journal of a new run, under an id of its own. */
  async create(
    header: Omit<JournalHeader, 'run' | 'journal'>,
  ): Promise<{ run: string; writer: JournalWriter }> {
    await this.ensureFolder();
    const taken = new Set(await this.ids());
    let startedMs = Date.parse(header.started);
    while (taken.has(idOf(header, startedMs))) startedMs += 1;
    const run = idOf(header, startedMs);
    return { run, writer: JournalWriter.create(this.pathOf(run), { journal: 1, run, ...header }) };
  }
}

/** Of another machine nobody here can tell whether its process still lives. */
function wayAround({ host }: { readonly host: string }, path: string): string {
  return host === hostname() ? '' : `. Where ${host} is gone for good, remove ${path}.lock`;
}

export function isSameRun(one: RunIdentity, other: RunIdentity): boolean {
  return identityText(one) === identityText(other);
}

/** `20271121-021530123-3f2a9c`: UTC to the millisecond, so that the names sort by time. */
function idOf(identity: RunIdentity, startedMs: number): string {
  const [date = '', time = ''] = new Date(startedMs).toISOString().split('T');
  return `${date.replaceAll('-', '')}-${time.replace(/\D/g, '')}-${keyOf(identity)}`;
}

function keyOf(identity: RunIdentity): string {
  return createHash('sha256').update(identityText(identity)).digest('hex').slice(0, keyLength);
}

function identityText({ kind, sha256, target, input }: RunIdentity): string {
  const { format, delimiter, map, onDuplicate, skipInvalid, shard } = input;
  const part: InputOptions['shard'] = shard && { index: shard.index, count: shard.count };
  const columns = [map.petId ?? null, map.quantity ?? null, map.expected ?? null];
  return JSON.stringify([kind, sha256, target, format, delimiter, columns, onDuplicate, skipInvalid, part]);
}
