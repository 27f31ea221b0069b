import { readFileSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { sleep } from './deadline.ts';
import { CliError } from './errors.ts';
import { fileError } from './file-error.ts';
import { processExists, processId } from './io.ts';

interface LockOptions {
  /** Longest wait for another holder, in milliseconds: 30,000 unless told. */
  readonly waitMs?: number | undefined;
}

/**
 * Does `work` while no other process, and nothing else in this one, holds the lock of the file at `path`. The lock is
 * `<path>.lock`, a symbolic link to nowhere whose target names the holder: made in one system call, it is never seen
 * half written. A lock whose process is gone is taken over at once.
 *
 * @throws CliError `failed` where the folder cannot be written to, or the holder kept the lock for `waitMs`.
 */
export async function withLock<Value>(
  path: string,
  work: () => Promise<Value>,
  options: LockOptions = {},
): Promise<Value> {
  const lock = `${path}.lock`;
  await acquire(lock, Date.now() + (options.waitMs ?? 30_000));
  try {
    return await work();
  } finally {
    release(lock);
  }
}

/** Who holds the lock of the file at `path`; undefined where nobody does, or its process is gone. */
export function holderOf(path: string): { readonly process: string; readonly host: string } | undefined {
  const holder = readHolder(`${path}.lock`);
  if (holder === undefined || isGone(holder)) return undefined;
  const [process = '', , , host = ''] = holder.split('~');
  return { process, host };
}

async function acquire(lock: string, deadline: number): Promise<void> {
  for (let pauseMs = 1; !create(lock); pauseMs = Math.min(pauseMs * 1.5, 40)) {
    const holder = readHolder(lock);
    if (holder === undefined) continue;
    if (isGone(holder)) await remove(lock, holder, deadline);
    else if (Date.now() >= deadline) throw heldBy(holder, lock);
    else await sleep(pauseMs * (0.5 + Math.random()));
  }
}

/**
 * Removes the lock of a process that is gone. Only under a lock of its own, and after another look: without them a
 * slow process could remove the lock of the one that has just taken over.
 */
function remove(lock: string, holder: string, deadline: number): Promise<void> {
  return withLock(
    lock,
    async () => {
      if (readHolder(lock) === holder) release(lock);
    },
    { waitMs: deadline - Date.now() },
  );
}

function create(lock: string): boolean {
  try {
    // A junction is the kind of link that needs no privilege on Windows; elsewhere the type is ignored.
    symlinkSync(self(), lock, 'junction');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw fileError('lock', lock, error);
  }
}

/** Undefined where the lock has just been released. */
function readHolder(lock: string): string | undefined {
  try {
    return basename(readlinkSync(lock));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileError('read lock', lock, error);
  }
}

function release(lock: string): void {
  try {
    unlinkSync(lock);
  } catch {
    // Somebody deleted it by hand: it is released all the same.
  }
}

let ownName: string | undefined;

/** This process as no other is ever named: host, boot and process space, id, and when it started. */
function self(): string {
  ownName ??= [processId(), startOf(processId())?.time ?? 0, processSpace(), hostname()].join('~');
  return ownName;
}

function isGone(holder: string): boolean {
  const [id, time, space, host] = holder.split('~');
  const [, , ownSpace, ownHost] = self().split('~');
  // From another machine, or another container on this one, nothing can be told: it counts as running.
  if (host !== ownHost) return false;
  if (space !== ownSpace) return space?.split('-')[0] !== ownSpace?.split('-')[0];
  if (!processExists(Number(id))) return true;
  const found = startOf(Number(id));
  return found !== undefined && (found.ended || found.time !== Number(time));
}

/** When a process started, in ticks since boot, so that an id given twice is told apart; undefined but on Linux. */
function startOf(id: number): { readonly time: number; readonly ended: boolean } | undefined {
  const stat = readLine(`/proc/${id}/stat`);
  // The second field is the name in parentheses and may hold anything: count from behind it. See proc(5).
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && { time: Number(fields[19]), ended: fields[0] === 'Z' || fields[0] === 'X' };
}

/** `<boot>-<process space>` on Linux, where an id means nothing after a reboot or in another container; else `0-0`. */
function processSpace(): string {
  const boot = readLine('/proc/sys/kernel/random/boot_id')?.slice(0, 8) ?? '0';
  return `${boot}-${/\d+/.exec(readLink('/proc/self/ns/pid') ?? '')?.[0] ?? '0'}`;
}

function readLine(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch {
    return undefined;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function heldBy(holder: string, lock: string): CliError {
  const [id, , , host] = holder.split('~');
  return new CliError('failed', `lock ${lock}: process ${id} on ${host} holds it`, {
    hint: `wait for that process to end; if it is gone, delete ${lock}`,
    retryable: true,
  });
}
