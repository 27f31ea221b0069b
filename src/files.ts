import { mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileError } from './file-error.ts';
import { processId } from './io.ts';

/**
 * Makes the content of a file `data`, so that whoever reads it, also after a crash, finds the old or the new content and
 * nothing between. The folder must exist; a symbolic link stays one, and what it names is replaced.
 *
 * @throws CliError `failed` where the file cannot be written; its old content stays.
 */
export async function writeFileAtomic(path: string, data: string | Uint8Array, mode = 0o600): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const folder = dirname(target);
  const temporary = join(
    folder,
    `.${basename(target)}.${processId()}-${Math.random().toString(36).slice(2, 10)}.tmp`,
  );
  try {
    await writeDurably(temporary, data, mode);
    await rename(temporary, target);
    await syncFolder(folder);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw fileError('write', path, error);
  }
}

/** Makes a folder that only its owner may enter, and those above it that are missing; one that exists stays as it is. */
export function ensurePrivateFolder(path: string): Promise<void> {
  return ensureFolder(path, 0o700);
}

/** Makes a folder and those above it that are missing. @throws CliError `failed` where it cannot. */
export async function ensureFolder(path: string, mode = 0o777): Promise<void> {
  try {
    await makeFolder(path, mode);
  } catch (error) {
    throw fileError('make folder', path, error);
  }
}

/** Not `mkdir` with `recursive`: in a folder that takes no new ones, such as one of /proc, Node then tries for ever. */
async function makeFolder(path: string, mode: number): Promise<void> {
  const problem = await tryFolder(path, mode);
  if (problem?.code === 'ENOENT' && dirname(path) !== path) {
    await makeFolder(dirname(path), mode);
    const again = await tryFolder(path, mode);
    if (again) throw again;
  } else if (problem) throw problem;
}

/** Why there is no such folder now. */
async function tryFolder(path: string, mode: number): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path, { mode });
    return undefined;
  } catch (error) {
    const isThere = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    return isThere ? undefined : (error as NodeJS.ErrnoException);
  }
}

async function writeDurably(path: string, data: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a rename last through a power cut, where the system lets a folder be synchronised. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
