import { CliError, ManyError } from '../errors.ts';

/** The work on many items, and its results. */
export interface Attempts<Out> {
  /** The successes in the order of the items; read it to its end, once. */
  successes(): AsyncGenerator<Out>;
  /** The progress so far. */
  state(): { readonly done: number; readonly failed: number; readonly total: number };
  /** Throws the failures, if there are any. */
  check(): void;
}

export interface AttemptOptions<In> {
  /** The items in the plural, for messages. */
  readonly noun: string;
  /** The number of items. */
  readonly total: number;
  /** Attempts at the same time; 1 by default. */
  readonly atOnce?: number;
  /** The place of an item in its file, if it comes from one. */
  place?(item: In): string | undefined;
}

/** Tries every item, and keeps the failures until all successes have been read. */
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

  /** The results in the order of the items, with `atOnce` items in progress. */
  async function* settled() {
    const running: ReturnType<typeof settle>[] = [];
    for await (const item of items) {
      if (stoppedBy) break;
      const next = settle(item);
      // After an error that ends the command, the others keep running unawaited.
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
      // Ids from the command line are all tried, whatever happens; a file may have too many records for that.
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

/** True for a refused token, and for no answer after all retries: the next record would fail too. */
function wouldAllFail({ kind, details: { status } }: CliError): boolean {
  return (
    kind === 'auth' || (kind === 'unavailable' && (status === undefined || status === 429 || status === 503))
  );
}
