import { monotonicMs } from '../process/deadline.ts';
import type { Io } from '../process/io.ts';
import { groupDigits } from '../process/text.ts';
import type { LiveLine } from './live-line.ts';
import type { Style } from './style.ts';

export interface ProgressState {
  readonly done: number;
  /** Undefined if the total is unknown. */
  readonly total?: number | undefined;
  readonly failed?: number | undefined;
  /** The most requests in flight. */
  readonly concurrency?: number | undefined;
}

interface ProgressOptions {
  /** The activity, such as `applying`. */
  readonly label: string;
  /** The counted things, such as `rows`. */
  readonly unit: string;
  /** The time before the bar is drawn. Work that ends sooner shows no bar. */
  readonly delayMs?: number | undefined;
  /** Called at each drawing, so that the work only has to count. */
  read(): ProgressState;
}

/** The part of a context that progress needs. */
interface ProgressContext {
  readonly io: Pick<Io, 'stderr'>;
  readonly liveLine: LiveLine;
  /** Whether to show no progress. */
  readonly quiet: boolean;
  style(stream: 'stderr'): Promise<Style>;
}

const plainIntervalMs = 10_000;

/**
 * Shows the progress of long work on stderr: a bar on a terminal, elsewhere a plain line every ten seconds.
 */
export async function withProgress<Value>(
  { io: { stderr }, liveLine, quiet, style }: ProgressContext,
  options: ProgressOptions,
  work: () => Promise<Value>,
): Promise<Value> {
  if (quiet) return work();
  const read = createFactReader(options);
  let stop: () => void;
  if (liveLine.canDraw) {
    const colors = await style('stderr');
    const drawFrom = monotonicMs() + (options.delayMs ?? 0);
    stop = liveLine.show((width) => {
      const facts = read();
      return monotonicMs() < drawFrom ? undefined : barText(facts, options.label, width, colors);
    });
  } else {
    const timer = setInterval(() => {
      const time = new Date().toISOString().replace(/\.\d+/, '');
      void stderr.write(`${time} ${options.label}: ${read().texts.join(', ')}\n`).catch(() => {});
    }, plainIntervalMs).unref();
    stop = () => clearInterval(timer);
  }
  try {
    return await work();
  } finally {
    stop();
  }
}

/** A state in words. */
interface ProgressFacts {
  /** The part that is done, from 0 to 1; undefined if the total is unknown. */
  readonly share: number | undefined;
  /** The most important text comes first. */
  readonly texts: readonly string[];
  /** The text of `texts` that counts failures. */
  readonly failedText: string | undefined;
}

/** Returns a function that reads the state. Its rate covers the last five seconds, because a service may slow down. */
function createFactReader({ read, unit }: ProgressOptions): () => ProgressFacts {
  const windowMs = 5000;
  const samples = [{ atMs: monotonicMs(), done: read().done }];
  return () => {
    const { done, total, failed, concurrency } = read();
    const now = monotonicMs();
    samples.push({ atMs: now, done });
    while (samples.length > 2 && (samples[1]?.atMs ?? now) < now - windowMs) samples.shift();
    const [first = { atMs: now, done: 0 }] = samples;
    const rate = now > first.atMs ? ((done - first.done) * 1000) / (now - first.atMs) : 0;
    const share = total ? done / total : undefined;
    const failedText = failed ? `${groupDigits(failed)} failed` : undefined;
    const texts = [
      total ? `${Math.floor((done * 100) / total)}%` : undefined,
      `${groupDigits(done)}${total === undefined ? '' : `/${groupDigits(total)}`} ${unit}`,
      failedText,
      total === undefined || rate <= 0
        ? undefined
        : `${remainingText(Math.ceil((total - done) / rate))} left`,
      rate < 0.5 ? undefined : `${groupDigits(Math.round(rate))}/s`,
      concurrency === undefined ? undefined : `${concurrency} at once`,
    ];
    return { share, failedText, texts: texts.filter((text) => text !== undefined) };
  };
}

/**
 * Prints `applying  ━━━━━━──────  45%  9,000/20,000 rows  3 failed  0:08 left  1,234/s  8 at once`.
 * Leaves out the last texts if they do not fit.
 */
function barText(
  { share, texts, failedText }: ProgressFacts,
  label: string,
  width: number,
  style: Style,
): string {
  const leastBar = 10;
  const fittingTexts = [...texts];
  // Leave room for the ^C that a terminal shows after the bar, so that it does not wrap.
  const room = () => width - 3 - [label, ...fittingTexts].join('  ').length - 2;
  while (fittingTexts.length > 1 && room() < leastBar) fittingTexts.pop();
  const size = Math.min(room(), 30);
  const filled = Math.floor(Math.min(share ?? 0, 1) * size);
  const bar = `${style.green('━'.repeat(filled))}${style.dim('─'.repeat(Math.max(0, size - filled)))}`;
  const paintedTexts = fittingTexts.map((text) => (text === failedText ? style.red(text) : text));
  return [label, ...(share === undefined || size < leastBar ? [] : [bar]), ...paintedTexts].join('  ');
}

/** Prints seconds as `m:ss` or `h:mm:ss`. */
function remainingText(seconds: number): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const minutesAndSeconds = `${hours > 0 ? twoDigits(minutes) : minutes}:${twoDigits(seconds % 60)}`;
  return hours > 0 ? `${hours}:${minutesAndSeconds}` : minutesAndSeconds;
}
