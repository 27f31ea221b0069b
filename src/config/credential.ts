import { bareHost, isLoopbackHost } from '../api/http.ts';
import type { CredentialPlace } from '../api/operations.ts';
import { CliError, UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import type { Secrets } from '../process/secrets.ts';
import type { Settings } from './settings.ts';
import type { TokenSource } from './token-source.ts';

interface TokenDestination {
  readonly baseUrl: string;
  /** The places for a credential in the service's description; empty if it names none. */
  readonly places: readonly CredentialPlace[];
  /** Whether the user asked to send the token to this origin, whatever origins it belongs to. */
  readonly isNamed?: boolean | undefined;
}

/** Whether and where the token is sent. This is decided before the token is read. */
type TokenUse =
  | {
      readonly kind: 'withheld';
      readonly source: TokenSource;
      /** A clause. */
      readonly why: string;
      /** Whether the address is plain http. Then the command fails; it does not go on without the token. */
      readonly isInsecure: boolean;
    }
  | { readonly kind: 'sent'; readonly source: TokenSource; readonly place: CredentialPlace };

/**
 * Decides whether the token is sent to a base URL; undefined if there is no token. A token is sent only to the origins that
 * it belongs to.
 */
export function decideTokenUse(
  settings: Settings,
  { baseUrl, places, isNamed = false }: TokenDestination,
): TokenUse | undefined {
  const { token: source } = settings;
  if (source === undefined) return undefined;
  const { origin, protocol, hostname } = new URL(baseUrl);
  const { origins } = source;
  if (!isNamed && origins.length > 0 && !origins.includes(origin))
    return {
      kind: 'withheld',
      source,
      why:
        source.kind === 'variable'
          ? `it is meant for ${origins[0]}; set PETSTORE_BASE_URL to the address that it is for`
          : `it is meant for ${origins[0]}; create a profile for ${origin} to use another`,
      isInsecure: false,
    };
  const isPlain = protocol === 'http:' && !isLoopbackHost(bareHost(hostname));
  if (isPlain && !settings.get('allow-insecure-http'))
    return {
      kind: 'withheld',
      source,
      why: `${origin} is plain http, so anybody between could read it`,
      isInsecure: true,
    };
  return { kind: 'sent', source, place: chooseCredentialPlace(settings, places) };
}

/**
 * Chooses the place of the token in a request. If the settings name a header or a scheme, it is that header. Else it is a
 * place in the service's description; the header Authorization, if the description allows it, comes first.
 */
export function chooseCredentialPlace(
  settings: Settings,
  places: readonly CredentialPlace[],
): CredentialPlace {
  const header = { in: 'header', name: settings.get('auth-header') } as const;
  const isConfigured = (['auth-header', 'auth-scheme'] as const).some(
    (key) => settings.explain(key).source !== 'default',
  );
  if (isConfigured) return header;
  const match = places.find((place) => isSamePlace(place, header));
  if (match) return match.scheme ? match : header;
  return places[0] ?? header;
}

export function isSamePlace(a: CredentialPlace, b: CredentialPlace): boolean {
  const isSameName = a.name.toLowerCase() === b.name.toLowerCase();
  return a.in === b.in && (a.in === 'header' ? isSameName : a.name === b.name);
}

/** Describes a place in a request, such as `the header X-Key`. */
export function describePlace({ in: place, name, scheme }: CredentialPlace): string {
  if (scheme) return `the ${place} ${name} as ${scheme}`;
  return place === 'query' ? `the query parameter ${name}` : `the ${place} ${name}`;
}

/** A secret and its place in requests. */
export interface Credential {
  readonly place: CredentialPlace;
  /** The text at that place, including the scheme. */
  readonly value: string;
  /** Its source, such as `token file /run/token`. */
  readonly source: string;
  /** Returns the text at another place. */
  valueAt(place: CredentialPlace): string;
}

interface CredentialReader {
  readToken(source: TokenSource): Promise<string>;
  /** Keeps the token, so that it is masked. */
  readonly secrets: Secrets;
  /** Called with a sentence that says why a token is not sent. */
  withheld(why: string): Promise<void>;
}

/**
 * Reads the credential for requests to a base URL; undefined if there is no token, or if it belongs to another service. A
 * token that will not be sent is not read.
 *
 * @throws UsageError if the token would go over plain http; CliError `auth` if it cannot be read, or is not valid in a
 *   header.
 */
export async function readCredential(
  settings: Settings,
  destination: TokenDestination,
  reader: CredentialReader,
): Promise<Credential | undefined> {
  const use = decideTokenUse(settings, destination);
  if (use === undefined) return undefined;
  const source = use.source.label;
  if (use.kind === 'withheld') {
    if (use.isInsecure)
      throw new UsageError(
        `${source} is not sent: ${use.why}`,
        'use https, or set allow-insecure-http in the profile to send it anyway',
        'insecure',
      );
    const { origin } = new URL(destination.baseUrl);
    await reader.withheld(`${source} is not sent to ${origin}: ${use.why}`);
    return undefined;
  }
  const secret = await reader.readToken(use.source);
  checkSendable(secret, source);
  reader.secrets.add(secret);
  // The header has the token as base64 if the scheme is Basic.
  reader.secrets.add(toBasic(secret));
  const valueAt = (place: CredentialPlace) => credentialText(place, secret, settings);
  return { place: use.place, value: valueAt(use.place), source, valueAt };
}

/** Writes the token as the place needs it. The setting auth-scheme applies only to the header that auth-header names. */
function credentialText(place: CredentialPlace, secret: string, settings: Settings): string {
  if (place.in === 'cookie') return `${place.name}=${secret}`;
  if (place.scheme) return `${place.scheme} ${toBasic(secret)}`;
  const isAuthHeader = place.in === 'header' && place.name === settings.get('auth-header');
  const scheme = isAuthHeader ? settings.get('auth-scheme') : '';
  if (/^basic$/i.test(scheme)) return `${scheme} ${toBasic(secret)}`;
  return scheme === '' ? secret : `${scheme} ${secret}`;
}

/** Encodes a name and a password as base64. A secret without a colon is base64 already. @see RFC 7617, 2 */
function toBasic(secret: string): string {
  return secret.includes(':') ? Buffer.from(secret).toString('base64') : secret;
}

/** The longest time that reading a token may take. */
const longestReadMs = 10_000;

/**
 * Reads the token of a source. One newline at the end of a file or of a command's output is dropped.
 *
 * @param signal ends a token-command.
 * @throws CliError `auth` if it cannot be read, or if that takes longer than a call may take or longer than 10 s.
 */
export async function readToken(
  { kind, text }: TokenSource,
  { io, signal, timeoutMs }: { readonly io: Io; readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<string> {
  if (kind === 'variable') return text;
  const limitMs = Math.min(timeoutMs, longestReadMs);
  const { readTokenFile, runTokenCommand } = await import('./read-token.ts');
  const output =
    kind === 'file'
      ? await readTokenFile(text, limitMs)
      : await runTokenCommand(text, { io, signal, limitMs });
  return output.replace(/\r?\n$/, '');
}

/** Checks that a header can carry the token. @see RFC 9110, 5.5 @throws CliError `auth`. */
function checkSendable(token: string, source: string): void {
  if (token.trim() === '') throw new CliError('auth', `${source}: the token is empty`);
  if (/[\r\n]/.test(token)) throw new CliError('auth', `${source}: the token contains a line break`);
  const at = token.search(/[^\t\x20-\x7e\x80-\xff]/);
  if (at !== -1)
    throw new CliError('auth', `${source}: the token's character ${at + 1} is not allowed in a header`);
}
