import { isLoopbackHost } from '../../api/host.ts';
import type { Context } from '../../context.ts';
import { writeFileAtomic } from '../../files.ts';
import type { ServePlan } from './flags.ts';
import { say } from './say.ts';

interface Announcement {
  readonly url: string;
  /** Without a command of its own, whose stdout it would be. */
  readonly isAlone: boolean;
}

/** Tells that the server accepts: its URL to whoever waits for it, and to people what they should know. */
export async function announce(
  context: Context,
  plan: ServePlan,
  { url, isAlone }: Announcement,
): Promise<void> {
  if (!isLoopbackHost(plan.host))
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
