import { decodePercent } from './text.ts';

const masked = '***';

const userinfo = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^/?#\s]*@/gi;

/** Masks the user and password of URLs in a text. Takes linear time, because a service may send a URL of any length. */
export function maskUrl(url: string): string {
  return url.replace(userinfo, `$1${masked}@`);
}

/** Replaces every secret in a text. */
export type Mask = (text: string) => string;

/** Header values by lower-case name. */
type HeaderValues = Readonly<Record<string, string>>;

/**
 * The secrets that this process has read: the token, the headers that carry credentials, the values of --header, and the
 * passwords of URLs.
 */
export interface Secrets {
  /** Adds a secret. A short secret is left out, because masking it would garble other texts. */
  add(secret: string): void;
  /** Adds a header whose values are secret. */
  addHeader(name: string): void;
  hasHeader(name: string): boolean;
  /**
   * Masks every secret in a text, and the user and password of every URL. Call it before you cut or wrap a text, because
   * half a secret is not recognised.
   */
  readonly mask: Mask;
  /** The headers with every secret masked, and with the whole value of a secret header masked. */
  maskHeaders(headers: HeaderValues): HeaderValues;
}

const minLength = 4;

/** The variables whose URLs may hold a password. */
const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];

/** @param env its secrets are added: the token, and the passwords of proxies. */
export function createSecrets(env: Readonly<Record<string, string | undefined>> = {}): Secrets {
  const secrets = new Set<string>();
  const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);
  let forms: readonly string[] = [];
  const mask = (text: string) =>
    forms.reduce((result, form) => result.replaceAll(form, masked), maskUrl(text));
  const add = (secret: string) => {
    if (secret.length < minLength || secrets.has(secret)) return;
    secrets.add(secret);
    // Longest first: if one secret is part of another, masking the short one first would leave the rest of the long one.
    forms = [...new Set([...secrets].flatMap(formsOf))].sort((a, b) => b.length - a.length);
  };
  // The Basic credential is sent for the password of a proxy.
  const addPasswordOf = (url: string) => {
    if (!url.includes('@') || !URL.canParse(url)) return;
    const [username = '', password = ''] = [new URL(url).username, new URL(url).password].map(decodePercent);
    if (username === '' && password === '') return;
    add(password || username);
    add(Buffer.from(`${username}:${password}`).toString('base64'));
  };
  add(env.PETSTORE_TOKEN?.trim() ?? '');
  for (const name of proxyVariables) addPasswordOf(env[name]?.trim() ?? '');
  return {
    add,
    addHeader: (name) => void secretHeaders.add(name.toLowerCase()),
    hasHeader: (name) => secretHeaders.has(name.toLowerCase()),
    mask,
    maskHeaders(headers) {
      const masking = Object.entries(headers).map(([name, value]) => [
        name,
        secretHeaders.has(name) ? masked : mask(value),
      ]);
      return Object.fromEntries(masking);
    },
  };
}

/** Lists the forms that a secret may have in a text: plain, percent-encoded, and base64. */
function formsOf(secret: string): string[] {
  const encoded = encodeURIComponent(secret);
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [secret, encoded, encoded.replace(/%../g, (byte) => byte.toLowerCase()), base64];
}
