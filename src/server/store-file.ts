import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { UsageError } from '../errors.ts';
import { fileErrorReason } from '../file-error.ts';
import type { Store } from './store.ts';
import { parseStore } from './store-text.ts';

/**
 * The shop that a file holds; undefined where there is no such file. Read in one go: for a small file, as the offline
 * store is, the promises of node:fs would cost a start more than the reading.
 *
 * @throws UsageError where the file cannot be read or is no shop; it stays as it is.
 */
export function readStore(file: string): Store | undefined {
  const bytes = readBytes(file);
  if (bytes === undefined) return undefined;
  if (!isUtf8(bytes)) throw new UsageError(`${file}: is not UTF-8`, 'the file was left as it is');
  return parseStore(bytes.toString(), file);
}

function readBytes(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${file}: ${fileErrorReason(error)}`);
  }
}
