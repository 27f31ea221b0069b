import { stat } from 'node:fs/promises';
import { isLoopbackHost } from '../../api/http.ts';
import type { Context } from '../../context.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { writeFileAtomic } from '../../files.ts';
import { withLock } from '../../lock.ts';
import type { Listening } from '../../server/listen.ts';
import { type Autosave, createAutosave } from '../../server/saving.ts';
import { startServer } from '../../server/start.ts';
import type { Store } from '../../server/store.ts';
import { printStore, readStore } from '../../server/store-file.ts';
import { sanitize } from '../../text.ts';
import type { ServePlan } from './flags.ts';
import { openReadyFile } from './ready-file.ts';
import { runCommand } from './run-command.ts';

/** Serves until a signal comes, or until the command has ended. */
export function serve(context: Context, plan: ServePlan, command: readonly string[]): Promise<void> {
  const work = () => serveShop(context, plan, command);
  // Two servers that save to one file would overwrite each other's changes.
  return plan.save && plan.data !== undefined ? withLock(plan.data, work, { waitMs: 0 }) : work();
}

async function serveShop(context: Context, plan: ServePlan, command: readonly string[]): Promise<void> {
  const readyFile = plan.readyFile === undefined ? undefined : await openReadyFile(plan.readyFile);
  const { store, isNew } = await openShop(plan);
  const autosave = plan.save && plan.data !== undefined ? openAutosave(context, store, plan.data) : undefined;
  const stop = nextSignal(context);
  const server = await openServer(context, plan, store, autosave);
  try {
    if (isNew) autosave?.changed();
    await readyFile?.write(`${server.url}\n`);
    await announce(context, plan, server.url, command.length === 0);
    if (command.length === 0) await stop;
    else context.exitCode = await runCommand(context, command, server.url);
  } finally {
    await server.close();
    await readyFile?.remove();
    await autosave?.close();
  }
}

/**
 * The shop to serve, and whether it still has to be written to a file.
 *
 * @throws UsageError if the file cannot be read or does not hold a shop; with --save it may be missing.
 */
async function openShop(plan: ServePlan): Promise<{ readonly store: Store; readonly isNew: boolean }> {
  const saved = plan.data === undefined ? undefined : readStore(plan.data);
  if (saved) return { store: saved, isNew: false };
  if (plan.data === undefined || plan.save) return { store: await makeShop(plan), isNew: true };
  throw new UsageError(`--data ${plan.data}: no such file`, 'with --save a missing file is created');
}

async function makeShop({ shop, seed }: ServePlan): Promise<Store> {
  if (shop === 'empty') return new (await import('../../server/store.ts')).Store();
  const { generateStore, seedStore } = await import('../../server/seed.ts');
  return shop === 'seeded' ? seedStore() : generateStore(shop.pets, seed);
}

/** Saves the shop to the file after changes; a failed save is reported and tried again. */
function openAutosave(context: Context, store: Store, file: string): Autosave {
  const save = async () => {
    // The file belongs to the user: its mode stays, and a new one gets the mode that the umask leaves.
    const mode = await stat(file).then(
      (found) => found.mode & 0o777,
      () => 0o666,
    );
    await writeFileAtomic(file, printStore(store), mode);
  };
  return createAutosave(save, (error) => say(context, `warning: ${messageOf(error)}`));
}

function openServer(
  context: Context,
  plan: ServePlan,
  store: Store,
  autosave: Autosave | undefined,
): Promise<Listening> {
  return startServer({
    ...plan,
    store,
    ...(autosave && { onChange: () => autosave.changed() }),
    onExchange: plan.log
      ? ({ method, target, status, elapsedMs }) =>
          say(
            context,
            `${context.now().toISOString()} ${method} ${target} ${status} ${elapsedMs.toFixed(1)} ms`,
          )
      : undefined,
    onDefect: (error) => say(context, `error: internal: ${messageOf(error)}`),
  });
}

/** Announces that the server accepts connections: prints its URL, and notes for people. */
async function announce(context: Context, plan: ServePlan, url: string, isAlone: boolean): Promise<void> {
  if (!isLoopbackHost(plan.host))
    say(
      context,
      `warning: --host ${plan.host}: everybody who can reach this machine can read and change the store`,
    );
  // With a command, stdout belongs to that command.
  if (isAlone) await context.io.stdout.write(`${url}\n`);
  await context.notice(isAlone ? `documentation: ${url}/docs` : `serving ${url}`);
  if (isAlone && context.io.stderr.isTerminal) await context.notice(`${fateOf(plan)}; Ctrl-C stops it`);
}

function fateOf({ readOnly, save, data }: ServePlan): string {
  if (readOnly) return 'read-only';
  return save ? `changes are saved to ${data}` : 'changes are lost at the end';
}

function nextSignal({ interrupts }: Context): Promise<void> {
  return new Promise((done) => {
    interrupts.take(() => done());
  });
}

/** A line that --quiet does not silence. */
function say({ io }: Context, line: string): void {
  io.stderr.write(`${sanitize(line)}\n`).catch(() => {});
}
