import { builtInContract, type Contract } from './api/contract.ts';
import { canAsk } from './asking.ts';
import type { Settings, TokenSource } from './config/settings.ts';
import type { ClientUse, Context, Runtime } from './context.ts';
import type { Notices } from './output/messages.ts';
import { createPrinter } from './output/printer.ts';
import { openStreams } from './output/streams.ts';
import { createStyle } from './output/style.ts';
import type { Io } from './process/io.ts';
import { createSecrets } from './process/secrets.ts';
import { createInterrupts } from './process/signals.ts';

/** Prepares the streams and the signals. The streams mask secrets from the start, because an error may quote the token. */
export function openRuntime(processIo: Io): Runtime {
  const secrets = createSecrets(processIo.env);
  const { io, liveLine } = openStreams(processIo, secrets);
  return { io, secrets, liveLine, interrupts: createInterrupts(io) };
}

/** Makes the context of a command. */
export function openContext(
  runtime: Runtime,
  { flags, settings, notices }: Pick<Context, 'flags' | 'settings'> & { readonly notices: Notices },
): Context {
  const { io, interrupts } = runtime;
  const openClient = memoizeByFirst(async (use: ClientUse) => {
    const { connect } = await import('./connect.ts');
    return connect(context, use);
  });
  const openPrompt = memoizeByFirst(async () => {
    const { createPrompt } = await import('./input/prompt.ts');
    return createPrompt(io, { signal: interrupts.signal, style: await context.style('stderr') });
  });
  const context: Context = {
    ...runtime,
    ...notices,
    flags,
    settings,
    quiet: settings.get('quiet'),
    contract: memoizeByFirst(() => readContract(io, settings)),
    readToken: memoizeByFirst((source) => readTokenOf(runtime, settings, source)),
    client: (use = 'records') => openClient(use),
    prompt: () => (canAsk(context) ? openPrompt() : undefined),
    style: memoizeByFirst((stream) => createStyle(io[stream], io.env, settings.get('color'))),
    printer: () =>
      createPrinter(io, {
        format: settings.get('output'),
        fields: flags.fields,
        sort: flags.sort,
        header: !flags.noHeader,
        color: settings.get('color'),
      }),
  };
  return context;
}

/** Reads the contract that is bound to the profile or the origin. Without one, and for the embedded store, returns the built-in one. */
async function readContract(io: Io, settings: Settings): Promise<Contract> {
  const { baseUrl } = settings;
  if (baseUrl === undefined) return builtInContract;
  const { readBoundContract } = await import('./config/contract-file.ts');
  return readBoundContract(io, new URL(baseUrl).origin, settings) ?? builtInContract;
}

async function readTokenOf({ io, interrupts }: Runtime, settings: Settings, source: TokenSource) {
  const { readToken } = await import('./config/read-token.ts');
  return readToken(source, { io, signal: interrupts.signal, timeoutMs: settings.get('timeout') });
}

/** Wraps a function so that it runs once for each value of its first argument; later calls return the same result. */
function memoizeByFirst<Args extends readonly unknown[], Value>(
  make: (...args: Args) => Value,
): (...args: Args) => Value {
  const results = new Map<unknown, Value>();
  return (...args) => {
    if (!results.has(args[0])) results.set(args[0], make(...args));
    return results.get(args[0]) as Value;
  };
}
