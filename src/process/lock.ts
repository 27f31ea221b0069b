import { closeSync, openSync, readFileSync, readlinkSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { monotonicMs, sleep } from './deadline.ts';
import { CliError, fileError, systemCode } from './errors.ts';
import { realFile } from './files.ts';
import { processExists, processId } from './io.ts';

/**
 * Does `work` while no other process, and nothing else in this one, holds the lock of the file at `path`. Links to one
 * file share one lock, `<real path>.lock`: a file with the id of its process, the start of that process, the host and what the
 * process works on. The lock of a process that has ended is taken over, but never a lock of another host or container.
 *
 * @throws CliError `failed` if the folder cannot be written to, or if its holder keeps it for 30 seconds.
 */
export async function withLock<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  const release = await takeLock(path);
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * Takes the lock of the file at `path`, and returns the function that releases it.
 *
 * @param options.waitMs how long to wait for another holder. 30 seconds by default.
 * @param options.work what the process works on, for the messages of others.
 * @see withLock
 */
export function takeLock(
  path: string,
  { waitMs = 30_000, work = '' }: { readonly waitMs?: number; readonly work?: string } = {},
): Promise<() => void> {
  return acquire(lockOf(path), monotonicMs() + waitMs, work);
}

interface LockHolder {
  /** Its id, and where it runs if that is elsewhere: `4711 of build-7 pid:[4026531836]`. */
  readonly process: string;
  /** What it works on; may be empty. */
  readonly work: string;
  /** What ends the lock, a sentence. */
  readonly remedy: string;
}

/** Returns the process that holds the lock of the file at `path`. A free or abandoned lock has none. */
export function holderOf(path: string): LockHolder | undefined {
  const lock = lockOf(path);
  const text = readLock(lock);
  return text === undefined || isAbandoned(lock, text) ? undefined : toHolder(lock, text);
}

function toHolder(lock: string, text: string): LockHolder {
  const [, id = '(not known yet)', , host, work = ''] = lockPattern.exec(text) ?? [];
  return {
    process: host === undefined || host === hostId() ? id : `${id} of ${host}`,
    work,
    remedy: `wait for that process to end; if it is gone, remove ${lock}`,
  };
}

function lockOf(path: string): string {
  return `${realFile(path)}.lock`;
}

async function acquire(lock: string, deadlineMs: number, work: string): Promise<() => void> {
  const text = lockText(work);
  for (let pauseMs = 1; !create(lock, text); pauseMs = Math.min(pauseMs * 1.5, 40)) {
    const other = readLock(lock);
    if (other !== undefined && isAbandoned(lock, other)) {
      // Takes a lock on the lock, then reads it again. Otherwise a slow process could remove the lock of its successor.
      const release = await acquire(`${lock}.lock`, deadlineMs, '');
      removeLock(lock, other);
      release();
    } else if (monotonicMs() >= deadlineMs) {
      const { process, remedy } = toHolder(lock, other ?? '');
      throw new CliError('failed', `${lock.slice(0, -'.lock'.length)} is locked by process ${process}`, {
        hint: remedy,
        retryable: true,
      });
    } else await sleep(pauseMs * (0.5 + Math.random()));
  }
  return () => removeLock(lock, text);
}

function create(lock: string, text: string): boolean {
  let file: number | undefined;
  try {
    file = openSync(lock, 'wx', 0o600);
    writeSync(file, text);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    // The disk is full.
    if (file !== undefined) unlinkSync(lock);
    throw fileError('lock', lock, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Returns the text of a lock, which is empty for a moment after its creation. Returns undefined if the lock is gone. */
function readLock(lock: string): string | undefined {
  try {
    return readFileSync(lock, 'utf8').slice(0, 1000);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw fileError('read lock', lock, error, `if no petstore runs, move ${lock} away`);
  }
}

/** Removes the lock if it has this text: a user may have removed it, and another process taken it. */
function removeLock(lock: string, text: string): void {
  try {
    if (readLock(lock) === text) unlinkSync(lock);
  } catch {
    // Somebody removed it.
  }
}

/** Returns the text of a lock of this process: `4711 88123 build-7 pid:[4026531836]`, and in a second line its work. */
function lockText(work: string): string {
  return `${processId()} ${startOf(processId()) ?? '?'} ${hostId()}\n${work.slice(0, 200)}`;
}

/** Matches the text of a lock: the id of its process, the start, the host and the work. */
const lockPattern = /^([1-9]\d*) (\S*) (.*)(?:\n([\s\S]*))?$/;

/**
 * Returns the name of the host, and on Linux the namespace of its process ids: containers may have the same host name and share a
 * folder, and still each has a process 1. @see pid_namespaces(7)
 */
function hostId(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** How long a process may take to write its name into its lock. */
const maxNamelessMs = 10_000;

/** Returns true if the holder of a lock has ended for certain. A kill or a power cut may leave a lock without a name. */
function isAbandoned(lock: string, text: string): boolean {
  if (text === '') {
    const file = statSync(lock, { throwIfNoEntry: false });
    return file !== undefined && Date.now() - file.mtimeMs > maxNamelessMs;
  }
  const [, id, start, host] = lockPattern.exec(text) ?? [];
  if (host !== hostId()) return false;
  if (!processExists(Number(id))) return true;
  const startNow = startOf(Number(id));
  return startNow !== undefined && start !== '?' && startNow !== start;
}

/**
 * Reads the start time of a process in ticks since boot, which distinguishes processes with the same id. Empty for a process
 * that has ended and is not reaped. Only Linux shows it. @see proc(5)
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
