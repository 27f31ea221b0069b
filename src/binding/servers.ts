import type { JsonObject } from '../process/exact-json.ts';
import type { Description } from './description.ts';
import { listOf, objectOf } from './schema.ts';

/** The server of an operation, if it is not that of the description. */
interface OwnServer {
  /** The path of another server of the same origin. */
  readonly basePath?: string;
  /** The reason why the operation cannot be called, if its server is elsewhere. */
  readonly obstacle?: { readonly why: string };
}

/** Finds the server of an operation that has servers of its own. */
export function ownServer(
  objects: readonly JsonObject[],
  { document, url }: Description,
  origin: string,
): OwnServer {
  const nearest = objects.find(({ servers }) => listOf(servers).length > 0);
  if (!nearest) return {};
  const originOf = (server: string) => new URL(server).origin;
  const pathOf = (server: string | undefined) =>
    server === undefined ? '' : new URL(server).pathname.replace(/\/$/, '');
  const documentServers = serversOf(document, url, origin);
  const servers = serversOf(nearest, url, origin);
  const own = servers.find((server) => originOf(server) === origin);
  if (own !== undefined) {
    const usual = documentServers.find((server) => originOf(server) === origin);
    return pathOf(own) === pathOf(usual) ? {} : { basePath: pathOf(own) };
  }
  // A copy of the service, such as a mock server, has all operations at its own address.
  const origins = documentServers.map(originOf);
  if (servers.some((server) => origins.includes(originOf(server)))) return {};
  return { obstacle: { why: `it is at another address, ${servers[0] ?? 'which is not valid'}` } };
}

/**
 * Lists the base URLs of a document, or of a part of it that has servers. They are absolute, have no trailing
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
