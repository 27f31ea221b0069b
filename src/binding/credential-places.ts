import { isToken } from '../api/http.ts';
import type { CredentialPlace, Operation } from '../api/operations.ts';
import { UsageError } from '../process/errors.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import type { DocumentOperation } from './document.ts';
import { listOf, objectOf } from './schema.ts';

/**
 * Whether an operation requires a credential. An empty alternative in `security` makes the credential
 * optional.
 */
export function isSecured(operation: JsonObject, document: JsonObject): boolean {
  const ways = listOf(operation.security ?? document.security);
  return ways.length > 0 && ways.every((way) => Object.keys(objectOf(way)).length > 0);
}

/** The places of a token in the requests of one operation. */
interface OperationPlaces {
  /** Empty if the operation requires no credential, or none that a token can be. */
  readonly places: readonly CredentialPlace[];
  /** The security schemes that no token can serve, if there is no other way. */
  readonly unserved?: string | undefined;
}

/** Finds the places of a token by the alternatives in `security`. An alternative of several schemes needs several tokens. */
export function placesOf(operation: JsonObject, document: JsonObject): OperationPlaces {
  const schemes = objectOf(objectOf(document.components).securitySchemes);
  const ways = listOf(operation.security ?? document.security).map((way) => Object.keys(objectOf(way)));
  const places = ways.flatMap(([name = '', ...others]) =>
    others.length === 0 && Object.hasOwn(schemes, name) ? placeOfScheme(schemes[name]) : [],
  );
  if (places.length > 0 || ways.length === 0 || ways.some((names) => names.length === 0)) return { places };
  return { places, unserved: ways.map((names) => names.join(' and ')).join(' or ') };
}

/**
 * Lists the places for a credential by the security schemes that the document or an operation requires. If
 * none is required, all schemes count.
 *
 * @param bound the operations that the program calls.
 * @param documentOperations all operations of the document.
 * @throws UsageError if a scheme puts the credential into an impossible place.
 */
export function credentialPlaces(
  document: JsonObject,
  bound: readonly Operation[],
  documentOperations: readonly DocumentOperation[],
): CredentialPlace[] {
  const schemes = objectOf(objectOf(document.components).securitySchemes);
  const ways = [document, ...documentOperations.map(({ operationObject }) => operationObject)].flatMap(
    ({ security }) => listOf(security),
  );
  const required = [...new Set(ways.map(objectOf).flatMap(Object.keys))].filter((name) =>
    Object.hasOwn(schemes, name),
  );
  const names = required.length > 0 ? required : Object.keys(schemes);
  const places = names.flatMap((name) => placeOfScheme(schemes[name]));
  for (const place of places) requireFreePlace(place, bound);
  // Bearer comes first, because a token is what users have.
  places.sort((a, b) => Number(a.scheme !== undefined) - Number(b.scheme !== undefined));
  return places.filter(
    (place, index) =>
      places.findIndex((first) => first.in === place.in && first.name === place.name) === index,
  );
}

/** @throws UsageError if requests need the header or the query parameter for something else. */
function requireFreePlace({ in: place, name }: CredentialPlace, bound: readonly Operation[]): void {
  const operation = bound.find(({ parameters }) =>
    parameters.some((parameter) => parameter.in === 'query' && parameter.wireName === name),
  );
  const isReserved =
    place === 'header' && (!isFieldName(name) || /^(accept|content-type|user-agent)$/.test(name));
  if (!isReserved && !(place === 'query' && operation)) return;
  const why =
    operation && place === 'query' ? `which is a parameter of ${operation.id}` : 'which cannot hold it';
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

/** Headers that only the connection or the client may set. `__proto__` cannot be a field of an object. */
const reservedFields =
  /^(accept-encoding|connection|content-length|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|__proto__)$/i;

/** Whether a description may require a header with this name. @see RFC 9110, 5.1 */
export function isFieldName(name: string): boolean {
  return isToken(name) && !reservedFields.test(name);
}
