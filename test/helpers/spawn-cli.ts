import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { vi } from 'vitest';
import { withoutFiles } from './environment.ts';

/** Options of the built program as a child process. It runs on the Node that PETSTORE_TEST_NODE names, or on this Node. */
interface SpawnOptions {
  readonly stdin?: string;
  /** Added to PATH and `withoutFiles`. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The path of another copy of the program. */
  readonly cli?: string;
}

export interface Outcome {
  /** Null if a signal ended the process. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

export const nodeBinary = process.env.PETSTORE_TEST_NODE ?? process.execPath;
export const cliPath = `${process.cwd()}/bin/petstore.js`;

/** Starts the program; its streams are pipes. */
export function startCli(
  argv: readonly string[],
  { env, cwd, cli = cliPath }: SpawnOptions = {},
): ChildProcess {
  return spawn(nodeBinary, [cli, ...argv], { cwd, env: { PATH: process.env.PATH, ...withoutFiles, ...env } });
}

/** Runs the program to its end. */
export function spawnCli(argv: readonly string[], options: SpawnOptions = {}): Promise<Outcome> {
  const started = performance.now();
  const child = startCli(argv, options);
  // A program that has ended does not read its stdin.
  child.stdin?.on('error', () => {});
  child.stdin?.end(options.stdin ?? '');
  return outcomeOf(child, started);
}

/** Waits for the end of a started program, and returns its exit code and its output. */
export function outcomeOf(child: ChildProcess, started = performance.now()): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr, milliseconds: performance.now() - started }));
  });
}

/** Waits until the program handles SIGHUP, as /proc of Linux shows. Before that, a signal ends it. */
export function handlesSignals({ pid }: ChildProcess): Promise<boolean> {
  const caughtSignals = () =>
    /SigCgt:\s*([0-9a-f]+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return vi.waitUntil(() => (BigInt(`0x${caughtSignals()}`) & 1n) === 1n, { timeout: 100_000 });
}
