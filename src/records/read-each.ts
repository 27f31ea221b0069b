import { eachAtPace } from '../client/pace.ts';
import { CliError, InterruptedError, ManyError, UsageError } from '../process/errors.ts';

/** What was read of several items. */
interface Readings<Value> {
  readonly values: readonly Value[];
  /** The error of a lone item, or of several. Undefined if all were read. */
  readonly error: CliError | undefined;
}

/** Reads each item, several at a time, also if others fail. A value of undefined is left out. @param unit the plural of the items in messages. */
export async function readEach<Item, Value>(
  items: readonly Item[],
  read: (item: Item) => Promise<Value | undefined>,
  { unit, atOnce }: { readonly unit: string; readonly atOnce: number },
): Promise<Readings<Value>> {
  const results: (Value | CliError | undefined)[] = [];
  await eachAtPace({ max: atOnce }, items.entries(), async ([index, item]) => {
    results[index] = await read(item).catch((error: unknown) => {
      if (!(error instanceof CliError) || error instanceof InterruptedError || error instanceof UsageError)
        throw error;
      return error;
    });
  });
  const errors = results.filter((result) => result instanceof CliError);
  const values = results.filter((result) => result !== undefined && !(result instanceof CliError));
  return { values: values as Value[], error: joinErrors(errors, items.length, unit) };
}

/** Joins the errors of several items. The error of a lone item is its own. Undefined if there is none. */
export function joinErrors(errors: readonly CliError[], total: number, unit: string): CliError | undefined {
  const [first] = errors;
  if (first === undefined || total === 1) return first;
  return new ManyError(`${errors.length} of ${total} ${unit} failed`, errors, total - errors.length);
}
