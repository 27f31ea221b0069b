import { monotonicMs } from '../../clock.ts';
import type { Context } from '../../context.ts';
import { canDrawBar } from '../../output/progress.ts';

/** Says on the terminal that a run goes on, when nothing has been told for a second. */
export interface Silence {
  /** A check has been told. */
  end(): void;
  close(): void;
}

const everyMs = 1000;

export function watchSilence({ io, quiet, statusLine }: Context): Silence {
  if (quiet || !canDrawBar(io)) return { end: () => {}, close: () => {} };
  const release = statusLine.take();
  let told = 0;
  let since = monotonicMs();
  const draw = () => {
    const seconds = Math.round((monotonicMs() - since) / 1000);
    const text = `waiting for the service ${seconds} s, ${told} ${told === 1 ? 'check is' : 'checks are'} done`;
    statusLine.show(text.slice(0, (io.stderr.columns ?? 80) - 1));
  };
  const timer = setInterval(draw, everyMs);
  timer.unref();
  return {
    end() {
      told += 1;
      since = monotonicMs();
      timer.refresh();
    },
    close() {
      clearInterval(timer);
      release();
    },
  };
}
