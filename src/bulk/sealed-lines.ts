import { createReadStream } from 'node:fs';
import { crc32 } from 'node:zlib';
import { CliError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../process/exact-json.ts';
import { fileError } from '../process/system-error.ts';
import { version } from './journal-lines.ts';

// Each line of a journal ends with the checksum of all lines so far, so that a lost, added or moved line is detected.

/** A line of JSON with the CRC-32 of it and all lines before it as its last field. */
export function seal(text: string, sum: number): string {
  return `${text.slice(0, -1)},"sum":"${sum.toString(16)}"}`;
}

interface SealedLine {
  readonly line: JsonObject;
  /** Bytes and checksum up to its end. */
  readonly bytes: number;
  readonly sum: number;
}

/**
 * The lines of a journal; an incomplete last line is left out.
 *
 * @throws CliError `failed` if it cannot be read, or at a line whose checksum is wrong.
 */
export async function* readSealedLines(path: string, pieceBytes = 256 * 1024): AsyncGenerator<SealedLine> {
  let bytes = 0;
  let sum = 0;
  for await (const sealed of readPieces(path, pieceBytes))
    for (const text of sealed) {
      const line = unseal(text, sum, bytes === 0);
      if (!line) throw damaged(path, bytes);
      sum = line.sum;
      bytes += Buffer.byteLength(text) + 1;
      yield { line: line.value, bytes, sum };
    }
}

/** The lines that end in each piece of a file. */
async function* readPieces(path: string, pieceBytes: number): AsyncGenerator<string[]> {
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: pieceBytes });
  let rest = '';
  try {
    for await (const piece of stream) {
      const lines = `${rest}${piece}`.split('\n');
      rest = lines.pop() ?? '';
      yield lines;
    }
  } catch (error) {
    throw fileError('read', path, error);
  } finally {
    stream.destroy();
  }
}

/**
 * The value of a line with a correct checksum; a first line may be any JSON object, because old versions had no
 * checksums.
 */
function unseal(
  sealed: string,
  sum: number,
  isFirst: boolean,
): { value: JsonObject; sum: number } | undefined {
  const at = sealed.lastIndexOf(',"sum":"');
  const text = at === -1 ? sealed : `${sealed.slice(0, at)}}`;
  const next = crc32(text, sum);
  try {
    const value = parseJson(text);
    if (!isJsonObject(value)) return undefined;
    const isRight = seal(text, next) === sealed || (isFirst && value.journal !== version);
    return isRight ? { value, sum: next } : undefined;
  } catch {
    return undefined;
  }
}

export const restartHint = 'apply with --restart begins a run of its own';

export function damaged(path: string, bytes: number): CliError {
  return new CliError('failed', `${path}: is damaged at byte ${bytes}`, { hint: restartHint });
}
