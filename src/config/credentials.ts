import { bareHost, isLoopbackHost } from '../api/host.ts';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Settings } from './settings.ts';
import { describeToken, findToken, type TokenSource } from './token-source.ts';

/** A secret and the header that carries it. */
export interface Credential {
  readonly header: string;
  /** The whole value, scheme included. */
  readonly value: string;
  /** The bare secret, to be masked wherever it stands. */
  readonly secret: string;
  /** Where it came from, as `token file /run/token`. */
  readonly source: string;
}

export interface Destination {
  readonly io: Io;
  readonly baseUrl: string;
  readonly allowInsecureHttp: boolean;
  /** Told why a token that there is will not be sent. */
  notice(line: string): Promise<void>;
}

/**
 * The credential for requests to a base URL, or undefined where there is none or it may not be sent there. A token
 * that may not be sent is not even read.
 *
 * @throws CliError `auth` where a token could not be read or cannot stand in a header.
 */
export async function readCredential(
  settings: Settings,
  destination: Destination,
): Promise<Credential | undefined> {
  const source = findToken(settings, destination.io);
  if (source === undefined) return undefined;
  const obstacle = obstacleTo(settings, destination);
  if (obstacle !== undefined) {
    await destination.notice(`warning: the token of ${describeToken(source)} is not sent: ${obstacle}`);
    return undefined;
  }
  const secret = withoutNewline(await readToken(source, destination.io), source);
  refuseUnsendable(secret, describeToken(source));
  const scheme = settings.get('auth-scheme');
  return {
    header: settings.get('auth-header'),
    value: scheme === '' ? secret : `${scheme} ${secret}`,
    secret,
    source: describeToken(source),
  };
}

/**
 * Why a token may not go to a base URL. It belongs to the base URL of its profile or of the top level of the config;
 * where the config has none, to PETSTORE_BASE_URL; and where that is not set either, to the one that is given.
 */
export function obstacleTo(
  settings: Settings,
  { io, baseUrl, allowInsecureHttp }: Omit<Destination, 'notice'>,
): string | undefined {
  const home = settings.profileBaseUrl ?? (io.env.PETSTORE_BASE_URL || undefined);
  const { origin, protocol, hostname } = new URL(baseUrl);
  if (home !== undefined && new URL(home).origin !== origin)
    return `it belongs to ${new URL(home).origin}, not to ${origin}; make a profile for that service to use another`;
  if (protocol === 'http:' && !isLoopbackHost(bareHost(hostname)) && !allowInsecureHttp)
    return `${origin} is plain http, where anybody on the way can read it; --allow-insecure-http sends it all the same`;
  return undefined;
}

async function readToken({ kind, text }: TokenSource, io: Io): Promise<string> {
  if (kind === 'variable') return io.env.PETSTORE_TOKEN ?? '';
  if (kind === 'file') return (await import('./token-file.ts')).readTokenFile(text);
  return (await import('./token-command.ts')).runTokenCommand(text, io);
}

function withoutNewline(token: string, { kind }: TokenSource): string {
  return kind === 'variable' ? token : token.replace(/\r?\n$/, '');
}

/** @see RFC 9110, 5.5: what a field value may hold. */
function refuseUnsendable(token: string, source: string): void {
  if (token.trim() === '') throw new CliError('auth', `${source}: the token is empty`);
  if (/[\r\n]/.test(token)) throw new CliError('auth', `${source}: the token holds a line break`);
  const at = token.search(/[^\t\x20-\x7e\x80-\xff]/);
  if (at !== -1)
    throw new CliError('auth', `${source}: the token's character ${at + 1} cannot stand in a header`);
}
