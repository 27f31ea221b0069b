import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadStream } from 'node:tty';
import { withinLimits } from './deadline.ts';
import { exitCodes, type Signal, systemCode } from './errors.ts';
import { isDevice, type OutputStream, processOutput } from './output-stream.ts';

interface InputStream {
  readonly isTerminal: boolean;
  /** True once a command has read the stream as its input, so that it cannot have answers to questions. */
  readonly isRead: boolean;
  /** The bytes as they arrive. They can be read only once. */
  bytes(): AsyncIterable<Uint8Array>;
  /** The stream itself, which a prompt library needs. */
  readonly stream: NodeJS.ReadableStream;
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
  /** Masks the secrets in a text. Call it before you cut or wrap a text; all other text is masked when it is written. */
  mask(text: string): string;
  /** Calls the listener at each SIGINT, SIGTERM and SIGHUP (the terminal closed) until released. */
  onSignal(listener: (signal: Signal) => void): () => void;
}

interface ProcessIo extends Io {
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
  let hasHungUp = false;
  // If the terminal closes, reads fail, and without a listener that would end the process. The system sends SIGHUP only to
  // some of the terminal's processes.
  const onGone = () => void setTimeout(() => hasHungUp || process.kill(process.pid, 'SIGHUP'), hangupMs);
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
    cwd: process.cwd(),
    platform: process.platform,
    packageDir: join(__dirname, '..'),
    mask: (text) => text,
    onSignal(listener) {
      const onHangup = () => {
        hasHungUp = true;
        listener('SIGHUP');
      };
      process.on('SIGINT', listener).on('SIGTERM', listener).on('SIGHUP', onHangup);
      return () => {
        // A closing terminal sends SIGHUP more than once. Without a listener, the second SIGHUP would kill the process with
        // code 129 while it ends.
        process.on('SIGHUP', () => {
          hasHungUp = true;
          setTimeout(() => process.exit(exitCodes['hung-up']), patienceMs);
        });
        process.off('SIGINT', listener).off('SIGTERM', listener).off('SIGHUP', onHangup);
      };
    },
    async flushThenExit(code) {
      const flush = Promise.all([stdout.flush(), stderr.flush()]);
      const isInterrupted =
        code === exitCodes.interrupted || code === exitCodes.terminated || code === exitCodes['hung-up'];
      await (isInterrupted ? withinLimits({ limitMs: patienceMs }, () => flush).catch(() => {}) : flush);
      closeGoneTerminals(hasHungUp);
      endProcess(code);
    },
  };
}

/** Ends the process. `process.exit` waits for a name lookup that is under way, but a process that becomes another one does not. */
function endProcess(code: number): never {
  if (process.execve && process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap'))
    process.execve(process.execPath, [process.execPath, '-e', `process.exit(${code})`], {});
  process.exit(code);
}

/** Loads Node's terminals, which load all of node:net. A command that writes to a file does not need them. */
function terminals(): typeof import('node:tty') {
  return process.getBuiltinModule('node:tty');
}

function openTerminal(): ReadStream | undefined {
  try {
    return new (terminals().ReadStream)(openSync('/dev/tty', 'r+'));
  } catch {
    return undefined;
  }
}

/**
 * Closes the standard streams whose terminal is gone. Node 20 resets the mode of each terminal at the end, and aborts
 * with a native stack if that fails; it leaves out a closed descriptor.
 *
 * @param all true after a hang-up: then the terminals will be gone in a moment.
 */
function closeGoneTerminals(all: boolean): void {
  const devices = [0, 1, 2].filter(isDevice);
  for (const descriptor of devices) if (all || !terminals().isatty(descriptor)) closeSync(descriptor);
}

/** How long the system's own SIGHUP may take after a terminal has gone, in milliseconds. */
const hangupMs = 100;

/** How long a stalled reader may delay the end of an interrupted command, in milliseconds. */
const patienceMs = 300;

/** Returns the words of the command line after `petstore`. */
export function processArgv(): string[] {
  return process.argv.slice(2);
}

/** Returns the version of V8, such as `11.3.244.8-node.38`. */
export function v8Version(): string {
  return process.versions.v8;
}

/** Returns the effective user id, or undefined on Windows. */
export function userId(): number | undefined {
  return process.geteuid?.();
}

export function processId(): number {
  return process.pid;
}

/**
 * Returns true if a process with this id exists, even if another user owns it. True for a process that has ended and is not reaped.
 */
export function processExists(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does synchronous work that a signal ends at once, with the process. Listeners would run only after the work. The work must leave
 * no files behind.
 */
export function whileKillable<Value>(work: () => Value): Value {
  const listeners = endingSignals.map((name) => [name, process.rawListeners(name)] as const);
  // Without a listener, the default action of the system ends the process.
  for (const name of endingSignals) process.removeAllListeners(name);
  try {
    return work();
  } finally {
    for (const [name, list] of listeners)
      for (const listener of list) process.on(name, listener as NodeJS.SignalsListener);
  }
}
