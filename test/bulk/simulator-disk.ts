import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import type { Random } from './simulator-random.ts';

/** A run of the program in this process that can die at any of its operations on files. */
export interface SimulatedProcess {
  /** The folder below which its operations count, and after its death do nothing. */
  readonly folder: string;
  /** From its death on, nothing that it does reaches the disk or the service. */
  isDead: boolean;
  /** Operations on files so far: writes, syncs, renames and so on. */
  operations: number;
  /** The operation at which it dies; 0 for none. */
  readonly dieAt: number;
  /** The share of the last write that still reaches the disk. */
  readonly tornShare: number;
  /** The files that it wrote to. */
  readonly touched: Set<string>;
  /** The symbolic links that it made and has not removed: its locks. */
  readonly links: Set<string>;
  onDeath(): void;
}

/** Says which process does the work that goes on. */
export const running = new AsyncLocalStorage<SimulatedProcess>();

type Operation = (...args: never[]) => unknown;
type Module = Record<string, Operation>;

/** The content and the entries that a power cut cannot take away. */
interface Durable {
  readonly folder: string;
  readonly entries: Map<string, Entry>;
  /** By inode. */
  readonly contents: Map<bigint, Buffer>;
}

interface Entry {
  readonly inode: bigint;
  /** Where a symbolic link leads to: a lock is one. */
  readonly target: string | undefined;
}

const real = { ...fs, promises: { ...fs.promises } };
let watched: Durable | undefined;

const handleNames = ['write', 'writev', 'writeFile', 'appendFile', 'sync', 'datasync', 'truncate'];
const pathNames = [
  ...['open', 'writeFile', 'appendFile', 'rename', 'unlink', 'rm', 'mkdir', 'symlink', 'link'],
  ...['truncate', 'copyFile'],
];
const fileNames = [...pathNames, 'write', 'writev', 'fsync', 'fdatasync', 'ftruncate'];

/** Watches each operation on files of simulated processes; returns the function that ends it. */
export async function watchFiles(): Promise<() => void> {
  const undo: (() => void)[] = [];
  const replace = (module: object, name: string, make: (original: Operation) => Operation) => {
    const target = module as Module;
    const original = target[name];
    if (!original) return;
    target[name] = make(original);
    undo.push(() => {
      target[name] = original;
    });
  };
  for (const name of fileNames) replace(fs, `${name}Sync`, (original) => blocking(name, original));
  for (const name of pathNames) replace(fs.promises, name, (original) => promised(name, original));
  const handle = await real.promises.open('/dev/null');
  const methods = Object.getPrototypeOf(handle);
  await handle.close();
  for (const name of handleNames) replace(methods, name, (original) => promised(name, original));
  syncBuiltinESMExports();
  return () => {
    for (const each of undo) each();
    syncBuiltinESMExports();
  };
}

/** Counts an operation. @throws an error of the system if its process is dead, or dies now: nothing is done. */
function admit(name: string, file: unknown, args: readonly unknown[]): void {
  const process = running.getStore();
  if (!process || (name === 'open' && isReading(args[1]))) return;
  const path = pathOf(name, file, args);
  if (!path.startsWith(process.folder)) return;
  if (process.isDead) throw diskIsGone();
  // Whoever reads a journal without its end syncs it, and is no part of its run.
  if (!/sync$/.test(name)) process.touched.add(path);
  process.operations += 1;
  if (process.operations === process.dieAt) {
    tear(name, file, args, process.tornShare);
    die(process);
    throw diskIsGone();
  }
  if (name === 'symlink') process.links.add(path);
  else if (name === 'unlink' || name === 'rm') process.links.delete(path);
}

function diskIsGone(): Error {
  return Object.assign(new Error('EIO: the process is dead'), { code: 'EIO' });
}

/** Ends the process at once. Its locks stay, and name a process that has ended. */
export function die(simulated: SimulatedProcess): void {
  if (simulated.isDead) return;
  simulated.isDead = true;
  for (const path of simulated.links) {
    const target = linkTarget(path);
    if (target !== undefined) abandonLink(path, target);
  }
  simulated.onDeath();
}

