import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { fileErrorReason } from '../../file-error.ts';

/** The bytes of a file, or of stdin for `-`. @throws UsageError where the file cannot be read. */
export async function readBody({ io }: Context, input: string): Promise<Uint8Array> {
  if (input === '-') {
    const chunks: Uint8Array[] = [];
    for await (const chunk of io.stdin.bytes()) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
  return readFile(resolve(io.cwd, input)).catch((error) => {
    throw new UsageError(`--input ${input}: ${fileErrorReason(error)}`);
  });
}
