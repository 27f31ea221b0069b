import { CliError, ManyError } from '../errors.ts';

/** Work on many items: its results, its progress and its failures. */
export interface Work<Result> {
  /**
   * The results of the items that succeeded, in the order of the items; undefined ones are left out. The work goes on
   * only while they are read.
   */
  readonly results: AsyncGenerator<NonNullable<Result>>;
  state(): { readonly done: number; readonly failed: number; readonly total: number };
  /** Throws the failures, if there are any. */
  check(): void;
}

export interface WorkOptions<Item> {
  /** The plural of the items in messages, such as `pets`. */
  readonly unit: string;
  /** Items in progress at the same time; 1 by default. */
  readonly atOnce?: number | undefined;
  /** The place of an item in its file; undefined if it does not come from one. */
  readonly place?: ((item: Item) => string | undefined) | undefined;
}

/** Works on every item, even if others fail, and keeps the failures until all results have been read. */
export function workOn<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  { unit, atOnce = 1, place }: WorkOptions<Item>,
): Work<Result> {
  const total = items.length;
  const errors: CliError[] = [];
  let done = 0;
  let stoppedBy: CliError | undefined;

  async function settle(item: Item): Promise<Result | CliError> {
    try {
      return await work(item);
    } catch (error) {
      if (!(error instanceof CliError) || error.kind === 'interrupted' || error.kind === 'terminated')
        throw error;
      const where = place?.(item);
      if (where === undefined) return error;
      return new CliError(error.kind, `${where}: ${error.message}`, { ...error.details, place: where });
    }
  }

  async function* settled() {
    const running: ReturnType<typeof settle>[] = [];
    for (const item of items) {
      if (stoppedBy) break;
      const next = settle(item);
      // After an error that ends the command, the others keep running unawaited.
      next.catch(() => {});
      running.push(next);
      if (running.length >= atOnce) yield await (running.shift() as (typeof running)[number]);
    }
    for (const next of running) yield await next;
  }

  async function* results() {
    for await (const each of settled()) {
      done += 1;
      if (each instanceof CliError) {
        errors.push(each);
        // Ids from the command line are all tried, whatever happens; a file may have too many records for that.
        if (each.details.place !== undefined && wouldAllFail(each)) stoppedBy ??= each;
      } else if (each !== undefined && each !== null) yield each;
    }
  }

  return {
    results: results(),
    state: () => ({ done, failed: errors.length, total }),
    check() {
      const [first] = errors;
      if (first === undefined) return;
      if (total === 1) throw first;
      const succeeded = done - errors.length;
      const unsent = `stopped: the ${total - done} ${unit} after it were not sent`;
      const all = stoppedBy && total > done ? [...errors, new CliError(stoppedBy.kind, unsent)] : errors;
      throw new ManyError(`${total - succeeded} of ${total} ${unit} failed`, all, succeeded);
    },
  };
}

/** True for a refused token, and for no answer after all retries: the next item would fail too. */
function wouldAllFail({ kind, details: { status } }: CliError): boolean {
  return (
    kind === 'auth' || (kind === 'unavailable' && (status === undefined || status === 429 || status === 503))
  );
}
