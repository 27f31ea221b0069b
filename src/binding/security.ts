import { isConnectionHeader, isHttpToken } from '../api/http.ts';
import type { Operation, TokenHeader } from '../api/operations.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import { type Description, followReference, listOf, objectOf } from './description.ts';

/** Where a request carries its token. */
interface TokenPlace {
  /** Such as `the header x-key`. */
  readonly label: string;
  /** The header, if the place is one. */
  readonly header: TokenHeader | undefined;
}

const bearer: TokenPlace = { label: 'the header authorization', header: { name: 'authorization' } };

/** How the operations of a description take a token. All bound operations take it in one header. */
export interface Security {
  /** The header of the token. Without it the settings name the header, by default `Authorization: Bearer`. */
  readonly header: TokenHeader | undefined;
  /**
   * Returns whether an operation takes the token, and why it cannot be called if it wants the token elsewhere. An empty `security`
   * of an operation overrides the document's.
   */
  of(operation: JsonObject): { readonly credential: Operation['credential']; readonly why?: string };
}

/** Chooses the header that most operations of a document accept. */
export function readSecurity(root: Description, operations: readonly JsonObject[]): Security {
  const { components, security } = root.document;
  const schemes = objectOf(objectOf(components).securitySchemes);
  const placesOf = (names: readonly string[]) =>
    names.flatMap((name) => tokenPlaceOf(followReference(schemes[name], root)) ?? []);
  // An operation may accept its token in several ways. Each way is a list of places, and all of them need the token.
  const waysOf = (operation: JsonObject) =>
    listOf(operation.security ?? security).map((way) => placesOf(Object.keys(objectOf(way))));
  const accepts = (operation: JsonObject, { label }: TokenPlace) =>
    waysOf(operation).some((way) => way.length > 0 && way.every((place) => place.label === label));
  const places = [...placesOf(Object.keys(schemes)).filter(({ header }) => header), bearer];
  const countOf = (place: TokenPlace) => operations.filter((operation) => accepts(operation, place)).length;
  const [place = bearer] = places.sort((a, b) => countOf(b) - countOf(a));
  return {
    header: place.label === bearer.label ? undefined : place.header,
    of: (operation) => {
      const ways = waysOf(operation);
      if (ways.length === 0 || ways.some((way) => way.length === 0)) return { credential: 'optional' };
      if (accepts(operation, place)) return { credential: 'required' };
      const ownPlaces = ways.map((way) => way.map(({ label }) => label).join(' and ')).join(' or ');
      const why = `it takes its token in ${ownPlaces}, and others take it in ${place.label}`;
      return { credential: 'required', why };
    },
  };
}

function tokenPlaceOf(scheme: JsonValue | undefined): TokenPlace | undefined {
  const { type, in: place, name, scheme: kind } = objectOf(scheme);
  if (type === 'mutualTLS') return undefined;
  if (type === 'http' && /^basic$/i.test(String(kind))) {
    const header = { name: 'authorization', scheme: 'Basic' } as const;
    return { label: `${bearer.label} as Basic`, header };
  }
  if (type !== 'apiKey') return bearer;
  if (place !== 'header')
    return { label: `the ${place === 'query' ? 'query parameter' : place} ${name}`, header: undefined };
  const label = `the header ${String(name).toLowerCase()}`;
  return { label, header: isFreeHeader(String(name)) ? { name: String(name).toLowerCase() } : undefined };
}

/** Headers that only the client may set. `__proto__` cannot be a key of an object. */
const clientHeaders = /^(accept|accept-encoding|content-type|cookie|host|proxy-.*|user-agent|__proto__)$/i;

/** Returns true if a description may require a header with this name. @see RFC 9110, 5.1 */
export function isFreeHeader(name: string): boolean {
  return isHttpToken(name) && !isConnectionHeader(name) && !clientHeaders.test(name);
}
