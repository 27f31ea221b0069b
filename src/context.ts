import type { Contract } from './api/contract.ts';
import type { GlobalFlags } from './cli/global-flags.ts';
import type { Client } from './client/client.ts';
import type { OutputFormat } from './config/setting-values.ts';
import type { Settings } from './config/settings.ts';
import type { TokenSource } from './config/token-source.ts';
import type { Prompt } from './input/question.ts';
import type { LiveLine } from './output/live-line.ts';
import type { Notices } from './output/notices.ts';
import type { Printer } from './output/print.ts';
import type { Style } from './output/style.ts';
import type { Io } from './process/io.ts';
import type { Secrets } from './process/secrets.ts';
import type { Interrupts } from './process/signals.ts';
import { shellWord } from './process/text.ts';

/**
 * What a client is for: single records over node:http, which loads fast, with a line that shows the wait; or bulk work
 * over undici, which has more throughput, by a command that shows its own progress.
 */
export type ClientUse = 'records' | 'bulk';

/** The parts of a context that exist before the command line is read. */
export interface Runtime {
  /** The streams and the environment; its streams are safe to write to. */
  readonly io: Io;
  /** Texts that must never be shown or written; the streams of `io` mask them. */
  readonly secrets: Secrets;
  readonly interrupts: Interrupts;
  /** Shows what takes long. */
  readonly liveLine: LiveLine;
}

/** Everything that a command works with. What takes time to open is opened when it is first asked for, once. */
export interface Context extends Runtime, Pick<Notices, 'print' | 'warn' | 'lifecycle'> {
  /** The flags of the command line, parsed. */
  readonly flags: GlobalFlags;
  readonly settings: Settings;
  /** True if no notices are shown, because of --quiet or the settings. */
  readonly quiet: boolean;
  /** The operations that the service offers: the built-in contract, or the description that the profile is bound to. */
  contract(): Promise<Contract>;
  /** Reads the token of the settings, once for all clients: a token-command may ask for a PIN. */
  readToken(source: TokenSource): Promise<string>;
  /** @throws UsageError if nothing says which service to call. */
  client(use?: ClientUse): Promise<Client>;
  /** Opens the prompt; undefined if questions are impossible: a stream is not a terminal, TERM is dumb, CI is set, or --no-input was given. */
  prompt(): Promise<Prompt> | undefined;
  /** @param format for a command with a default of its own; else the format of the settings. */
  printer(format?: OutputFormat): Promise<Printer>;
  /** The colours of a stream: --color, the environment and the stream itself decide. */
  style(stream: 'stdout' | 'stderr'): Promise<Style>;
  now(): Date;
  /** The exit code if the command ends without an error. */
  exitCode: number;
}

/** Writes a command line of this program that has the same target as this one. */
export function followUpCommand({ flags }: Context, words: readonly string[]): string {
  const { profile, baseUrl, offline } = flags;
  const place = [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(offline ? ['--offline'] : []),
  ];
  return ['petstore', ...words, ...place].map(shellWord).join(' ');
}
