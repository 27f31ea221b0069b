import { whyReadable } from '../api/http.ts';
import type { TokenHeader } from '../api/operations.ts';
import { CliError } from '../process/errors.ts';
import type { Secrets } from '../process/secrets.ts';
import type { Settings, TokenSetting } from './settings.ts';

interface TokenDestination {
  readonly baseUrl: string;
  /** The header that the service's description names. */
  readonly header: TokenHeader | undefined;
  /** True if the user asked to send the token to this origin, even if it belongs to another one. */
  readonly isNamed?: boolean | undefined;
}

/**
 * Whether the token is sent. It is withheld from every origin except its own. Over plain http the command fails, instead of going on
 * without the token.
 */
type TokenUse =
  | { readonly kind: 'sent'; readonly setting: TokenSetting; readonly header: TokenHeader }
  /** `why` is a clause. */
  | { readonly kind: 'withheld' | 'insecure'; readonly setting: TokenSetting; readonly why: string };

/**
 * Decides whether the token, if there is one, is sent to a base URL. The token is not read yet. It is sent only to the origin that it
 * belongs to.
 */
export function decideTokenUse(
  settings: Settings,
  { baseUrl, header, isNamed = false }: TokenDestination,
): TokenUse | undefined {
  const { token: setting } = settings;
  if (setting === undefined) return undefined;
  const { origin } = new URL(baseUrl);
  if (!isNamed && setting.origin !== undefined && setting.origin !== origin) {
    const way =
      setting.kind === 'variable'
        ? 'set PETSTORE_BASE_URL to the address that it is for'
        : `create a profile for ${origin} to use another`;
    return { kind: 'withheld', setting, why: `it is meant for ${setting.origin}; ${way}` };
  }
  const why = settings.get('allow-insecure-http') ? undefined : whyReadable(baseUrl);
  if (why !== undefined) return { kind: 'insecure', setting, why };
  return { kind: 'sent', setting, header: chooseTokenHeader(settings, header) };
}

/** Chooses the header of the token: the one in the settings, or else the one in the service's description. */
export function chooseTokenHeader(settings: Settings, described: TokenHeader | undefined): TokenHeader {
  const isConfigured = (['auth-header', 'auth-scheme'] as const).some(
    (key) => settings.explain(key).source !== 'default',
  );
  return described === undefined || isConfigured ? { name: settings.get('auth-header') } : described;
}

/** Describes the header of the token: `the header X-Key`. */
export function describeHeader({ name, scheme }: TokenHeader): string {
  return scheme ? `the header ${name} as ${scheme}` : `the header ${name}`;
}

/** Makes the value of the token's header, and masks the token. @throws CliError `auth` if a header cannot carry it. */
export function tokenHeaderValue(
  { setting, header }: Extract<TokenUse, { kind: 'sent' }>,
  token: string,
  { settings, secrets }: { readonly settings: Settings; readonly secrets: Secrets },
): string {
  checkSendable(token, setting.label);
  secrets.add(token);
  // The scheme Basic sends the token as base64, which must be masked too.
  secrets.add(toBasic(token));
  return headerText(header, token, settings);
}

/** Formats the token for the header. The setting auth-scheme applies only to the header of auth-header. */
function headerText(header: TokenHeader, secret: string, settings: Settings): string {
  const isConfigured = header.scheme === undefined && header.name === settings.get('auth-header');
  const scheme = header.scheme ?? (isConfigured ? settings.get('auth-scheme') : '');
  if (/^basic$/i.test(scheme)) return `${scheme} ${toBasic(secret)}`;
  return scheme === '' ? secret : `${scheme} ${secret}`;
}

/** Encodes a name and a password as base64. A secret without a colon is base64 already. @see RFC 7617, 2 */
function toBasic(secret: string): string {
  return secret.includes(':') ? Buffer.from(secret).toString('base64') : secret;
}

/** Checks that a header can carry the token. @see RFC 9110, 5.5 @throws CliError `auth` if it cannot. */
function checkSendable(token: string, label: string): void {
  if (token.trim() === '') throw new CliError('auth', `${label}: the token is empty`);
  if (/[\r\n]/.test(token))
    throw new CliError('auth', `${label}: the token contains a line break`, {
      hint: 'it must be one line, without anything else',
    });
  const at = token.search(/[^\t\x20-\x7e\x80-\xff]/);
  if (at !== -1)
    throw new CliError('auth', `${label}: the token's character ${at + 1} is not allowed in a header`);
}
