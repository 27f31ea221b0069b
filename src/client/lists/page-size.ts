import type { Operation } from '../../api/operations.ts';
import { pageSizes, type ServiceRecord } from '../../api/record-values.ts';
import { CliError, isInterruption } from '../../process/errors.ts';
import { isTransientError } from '../answer-table.ts';
import { type ListEnd, pagingOf } from './next-page.ts';

// The page size that a list is asked for, and what the number of answered records says about its end.

/**
 * Returns the page size to request: a part of the limit, or the largest size. Returns undefined if the service has no page size,
 * or may answer with all records.
 */
export function pageSize(operation: Operation, limit?: number): number | undefined {
  const size = operation.parameters.find(({ name }) => name === 'limit');
  if (!size) return undefined;
  const { minimum = 1, maximum } = size.bounds ?? {};
  const largest = Math.min(pageSizes.most, Number(maximum ?? pageSizes.most));
  if (limit !== undefined) return Math.max(Math.min(limit, largest), Number(minimum));
  // If the program does not know how the pages follow each other, a smaller size would cut the list.
  const isStated = maximum !== undefined || size.required;
  return isStated || (size.serviceDefault !== undefined && pagingOf(operation).kind === 'unknown')
    ? largest
    : undefined;
}

/**
 * Finds out whether a list without a link or a cursor has more records than it answered. Its description has a page size, and may say
 * nothing of the size that the service takes by itself.
 *
 * @param size the page size that was asked for.
 * @param count the number of records that were read.
 * @param readPages asks for the list with a page size.
 */
export async function endByAsking(
  { parameters }: Operation,
  size: number | undefined,
  count: number,
  readPages: (size: number) => AsyncGenerator<ServiceRecord[], unknown>,
): Promise<ListEnd> {
  const limit = parameters.find(({ name }) => name === 'limit');
  if (!limit || count === 0) return { kind: 'whole' };
  const { minimum = 1, maximum } = limit.bounds ?? {};
  if (size !== undefined) {
    const isDefault = maximum === undefined && count === Number(limit.serviceDefault);
    return isDefault
      ? { kind: 'cut', why: `it answered ${count} records, exactly its default` }
      : { kind: 'whole' };
  }
  const larger = Math.max(count + 1, Number(minimum));
  try {
    const length = await pageLengthOf(readPages(larger));
    if (length !== undefined && length > count)
      return { kind: 'cut', why: `it answers ${count} records, and more with ${limit.wireName}=${larger}` };
    // A service that takes this size, and no larger one, may have answered as many as it ever does.
    const isMost = length === undefined && (await pageLengthOf(readPages(count))) === count;
    if (!isMost) return { kind: 'whole' };
    return { kind: 'cut', why: `it answers ${count} records and refuses ${limit.wireName}=${larger}` };
  } catch (error) {
    if (!(error instanceof CliError) || isInterruption(error)) throw error;
    const why = `a request for ${larger} records failed: ${error.message}`;
    return { kind: 'cut', why, isTransient: true };
  }
}

/** Returns the length of the first page, or undefined if the service refuses its size. @throws CliError that may pass; an interruption. */
async function pageLengthOf(pages: AsyncGenerator<ServiceRecord[], unknown>): Promise<number | undefined> {
  try {
    const { value } = await pages.next();
    return Array.isArray(value) ? value.length : 0;
  } catch (error) {
    if (!(error instanceof CliError) || isInterruption(error) || isTransientError(error)) throw error;
    return undefined;
  }
}
