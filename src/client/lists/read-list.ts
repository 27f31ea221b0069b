import { UnboundError } from '../../api/contract.ts';
import { nouns } from '../../api/nouns.ts';
import type { Operation } from '../../api/operations.ts';
import type { ServiceRecord } from '../../api/record-values.ts';
import type { Notice } from '../../output/messages.ts';
import { CliError } from '../../process/errors.ts';
import { printJson } from '../../process/exact-json.ts';
import { hashOf } from '../../process/text.ts';
import type { CallOptions, OperationCall } from '../call.ts';
import { divideFilters, type Filters, narrowedEnd } from './filters.ts';
import { type CutEnd, type ListEnd, pagingOf, pagingTraits } from './next-page.ts';
import { endByAsking, pageSize } from './page-size.ts';
import { pagesOf } from './page-walk.ts';

export interface ListOptions extends CallOptions {
  /** The number of records to read; the list ends with the page that reaches it. All records by default. */
  readonly limit?: number | undefined;
  /** True if the caller needs every record: a list that may be cut is then an error, not a warning. */
  readonly needsWhole?: boolean | undefined;
}

/** A list may lack records, and the caller needs every record. */
export class CutListError extends CliError {
  constructor({ why, isTransient }: CutEnd, { id }: Operation) {
    super(
      isTransient ? 'unavailable' : 'usage',
      `this command needs every record, and the list may be incomplete: ${why} (${id})`,
      isTransient ? { retryable: true } : { hint: cutHint, code: 'unbound' },
    );
  }
}

const cutHint =
  'ask the owner of the service for a list that can be read to its end; if you gave a name, give the id instead';

/**
 * Reads a list to its end, page by page. A page is requested when the caller asks for it. A filter that the service lacks is
 * applied here.
 *
 * @param callFor makes the call for the first page. It throws a UsageError for parameters that break the contract.
 * @param notify gets a notice about the end of the list.
 * @throws UnboundError for a filter that neither the service nor this function can apply. CutListError if `needsWhole` is set and
 *   the list may be cut. CliError for a list that does not end.
 */
export async function* readList(
  operation: Operation,
  callFor: (query: Filters) => OperationCall,
  notify: (...notice: Notice) => void,
  filters: Filters,
  { limit, needsWhole }: ListOptions,
): AsyncGenerator<ServiceRecord[]> {
  const { id } = operation;
  const { query, isExact, matches } = divideFilters(operation, filters);
  const narrowed = narrowedEnd(operation, query);
  if (needsWhole && narrowed) throw new CutListError(narrowed, operation);
  const readPages = (size: number | undefined) => pagesOf(callFor({ ...query, limit: size }), size);
  const size = pageSize(operation, isExact ? limit : undefined);
  const pages = pagesOrAgain(operation, size, readPages);
  // Only the end of a list shows whether it is cut, so a caller that needs the whole list gets nothing before the end. A list
  // that follows links is rarely cut, and can be long, so the caller gets each page as soon as the next one has come.
  /** The number of pages that are held back: the last one, or all. */
  const heldBackOfWhole = pagingTraits[pagingOf(operation).kind].isRarelyCut ? 1 : Number.POSITIVE_INFINITY;
  const heldBackCount = needsWhole ? heldBackOfWhole : 0;
  const heldBack: ServiceRecord[][] = [];
  const entries = new Map<unknown, number>();
  let count = 0;
  let remaining = limit ?? Number.POSITIVE_INFINITY;
  let page = await pages.next();
  for (; !page.done; page = await pages.next()) {
    if (needsWhole && !operation.recordForm.isOurs) requireOneEntry(operation, page.value, entries);
    const matching = page.value.filter(matches);
    heldBack.push(matching);
    count += page.value.length;
    remaining -= matching.length;
    if (remaining <= 0) return yield* heldBack;
    yield* heldBack.splice(0, Math.max(0, heldBack.length - heldBackCount));
  }
  let end = page.value;
  if (end.kind !== 'cut' && narrowed) end = narrowed;
  else if (end.kind === 'unproven') end = await endByAsking(operation, size, count, readPages);
  if (end.kind === 'whole' && end.note !== undefined)
    notify('note', `${end.note}: the list ends here (${id})`);
  if (end.kind === 'cut' && needsWhole) throw new CutListError(end, operation);
  if (end.kind === 'cut') notify('warning', `there may be more records: ${end.why} (${id})`);
  yield* heldBack;
}

/**
 * Yields the pages of a list, and returns its end. A service that is not bound may take the page size for a filter that no record
 * meets, so an empty list is asked for again without it.
 */
async function* pagesOrAgain(
  operation: Operation,
  size: number | undefined,
  readPages: (size: number | undefined) => AsyncGenerator<ServiceRecord[], ListEnd>,
): AsyncGenerator<ServiceRecord[], ListEnd> {
  const pages = readPages(size);
  let isEmpty = true;
  let page = await pages.next();
  for (; !page.done; page = await pages.next()) {
    isEmpty &&= page.value.length === 0;
    yield page.value;
  }
  if (!isEmpty || size === undefined || !operation.recordForm.isOurs) return page.value;
  return yield* readPages(undefined);
}

/**
 * Checks that a list has no two counts of one pet, such as those of two warehouses. The same entry may be on two pages of a list that
 * changes while it is read.
 *
 * @param entries gets a hash of each entry, by its id.
 * @throws UnboundError.
 */
function requireOneEntry(
  { id, noun }: Operation,
  records: readonly ServiceRecord[],
  entries: Map<unknown, number>,
): void {
  const { idField, isCount } = nouns[noun];
  const inPage = new Set<unknown>();
  for (const { fields } of isCount ? records : []) {
    const [petId, hash] = [fields[idField], hashOf(printJson(fields))];
    const isTwiceInPage = inPage.has(petId);
    if (isTwiceInPage || (entries.get(petId) ?? hash) !== hash) {
      const doubt = isTwiceInPage ? '' : ', or one that has changed while the list was read';
      throw new UnboundError(
        `this command needs one entry for each pet, but ${id} has several for pet ${petId}${doubt}`,
      );
    }
    inPage.add(petId);
    entries.set(petId, hash);
  }
}

/** Collects the fields of the records of a list, by our names. */
export async function collectFields<Members>(
  pages: AsyncIterable<readonly ServiceRecord<Members>[]>,
): Promise<Members[]> {
  const all: Members[] = [];
  // Not `push(...page)`: a page of 120,000 would overflow the stack.
  for await (const page of pages) for (const { fields } of page) all.push(fields);
  return all;
}
