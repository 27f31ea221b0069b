import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { UsageError } from './errors.ts';
import { writeFileAtomic } from './files.ts';
import { fileError, systemCode } from './system-error.ts';

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
