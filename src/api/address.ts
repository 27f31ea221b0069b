import { maskUrl } from '../process/secrets.ts';

/** The origin of the embedded store. No socket can reach this origin. @see RFC 6761, 6.4 */
export const embeddedOrigin = 'http://offline.invalid';

export function isEmbedded(baseUrl: string): boolean {
  return baseUrl.startsWith(embeddedOrigin);
}

/**
 * Removes the userinfo from a URL for people. Of a URL of the embedded store, which has no address, only the
 * path stays.
 */
export function shownUrl(url: string): string {
  return maskUrl(url.replace(`${embeddedOrigin}/`, '/'));
}

/** Says that others can read what goes to a URL, a clause. Undefined if they cannot. */
export function whyReadable(url: string): string | undefined {
  const { protocol, hostname, origin } = new URL(url);
  const isPlain = protocol === 'http:' && !isLoopbackHost(hostname);
  return isPlain ? `${origin} is plain http, so anybody between could read it` : undefined;
}

/** Returns true if a host name always means this machine. An IPv6 address may be in brackets. */
export function isLoopbackHost(host: string): boolean {
  return /^(([\w-]+\.)*localhost|::1|127(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3})$/.test(bareHost(host));
}

/** Writes a host name in the form for sockets: no brackets, no final dot, lower case. */
export function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
