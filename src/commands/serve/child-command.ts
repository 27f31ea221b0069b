import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { builtInVariable } from '../../config/contract-file.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../process/errors.ts';
import type { Signal } from '../../process/io.ts';
import { systemReason } from '../../process/system-error.ts';

/** How long a command may take to end after SIGTERM, in milliseconds. */
const graceMs = 12_000;

/**
 * Runs a command with this process's own streams, with PETSTORE_BASE_URL set and without a profile.
 *
 * @returns its exit code; 128 plus the signal's number if a signal ended it.
 * @throws UsageError if it cannot be started.
 */
export async function runChildCommand(
  context: Context,
  command: readonly string[],
  baseUrl: string,
): Promise<number> {
  const { io } = context;
  const [file = '', ...words] = command;
  if (file === '') throw new UsageError('run: the command after -- is empty');
  // A profile's token and protection belong to another service, and so does what is bound to this address.
  const { PETSTORE_PROFILE: _, ...env } = io.env;
  const child = spawn(file, words, {
    cwd: io.cwd,
    env: { ...env, PETSTORE_BASE_URL: baseUrl, [builtInVariable]: '1' },
    stdio: 'inherit',
  });
  // Never released: a signal right after the command has ended must not interrupt the last save.
  context.interrupts.takeOver((signal) => pass(context, signal, child));
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new UsageError(`run ${file}: ${systemReason(error, 'command')}`)));
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** In a terminal, Ctrl-C reaches the command directly; passing it on would deliver it twice. */
function pass({ io }: Context, signal: Signal, child: ChildProcess): void {
  const isFromTerminal =
    signal === 'SIGINT' && [io.stdin, io.stdout, io.stderr].some((stream) => stream.isTerminal);
  if (!isFromTerminal) child.kill(signal);
  if (signal !== 'SIGINT') setTimeout(() => child.kill('SIGKILL'), graceMs).unref();
}
