import { defaultOf, takesParameter, UnboundError } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import { isBound, type Operation } from '../api/operations.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import type { Notice } from '../output/messages.ts';
import { CliError, isInterruption } from '../process/errors.ts';
import { type JsonObject, printJson } from '../process/exact-json.ts';
import { foldCase, hashOf } from '../process/text.ts';
import { isTransientError } from './answer-table.ts';
import type { CallOptions, OperationCall } from './call.ts';
import type { CutEnd, ListEnd } from './next-page.ts';
import { pagesOf } from './page-walk.ts';

/** The wanted values of fields. A record matches any value of an array. */
export type Filters = Readonly<Record<string, unknown>>;

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
  const { query, isExact, matches } = applyFilters(operation, filters);
  const narrowed = narrowedEnd(operation, query);
  if (needsWhole && narrowed) throw new CutListError(narrowed, operation);
  const readPages = (size: number | undefined) => pagesOf(callFor({ ...query, limit: size }), size);
  const size = pageSize(operation, isExact ? limit : undefined);
  let pages = readPages(size);
  let page = await pages.next();
  if (!page.done && page.value.length === 0) {
    page = await pages.next();
    // A service that is not bound may take the page size for a filter that no record meets.
    if (page.done && size !== undefined && !isBound(operation)) {
      pages = readPages(undefined);
      page = await pages.next();
    }
  }
  // Only the end of a list shows whether it is cut, so a caller that needs the whole list gets nothing before the end. A list
  // that follows links is rarely cut, and can be long, so the caller gets each page as soon as the next one has come.
  const { kind: paging } = operation.paging ?? {};
  const mostOfWhole = paging === 'link' || paging === 'after' ? 1 : Number.POSITIVE_INFINITY;
  const mostUnyielded = needsWhole ? mostOfWhole : 0;
  const unyielded: ServiceRecord[][] = [];
  const entries = new Map<unknown, number>();
  let count = 0;
  let remaining = limit ?? Number.POSITIVE_INFINITY;
  for (; !page.done; page = await pages.next()) {
    if (needsWhole && isBound(operation)) requireOneEntry(operation, page.value, entries);
    const matching = page.value.filter(matches);
    unyielded.push(matching);
    count += page.value.length;
    remaining -= matching.length;
    if (remaining <= 0) return yield* unyielded;
    yield* unyielded.splice(0, Math.max(0, unyielded.length - mostUnyielded));
  }
  let end = page.value;
  if (end.kind !== 'cut' && narrowed) end = narrowed;
  else if (end.kind === 'unproven') end = await askFurther(operation, size, count, readPages);
  if (end.kind === 'whole' && end.note !== undefined)
    notify('note', `${end.note}: the list ends here (${id})`);
  if (end.kind === 'cut' && needsWhole) throw new CutListError(end, operation);
  if (end.kind === 'cut') notify('warning', `there may be more records: ${end.why} (${id})`);
  yield* unyielded;
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
    if (inPage.has(petId) || (entries.get(petId) ?? hash) !== hash)
      throw new UnboundError(
        `this command needs one entry for each pet, but ${id} has several for pet ${petId}`,
      );
    inPage.add(petId);
    entries.set(petId, hash);
  }
}

/**
 * Finds out whether a list without a link or a cursor has more records than it answered. Its description has a page size, and may say
 * nothing of the size that the service takes by itself.
 *
 * @param size the page size that was asked for.
 * @param count the number of records that were read.
 * @param readPages asks for the list with a page size.
 */
