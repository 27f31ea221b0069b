import { isToken } from '../api/http.ts';
import type { Operation, TokenHeader } from '../api/operations.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import { follow, type Source } from './references.ts';
import { listOf, objectOf } from './schema.ts';

/** A place of a token in requests. Undefined of a scheme that takes no token, such as mutual TLS. */
interface Place {
  /** `the header x-key`, `the query parameter k`. */
  readonly label: string;
  /** Undefined if the place is not a header. */
  readonly header: TokenHeader | undefined;
}

const bearer: Place = { label: 'the header authorization', header: { name: 'authorization' } };

/** How the operations of a description take a token. All that are bound take it in one header. */
export interface Security {
  /** Undefined for the header of the settings, by default `Authorization: Bearer`. */
  readonly header: TokenHeader | undefined;
  /**
   * Says whether the requests of an operation carry the token, and why it cannot be called if it wants the token elsewhere. An
   * empty `security` at the operation takes back what the document requires.
   */
  of(operation: JsonObject): { readonly credential: Operation['credential']; readonly why?: string };
}

/** Chooses the header that most operations of a document accept. */
export function readSecurity(source: Source, operations: readonly JsonObject[]): Security {
  const { document } = source;
  const schemes = Object.fromEntries(
    Object.entries(objectOf(objectOf(document.components).securitySchemes)).map(([name, scheme]) => [
      name,
      follow(scheme, source),
    ]),
  );
  // Each way is a list of places that all need a token.
  const waysOf = (operation: JsonObject) =>
    listOf(operation.security ?? document.security).map((way) =>
      Object.keys(objectOf(way)).flatMap((name) => placeOf(schemes[name]) ?? []),
    );
  const counts = new Map<string, { readonly place: Place; count: number }>([
    [bearer.label, { place: bearer, count: 0 }],
  ]);
  const required = operations.flatMap(waysOf);
  const all = Object.values(schemes).map((scheme) => [placeOf(scheme) ?? []].flat());
  for (const [place, ...others] of required.some((way) => way.length > 0) ? required : all) {
    if (!place?.header || others.length > 0) continue;
    const entry = counts.get(place.label) ?? { place, count: 0 };
    entry.count += 1;
    counts.set(place.label, entry);
  }
  const [chosen] = [...counts.values()].sort((a, b) => b.count - a.count);
  const { place } = chosen ?? { place: bearer };
  return {
    header: place.label === bearer.label ? undefined : place.header,
    of: (operation) => {
      const ways = waysOf(operation);
      if (ways.length === 0) return { credential: Array.isArray(operation.security) ? 'none' : 'optional' };
      if (ways.some((way) => way.length === 0)) return { credential: 'optional' };
      if (ways.some((way) => way.every(({ label }) => label === place.label)))
        return { credential: 'required' };
      const wanted = ways.map((way) => way.map(({ label }) => label).join(' and ')).join(' or ');
      const why = `it wants its token in ${wanted}, and others want it in ${place.label}`;
      return { credential: 'required', why };
    },
  };
}

function placeOf(scheme: JsonValue | undefined): Place | undefined {
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
  return { label, header: isFieldName(String(name)) ? { name: String(name).toLowerCase() } : undefined };
}

/** Headers that only the connection or the client may set. `__proto__` cannot be a field of an object. */
const reservedFields =
  /^(accept|accept-encoding|connection|content-length|content-type|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|__proto__)$/i;

/** Returns true if a description may require a header with this name. @see RFC 9110, 5.1 */
export function isFieldName(name: string): boolean {
  return isToken(name) && !reservedFields.test(name);
}
