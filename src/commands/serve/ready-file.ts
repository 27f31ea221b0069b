import { lstat, readFile, unlink } from 'node:fs/promises';
import { UsageError } from '../../process/errors.ts';
import { writeFileAtomic } from '../../process/files.ts';
import { systemCode, systemReason } from '../../process/system-error.ts';

/**
 * Matches the content of a file that may be replaced: the URL of a killed server in one line, or nothing, as `mktemp`
 * creates a file.
 */
const urlContent = /^(https?:\/\/[^\s/]+\n)?$/;

/**
 * Prepares a file for the URL of a server. If it holds the URL of an earlier server, it is emptied, so that nobody uses that
 * URL.
 *
 * @throws UsageError if the file holds anything else, or is a link or no regular file; it stays unchanged.
 */
export async function prepareReadyFile(path: string): Promise<void> {
  const content = await contentOf(path);
  if (!urlContent.test(content))
    throw new UsageError(
      `--ready-file ${path}: the file contains something other than the URL of a server`,
      'it was left as it is; name a file that does not exist yet',
      'file_exists',
    );
  if (content !== '') await writeFileAtomic(path, '');
}

/** Reads the file; empty if it does not exist. A file that is too long for a URL is not read. */
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

/** Removes the file if it still holds the line that this server wrote. */
export async function removeReadyFile(file: string, line: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => '')) === line) await unlink(file).catch(() => {});
}
