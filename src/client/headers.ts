import { type HttpHeaders, isConnectionHeader, isToken, whyReadable } from '../api/http.ts';
import { UsageError } from '../process/errors.ts';
import type { Secrets } from '../process/secrets.ts';

/** A header, and what gave it, for messages, such as `--header`. */
export interface Header {
  readonly name: string;
  readonly value: string;
  readonly givenBy: string;
}

/** Parses the value of the flag `-H 'name: value'`. @throws UsageError that names the flag. */
export function parseHeaderFlag(text: string): Header {
  const colon = text.indexOf(':');
  if (colon < 1)
    throw new UsageError(`--header: must be \`name: value\`, and has no ${colon === 0 ? 'name' : 'colon'}`);
  return { name: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim(), givenBy: '--header' };
}

/**
 * Merges headers into those of a request, by lower-case name. A later header replaces an earlier one of the same name,
 * but two that one flag gave form a list. Errors never quote the value.
 *
 * @throws UsageError for a name that is not a token, or a value with CR, LF, NUL or a character beyond Latin-1.
 */
export function toHeaders(list: readonly Header[]): HttpHeaders {
  const headers: Record<string, string | string[]> = {};
  const previous = new Map<string, Header>();
  for (const header of list) {
    const name = checkHeader(header);
    const { value } = header;
    const before = headers[name];
    const addsUp = before !== undefined && previous.get(name)?.givenBy === header.givenBy;
    headers[name] = addsUp ? [before, value].flat() : value;
    previous.set(name, header);
  }
  return headers;
}

/**
 * Rejects a header that carries a credential if the service is reached over plain http.
 *
 * @throws UsageError that names the header.
 */
export function rejectInsecure(headers: readonly Header[], baseUrl: string, secrets: Secrets): void {
  const why = whyReadable(baseUrl);
  const secret = why === undefined ? undefined : headers.find(({ name }) => secrets.hasHeader(name));
  if (!secret) return;
  throw new UsageError(`${secret.givenBy}: ${secret.name} carries a credential, and ${why}`, {
    hint: 'use https, or set allow-insecure-http in the profile to send it',
    code: 'insecure',
  });
}

/**
 * Checks a header and returns its name in lower case.
 *
 * @throws UsageError that names what gave the header, and the header, but never the value.
 */
export function checkHeader({ name, value, givenBy }: Header): string {
  if (!isToken(name)) throw new UsageError(`${givenBy}: ${JSON.stringify(name)} is not a header name`);
  const lower = name.toLowerCase();
  if (isConnectionHeader(name)) throw new UsageError(`${givenBy}: ${name} is set by the connection itself`);
  const [unit] = /[^\t\x20-\x7e\x80-\xff]/.exec(value) ?? [];
  if (unit === undefined) return lower;
  const what =
    unit > '\xff'
      ? 'a character beyond Latin-1'
      : /[\r\n]/.test(unit)
        ? 'a line break'
        : 'a control character';
  throw new UsageError(`${givenBy}: the value of ${name} holds ${what}, which is not allowed in a header`);
}
