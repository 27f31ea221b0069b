import { isConnectionHeader, isHttpToken } from '../api/http.ts';
import { parseColumnMap } from '../input/field-columns.ts';
import { integerFrom } from '../input/numbers.ts';
import { formats, type OutputFormat } from '../output/formats.ts';
import { colorModes } from '../output/style.ts';
import { type OwnCode, parseAt, parseChoice, UsageError, ValueError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { didYouMean } from '../process/text.ts';

interface KeyRule {
  readonly summary: string;
  /** Returns the value as the program uses it. @throws ValueError if the text is not valid. */
  parse(text: string): unknown;
  /** The default as text. The value of a key without a default can be undefined. */
  readonly defaultText?: string;
  /** The value of its flag in help, such as `<url>`. */
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  /** True if the value is a path. A relative path is made absolute: see `settings.ts`. */
  readonly isFile?: true;
}

function choiceRule<Word extends string>(
  summary: string,
  choices: readonly Word[],
  placeholder: string,
  defaultText: string,
) {
  return { summary, parse: (text: string) => parseChoice(text, choices), choices, placeholder, defaultText };
}

function switchRule(summary: string, defaultText: 'true' | 'false') {
  const isTrue = (text: string) => parseChoice(text, ['true', 'false']) === 'true';
  return { summary, parse: isTrue, choices: ['true', 'false'], defaultText };
}

function fileRule(summary: string) {
  return { summary, parse: parsePath, placeholder: '<file>', isFile: true } as const;
}

/** The keys of the config file and of a profile. Each also has a variable, and some have a flag. */
const rules = {
  'base-url': { summary: 'address of the service', parse: parseBaseUrl, placeholder: '<url>' },
  output: choiceRule('format of the output', Object.keys(formats) as OutputFormat[], '<format>', 'table'),
  timeout: {
    summary: 'deadline of a call, retries included',
    parse: parseDuration,
    placeholder: '<duration>',
    defaultText: '30s',
  },
  retries: {
    summary: 'maximum number of retries of a request',
    parse: integerFrom(0, 100),
    placeholder: '<n>',
    defaultText: '4',
  },
  concurrency: {
    summary: 'maximum number of requests at a time',
    parse: integerFrom(1, 1024),
    placeholder: '<n>',
    defaultText: '8',
  },
  rate: {
    summary: 'maximum number of requests a second in a run, retries included',
    parse: parseRate,
    placeholder: '<n>',
  },
  color: choiceRule('when to use colour', colorModes, '<when>', 'auto'),
  quiet: switchRule('whether to hide notes and progress on stderr', 'false'),
  'token-file': fileRule('file that holds the token'),
  'token-command': {
    summary: 'command that prints the token, run without a shell',
    parse(text) {
      splitWords(text);
      return text;
    },
  },
  'auth-header': {
    summary: 'header that carries the token',
    parse: parseHeaderName,
    defaultText: 'Authorization',
  },
  'auth-scheme': {
    summary: 'scheme before the token; empty for none',
    parse: parseScheme,
    defaultText: 'Bearer',
  },
  'ca-cert': fileRule('certificate authorities to trust in place of the public ones (PEM)'),
  'client-cert': fileRule('certificate to show to the service (PEM)'),
  'client-key': fileRule('private key of that certificate (PEM)'),
  contract: fileRule('binding of the service, a file that `petstore api bind` writes'),
  'allow-insecure-http': switchRule('whether credentials may go over plain http', 'false'),
  'import-map': {
    summary: 'default of --map: the columns of a file of counts',
    parse(text) {
      parseColumnMap([text]);
      return text;
    },
  },
  tenant: { summary: 'name of this service, if several services share an address', parse: parseName },
  etags: switchRule('whether writes send the ETag of a record as If-Match', 'true'),
  protected: switchRule("whether every write asks for the profile's name", 'false'),
} satisfies Record<string, KeyRule>;

export type SettingKey = keyof typeof rules;

/** The value of each key in the program. */
export type SettingValues = {
  readonly [Key in SettingKey]:
    | ReturnType<(typeof rules)[Key]['parse']>
    | ((typeof rules)[Key] extends { defaultText: string } ? never : undefined);
};

/** The values of the flags for settings: texts, or true for a switch. */
export type KeyFlags = {
  readonly [Key in SettingKey]?: (SettingValues[Key] extends boolean ? boolean | string : string) | undefined;
};

export const keyRules: Readonly<Record<SettingKey, KeyRule>> = rules;

export const settingKeys = Object.keys(keyRules) as SettingKey[];

/** The number of rows that may fail or be unknown before a run stops. It is no setting: `--max-errors` alone changes it. */
export const defaultMaxErrors = 100;

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(keyRules, key);
}

/** The environment variable that sets a key: `PETSTORE_BASE_URL` for `base-url`. */
export function variableName(key: SettingKey): string {
  return `PETSTORE_${key.toUpperCase().replaceAll('-', '_')}`;
}

/** Describes a key for help: its summary and its default. */
export function keySummary(key: SettingKey): string {
  const { summary, defaultText } = keyRules[key];
  return defaultText === undefined ? summary : `${summary} (default: ${defaultText})`;
}

