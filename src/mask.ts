import { embeddedOrigin, type HttpFields } from './api/http.ts';

const masked = '***';
/** Fields whose values anyone may see; any other may carry a credential. */
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
/** Those of them that hold a URL. */
const urlFields = new Set(['link', 'location']);

const namesOfSecrets = /key|token|secret|passw|signature|auth/i;

/**
 * A URL as it may be shown: without userinfo, and without the values of parameters that look like credentials. In time that
 * grows with its length alone, for a service may send any.
 */
export function maskUrl(url: string): string {
  return maskParameters(url.replace(/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^/?#@\s]*@/gi, `$1${masked}@`));
}

/** A parameter may stand within the value of another, as that of a URL in a URL. */
function maskParameters(url: string): string {
  const parameter = /[?&]([^?&=#]*)=/g;
  const valueEnd = /[&#>\s]|$/g;
  let shown = '';
  let at = 0;
  for (let found = parameter.exec(url); found; found = parameter.exec(url)) {
    if (!namesOfSecrets.test(found[1] ?? '')) continue;
    shown += url.slice(at, parameter.lastIndex) + masked;
    valueEnd.lastIndex = parameter.lastIndex;
    at = valueEnd.exec(url)?.index ?? url.length;
    parameter.lastIndex = at;
  }
  return shown + url.slice(at);
}

/** A URL as people read it: masked; of the embedded store, which has no address, the path alone. */
export function shownUrl(url: string): string {
  return maskUrl(url.startsWith(`${embeddedOrigin}/`) ? url.slice(embeddedOrigin.length) : url);
}

/** Fields as they may be shown: the values of those that are on the list of harmless ones, everything else masked. */
export function maskFields(fields: HttpFields): HttpFields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, maskField(name, value)]));
}

function maskField(name: string, value: string | readonly string[]): string | readonly string[] {
  if (!shownFields.has(name)) return masked;
  if (!urlFields.has(name)) return value;
  return typeof value === 'string' ? maskUrl(value) : value.map(maskUrl);
}

/** The secrets of this run, wherever they came from. */
export interface Secrets {
  add(secret: string): void;
  /** The text with every secret that stands in it literally masked, in a URL's or JSON's spelling too. */
  mask(text: string): string;
}

/** What is shorter is no secret, and masking it would break what is printed. */
const shortestSecret = 4;

export function createSecrets(): Secrets {
  const spellings = new Set<string>();
  return {
    add(secret) {
      if (secret.length < shortestSecret) return;
      spellings.add(secret);
      spellings.add(encodeURIComponent(secret));
      spellings.add(JSON.stringify(secret).slice(1, -1));
      // As UTF-8 bytes that were read as Latin-1.
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

/** The secrets in a field whose value nobody may see: the whole value, and what follows a scheme such as Bearer. */
export function secretsIn(fields: HttpFields): string[] {
  return Object.entries(fields)
    .filter(([name]) => !shownFields.has(name))
    .flatMap(([, value]) => [value].flat())
    .flatMap((value) => [value, value.replace(/^[\w!#$%&'*+.^`|~-]+ +/, '')]);
}
