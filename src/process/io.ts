import { closeSync, constants, fstatSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadStream, WriteStream } from 'node:tty';
import { withinLimits } from './deadline.ts';
import {
  CliError,
  endSignals,
  interruption,
  OutputClosedError,
  type Signal,
  signalCodes,
  systemCode,
  systemReason,
} from './errors.ts';

interface InputStream {
  readonly isTerminal: boolean;
  /** True once a command has read the stream as its input, so that it cannot have answers to questions. */
  readonly isRead: boolean;
  /** The bytes as they arrive. They can be read only once. */
  bytes(): AsyncIterable<Uint8Array>;
  /** The stream itself, which a prompt library needs. */
  readonly stream: NodeJS.ReadableStream;
}

export interface OutputStream {
  readonly isTerminal: boolean;
  /** The width in columns now, if the stream is a terminal that states it. */
  readonly width: number | undefined;
  /**
   * Resolves when the bytes have been handed over.
   *
   * @throws OutputClosedError if the reader has gone; an interruption if the terminal has gone; CliError `failed` if
   *   they cannot be written, such as on a full disk.
   */
  write(data: string | Uint8Array, options?: WriteOptions): Promise<void>;
}

interface WriteOptions {
  /** True for data and annotations, which are written unchanged even if a CI runner would take them for a command. */
  readonly isRaw?: boolean;
}

/** Everything that the program gets from its process: streams, environment, signals. */
export interface Io {
  readonly stdin: InputStream;
  /** The keyboard of the terminal that the process was started from, even if stdin is a file. */
  keyboard(): NodeJS.ReadableStream | undefined;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** The folder of the installed package. */
  readonly packageDir: string;
  /** Calls the listener at each SIGINT, SIGTERM and SIGHUP (the terminal closed) until released. */
  onSignal(listener: (signal: Signal) => void): () => void;
}

interface ProcessIo extends Io {
  /** The words of the command line after `petstore`. */
  readonly argv: readonly string[];
  /** Ends the process when both streams have written everything; open sockets and timers cannot delay that. */
  flushThenExit(code: number): Promise<never>;
}

/** Returns the streams, the environment and the signals of this process. */
export function processIo(): ProcessIo {
  const stdout = processOutput('stdout', 1, () => process.stdout);
  const stderr = processOutput('stderr', 2, () => process.stderr);
  const env = { ...process.env };
  let stdin: NodeJS.ReadableStream | undefined;
  let terminal: NodeJS.ReadableStream | undefined;
  // If the terminal closes, reads fail, and without a listener that would end the process. The system sends SIGHUP only to
  // some of the terminal's processes.
  const onGone = () => void process.kill(process.pid, 'SIGHUP');
  // glibc waits 10 s for a name server that does not answer, and this process can neither cancel the lookup nor end before it.
  if (!process.execve) process.env.RES_OPTIONS ||= 'timeout:1 attempts:2';
  return {
    stdin: {
      get isTerminal() {
        return process.stdin.isTTY === true;
      },
      get isRead() {
        return process.stdin.readableDidRead;
      },
      bytes: () => process.stdin as AsyncIterable<Uint8Array>,
      get stream() {
        stdin ??= process.stdin.on('error', onGone);
        return stdin;
      },
    },
    keyboard() {
      terminal ??= openTerminal()?.on('error', onGone);
      return terminal;
    },
    stdout,
    stderr,
    env,
    argv: process.argv.slice(2),
    cwd: currentFolder(env),
    platform: process.platform,
    packageDir: join(__dirname, '..'),
    onSignal(listener) {
      for (const name of endSignals) process.on(name, listener);
      return () => {
        for (const name of endSignals) process.off(name, listener);
      };
    },
    async flushThenExit(code) {
      const flush = Promise.all([stdout.flush(), stderr.flush()]);
      await (Object.values<number>(signalCodes).includes(code)
        ? withinLimits({ limitMs: flushPatienceMs }, () => flush).catch(() => {})
        : flush);
      // Node 20 resets the mode of each terminal at the end, and aborts with a native stack if the terminal is gone.
      if (code === signalCodes.SIGHUP)
        for (const descriptor of [0, 1, 2].filter(isDevice)) closeSync(descriptor);
      endProcess(code);
    },
  };
}

/** Returns the current folder, also if it was removed: then relative paths find nothing. */
function currentFolder({ PWD = '/' }: Io['env']): string {
  try {
    return process.cwd();
  } catch {
    return PWD;
  }
}