function linkTarget(path: string): string | undefined {
  try {
    return real.readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Flags of `open` that change nothing. */
function isReading(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) === 0;
  return flags === undefined || flags === 'r' || typeof flags === 'function';
}

function pathOf(name: string, file: unknown, args: readonly unknown[]): string {
  const place = name === 'symlink' || name === 'link' || name === 'rename' ? args[1] : file;
  return typeof place === 'string' ? place : openPath(descriptorOf(place));
}

function descriptorOf(file: unknown): number {
  return typeof file === 'number' ? file : ((file as { fd?: number }).fd ?? -1);
}

function openPath(descriptor: number): string {
  try {
    return real.readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}

/** Does a part of the write at which the process dies. */
function tear(name: string, file: unknown, args: readonly unknown[], share: number): void {
  if (name !== 'write' && name !== 'writeFile' && name !== 'appendFile') return;
  const data = typeof file === 'number' || typeof file === 'string' ? args[1] : args[0];
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) return;
  const bytes = Buffer.from(data as string);
  const part = bytes.subarray(0, Math.floor(bytes.length * share));
  if (typeof file === 'string') real.appendFileSync(file, part);
  else if (part.length > 0) real.writeSync(descriptorOf(file), part);
}

function blocking(name: string, original: Operation): Operation {
  return ((...args: unknown[]) => {
    admit(name, args[0], args);
    const synced = beginSync(name, args[0]);
    const result = (original as (...all: unknown[]) => unknown)(...args);
    synced?.();
    return result;
  }) as Operation;
}

function promised(name: string, original: Operation): Operation {
  return async function operate(this: unknown, ...args: unknown[]) {
    const file = typeof args[0] === 'string' && isPath(this) ? args[0] : this;
    admit(name, file, args);
    const synced = beginSync(name, file);
    const result = await (original as (...all: unknown[]) => Promise<unknown>).apply(this, args);
    synced?.();
    return result;
  } as unknown as Operation;
}

/** Whether a function was called on the module, and not on an open file. */
function isPath(owner: unknown): boolean {
  return typeof (owner as { fd?: unknown } | undefined)?.fd !== 'number';
}

/** The function that records a sync once it has succeeded: of the content, or of the entries of a folder. */
function beginSync(name: string, file: unknown): (() => void) | undefined {
  const process = running.getStore();
  if (!watched || !/^(f?data)?sync$|^f(data)?sync$/.test(name)) return undefined;
  const durable = watched;
  const path = openPath(descriptorOf(file));
  if (!path.startsWith(durable.folder)) return undefined;
  const stats = real.fstatSync(descriptorOf(file), { bigint: true });
  if (stats.isDirectory()) {
    const entries = entriesOf(path);
    return () => {
      if (process?.isDead) return;
      for (const each of [...durable.entries.keys()])
        if (dirname(each) === path) durable.entries.delete(each);
      for (const [each, entry] of entries) durable.entries.set(each, entry);
    };
  }
  const content = real.readFileSync(`/proc/self/fd/${descriptorOf(file)}`);
  return () => {
    if (!process?.isDead) durable.contents.set(stats.ino, content);
  };
}

function entriesOf(folder: string): [string, Entry][] {
  const entries: [string, Entry][] = [];
  for (const entry of real.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) continue;
    const target = entry.isSymbolicLink() ? real.readlinkSync(path) : undefined;
    entries.push([path, { inode: real.lstatSync(path, { bigint: true }).ino, target }]);
  }
  return entries;
}

function allEntries(folder: string): Map<string, Entry> {
  const folders = real
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((each) => each.isDirectory())
    .map((each) => join(each.parentPath, each.name));
  return new Map([folder, ...folders].flatMap((each) => entriesOf(each)));
}

/** From now on everything in the folder is on the disk, and what is written later is not until it is synced. */
export function settleFolder(folder: string): void {
  const entries = allEntries(folder);
  const contents = new Map<bigint, Buffer>();
  for (const [path, { inode, target }] of entries)
    if (target === undefined) contents.set(inode, real.readFileSync(path));
  watched = { folder, entries, contents };
}

/** Records that a file is on the disk, such as an input that lay there for long. */
export function settleFile(path: string): void {
  const inode = real.lstatSync(path, { bigint: true }).ino;
  watched?.entries.set(path, { inode, target: undefined });
  watched?.contents.set(inode, real.readFileSync(path));
}

/**
 * Leaves of the folder what a power cut may leave: of each file that was not synced any part of what was appended, of
 * each change of a folder that was not synced the old or the new state. Folders themselves stay.
 */
export function cutPower(folder: string, random: Random): void {
  if (!watched) return;
  const { entries: old, contents } = watched;
  const now = allEntries(folder);
  const bytesNow = new Map<bigint, Buffer>();
  for (const [path, { inode, target }] of now)
    if (target === undefined) bytesNow.set(inode, real.readFileSync(path));
  const after = new Map<string, Entry>();
  /** Whether a file that was moved is found at its new place. */
  const moved = new Map<bigint, boolean>();
  const isMoved = (inode: bigint) => {
    if (!moved.has(inode)) moved.set(inode, random.chance(0.6));
    return moved.get(inode) === true;
  };
  for (const path of new Set([...old.keys(), ...now.keys()])) {
    const [before, entry] = [old.get(path), now.get(path)];
    if (before && entry)
      after.set(path, before.inode === entry.inode || isMoved(entry.inode) ? entry : before);
    else if (entry && isMoved(entry.inode)) after.set(path, entry);
    else if (before && !isMoved(before.inode)) after.set(path, before);
  }
  for (const path of now.keys()) if (!after.has(path)) real.unlinkSync(path);
  for (const [path, { inode, target }] of after) {
    if (target !== undefined) abandonLink(path, target);
    else {
      const synced = contents.get(inode) ?? Buffer.alloc(0);
      const bytes = cutBytes(synced, bytesNow.get(inode) ?? synced, random);
      if (!isSame(path, bytes)) real.writeFileSync(path, bytes, { mode: 0o600 });
    }
  }
  settleFolder(folder);
}

function isSame(path: string, bytes: Buffer): boolean {
  try {
    return real.readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

/** An id that no process has. */
const noProcess = 99_999_999;

/** Makes a link anew; one that is a lock of this process becomes that of a process that has ended. */
function abandonLink(path: string, target: string): void {
  if (linkTarget(path) !== undefined) real.unlinkSync(path);
  real.symlinkSync(target.replace(`${process.pid}~`, `${noProcess}~`), path);
}

function cutBytes(synced: Buffer, written: Buffer, random: Random): Buffer {
  if (written.equals(synced)) return written;
  if (!written.subarray(0, synced.length).equals(synced)) return random.chance(0.5) ? written : synced;
  const tail = written.subarray(synced.length);
  if (random.chance(0.3)) return synced;
  const cut = random.below(tail.length + 1);
  // Half of the cuts are between two lines.
  const line = tail.lastIndexOf('\n', cut) + 1;
  return Buffer.concat([synced, tail.subarray(0, random.chance(0.5) ? line : cut)]);
}
