import { InputError } from '../process/errors.ts';
import { rejectForeignFile, signatureLength, toUtf8 } from './foreign-file.ts';

/**
 * Decodes UTF-8, chunk by chunk. A BOM at the start is dropped.
 *
 * @param name of the input, for errors.
 * @throws InputError if the bytes are not UTF-8, or those of another format. It names the line and the likely encoding.
 */
export async function* decodeUtf8(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let head = Buffer.alloc(0);
  let line = 1;
  for await (const chunk of bytes) {
    if (head.length < signatureLength) {
      head = Buffer.concat([head, chunk]);
      rejectForeignFile(head, name);
    }
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw notUtf8(chunk, line, name);
    }
    line += lineEndsIn(text);
    if (text !== '') yield text;
  }
  try {
    decoder.decode();
  } catch {
    throw new InputError(`${name}: cut short in the middle of a character`);
  }
}

/** The error for bytes that are not UTF-8. @param line on which the chunk begins */
function notUtf8(chunk: Uint8Array, line: number, name: string): InputError {
  const at = firstInvalidByte(chunk);
  const byte = (chunk[at] ?? 0).toString(16).toUpperCase();
  const position = `${name}:${line + lineEndsIn(Buffer.from(chunk.subarray(0, at)).toString())}`;
  return new InputError(
    `${position}: not UTF-8: byte 0x${byte}; the file looks like Latin-1 (Windows-1252)`,
    toUtf8('WINDOWS-1252', name),
  );
}

/**
 * Finds the index of the first byte that is not UTF-8; 0 if its character began in the chunk before. A decoder that does
 * not throw puts U+FFFD there. Bytes at the start that may continue a character are skipped.
 */
function firstInvalidByte(chunk: Uint8Array): number {
  let start = 0;
  while (start < 3 && ((chunk[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(chunk.subarray(start));
  const at = text.indexOf('\ufffd');
  return at === -1 ? 0 : start + Buffer.byteLength(text.slice(0, at));
}

/** Counts the line ends of a text whose lines all end in LF, all in CRLF or all in CR. */
function lineEndsIn(text: string): number {
  const sign = text.includes('\n') ? '\n' : '\r';
  let count = 0;
  for (let index = text.indexOf(sign); index !== -1; index = text.indexOf(sign, index + 1)) count += 1;
  return count;
}