async function askFurther(
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

/**
 * Divides filters into those that the service applies and those that are applied here.
 *
 * @returns the parameters of the service, whether they are all the filters, and what decides whether a record meets the filters.
 * @throws UnboundError for a filter that cannot be applied.
 */
function applyFilters(operation: Operation, filters: Filters) {
  requireFilters(operation, filters);
  const conditions = Object.entries(filters).filter(([, value]) => value !== undefined);
  const parameters = conditions
    .map(([name, wanted]) => [name, parameterOf(operation, name, [wanted].flat())] as const)
    .filter(([, value]) => value !== undefined);
  // A service may ignore a parameter without an error, so its records are checked.
  const checked = conditions.filter(([name]) => hasField(operation, name));
  return {
    query: Object.fromEntries(parameters),
    isExact: parameters.length === conditions.length,
    matches: ({ fields }: ServiceRecord) =>
      checked.every(([name, wanted]) =>
        [wanted].flat().some((each) => isValue(operation, fields, name, each)),
      ),
  };
}

/** Returns the end of a list that a default or `--map` limits to the records with one value of a filter. */
function narrowedEnd({ parameters }: Operation, query: Filters): CutEnd | undefined {
  const narrowing = parameters.find(
    ({ name, in: place, serviceDefault }) =>
      place === 'query' && name !== 'limit' && serviceDefault !== undefined && query[name] === undefined,
  );
  if (!narrowing) return undefined;
  const { wireName, serviceDefault } = narrowing;
  return { kind: 'cut', why: `it has only the records with ${wireName} ${serviceDefault}` };
}

const largestPage = 1000;

/**
 * Returns the page size to request: a part of the limit, or the largest size. Returns undefined if the service has no page size,
 * or may answer with all records.
 */
export function pageSize(operation: Operation, limit?: number): number | undefined {
  const size = operation.parameters.find(({ name }) => name === 'limit');
  if (!size) return undefined;
  const { minimum = 1, maximum } = size.bounds ?? {};
  const largest = Math.min(largestPage, Number(maximum ?? largestPage));
  if (limit !== undefined) return Math.max(Math.min(limit, largest), Number(minimum));
  // If the program does not know how the pages follow each other, a smaller size would cut the list.
  const isStated = maximum !== undefined || size.required;
  return isStated || (size.serviceDefault !== undefined && operation.paging?.kind === 'unknown')
    ? largest
    : undefined;
}

function hasField({ recordForm }: Operation, name: string): boolean {
  return Object.hasOwn(recordForm.names, name);
}

/**
 * Checks that the service or this program can apply each filter.
 *
 * @param needs fields that a further condition reads.
 * @throws UnboundError for the first filter that cannot be applied.
 */
export function requireFilters(operation: Operation, filters: Filters, needs: readonly string[] = []): void {
  const names = Object.keys(filters).filter((name) => filters[name] !== undefined);
  const isSeveral = (name: string) => [filters[name]].flat().length > 1;
  const name = [
    ...names.filter((each) => isSeveral(each) || !takesParameter(operation, each)),
    ...needs,
  ].find((each) => !hasField(operation, each));
  if (name === undefined) return;
  const what = isSeveral(name) && takesParameter(operation, name) ? `several values of ${name}` : name;
  throw new UnboundError(
    `the service cannot filter by ${what}, and its records have no field ${name} (${operation.id})`,
  );
}

/** Returns the value of the parameter that selects exactly these records, if the service has such a parameter. */
function parameterOf(operation: Operation, name: string, [filter, ...others]: readonly unknown[]): unknown {
  const parameter = operation.parameters.find((candidate) => candidate.name === name);
  if (others.length > 0 || !parameter) return undefined;
  const { enum: choices } = parameter.bounds ?? {};
  // The parameter may spell a status differently from the records.
  if (typeof filter === 'string' && choices)
    return choices.find((choice) => foldCase(choice) === foldCase(filter));
  return filter;
}

function isValue(operation: Operation, record: JsonObject, name: string, expected: unknown): boolean {
  const actual = record[name] ?? defaultOf(operation, name);
  const areTexts = typeof actual === 'string' && typeof expected === 'string';
  return areTexts ? foldCase(actual) === foldCase(expected) : actual === expected;
}

/** Collects the records of a list, each as its fields by our names. */
export async function collectRecords<Members>(
  pages: AsyncIterable<readonly ServiceRecord<Members>[]>,
): Promise<Members[]> {
  const all: Members[] = [];
  // Not `push(...page)`: a page of 120,000 would overflow the stack.
  for await (const page of pages) for (const { fields } of page) all.push(fields);
  return all;
}
