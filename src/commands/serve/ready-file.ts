import { readFile, realpath, stat, unlink } from 'node:fs/promises';
import { UsageError } from '../../errors.ts';
import { writeFileAtomic } from '../../files.ts';
import { systemReason } from '../../system-error.ts';

/** A file that holds the server's URL while it accepts. */
export interface ReadyFile {
  write(line: string): Promise<void>;
  /** Removes the URL, but not anything else that the file may hold by then. */
  remove(): Promise<void>;
}

/**
 * Matches a file that may be replaced: a URL in one line, left by a killed server; or nothing, as `mktemp` creates it.
 */
const ownContent = /^(https?:\/\/[^\s/]+\n)?$/;

/**
 * Prepares a file for the URL. If it holds the URL of an earlier server, it is emptied, so that nobody reads that.
 *
 * @throws UsageError if the file holds anything else, or is not a regular file; it stays unchanged.
 */
export async function openReadyFile(path: string): Promise<ReadyFile> {
  const file = await realpath(path).catch(() => path);
  const found = await contentOf(path, file);
  if (found !== undefined && !ownContent.test(found))
    throw new UsageError(
      `--ready-file ${path}: the file contains something other than the URL of a server`,
      'it was left as it is; name a file that does not exist yet',
    );
  if (found) await writeFileAtomic(file, '');
  let written: string | undefined;
  return {
    async write(line) {
      await writeFileAtomic(file, line);
      written = line;
    },
    async remove() {
      const content = written === undefined ? undefined : await readFile(file, 'utf8').catch(() => undefined);
      if (content !== undefined && content === written) await unlink(file).catch(() => {});
    },
  };
}

/** Undefined if the file does not exist; reads no more than the length of a URL. */
async function contentOf(path: string, file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    if (!found.isFile()) throw new UsageError(`--ready-file ${path}: is not a regular file`);
    return found.size > 1000 ? 'too long' : await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`--ready-file ${path}: ${systemReason(error)}`);
  }
}
