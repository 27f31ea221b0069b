import type { CredentialPlace } from '../api/contract.ts';
import { UsageError } from '../process/errors.ts';

/** The groups of checks of `smoke`, in the order in which reports show them. */
export const groups = [
  'reach',
  'tls',
  'op',
  'error',
  'lifecycle',
  'auth',
  'latency',
  'expect',
  'write',
] as const;

/** The checks on which all others of a service depend: without these no request can be answered. */
export const gates = ['reach/dns', 'reach/connect', 'tls/valid', 'tls/protocol', 'reach/http'];

export function groupOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}

/** A requirement of an answer, from `--wait-for` or `--expect`. */
export interface Condition {
  /** The text of the flag. */
  readonly text: string;
  /** Path below the base URL, or a URL of the same origin; undefined for the service's first operation. */
  readonly path?: string | undefined;
  readonly header?: { readonly name: string; readonly value: string } | undefined;
  /** Undefined for any 2xx. */
  readonly status?: number | undefined;
  /** Values of the JSON body, by pointer (RFC 6901), compared as text. */
  readonly values: readonly { readonly pointer: string; readonly value: string }[];
}

const forms: Readonly<Record<string, string>> = {
  '--wait-for': "'header x-commit=4f2a9c1', 'GET /version 200' or 'GET /version /commit=4f2a9c1'",
  '--expect': "'GET /health 200 /status=ok'",
};

/**
 * Reads `GET <path> [status] [/pointer=value ...]` and, for `--wait-for`, `header <name>=<value>`.
 *
 * @throws UsageError
 */
export function parseCondition(text: string, flag: string): Condition {
  const wrong = (why: string) => new UsageError(`${flag} '${text}': ${why}`, `write it as ${forms[flag]}`);
  const [, name, value] = /^\s*header\s+([^\s=:]+)\s*=\s*(.*?)\s*$/i.exec(text) ?? [];
  if (name !== undefined && value !== undefined && flag === '--wait-for')
    return { text, header: { name: name.toLowerCase(), value }, values: [] };
  const [, method, path, status, rest = ''] = /^\s*(\S+)\s+(\S+)(?:\s+(\d+))?((?:\s.*)?)$/s.exec(text) ?? [];
  if (method === undefined || path === undefined) throw wrong('must be a method and a path');
  if (method !== 'GET') throw wrong(`the method must be GET, because nothing may be changed`);
  if (!path.startsWith('/') && !/^https?:\/\//.test(path)) throw wrong("the path must begin with '/'");
  if (status !== undefined && !/^[1-5]\d\d$/.test(status)) throw wrong(`${status} is not a status`);
  const values = rest.split(/\s+(?=\/)/).filter((part) => part.trim() !== '');
  return {
    text,
    path,
    status: status === undefined ? undefined : Number(status),
    values: values.map((part) => {
      const [, pointer, value] = /^(\/[^=\s]*)=(.*)$/s.exec(part.trim()) ?? [];
      if (pointer === undefined || value === undefined)
        throw wrong(`'${part.trim()}' is not a JSON pointer and a value, as /status=ok`);
      return { pointer, value };
    }),
  };
}

export const statistics = ['p50', 'p95', 'max'] as const;
/** Milliseconds. */
export type Latency = Readonly<Record<(typeof statistics)[number], number>>;

/** States that are not failures, unless `--fail-on` names them. */
export const softStates = ['warn', 'flaky'] as const;
export type SoftState = (typeof softStates)[number];

/** The selection of checks, and their limits. */
export interface SmokeOptions {
  /** Globs of check ids; no `only` means all. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly failOn: readonly SoftState[];
  /** `all`: an experimental or beta operation that fails is a failure too. */
  readonly stability: 'stable' | 'all';
  /** Timed calls of each GET; undefined if latency is not measured. */
  readonly samples?: number | undefined;
  readonly maxLatency?: { readonly ms: number; readonly statistic: keyof Latency } | undefined;
  /** Fewest days for which the certificate must still be valid. */
  readonly tlsMinDays: number;
  readonly write: boolean;
  /** Least age of records of earlier runs that this run removes first; undefined to remove none. */
  readonly sweepMs?: number | undefined;
  /** How long to wait for the service to come up; 0 to not wait. */
  readonly waitMs: number;
  /** Conditions that end the wait. */
  readonly waitFor: readonly Condition[];
  /** The user's own checks. */
  readonly expect: readonly Condition[];
  /** How often to run, and for how long; only one of the two is set. */
  readonly repeat?: number | undefined;
  readonly forMs?: number | undefined;
  /** From the start of one run to the start of the next. */
  readonly everyMs: number;
  readonly untilFailure: boolean;
  /** Deadline of one request or connection. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** The place of the profile's credential in requests. */
  readonly credentialPlace: CredentialPlace;
}
