import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { isLoopbackHost } from '../../api/http.ts';
import { builtInVariable } from '../../config/contract-file.ts';
import type { Context } from '../../context.ts';
import { InputError, messageOf, type Signal, UsageError } from '../../process/errors.ts';
import { systemReason } from '../../process/system-error.ts';
import { sanitize } from '../../process/text.ts';
import { generateStore, seedStore } from '../../server/seed.ts';
import { type Exchange, type Listening, startServer } from '../../server/server.ts';
import { Store } from '../../server/store.ts';
import { readStore } from '../../server/store-file.ts';
import type { ServeFlags } from './index.ts';

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

/** The time in which a command must end after SIGTERM, in milliseconds. */
const graceMs = 12_000;

/**
 * Runs a command with the streams of this process, with PETSTORE_BASE_URL set and without a profile.
 *
 * @returns its exit code; 128 plus the signal's number if a signal ended it.
 * @throws UsageError if it cannot be started.
 */
async function runChildCommand(
  context: Context,
  command: readonly string[],
  baseUrl: string,
): Promise<number> {
  const { io } = context;
  const [file = '', ...words] = command;
  if (file === '') throw new UsageError('run: the command after -- is empty');
  // The token, the protection and the binding of a profile belong to another service.
  const { PETSTORE_PROFILE: _, ...env } = io.env;
  const child = spawn(file, words, {
    cwd: io.cwd,
    env: { ...env, PETSTORE_BASE_URL: baseUrl, [builtInVariable]: '1' },
    stdio: 'inherit',
  });
  // Signals stay taken over: a signal right after the end of the command must not interrupt the last save.
  context.interrupts.takeOver((signal) => passSignal(context, signal, child));
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new UsageError(`run ${file}: ${systemReason(error, 'command')}`)));
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** Passes a signal on. Not Ctrl-C in a terminal: it reaches the command directly, and would come twice. */
function passSignal({ io }: Context, signal: Signal, child: ChildProcess): void {
  const isFromTerminal =
    signal === 'SIGINT' && [io.stdin, io.stdout, io.stderr].some((stream) => stream.isTerminal);
  if (!isFromTerminal) child.kill(signal);
  if (signal !== 'SIGINT') setTimeout(() => child.kill('SIGKILL'), graceMs).unref();
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
