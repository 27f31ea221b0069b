import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { Signal } from '../../io.ts';

/** How long a command may take to end after SIGTERM, in milliseconds. */
const graceMs = 12_000;

/**
 * Runs a command with this process's own streams and PETSTORE_BASE_URL set.
 *
 * @returns its exit code; 128 and the signal's number where a signal ended it.
 * @throws UsageError where it cannot be started.
 */
export function runCommand(context: Context, command: readonly string[], baseUrl: string): Promise<number> {
  const { io } = context;
  const [file = '', ...words] = command;
  const child = spawn(file, words, {
    cwd: io.cwd,
    env: { ...io.env, PETSTORE_BASE_URL: baseUrl },
    stdio: 'inherit',
  });
  // Kept to the end: a signal that comes when the command has just ended must not cut short what is still to be saved.
  context.interrupts.take((signal) => pass(context, signal, child));
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(toStartError(file, error)));
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** A terminal sends Ctrl-C to the command too: passed on, it would arrive twice. */
function pass({ io }: Context, signal: Signal, child: ChildProcess): void {
  const isFromTerminal =
    signal === 'SIGINT' && [io.stdin, io.stdout, io.stderr].some((stream) => stream.isTerminal);
  if (!isFromTerminal) child.kill(signal);
  if (signal === 'SIGTERM') setTimeout(() => child.kill('SIGKILL'), graceMs).unref();
}

function toStartError(file: string, error: NodeJS.ErrnoException): UsageError {
  const reason = error.code === 'ENOENT' ? 'no such command' : error.message;
  return new UsageError(`run ${file}: ${reason}`);
}