/** Returns the key of this name. @throws UsageError if there is none. */
export function requireKey(key: string): SettingKey {
  if (isSettingKey(key)) return key;
  const ways = 'a token is not stored: set token-file or token-command, or give it in PETSTORE_TOKEN';
  const hint = didYouMean(key, settingKeys) ?? `keys are ${settingKeys.join(', ')}`;
  throw new UsageError(`unknown key '${key}'`, key === 'token' ? ways : hint);
}

/**
 * Parses the text of a setting, from any source.
 *
 * @param label the name of the value in an error, such as `--concurrency`.
 * @throws UsageError if the text is not valid for the key.
 */
export function parseSetting<Key extends SettingKey>(
  key: Key,
  text: string,
  label: string,
  code?: OwnCode,
): SettingValues[Key] {
  const read = () => keyRules[key].parse(text) as SettingValues[Key];
  return parseAt(label, maskValue(key, text), read, code);
}

/** Masks the part of a value of the config file that may be secret: the arguments of a token-command, and the value of an unknown key. */
export function maskValue(key: string, value: JsonValue): JsonValue {
  if (!isSettingKey(key)) return '***';
  if (key !== 'token-command') return value;
  const [name = '', ...rest] = String(value).trim().split(/\s+/);
  return rest.length === 0 ? name : `${name} ***`;
}

const millisecondsPer = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const longestMs = 24 * millisecondsPer.h;

/**
 * Parses a duration of 1 ms to 24 h, such as `500ms`, `30s`, `1.5m`, `1h` or a bare number of seconds.
 *
 * @returns milliseconds.
 * @throws ValueError for any other text.
 */
export function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  if (digits === undefined) throw new ValueError('is not a duration; write it as 500ms, 30s, 2m or 1h');
  const duration = Math.round(
    Number(digits) * millisecondsPer[(unit ?? 's') as keyof typeof millisecondsPer],
  );
  if (duration < 1) throw new ValueError('must be more than 0');
  if (duration > longestMs) throw new ValueError('must be at most 24h');
  return duration;
}

/**
 * Parses a base URL. The result has one spelling: no trailing slash, no default port, the host in lower case.
 *
 * @throws ValueError if it is not an http or https URL, or has a query, a fragment, a user name or a password.
 */
function parseBaseUrl(text: string): string {
  if (!/^https?:\/\//i.test(text)) throw new ValueError('must begin with http:// or https://');
  // The URL parser silently drops line breaks and tabs, which can turn the text into another host.
  if (/[\s\x00-\x1f\x7f\\]/.test(text))
    throw new ValueError('must not contain spaces, controls or backslashes');
  if (!URL.canParse(text)) throw new ValueError('is not a valid URL');
  const url = new URL(text);
  if (url.username || url.password)
    throw new ValueError('must not carry a user name or password; give a token with PETSTORE_TOKEN');
  if (text.includes('?')) throw new ValueError('must not carry a query');
  if (text.includes('#')) throw new ValueError('must not carry a fragment');
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, '');
}

/** Parses requests a second, such as `50` or `50/s`. @throws ValueError for any other text. */
function parseRate(text: string): number {
  const [, digits = ''] = /^(\d{1,9}(?:\.\d{1,9})?)(?:\/s)?$/.exec(text) ?? [];
  if (digits === '' || Number(digits) <= 0 || Number(digits) > 100_000)
    throw new ValueError('must be a number of requests a second, above 0 and at most 100000');
  return Number(digits);
}

/** Checks the name of a profile or a tenant. @throws ValueError if it is not valid. */
export function parseName(text: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u.test(text)) return text;
  throw new ValueError(
    'a name is 1 to 64 letters, digits, dots, dashes, @ and underscores, and begins with a letter or digit',
  );
}

/** Checks the path of a file. @throws ValueError if it is empty. */
function parsePath(text: string): string {
  if (text === '') throw new ValueError('must name a file');
  return text;
}

/** Checks the name of a header that carries a credential. @throws ValueError. @see RFC 9110, 5.1 */
function parseHeaderName(text: string): string {
  if (!isHttpToken(text)) throw new ValueError('is not a header name');
  if (isConnectionHeader(text) || ['accept', 'content-type', 'host'].includes(text.toLowerCase()))
    throw new ValueError('is a header that the connection itself needs');
  return text;
}

/** Checks the word before the token; it is empty for the bare token. @throws ValueError. @see RFC 9110, 11.1 */
function parseScheme(text: string): string {
  if (text !== '' && !isHttpToken(text)) throw new ValueError('must be one word, or empty for none');
  return text;
}

/**
 * Splits a command line into words at blanks outside of quotes. Nothing else is special, because the command runs without a shell.
 *
 * @throws ValueError if a quote is not closed, if there is no word, or for a NUL character.
 */
export function splitWords(text: string): readonly [string, ...string[]] {
  if (text.includes('\0')) throw new ValueError('must not contain a NUL character');
  const quoted = /'([^']*)'|"([^"]*)"/g;
  if (/['"]/.test(text.replace(quoted, ''))) throw new ValueError('has a quote that is not closed');
  const words = text.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const [command, ...args] = words.map((word) => word.replace(quoted, '$1$2'));
  if (!command) throw new ValueError('must name a command');
  return [command, ...args];
}
