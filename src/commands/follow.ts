import type { Context } from '../context.ts';
import { startProgress } from '../output/progress.ts';
import type { Attempts } from './attempts.ts';

/**
 * Shows on stderr how far many writes have come, where the records that come back do not show it, and where they stood when
 * they are interrupted.
 *
 * @returns what ends it.
 */
export async function follow(
  context: Context,
  { state }: Attempts<unknown>,
  noun: string,
): Promise<() => Promise<void>> {
  const { io, statusLine, flags, interrupts } = context;
  if (state().total === 1) return async () => {};
  const progress = startProgress(io, statusLine, {
    mode: flags.quiet || io.stdout.isTerminal ? 'none' : 'auto',
    label: 'writing',
    unit: noun,
    style: await context.style('stderr'),
    delayMs: 1000,
    read: state,
  });
  const tell = () => void context.notice(whereItStood(state(), noun));
  interrupts.signal.addEventListener('abort', tell);
  return async () => {
    interrupts.signal.removeEventListener('abort', tell);
    await progress.stop();
  };
}

function whereItStood({ done, failed, total }: ReturnType<Attempts<unknown>['state']>, noun: string): string {
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  return `note: ${done - failed} of ${total} ${noun} were written${failures}; the next one may have been`;
}
