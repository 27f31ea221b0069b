import { extname } from 'node:path';
import { InputError } from '../process/errors.ts';
import { shellWord } from '../process/text.ts';

/**
 * Decodes UTF-8, chunk by chunk. A BOM at the start is dropped.
 *
 * @param name of the input, for errors.
 * @throws InputError if the bytes are not UTF-8. It names the line and the likely encoding.
 */
export async function* decodeUtf8(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isFirst = true;
  let line = 1;
  for await (const chunk of bytes) {
    if (isFirst) rejectBinary(chunk, name);
    isFirst = false;
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

/** Refuses workbooks, UTF-16 and other bytes with zeros, which UTF-8 text does not have. @throws InputError. */
function rejectBinary(head: Uint8Array, name: string): void {
  if (isWorkbook(head))
    throw new InputError(
      `${name}: not text: the file looks like an Excel workbook`,
      'in Excel, save the workbook as CSV UTF-8',
    );
  const hasUtf16Mark = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  if (!hasUtf16Mark && !head.subarray(0, 4096).includes(0)) return;
  const encoding = hasUtf16Mark ? 'UTF-16' : unmarkedUtf16(head);
  throw new InputError(
    `${name}: not UTF-8: the file looks like ${encoding ? 'UTF-16' : 'binary data'}`,
    encoding && toUtf8(encoding, name),
  );
}

/** Whether these are the first bytes of a ZIP archive, such as .xlsx, or of the older .xls. */
function isWorkbook(head: Uint8Array): boolean {
  const start = Buffer.from(head.subarray(0, 4)).toString('hex');
  return start === '504b0304' || start === 'd0cf11e0';
}

/** Returns a hint that sends a file through a command that converts it. */
export function conversion(command: string, name: string, ending = extname(name)): string {
  if (name === 'stdin') return `send it through: ${command}`;
  return `convert it: ${command} ${shellWord(name)} > converted${ending}`;
}

function toUtf8(encoding: string, name: string): string {
  return conversion(`iconv -f ${encoding} -t UTF-8`, name);
}

/** Detects UTF-16 by the zero byte before or after the first letter. Undefined if the text does not begin with a letter. */
function unmarkedUtf16([first, second]: Uint8Array): string | undefined {
  if ((first === 0) === (second === 0)) return undefined;
  return first === 0 ? 'UTF-16BE' : 'UTF-16LE';
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
