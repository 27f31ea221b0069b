import { CliError, ManyError } from '../errors.ts';

/** What became of the items of one command. */
export interface Attempts<Out> {
  /** The successes as they come, in the order of the items; to be read to its end, once. */
  successes(): AsyncGenerator<Out>;
  /** How far they have come. */
  state(): { readonly done: number; readonly failed: number; readonly total: number };
  /** Throws what failed, if anything did. */
  check(): void;
}

export interface AttemptOptions<In> {
  /** Plural of what the items are. */
  readonly noun: string;
  /** How many items there are. */
  readonly total: number;
  /** Attempts at once; one after the other unless told. */
  readonly atOnce?: number;
  /** Says which item failed, where the errors themselves do not. */
  place?(item: In): string;
  /** Whether after this failure the rest is better not tried. */
  isFatal?(error: CliError): boolean;
}

/** Tries every item, and keeps the failures until the successes have been shown. */
export function attemptEach<In, Out>(
  items: Iterable<In> | AsyncIterable<In>,
  attempt: (item: In) => Promise<Out>,
  options: AttemptOptions<In>,
): Attempts<Out> {
  const errors: CliError[] = [];
  const { noun, total, isFatal } = options;
  let done = 0;
  let failed = 0;
  async function* successes(): AsyncGenerator<Out> {
    for await (const { error, value } of inWindow(items, attempt, options)) {
      done += 1;
      if (!error) {
        yield value as Out;
        continue;
      }
      failed += 1;
      errors.push(error);
      if (!isFatal?.(error)) continue;
      if (done < total) errors.push(leftOut(error, total - done, noun));
      return;
    }
  }
  return {
    successes,
    state: () => ({ done, failed, total }),
    check() {
      const [first] = errors;
      const succeeded = done - failed;
      if (first && total === 1) throw first;
      if (first) throw new ManyError(`${total - succeeded} of ${total} ${noun} failed`, errors, succeeded);
    },
  };
}

interface Outcome<Out> {
  readonly value?: Out;
  readonly error?: CliError;
}

/** The outcomes in the order of the items, some of them under way at once. */
async function* inWindow<In, Out>(
  items: Iterable<In> | AsyncIterable<In>,
  attempt: (item: In) => Promise<Out>,
  { atOnce = 1, place }: AttemptOptions<In>,
): AsyncGenerator<Outcome<Out>> {
  const running: Promise<Outcome<Out>>[] = [];
  for await (const item of items) {
    const outcome = settle(attempt(item), place?.(item));
    // One that is thrown ends the command while others still run: theirs are nobody's any more.
    outcome.catch(() => {});
    running.push(outcome);
    if (running.length >= atOnce) yield await (running.shift() as Promise<Outcome<Out>>);
  }
  for (const outcome of running) yield await outcome;
}

async function settle<Out>(attempt: Promise<Out>, place: string | undefined): Promise<Outcome<Out>> {
  try {
    return { value: await attempt };
  } catch (error) {
    if (!(error instanceof CliError) || error.kind === 'interrupted' || error.kind === 'terminated')
      throw error;
    if (place === undefined) return { error };
    return { error: new CliError(error.kind, `${place}: ${error.message}`, { ...error.details, place }) };
  }
}

function leftOut(error: CliError, count: number, noun: string): CliError {
  return new CliError(error.kind, `stopped: the ${count} ${noun} after it were not sent`);
}
