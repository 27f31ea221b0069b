import type { Contract } from './api/contract.ts';
import { embeddedOrigin } from './api/http.ts';
import type { Noun } from './api/nouns.ts';
import { isFields } from './api/record-values.ts';
import type { GlobalFlags } from './cli/flag.ts';
import type { Client } from './client/client.ts';
import type { Settings, TokenSetting } from './config/settings.ts';
import type { Notices } from './output/messages.ts';
import type { Printer } from './output/printer.ts';
import type { LiveLine } from './output/streams.ts';
import type { Style } from './output/style.ts';
import { UsageError } from './process/errors.ts';
import type { Io } from './process/io.ts';
import type { Secrets } from './process/secrets.ts';
import type { Stop } from './process/signals.ts';
import { shellWord } from './process/text.ts';
import type { Row } from './writes/row.ts';

/** What a client is for. The table `purposes` of connect.ts has what follows from it. */
export type ClientPurpose = 'records' | 'bulk' | 'checks';

/** Everything that a command works with. Parts that take time to open are opened once, on their first use. */
export interface Context extends Notices {
  /** The streams and the environment; its streams are safe to write to. */
  readonly io: Io;
  /** Texts that must never be shown or written. The streams of `io` mask them. */
  readonly secrets: Secrets;
  readonly stop: Stop;
  /** Shows the progress of work that takes long. */
  readonly liveLine: LiveLine;
  readonly flags: GlobalFlags;
  readonly settings: Settings;
  /** True if --quiet or the settings hide notes and progress. */
  readonly isQuiet: boolean;
  /** The operations of the built-in contract, or those of the description that the profile or the origin is bound to. */
  contract(): Promise<Contract>;
  /** Reads the token, once for all clients, because a token-command may ask for a PIN. */
  readToken(setting: TokenSetting): Promise<string>;
  /** Opens the client of the service. @throws UsageError if nothing says which service to call. */
  client(purpose?: ClientPurpose): Promise<Client>;
  /** The printer of the command. In `run` it knows the view of the verb. */
  readonly printer: Printer;
  /** Returns the colours of a stream. --color, the environment and the stream itself decide. */
  style(stream: 'stdout' | 'stderr'): Promise<Style>;
}

/** Returns true if a person reads notes that a script would print in each call: on a terminal, or with -v. */
export function isWatchedByPerson({ io, flags }: Pick<Context, 'io' | 'flags'>): boolean {
  return io.stderr.isTerminal || (flags.verbose ?? 0) > 0;
}

/**
 * Returns the URL that the paths of operations are appended to: the base URL, or the URL of the embedded store.
 *
 * @throws UsageError `no_target` if nothing says which service to call.
 */
export function addressOf({ offline, baseUrl }: Settings, { basePath }: Contract): string {
  const address = offline ? embeddedOrigin : baseUrl;
  if (!address)
    throw new UsageError(
      'no service to call: no base URL is set',
      'give --base-url <url>, choose a profile with --profile <name>, create one with `petstore profile create <name> --base-url <url>`, or use --offline for the embedded store',
      'no_target',
    );
  return withBasePath(address, basePath);
}

/** Appends the base path of a binding to a base URL without a path. */
export function withBasePath(baseUrl: string, basePath: string): string {
  return new URL(baseUrl).pathname === '/' ? baseUrl + basePath : baseUrl;
}

/** What names the target of a command line. */
export type CommandFlags = Pick<Context, 'flags'>;

/** Returns a command line with the target of the current one. */
export function followUpCommand({ flags }: CommandFlags, words: readonly string[]): string {
  const { profile, 'base-url': baseUrl, offline } = flags;
  const targetFlags = [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(offline ? ['--offline'] : []),
  ];
  return ['petstore', ...words, ...targetFlags].map(shellWord).join(' ');
}

/** Returns the command that shows the record of a row, or finds one that may have been created. */
export function showCommand(
  context: CommandFlags,
  { name, idField }: Noun,
  { id, intent }: Pick<Row, 'id' | 'intent'>,
): string {
  if (id !== undefined) return followUpCommand(context, [name, 'get', `${id}`]);
  const petName =
    name === 'pets' && intent.kind === 'create' && isFields(intent.fields) && intent.fields.name;
  const flags = typeof petName === 'string' ? ['--name', petName] : ['--sort', `-${idField}`];
  return followUpCommand(context, [name, 'list', ...flags]);
}
