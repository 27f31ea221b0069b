import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { Description } from './description.ts';
import type { DocumentOperation } from './document-operation.ts';

/** Base URLs that a description offers, absolute and without a trailing slash; relative to where the document came from. */
export function serversOf({ document, url }: Pick<Description, 'document' | 'url'>): string[] {
  return [...new Set(addresses(document.servers ?? [{ url: '/' }], url))];
}

/** Whether an operation is served at another address than the document: one base URL cannot reach both. */
export function elsewhere(operation: DocumentOperation, description: Description): boolean {
  const own = [operation.source.servers, operation.pathItem.servers].find(
    (servers) => Array.isArray(servers) && servers.length > 0,
  );
  if (own === undefined) return false;
  const shared = serversOf(description);
  return !addresses(own, description.url).some((address) => shared.includes(address));
}

function addresses(servers: JsonValue | undefined, documentUrl: string): string[] {
  const stated = Array.isArray(servers) ? servers.filter(isJsonObject) : [];
  return stated.flatMap((server) => {
    try {
      const { protocol, href } = new URL(fillIn(server), documentUrl);
      return protocol === 'http:' || protocol === 'https:' ? [href.replace(/(?<!\/)\/+$/, '')] : [];
    } catch {
      return [];
    }
  });
}

/** Puts the defaults of its variables into a server's URL. */
function fillIn({ url, variables }: JsonObject): string {
  return String(url ?? '').replace(/\{([^}]*)\}/g, (whole, name: string) => {
    const variable = isJsonObject(variables) ? variables[name] : undefined;
    return isJsonObject(variable) && variable.default !== undefined ? String(variable.default) : whole;
  });
}
