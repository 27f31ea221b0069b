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
  /** Attempts at once; one after the other by default. */
  readonly atOnce?: number;
  /** Where in its file an item stands, if it comes from one. */
  place?(item: In): string | undefined;
}

/** Tries every item, and keeps the failures until the successes have been shown. */
export function attemptEach<In, Out>(
  items: Iterable<In> | AsyncIterable<In>,
  attempt: (item: In) => Promise<Out>,
  { noun, total, atOnce = 1, place }: AttemptOptions<In>,
): Attempts<Out> {
  const errors: CliError[] = [];
  let done = 0;
  let failed = 0;
  let stoppedBy: CliError | undefined;

  async function settle(item: In): Promise<{ readonly value: Out } | CliError> {
    try {
      return { value: await attempt(item) };
    } catch (error) {
      if (!(error instanceof CliError) || error.kind === 'interrupted' || error.kind === 'terminated')
        throw error;
      const where = place?.(item);
      if (where === undefined) return error;
      return new CliError(error.kind, `${where}: ${error.message}`, { ...error.details, place: where });
    }
  }

  /** In the order of the items, `atOnce` of them under way. */
  async function* settled() {
    const running: ReturnType<typeof settle>[] = [];
    for await (const item of items) {
      if (stoppedBy) break;
      const next = settle(item);
      // An error that ends the command leaves the others running, and nobody waits for those.
      next.catch(() => {});
      running.push(next);
      if (running.length >= atOnce) yield await (running.shift() as (typeof running)[number]);
    }
    for (const next of running) yield await next;
  }

  async function* successes(): AsyncGenerator<Out> {
    for await (const outcome of settled()) {
      done += 1;
      if (!(outcome instanceof CliError)) {
        yield outcome.value;
        continue;
      }
      failed += 1;
      errors.push(outcome);
      // A single id is tried whatever happens to the others; the records of a file are too many for that.
      if (place !== undefined && wouldAllFail(outcome)) stoppedBy ??= outcome;
    }
    const left = total - done;
    if (stoppedBy && left > 0)
      errors.push(new CliError(stoppedBy.kind, `stopped: the ${left} ${noun} after it were not sent`));
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

/** A refused token, or no answer after all retries: the next record would fare no better. */
function wouldAllFail({ kind, details: { status } }: CliError): boolean {
  return (
    kind === 'auth' || (kind === 'unavailable' && (status === undefined || status === 429 || status === 503))
  );
}
