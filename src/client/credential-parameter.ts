import type { HttpRequest } from '../api/http.ts';

/** A credential that requests carry in their query. */
export interface CredentialParameter {
  readonly name: string;
  readonly value: string;
}

/**
 * The request with the credential in its query, unless its URL has that parameter already: given by the caller, or in a
 * link of the service's.
 */
export function withParameter(request: HttpRequest, parameter: CredentialParameter | undefined): HttpRequest {
  if (parameter === undefined) return request;
  const { url } = request;
  const { name, value } = parameter;
  if (new URL(url).searchParams.has(name)) return request;
  const pair = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  return { ...request, url: `${url}${url.includes('?') ? '&' : '?'}${pair}` };
}

/** The same with its value masked, as anybody may see it. */
export function withMaskedParameter(
  request: HttpRequest,
  parameter: CredentialParameter | undefined,
): HttpRequest {
  return withParameter(request, parameter && { name: parameter.name, value: '***' });
}
