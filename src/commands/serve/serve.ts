import { isLoopbackHost } from '../../api/http.ts';
import type { Context } from '../../context.ts';
import { InputError, messageOf, UsageError } from '../../process/errors.ts';
import { sanitize } from '../../process/text.ts';
import { generateStore, seedStore } from '../../server/seed.ts';
import { type Exchange, type Listening, startServer } from '../../server/server.ts';
import { Store } from '../../server/store.ts';
import { readStore } from '../../server/store-file.ts';
import { runChildCommand } from './child-command.ts';
import type { ServeFlags } from './serve-flags.ts';

/** Serves the store until a signal comes, or until the command has ended. */
export async function runServe(
  context: Context,
  flags: ServeFlags,
  command: readonly string[],
): Promise<void> {
  const store = createStore(context, flags);
  const stop = nextSignal(context);
  const server = await openServer(context, flags, store);
  try {
    await announce(context, flags, server.url, command.length === 0);
    if (command.length === 0) await stop;
    else context.setExitCode(await runChildCommand(context, command, server.url));
  } finally {
    await server.close();
  }
}

/** Makes the store to serve. @throws UsageError if flags contradict each other; InputError if the file holds no store. */
function createStore({ io }: Context, { data, empty, pets, requireToken }: ServeFlags): Store {
  if (requireToken && !io.env.PETSTORE_TOKEN)
    throw new InputError(
      '--require-token: PETSTORE_TOKEN is not set',
      'set it to the token that requests must bear',
    );
  const sources = [data !== undefined && '--data', empty && '--empty', pets !== undefined && '--pets'];
  const [first, second] = sources.filter((name) => name !== false && name !== undefined);
  if (second) throw new UsageError(`${first} and ${second}: give one of them`);
  if (empty) return new Store();
  if (data === undefined) return pets === undefined ? seedStore() : generateStore(pets);
  const store = readStore(data);
  if (!store)
    throw new UsageError(`--data ${data}: no such file`, `\`petstore offline pull --to ${data}\` writes one`);
  return store;
}

function openServer(
  context: Context,
  {
    port = 4010,
    host: [host = '127.0.0.1', ...names] = [],
    latency,
    errorRate,
    requireToken,
    cors,
    log,
    ...options
  }: ServeFlags,
  store: Store,
): Promise<Listening> {
  const onExchange = ({ method, target, status, elapsedMs }: Exchange): void => {
    const now = context.now().toISOString();
    print(context, `${now} ${method} ${target} ${status} ${elapsedMs.toFixed(1)} ms`);
  };
  return startServer({
    ...options,
    store,
    port,
    host,
    names,
    token: requireToken ? context.io.env.PETSTORE_TOKEN : undefined,
    origins: cors,
    faults: { latencyMs: latency, errorRate },
    onExchange: log ? onExchange : undefined,
    onDefect: (error) => print(context, `error: internal: ${messageOf(error)}`),
  });
}

/** Announces that the server accepts connections: prints its URL, and notes for people. */
async function announce(
  context: Context,
  { host: [host] = [], readOnly }: ServeFlags,
  url: string,
  isAlone: boolean,
): Promise<void> {
  if (host !== undefined && !isLoopbackHost(host))
    print(
      context,
      `warning: --host ${host}: everybody who can reach this machine can read and change the store`,
    );
  // With a command, stdout belongs to that command.
  if (isAlone) await context.io.stdout.write(`${url}\n`);
  await context.print(isAlone ? `documentation: ${url}/docs` : `serving ${url}`);
  if (isAlone && context.io.stderr.isTerminal)
    await context.print(`${readOnly ? 'read-only' : 'changes are lost at the end'}; Ctrl-C stops it`);
}

function nextSignal({ interrupts }: Context): Promise<void> {
  return new Promise((done) => {
    interrupts.takeOver(() => done());
  });
}

/** Prints a line that --quiet does not hide. */
function print({ io }: Context, line: string): void {
  io.stderr.write(`${sanitize(line)}\n`).catch(() => {});
}
