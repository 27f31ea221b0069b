import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../errors.ts';
import { fileError } from '../file-error.ts';

/** A file that a run makes because a flag asks for it. */
export interface NewFile {
  /** Absolute. */
  readonly path: string;
  /** As the user gave it. */
  readonly name: string;
  /** The flag that names it, for errors. */
  readonly flag: string;
  readonly mayReplace: boolean;
}

/** @throws UsageError where the file is there and may not be replaced, or its folder is not there. */
export async function checkNewFile(file: NewFile): Promise<void> {
  const { path, name, flag, mayReplace } = file;
  if (!mayReplace && (await exists(path))) throw existing(file);
  if (!(await exists(dirname(path))))
    throw new UsageError(`${flag} ${name}: no such folder, nothing was sent`);
}

/** Opens the file for writing, empty. @throws UsageError as `checkNewFile`; CliError `failed` where it cannot be written. */
export async function openNewFile(file: NewFile): Promise<FileHandle> {
  return open(file.path, file.mayReplace ? 'w' : 'wx').catch((error) => {
    throw error.code === 'EEXIST' ? existing(file) : fileError('write', file.name, error);
  });
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function existing({ flag, name }: NewFile): UsageError {
  return new UsageError(`${flag} ${name}: the file exists, nothing was sent`, '--force replaces it');
}
