import type { CredentialPlace } from '../api/contract.ts';
import { bareHost, isLoopbackHost } from '../api/host.ts';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Settings } from './settings.ts';
import { describeToken, findToken, type TokenSource } from './token-source.ts';

/** A secret and where requests carry it. */
export interface Credential {
  readonly place: CredentialPlace;
  /** What stands there, the scheme included. */
  readonly value: string;
  /** The bare secret, to be masked wherever it stands. */
  readonly secret: string;
  /** Where it came from, as `token file /run/token`. */
  readonly source: string;
}

interface Destination {
  readonly io: Io;
  readonly baseUrl: string;
  readonly allowInsecureHttp: boolean;
  /** Where the service may take a credential; empty where nobody says. */
  readonly places: readonly CredentialPlace[];
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
  const place = credentialPlace(settings, destination.places);
  return { place, value: valueAt(place, secret, settings), secret, source: describeToken(source) };
}

/**
 * Where the token goes: the header that the config names; or else where the service's description wants it, unless
 * Authorization will do there.
 */
export function credentialPlace(settings: Settings, places: readonly CredentialPlace[]): CredentialPlace {
  const header = { in: 'header', name: settings.get('auth-header') } as const;
  const isGiven = (['auth-header', 'auth-scheme'] as const).some(
    (key) => settings.explain(key).source !== 'default',
  );
  const [first] = places;
  if (isGiven || first === undefined || places.some((place) => isSamePlace(place, header))) return header;
  return first;
}

export function isSamePlace(one: CredentialPlace, other: CredentialPlace): boolean {
  const isSameName = one.name.toLowerCase() === other.name.toLowerCase();
  return one.in === other.in && (one.in === 'header' ? isSameName : one.name === other.name);
}

/** As `the header X-Key`. */
export function describePlace({ in: place, name }: CredentialPlace): string {
  return place === 'query' ? `the query parameter ${name}` : `the ${place} ${name}`;
}

/** A key of a description has no scheme. */
function valueAt(place: CredentialPlace, secret: string, settings: Settings): string {
  if (place.in === 'cookie') return `${place.name}=${secret}`;
  const isOfConfig = place.in === 'header' && place.name === settings.get('auth-header');
  const scheme = isOfConfig ? settings.get('auth-scheme') : '';
  return scheme === '' ? secret : `${scheme} ${secret}`;
}

/**
 * Why a token may not go to a base URL. It belongs to the base URL of its profile or of the top level of the config;
 * where the config has none, to PETSTORE_BASE_URL; and where that is not set either, to the one that is given.
 */
export function obstacleTo(
  settings: Settings,
  { io, baseUrl, allowInsecureHttp }: Pick<Destination, 'io' | 'baseUrl' | 'allowInsecureHttp'>,
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
