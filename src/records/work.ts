import { CliError, ManyError } from '../process/errors.ts';

export interface WorkOptions<Item> {
  /** The plural of the items in messages, such as `pets`. */
  readonly unit: string;
  /** Items in progress at the same time; 1 by default. */
  readonly atOnce?: number | undefined;
  /** The place of an item in its file; undefined if it does not come from one. */
  readonly place?: ((item: Item) => string | undefined) | undefined;
}

/** How far some work has come, in items. */
export interface Standing {
  /** Failed ones included. */
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

/** Work on every item of a list, even if others fail. Read all `results`, then `check` for failures. */
export class Work<Item, Result> {
  /**
   * The results of the items that succeeded, in the order of the items; undefined ones are left out. The work goes on
   * only while they are read.
   */
  readonly results: AsyncGenerator<NonNullable<Result>>;
  private readonly items: readonly Item[];
  private readonly workOn: (item: Item) => Promise<Result>;
  private readonly options: WorkOptions<Item>;
  private done = 0;
  private failed = 0;
  /** The items that were begun and whose results are not read yet, in order. */
  private readonly running: Promise<Result | CliError>[] = [];
  private readonly errors: CliError[] = [];
  /** A failure that all later items would meet too. */
  private stoppedBy: CliError | undefined;

  constructor(items: readonly Item[], workOn: (item: Item) => Promise<Result>, options: WorkOptions<Item>) {
    this.items = items;
    this.workOn = workOn;
    this.options = options;
    this.results = this.succeeded();
  }

  standing(): Standing {
    return { done: this.done, failed: this.failed, total: this.items.length };
  }

  /** Waits for the items that were begun, if their results are no longer read: then `standing` is final. */
  async finishBegun(): Promise<void> {
    await Promise.allSettled(this.running);
  }

  /** @throws the failure of a lone item; ManyError if some of several items have failed. */
  check(): void {
    const { errors, stoppedBy } = this;
    const { unit } = this.options;
    const { done, failed, total } = this.standing();
    const [first] = errors;
    if (first === undefined) return;
    if (total === 1) throw first;
    const unsent = total - done;
    const stopped = `stopped: the ${unsent} ${unit} after it were not sent`;
    const all = stoppedBy && unsent > 0 ? [...errors, new CliError(stoppedBy.kind, stopped)] : errors;
    const rest = unsent > 0 ? `, ${unsent} were not sent` : '';
    throw new ManyError(`${failed} of ${total} ${unit} failed${rest}`, all, done - failed);
  }

  private async *succeeded(): AsyncGenerator<NonNullable<Result>> {
    for await (const ended of this.ended()) {
      if (ended instanceof CliError) this.keep(ended);
      else if (ended !== undefined && ended !== null) yield ended;
    }
  }

  /** The result or the failure of each item. */
  private async *ended(): AsyncGenerator<Result | CliError> {
    const { running } = this;
    const { atOnce = 1 } = this.options;
    for (const item of this.items) {
      if (this.stoppedBy) break;
      const next = this.settle(item);
      // After an error that ends the command, the others keep running unawaited.
      next.catch(() => {});
      running.push(next);
      const first = running.length < atOnce ? undefined : running.shift();
      if (first) yield await first;
    }
    for (const next of running) yield await next;
  }

  private async settle(item: Item): Promise<Result | CliError> {
    try {
      const result = await this.workOn(item);
      this.done += 1;
      return result;
    } catch (error) {
      if (!(error instanceof CliError) || error.kind === 'interrupted' || error.kind === 'terminated')
        throw error;
      this.done += 1;
      this.failed += 1;
      return this.placed(item, error);
    }
  }

  /** Counts an item as failed although it has a result. */
  fail(item: Item, error: CliError): void {
    this.failed += 1;
    this.errors.push(this.placed(item, error));
  }

  private placed(item: Item, error: CliError): CliError {
    const place = this.options.place?.(item);
    if (place === undefined) return error;
    return new CliError(error.kind, `${place}: ${error.message}`, { ...error.details, place });
  }

  private keep(error: CliError): void {
    this.errors.push(error);
    // Ids from the command line are all tried, whatever happens; a file may have too many records for that.
    if (error.details.place !== undefined && wouldAllFail(error)) this.stoppedBy ??= error;
  }
}

/** True for a refused token, and for no answer after all retries: the next item would fail too. */
function wouldAllFail({ kind, details: { status } }: CliError): boolean {
  return (
    kind === 'auth' || (kind === 'unavailable' && (status === undefined || status === 429 || status === 503))
  );
}
