import type { CredentialPlace } from '../api/contract.ts';
import { isToken } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import { UsageError } from '../process/errors.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import type { DocumentOperation } from './document.ts';
import { listOf, objectOf } from './schema.ts';

/**
 * Whether an operation requires a credential. An empty alternative in its `security` makes the credential
 * optional.
 */
export function isSecured(operation: JsonObject, document: JsonObject): boolean {
  const ways = listOf(operation.security ?? document.security);
  return ways.length > 0 && ways.every((way) => Object.keys(objectOf(way)).length > 0);
}

/**
 * The places for a credential: those of the security schemes that the document or an operation requires, or
 * of all schemes if none is required.
 *
 * @param bound the operations that are called.
 * @throws UsageError if a scheme that is required puts it in a place that cannot have it.
 */
export function credentialPlaces(
  document: JsonObject,
  bound: readonly Operation[],
  all: readonly DocumentOperation[],
): CredentialPlace[] {
  const schemes = objectOf(objectOf(document.components).securitySchemes);
  const ways = [document, ...all.map(({ operationObject }) => operationObject)].flatMap(({ security }) =>
    listOf(security),
  );
  const required = [...new Set(ways.map(objectOf).flatMap(Object.keys))].filter((name) =>
    Object.hasOwn(schemes, name),
  );
  const names = required.length > 0 ? required : Object.keys(schemes);
  const places = names.flatMap((name) => placeOfScheme(schemes[name]));
  for (const place of places) checkPlaceIsFree(place, bound);
  // Bearer comes first, because a token is what users have.
  places.sort((a, b) => Number(a.scheme !== undefined) - Number(b.scheme !== undefined));
  return places.filter(
    (place, at) => places.findIndex((other) => other.in === place.in && other.name === place.name) === at,
  );
}

/** @throws UsageError for a header or a query parameter that requests need for something else. */
function checkPlaceIsFree({ in: place, name }: CredentialPlace, bound: readonly Operation[]): void {
  const user = bound.find(({ parameters }) =>
    parameters.some((parameter) => parameter.in === 'query' && parameter.wireName === name),
  );
  const isTaken =
    place === 'header' && (!isFieldName(name) || /^(accept|content-type|user-agent)$/.test(name));
  if (!isTaken && !(place === 'query' && user)) return;
  const why = user && place === 'query' ? `which is a parameter of ${user.id}` : 'which cannot hold it';
  throw new UsageError(`the description puts the token into the ${place} ${name}, ${why}`);
}

function placeOfScheme(scheme: JsonValue | undefined): CredentialPlace[] {
  const { type, in: place, name, scheme: kind } = objectOf(scheme);
  if (type === 'http' && /^basic$/i.test(String(kind)))
    return [{ in: 'header', name: 'authorization', scheme: 'Basic' }];
  if (type === 'http' || type === 'oauth2' || type === 'openIdConnect')
    return [{ in: 'header', name: 'authorization' }];
  if (type !== 'apiKey' || typeof name !== 'string' || name === '') return [];
  if (place === 'header') return [{ in: 'header', name: name.toLowerCase() }];
  return place === 'query' || place === 'cookie' ? [{ in: place, name }] : [];
}

/**
 * Headers that only the connection or the client may set, and a name that no object can have as a field of
 * its own.
 */
const reservedFields =
  /^(accept-encoding|connection|content-length|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|__proto__)$/i;

/** Whether a description may ask for a header of this name. @see RFC 9110, 5.1 */
export function isFieldName(name: string): boolean {
  return isToken(name) && !reservedFields.test(name);
}
