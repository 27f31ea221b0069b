import { constants, existsSync, mkdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { sleep } from './deadline.ts';
import { UsageError } from './errors.ts';
import { fileError, systemCode } from './system-error.ts';
import { syncFile, syncPath, temporaryPath } from './write-file-sync.ts';

/**
 * Replaces the content of a file. A reader finds the old content or the new content, also after a crash, and nothing in
 * between. The folder must exist. If the path is a symbolic link, the file that it names is replaced. A pipe or a
 * device is written to, because replacing it would destroy it.
 *
 * @throws CliError `failed` if the file cannot be written; its old content stays.
 */
export async function writeFileAtomic(path: string, data: FileContent, mode = 0o600): Promise<void> {
  try {
    const stats = await stat(path).catch(() => undefined);
    if (stats && !stats.isFile() && !stats.isDirectory()) await fill(await openDevice(path), data);
    else await replace(realFile(path), data, mode);
  } catch (error) {
    throw fileError('write', path, error);
  }
}

/** The content of a file, or a function that writes it piece by piece. */
type FileContent = string | Uint8Array | ((file: FileHandle) => Promise<void>);

async function fill(file: FileHandle, data: FileContent, isSynced = false): Promise<void> {
  try {
    await (typeof data === 'function' ? data(file) : file.writeFile(data));
    // Not `file.sync()`, which the files of Yarn's Plug'n'Play do not have.
    if (isSynced) syncFile(file.fd);
  } finally {
    await file.close();
  }
}

/** Opens a pipe or a device. Waits for the reader of a pipe; a signal can end the wait. */
async function openDevice(path: string): Promise<FileHandle> {
  for (;;) {
    const reader = await open(path, constants.O_WRONLY | (constants.O_NONBLOCK ?? 0)).catch((error) => {
      if (systemCode(error) === 'ENXIO') return undefined;
      throw error;
    });
    // Now that there is a reader, a blocking open returns at once.
    if (reader) return open(path, 'a').finally(() => reader.close());
    await sleep(20);
  }
}

async function replace(target: string, data: FileContent, mode: number): Promise<void> {
  const temporary = temporaryPath(target);
  const file = await open(temporary, 'wx', mode);
  try {
    await fill(file, data, true);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
  syncPath(dirname(target));
}

/** Returns the path after all symbolic links are followed. The file itself may be missing. */
export function realFile(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    // Such as a loop of links: opening the file reports it.
    if (systemCode(error) !== 'ENOENT') return path;
  }
  const target = symlinkTarget(path);
  if (target !== undefined) return realFile(resolve(dirname(path), target));
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

function symlinkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Creates a folder that only its owner may enter, and missing folders above it; leaves an existing one as it is.
 *
 * @param hint the hint of the error.
 * @throws CliError `failed` if the folder cannot be created.
 */
export function ensurePrivateFolder(path: string, hint?: string): Promise<void> {
  return ensureFolder(path, 0o700, hint);
}

/** Creates a folder and missing folders above it. @throws CliError `failed` if the folder cannot be created. */
export async function ensureFolder(path: string, mode = 0o777, hint?: string): Promise<void> {
  try {
    makeFolder(path, mode);
  } catch (error) {
    throw fileError('make folder', path, error, hint);
  }
}

/**
 * Creates a folder without the option `recursive` of `mkdir`. Node 20 repeats that call forever in a folder that exists and
 * answers ENOENT, such as a folder of /proc.
 */
function makeFolder(path: string, mode: number): void {
  const parent = dirname(path);
  if (!existsSync(parent) && parent !== path) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** A name for a new file, and the folder that it is relative to. */
export interface FileName {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
}

/** @throws UsageError if the folder of the file does not exist. */
export async function checkFolder({ name, folder }: FileName, flag: string): Promise<void> {
  const parent = await stat(dirname(resolve(folder, name))).catch(() => undefined);
  if (!parent?.isDirectory()) throw new UsageError(`${flag} ${name}: no such folder, nothing was sent`);
}

/**
 * Creates a file with the output of `write`, and syncs it to the disk. If the name is in use, the file gets the next free
 * number: `stock.rejects.2.csv`. A link that leads nowhere uses its name too. If `write` fails, no file remains.
 *
 * @returns the name of the file.
 * @throws CliError `failed`.
 */
export async function writeNewFile(
  fileName: FileName,
  write: (file: FileHandle) => Promise<void>,
): Promise<string> {
  const name = await takeName(fileName);
  const path = resolve(fileName.folder, name);
  try {
    await writeFileAtomic(path, write, 0o666);
  } catch (error) {
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
  return name;
}

/** Creates an empty file, so that nobody else takes its name meanwhile. */
async function takeName({ name, folder }: FileName): Promise<string> {
  const ending = extname(name);
  const stem = name.slice(0, name.length - ending.length);
  let candidate = name;
  for (let number = 2; ; number += 1) {
    try {
      await (await open(resolve(folder, candidate), 'wx')).close();
      return candidate;
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw fileError('write', candidate, error);
      candidate = `${stem}.${number}${ending}`;
    }
  }
}
