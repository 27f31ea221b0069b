import { embeddedOrigin, type HttpFields } from './api/http.ts';

const masked = '***';
/** Fields whose values may be shown; any other field may carry a credential. */
const shownFields = new Set([
  'accept',
  'accept-ranges',
  'age',
  'allow',
  'cache-control',
  'connection',
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'date',
  'deprecation',
  'etag',
  'expires',
  'host',
  'if-match',
  'keep-alive',
  'last-modified',
  'link',
  'location',
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'request-id',
  'retry-after',
  'server',
  'sunset',
  'traceparent',
  'transfer-encoding',
  'user-agent',
  'vary',
  'via',
  'x-correlation-id',
  'x-request-id',
]);
/** Shown fields that hold a URL. */
const urlFields = new Set(['link', 'location']);

const userinfo = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^/?#@\s]*@/gi;
/** A parameter whose name looks like that of a credential; it may be part of another's value, as with a URL in a URL. */
const secretParameter = /([?&](?=[^?&=#]*(?:key|token|secret|passw|signature|auth))[^?&=#]*=)[^&#>\s]*/gi;

/**
 * A URL that is safe to show: without userinfo and without the values of parameters that look like credentials. Runs in
 * linear time, because a service may send a URL of any length.
 */
export function maskUrl(url: string): string {
  return url.replace(userinfo, `$1${masked}@`).replace(secretParameter, `$1${masked}`);
}

/** A URL for people: masked; for the embedded store, which has no address, only the path. */
export function shownUrl(url: string): string {
  return maskUrl(url.replace(`${embeddedOrigin}/`, '/'));
}

/** Fields that are safe to show: values of known harmless fields are kept, all others are masked. */
export function maskFields(fields: HttpFields): HttpFields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, maskField(name, value)]));
}

function maskField(name: string, value: string | readonly string[]): string | readonly string[] {
  if (!shownFields.has(name)) return masked;
  if (!urlFields.has(name)) return value;
  return typeof value === 'string' ? shownUrl(value) : value.map(shownUrl);
}

/** The secrets that this process has read, from any source. */
export interface Secrets {
  add(secret: string): void;
  /** The text with every known secret masked, also in its URL and JSON encodings. */
  mask(text: string): string;
}

/** A shorter value is not treated as a secret, because masking it would garble ordinary text. */
const shortestSecret = 4;

export function createSecrets(): Secrets {
  const spellings = new Set<string>();
  return {
    add(secret) {
      if (secret.length < shortestSecret) return;
      spellings.add(secret);
      spellings.add(encodeURIComponent(secret));
      spellings.add(JSON.stringify(secret).slice(1, -1));
      // UTF-8 bytes that were read as Latin-1.
      spellings.add(Buffer.from(secret).toString('latin1'));
    },
    mask(text) {
      let shown = text;
      for (const spelling of spellings)
        if (shown.includes(spelling)) shown = shown.replaceAll(spelling, () => masked);
      return shown;
    },
  };
}

/** Whether a field is one that usually carries a credential, by its name. */
export function isCredentialField(name: string): boolean {
  return /^cookie$|auth|token|secret|key|passw/i.test(name);
}

/** The value of any field may be a secret if it has this length. A shorter one, as in `X-Debug: true`, may be a word of the output. */
const secretLength = 16;

/** The secrets in the values of masked fields: the whole value, and the part after a scheme such as Bearer. */
export function secretsIn(fields: HttpFields): string[] {
  return Object.entries(fields)
    .filter(([name]) => !shownFields.has(name))
    .flatMap(([name, value]) =>
      [value].flat().filter((each) => isCredentialField(name) || each.length >= secretLength),
    )
    .flatMap((value) => [value, value.replace(/^[\w!#$%&'*+.^`|~-]+ +/, '')]);
}
