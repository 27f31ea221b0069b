import { lstat, readFile, unlink } from 'node:fs/promises';
import { UsageError } from '../../process/errors.ts';
import { writeFileAtomic } from '../../process/files.ts';
import { systemCode, systemReason } from '../../process/system-error.ts';

/**
 * Matches a file that may be replaced: a URL in one line, left by a killed server; or nothing, as `mktemp` creates it.
 */
const ownContent = /^(https?:\/\/[^\s/]+\n)?$/;

/**
 * Prepares a file for the URL of a server. If it holds the URL of an earlier server, it is emptied, so that nobody reads
 * that.
 *
 * @throws UsageError if the file holds anything else, or is a link or no regular file; it stays unchanged.
 */
export async function prepareReadyFile(path: string): Promise<void> {
  const content = await contentOf(path);
  if (!ownContent.test(content))
    throw new UsageError(
      `--ready-file ${path}: the file contains something other than the URL of a server`,
      'it was left as it is; name a file that does not exist yet',
      'file_exists',
    );
  if (content !== '') await writeFileAtomic(path, '');
}

/** Empty if the file does not exist; reads no more than the length of a URL. */
async function contentOf(path: string): Promise<string> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile()) throw new UsageError(`--ready-file ${path}: is a link or no regular file`);
    return stats.size > 1000 ? 'too long' : await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (systemCode(error) === 'ENOENT') return '';
    throw new UsageError(`--ready-file ${path}: ${systemReason(error)}`);
  }
}

/** Removes the file if it holds the line that was written, but not if somebody has written something else. */
export async function removeReadyFile(file: string, line: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => '')) === line) await unlink(file).catch(() => {});
}
