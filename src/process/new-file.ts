import { type FileHandle, lstat, open, rm, stat } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { UsageError } from './errors.ts';
import { writeFileAtomic } from './files.ts';
import { fileError } from './system-error.ts';

/** An output file that a flag names. */
export interface NewFile {
  /** Absolute. */
  readonly path: string;
  /** As the user gave it. */
  readonly name: string;
  /** The flag that names it, for errors. */
  readonly flag: string;
  readonly mayReplace: boolean;
}

/** @throws UsageError if the file exists and must not be replaced, or if its folder does not exist. */
export async function checkNewFile({ path, name, flag, mayReplace }: NewFile): Promise<void> {
  if (!mayReplace && (await exists(path)))
    throw new UsageError(
      `${flag} ${name}: the file exists, nothing was sent`,
      '--force replaces it',
      'file_exists',
    );
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new UsageError(`${flag} ${name}: no such folder, nothing was sent`);
}

/** `<input>.rejects.<ext>`, or the next free name with a number; relative if `input` is. */
export async function defaultRejectsFile(
  input: string,
  folder: string,
  format: 'csv' | 'tsv' | 'json' | 'jsonl',
): Promise<NewFile> {
  const inputEnding = extname(input);
  const ending = format === 'csv' || format === 'tsv' ? inputEnding || `.${format}` : '.jsonl';
  const stem = `${input.slice(0, input.length - inputEnding.length)}.rejects`;
  let name = stem + ending;
  for (let number = 2; await exists(resolve(folder, name)); number += 1) name = `${stem}.${number}${ending}`;
  return { path: resolve(folder, name), name, flag: '--rejects', mayReplace: false };
}

/** Whether the name is in use, also by a link that leads nowhere. */
async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/**
 * Creates a file with the output of `write`, on the disk when this returns. If that fails, no file is created, and an
 * existing one stays.
 *
 * @throws CliError `failed`
 */
export async function writeNewFile(
  { path, name, mayReplace }: NewFile,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  // Takes the name, so that nobody else does meanwhile.
  if (!mayReplace)
    await open(path, 'wx').then(
      (file) => file.close(),
      (error) => {
        throw fileError('write', name, error);
      },
    );
  try {
    await writeFileAtomic(path, write, 0o666);
  } catch (error) {
    if (!mayReplace) await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}
