import { getSystemErrorMap } from 'node:util';
import { ExactNumber } from './exact-json.ts';
import { choicesText, shorten } from './text.ts';

/** The exit codes. Scripts rely on them, and `petstore help exit-codes` lists them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  partial: 3,
  auth: 4,
  'not-found': 5,
  unavailable: 6,
  'check-failed': 7,
  differs: 8,
  interrupted: 130,
} as const;

/** The exit codes of the signals that end a command. */
export const signalCodes = { SIGHUP: 129, SIGINT: exitCodes.interrupted, SIGTERM: 143 } as const;
/** The signals that end a command. */
export const endSignals = Object.keys(signalCodes) as (keyof typeof signalCodes)[];

/** The signals that end a command. SIGHUP: the terminal was closed. */
export type Signal = keyof typeof signalCodes;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes] | (typeof signalCodes)[Signal];

/** The kinds of errors. `done` and `differs` are not errors. */
export type ErrorKind = Exclude<keyof typeof exitCodes, 'done' | 'differs'>;

/** Why there is no valid answer. */
export type NoAnswer =
  | 'connection-refused'
  | 'dns'
  | 'tls'
  | 'proxy'
  | 'timeout'
  | 'reset'
  | 'redirect'
  | 'invalid-response';

/**
 * The sender of an answer with an error status, by its body:
 *
 * - `service`: JSON, or what the description states for this answer, so the service itself has answered;
 * - `gateway`: HTML or other text, so a gateway before the service may have answered;
 * - `unknown`: the body is empty.
 */
export type Sender = 'service' | 'gateway' | 'unknown';

export interface ErrorDetails {
  /** A remedy that the user can apply, one sentence. */
  readonly hint?: string | undefined;
  /** The service's own error code, such as `not_found`; for an error of this program an `OwnCode`. */
  readonly code?: string | undefined;
  /** The service's own message, if it sent one. JSON output has it instead of the message for people. */
  readonly serviceMessage?: string | undefined;
  /** Why there is no valid answer, if that is the error. */
  readonly noAnswer?: NoAnswer | undefined;
  readonly sender?: Sender | undefined;
  /** The HTTP status, if there is a response. */
  readonly status?: number | undefined;
  readonly method?: string | undefined;
  /** The masked URL: without credentials; for the embedded store the path alone. */
  readonly url?: string | undefined;
  /** How often the request was sent. For a write, failed readings count too. */
  readonly attempts?: number | undefined;
  /** The Retry-After of the last answer, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** True if the same command can safely be run again and may then succeed. */
  readonly retryable?: boolean | undefined;
  /** The service's id of the request: `request-id`, `x-request-id`, `x-correlation-id` or `traceparent`. */
  readonly requestId?: string | undefined;
  /** The signal that ended the command. */
  readonly signal?: Signal | undefined;
  /** True if a write may have been applied. The output says so in a clause of its own, and messages leave it out. */
  readonly isPerhapsApplied?: boolean | undefined;
  readonly cause?: unknown;
}

/**
 * An error with a kind, which determines the exit code. The message says what is wrong, in the terms of the user; the request is in the
 * details, and the output adds it. The message may contain control characters of foreign text, because the output makes them visible.
 */
export class CliError extends Error {
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.kind = kind;
    this.details = details;
  }

  /** Returns this error with further details, which replace details of the same name, and perhaps with another message. */
  with(details: ErrorDetails, message = this.message): CliError {
    return new CliError(this.kind, message, { ...this.details, ...details });
  }

  get exitCode(): ExitCode {
    const { signal } = this.details;
    return signal ? signalCodes[signal] : exitCodes[this.kind];
  }
}

/**
 * The code of an error that this program finds itself. Scripts rely on it: JSON output has it. `petstore help exit-codes` lists
 * the codes.
 */
export type OwnCode =
  /** A flag or an argument of the command line. */
  | 'invalid_flag'
  /** A file, stdin, a variable of the environment or the config. */
  | 'invalid_input'
  /** Neither a base URL nor --offline. */
  | 'no_target'
  /** A confirmation is needed, and the question cannot be asked. */
  | 'confirmation_needed'
  | 'declined'
  /** A limit such as --max-delta stopped the run. */
  | 'guard'
  /** The run was made with another profile, which may be another service. */
  | 'other_profile'
  /** Another run of the delivery is not finished. */
  | 'unfinished_delivery'
  /** A run that creates records from the same input is not finished. */
  | 'unfinished_run'
  /** Another process holds the lock. */
  | 'locked'
  /** The service lacks an operation, a parameter or a field, or the binding does not have it; or a list may be cut. */
  | 'unbound'
  /** A secret would go over plain http. */
  | 'insecure'
  | 'file_exists';

/** A bad flag, argument, config or input file, or a guard that stopped the run. Nothing was written to the service. */
export class UsageError extends CliError {
  constructor(message: string, hint?: string, code: OwnCode = 'invalid_flag') {
    super('usage', message, { hint, code });
  }
}

