import { fstatSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadStream, WriteStream } from 'node:tty';
import { CliError, OutputClosedError } from './errors.ts';

export type Signal = 'SIGINT' | 'SIGTERM';

export interface InputStream {
  readonly isTerminal: boolean;
  /** The bytes as they come; may be read once. */
  bytes(): AsyncIterable<Uint8Array>;
  /** For a prompt library that wants the stream itself. */
  readonly stream: NodeJS.ReadableStream;
}

export interface OutputStream {
  readonly isTerminal: boolean;
  /** A file on disk: nobody reads along. */
  readonly isFile: boolean;
  /** Width in columns now; undefined where the stream is no terminal. */
  readonly columns: number | undefined;
  /**
   * Resolves when the bytes have been handed over.
   *
   * @throws OutputClosedError when the reader has gone; CliError `failed` when they cannot be written (a full disk).
   */
  write(data: string | Uint8Array): Promise<void>;
  readonly stream: NodeJS.WritableStream;
}

/** All that the program knows of its process. */
export interface Io {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  /** The folder of the installed package. */
  readonly packageDir: string;
  /** Calls the listener at each SIGINT and SIGTERM until released. */
  onSignal(listener: (signal: Signal) => void): () => void;
}

/** The real process. */
export function processIo(): Io {
  return {
    stdin: {
      get isTerminal() {
        return process.stdin.isTTY === true;
      },
      bytes: () => process.stdin as AsyncIterable<Uint8Array>,
      get stream() {
        return process.stdin;
      },
    },
    stdout: outputStream('stdout', () => process.stdout),
    stderr: outputStream('stderr', () => process.stderr),
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    pid: process.pid,
    packageDir: join(__dirname, '..'),
    onSignal(listener) {
      process.on('SIGINT', listener);
      process.on('SIGTERM', listener);
      return () => {
        process.off('SIGINT', listener);
        process.off('SIGTERM', listener);
      };
    },
  };
}

/** The words of the command line after `petstore`. */
export function processArgv(): string[] {
  return process.argv.slice(2);
}

export function processId(): number {
  return process.pid;
}

/** Whether a process with this id can be signalled, or belongs to somebody else: also true of one that ended unreaped. */
export function processExists(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The same stream with a `write` of its own; nothing is asked of the stream before it is used, for a terminal costs time. */
export function withWrite(output: OutputStream, write: OutputStream['write']): OutputStream {
  return {
    get isTerminal() {
      return output.isTerminal;
    },
    get isFile() {
      return output.isFile;
    },
    get columns() {
      return output.columns;
    },
    get stream() {
      return output.stream;
    },
    write,
  };
}

/** Ends the process when both streams have handed over what they hold: a late socket or timer cannot keep it. */
export async function flushThenExit(code: number): Promise<never> {
  await Promise.all([flush(process.stdout), flush(process.stderr)]);
  process.exit(code);
}

function outputStream(name: string, stream: () => WriteStream): OutputStream {
  let guarded = false;
  const open = (): WriteStream => {
    const opened = stream();
    // A failed write rejects its own promise; without a listener the same error would end the process too.
    if (!guarded) opened.on('error', () => {});
    guarded = true;
    return opened;
  };
  return {
    get isTerminal() {
      return stream().isTTY === true;
    },
    get isFile() {
      return isRegularFile(name === 'stdout' ? 1 : 2);
    },
    get columns() {
      return stream().columns;
    },
    get stream() {
      return open();
    },
    write: (data) =>
      new Promise((resolve, reject) => {
        open().write(data, (error) => (error ? reject(toOutputError(name, error)) : resolve()));
      }),
  };
}

function isRegularFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    // A process may be started with the stream closed.
    return false;
  }
}

function toOutputError(name: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return new OutputClosedError();
  return new CliError('failed', `write to ${name}: ${error.message}`, {
    cause: error,
  });
}

function flush(stream: WriteStream | ReadStream): Promise<void> {
  if (stream.destroyed || !(stream as WriteStream).writable) return Promise.resolve();
  return new Promise((resolve) => (stream as WriteStream).write('', () => resolve()));
}
