import { fstatSync, type Stats, statSync } from 'node:fs';
import type { WriteStream } from 'node:tty';
import { CliError, InterruptedError, OutputClosedError, systemCode, systemReason } from './errors.ts';

export interface OutputStream {
  readonly isTerminal: boolean;
  /** The width in columns now, if the stream is a terminal that states it. */
  readonly width: number | undefined;
  /**
   * Resolves when the bytes have been handed over.
   *
   * @throws OutputClosedError if the reader has gone; InterruptedError if the terminal has gone; CliError `failed` if
   *   they cannot be written, such as on a full disk.
   */
  write(data: string | Uint8Array, options?: WriteOptions): Promise<void>;
}

interface WriteOptions {
  /** True for data and annotations, which are written unchanged even if a CI runner would take them for a command. */
  readonly isRaw?: boolean;
}

/** An output stream of the process, by its descriptor. */
interface ProcessOutput extends OutputStream {
  /** Resolves when everything written has left the process. */
  flush(): Promise<void>;
}

/** @param open returns Node's stream of the descriptor; called when it is first needed. */
export function processOutput(name: string, descriptor: 1 | 2, open: () => WriteStream): ProcessOutput {
  const isTerminalDevice = isDevice(descriptor);
  let opened: WriteStream | undefined;
  const stream = (): WriteStream => {
    // A failed write rejects its own promise; without a listener the same error would also end the process.
    opened ??= open().on('error', () => {});
    return opened;
  };
  const send = (data: string | Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      stream().write(data, (error) => (error ? reject(error) : resolve()));
    });
  return {
    get isTerminal() {
      return isTerminalDevice && stream().isTTY === true;
    },
    get width() {
      // A terminal without a known size reports 0.
      return isTerminalDevice ? stream().columns || undefined : undefined;
    },
    async write(data) {
      try {
        if (data.length > 0) await send(data);
      } catch (error) {
        throw toOutputError(name, error, isTerminalDevice);
      }
    },
    async flush() {
      if (opened?.writable && !opened.destroyed) await send('').catch(() => {});
    },
  };
}

/** Returns true if a descriptor leads to a device, such as a terminal, and not to a file, a pipe, a socket or the null device. */
export function isDevice(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return !(stats.isFile() || stats.isFIFO() || stats.isSocket() || isNullDevice(stats));
  } catch {
    // A process may be started with the stream closed.
    return false;
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
