import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { processId } from '../process/io.ts';
import { holderOf, takeLock, withLock } from '../process/lock.ts';
import { fileError } from '../process/system-error.ts';
import type { Shard } from './run-flags.ts';
import type { RunStore } from './runs.ts';

/** What a run holds of its target; other processes read it from `target-<key>.<process>-<random>.json`. */
interface Claim {
  readonly shard: Shard | null;
  /** The input as the user named it. */
  readonly name: string;
  /** The id of the run, once it has one. */
  readonly run?: string | undefined;
}

interface HoldOptions extends Claim {
  /** Longest wait for another run, in milliseconds. */
  readonly waitMs: number;
  readonly allowOverlap: boolean;
  readonly signal: AbortSignal;
}

/** Tells other processes which run holds the target. */
export type TellRun = (run: string) => Promise<void>;

/**
 * Does `work` while no other run works on the target; shards `i/n` with the same n do not exclude each other.
 *
 * @throws CliError `unavailable`, retryable, if another run holds it and does not end in time; nothing was sent.
 */
export async function holdTarget<Value>(
  runs: RunStore,
  target: string,
  { shard, name, waitMs, allowOverlap, signal }: HoldOptions,
  work: (tell: TellRun) => Promise<Value>,
): Promise<Value> {
  await runs.ensureFolder();
  const key = createHash('sha256').update(target).digest('hex').slice(0, 12);
  const gate = join(runs.folder, `target-${key}`);
  const own = new OwnClaim(gate, { shard, name });
  const endMs = monotonicMs() + waitMs;
  for (;;) {
    const other = await withLock(gate, async () => {
      const found = allowOverlap ? undefined : await otherClaim(gate, shard);
      if (!found) await own.take();
      return found;
    });
    if (!other) break;
    if (monotonicMs() >= endMs) throw await targetHeld(runs, target, other, waitMs);
    await sleep(Math.min(200, Math.max(1, endMs - monotonicMs())), signal);
  }
  try {
    return await work((run) => own.tell(run));
  } finally {
    await own.release();
  }
}

/** The claim of this run: a lock, and beside it the file that describes it. */
class OwnClaim {
  private readonly path: string;
  private readonly claim: Claim;
  private unlock = () => {};

  constructor(gate: string, claim: Claim) {
    this.path = `${gate}.${processId()}-${Math.random().toString(36).slice(2, 10)}`;
    this.claim = claim;
  }

  /** @throws CliError `failed` if it cannot be written; then it is not held. */
  async take(): Promise<void> {
    this.unlock = await takeLock(this.path, { waitMs: 0 });
    try {
      await this.tell();
    } catch (error) {
      this.unlock();
      throw error;
    }
  }

  async tell(run?: string): Promise<void> {
    const file = `${this.path}.json`;
    await writeFile(file, JSON.stringify({ ...this.claim, run }), { mode: 0o600 }).catch((error) => {
      throw fileError('write', file, error);
    });
  }

  async release(): Promise<void> {
    await rm(`${this.path}.json`, { force: true }).catch(() => {});
    this.unlock();
  }
}

interface OtherClaim extends Claim {
  readonly process: string;
}

/** A claim on the target that excludes one with this shard; removes claims of ended processes, with their locks. */
async function otherClaim(gate: string, shard: Shard | null): Promise<OtherClaim | undefined> {
  const folder = join(gate, '..');
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!path.startsWith(`${gate}.`) || !path.endsWith('.json')) continue;
    const claim = path.slice(0, -'.json'.length);
    const holder = holderOf(claim);
    if (!holder) {
      const release = await takeLock(claim);
      await rm(path, { force: true });
      release();
      continue;
    }
    const other = readClaim(path);
    const isCompatible =
      shard && other.shard && shard.count === other.shard.count && shard.index !== other.shard.index;
    if (!isCompatible) return { ...other, process: holder };
  }
  return undefined;
}

/** A claim that is still being written holds the whole target. */
function readClaim(path: string): Claim {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { shard: null, name: 'a run that begins' };
  }
}

async function targetHeld(
  runs: RunStore,
  target: string,
  { process, name, run }: OtherClaim,
  waitMs: number,
): Promise<CliError> {
  const facts = [`process ${process}`];
  if (run) {
    const info = await runs.info(run).catch(() => undefined);
    const done = info && `${info.header.rows - info.counts.unprocessed} of ${info.header.rows} rows done`;
    facts.push(`run ${run}`, done ?? 'planning');
  }
  const waited = waitMs > 0 ? `, after a wait of ${waitMs / 1000} s` : '';
  return new CliError(
    'unavailable',
    `${target}: another run is at work there: ${name} (${facts.join(', ')})${waited}; nothing was sent`,
    {
      hint: 'wait for it to end, with --lock-wait <duration>; --allow-overlap runs beside it',
      retryable: true,
    },
  );
}
