import { isJsonObject, type JsonObject } from '../../json.ts';
import type { CredentialPlace } from '../contract.ts';
import { operationsOf } from './document-operation.ts';

/** Whether an operation asks for a credential: its own word, or else the document's; one way without any is none. */
export function isSecured(operation: JsonObject, document: JsonObject): boolean {
  const ways = operation.security ?? document.security;
  if (!Array.isArray(ways) || ways.length === 0) return false;
  return ways.every((way) => isJsonObject(way) && Object.keys(way).length > 0);
}

/** Where requests carry a credential, as the security schemes have it that are asked for; all of them where none is. */
export function credentialPlaces(document: JsonObject): CredentialPlace[] {
  const { components } = document;
  const schemes = isJsonObject(components) ? components.securitySchemes : undefined;
  if (!isJsonObject(schemes)) return [];
  const asked = askedSchemes(document).filter((name) => Object.hasOwn(schemes, name));
  const names = asked.length > 0 ? asked : Object.keys(schemes);
  const places = names.flatMap((name) => placeOf(schemes[name]));
  return [...new Map(places.map((place) => [`${place.in} ${place.name}`, place])).values()];
}

function askedSchemes(document: JsonObject): string[] {
  const sources = [document, ...operationsOf(document).map(({ source }) => source)];
  const ways = sources.flatMap(({ security }) => (Array.isArray(security) ? security : []));
  return [...new Set(ways.filter(isJsonObject).flatMap(Object.keys))];
}

function placeOf(scheme: unknown): CredentialPlace[] {
  if (!isJsonObject(scheme)) return [];
  const { type, in: place, name } = scheme;
  if (type === 'http' || type === 'oauth2' || type === 'openIdConnect')
    return [{ in: 'header', name: 'authorization' }];
  if (type !== 'apiKey' || typeof name !== 'string' || name === '') return [];
  if (place === 'header') return [{ in: 'header', name: name.toLowerCase() }];
  return place === 'query' || place === 'cookie' ? [{ in: place, name }] : [];
}
