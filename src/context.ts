import type { Contract } from './api/contract.ts';
import type { GlobalFlags } from './cli/global-flags.ts';
import type { Client } from './client/client.ts';
import type { OutputFormat } from './config/setting-values.ts';
import type { SettingFlags, Settings } from './config/settings.ts';
import type { TokenSource } from './config/token.ts';
import type { Prompt } from './input/question.ts';
import type { LiveLine } from './output/live-line.ts';
import { createNotices, type Notices } from './output/notices.ts';
import type { Printer } from './output/print.ts';
import { openStreams } from './output/streams.ts';
import { createStyle, type Style } from './output/style.ts';
import { exitCodes } from './process/errors.ts';
import type { Io } from './process/io.ts';
import { createSecrets, type Secrets } from './process/secrets.ts';
import { createInterrupts, type Interrupts } from './process/signals.ts';
import { shellWord } from './process/text.ts';

/**
 * What a client is for: single records over node:http, which loads fast, with a line that shows the wait; or bulk work
 * over undici, which has more throughput, by a command that shows its own progress.
 */
export type ClientUse = 'records' | 'bulk';

/** Everything that a command works with. Each part is created when it is first asked for, and then kept. */
export interface Context extends Pick<Notices, 'print' | 'warn' | 'lifecycle'> {
  readonly io: Io;
  /** Texts that must never be shown or written; the streams of `io` mask them. */
  readonly secrets: Secrets;
  readonly flags: GlobalFlags;
  /** True if no notices are shown: from --quiet, or from the config once the settings are resolved. */
  readonly quiet: boolean;
  readonly interrupts: Interrupts;
  /** @throws UsageError for a wrong value; a command that repairs settings gets a warning in its place. */
  settings(): Promise<Settings>;
  /** The operations that the service offers: the built-in contract, or the description that the profile is bound to. */
  contract(): Promise<Contract>;
  /** The token of the settings, read once for all clients: a token-command may ask for a PIN. */
  readToken(source: TokenSource): Promise<string>;
  /** @throws UsageError if nothing says which service to call. */
  client(use?: ClientUse): Promise<Client>;
  /** Undefined if questions are impossible: a stream is not a terminal, TERM is dumb, CI is set, or --no-input was given. */
  prompt(): Promise<Prompt> | undefined;
  /** @param format for a command with a default of its own; else the format of the settings. */
  printer(format?: OutputFormat): Promise<Printer>;
  /** The colours of a stream: --color, the environment and the stream itself decide. */
  style(stream: 'stdout' | 'stderr'): Promise<Style>;
  /** Shows what takes long. */
  readonly liveLine: LiveLine;
  now(): Date;
  /** The exit code if the command ends without an error. */
  exitCode: number;
}

/** The context as `main` holds it. The flags are not known until commander has parsed them. */
export interface MutableContext extends Context, Notices {
  /**
   * @param command as the user typed it, such as `pets get`.
   * @param repairs the command works in spite of wrong settings.
   */
  useFlags(flags: GlobalFlags, command?: string, repairs?: boolean): void;
  /** The settings without their warnings and in spite of their problems, to report an error. */
  unwarnedSettings(): Promise<Settings>;
  /** Whether errors are printed as JSON: a flag decides, or the settings. A flag that makes them invalid is ignored. */
  hasJsonErrors(): Promise<boolean>;
  close(): Promise<void>;
}

/** @param connect opens the client. It is a parameter because it needs the type of the context and loads the client. */
export function createContext(
  processIo: Io,
  connect: (context: Context, use: ClientUse) => Promise<Client>,
): MutableContext {
  // Before anything else: an error in the command line may quote the token before a command reads it.
  const secrets = createSecrets(processIo.env);
  const { io, liveLine } = openStreams(processIo, secrets);
  const interrupts = createInterrupts(io);
  let flags: GlobalFlags = {};
  let commandName = '';
  let isRepair = false;
  const closers: (() => Promise<void>)[] = [];
  const clients = keyed(async (use: ClientUse) => {
    const client = await connect(context, use);
    closers.push(() => client.close());
    return client;
  });
  let isQuiet = false;
  let token: Promise<string> | undefined;
  const resolve = async (from: SettingFlags) =>
    (await import('./config/settings.ts')).resolveSettings(io, from);
  const unwarnedSettings = once(async () => {
    const settings = await resolve(flags);
    isQuiet = settings.get('quiet');
    return settings;
  });
  const notices = createNotices({
    io,
    async isQuiet() {
      await unwarnedSettings().catch(() => {});
      return context.quiet;
    },
    hasJsonErrors: () => context.hasJsonErrors(),
    showsLifecycle: () => (flags.verbose ?? 0) > 0 || (io.stderr.isTerminal && !io.env.CI),
    commandName: () => commandName,
  });
  const context: MutableContext = {
    ...notices,
    io,
    secrets,
    interrupts,
    get flags() {
      return flags;
    },
    useFlags(given, command = '', repairs = false) {
      flags = given;
      commandName = command;
      isRepair = repairs;
    },
    get quiet() {
      return flags.quiet === true || isQuiet;
    },
    exitCode: exitCodes.done,
    unwarnedSettings,
    async hasJsonErrors() {
      const settings = await unwarnedSettings()
        .catch(() => resolve({ profile: flags.profile }))
        .catch(() => undefined);
      const format = flags.output ?? settings?.get('output') ?? io.env.PETSTORE_OUTPUT;
      return format === 'json' || format === 'jsonl';
    },
    settings: once(() => settingsWithWarnings(context, isRepair)),
    contract: once(() => readContract(context)),
    readToken(source) {
      token ??= readTokenOf(context, source);
      return token;
    },
    client: (use = 'records') => clients(use),
    prompt: once(() => (whyNotAsked(context) === undefined ? openPrompt(context) : undefined)),
    liveLine,
    style: keyed((stream) => openStyle(context, stream)),
    printer: keyed((format) => openPrinter(context, format)),
    now: () => new Date(),
    async close() {
      liveLine.close();
      await Promise.all(closers.map((close) => close()));
    },
  };
  return context;
}

