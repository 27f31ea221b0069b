import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';

/** The values of the flags of `serve`. */
interface ServeFlags {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly data?: string | undefined;
  readonly save?: boolean | undefined;
  readonly empty?: boolean | undefined;
  readonly pets?: string | undefined;
  readonly seed?: string | undefined;
  readonly latency?: string | undefined;
  readonly errorRate?: string | undefined;
  readonly rateLimit?: string | undefined;
  readonly sunset?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly log?: boolean | undefined;
  readonly readyFile?: string | undefined;
}

/** The checked options of `serve`. */
export interface ServePlan {
  readonly port: number;
  readonly host: string;
  readonly data: string | undefined;
  readonly save: boolean;
  /** The initial shop, if no file holds one. */
  readonly shop: 'seeded' | 'empty' | { readonly pets: number };
  readonly seed: number;
  readonly faults: {
    readonly latencyMs: number | undefined;
    readonly errorRate: number | undefined;
    readonly ratePerSecond: number | undefined;
  };
  readonly sunset: string | undefined;
  readonly readOnly: boolean;
  readonly log: boolean;
  readonly readyFile: string | undefined;
}

const defaultPort = 4010;
const defaultHost = '127.0.0.1';
const mostPets = 10_000_000;

/** @throws UsageError that names the flag. */
export function toServePlan(flags: ServeFlags): ServePlan {
  if (flags.save && flags.data === undefined)
    throw new UsageError('--save: there is no file to save to', 'name it with --data <file>');
  if (flags.empty && flags.pets !== undefined) throw new UsageError('--empty and --pets: give one of them');
  if (flags.data !== undefined && !flags.save && (flags.empty || flags.pets !== undefined))
    throw new UsageError(
      `--data and --${flags.empty ? 'empty' : 'pets'}: give only one of them, because the file holds the shop`,
      'to create a new file with it, add --save',
    );
  if (
    flags.data !== undefined &&
    flags.readyFile !== undefined &&
    resolve(flags.data) === resolve(flags.readyFile)
  )
    throw new UsageError('--data and --ready-file: name the same file');
  const pets = toNumber('--pets', flags.pets, { integer: true, to: mostPets });
  return {
    port: toNumber('--port', flags.port, { integer: true, to: 65_535 }) ?? defaultPort,
    host: toHost(flags.host),
    data: flags.data,
    save: flags.save === true,
    shop: pets !== undefined ? { pets } : flags.empty ? 'empty' : 'seeded',
    seed: toNumber('--seed', flags.seed, { integer: true, to: 2 ** 32 - 1 }) ?? 1,
    faults: {
      latencyMs: toNumber('--latency', flags.latency, { to: 60_000 }),
      errorRate: toNumber('--error-rate', flags.errorRate, { to: 1 }),
      ratePerSecond: toRate(flags.rateLimit),
    },
    sunset: toDate(flags.sunset),
    readOnly: flags.readOnly === true,
    log: flags.log === true,
    readyFile: flags.readyFile,
  };
}

interface Range {
  readonly integer?: true;
  readonly to: number;
}

function toNumber(flag: string, text: string | undefined, { integer, to }: Range): number | undefined {
  if (text === undefined) return undefined;
  const value =
    (integer ? /^\d{1,10}$/ : /^\d{0,10}(\.\d{1,10})?$/).test(text) && text !== ''
      ? Number(text)
      : Number.NaN;
  if (value <= to) return value;
  throw new UsageError(`${flag} ${text}: must be ${integer ? 'an integer' : 'a number'} from 0 to ${to}`);
}

function toRate(text: string | undefined): number | undefined {
  const rate = toNumber('--rate-limit', text?.replace(/(?<=\d)\/s$/, ''), { to: 1_000_000 });
  if (rate === 0) throw new UsageError('--rate-limit 0: must be more than 0 requests a second');
  return rate;
}

function toHost(text: string | undefined): string {
  const host = text?.replace(/^\[(.*)\]$/, '$1') ?? defaultHost;
  if (!/^[\w.:-]+$/.test(host))
    throw new UsageError(`--host ${text}: must be an address or a name, without a port`);
  return host;
}

function toDate(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const date = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  if (date && date.toString() !== 'Invalid Date' && date.toISOString().startsWith(text)) return text;
  throw new UsageError(`--sunset ${text}: must be a date, YYYY-MM-DD`);
}
