import { InputError } from '../process/errors.ts';

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