interface ValueErrorDetails extends Pick<ErrorDetails, 'hint'> {
  /** Errors with the same rule are reported together. By default the message, which then has no value in it. */
  readonly rule?: string;
  readonly code?: OwnCode | undefined;
}

/**
 * A value or a record of an input is not valid. The message is a clause such as `must be true or false`, until `parseAt` puts the
 * place and the value before it.
 */
export class ValueError extends UsageError {
  readonly rule: string;

  constructor(message: string, { hint, rule = message, code }: ValueErrorDetails = {}) {
    super(message, hint, code);
    this.rule = rule;
  }
}

/**
 * Parses a value. An error names its place, and the value unless it may be a URL with a secret.
 *
 * @param place the flag, variable or column of the value: `--timeout`, `PETSTORE_OUTPUT`, `quantity`.
 * @throws ValueError `--timeout '0': must be more than 0`.
 */
export function parseAt<Value>(place: string, value: unknown, parse: () => Value, code?: OwnCode): Value {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const { message, details, rule } = error;
    const { hint } = details;
    const isShort = typeof value !== 'object' || value instanceof ExactNumber;
    const valueText = isShort && !/[@?]/.test(String(value)) ? ` ${quoteValue(value)}` : '';
    throw new ValueError(`${place}${valueText}: ${message}`, { hint, rule: `${place} ${rule}`, code });
  }
}

/** Parses one of a few words. @throws ValueError for any other text. */
export function parseChoice<Choice extends string>(text: string, choices: readonly Choice[]): Choice {
  const match = choices.find((choice) => choice === text);
  if (match === undefined) throw new ValueError(`must be one of ${choicesText(choices)}`);
  return match;
}

/** Quotes a text, and cuts a long value. */
export function quoteValue(value: unknown): string {
  const text = shorten(String(value), 80);
  return typeof value === 'string' ? `'${text}'` : text;
}

/** A file, stdin, a variable of the environment or the config is not valid. */
export class InputError extends UsageError {
  constructor(message: string, hint?: string) {
    super(message, hint, 'invalid_input');
  }
}

/** A command on many records failed for some of them (exit 3), or for all of them for one reason (exit code of that reason). */
export class ManyError extends CliError {
  readonly errors: readonly CliError[];

  constructor(message: string, errors: readonly CliError[], succeeded: number, details: ErrorDetails = {}) {
    super(kindOfMany(errors, succeeded), message, details);
    this.errors = errors;
  }
}

/** Joins the errors of several items, if there are any. The error of a single item stays as it is. */
export function joinErrors(errors: readonly CliError[], total: number, unit: string): CliError | undefined {
  const [first] = errors;
  if (first === undefined || total === 1) return first;
  const isPerhapsApplied = errors.some(({ details }) => details.isPerhapsApplied);
  const end = !isPerhapsApplied
    ? 'failed'
    : errors.length === 1
      ? 'failed or is unknown'
      : 'failed or are unknown';
  const signal = errors.find(isInterruption)?.details.signal;
  return new ManyError(`${errors.length} of ${total} ${unit} ${end}`, errors, total - errors.length, {
    isPerhapsApplied,
    signal,
  });
}

/** Makes the error of work that a signal has ended, or Ctrl-C at a prompt. The stop of a run ends work without a signal. */
export function interruption(signal?: Signal, message = 'interrupted'): CliError {
  return new CliError('interrupted', message, { signal });
}

export function isInterruption(error: unknown): error is CliError & { readonly kind: 'interrupted' } {
  return error instanceof CliError && error.kind === 'interrupted';
}

/** The reader of stdout or stderr closed it (EPIPE); this is not a failure. */
export class OutputClosedError extends Error {}

/** Returns the message of an Error, or any other thrown value as text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function kindOfMany(errors: readonly CliError[], succeeded: number): ErrorKind {
  if (errors.some(isInterruption)) return 'interrupted';
  const kinds = new Set(errors.map((error) => error.kind));
  const [only] = kinds;
  return succeeded === 0 && kinds.size === 1 && only !== undefined ? only : 'partial';
}

/** Returns the code of a system error, such as `ENOENT`. Other errors have none. */
export function systemCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Returns true if the error says that a file, or a folder on its path, does not exist. */
export function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Returns the reason of a system error for people, such as `no space left on device`. */
export function systemReason(error: unknown): string {
  const { code, errno = 0, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND') return 'no such host';
  if (code === 'EAI_AGAIN') return 'the name cannot be looked up now';
  if (code === 'ENOENT' && syscall?.startsWith('spawn')) return 'no such command';
  return getSystemErrorMap().get(errno)?.[1] ?? messageOf(error);
}

/** Makes the error `<what failed> <path>: <reason>`. */
export function fileError(what: string, path: string, error: unknown, hint?: string): CliError {
  return new CliError('failed', `${what} ${path}: ${systemReason(error)}`, { cause: error, hint });
}
