import { isJsonObject, type JsonObject } from '../../json.ts';

/** Whether an operation asks for a credential: its own word, or else the document's; one way without any is none. */
export function isSecured(operation: JsonObject, document: JsonObject): boolean {
  const ways = operation.security ?? document.security;
  if (!Array.isArray(ways) || ways.length === 0) return false;
  return ways.every((way) => isJsonObject(way) && Object.keys(way).length > 0);
}

/** Lower-case names of the request fields that carry a credential, as the document's security schemes have them. */
export function credentialFields(document: JsonObject): string[] {
  const { components } = document;
  const schemes = isJsonObject(components) ? components.securitySchemes : undefined;
  if (!isJsonObject(schemes)) return [];
  return [...new Set(Object.values(schemes).flatMap(fieldOf))];
}

function fieldOf(scheme: unknown): string[] {
  if (!isJsonObject(scheme)) return [];
  if (scheme.type === 'apiKey' && scheme.in === 'cookie') return ['cookie'];
  if (scheme.type === 'apiKey')
    return scheme.in === 'header' && typeof scheme.name === 'string' ? [scheme.name.toLowerCase()] : [];
  return scheme.type === 'http' || scheme.type === 'oauth2' || scheme.type === 'openIdConnect'
    ? ['authorization']
    : [];
}
