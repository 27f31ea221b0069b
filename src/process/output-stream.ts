import { constants, fstatSync, openSync, type Stats, statSync, writeSync } from 'node:fs';
import type { WriteStream } from 'node:tty';
import { CliError, InterruptedError, OutputClosedError } from './errors.ts';
import { systemCode, systemReason } from './system-error.ts';

export interface OutputStream {
  readonly isTerminal: boolean;
  /** True for a file on disk, which nobody watches. */
  readonly isFile: boolean;
  /** Width in columns now; undefined if the stream is not a terminal or the terminal does not say. */
  readonly width: number | undefined;
  /** Height in lines now; undefined as for `width`. */
  readonly height: number | undefined;
  /**
   * Resolves when the bytes have been handed over.
   *
   * @throws OutputClosedError if the reader has gone; InterruptedError if the terminal has gone; CliError `failed` if they cannot be written (a full disk).
   */
  write(data: string | Uint8Array, options?: WriteOptions): Promise<void>;
}

interface WriteOptions {
  /** True for what a CI job gets as it is: commands to its runner that are meant, and the body of a raw request. */
  readonly isRaw?: boolean;
}

/** An output stream of the process, by its descriptor. */
interface ProcessOutput extends OutputStream {
  /** Resolves when everything written has left the process. */
  flush(): Promise<void>;
}

/** The null device counts as a file. */
type Kind = 'file' | 'pipe' | 'socket' | 'device' | 'closed';

/**
 * Loading Node's own stream costs a seventh of the start-up time, because it loads all of `node:net`. So bytes are
 * written to the descriptor while that cannot block the process, and to Node's stream from then on.
 *
 * @param open returns Node's stream of the same descriptor.
 */
export function processOutput(name: string, descriptor: 1 | 2, open: () => WriteStream): ProcessOutput {
  const kind = kindOf(descriptor);
  const direct = directWriter(descriptor, kind);
  let opened: WriteStream | undefined;
  const stream = (): WriteStream => {
    // A failed write rejects its own promise; without a listener the same error would also end the process.
    opened ??= open().on('error', () => {});
    return opened;
  };
  const throughStream = (data: string | Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      stream().write(data, (error) => (error ? reject(error) : resolve()));
    });
  return {
    get isTerminal() {
      return kind === 'device' && stream().isTTY === true;
    },
    isFile: kind === 'file',
    get width() {
      // A terminal without a known size reports 0.
      return kind === 'device' ? stream().columns || undefined : undefined;
    },
    get height() {
      return kind === 'device' ? stream().rows || undefined : undefined;
    },
    async write(data) {
      try {
        const rest = opened ? data : direct(data);
        if (rest.length > 0) await throughStream(rest);
      } catch (error) {
        throw toOutputError(name, error, kind === 'device');
      }
    },
    async flush() {
      if (opened?.writable && !opened.destroyed) await throughStream('').catch(() => {});
    },
  };
}

/** Writes what can be written without blocking, and returns the rest. */
type DirectWriter = (data: string | Uint8Array) => string | Uint8Array;

/** Bytes that a socket's buffer takes at once if nobody else has filled it. */
const socketBytes = 16_384;

function directWriter(descriptor: number, kind: Kind): DirectWriter {
  if (kind === 'pipe') return throughOwnPipe(descriptor);
  if (kind !== 'file' && kind !== 'socket') return (data) => data;
  let left = kind === 'file' ? Number.POSITIVE_INFINITY : socketBytes;
  return (data) => {
    const bytes = bytesOf(data);
    left -= bytes.length;
    return left < 0 ? bytes : writeAll(descriptor, bytes);
  };
}

/**
 * Opening a pipe again gives a descriptor with its own flags: it can be non-blocking without affecting the processes
 * that share the first one.
 */
function throughOwnPipe(descriptor: number): DirectWriter {
  let own: number | undefined;
  return (data) => {
    try {
      own ??= openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      // Only Linux can open it again, and not if the pipe belongs to another user.
      return data;
    }
    return writeAll(own, bytesOf(data));
  };
}

function writeAll(descriptor: number, bytes: Uint8Array): Uint8Array {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
  } catch (error) {
    if (systemCode(error) !== 'EAGAIN') throw error;
  }
  return rest;
}

function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data) : data;
}

/** The kind of file behind a descriptor. */
export function kindOf(descriptor: number): Kind {
  try {
    const found = fstatSync(descriptor);
    if (found.isFile() || isNullDevice(found)) return 'file';
    if (found.isFIFO()) return 'pipe';
    return found.isSocket() ? 'socket' : 'device';
  } catch {
    // A process may be started with the stream closed.
    return 'closed';
  }
}

function isNullDevice({ rdev }: Stats): boolean {
  return rdev !== 0 && rdev === statSync('/dev/null').rdev;
}

function toOutputError(name: string, error: unknown, isDevice: boolean): Error {
  const code = systemCode(error);
  // A terminal that is gone: SIGHUP comes only to some of its processes.
  if (code === 'EIO' && isDevice) return new InterruptedError('SIGHUP');
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new OutputClosedError();
  return new CliError('failed', `write to ${name}: ${systemReason(error)}`, { cause: error });
}