async function settingsWithWarnings(
  { unwarnedSettings, warn }: MutableContext,
  isRepair: boolean,
): Promise<Settings> {
  const settings = await unwarnedSettings();
  const [problem] = settings.problems;
  if (problem && !isRepair) throw problem;
  for (const { message, details } of settings.problems)
    await warn(`warning: ${[message, details.hint].filter(Boolean).join('; ')}`);
  for (const warning of settings.warnings) await warn(warning);
  return settings;
}

async function readTokenOf({ io, interrupts, settings }: Context, source: TokenSource): Promise<string> {
  const { readToken } = await import('./config/token.ts');
  const timeoutMs = (await settings()).get('timeout');
  return readToken(source, { io, signal: interrupts.signal, timeoutMs });
}

/** The embedded store has the built-in contract; a service has the one that is bound to its profile or its origin. */
async function readContract({ io, settings: resolve }: Context): Promise<Contract> {
  const { builtInContract } = await import('./api/contract.ts');
  const settings = await resolve();
  const baseUrl = settings.offline ? undefined : settings.get('base-url');
  if (baseUrl === undefined) return builtInContract;
  const { readBoundContract } = await import('./config/contract-file.ts');
  const { origin } = new URL(baseUrl);
  return readBoundContract(io, origin, settings) ?? builtInContract;
}

async function openPrinter(context: Context, format: OutputFormat | undefined): Promise<Printer> {
  const { Printer } = await import('./output/print.ts');
  const settings = await context.settings();
  const { io, flags, liveLine } = context;
  return new Printer(io, {
    format: format ?? settings.get('output'),
    fields: flags.fields,
    sort: flags.sort,
    header: !flags.noHeader,
    color: settings.get('color'),
    quiet: context.quiet,
    liveLine,
  });
}

async function openPrompt({ io, interrupts, style }: Context): Promise<Prompt> {
  const { createPrompt } = await import('./input/prompt.ts');
  return createPrompt(io, { signal: interrupts.signal, style: await style('stderr') });
}

/** Never throws: if the settings do not resolve, another place reports it, and the stream alone decides the colours. */
async function openStyle(
  { io, flags, unwarnedSettings }: MutableContext,
  stream: 'stdout' | 'stderr',
): Promise<Style> {
  const color = await unwarnedSettings().then(
    (resolved) => resolved.get('color'),
    () => (flags.color === 'always' || flags.color === 'never' ? flags.color : 'auto'),
  );
  return createStyle(io[stream], io.env, color);
}

/** A clause that says why no question can be asked; undefined if one can. An answer is never read from a pipe. */
export function whyNotAsked({ io, flags }: Pick<Context, 'io' | 'flags'>): string | undefined {
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) return 'there is no terminal';
  if (io.env.TERM === 'dumb') return 'TERM is dumb';
  if (io.env.CI) return 'CI is set';
  return flags.noInput ? '--no-input is given' : undefined;
}

function once<Value>(make: () => Value): () => Value {
  const get = keyed(make);
  return () => get(undefined);
}

function keyed<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key) as Value;
  };
}

/** A command line of this program with the same target as this one. */
export function commandLine({ flags }: Context, words: readonly string[]): string {
  const { profile, baseUrl, offline } = flags;
  const place = [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(offline ? ['--offline'] : []),
  ];
  return ['petstore', ...words, ...place].map(shellWord).join(' ');
}
