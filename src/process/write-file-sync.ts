import {
  closeSync,
  writeFileSync as fillFile,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { processId } from './io.ts';
import { systemCode } from './system-error.ts';

/**
 * Replaces the content of a file, whole or not at all, also after a crash or on a full disk. conf writes with it, in place
 * of the package atomically (`.ci/lean-conf.mjs`).
 *
 * @param data the text, or its lines without line breaks.
 * @throws the error of the system; the old content stays.
 */
export function writeFileSync(
  path: string,
  data: string | Iterable<string>,
  { mode }: { readonly mode: number },
): void {
  const random = Math.random().toString(36).slice(2, 10);
  const temporary = join(dirname(path), `.${basename(path)}.${processId()}-${random}.tmp`);
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      if (typeof data === 'string') fillFile(file, data);
      else for (const line of data) fillFile(file, `${line}\n`);
      syncFile(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncPath(dirname(path));
}

/** Removes the temporary files of killed processes that were writing a file. Only for a process that holds the lock of the file. */
export function removeTemporaryFiles(path: string): void {
  const [folder, start] = [dirname(path), `.${basename(path)}.`];
  try {
    for (const name of readdirSync(folder))
      if (name.startsWith(start) && /^\d+-[\da-z]+\.tmp$/.test(name.slice(start.length)))
        rmSync(join(folder, name), { force: true });
  } catch {
    // A temporary file that stays does no harm.
  }
}

/** Writes the entries of a folder, or the content of a file, to the disk. Does nothing if the system does not allow it. */
export function syncPath(path: string): void {
  try {
    const file = openSync(path, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // The content itself has been written.
  }
}

/** Writes the content of an open file to the disk, so that it survives a power cut. Node's permission model refuses the call. */
export function syncFile(file: number): void {
  try {
    fsyncSync(file);
  } catch (error) {
    if (systemCode(error) !== 'ERR_ACCESS_DENIED') throw error;
  }
}
