import { lstatSync, lutimesSync, readFileSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { monotonicMs, sleep } from './deadline.ts';
import { CliError } from './errors.ts';
import { realFile } from './files.ts';
import { processExists, processId } from './io.ts';
import { fileError, systemCode } from './system-error.ts';

interface LockOptions {
  /** Longest wait for another owner, in milliseconds. */
  readonly waitMs?: number | undefined;
}

/** How often an owner touches its lock, in milliseconds. */
const touchMs = 5_000;
/** How long the lock of another host may stay untouched before it is taken over, in milliseconds. */
const lifelessMs = 30_000;

/**
 * Does `work` while no other process, and nothing else in this one, holds the lock of the file at `path`. Links to one
 * file share one lock, `<real path>.lock`. It is a symbolic link to nowhere whose target names the owner: a link is
 * created in one system call, so nobody sees it half written.
 *
 * A lock whose process has ended is taken over at once. The processes of another host cannot be inspected, so its lock
 * is taken over when it has not been touched for 30 s.
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
  return take(lockOf(path), monotonicMs() + waitMs);
}

async function take(lock: string, deadline: number): Promise<() => void> {
  await acquire(lock, deadline);
  const touching = setInterval(() => touch(lock), touchMs).unref();
  return () => {
    clearInterval(touching);
    release(lock, self());
  };
}

/** The owner of the lock of the file at `path`; undefined if it is free or may be taken over. */
export function holderOf(path: string): { readonly process: string; readonly host: string } | undefined {
  const lock = lockOf(path);
  const owner = readOwner(lock);
  return owner === undefined || isAbandoned(lock, owner) ? undefined : parseOwner(owner);
}

function lockOf(path: string): string {
  return `${realFile(path)}.lock`;
}

async function acquire(lock: string, deadline: number): Promise<void> {
  for (let pauseMs = 1; !create(lock); pauseMs = Math.min(pauseMs * 1.5, 40)) {
    const owner = readOwner(lock);
    if (owner === undefined) continue;
    if (isAbandoned(lock, owner)) await removeAbandoned(lock, owner, deadline);
    else if (monotonicMs() >= deadline) throw heldBy(owner, lock);
    else await sleep(pauseMs * (0.5 + Math.random()));
  }
}

/**
 * Checks again under a lock of its own: otherwise a slow process could remove the lock of the process that took over.
 */
async function removeAbandoned(lock: string, owner: string, deadline: number): Promise<void> {
  const releaseOwn = await take(`${lock}.lock`, deadline);
  try {
    if (readOwner(lock) === owner && isAbandoned(lock, owner)) release(lock, owner);
  } finally {
    releaseOwn();
  }
}

function create(lock: string): boolean {
  try {
    // A junction is the kind of link that needs no privilege on Windows; elsewhere the type is ignored.
    symlinkSync(self(), lock, 'junction');
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw fileError('lock', lock, error);
  }
}

/** Undefined if the lock has just been released. */
function readOwner(lock: string): string | undefined {
  try {
    return basename(readlinkSync(lock));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw fileError('read lock', lock, error);
  }
}

/** Removes the lock if the owner still holds it: another host may have taken it over while this process slept. */
function release(lock: string, owner: string): void {
  try {
    if (readOwner(lock) === owner) unlinkSync(lock);
  } catch {
    // Somebody deleted it.
  }
}

/** Refreshes the lock's time, by which other hosts see that the owner is alive. */
function touch(lock: string): void {
  try {
    const now = new Date();
    if (readOwner(lock) === self()) lutimesSync(lock, now, now);
  } catch {
    // Somebody deleted it, or the disk is gone: the work itself reports that.
  }
}

let ownName: string | undefined;

/** The name of this process in a lock: id, start and place. */
function self(): string {
  ownName ??= [processId(), startOf(processId()) ?? 0, place()].join('~');
  return ownName;
}

function isAbandoned(lock: string, owner: string): boolean {
  const { process, start, isHere } = parseOwner(owner);
  if (!isHere) return Date.now() - lastTouched(lock) >= lifelessMs;
  if (!processExists(Number(process))) return true;
  const found = startOf(Number(process));
  return found !== undefined && found !== start;
}

/** The parts of an owner's name; this process can inspect an owner that is in the same place. */
function parseOwner(owner: string) {
  const [process = '', start = '', namespace = '', ...host] = owner.split('~');
  const isHere = [namespace, ...host].join('~') === place();
  return { process, start, host: host.join('~'), isHere };
}

/** Milliseconds since the epoch. */
function lastTouched(lock: string): number {
  try {
    return lstatSync(lock).mtimeMs;
  } catch {
    return Date.now();
  }
}

/**
 * The space in which process ids are unique: the host, and on Linux also the process namespace, because a container may
 * have its host's name (`docker run --network host`) and its own ids.
 */
function place(): string {
  try {
    return `${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 0}~${hostname()}`;
  } catch {
    return `0~${hostname()}`;
  }
}

/**
 * The start time of a process in ticks since boot, which tells apart processes that reuse an id. Undefined if the
 * system is not Linux, and for a process that has ended but is not reaped. @see proc(5)
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

function heldBy(owner: string, lock: string): CliError {
  const { process, host, isHere } = parseOwner(owner);
  const takeover = `; if it no longer exists, its lock is taken over ${lifelessMs / 1000} s after its last sign of life`;
  return new CliError('failed', `lock ${lock}: process ${process} on ${host} holds it`, {
    hint: `wait for that process to end${isHere ? '' : takeover}`,
    retryable: true,
  });
}
