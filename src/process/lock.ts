import { lstatSync, lutimesSync, readFileSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { monotonicMs, sleep } from './deadline.ts';
import { CliError } from './errors.ts';
import { realFile } from './files.ts';
import { processExists, processId } from './io.ts';
import { fileError, systemCode } from './system-error.ts';

interface LockOptions {
  /** The longest wait for another owner, in milliseconds. */
  readonly waitMs?: number | undefined;
}

/**
 * Does `work` while no other process, and nothing else in this one, holds the lock of the file at `path`. Links to one
 * file share one lock, `<real path>.lock`. The lock is a dangling symbolic link, whose target names the owner: a link
 * appears in one system call, so no reader sees half of it.
 *
 * A lock whose process has ended is taken over at once. On other systems than Linux, another process may have the id by
 * now, so the owner touches its lock each minute, and a lock that was not touched for a day is taken over. Only processes
 * of this machine can be judged, so a folder with locks belongs to one machine.
 *
 * @throws CliError `failed` if the folder cannot be written to, or if the owner keeps the lock for `waitMs`.
 */
export async function withLock<Value>(
  path: string,
  work: () => Promise<Value>,
  options: LockOptions = {},
): Promise<Value> {
  const release = await takeLock(path, options);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Takes the lock of the file at `path`, and returns the function that releases it. @see withLock */
export function takeLock(path: string, { waitMs = 30_000 }: LockOptions = {}): Promise<() => void> {
  return acquire(lockOf(path), monotonicMs() + waitMs);
}

/** Returns the id of the process that holds the lock of the file at `path`. Undefined if the lock is free or abandoned. */
export function holderOf(path: string): string | undefined {
  const lock = lockOf(path);
  const owner = readOwner(lock);
  return owner === undefined || hasEnded(lock, owner) ? undefined : readOwnerName(owner).id;
}

function lockOf(path: string): string {
  return `${realFile(path)}.lock`;
}

async function acquire(lock: string, deadline: number): Promise<() => void> {
  for (let pauseMs = 1; !create(lock); pauseMs = Math.min(pauseMs * 1.5, 40)) {
    const owner = readOwner(lock);
    if (owner === undefined) continue;
    if (hasEnded(lock, owner)) await removeAbandoned(lock, owner, deadline);
    else if (monotonicMs() >= deadline) throw lockError(owner, lock);
    else await sleep(pauseMs * (0.5 + Math.random()));
  }
  const stopTouching = ownerName().includes('~') ? () => {} : keepTouched(lock);
  return () => {
    stopTouching();
    remove(lock, ownerName());
  };
}

const touchIntervalMs = 60_000;
const abandonedAfterMs = 24 * 60 * 60_000;

/** Touches the lock each minute until the returned function is called. */
function keepTouched(lock: string): () => void {
  const timer = setInterval(() => {
    const now = new Date();
    try {
      lutimesSync(lock, now, now);
    } catch {
      // Somebody removed it.
    }
  }, touchIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Removes an abandoned lock. Takes a second lock and looks again first, so that a slow process cannot remove the lock of its
 * successor.
 */
async function removeAbandoned(lock: string, owner: string, deadline: number): Promise<void> {
  const release = await acquire(`${lock}.lock`, deadline);
  try {
    remove(lock, owner);
  } finally {
    release();
  }
}

function create(lock: string): boolean {
  try {
    // A junction is the kind of link that needs no privilege on Windows; elsewhere the type is ignored.
    symlinkSync(ownerName(), lock, 'junction');
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw fileError('lock', lock, error);
  }
}

/**
 * Reads the owner of a lock. Undefined if the lock has just been released.
 *
 * @throws CliError `failed` if something else has the lock's name.
 */
function readOwner(lock: string): string | undefined {
  try {
    return basename(readlinkSync(lock));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    if (systemCode(error) !== 'EINVAL') throw fileError('read lock', lock, error);
    throw new CliError('failed', `lock ${lock}: it is not a lock of this program`, {
      hint: `move ${lock} away`,
    });
  }
}

/** Removes the lock if this owner holds it: a user may have removed it, and another process taken it. */
function remove(lock: string, owner: string): void {
  try {
    if (readOwner(lock) === owner) unlinkSync(lock);
  } catch {
    // Somebody removed it.
  }
}

let processOwner: string | undefined;

/** Returns this process as the owner of a lock: its id, and its start if the system tells the start, such as `4711~88123`. */
function ownerName(): string {
  processOwner ??= [processId(), startOf(processId())].filter((part) => part !== undefined).join('~');
  return processOwner;
}

function readOwnerName(owner: string): { readonly id: string; readonly start: string | undefined } {
  const [id = '', start] = owner.split('~');
  return { id, start };
}

function hasEnded(lock: string, owner: string): boolean {
  const { id, start } = readOwnerName(owner);
  if (!/^[1-9]\d*$/.test(id) || !processExists(Number(id))) return true;
  if (start === undefined) return isUntouched(lock);
  const startNow = startOf(Number(id));
  return startNow !== undefined && startNow !== start;
}

/** Whether nobody touched the lock for a day. False if the lock has just been released. */
function isUntouched(lock: string): boolean {
  const stats = lstatSync(lock, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > abandonedAfterMs;
}

/**
 * Reads the start time of a process in ticks since boot, which tells apart processes that reuse an id. Empty for a process
 * that has ended and is not reaped. Undefined if the system is not Linux. @see proc(5)
 */
function startOf(id: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    // The second field is the name in parentheses and may hold anything, so count from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : fields[19];
  } catch {
    return undefined;
  }
}

function lockError(owner: string, lock: string): CliError {
  return new CliError('failed', `lock ${lock}: process ${readOwnerName(owner).id} holds it`, {
    hint: 'wait for that process to end',
    retryable: true,
  });
}
