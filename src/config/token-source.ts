import type { Io } from '../process/io.ts';
import { shellWord } from '../process/text.ts';
import { type Candidates, rankOf, type Setting, type SettingSource, validSettings } from './layers.ts';

/** The source of the token. The file has not been read yet, and the command has not run. */
export interface TokenSource {
  readonly kind: 'variable' | 'file' | 'command';
  /** The value of the variable, which is the token itself; the path of the file; or the command line. */
  readonly text: string;
  /** The source as messages name it: `PETSTORE_TOKEN`, `token file /run/token`, `token-command`. */
  readonly label: string;
  readonly source: SettingSource;
  /** The variable, profile or file that names the file or command. */
  readonly givenBy: string;
  /** The origins that the token belongs to; empty if no base URL is set. */
  readonly origins: readonly string[];
}

type NamedSource = Omit<TokenSource, 'origins'>;

/**
 * Finds the source of the token: PETSTORE_TOKEN, else token-file or token-command, whichever takes precedence.
 *
 * token-file beats a token-command of the same source.
 */
export function findToken({ env }: Io, candidates: Candidates): TokenSource | undefined {
  const [first] = sourcesOf(env.PETSTORE_TOKEN, candidates);
  return first && { ...first, origins: originsOfToken(first.source, validSettings(candidates, 'base-url')) };
}

/** Lists the sources that name a token, in the order of their precedence. */
function sourcesOf(token: string | undefined, candidates: Candidates): NamedSource[] {
  const name = 'PETSTORE_TOKEN';
  const ofConfig = (['file', 'command'] as const).flatMap((kind) =>
    validSettings(candidates, `token-${kind}`).map(({ value: text, source, givenBy }) => {
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

type SourcedValue = Pick<Setting<string>, 'value' | 'source'>;

/**
 * Returns the origins that a token belongs to:
 * - a token from the environment: PETSTORE_BASE_URL, if it is set.
 * - a token at the top level of the config: the base URL at the top level.
 * - any other token: the base URL of the active profile, or else of the top level.
 * - if none of these is set: the base URL of the command line.
 *
 * @param source the source of the token.
 * @param baseUrls the base URLs of all sources, in the order of their precedence.
 * @returns an empty list if no base URL is set.
 */
export function originsOfToken(source: SettingSource, baseUrls: readonly SourcedValue[]): readonly string[] {
  const from = (...sources: SettingSource[]) => baseUrls.find((url) => sources.includes(url.source));
  const ofVariable = from('environment');
  if (source === 'environment' && ofVariable) return [originOf(ofVariable)];
  const beside = source === 'config' ? from('config') : undefined;
  const owner = beside ?? from('profile', 'config') ?? ofVariable;
  return owner ? [originOf(owner)] : baseUrls.slice(0, 1).map(originOf);
}

export function originOf({ value }: { readonly value: string }): string {
  return new URL(value).origin;
}

/** Writes the command line that removes a key from a profile, or from the top level of the config. */
export function unsetLine(key: string, profile: string | undefined): string {
  const profileFlag = profile === undefined ? [] : ['--profile', profile];
  return ['petstore', 'config', 'unset', ...profileFlag, key].map(shellWord).join(' ');
}
