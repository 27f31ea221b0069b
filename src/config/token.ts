import type { CredentialPlace } from '../api/contract.ts';
import { bareHost, isLoopbackHost } from '../api/http.ts';
import { CliError, UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import type { Secrets } from '../process/secrets.ts';
import { isNearer, isOfConfig, originOf, type SettingSource, type Settings, unsetLine } from './settings.ts';

/** The source of the token; no file is read yet, and no command run. */
export interface TokenSource {
  readonly kind: 'variable' | 'file' | 'command';
  /** The value of the variable, which is the secret itself; the path of a file; a command line. */
  readonly text: string;
  /** The source, for messages: `PETSTORE_TOKEN`, `token file /run/token`, `token-command`. */
  readonly label: string;
  readonly source: SettingSource;
  /** The variable, profile or file that names the file or command. */
  readonly givenBy: string;
}

interface TokenTarget {
  readonly baseUrl: string;
  /** The places for a credential by the service's description; empty if it does not name one. */
  readonly places: readonly CredentialPlace[];
}

/** What happens to the token; decided before it is read. */
type TokenPlan =
  | {
      readonly kind: 'withheld';
      readonly source: TokenSource;
      /** A clause. */
      readonly why: string;
      /** The target is plain http: no request may go out without the token either. */
      readonly isInsecure: boolean;
    }
  | { readonly kind: 'sent'; readonly source: TokenSource; readonly place: CredentialPlace };

/**
 * Plans the token of requests to a base URL; undefined if there is none. A token is sent only to the service that it
 * belongs to: see `ownersOf`.
 *
 * @throws UsageError if token-file and token-command are set in the same place.
 */
export function planToken(settings: Settings, { baseUrl, places }: TokenTarget): TokenPlan | undefined {
  const source = findToken(settings);
  if (source === undefined) return undefined;
  const { origin, protocol, hostname } = new URL(baseUrl);
  const owners = ownersOf(source, settings);
  if (owners.length > 0 && !owners.includes(origin))
    return {
      kind: 'withheld',
      source,
      why: `it belongs to ${owners[0]}, not to ${origin}; create a profile for that service to use another`,
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
  return { kind: 'sent', source, place: credentialPlace(settings, places) };
}

/** PETSTORE_TOKEN, else token-file or token-command, whichever has precedence. */
export function findToken({ token, given, profile, ignoredProfile }: Settings): TokenSource | undefined {
  const [file] = given('token-file');
  const [command] = given('token-command');
  if (token) {
    const name = 'PETSTORE_TOKEN';
    return { kind: 'variable', text: token, label: name, source: 'environment', givenBy: name };
  }
  if (file && command && file.source === command.source) {
    const name = file.source === 'profile' ? (profile ?? ignoredProfile)?.value : undefined;
    throw new UsageError(
      `token-file and token-command are both set in ${file.givenBy}`,
      `keep one: \`${unsetLine('token-file', name)}\` or \`${unsetLine('token-command', name)}\``,
    );
  }
  if (file && (!command || isNearer(file, command)))
    return { ...file, kind: 'file', text: file.value, label: `token file ${file.value}` };
  return command && { ...command, kind: 'command', text: command.value, label: 'token-command' };
}

/**
 * The origins that a token belongs to; empty if no base URL is set. A token of the environment belongs to PETSTORE_BASE_URL
 * if that is set; one of the config's top level to the base URL there; any other to the base URL of the active profile,
 * or of the top level. If none of these names a base URL, the token belongs to that of the command line.
 */
function ownersOf({ source }: TokenSource, settings: Settings): readonly string[] {
  const urls = settings.given('base-url');
  const ofVariable = urls.find((url) => url.source === 'environment');
  if (source === 'environment' && ofVariable) return [originOf(ofVariable)];
  const beside = source === 'config' ? urls.find((url) => url.source === 'config') : undefined;
  const own = beside ?? urls.find(isOfConfig) ?? ofVariable;
  const [further] = settings.given('token-origins');
  if (own) return [originOf(own), ...(further?.value ?? [])];
  return urls.slice(0, 1).map(originOf);
}

/**
 * The place of the token: the header that the config names, else the place in the service's description, unless that
 * allows Authorization.
 */
export function credentialPlace(settings: Settings, places: readonly CredentialPlace[]): CredentialPlace {
  const header = { in: 'header', name: settings.get('auth-header') } as const;
  const isGiven = (['auth-header', 'auth-scheme'] as const).some(
    (key) => settings.explain(key).source !== 'default',
  );
  if (isGiven) return header;
  const same = places.find((place) => isSamePlace(place, header));
  if (same) return same.scheme ? same : header;
  return places[0] ?? header;
}

export function isSamePlace(one: CredentialPlace, other: CredentialPlace): boolean {
  const isSameName = one.name.toLowerCase() === other.name.toLowerCase();
  return one.in === other.in && (one.in === 'header' ? isSameName : one.name === other.name);
}

/** Such as `the header X-Key`. */
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
}

/** The capabilities that reading a credential needs. */
interface CredentialReader {
  readToken(source: TokenSource): Promise<string>;
  /** Gets the token. */
  readonly secrets: Secrets;
  /** Shows why a token is not sent. */
  warn(line: string): Promise<void>;
}

/**
 * Reads the credential for requests to a base URL; undefined if there is none, or if it belongs to another service. A
 * token that is not sent is not read.
 *
 * @throws UsageError if the token would go over plain http; CliError `auth` if it cannot be read, or is not valid in a
 *   header.
 */
export async function readCredential(
  settings: Settings,
  target: TokenTarget,
  reader: CredentialReader,
): Promise<Credential | undefined> {
  const plan = planToken(settings, target);
  if (plan === undefined) return undefined;
  const source = plan.source.label;
  if (plan.kind === 'withheld') {
    if (plan.isInsecure)
      throw new UsageError(
        `the token of ${source} is not sent: ${plan.why}`,
        'use https, or set allow-insecure-http in the profile to send it anyway',
        'insecure',
      );
    await reader.warn(`warning: the token of ${source} is not sent: ${plan.why}`);
    return undefined;
  }
  const secret = await reader.readToken(plan.source);
  checkSendable(secret, source);
  reader.secrets.add(secret);
  // What is sent as Basic is not the token itself.
  reader.secrets.add(toBasic(secret));
  return { place: plan.place, value: valueAt(plan.place, secret, settings), source };
}

/** The scheme belongs to the header of the config; a place from a description has its own, or none. */
function valueAt(place: CredentialPlace, secret: string, settings: Settings): string {
  if (place.in === 'cookie') return `${place.name}=${secret}`;
  if (place.scheme) return `${place.scheme} ${toBasic(secret)}`;
  const isOfConfig = place.in === 'header' && place.name === settings.get('auth-header');
  const scheme = isOfConfig ? settings.get('auth-scheme') : '';
  if (/^basic$/i.test(scheme)) return `${scheme} ${toBasic(secret)}`;
  return scheme === '' ? secret : `${scheme} ${secret}`;
}

/** A name and a password as base64; a secret without a colon is base64 already. @see RFC 7617, 2 */
function toBasic(secret: string): string {
  return secret.includes(':') ? Buffer.from(secret).toString('base64') : secret;
}

/** The longest time that reading a token may take. */
const longestReadMs = 10_000;

/**
 * The token of a source. One newline at the end of a file or of a command's output is dropped.
 *
 * @param signal ends a token-command.
 * @throws CliError `auth` if it cannot be read, or takes longer than a call may take, or than 10 s.
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

/** @see RFC 9110, 5.5: the characters of a field value. */
function checkSendable(token: string, source: string): void {
  if (token.trim() === '') throw new CliError('auth', `${source}: the token is empty`);
  if (/[\r\n]/.test(token)) throw new CliError('auth', `${source}: the token contains a line break`);
  const at = token.search(/[^\t\x20-\x7e\x80-\xff]/);
  if (at !== -1)
    throw new CliError('auth', `${source}: the token's character ${at + 1} is not allowed in a header`);
}
