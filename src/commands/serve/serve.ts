import { rm, stat } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import { withLock, writeFileAtomic } from '../../files.ts';
import { sanitize } from '../../output/sanitize.ts';
import { type Autosave, createAutosave } from '../../server/autosave.ts';
import { isLoopback } from '../../server/guard.ts';
import type { Listening } from '../../server/listen.ts';
import { startServer } from '../../server/start.ts';
import type { Store } from '../../server/store.ts';
import { printStore } from '../../server/store-text.ts';
import type { ServePlan } from './flags.ts';
import { runCommand } from './run-command.ts';
import { openShop } from './shop.ts';

/** Serves until a signal comes, or until the command has ended. */
export function serve(context: Context, plan: ServePlan, command: readonly string[]): Promise<void> {
  const work = () => serveShop(context, plan, command);
  // Two servers that save to one file would undo each other's changes.
  return plan.save && plan.data !== undefined ? withLock(plan.data, work, { waitMs: 0 }) : work();
}

async function serveShop(context: Context, plan: ServePlan, command: readonly string[]): Promise<void> {
  const { store, isNew } = await openShop(plan);
  const autosave = plan.save && plan.data !== undefined ? openAutosave(context, store, plan.data) : undefined;
  if (isNew) autosave?.changed();
  const stop = nextSignal(context);
  if (plan.readyFile !== undefined) await rm(plan.readyFile, { force: true });
  const server = await openServer(context, plan, { store, autosave });
  try {
    await announce(context, plan, { url: server.url, isAlone: command.length === 0 });
    if (command.length === 0) await stop;
    else context.exitCode = await runCommand(context, command, server.url);
  } finally {
    await server.close();
    if (plan.readyFile !== undefined) await rm(plan.readyFile, { force: true });
    await autosave?.close();
  }
}

function openAutosave(context: Context, store: Store, file: string): Autosave {
  return createAutosave(
    async () => writeFileAtomic(file, printStore(store), await modeOf(file)),
    (error) => say(context, `warning: ${messageOf(error)}`),
  );
}

/** That of the file as it is, for it is the user's own; a new one gets what the umask leaves. */
async function modeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ mode }) => mode & 0o777,
    () => 0o666,
  );
}

interface Shop {
  readonly store: Store;
  readonly autosave: Autosave | undefined;
}

function openServer(context: Context, plan: ServePlan, { store, autosave }: Shop): Promise<Listening> {
  return startServer({
    ...plan,
    store,
    onChange: () => autosave?.changed(),
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

interface Announcement {
  readonly url: string;
  /** Without a command of its own, whose stdout it would be. */
  readonly isAlone: boolean;
}

async function announce(context: Context, plan: ServePlan, { url, isAlone }: Announcement): Promise<void> {
  if (!isLoopback(plan.host))
    say(
      context,
      `warning: --host ${plan.host}: whoever can reach this machine can read and change the store`,
    );
  if (plan.readyFile !== undefined) await writeFileAtomic(plan.readyFile, `${url}\n`);
  if (isAlone) await context.io.stdout.write(`${url}\n`);
  else await context.notice(`serving ${url}`);
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

/** A line that also --quiet leaves. */
function say({ io }: Context, line: string): void {
  io.stderr.write(`${sanitize(line)}\n`).catch(() => {});
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
