import { InputError, type UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { shellWord } from '../process/text.ts';
import { type Candidates, rankOf, type Setting, type SettingSource, valuesOf } from './candidates.ts';

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
  /** The origins that it may be sent to; empty if no base URL is set. */
  readonly origins: readonly string[];
}

/** A source that is not yet known to belong to an origin. */
type NamedSource = Omit<TokenSource, 'origins'>;

/**
 * The source of the token: PETSTORE_TOKEN, else token-file or token-command, whichever has precedence.
 *
 * @param active the name of the active profile.
 * @returns also the error if both are in one place.
 */
export function findToken(
  { env }: Io,
  candidates: Candidates,
  active: string | undefined,
): { readonly token?: TokenSource; readonly problem?: UsageError } {
  const [first, second] = sourcesOf(env.PETSTORE_TOKEN, candidates);
  if (!first) return {};
  const token = {
    ...first,
    origins: originsOfToken(first.source, valuesOf(candidates, 'base-url'), furtherOrigins(candidates)),
  };
  const isClash = first.kind !== 'variable' && first.source === second?.source;
  return isClash ? { token, problem: clashOf(first, active) } : { token };
}

/** Every source that names a token, that of the highest precedence first. */
function sourcesOf(token: string | undefined, candidates: Candidates): NamedSource[] {
  const name = 'PETSTORE_TOKEN';
  const ofConfig = (['file', 'command'] as const).flatMap((kind) =>
    valuesOf(candidates, `token-${kind}`).map(({ value: text, source, givenBy }) => {
      return { kind, text, source, givenBy, label: kind === 'file' ? `token file ${text}` : 'token-command' };
    }),
  );
  return [
    ...(token
      ? [{ kind: 'variable', text: token, label: name, source: 'environment', givenBy: name } as const]
      : []),
    ...ofConfig.sort((a, b) => rankOf(a) - rankOf(b)),
  ];
}

/** The origins of token-origins. */
export function furtherOrigins(candidates: Candidates): readonly string[] {
  return valuesOf(candidates, 'token-origins')[0]?.value ?? [];
}

type SourcedValue = Pick<Setting<string>, 'value' | 'source'>;

/**
 * The origins that a token belongs to. A token of the environment belongs to PETSTORE_BASE_URL if that is set; one of the
 * config's top level to the base URL there; any other to the base URL of the active profile, or of the top level. If none
 * of these names a base URL, the token belongs to that of the command line.
 *
 * @param source of the token.
 * @param baseUrls by all sources, that of the highest precedence first.
 * @param further origins to which a token of the config may go too.
 * @returns an empty list if no base URL is set.
 */
export function originsOfToken(
  source: SettingSource,
  baseUrls: readonly SourcedValue[],
  further: readonly string[],
): readonly string[] {
  const from = (...wanted: SettingSource[]) => baseUrls.find((url) => wanted.includes(url.source));
  const ofVariable = from('environment');
  if (source === 'environment' && ofVariable) return [originOf(ofVariable)];
  const beside = source === 'config' ? from('config') : undefined;
  const owner = beside ?? from('profile', 'config') ?? ofVariable;
  return owner ? [originOf(owner), ...further] : baseUrls.slice(0, 1).map(originOf);
}

export function originOf({ value }: { readonly value: string }): string {
  return new URL(value).origin;
}

function clashOf({ source, givenBy }: NamedSource, active: string | undefined): UsageError {
  const profile = source === 'profile' ? active : undefined;
  return new InputError(
    `token-file and token-command are both set in ${givenBy}`,
    `keep one: \`${unsetLine('token-file', profile)}\` or \`${unsetLine('token-command', profile)}\``,
  );
}

/** The command line that removes a key from a profile, or from the top level of the config. */
export function unsetLine(key: string, profile: string | undefined): string {
  const place = profile === undefined ? [] : ['--profile', profile];
  return ['petstore', 'config', 'unset', ...place, key].map(shellWord).join(' ');
}
