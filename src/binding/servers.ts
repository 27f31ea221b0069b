import type { JsonObject } from '../process/exact-json.ts';
import { listOf, objectOf } from './schema.ts';

/**
 * Lists the base URLs of a document. They are absolute, have no trailing
 * slash, and have the default values of their variables.
 *
 * @param url the URL of the document. Relative servers are resolved against it, or against the base URL if it
 *   is a file.
 */
export function serversOf(
  { servers = [{ url: '/' }] }: JsonObject,
  url: string,
  baseUrl = 'http://service.invalid',
): string[] {
  const base = /^https?:/.test(url) ? url : baseUrl;
  const addresses = listOf(servers).flatMap((server) => {
    const { url: template = '', variables } = objectOf(server);
    const address = String(template).replace(/\{([^}]*)\}/g, (variable, name: string) =>
      String(objectOf(objectOf(variables)[name]).default ?? variable),
    );
    if (!URL.canParse(address, base)) return [];
    const { protocol, href } = new URL(address, base);
    return /^https?:$/.test(protocol) ? [href.replace(/\/+$/, '')] : [];
  });
  return [...new Set(addresses)];
}
