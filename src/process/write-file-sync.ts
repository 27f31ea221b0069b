import { closeSync, writeFileSync as fillFile, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { processId } from './io.ts';

/**
 * Replaces the content of a file, whole or not at all, also after a crash or on a full disk. conf writes with it, in place
 * of the package atomically (`.ci/lean-conf.mjs`).
 *
 * @throws the error of the system; the old content stays.
 */
export function writeFileSync(path: string, text: string, { mode }: { readonly mode: number }): void {
  const temporary = temporaryPath(path);
  try {
    fillFile(temporary, text, { mode, flag: 'wx', flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** Returns a new path beside a file, for the content that will replace it. */
export function temporaryPath(path: string): string {
  const random = Math.random().toString(36).slice(2, 10);
  return join(dirname(path), `.${basename(path)}.${processId()}-${random}.tmp`);
}

/** Writes the entries of a folder to the disk. Does nothing if the system does not allow it. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // The rename itself has succeeded.
  }
}
