import type { Context } from '../context.ts';
import { ManyError } from '../errors.ts';
import { startProgress } from '../output/progress.ts';
import type { Attempts } from './attempts.ts';

/**
 * Does the work of many writes; shows on stderr how far they have come, where the records that come back do not show it,
 * and where they stood if the work breaks off.
 */
export async function follow(
  context: Context,
  { noun, state }: Followed,
  work: () => Promise<void>,
): Promise<void> {
  if (state().total === 1) return work();
  const { io, statusLine, interrupts } = context;
  const progress = startProgress(io, statusLine, {
    mode: context.quiet || io.stdout.isTerminal ? 'none' : 'auto',
    label: 'writing',
    unit: noun,
    style: await context.style('stderr'),
    delayMs: 1000,
    read: state,
  });
  const tell = () => context.notice(whereItStood(state(), noun));
  const tellAborted = () =>
    void context.notice(`${whereItStood(state(), noun)}; the one under way may have been too`);
  interrupts.signal.addEventListener('abort', tellAborted);
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ManyError) && !interrupts.signal.aborted) await tell();
    throw error;
  } finally {
    interrupts.signal.removeEventListener('abort', tellAborted);
    await progress.stop();
  }
}

interface Followed extends Pick<Attempts<unknown>, 'state'> {
  readonly noun: string;
}

function whereItStood({ done, failed, total }: ReturnType<Followed['state']>, noun: string): string {
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  return `note: ${done - failed} of ${total} ${noun} were written${failures}`;
}
