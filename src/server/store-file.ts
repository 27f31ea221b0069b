import { readFile } from 'node:fs/promises';
import { UsageError } from '../errors.ts';
import type { Store } from './store.ts';
import { parseStore } from './store-text.ts';

/**
 * The shop that a file holds; undefined where there is no such file.
 *
 * @throws UsageError where the file cannot be read or is no shop; it stays as it is.
 */
export async function readStore(file: string): Promise<Store | undefined> {
  const bytes = await readBytes(file);
  return bytes && parseStore(decode(bytes, file), file);
}

async function readBytes(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${file}: is not UTF-8`, 'the file was left as it is');
  }
}
