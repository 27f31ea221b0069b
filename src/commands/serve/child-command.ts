import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { builtInVariable } from '../../config/contract-file.ts';
import type { Context } from '../../context.ts';
import { type Signal, UsageError } from '../../process/errors.ts';
import { systemReason } from '../../process/system-error.ts';

/** The time in which a command must end after SIGTERM, in milliseconds. */
const graceMs = 12_000;

/**
 * Runs a command with the streams of this process, with PETSTORE_BASE_URL set and without a profile.
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
  // The token, the protection and the binding of a profile belong to another service.
  const { PETSTORE_PROFILE: _, ...env } = io.env;
  const child = spawn(file, words, {
    cwd: io.cwd,
    env: { ...env, PETSTORE_BASE_URL: baseUrl, [builtInVariable]: '1' },
    stdio: 'inherit',
  });
  // Signals stay taken over: a signal right after the end of the command must not interrupt the last save.
  context.interrupts.takeOver((signal) => passSignal(context, signal, child));
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new UsageError(`run ${file}: ${systemReason(error, 'command')}`)));
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** Passes a signal on. Not Ctrl-C in a terminal: it reaches the command directly, and would come twice. */
function passSignal({ io }: Context, signal: Signal, child: ChildProcess): void {
  const isFromTerminal =
    signal === 'SIGINT' && [io.stdin, io.stdout, io.stderr].some((stream) => stream.isTerminal);
  if (!isFromTerminal) child.kill(signal);
  if (signal !== 'SIGINT') setTimeout(() => child.kill('SIGKILL'), graceMs).unref();
}
