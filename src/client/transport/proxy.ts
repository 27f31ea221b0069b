import { bareHost, isLoopbackHost, portOf } from '../../api/http.ts';
import { type CliError, InputError } from '../../process/errors.ts';
import type { Io } from '../../process/io.ts';
import { decodePercent } from '../../process/text.ts';
import { noAnswerError, transportError } from './response.ts';

export interface HttpProxy {
  /** The variable that names it. */
  readonly source: string;
  readonly origin: string;
  /** The value of Proxy-Authorization, if the URL holds a user. */
  readonly authorization: string | undefined;
  /** Its URL without a password, for messages. */
  readonly label: string;
}

/**
 * Finds the proxy for a URL in HTTP_PROXY, HTTPS_PROXY and NO_PROXY; the lower-case names take precedence. A
 * loopback host is never proxied.
 *
 * @throws UsageError that names the variable, but no password, if the value is not an http or https URL.
 */
export function findProxy(url: URL, env: Io['env']): HttpProxy | undefined {
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const source = env[name.toLowerCase()] ? name.toLowerCase() : name;
  const value = env[source]?.trim();
  const host = bareHost(url.hostname);
  if (!value || isLoopbackHost(host) || isExempt(host, portOf(url), env.no_proxy || env.NO_PROXY))
    return undefined;
  return parseProxy(source, value);
}

function parseProxy(source: string, value: string): HttpProxy {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value))
    throw new InputError(
      `${source}: the proxy is not an http or https URL`,
      `as in ${source}=http://proxy.example:3128`,
    );
  const { origin, protocol, host, username, password } = new URL(value);
  if (username === '' && password === '') return { source, origin, authorization: undefined, label: origin };
  const pair = Buffer.from([username, password].map(decodePercent).join(':')).toString('base64');
  return { source, origin, authorization: `Basic ${pair}`, label: `${protocol}//***@${host}` };
}

/** Returns true if NO_PROXY names a host. Its entries are hosts and domains with or without a port, or `*`. */
function isExempt(host: string, port: number, list = ''): boolean {
  const entries = list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  return entries.some((entry) => {
    const [, name = entry, onlyPort] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
    const domain = bareHost(name).replace(/^\*?\./, '');
    const isNamed = host === domain || (!/:|\.\d+$/.test(host) && host.endsWith(`.${domain}`));
    return entry === '*' || (isNamed && (onlyPort === undefined || Number(onlyPort) === port));
  });
}

/**
 * Returns the status of a proxy that has answered for the service. The messages of undici are `Proxy Authentication Required (407)` and
 * `Proxy response (502) !== 200 when HTTP Tunneling`.
 */
export function statusOfProxy({ message }: Error): number | undefined {
  const status = /^Proxy .*\((\d+)\)/.exec(message)?.[1];
  return status === undefined ? undefined : Number(status);
}

/** Makes the error of a proxy that cannot be reached, or cannot reach the service. @param error of undici or of a socket. */
export function proxyError({ source, label }: HttpProxy, error: Error): CliError {
  const name = `the proxy ${label} (${source})`;
  const status = statusOfProxy(error);
  if (status !== undefined) return noAnswerError('proxy', `${name} answered ${status}`);
  const { message, details } = transportError(error);
  return details.noAnswer === 'tls'
    ? noAnswerError('tls', `${message}, through ${name}`, { cause: error })
    : noAnswerError('proxy', `${name} failed: ${message}`, { cause: error });
}
