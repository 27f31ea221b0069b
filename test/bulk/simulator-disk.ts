import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import type { Random } from '../helpers/random.ts';

/** What goes wrong with the disk of a process. */
export interface DiskFaults {
  /** The operation on files at which the process dies; 0 for none. */
  readonly dieAt: number;
  /** The operation from which on the disk is full; 0 for none. */
  readonly fullAt: number;
  /** The number of writes that fail until somebody makes space. */
  readonly fullFor: number;
  /** The share of the last write that still reaches the disk. */
  readonly tornShare: number;
}

/** A run of the program in this process that can die at any of its operations on files. */
export interface SimulatedProcess {
  /** The folder below which its operations count, and after its death do nothing. */
  readonly folder: string;
  /** From its death on, nothing that it does reaches the disk or the service. */
  isDead: boolean;
  /** Operations on files so far: writes, syncs, renames and so on. */
  operations: number;
  /** The writes that have failed because the disk was full. */
  failedWrites: number;
  readonly disk: DiskFaults;
  /** The files that it wrote to. */
  readonly touched: Set<string>;
  onDeath(): void;
}

/** Says which process does the work that goes on. */
export const running = new AsyncLocalStorage<SimulatedProcess>();

type Operation = (...args: unknown[]) => unknown;

const real = { ...fs };
/** What a power cut cannot take away: the files of all folders, and what is in them. */
const durable = { folder: '', entries: new Set<string>(), contents: new Map<string, Buffer>() };

const writes = ['write', 'writeFile', 'appendFile'];
const pathNames = ['open', 'writeFile', 'appendFile', 'rename', 'unlink', 'rm', 'mkdir', 'truncate'];
const fileNames = [...pathNames, 'write', 'fsync', 'ftruncate'];

/** Watches each operation on files of simulated processes; returns the function that ends it. */
export function watchFiles(): () => void {
  const undo: (() => void)[] = [];
  const watch = (module: object, name: string) => {
    const target = module as Record<string, Operation>;
    const original = target[name] as Operation;
    const isSync = name.endsWith('Sync');
    const plainName = name.replace('Sync', '');
    target[name] = (...args) => {
      try {
        admit(plainName, args);
      } catch (error) {
        if (isSync) throw error;
        return Promise.reject(error);
      }
      const result = original(...args);
      if (plainName === 'fsync') settlePath(pathOf(args[0]));
      return result;
    };
    undo.push(() => {
      target[name] = original;
    });
  };
  for (const name of fileNames) watch(fs, `${name}Sync`);
  for (const name of pathNames) watch(fs.promises, name);
  syncBuiltinESMExports();
  return () => {
    for (const each of undo) each();
    syncBuiltinESMExports();
    // Otherwise every promise of the files after this one would be watched too.
    running.disable();
  };
}

/** Counts an operation. @throws an error of the system if its process is dead, or dies now: nothing is done. */
function admit(name: string, [file, second]: readonly unknown[]): void {
  const process = running.getStore();
  if (!process || (name === 'open' && second === 'r')) return;
  const path = pathOf(name === 'rename' ? second : file);
  if (!path.startsWith(process.folder)) return;
  if (process.isDead) throw Object.assign(new Error('the process is dead'), { code: 'EIO' });
  // A process that reads a journal without its end syncs it, and is not part of its run.
  if (name !== 'fsync') process.touched.add(path);
  process.operations += 1;
  const { operations, failedWrites } = process;
  const { dieAt, fullAt, fullFor, tornShare } = process.disk;
  const isWrite = writes.includes(name);
  const isFull = isWrite && fullAt > 0 && operations >= fullAt && failedWrites < fullFor;
  if ((isWrite && operations === dieAt) || (isFull && failedWrites === 0)) tear(path, second, tornShare);
  if (operations === dieAt) die(process);
  if (isFull) process.failedWrites += 1;
  const code = process.isDead ? 'EIO' : isFull ? 'ENOSPC' : undefined;
  if (code) throw Object.assign(new Error(`${code}: it dies, or there is no space left`), { code });
  const moved = name === 'rename' ? durable.contents.get(String(file)) : undefined;
  if (moved) durable.contents.set(path, moved);
}

/** The path of a file: of one that is open, by its descriptor. */
function pathOf(file: unknown): string {
  if (typeof file === 'string') return file;
  try {
    return real.readlinkSync(`/proc/self/fd/${file}`);
  } catch {
    return '';
  }
}

/** Does a part of the write at which the process dies. Each write of the program is one at the end of a file. */
function tear(path: string, data: unknown, share: number): void {
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) return;
  const bytes = Buffer.from(data as string);
  // It would be admitted too, because appendFileSync calls writeFileSync.
  running.exit(() => real.appendFileSync(path, bytes.subarray(0, Math.floor(bytes.length * share))));
}

/** Ends the process, at once if it has not ended. */
export function die(simulated: SimulatedProcess): void {
  if (simulated.isDead) return;
  simulated.isDead = true;
  removeLocks(simulated.folder);
  simulated.onDeath();
}

/** Nobody holds the lock of a process that has ended; but this process, whose id it names, goes on. */
function removeLocks(folder: string): void {
  running.exit(() => {
    for (const path of allFiles(folder)) if (path.endsWith('.lock')) real.unlinkSync(path);
  });
}

/** Records that a file, or the entries of a folder, are on the disk. */
function settlePath(path: string): void {
  const { folder, entries } = durable;
  if (folder === '' || !path.startsWith(folder)) return;
  if (!real.statSync(path).isDirectory()) {
    durable.contents.set(path, real.readFileSync(path));
    return;
  }
  for (const each of entries) if (dirname(each) === path) entries.delete(each);
  for (const each of allFiles(path)) if (dirname(each) === path) entries.add(each);
}

function allFiles(folder: string): string[] {
  return real
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .flatMap((each) => (each.isDirectory() ? [] : join(each.parentPath, each.name)));
}

/** From now on everything in the folder is on the disk, and what is written later is not until it is synced. */
export function settleFolder(folder: string): void {
  Object.assign(durable, { folder, entries: new Set(), contents: new Map() });
  for (const path of allFiles(folder)) settleFile(path);
}

/** Records that a file is on the disk, such as an input that lay there for long. */
export function settleFile(path: string): void {
  durable.entries.add(path);
  durable.contents.set(path, real.readFileSync(path));
}

/**
 * Leaves of the folder what a power cut may leave: of each file that was not synced any part of what was appended, of
 * each change of a folder that was not synced the old or the new state. Folders themselves stay. A file may go meanwhile.
 */
export function cutPower(folder: string, random: Random): void {
  const now = new Set(allFiles(folder));
  for (const path of new Set([...durable.entries, ...now])) {
    const isKept = durable.entries.has(path) === now.has(path) || random.chance(0.6) === now.has(path);
    const synced = durable.contents.get(path) ?? Buffer.alloc(0);
    const written = real.existsSync(path) ? real.readFileSync(path) : synced;
    if (!isKept) real.rmSync(path, { force: true });
    else real.writeFileSync(path, cutBytes(synced, written, random));
  }
  removeLocks(folder);
  settleFolder(folder);
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
