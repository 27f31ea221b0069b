import { stat } from 'node:fs/promises';
import { isLoopbackHost } from '../../api/http.ts';
import type { Context } from '../../context.ts';
import { sleep } from '../../process/deadline.ts';
import { CliError, InputError, messageOf, UsageError } from '../../process/errors.ts';
import { writeFileAtomic } from '../../process/files.ts';
import { withLock } from '../../process/lock.ts';
import { sanitize } from '../../process/text.ts';
import { generateStore, seedStore } from '../../server/seed.ts';
import { type Exchange, type Listening, startServer } from '../../server/server.ts';
import { Store } from '../../server/store.ts';
import { noFile, printStore, readStore, versionOf, versionWritten } from '../../server/store-file.ts';
import { runChildCommand } from './child-command.ts';
import type { ServeFlags } from './serve-flags.ts';

/** Serves the store until a signal comes, or until the command has ended. */
export function runServe(context: Context, flags: ServeFlags, command: readonly string[]): Promise<void> {
  checkFlags(context, flags);
  const work = () => serveStore(context, flags, command);
  // Two servers that save to one file would overwrite each other's changes.
  return flags.save && flags.data !== undefined ? withLock(flags.data, work, { waitMs: 0 }) : work();
}

function checkFlags({ io }: Context, { data, save, empty, pets, requireToken }: ServeFlags): void {
  if (requireToken && !io.env.PETSTORE_TOKEN)
    throw new InputError(
      '--require-token: PETSTORE_TOKEN is not set',
      'set it to the token that requests must bear',
    );
  if (save && data === undefined)
    throw new UsageError('--save: there is no file to save to', 'name it with --data <file>');
  if (empty && pets !== undefined) throw new UsageError('--empty and --pets: give one of them');
  if (data !== undefined && !save && (empty || pets !== undefined))
    throw new UsageError(
      `--data and --${empty ? 'empty' : 'pets'}: give only one of them, because the file holds the store`,
      'to create a new file with it, add --save',
    );
}

async function serveStore(context: Context, flags: ServeFlags, command: readonly string[]): Promise<void> {
  const fileStore = flags.data === undefined ? undefined : readStore(flags.data);
  const store = fileStore ?? createStore(flags);
  const stop = nextSignal(context);
  const server = await openServer(context, flags, store);
  const { data, save } = flags;
  const endSaving =
    save && data !== undefined ? startSaving(context, data, store, fileStore?.revision) : undefined;
  try {
    await announce(context, flags, server.url, command.length === 0);
    if (command.length === 0) await stop;
    else context.setExitCode(await runChildCommand(context, command, server.url));
  } finally {
    await server.close();
    await endSaving?.();
  }
}

/** Makes the store to serve. @throws UsageError if the file of --data is missing and --save is not given. */
function createStore({ data, save, empty, pets }: ServeFlags): Store {
  if (data !== undefined && !save)
    throw new UsageError(`--data ${data}: no such file`, 'with --save a missing file is created');
  if (empty) return new Store();
  return pets === undefined ? seedStore() : generateStore(pets);
}

/** The pause between two saves, in milliseconds. */
const pauseMs = 500;

/**
 * Saves the store whenever it has changed.
 *
 * @param savedRevision the revision that the file holds; undefined if there is no file.
 * @returns a function that saves once more and ends the saving. It throws a CliError `failed` if the file cannot be
 *   written, or if another program has changed it.
 */
function startSaving(
  context: Context,
  file: string,
  store: Store,
  savedRevision: number | undefined,
): () => Promise<void> {
  let revision = savedRevision;
  let version: string | undefined = versionOf(file);
  let reason: string | undefined;
  const closing = new AbortController();
  const save = async () => {
    const current = store.revision;
    if (current === revision) return;
    const found = versionOf(file);
    if (found !== version && found !== noFile)
      throw new CliError(
        'failed',
        `--data ${file}: another program has changed the file, so it is not saved`,
      );
    // The file belongs to the user: its mode stays, and a new one gets the mode that the umask leaves.
    const mode = await stat(file).then(
      (stats) => stats.mode & 0o777,
      () => 0o666,
    );
    const text = printStore(store);
    await writeFileAtomic(file, text, mode);
    version = versionWritten(file, text);
    revision = current;
  };
  const saveAgain = async () => {
    while (!closing.signal.aborted) {
      await save().catch((error: unknown) => {
        const why = messageOf(error);
        if (why !== reason) print(context, `warning: ${why}`);
        reason = why;
      });
      await sleep(pauseMs, closing.signal).catch(() => {});
    }
  };
  const saving = saveAgain();
  return async () => {
    closing.abort();
    await saving;
    await save();
  };
}

function openServer(
  context: Context,
  {
    port = 4010,
    host: [host = '127.0.0.1', ...names] = [],
    latency,
    errorRate,
    rateLimit,
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
    faults: { latencyMs: latency, errorRate, ratePerSecond: rateLimit },
    onExchange: log ? onExchange : undefined,
    onDefect: (error) => print(context, `error: internal: ${messageOf(error)}`),
  });
}

/** Announces that the server accepts connections: prints its URL, and notes for people. */
async function announce(
  context: Context,
  { host: [host] = [], ...flags }: ServeFlags,
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
    await context.print(`${persistenceNote(flags)}; Ctrl-C stops it`);
}

function persistenceNote({ readOnly, save, data }: Pick<ServeFlags, 'readOnly' | 'save' | 'data'>): string {
  if (readOnly) return 'read-only';
  return save ? `changes are saved to ${data}` : 'changes are lost at the end';
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
