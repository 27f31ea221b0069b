import { monotonicMs } from '../process/deadline.ts';
import type { Io } from '../process/io.ts';
import { groupDigits } from '../process/text.ts';
import type { LiveLine } from './streams.ts';
import type { Style } from './style.ts';

interface ProgressOptions {
  /** The activity, such as `applying`. */
  readonly label: string;
  /** The unit of the counts, such as `rows`. */
  readonly unit: string;
  /** Returns the counts at each drawing, and what the work waits for. */
  read(): {
    readonly done: number;
    readonly total?: number;
    readonly failed?: number;
    readonly wait?: string;
  };
}

interface ProgressContext {
  readonly io: Pick<Io, 'stderr'>;
  readonly liveLine: LiveLine;
  readonly isQuiet: boolean;
  style(stream: 'stderr'): Promise<Style>;
}

const plainIntervalMs = 10_000;
const barSize = 30;

/** Shows the progress of long work on stderr: a bar on a terminal, elsewhere a plain line every ten seconds. */
export async function withProgress<Value>(
  { io: { stderr }, liveLine, isQuiet, style }: ProgressContext,
  { label, unit, read }: ProgressOptions,
  work: () => Promise<Value>,
): Promise<Value> {
  if (isQuiet) return work();
  const startMs = monotonicMs();
  const start = read().done;
  const textsOf = ({ done, total, failed, wait = '' }: ReturnType<typeof read>) => {
    const rate = ((done - start) * 1000) / Math.max(1, monotonicMs() - startMs);
    const texts = [
      `${groupDigits(done)}${total === undefined ? '' : `/${groupDigits(total)}`} ${unit}`,
      failed ? `${groupDigits(failed)} failed` : '',
      wait || rate < 0.5 ? wait : `${groupDigits(Math.round(rate))}/s`,
    ];
    return texts.filter((text) => text !== '');
  };
  let timer: NodeJS.Timeout | undefined;
  if (liveLine.canDraw) {
    const { green, dim } = await style('stderr');
    liveLine.show((width) => {
      const state = read();
      const texts = textsOf(state).join('  ');
      const filled = Math.floor(Math.min(state.done / (state.total || 1), 1) * barSize);
      const bar = `${green('━'.repeat(filled))}${dim('─'.repeat(barSize - filled))}`;
      const fits = label.length + barSize + texts.length + 8 <= width;
      return [label, ...(state.total && fits ? [bar] : []), texts].join('  ');
    });
  } else {
    timer = setInterval(() => {
      const time = new Date().toISOString().replace(/\.\d+/, '');
      void stderr.write(`${time} ${label}: ${textsOf(read()).join(', ')}\n`).catch(() => {});
    }, plainIntervalMs).unref();
  }
  try {
    return await work();
  } finally {
    liveLine.close();
    clearInterval(timer);
  }
}
