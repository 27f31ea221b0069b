import { rm } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { withLock } from '../../lock.ts';
import type { Autosave } from '../../server/autosave.ts';
import type { Listening } from '../../server/listen.ts';
import { startServer } from '../../server/start.ts';
import type { Store } from '../../server/store.ts';
import { announce } from './announce.ts';
import type { ServePlan } from './flags.ts';
import { runCommand } from './run-command.ts';
import { say } from './say.ts';
import { openAutosave, openShop } from './shop.ts';

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

interface Shop {
  readonly store: Store;
  readonly autosave: Autosave | undefined;
}

function openServer(context: Context, plan: ServePlan, { store, autosave }: Shop): Promise<Listening> {
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

function nextSignal({ interrupts }: Context): Promise<void> {
  return new Promise((done) => {
    interrupts.take(() => done());
  });
}
