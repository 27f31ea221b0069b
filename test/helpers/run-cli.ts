import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { main } from '../../src/main.ts';
import type { Signal } from '../../src/process/errors.ts';
import type { Io, OutputStream } from '../../src/process/io.ts';
import { withoutFiles } from './environment.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The current folder by default, so that no test writes into the project. */
const emptyFolder = temporaryFolder();

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  /** Added to `withoutFiles`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Streams that are terminals, by default with 80 columns. */
  readonly terminals?: readonly ('stdin' | 'stdout' | 'stderr')[];
  readonly columns?: number;
  readonly cwd?: string;
}

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run that printed nothing but this on stderr, a part of it. */
export function failed(code: number, stderr: string | RegExp): Run {
  const text = typeof stderr === 'string' ? expect.stringContaining(stderr) : expect.stringMatching(stderr);
  return { code, stdout: '', stderr: text };
}

/** A command line: a list of words, or the words with single spaces between them. */
export type Line = string | readonly string[];

export function wordsOf(line: Line): readonly string[] {
  return typeof line === 'string' ? line.split(' ') : line;
}

/** Runs the program against a server. @see runCli */
export function runAt({ url }: { readonly url: string }, line: Line, options?: RunOptions): Promise<Run> {
  return runCli([...wordsOf(line), '--base-url', url], options);
}

export type Runner = (line: Line, options?: RunOptions) => Promise<Run>;

/** Returns a function that runs the program with these options and, for each line, further ones. */
export function runnerWith(shared: RunOptions): Runner {
  return (line, options = {}) =>
    runCli(line, { ...shared, ...options, env: { ...shared.env, ...options.env } });
}

/** Runs the whole program in this process, with streams that the test reads. */
export async function runCli(line: Line, options: RunOptions = {}): Promise<Run> {
  const io = fakeIo(options);
  const code = await main(wordsOf(line), io);
  return { code, stdout: io.written('stdout'), stderr: io.written('stderr') };
}

export interface FakeIo extends Io {
  written(name: 'stdout' | 'stderr'): string;
  raise(signal: Signal): void;
}

export function fakeIo(options: RunOptions = {}): FakeIo {
  const listeners = new Set<(signal: Signal) => void>();
  const written = { stdout: '', stderr: '' };
  const isTerminal = (name: 'stdin' | 'stdout' | 'stderr') => options.terminals?.includes(name) ?? false;
  const output = (name: 'stdout' | 'stderr'): OutputStream => {
    const write = async (data: string | Uint8Array) => {
      written[name] += typeof data === 'string' ? data : Buffer.from(data).toString();
    };
    const width = isTerminal(name) ? (options.columns ?? 80) : undefined;
    return { isTerminal: isTerminal(name), width, write };
  };
  const stream = Readable.from([Buffer.from(options.stdin ?? '')]);
  const stdin: Io['stdin'] = { isTerminal: isTerminal('stdin'), isRead: false, bytes: () => stream, stream };
  return {
    stdin,
    keyboard: () => undefined,
    stdout: output('stdout'),
    stderr: output('stderr'),
    env: { ...withoutFiles, ...options.env },
    cwd: options.cwd ?? emptyFolder,
    platform: 'linux',
    packageDir: process.cwd(),
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    written: (name) => written[name],
    raise(signal) {
      for (const listener of listeners) listener(signal);
    },
  };
}
