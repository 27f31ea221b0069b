import { type FileHandle, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../errors.ts';
import { fileError } from '../system-error.ts';

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
    throw new UsageError(`${flag} ${name}: the file exists, nothing was sent`, '--force replaces it');
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new UsageError(`${flag} ${name}: no such folder, nothing was sent`);
}

/** Whether the name is in use, also by a link that leads nowhere. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Creates a file with the output of `write`. If that fails or returns false, no file is created, and an existing one
 * stays. Removes only files that this call created.
 *
 * @throws CliError `failed`
 */
export async function writeNewFile(
  { path, name, mayReplace }: NewFile,
  write: (file: FileHandle) => Promise<boolean>,
): Promise<boolean> {
  const there = mayReplace ? await stat(path).catch(() => undefined) : undefined;
  // A pipe or a device is written to directly; a file is replaced once the new one is complete.
  const isPipe = there !== undefined && !there.isFile();
  const made = there?.isFile() ? `${path}.new` : path;
  let isMade = false;
  try {
    const file = await open(made, isPipe ? 'a' : 'wx');
    isMade = !isPipe;
    const isWanted = await write(file).finally(() => file.close());
    if (isWanted && made !== path) await rename(made, path);
    if (!isWanted && isMade) await rm(made, { force: true });
    return isWanted;
  } catch (error) {
    if (isMade) await rm(made, { force: true }).catch(() => {});
    throw fileError('write', name, error);
  }
}
