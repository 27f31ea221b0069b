const masked = '***';

const userinfo = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^/?#@\s]*@/gi;

/** A text without the user and password of URLs. Runs in linear time, because a service may send a URL of any length. */
export function maskUrl(url: string): string {
  return url.replace(userinfo, `$1${masked}@`);
}

/** Header fields by lower-case name. */
type Fields = Readonly<Record<string, string | readonly string[]>>;

/**
 * The secrets that this process has read. What is secret is known by where it comes from: the token, the fields that
 * carry credentials, and the values of --header.
 */
export interface Secrets {
  /** Adds a secret, wherever it may be repeated. A short one is left out, because masking it would garble other texts. */
  add(secret: string): void;
  /** Adds a header field whose values are secret. */
  addField(name: string): void;
  hasField(name: string): boolean;
  /**
   * The text with every known secret masked, in any spelling in which a service may send it back. Call it before you cut
   * or wrap a text, because half a secret is not recognised.
   */
  mask(text: string): string;
  /** Fields that are safe to show: the values of secret ones are masked. */
  maskFields(fields: Fields): Fields;
}

const minLength = 4;

export function createSecrets(): Secrets {
  const secrets = new Set<string>();
  const fieldNames = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);
  let patterns: readonly RegExp[] = [];
  const mask = (text: string) => patterns.reduce((shown, each) => shown.replace(each, masked), text);
  return {
    add(secret) {
      if (secret.length < minLength || secrets.has(secret)) return;
      secrets.add(secret);
      // The longest first, so that a secret that is part of another one leaves nothing of it.
      const longestFirst = [...secrets].sort((one, other) => other.length - one.length);
      patterns = longestFirst.flatMap(piecesOf).map((piece) => new RegExp(spellings(piece).join('|'), 'gi'));
    },
    addField: (name) => void fieldNames.add(name.toLowerCase()),
    hasField: (name) => fieldNames.has(name.toLowerCase()),
    mask,
    maskFields(fields) {
      const shown = (value: string) => mask(maskUrl(value));
      const masking = Object.entries(fields).map(([name, value]) => {
        if (fieldNames.has(name)) return [name, masked];
        return [name, typeof value === 'string' ? shown(value) : value.map(shown)];
      });
      return Object.fromEntries(masking);
    },
  };
}

/** A longer pattern may be too large for V8. */
const maxPatternLength = 1000;

/** A secret in pieces of about the same length. */
function piecesOf(secret: string): string[] {
  const length = Math.ceil(secret.length / Math.ceil(secret.length / maxPatternLength));
  return secret.match(new RegExp(`.{1,${length}}`, 'gsu')) ?? [];
}

/** Patterns of a secret: character by character, and as a part of any text in base64. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const characters = [...secret].map(characterPattern).join('');
  // UTF-8 that was read as Latin-1.
  const latin1 =
    bytes.length === secret.length ? [] : [[...bytes.toString('latin1')].map(characterPattern).join('')];
  return [characters, ...latin1, ...base64Patterns(bytes)];
}

/** A character as it is, as an escape of JSON, percent-encoded, or as an entity of HTML. */
function characterPattern(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  const json = units.map((unit) => `\\\\u${unit.toString(16).padStart(4, '0')}`).join('');
  const percent = [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('');
  const named = entities[character] ?? [];
  const escaped = '"\\/'.includes(character) ? [`\\\\${literal(character)}`] : [];
  const ways = [
    ...escaped,
    literal(character),
    json,
    percent,
    `&#0*${code};`,
    `&#x0*${code.toString(16)};`,
    ...named,
  ];
  return `(?:${ways.join('|')})`;
}

const entities: Readonly<Record<string, readonly string[]>> = {
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  '"': ['&quot;'],
  "'": ['&apos;'],
  '/': ['&sol;'],
  '+': ['&plus;'],
  '=': ['&equals;'],
};

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

const minEncoded = 8;

/** What base64 makes of the bytes at each of the three places that they can have in a text, as in `Bearer <token>`. */
function base64Patterns(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '');
    // The characters at the ends also hold bits of what stands before and after.
    const start = Math.ceil((before * 8) / 6);
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    const own = encoded.slice(start, end);
    return own.length < minEncoded ? [] : [literal(own).replaceAll('\\+', '[+-]').replaceAll('\\/', '[/_]')];
  });
}
