import { monotonicMs } from '../process/deadline.ts';
import type { Io } from '../process/io.ts';
import { groupDigits } from '../process/text.ts';
import type { LiveLine } from './live-line.ts';
import { plainStyle, type Style } from './style.ts';

export interface ProgressState {
  readonly done: number;
  /** Undefined if it is unknown. */
  readonly total?: number | undefined;
  readonly failed?: number | undefined;
  /** How many may or may not have been done. */
  readonly unknown?: number | undefined;
  /** Requests in flight at most. */
  readonly concurrency?: number | undefined;
}

interface ProgressOptions {
  /** The activity, such as `applying`. */
  readonly label: string;
  /** The counted things, such as `rows`. */
  readonly unit: string;
  readonly style?: Style;
  /** The bar is not drawn before this; work that ends sooner shows none. */
  readonly delayMs?: number | undefined;
  /** Called at each drawing, so that counting itself costs nothing. */
  read(): ProgressState;
}

/** A state with the values computed from the states before it. */
interface Reading extends ProgressState {
  /** Per second, over the last seconds. */
  readonly rate: number;
  readonly percent: number | undefined;
  readonly etaSeconds: number | undefined;
}

/** Shows the progress of some work on stderr, unless notices are not wanted. */
export async function withProgress<Value>(
  context: {
    readonly io: Io;
    readonly liveLine: LiveLine;
    readonly quiet: boolean;
    style(stream: 'stderr'): Promise<Style>;
  },
  options: ProgressOptions,
  work: () => Promise<Value>,
): Promise<Value> {
  if (context.quiet) return work();
  const style = await context.style('stderr');
  const stop = startProgress(context.io, context.liveLine, { ...options, style });
  try {
    return await work();
  } finally {
    stop();
  }
}

/**
 * Shows the progress of long work on stderr until the returned function is called, which erases it: a bar if a person
 * watches a terminal, plain lines otherwise.
 */
export function startProgress({ stderr }: Io, line: LiveLine, options: ProgressOptions): () => void {
  const read = createReader(options.read);
  if (line.canDraw) {
    const drawFrom = monotonicMs() + (options.delayMs ?? 0);
    return line.show((width) => {
      const reading = read();
      return monotonicMs() < drawFrom ? undefined : barText(reading, options, width);
    });
  }
  const timer = setInterval(() => {
    void stderr.write(`${plainText(read(), options)}\n`).catch(() => {});
  }, plainEveryMs).unref();
  return () => clearInterval(timer);
}

const plainEveryMs = 10_000;

/** The rate covers the last seconds, because a service may slow down; at the beginning it covers the whole time. */
function createReader(read: () => ProgressState): () => Reading {
  const windowMs = 5000;
  const samples = [{ at: monotonicMs(), done: read().done }];
  return () => {
    const state = read();
    const now = monotonicMs();
    samples.push({ at: now, done: state.done });
    while (samples.length > 2 && (samples[1]?.at ?? now) < now - windowMs) samples.shift();
    const [first = { at: now, done: 0 }] = samples;
    const rate = now > first.at ? ((state.done - first.done) * 1000) / (now - first.at) : 0;
    const left = state.total === undefined ? undefined : state.total - state.done;
    return {
      ...state,
      rate,
      percent: state.total ? Math.floor((state.done * 100) / state.total) : undefined,
      etaSeconds: left !== undefined && rate > 0 ? Math.ceil(left / rate) : undefined,
    };
  };
}

/**
 * `applying  ━━━━━━──────  45%  9,000/20,000 rows  1,234/s  3 failed  8 at once  0:08 left`; leaves out the last parts
 * if they do not fit.
 */
function barText(
  reading: Reading,
  { label, unit, style = plainStyle }: ProgressOptions,
  width: number,
): string {
  const leastBar = 10;
  const facts = factsOf(reading, unit);
  // Leave room for the ^C that a terminal shows after the bar, so that it does not wrap.
  const room = () => width - 3 - [label, ...facts].join('  ').length - 2;
  while (facts.length > 1 && room() < leastBar) facts.pop();
  const text = facts.map((fact) => (fact.endsWith('failed') ? style.red(fact) : fact));
  const size = Math.min(room(), 30);
  const bar = reading.percent === undefined || size < leastBar ? [] : [drawBar(reading, size, style)];
  return [label, ...bar, ...text].join('  ');
}

function drawBar({ done, total = 1 }: Reading, size: number, style: Style): string {
  const filled = Math.min(size, Math.floor((done * size) / total));
  return style.green('━'.repeat(filled)) + style.dim('─'.repeat(size - filled));
}

function plainText(reading: Reading, { label, unit }: ProgressOptions): string {
  const time = new Date().toISOString().replace(/\.\d+/, '');
  return `${time} ${label}: ${factsOf(reading, unit).join(', ')}`;
}

/** The facts for a person, the most important first. */
function factsOf(reading: Reading, unit: string): string[] {
  const { done, total, percent, rate, failed, unknown, concurrency, etaSeconds } = reading;
  const count = total === undefined ? groupDigits(done) : `${groupDigits(done)}/${groupDigits(total)}`;
  const facts = [
    percent === undefined ? undefined : `${String(percent).padStart(3)}%`.trimStart(),
    `${count} ${unit}`,
    failed ? `${groupDigits(failed)} failed` : undefined,
    unknown ? `${groupDigits(unknown)} unknown` : undefined,
    etaSeconds === undefined ? undefined : `${clock(etaSeconds)} left`,
    rate >= 0.5 ? `${groupDigits(Math.round(rate))}/s` : undefined,
    concurrency === undefined ? undefined : `${concurrency} at once`,
  ];
  return facts.filter((fact) => fact !== undefined);
}

/** `m:ss` or `h:mm:ss`. */
function clock(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const minutesAndSeconds = `${hours > 0 ? two(minutes) : minutes}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${minutesAndSeconds}` : minutesAndSeconds;
}
