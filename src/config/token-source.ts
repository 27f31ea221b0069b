import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Setting, Settings } from './settings.ts';

/** Where the token of a run comes from; reading it is another matter. */
export interface TokenSource {
  readonly kind: 'variable' | 'file' | 'command';
  /** The path of a file, the words of a command; empty for the variable, whose value is the secret itself. */
  readonly text: string;
  readonly source: Setting<unknown>['source'];
  /** The variable, profile or file that names it. */
  readonly origin: string;
}

/**
 * The place that gives the token: PETSTORE_TOKEN, else the nearer of `token-file` and `token-command`.
 *
 * @throws UsageError where both are given equally near: nothing says which is meant.
 */
export function findToken(settings: Settings, io: Io): TokenSource | undefined {
  if (io.env.PETSTORE_TOKEN)
    return { kind: 'variable', text: '', source: 'environment', origin: 'PETSTORE_TOKEN' };
  const file = settings.explain('token-file');
  const command = settings.explain('token-command');
  if (file.value === undefined && command.value === undefined) return undefined;
  if (file.source === command.source)
    throw new UsageError(
      `token-file and token-command are both set in ${file.origin}`,
      'keep one: `petstore config unset token-file` or `petstore config unset token-command`',
    );
  const isFile = nearness.indexOf(file.source) < nearness.indexOf(command.source);
  const { source, origin } = isFile ? file : command;
  return { kind: isFile ? 'file' : 'command', text: (isFile ? file : command).value ?? '', source, origin };
}

const nearness: readonly Setting<unknown>['source'][] = ['environment', 'profile', 'config', 'default'];

/** How an error or a notice speaks of the place. */
export function describeToken({ kind, text, origin }: TokenSource): string {
  if (kind === 'variable') return origin;
  return kind === 'file' ? `token file ${text}` : 'token-command';
}
