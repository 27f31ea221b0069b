import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { sleep } from '../deadline.ts';
import { CliError } from '../errors.ts';
import { fileErrorReason } from '../file-error.ts';

const maxBytes = 64 * 1024;

/**
 * The text of a token file, which may be a pipe: `PETSTORE_TOKEN_FILE=<(pass show petstore)`.
 *
 * @param limitMs how long a pipe may take.
 * @throws CliError `auth` where it cannot be read, is too long or takes too long.
 */
export async function readTokenFile(path: string, limitMs = 10_000): Promise<string> {
  let file: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, a pipe that nobody writes to blocks a thread, and with it the end of the process.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await readAll(file, Date.now() + limitMs);
  } catch (error) {
    throw new CliError('auth', `read token file ${path}: ${fileErrorReason(error)}`, { cause: error });
  } finally {
    await file?.close();
  }
}

async function readAll(file: FileHandle, deadline: number): Promise<string> {
  const isPipe = (await file.stat()).isFIFO();
  const buffer = Buffer.alloc(maxBytes + 1);
  let size = 0;
  while (size <= maxBytes) {
    const bytes = await readSome(file, buffer.subarray(size));
    const waits = bytes === undefined || (bytes === 0 && size === 0 && isPipe);
    if (!waits && bytes === 0) return buffer.toString('utf8', 0, size);
    if (!waits) size += bytes;
    else if (Date.now() < deadline) await sleep(10);
    else throw new Error('nobody wrote to it in time');
  }
  throw new Error('it is longer than 64 KiB');
}

/** Bytes read, 0 at the end; undefined where there are none yet. */
async function readSome(file: FileHandle, into: Buffer): Promise<number | undefined> {
  try {
    return (await file.read(into, 0, into.length, null)).bytesRead;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}
