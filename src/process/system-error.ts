import { CliError, messageOf } from './errors.ts';

/** The activity that failed. A code means one thing for a file and another for a port. */
type Activity = 'file' | 'command' | 'connection' | 'listening';

/** The reasons for people, by the error code of the system. */
const reasons: Readonly<Record<string, { readonly [A in Activity]?: string }>> = {
  EACCES: { command: 'permission denied', listening: 'permission denied' },
  EADDRINUSE: { listening: 'the port is in use' },
  EADDRNOTAVAIL: { listening: 'this machine does not have that address' },
  EAI_AGAIN: { connection: 'cannot be looked up now' },
  ECONNREFUSED: { connection: 'connection refused' },
  EHOSTUNREACH: { connection: 'host not reachable' },
  EISDIR: { file: 'is a folder' },
  ENETUNREACH: { connection: 'host not reachable' },
  ENOENT: { command: 'no such command' },
  ENOTFOUND: { connection: 'no such host', listening: 'that name has no address' },
  ETIMEDOUT: { connection: 'connecting timed out' },
};

/** Returns the code of a system error, such as `ENOENT`. Other errors have none. */
export function systemCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Returns true if the error says that a file, or a folder on its path, does not exist. */
export function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/**
 * Returns the reason of a system error for people. For a code that is not in the table it comes from the message of the system:
 * `ENOSPC: no space left on device, write` becomes `no space left on device`.
 */
export function systemReason(error: unknown, activity: Activity = 'file'): string {
  if (systemCode(error) === 'ERR_ACCESS_DENIED') return deniedReason(error as DeniedError, activity);
  const reason = reasons[systemCode(error) ?? '']?.[activity];
  if (reason !== undefined) return reason;
  const message = messageOf(error);
  return /^[A-Z]+: (.*?)(, \w+.*)?$/s.exec(message)?.[1] ?? message;
}

/** An error of Node's permission model. */
interface DeniedError extends Error {
  readonly permission?: string;
}

const permissionFlags: Readonly<Record<string, string>> = {
  Net: '--allow-net',
  FileSystemRead: '--allow-fs-read',
  FileSystemWrite: '--allow-fs-write',
  ChildProcess: '--allow-child-process',
};

/** @see https://nodejs.org/api/permissions.html */
function deniedReason({ permission }: DeniedError, activity: Activity): string {
  // The error of a connection names no permission.
  const flag = permissionFlags[permission ?? (activity === 'connection' ? 'Net' : '')];
  return `the permissions of this Node do not allow it${flag === undefined ? '' : `: it needs ${flag}`}`;
}

/** Makes the error `<what failed> <path>: <reason>`. */
export function fileError(what: string, path: string, error: unknown, hint?: string): CliError {
  return new CliError('failed', `${what} ${path}: ${systemReason(error)}`, { cause: error, hint });
}
