import type { Contract } from './api/contract.ts';
import type { LifecycleNotice } from './api/lifecycle.ts';
import type { OperationId } from './api/operations.ts';
import type { Client } from './client/client.ts';
import { colorModes } from './config/choices.ts';
import type { Settings } from './config/settings.ts';
import { exitCodes } from './errors.ts';
import type { Prompt } from './input/prompt.ts';
import { createInterrupts, type Interrupts } from './interrupts.ts';
import type { Io } from './io.ts';
import { createSecrets, type Secrets } from './mask.ts';
import type { Printer } from './output/print.ts';
import { createStatusLine, type StatusLine } from './output/status-line.ts';
import { createStyle, type Style } from './output/style.ts';
import { safeIo } from './safe-io.ts';
import { sanitize } from './text.ts';

/** The flags that every command takes, as commander parsed them; a flag that was not given is undefined. */
export interface GlobalFlags {
  readonly profile?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly offline?: boolean | undefined;
  readonly output?: string | undefined;
  readonly fields?: string | undefined;
  readonly sort?: string | undefined;
  /** False for `--no-header`. */
  readonly header?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  /** 1 for `-v`, 2 for `-vv`. */
  readonly verbose?: number | undefined;
  readonly color?: string | undefined;
  readonly timeout?: string | undefined;
  readonly retries?: string | undefined;
  /** Of bulk commands, as the one below. */
  readonly concurrency?: string | undefined;
  readonly rate?: string | undefined;
  readonly headers?: readonly string[] | undefined;
  readonly caCert?: string | undefined;
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
  readonly allowInsecureHttp?: boolean | undefined;
  readonly yes?: boolean | undefined;
  /** False for `--no-input`. */
  readonly input?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  /** The profile's name, where a protected profile asks for it. */
  readonly confirm?: string | undefined;
}

/** How many requests a command will send: a few over node:http, which starts fast, or many over undici, which runs fast. */
export type Load = 'few' | 'many';

/** What a command works with. Each part is made when it is first asked for, and once. */
export interface Context {
  readonly io: Io;
  /** What no output, file or error may show; its streams mask it already. */
  readonly secrets: Secrets;
  readonly flags: GlobalFlags;
  readonly interrupts: Interrupts;
  /** Warns of a config file that is passed over. */
  settings(): Promise<Settings>;
  /** What the service offers: the table, or the description that the profile is bound to. */
  contract(): Promise<Contract>;
  /** @throws UsageError where nothing says which service to call. */
  client(load?: Load): Promise<Client>;
  /** Undefined where nobody can answer: a stream is no terminal, CI is set, or --no-input was given. */
  prompt(): Promise<Prompt> | undefined;
  printer(): Promise<Printer>;
  /** The colours of a stream, as --color, the environment and the stream itself have it. */
  style(stream: 'stdout' | 'stderr'): Promise<Style>;
  /** The line that says what goes on, for progress. */
  readonly statusLine: StatusLine;
  /**
   * A line for people on stderr, foreign text in it made visible; nothing with --quiet. Never rejects: whether somebody can
   * read along changes nothing of what a command does.
   */
  notice(line: string): Promise<void>;
  /**
   * A notice that is of use only together with what the command gives: where errors go out as JSON, which stands alone on
   * stderr then, it waits for the end, and goes with an error.
   */
  note(line: string): Promise<void>;
  /** What there is to know of the life cycle of the operations that this run used. */
  readonly lifecycle: Map<OperationId, LifecycleNotice>;
  now(): Date;
  /** What the process will exit with when the command ends without an error. */
  exitCode: number;
}

/** The context as `main` holds it: the flags are known once commander has parsed them. */
export interface MutableContext extends Context {
  useFlags(flags: GlobalFlags): void;
  /** The settings without their warning, for what reports another's error. */
  quietSettings(): Promise<Settings>;
  /** Tells the notes that wait, and what `lifecycle` holds, once: a line for what is deprecated, and one for what is beta or experimental. */
  tellLifecycle(): Promise<void>;
  close(): Promise<void>;
}

export function createContext(processIo: Io): MutableContext {
  const secrets = createSecrets();
  const { io, line } = createStatusLine(safeIo(processIo, secrets));
  const interrupts = createInterrupts(io);
  let flags: GlobalFlags = {};
  const notes: string[] = [];
  const closers: (() => Promise<void>)[] = [];
  const clients = keyed(async (load: Load) => {
    const client = await (await import('./wiring/connect.ts')).connect(context, load);
    closers.push(() => client.close());
    return client;
  });
  const quietSettings = once(async () => (await import('./config/settings.ts')).resolveSettings(io, flags));
  const context: MutableContext = {
    io,
    secrets,
    interrupts,
    get flags() {
      return flags;
    },
    useFlags(given) {
      flags = given;
    },
    exitCode: exitCodes.done,
    quietSettings,
    settings: once(() => settingsWithWarnings(context)),
    contract: once(async () => (await import('./wiring/read-contract.ts')).readContract(context)),
    client: (load = 'few') => clients(load),
    prompt: once(() => (canAsk(io, flags) ? openPrompt(context) : undefined)),
    statusLine: line,
    style: keyed((stream) => openStyle(context, stream)),
    printer: once(async () => (await import('./wiring/open-printer.ts')).openPrinter(context)),
    async notice(line) {
      if (!flags.quiet) await io.stderr.write(`${sanitize(line)}\n`).catch(() => {});
    },
    async note(line) {
      const settings = await quietSettings().catch(() => undefined);
      if (/^jsonl?$/.test(settings?.get('output') ?? '')) notes.push(line);
      else await context.notice(line);
    },
    lifecycle: new Map(),
    async tellLifecycle() {
      for (const line of notes.splice(0)) await context.notice(line);
      await tellLifecycle(context);
    },
    now: () => new Date(),
    async close() {
      line.clear();
      await Promise.all(closers.map((close) => close()));
    },
  };
  return context;
}

async function settingsWithWarnings({ quietSettings, notice }: MutableContext): Promise<Settings> {
  const settings = await quietSettings();
  for (const warning of settings.warnings) await notice(warning);
  return settings;
}

async function tellLifecycle({ lifecycle, notice }: Context): Promise<void> {
  const notices = [...lifecycle.values()];
  lifecycle.clear();
  for (const kind of ['deprecation', 'stability'] as const) {
    const clauses = notices.flatMap((each) => each[kind] ?? []);
    if (clauses.length > 0) await notice(`warning: ${clauses.join('; ')}`);
  }
}

async function openPrompt({ io, interrupts, style }: Context): Promise<Prompt> {
  const { createPrompt } = await import('./input/prompt.ts');
  return createPrompt(io, { signal: interrupts.signal, style: await style('stderr') });
}

/** Settings that do not resolve are another's error to report: the colours of that report follow the stream alone. */
async function openStyle(
  { io, flags, quietSettings }: MutableContext,
  stream: 'stdout' | 'stderr',
): Promise<Style> {
  const color = await quietSettings().then(
    (resolved) => resolved.get('color'),
    () => colorModes.find((mode) => mode === flags.color) ?? 'auto',
  );
  return createStyle(io[stream], io.env, color);
}

/** Nobody is asked unless a person sits at both ends: an answer is never read from a pipe. */
function canAsk(io: Io, flags: GlobalFlags): boolean {
  return io.stdin.isTerminal && io.stderr.isTerminal && !io.env.CI && flags.input !== false;
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function keyed<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key) as Value;
  };
}
