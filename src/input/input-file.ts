import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileError, InputError, isMissing } from '../process/errors.ts';
import { readPieces } from '../process/files.ts';
import type { Io } from '../process/io.ts';

/** A file, a pipe or stdin. It can be read once. */
export interface InputFile {
  /** The name in errors: the path as the user wrote it, or `stdin`. */
  readonly name: string;
  /** The absolute path. A pipe has none. */
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
  let stats: Stats;
  try {
    stats = statSync(absolute);
  } catch (error) {
    if (isMissing(error)) throw new InputError(`${path}: no such file`);
    throw fileError('read', path, error);
  }
  if (stats.isDirectory()) throw new InputError(`${path}: is a folder`);
  const bytes = withInputName(readPieces(absolute), path);
  if (stats.isFile()) return { name: path, path: absolute, bytes };
  return { name: path, path: undefined, bytes: limited(bytes, path) };
}

/** The most bytes of an input that may have no end, such as /dev/zero, and of an input that is read into memory. */
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

/** Reads the rest of a text into memory. @throws InputError if the text is over 256 MiB. */
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

/**
 * Decodes UTF-8, chunk by chunk. A BOM at the start is dropped.
 *
 * @param name of the input, for errors.
 * @throws InputError if the bytes are a workbook, or are not UTF-8.
 */
export async function* decodeUtf8(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let size = 0;
  for await (const chunk of bytes) {
    if (size === 0 && Buffer.from(chunk.subarray(0, 4)).toString('latin1') === 'PK\x03\x04')
      throw new InputError(`${name}: is a workbook or another ZIP archive`, 'save the sheet as CSV UTF-8');
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new InputError(
        `${name}: not UTF-8 at byte ${size + firstInvalidByte(chunk) + 1}`,
        'save it as UTF-8, or convert it, such as by iconv -f WINDOWS-1252 -t UTF-8; -f UTF-16 for "Unicode text" of Excel',
      );
    }
    size += chunk.length;
    if (text !== '') yield text;
  }
  try {
    decoder.decode();
  } catch {
    throw new InputError(`${name}: cut short in the middle of a character`);
  }
}

/**
 * Finds the index of the first byte that is not UTF-8; 0 if its character began in the previous chunk. It looks for the U+FFFD of a
 * lenient decoder, and skips bytes at the start that may continue a character.
 */
function firstInvalidByte(chunk: Uint8Array): number {
  let start = 0;
  while (start < 3 && ((chunk[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(chunk.subarray(start));
  const at = text.indexOf('\ufffd');
  return at === -1 ? 0 : start + Buffer.byteLength(text.slice(0, at));
}
