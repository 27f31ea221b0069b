import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CliError, InputError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { readPieces } from '../process/read-file.ts';
import { fileError, systemReason } from '../process/system-error.ts';
import { formatBytes } from '../process/text.ts';

/** An input that can be read more than once: a file, or the copy of a pipe. */
export interface InputFile {
  /** The name in errors: the path as the user wrote it, or `stdin`. */
  readonly name: string;
  /** The absolute path. Undefined for a pipe. */
  readonly path: string | undefined;
  /** The number of bytes. */
  readonly size: number;
  /** Reads the bytes from the beginning. A piece is valid until the next piece is requested. */
  bytes(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Opens a file, or stdin for `-`. An input that can be read only once (stdin, a pipe) is first copied to a temporary file.
 * Only its owner may read that file, and it disappears with the process, even if the process is killed.
 *
 * @throws InputError if the file does not exist, is a folder, or has no end; CliError `failed` if it cannot be read.
 */
export async function openInputFile(io: Io, path: string): Promise<InputFile> {
  if (path === '-') return spool('stdin', io.stdin.bytes());
  const absolute = resolve(io.cwd, path);
  const stats = await stat(absolute).catch((error) => {
    if (error.code === 'ENOENT') throw new InputError(`${path}: no such file`);
    throw fileError('read', path, error);
  });
  if (stats.isDirectory()) throw new InputError(`${path}: is a folder`);
  const bytes = () => withInputName(readPieces(absolute), path);
  if (!stats.isFile() || isOfProcess(absolute)) return spool(path, bytes());
  return { name: path, path: absolute, size: stats.size, bytes, close: async () => {} };
}

/** Whether a path names another file in another process, such as `/dev/stdin` or `/dev/fd/63`. */
function isOfProcess(path: string): boolean {
  return /^\/(dev\/(stdin|fd)|proc)\b/.test(path);
}

/** The longest input that is copied, in bytes. */
const maxSpooledBytes = 2 ** 30;

/** Copies an input to a temporary file. */
async function spool(name: string, pieces: AsyncIterable<Uint8Array>): Promise<InputFile> {
  const { file, remove } = await openTemporary(name);
  const close = async () => {
    await file.close().catch(() => {});
    await remove();
  };
  let size = 0;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > maxSpooledBytes) throw endless(name);
      await file.writeFile(piece);
    }
  } catch (error) {
    await close();
    throw error instanceof CliError ? error : fileError('keep', name, error);
  }
  const bytes = () => withInputName(file.createReadStream({ start: 0, autoClose: false }), name);
  return { name, path: undefined, size, bytes, close };
}

/** The error for an input that would fill the disk, such as /dev/zero. */
function endless(name: string): InputError {
  return new InputError(
    `${name}: is longer than ${formatBytes(maxSpooledBytes)}, and can be read only once`,
    'save it in a file, and name that file',
  );
}

/**
 * Opens a temporary file. Its name is removed at once, so that a killed process leaves no file. On Windows the name can
 * only be removed at the end.
 */
async function openTemporary(name: string): Promise<{ file: FileHandle; remove: () => Promise<void> }> {
  let remove = async () => {};
  try {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-input-'));
    remove = () => rm(folder, { recursive: true, force: true }).catch(() => {});
    const file = await open(join(folder, 'input'), 'wx+', 0o600);
    await remove();
    return { file, remove };
  } catch (error) {
    await remove();
    throw new CliError('failed', `keep ${name} in ${tmpdir()}: ${systemReason(error)}`, {
      hint: 'TMPDIR names another folder for temporary files',
      cause: error,
    });
  }
}

/** Yields pieces. @throws CliError that names the input if the reading fails. */
async function* withInputName(pieces: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    throw fileError('read', name, error);
  }
}
