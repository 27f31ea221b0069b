import type { HttpFields, HttpRequest } from '../api/http.ts';
import { UsageError } from '../errors.ts';
import type { RawRequest } from './client.ts';
import type { Target } from './request.ts';

/** What a request of one's own may be sent with. */
export const rawMethods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** @throws UsageError for a URL of another origin: what a request carries is meant for this service alone. */
export function toRawRequest(raw: RawRequest, { baseUrl, fields }: Target): HttpRequest {
  const url = toUrl(raw.path, baseUrl);
  for (const [name, value] of raw.query ?? []) url.searchParams.append(name, value);
  url.hash = '';
  return {
    method: raw.method,
    url: url.href,
    fields: raw.fields === undefined ? fields : present({ ...fields, ...raw.fields }),
    body: raw.body,
  };
}

function toUrl(path: string, baseUrl: string): URL {
  const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(path);
  const text = isAbsolute ? path : `${baseUrl}/${path.replace(/^\/+/, '')}`;
  if (!URL.canParse(text)) throw new UsageError(`${path}: not a path or URL`);
  const url = new URL(text);
  if (url.origin !== new URL(baseUrl).origin)
    throw new UsageError(
      `${path}: not of the origin of ${baseUrl}`,
      'a request goes to the service only; choose another with --base-url',
    );
  return url;
}

/** What is undefined was left out on purpose. */
function present(fields: NonNullable<RawRequest['fields']>): HttpFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as HttpFields;
}
