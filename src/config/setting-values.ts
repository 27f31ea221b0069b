import { isToken } from '../api/http.ts';
import { toQuantity } from '../api/values.ts';
import { ValueError } from '../process/errors.ts';

/** Values of `--output` and of the setting `output`. */
export const outputFormats = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'ids'] as const;
export type OutputFormat = (typeof outputFormats)[number];

const millisecondsPer = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const longestMs = 24 * millisecondsPer.h;

/**
 * Parses a duration of 1 ms to 24 h, such as `500ms`, `30s`, `1.5m`, `1h` or a bare number of seconds.
 *
 * @returns milliseconds.
 * @throws ValueError.
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
export function parseBaseUrl(text: string): string {
  if (!/^https?:\/\//i.test(text)) {
    const scheme = /^(localhost|127\.|\[::1\])/.test(text) ? 'http' : 'https';
    const example = /^[\w.[\]:-]+(\/(?!\/)|$)/.test(text) ? `, as in ${scheme}://${text}` : '';
    throw new ValueError(`must begin with http:// or https://${example}`);
  }
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

export function isBaseUrl(text: string): boolean {
  try {
    return parseBaseUrl(text) !== '';
  } catch {
    return false;
  }
}

/** Parses a whole number. @throws ValueError if it is less than `least` or more than `most`. */
export function parseInteger(text: string, least: number, most: number): number {
  const number = toQuantity(text);
  if (number === undefined || number < least || number > most)
    throw new ValueError(`must be a whole number from ${least} to ${most}${signClause(text)}`);
  return number;
}

/** Names a sign or a dash that is not a hyphen-minus, which looks like one, at the end of a clause. */
export function signClause(text: string): string {
  const [, sign] = /^\s*([\u2010-\u2015\u2212\ufe58\ufe63\uff0b\uff0d])/.exec(text) ?? [];
  const code = sign?.codePointAt(0)?.toString(16).toUpperCase();
  return sign ? `; the sign is U+${code}: write ${sign === '\uff0b' ? '+' : '-'} in its place` : '';
}

/** Parses requests a second, such as `50` or `50/s`. @throws ValueError. */
export function parseRate(text: string): number {
  const [, digits = ''] = /^(\d{1,9}(?:\.\d{1,9})?)(?:\/s)?$/.exec(text) ?? [];
  if (digits === '' || Number(digits) <= 0 || Number(digits) > 100_000)
    throw new ValueError('must be a number of requests a second, above 0 and at most 100000');
  return Number(digits);
}

/** Parses one of a few words. @throws ValueError for any other text. */
export function parseChoice<Choice extends string>(text: string, choices: readonly Choice[]): Choice {
  const match = choices.find((choice) => choice === text);
  if (match === undefined) throw new ValueError(`must be one of ${inWords(choices)}`);
  return match;
}

/** Joins words with commas, and quotes punctuation: `csv, json` or `'.', ','`. */
export function inWords(choices: readonly string[]): string {
  return choices.map((word) => (/^\w/.test(word) ? word : `'${word}'`)).join(', ');
}

const countFields = ['petId', 'quantity', 'expected'] as const;

/** The columns of a file of counts by field, if they have other names than ours. */
export type ColumnMap = Readonly<Record<string, string>>;

/**
 * Parses `petId=<column>`, `quantity=<column>` (or `change=`) and `expected=<column>`, several with commas between.
 *
 * @throws ValueError.
 */
export function parseColumnMap(texts: readonly string[]): ColumnMap {
  const map: Record<string, string> = {};
  for (const text of texts.flatMap((pairs) => pairs.split(/,(?=\s*\w+\s*=)/))) {
    const [, name = '', column = ''] = /^\s*(\w+)\s*=\s*(.+?)\s*$/s.exec(text) ?? [];
    const plainName = name.toLowerCase().replaceAll('_', '').replace('change', 'quantity');
    const field = countFields.find((candidate) => candidate.toLowerCase() === plainName);
    if (!field || column === '')
      throw new ValueError('must be petId=<column>, quantity=<column> or expected=<column>');
    if (map[field] !== undefined) throw new ValueError(`gives ${field} two columns`);
    map[field] = column;
  }
  return map;
}

/** Checks a column map, such as `petId=SKU,quantity=Stock`. @throws ValueError if the text is not a map. */
export function checkColumnMap(text: string): string {
  parseColumnMap([text]);
  return text;
}

/** Checks a command line, which runs without a shell. @throws ValueError as `splitWords`. */
export function checkCommandLine(text: string): string {
  splitWords(text);
  return text;
}

/** Checks the name of a profile or a tenant. @throws ValueError. */
export function parseName(text: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u.test(text)) return text;
  throw new ValueError(
    'a name is 1 to 64 letters, digits, dots, dashes, @ and underscores, and begins with a letter or digit',
  );
}

/** Checks the path of a file. @throws ValueError if it is empty or contains a NUL character. */
export function parsePath(text: string): string {
  if (text === '') throw new ValueError('must name a file');
  if (text.includes('\0')) throw new ValueError('must not contain a NUL character');
  return text;
}

const connectionHeaders =
  /^(host|connection|content-length|content-type|transfer-encoding|te|upgrade|expect|accept)$/i;

/** Checks the name of a header that carries a credential. @throws ValueError. @see RFC 9110, 5.1 */
export function parseHeaderName(text: string): string {
  if (!isToken(text)) throw new ValueError('is not a header name');
  if (connectionHeaders.test(text)) throw new ValueError('is a header that the connection itself needs');
  return text;
}

/** Checks the word before the token; it is empty for the bare token. @throws ValueError. @see RFC 9110, 11.1 */
export function parseScheme(text: string): string {
  if (text !== '' && !isToken(text)) throw new ValueError('must be one word, or empty for the bare token');
  return text;
}

/**
 * Splits a command line into words at blanks that are not within quotes. Nothing else is special, because the command runs
 * without a shell.
 *
 * @throws ValueError if a quote is not closed, or if the text has no word.
 */
export function splitWords(text: string): readonly [string, ...string[]] {
  const quoted = /'([^']*)'|"([^"]*)"/g;
  if (/['"]/.test(text.replace(quoted, ''))) throw new ValueError('has a quote that is not closed');
  const words = text.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const [command, ...args] = words.map((word) => word.replace(quoted, '$1$2'));
  if (!command) throw new ValueError('must name a command');
  return [command, ...args];
}
