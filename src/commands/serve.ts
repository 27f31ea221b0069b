import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { isLoopbackHost } from '../api/http.ts';
import { argument, flag, type ValuesOf, value, values } from '../cli/flag.ts';
import { action } from '../cli/verb.ts';
import { ownServerVariable } from '../config/file.ts';
import { parseDuration } from '../config/keys.ts';
import type { Context } from '../context.ts';
import { integerFrom } from '../input/numbers.ts';
import {
  exitCodes,
  InputError,
  interruption,
  messageOf,
  type Signal,
  systemReason,
  UsageError,
  ValueError,
} from '../process/errors.ts';
import { graceMs } from '../process/signals.ts';
import { seedStore } from '../server/seed.ts';
import { type Exchange, type RunningServer, startServer } from '../server/server.ts';
import { Store } from '../server/store.ts';
import { readStore } from '../server/store-file.ts';

const flags = {
  port: value('--port <n>', 'port to listen on (default: 4010); 0 takes a free one', {
    parse: integerFrom(0, 65_535),
  }),
  host: value('--host <address>', 'address or name to listen on (default: 127.0.0.1)'),
  data: value('--data <file>', 'serve the store that this JSON file holds', {
    offers: 'file',
  }),
  empty: flag('--empty', 'start with an empty store', { conflicts: ['data', 'pets'] }),
  pets: value('--pets <n>', 'start with a generated store of n pets', {
    parse: integerFrom(0, 10_000_000),
    conflicts: ['data'],
  }),
  latency: value('--latency <duration>', 'wait this long before each answer', { parse: parseDuration }),
  errorRate: value('--error-rate <share>', 'answer this share of requests, 0 to 1, with 503', {
    parse: parseShare,
  }),
  readOnly: flag('--read-only', 'answer every write with 405'),
  requireToken: flag(
    '--require-token',
    'answer API requests with 401 unless they carry the value of PETSTORE_TOKEN',
  ),
  cors: values('--cors <origin>', 'let pages of this origin use the server; can be repeated'),
  log: flag('--log', 'one line per request on stderr'),
};

type ServeFlags = ValuesOf<typeof flags>;

export const serve = action({
  wrongSettings: 'warn',
  description: [
    'Serves the pet store from memory, on this machine, until Ctrl-C, SIGTERM or SIGHUP. Prints its URL when it accepts connections. With a command, runs the command with PETSTORE_BASE_URL set and without a profile, then stops, and exits with the code of the command.',
    'Besides the API it serves /healthz (200 once it accepts connections), /openapi.json, /openapi.yaml and /docs, a page with forms to try operations out.',
    'The file of --data is JSON: an object with the lists categories, pets, orders and inventory, with records as the API has them. `offline pull --to` writes such a file.',
  ],
  examples: [
    'petstore serve',
    'petstore serve --port 0 -- petstore smoke',
    'petstore serve --data shop.json',
    'petstore serve --pets 100000 --latency 50ms --error-rate 0.01 --log',
  ],
  args: { command: argument('[command...]', 'command to run against the server, after --') },
  flags,
  run: async (context, { command, ...serveFlags }) => ({
    kind: 'nothing',
    exitCode: await runServe(context, serveFlags, command),
  }),
});

function parseShare(text: string): number {
  if (/^(?=.)\d?(\.\d{1,10})?$/.test(text) && Number(text) <= 1) return Number(text);
  throw new ValueError('must be a number from 0 to 1');
}

/**
 * Serves the store until a signal arrives or the command ends. Prints the URL when the server accepts connections.
 *
 * @returns the exit code of the command.
 */
async function runServe(context: Context, flags: ServeFlags, command: readonly string[]): Promise<number> {
  const store = storeToServe(context, flags);
  let stopSignal: Signal | undefined;
  const stop = new Promise<void>((done) =>
    context.stop.takeOver((signal) => {
      stopSignal = signal;
      done();
    }),
  );
  const server = await openServer(context, flags, store);
  const { host } = flags;
  try {
    if (host !== undefined && !isLoopbackHost(host))
      await context.notice(
        'warning',
        `--host ${host}: anyone who can reach this machine can read and change the store`,
      );
    if (command.length > 0) {
      // stdout is for the output of the command.
      await context.notice('status', `serving ${server.url}`);
      if (stopSignal) throw interruption(stopSignal);
      return await runChildCommand(context, command, server.url);
    }
    await context.io.stdout.write(`${server.url}\n`);
    await context.notice('status', `documentation: ${server.url}/docs`);
    await stop;
    return exitCodes.done;
  } finally {
    await server.close();
  }
}

/** Opens the store to serve. @throws InputError if the file is not a store. */
function storeToServe({ io }: Context, { data, empty, pets, requireToken }: ServeFlags): Store {
  if (requireToken && !io.env.PETSTORE_TOKEN)
    throw new InputError(
      '--require-token: PETSTORE_TOKEN is not set',
      'set it to the token that requests must have',
    );
  if (empty) return new Store();
  if (data === undefined) return seedStore(pets);
  const hint = '`petstore offline pull --to <file>` writes such a file';
  const store = readStore(resolve(io.cwd, data), hint);
  if (!store) throw new InputError(`--data ${data}: no such file`, hint);
  return store;
}

function openServer(
  context: Context,
  { port = 4010, host = '127.0.0.1', latency, errorRate, requireToken, cors, log, ...options }: ServeFlags,
  store: Store,
): Promise<RunningServer> {
  const onExchange = ({ method, target, status, elapsedMs }: Exchange): void => {
    const now = new Date().toISOString();
    void context.notice('summary', `${now} ${method} ${target} ${status} ${elapsedMs.toFixed(1)} ms`);
  };
  return startServer({
    ...options,
    store,
    port,
    host,
    token: requireToken ? context.io.env.PETSTORE_TOKEN : undefined,
    origins: cors,
    faults: { latencyMs: latency, errorRate },
    onExchange: log ? onExchange : undefined,
    onDefect: (error) => void context.notice('summary', `error: internal: ${messageOf(error)}`),
  });
}

/** How long a command may take to end after a signal: longer than petstore itself takes. */
const childGraceMs = graceMs + 2000;

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
  const [file = '', ...args] = command;
  // A profile belongs to another service.
  const { PETSTORE_PROFILE: _, ...env } = io.env;
  const child = spawn(file, args, {
    cwd: io.cwd,
    env: { ...env, PETSTORE_BASE_URL: baseUrl, [ownServerVariable]: '1' },
    stdio: 'inherit',
  });
  context.stop.takeOver((signal) => passSignal(context, signal, child));
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new UsageError(`run ${file}: ${systemReason(error)}`)));
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/**
 * Passes a signal on to the command. The terminal itself sends Ctrl-C to the command, and a second one may mean something else. But a
 * SIGINT may also come from `kill`, so a command that goes on gets it later.
 */
function passSignal({ io }: Context, signal: Signal, child: ChildProcess): void {
  const isInterrupt = signal === 'SIGINT';
  if (!isInterrupt || [io.stdin, io.stdout, io.stderr].every((stream) => !stream.isTerminal))
    child.kill(signal);
  setTimeout(() => child.kill(isInterrupt ? signal : 'SIGKILL'), childGraceMs).unref();
}
