import { shownUrl } from '../api/http.ts';
import { attemptsOf, mayHaveBeenApplied } from '../client/attempt.ts';
import { eachAtPace, type Pace, type StopReason } from '../client/pace.ts';
import type { Context } from '../context.ts';
import { CliError, InterruptedError, ManyError, type Signal } from '../process/errors.ts';
import { inTwoSteps, Stop, StoppedError } from '../process/signals.ts';

/** The line of an input file on which a record begins. */
export interface InputLine {
  /** Its name in messages: `pets.jsonl:3`. */
  readonly label: string;
  readonly line: number;
}

export interface BatchOptions<Item> {
  /** The plural of the items in messages, such as `pets`. */
  readonly unit: string;
  /** The most items in progress at the same time. A pace takes precedence. */
  readonly atOnce: number;
  /** The pace of the requests. Its stop ends the batch too. */
  readonly pace?: Pace | undefined;
  /** Returns the line of an item in its file. Undefined if the items do not come from a file. */
  readonly lineOf?: ((item: Item) => InputLine) | undefined;
}

/** Work on several records that goes on if some of them fail. Do it with `inOrder` or `oneByOne`, then read `error`. */
export class Batch<Item, Result> {
  private readonly items: readonly Item[];
  private readonly work: (item: Item) => Promise<Result>;
  private readonly options: BatchOptions<Item>;
  /** After its stop no further item begins. */
  private readonly stopping: Stop<StopReason>;
  /** The indexes of the items that succeeded. */
  private readonly succeeded = new Set<number>();
  /** The error of each item that failed, or was interrupted after a request, by its index. */
  private readonly errors = new Map<number, CliError>();

  constructor(items: readonly Item[], work: (item: Item) => Promise<Result>, options: BatchOptions<Item>) {
    this.items = items;
    this.work = work;
    this.options = options;
    this.stopping = options.pace?.stop ?? new Stop();
  }

  /**
   * Does the work for several items at a time. Calls `use` with each result in the order of the items: a result waits
   * until the items before it have ended.
   *
   * @returns the results, in the order of the items.
   */
  async inOrder(use?: (result: NonNullable<Result>) => void): Promise<NonNullable<Result>[]> {
    const results = new Map<number, Result | undefined>();
    const ordered: NonNullable<Result>[] = [];
    let next = 0;
    const { atOnce, pace = { max: atOnce } } = this.options;
    await eachAtPace(pace, this.stopping.untilStopped(this.items.entries()), async ([index, item]) => {
      results.set(index, await this.settle(index, item));
      for (; results.has(next); next += 1) {
        const result = results.get(next);
        results.delete(next);
        if (result === undefined || result === null) continue;
        ordered.push(result);
        use?.(result);
      }
    });
    return ordered;
  }

  /** Does the work for one item after the other. An item begins when the caller asks for the next result. */
  async *oneByOne(): AsyncGenerator<NonNullable<Result>> {
    for (const [index, item] of this.stopping.untilStopped(this.items.entries())) {
      const result = await this.settle(index, item);
      if (result !== undefined && result !== null) yield result;
    }
  }

  /** Returns how many items have ended, how many of them failed, and how many there are. */
  progress(): { readonly done: number; readonly failed: number; readonly total: number } {
    const failed = [...this.errors.values()].filter((error) => !(error instanceof InterruptedError)).length;
    return { done: this.succeeded.size + failed, failed, total: this.items.length };
  }

  /** Returns the items that were not done, each with its error. For an item without an error nothing was sent. */
  failures(): readonly { readonly item: Item; readonly error: CliError | undefined }[] {
    return this.items.flatMap((item, index) =>
      this.succeeded.has(index) ? [] : [{ item, error: this.errors.get(index) }],
    );
  }

  /** Returns the error of a lone item, or a ManyError if there are several items. Undefined if no item failed. */
  error(): CliError | undefined {
    const { reason } = this.stopping;
    const { unit } = this.options;
    const { done, failed, total } = this.progress();
    if (reason instanceof InterruptedError)
      return new CliError(
        reason.kind,
        `${reason.message}: ${done - failed} of ${total} ${unit} were written`,
      );
    const errors = this.failures().flatMap(({ item, error }) => (error ? [this.withLine(item, error)] : []));
    const [first] = errors;
    if (first === undefined || total === 1) return first;
    const unsent = total - done;
    const stopped = `stopped: the ${unsent} ${unit} after it were not sent`;
    const all = reason && unsent > 0 ? [...errors, new CliError(reason.kind, stopped)] : errors;
    const rest = unsent > 0 ? `, ${unsent} were not sent` : '';
    return new ManyError(`${failed} of ${total} ${unit} failed${rest}`, all, done - failed);
  }

  /**
   * Runs `work`. Meanwhile, if there are several items, the first signal stops the batch: no further item begins. The
   * second signal ends the command.
   */
  async stopAtSignal<Value>(context: Context, work: () => Promise<Value>): Promise<Value> {
    if (this.items.length < 2) return work();
    const stop = (signal: Signal) => {
      this.stopping.stop(new InterruptedError(signal));
      void context.warn(
        'note: no further write begins; waiting for those under way; a second signal ends at once',
      );
    };
    return inTwoSteps(context, { stop }, work);
  }

  /** Returns the result of an item; undefined if it failed. @throws an error that ends the command. */
  private async settle(index: number, item: Item): Promise<Result | undefined> {
    try {
      const result = await this.work(item);
      this.succeeded.add(index);
      return result;
    } catch (thrown) {
      const error = thrown instanceof StoppedError ? stoppedError(thrown) : thrown;
      if (error === undefined) return undefined;
      if (!(error instanceof CliError)) throw error;
      const isInterrupted = error instanceof InterruptedError;
      if (!isInterrupted || error.details.applied) this.errors.set(index, error);
      if (isInterrupted) throw error;
      // All ids of a command line are tried. A file may have too many records for that.
      if (this.options.lineOf && wouldAllFail(error)) this.stopping.stop(error);
      return undefined;
    }
  }

  private withLine(item: Item, error: CliError): CliError {
    const inputLine = this.options.lineOf?.(item);
    if (!inputLine) return error;
    const { label, line } = inputLine;
    return error.with({ place: label, line }, `${label}: ${error.message}`);
  }
}

/** The error of a write that the stop ended between two attempts. Undefined if it had made no attempt. */
function stoppedError(error: StoppedError): CliError | undefined {
  const attempts = attemptsOf(error);
  const request = attempts.at(-1)?.request;
  if (request === undefined) return undefined;
  const details = { method: request.method, url: shownUrl(request.url), attempts };
  return mayHaveBeenApplied(request.method, attempts)
    ? new CliError('unavailable', 'stopped', { ...details, applied: 'unknown' })
    : new CliError('unavailable', 'stopped before a further attempt', details);
}

/** Whether the next item would fail too, because the token was refused or the service did not answer any attempt. */
function wouldAllFail({ kind, details: { status } }: CliError): boolean {
  return (
    kind === 'auth' || (kind === 'unavailable' && (status === undefined || status === 429 || status === 503))
  );
}