interface ProcessOutput extends OutputStream {
  /** Resolves when everything written has left the process. */
  flush(): Promise<void>;
}

/** @param open returns Node's stream of the descriptor; called when it is first needed. */
function processOutput(name: string, descriptor: 1 | 2, open: () => WriteStream): ProcessOutput {
  const isTerminalDevice = isDevice(descriptor);
  const direct = openDirect(descriptor);
  let opened: WriteStream | undefined;
  const stream = (): WriteStream => {
    // A failed write rejects its own promise; without a listener the same error would also end the process.
    opened ??= open().on('error', () => {});
    return opened;
  };
  const send = (data: string | Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      const rest = opened ? bytes : bytes.subarray(writeAtOnce(direct, bytes));
      if (rest.length === 0 && !opened) resolve();
      else stream().write(rest, (error) => (error ? reject(error) : resolve()));
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

/** Opens a file or a pipe for writes that never wait. Without them even a short output loads Node's streams and all of node:net. */
function openDirect(descriptor: number): number | undefined {
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFile()) return descriptor;
    // Opened again, because O_NONBLOCK on the inherited descriptor would affect every process that shares it.
    const flags = constants.O_WRONLY | constants.O_NONBLOCK;
    return stats.isFIFO() ? openSync(`/proc/self/fd/${descriptor}`, flags) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes what a file or a pipe takes at once. @returns the number of bytes; 0 for an error, which Node's stream then reports. */
function writeAtOnce(direct: number | undefined, bytes: Uint8Array): number {
  try {
    return direct === undefined ? 0 : writeSync(direct, bytes);
  } catch {
    return 0;
  }
}

/** Returns true if a descriptor leads to a device such as a terminal, but not to the null device. */
function isDevice(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    const isNull = stats.rdev !== 0 && stats.rdev === statSync('/dev/null').rdev;
    return stats.isCharacterDevice() && !isNull;
  } catch {
    // A process may be started with the stream closed.
    return false;
  }
}

function toOutputError(name: string, error: unknown, isDevice: boolean): Error {
  const code = systemCode(error);
  // A terminal that is gone: SIGHUP comes only to some of its processes.
  if (code === 'EIO' && isDevice) return interruption('SIGHUP');
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new OutputClosedError();
  return new CliError('failed', `write to ${name}: ${systemReason(error)}`, { cause: error });
}

/** Ends the process. `process.exit` waits for a name lookup that is under way, but a process that becomes another one does not. */
function endProcess(code: number): never {
  if (process.execve && process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap'))
    process.execve(process.execPath, [process.execPath, '-e', `process.exit(${code})`], {});
  process.exit(code);
}

function openTerminal(): ReadStream | undefined {
  try {
    // Other commands do not need Node's terminals, which load all of node:net.
    return new (process.getBuiltinModule('node:tty').ReadStream)(openSync('/dev/tty', 'r+'));
  } catch {
    return undefined;
  }
}

/** How long a stalled reader may delay the end of an interrupted command, in milliseconds. */
const flushPatienceMs = 300;

/** Returns the version of V8, such as `11.3.244.8-node.38`. */
export function v8Version(): string {
  return process.versions.v8;
}

/** Returns the effective user id, or undefined on Windows. */
export function userId(): number | undefined {
  return process.geteuid?.();
}

/** Returns `node:os`, which most commands do not need, and which takes time to load. */
export function osModule(): typeof import('node:os') {
  return process.getBuiltinModule('node:os');
}

export function processId(): number {
  return process.pid;
}

/** Returns true if a process with this id exists, even if another user owns it. True for a process that has ended and is not reaped. */
export function processExists(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/**
 * Does synchronous work that a signal ends at once, with the process. Listeners would run only after the work. The work must leave
 * no files behind.
 */
export function withDefaultSignals<Value>(work: () => Value): Value {
  const listeners = endSignals.map((name) => [name, process.rawListeners(name)] as const);
  // Without a listener, the default action of the system ends the process.
  for (const name of endSignals) process.removeAllListeners(name);
  try {
    return work();
  } finally {
    for (const [name, list] of listeners)
      for (const listener of list) process.on(name, listener as NodeJS.SignalsListener);
  }
}

/** Lets V8 collect garbage whenever the heap has grown by a third. By default it grows to three or four times the memory in use. */
export async function keepHeapSmall(): Promise<void> {
  (await import('node:v8')).setFlagsFromString('--heap-growing-percent=33');
}
