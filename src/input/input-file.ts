import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InputError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { readPieces } from '../process/read-file.ts';
import { fileError } from '../process/system-error.ts';

/** A file, a pipe or stdin. It is read once. */
export interface InputFile {
  /** The name in errors: the path as the user wrote it, or `stdin`. */
  readonly name: string;
  /** The absolute path. Undefined for a pipe. */
  readonly path: string | undefined;
  /** The bytes in pieces. A piece is valid until the next one is requested. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Opens a file, or stdin for `-`.
 *
 * @throws InputError if the file does not exist or is a folder; CliError `failed` if it cannot be read.
 */
export async function openInputFile(io: Io, path: string): Promise<InputFile> {
  if (path === '-') return { name: 'stdin', path: undefined, bytes: limited(io.stdin.bytes(), 'stdin') };
  const absolute = resolve(io.cwd, path);
  const stats = await stat(absolute).catch((error) => {
    if (error.code === 'ENOENT') throw new InputError(`${path}: no such file`);
    throw fileError('read', path, error);
  });
  if (stats.isDirectory()) throw new InputError(`${path}: is a folder`);
  const bytes = withInputName(readPieces(absolute), path);
  // Another process has another file under a name such as /dev/stdin or /dev/fd/63.
  const isOfProcess = /^\/(dev\/(stdin|fd)|proc)\b/.test(absolute);
  if (stats.isFile() && !isOfProcess) return { name: path, path: absolute, bytes };
  return { name: path, path: undefined, bytes: limited(bytes, path) };
}

/** The most bytes of an input that may have no end, such as /dev/zero, and of one that is read into memory. */
const maxBytes = 2 ** 28;

/** Yields pieces. @throws InputError after 256 MiB. */
async function* limited(pieces: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > maxBytes) throw tooLong(name);
    yield piece;
  }
}

/** Reads the rest of a text whole. @throws InputError if the text is over 256 MiB. */
export async function readText(head: string, pieces: AsyncIterable<string>, name: string): Promise<string> {
  let text = head;
  for await (const piece of pieces) {
    text += piece;
    if (text.length > maxBytes) throw tooLong(name);
  }
  return text;
}

function tooLong(name: string): InputError {
  return new InputError(
    `${name}: is longer than 256 MiB`,
    'only a file of CSV or JSON lines can be longer: it is read as a stream',
  );
}

/** Yields pieces. @throws CliError that names the input if the reading fails. */
async function* withInputName(pieces: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    throw fileError('read', name, error);
  }
}
