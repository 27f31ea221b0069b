import { BlockList, isIP } from 'node:net';
import { bareHost, isLoopbackHost } from '../../api/http.ts';
import { type CliError, type ErrorDetails, InputError, unansweredError } from '../../process/errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A proxy from the environment. */
export interface HttpProxy {
  /** The variable that names it. */
  readonly source: string;
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  /** The value of Proxy-Authorization, if the URL holds a user. */
  readonly authorization: string | undefined;
  /** Its URL without a password, for messages. */
  readonly label: string;
}

/**
 * Finds the proxy for a URL in HTTP_PROXY, HTTPS_PROXY and NO_PROXY; the lower-case names take precedence, as in curl. A
 * loopback host is never proxied.
 *
 * @throws UsageError that names the variable, but no password, if the value is not an http or https URL.
 */
export function findProxy(url: URL, env: Environment): HttpProxy | undefined {
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const source = env[name.toLowerCase()] ? name.toLowerCase() : name;
  const value = env[source]?.trim();
  const host = bareHost(url.hostname);
  if (!value || isLoopbackHost(host) || isExempt(host, portOf(url), env.no_proxy || env.NO_PROXY))
    return undefined;
  return parseProxy(source, value);
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function parseProxy(source: string, value: string): HttpProxy {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(value) ?? [];
  if (scheme === undefined) throw bad(source, 'URL must start with http:// or https://');
  if (!/^https?$/i.test(scheme))
    throw bad(source, `has the scheme ${scheme}, and only http and https can be used`);
  if (!URL.canParse(value)) throw bad(source, 'is not a URL');
  const url = new URL(value);
  return {
    source,
    isSecure: url.protocol === 'https:',
    host: bareHost(url.hostname),
    port: portOf(url),
    authorization: authorizationOf(url, source),
    label: url.username || url.password ? `${url.protocol}//***@${url.host}` : url.origin,
  };
}

function authorizationOf({ username, password }: URL, source: string): string | undefined {
  if (username === '' && password === '') return undefined;
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(pair).toString('base64')}`;
  } catch {
    throw bad(source, 'has a user or password that is not percent-encoded');
  }
}

function bad(source: string, why: string): InputError {
  return new InputError(`${source}: the proxy ${why}`, `as in ${source}=http://proxy.example:3128`);
}

/**
 * Whether NO_PROXY names a host. Its entries are hosts and domains with or without a port, addresses, CIDR blocks, or
 * `*`.
 */
function isExempt(host: string, port: number, list = ''): boolean {
  const entries = list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  return entries.some((entry) => entry === '*' || isNamedBy(host, port, entry));
}

function isNamedBy(host: string, port: number, entry: string): boolean {
  const [, name = entry, onlyPort] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
  if (onlyPort !== undefined && Number(onlyPort) !== port) return false;
  if (name.includes('/')) return isInBlock(host, name);
  const domain = bareHost(name).replace(/^\*?\./, '');
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
}

function isInBlock(host: string, block: string): boolean {
  const [address = '', bits = ''] = block.split('/');
  const family = isIP(address);
  const most = family === 4 ? 32 : 128;
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(bits) || Number(bits) > most) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(address, Number(bits), type);
  return list.check(host, type);
}

/** The error of a proxy that refuses to lead to the service. @param what it did, such as `answered` */
export function refusedByProxy(proxy: HttpProxy, what: string, status: number, reason = ''): CliError {
  const hint = proxy.authorization
    ? `it does not accept the user name and password of ${proxy.source}`
    : `it wants a user name and a password, as in ${proxy.source}=http://user:password@${proxy.host}:${proxy.port}`;
  const details = { retryable: status >= 500, hint: status === 407 || status === 401 ? hint : undefined };
  return proxyError(proxy, `${what} ${status} ${reason}`.trimEnd(), details);
}

/** Makes the error of a proxy that fails. */
export function proxyError(
  proxy: HttpProxy,
  why: string,
  details: Pick<ErrorDetails, 'retryable' | 'hint'>,
): CliError {
  const message = `the proxy ${proxy.label} (${proxy.source}) ${why}`;
  return unansweredError('proxy', message, details);
}
