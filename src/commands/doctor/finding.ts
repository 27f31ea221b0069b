import { toUnavailable } from '../../client/transport/failure.ts';
import { CliError, type ExitCode, UnavailableError } from '../../errors.ts';
import type { View } from '../../output/columns.ts';

/** In the order in which they are made. */
export const checkNames = [
  'config',
  'environment',
  'permissions',
  'token',
  'dns',
  'connection',
  'tls',
  'service',
  'clock',
] as const;
export type CheckName = (typeof checkNames)[number];

/** What one check found. */
export interface Finding {
  readonly check: CheckName;
  readonly state: 'ok' | 'warn' | 'fail' | 'skip';
  /** What was found, one line. */
  readonly reason: string;
  /** What to do about it. */
  readonly hint: string | null;
}

/** A finding with what the process exits with because of it: 0 but for a failure. */
export interface Verdict {
  readonly finding: Finding;
  readonly exitCode: ExitCode;
}

export const findingsView: View<Finding> = {
  noun: 'checks',
  columns: [
    { name: 'check', value: ({ check }) => check },
    { name: 'state', value: ({ state }) => state, status: true },
    { name: 'reason', value: ({ reason }) => reason },
    { name: 'hint', value: ({ hint }) => hint },
  ],
};

export function ok(check: CheckName, reason: string): Verdict {
  return { finding: { check, state: 'ok', reason, hint: null }, exitCode: 0 };
}

export function skip(check: CheckName, reason: string): Verdict {
  return { finding: { check, state: 'skip', reason, hint: null }, exitCode: 0 };
}

export function warn(check: CheckName, reason: string, hint: string): Verdict {
  return { finding: { check, state: 'warn', reason, hint }, exitCode: 0 };
}

/** A failure from the error that another command would end with; any other error is that of a socket. */
export function fail(check: CheckName, error: unknown): Verdict {
  const found = error instanceof CliError ? error : toUnavailable(error as Error, { sent: false });
  const hint = found.details.hint ?? hintFor(found);
  return { finding: { check, state: 'fail', reason: found.message, hint }, exitCode: found.exitCode };
}

function hintFor(error: CliError): string | null {
  const reason = error instanceof UnavailableError ? error.reason : undefined;
  if (reason === 'dns') return 'is the host of the base URL right?';
  if (reason === 'refused') return 'is the service running, and the port of the base URL right?';
  if (reason === 'timeout') return 'does a firewall, or a proxy that is missing, stand between?';
  return null;
}
