import { CliError, messageOf } from './errors.ts';

/** An error `<what failed> <path>: <reason>` with the system's reason in words. */
export function fileError(what: string, path: string, error: unknown): CliError {
  return new CliError('failed', `${what} ${path}: ${fileErrorReason(error)}`, { cause: error });
}

/** The reason alone: `ENOSPC: no space left on device, write` is `no space left on device`. */
export function fileErrorReason(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === 'EISDIR') return 'is a folder';
  const message = messageOf(error);
  return /^[A-Z]+: (.*?)(, \w+.*)?$/s.exec(message)?.[1] ?? message;
}
