import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { userId } from '../process/io.ts';
import { shellWord } from '../process/text.ts';

/** A file that says where requests go or which commands run, and that another user owns or may write. The message is a clause. */
export class UntrustedFileError extends Error {
  readonly remedy: string;

  constructor(why: string, remedy: string) {
    super(`${why}, so none of it is used`);
    this.remedy = remedy;
  }
}

/**
 * Reads a file that says where requests go and which commands run. It reads synchronously, because loading
 * `node:fs/promises` takes longer.
 *
 * @throws the error of the system; UntrustedFileError; Error with a clause as its message if the path is no file.
 */
export function readTrusted(path: string): string {
  return withTrusted(path, (file) => readFileSync(file, 'utf8'));
}

/** Checks a file as `readTrusted` does. @throws like `readTrusted`. */
export function checkTrusted(path: string): void {
  withTrusted(path, () => {});
}

function withTrusted<Value>(path: string, use: (file: number) => Value): Value {
  // Without O_NONBLOCK, opening a pipe that has no writer would block the process.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    rejectUntrusted(path, fstatSync(file));
    return use(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Checks that this user or root owns the file, and that nobody else may write it, as ssh does for its config. Windows has
 * no owners.
 */
function rejectUntrusted(path: string, stats: Stats): void {
  if (!stats.isFile()) throw new Error(stats.isDirectory() ? 'is a folder' : 'is not a regular file');
  const user = userId();
  if (user === undefined) return;
  const access = `owner ${stats.uid}, mode ${(stats.mode & 0o777).toString(8).padStart(4, '0')}`;
  if (stats.uid !== user && stats.uid !== 0)
    throw new UntrustedFileError(
      `belongs to another user (${access})`,
      'name another folder with PETSTORE_CONFIG_DIR, or make the file yours',
    );
  if ((stats.mode & 0o022) !== 0)
    throw new UntrustedFileError(
      `others may write it (${access})`,
      `look at what it holds, then \`chmod 600 ${shellWord(path)}\``,
    );
}
