import type { GlobalFlags } from '../context.ts';
import { type ColorMode, colorModes, type OutputFormat, outputFormats } from './choices.ts';
import * as parse from './values.ts';

/** Every key that the config file and a profile may hold, as the program uses its value. */
export interface SettingValues {
  'base-url': string | undefined;
  output: OutputFormat;
  /** Milliseconds. */
  timeout: number;
  retries: number;
  concurrency: number;
  /** Requests a second; undefined for no limit. */
  rate: number | undefined;
  color: ColorMode;
  /** Absolute path. */
  'token-file': string | undefined;
  'token-command': string | undefined;
  'auth-header': string;
  /** Empty for the bare token. */
  'auth-scheme': string;
  /** Absolute path, as the two below. */
  'ca-cert': string | undefined;
  'client-cert': string | undefined;
  'client-key': string | undefined;
  protected: boolean;
}
export type SettingKey = keyof SettingValues;

interface KeyRule<Value> {
  readonly summary: string;
  /** @throws ValueError */
  parse(text: string): Value;
  /** What the value is where nothing else says so, as text; undefined for none. */
  readonly fallback?: string;
  /** The flag of every command that sets it. */
  readonly flag?: keyof GlobalFlags;
  /** The environment variable that sets it. */
  readonly variable?: string;
  readonly choices?: readonly string[];
  /** A file: relative to the folder of whoever names it. */
  readonly isFile?: true;
}

/** What each key is, which values it takes and where else it may be given. */
export const keyRules: { readonly [Key in SettingKey]: KeyRule<Exclude<SettingValues[Key], undefined>> } = {
  'base-url': {
    summary: 'address of the service',
    parse: parse.parseBaseUrl,
    flag: 'baseUrl',
    variable: 'PETSTORE_BASE_URL',
  },
  output: {
    summary: 'format of the output',
    parse: (text) => parse.parseChoice(text, outputFormats),
    fallback: 'table',
    flag: 'output',
    variable: 'PETSTORE_OUTPUT',
    choices: outputFormats,
  },
  timeout: {
    summary: 'deadline of a whole call, retries included',
    parse: parse.parseDuration,
    fallback: '30s',
    flag: 'timeout',
  },
  retries: {
    summary: 'how often a request is retried at most',
    parse: (text) => parse.parseInteger(text, 0, 100),
    fallback: '4',
    flag: 'retries',
  },
  concurrency: {
    summary: 'requests in flight at a time, in bulk work',
    parse: (text) => parse.parseInteger(text, 1, 1024),
    fallback: '8',
    flag: 'concurrency',
  },
  rate: { summary: 'requests a second at most, in bulk work', parse: parse.parseRate, flag: 'rate' },
  color: {
    summary: 'when to use colour',
    parse: (text) => parse.parseChoice(text, colorModes),
    fallback: 'auto',
    flag: 'color',
    choices: colorModes,
  },
  'token-file': {
    summary: 'file that holds the token',
    parse: parse.parsePath,
    variable: 'PETSTORE_TOKEN_FILE',
    isFile: true,
  },
  'token-command': {
    summary: 'command that prints the token, run without a shell',
    parse: (text) => parse.splitWords(text) && text,
  },
  'auth-header': {
    summary: 'header that carries the token',
    parse: parse.parseFieldName,
    fallback: 'Authorization',
  },
  'auth-scheme': {
    summary: 'word before the token; empty for the bare token',
    parse: parse.parseScheme,
    fallback: 'Bearer',
  },
  'ca-cert': {
    summary: 'authorities to trust too (PEM)',
    parse: parse.parsePath,
    flag: 'caCert',
    isFile: true,
  },
  'client-cert': {
    summary: 'certificate to show to the service (PEM)',
    parse: parse.parsePath,
    flag: 'clientCert',
    isFile: true,
  },
  'client-key': {
    summary: 'private key of that certificate (PEM)',
    parse: parse.parsePath,
    flag: 'clientKey',
    isFile: true,
  },
  protected: {
    summary: "whether every write asks for the profile's name",
    parse: (text) => parse.parseChoice(text, ['true', 'false']) === 'true',
    fallback: 'false',
    choices: ['true', 'false'],
  },
};

export const settingKeys = Object.keys(keyRules) as SettingKey[];

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(keyRules, key);
}

/** Why a key may not have a value, a clause; undefined where it may. */
export function valueProblem(key: SettingKey, text: string): string | undefined {
  try {
    keyRules[key].parse(text);
    return undefined;
  } catch (error) {
    if (error instanceof parse.ValueError) return error.message;
    throw error;
  }
}
