import { closeSync, constants, fstatSync, openSync, read } from 'node:fs';
import { sleep } from './deadline.ts';
import { systemCode } from './system-error.ts';
import { formatBytes } from './text.ts';

/**
 * The bytes of any file that a user names: a regular file, a pipe (also `<(command)`), a device. Each piece is valid
 * until the next one is requested. It never blocks a thread of the process, which could not end then: a pipe without a
 * writer is waited for, and a signal ends the wait.
 *
 * @throws the system's error, such as ENOENT or EISDIR.
 */
export async function* readPieces(path: string): AsyncGenerator<Uint8Array> {
  // Without O_NONBLOCK, opening a pipe that has no writer blocks. Windows has neither.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if (fstatSync(file).isFIFO()) {
    const { Socket } = await import('node:net');
    // The system reports to a socket's owner that a writer has come and that the last one has gone; a read shows neither.
    yield* new Socket({ fd: file, readable: true, writable: false });
    return;
  }
  try {
    const buffer = Buffer.allocUnsafe(64 * 1024);
    for (;;) {
      const length = await readSome(file, buffer);
      if (length === 0) return;
      if (length === undefined) await sleep(10);
      else yield buffer.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}

/**
 * The bytes of any file that a user names, whole. @see readPieces
 *
 * @param maxBytes a multiple of 1024.
 * @throws the system's error, or Error if the file is longer: a device such as /dev/zero has no end.
 */
export async function readWhole(path: string, maxBytes: number): Promise<Buffer> {
  return collectBytes(readPieces(path), maxBytes);
}

/** The bytes of pieces, whole. @throws Error, whose message is a clause, if there are more than `maxBytes`. */
export async function collectBytes(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const copies: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > maxBytes) throw new Error(`is longer than ${formatBytes(maxBytes)}`);
    copies.push(Buffer.from(piece));
  }
  return Buffer.concat(copies);
}

/** Reads bytes, and returns their number: 0 at the end. Undefined if there are no bytes yet. */
function readSome(file: number, into: Buffer): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    read(file, into, 0, into.length, null, (error, length) => {
      if (!error) resolve(length);
      else if (systemCode(error) === 'EAGAIN') resolve(undefined);
      else reject(error);
    });
  });
}
