import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileError, systemCode } from './errors.ts';
import { type Io, processId } from './io.ts';
import { bytesText } from './text.ts';

/**
 * The bytes of any file that a user names: a regular file, a pipe (also `<(command)`), a device. The reading waits for the writer of a
 * pipe, and a signal ends the wait.
 *
 * @throws the system's error, such as ENOENT or EISDIR.
 */
async function* readPieces(path: string): AsyncGenerator<Uint8Array> {
  // Without O_NONBLOCK, opening a pipe that has no writer blocks. Windows has neither.
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if (!fstatSync(fd).isFIFO()) return yield* createReadStream(path, { fd });
  const { Socket } = await import('node:net');
  // Only a socket reports that a writer has opened the pipe, and that the last one has closed it.
  yield* new Socket({ fd, readable: true, writable: false });
}

/**
 * The bytes of any file that a user names, whole. @see readPieces
 *
 * @param maxBytes a multiple of 1024.
 * @throws the system's error, or Error if the file is longer: a device such as /dev/zero has no end.
 */
export function readWhole(path: string, maxBytes: number): Promise<Buffer> {
  return collectBytes(readPieces(path), maxBytes);
}

/** The bytes of a file that a user names, or of stdin for `-`, whole. @throws as `readWhole` */
export function readFileOrStdin({ stdin, cwd }: Io, path: string, maxBytes: number): Promise<Buffer> {
  return path === '-' ? collectBytes(stdin.bytes(), maxBytes) : readWhole(resolve(cwd, path), maxBytes);
}

/** The bytes of pieces, whole. @throws Error, whose message is a clause, if there are more than `maxBytes`. */
async function collectBytes(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const whole: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > maxBytes) throw new Error(`is longer than ${bytesText(maxBytes)}`);
    whole.push(piece);
  }
  return Buffer.concat(whole);
}

/**
 * Replaces the content of a file. A reader finds the old content or the new content, also after a crash, and nothing in
 * between. The folder must exist. If the path is a symbolic link, the file that it names is replaced. A pipe or a
 * device is refused, because replacing it would destroy it.
 *
 * @throws CliError `failed` if the file cannot be written; its old content stays.
 */
export function writeFileAtomic(path: string, data: string, mode = 0o600): void {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && !stats.isFile() && !stats.isDirectory()) throw new Error('is not a regular file');
    replaceFileSync(realFile(path), data, { mode });
  } catch (error) {
    throw fileError('write', path, error);
  }
}

/**
 * Replaces the content of a file, whole or not at all, also after a crash or on a full disk.
 *
 * @param data the text, or its lines without line breaks.
 * @throws the error of the system; the old content stays.
 */
export function replaceFileSync(
  path: string,
  data: string | Iterable<string>,
  { mode }: { readonly mode: number },
): void {
  const random = Math.random().toString(36).slice(2, 10);
  const temporary = join(dirname(path), `.${basename(path)}.${processId()}-${random}.tmp`);
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      if (typeof data === 'string') writeFileSync(file, data);
      else for (const line of data) writeFileSync(file, `${line}\n`);
      syncFile(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncPath(dirname(path));
}

/** conf writes with it, in place of the package atomically (`.ci/lean-packages.mjs`). */
export { replaceFileSync as writeFileSync };

/** Writes the content of an open file to the disk, so that it survives a power cut. Node under --permission refuses the call. */
export function syncFile(file: number): void {
  try {
    fsyncSync(file);
  } catch (error) {
    if (systemCode(error) !== 'ERR_ACCESS_DENIED') throw error;
  }
}

/** Writes the entries of a folder, or the content of a file, to the disk. Does nothing if the system does not allow it. */
export function syncPath(path: string): void {
  try {
    const file = openSync(path, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // The content itself has been written.
  }
}

/** Returns the path after symbolic links are followed. The file itself may be missing. @param maxLinks that are followed to it. */
export function realFile(path: string, maxLinks = 40): string {
  try {
    if (existsSync(path)) return realpathSync(path);
    if (maxLinks > 0 && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      return realFile(resolve(dirname(path), readlinkSync(path)), maxLinks - 1);
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    // The error is reported when the file is opened.
    return path;
  }
}

/**
 * Creates a folder, and missing folders above it; leaves an existing one as it is. By default only its owner may enter it.
 *
 * @throws CliError `failed`, with the hint, if the folder cannot be created.
 */
export function ensureFolder(path: string, hint?: string, mode = 0o700): void {
  try {
    makeFolder(path, mode);
  } catch (error) {
    throw fileError('make folder', path, error, hint);
  }
}

/**
 * Creates a folder without the option `recursive` of `mkdir`. Node 20 repeats that call forever in a folder that exists and
 * answers ENOENT, such as a folder of /proc.
 */
function makeFolder(path: string, mode: number): void {
  const parent = dirname(path);
  if (!existsSync(parent) && parent !== path) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
