import type { Context } from '../../../context.ts';
import type { Signal } from '../../../io.ts';
import { type ProgressMode, type ProgressState, startProgress } from '../../../output/progress.ts';

interface Activity {
  /** As `applying`. */
  readonly label: string;
  readonly unit: string;
  readonly mode: ProgressMode | undefined;
  read(): ProgressState;
}

/** Shows on stderr how far the work has come. */
export async function withProgress<Value>(
  context: Context,
  { mode, ...activity }: Activity,
  work: () => Promise<Value>,
): Promise<Value> {
  const { io, statusLine } = context;
  const style = await context.style('stderr');
  const shown = mode ?? (context.quiet ? 'none' : 'auto');
  const progress = startProgress(io, statusLine, { ...activity, mode: shown, style });
  try {
    return await work();
  } finally {
    await progress.stop();
  }
}

/** Does the work with signals in the hands of `listener`. */
export async function withSignals<Value>(
  { interrupts }: Context,
  listener: (signal: Signal) => void,
  work: () => Promise<Value>,
): Promise<Value> {
  const release = interrupts.take(listener);
  try {
    return await work();
  } finally {
    release();
  }
}
