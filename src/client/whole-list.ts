import { type Contract, offeredOperation, takesParameter } from '../api/contract.ts';
import type { ListId, Operation } from '../api/operations.ts';
import { comparedValues, petStatuses } from '../api/values.ts';
import { UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { caseless } from '../process/text.ts';
import type { CallOptions } from './call.ts';
import { type PageSource, pagesOf, statedMaximum } from './page-walk.ts';

// A list from its first record to its last, whatever the service's filters and page sizes are.

/** The conditions on the fields of records, by the table's filters. Any value of an array matches. */
export type Filters = Readonly<Record<string, unknown>>;

export interface ListOptions extends CallOptions {
  /** How many records are wanted: the list ends with the page that has the last of them. Default: all. */
  readonly limit?: number | undefined;
  /** Begin after this id, if the list is ordered by id. */
  readonly after?: bigint | undefined;
  /** True if the caller needs every record: a list that may be cut is then an error, not a warning. */
  readonly whole?: boolean | undefined;
}

/** What a list needs of the client. */
export interface ListSource {
  readonly contract: Contract;
  /** Opens the list with these parameters. @throws UsageError if they break the contract. */
  openList(query: Filters): PageSource;
  /** Tells the user a line. */
  note(line: string): void;
}

/**
 * The records of a list, page by page, each page fetched when it is needed. Filters that the service lacks are applied
 * here. If it requires a filter, or has a default for it, it is asked once for each value of that filter.
 *
 * @throws UsageError for a filter that can be applied neither there nor here, and for a list that may be cut if the caller
 *   needs it whole; CliError for a list that does not end.
 */
export async function* readList(
  source: ListSource,
  id: ListId,
  filters: Filters,
  options: ListOptions,
): AsyncGenerator<JsonObject[]> {
  const operation = offeredOperation(source.contract, id);
  const pages = readPages(source, operation, filters, options);
  // If the end of the list shows that it may be cut, the caller must not have used its first page.
  const isReadFirst = options.whole && operation.paging?.kind === 'unknown';
  const kept: JsonObject[][] = [];
  let page = await pages.next();
  for (; !page.done; page = await pages.next()) {
    if (isReadFirst) kept.push(page.value);
    else yield page.value;
  }
  const doubt = page.value;
  if (doubt !== undefined && options.whole)
    throw new UsageError(
      `the list may be cut, and this needs every record: ${doubt} (${id})`,
      'ask the owner of the service for a list that can be read to its end',
      'unbound',
    );
  if (doubt !== undefined) source.note(`warning: there may be more records: ${doubt} (${id})`);
  yield* kept;
}

/** The pages of a list. Returns why it may be cut, a clause; undefined if it is certainly whole. */
async function* readPages(
  { openList }: ListSource,
  operation: Operation,
  filters: Filters,
  { limit, after, whole }: ListOptions,
): AsyncGenerator<JsonObject[], string | undefined> {
  checkFilters(operation, filters);
  const conditions = Object.entries(filters).flatMap(([name, value]): [string, unknown][] => {
    const only = Array.isArray(value) && value.length === 1 ? value[0] : value;
    return only === undefined ? [] : [[name, only]];
  });
  const parameters = conditions.flatMap(([name, filter]): [string, unknown][] => {
    const value = parameterOf(operation, name, filter);
    return value === undefined ? [] : [[name, value]];
  });
  const isExact = parameters.length === conditions.length;
  const size = pageSize(operation, isExact ? limit : undefined);
  let left = limit ?? Number.POSITIVE_INFINITY;
  const parts = queriesOf(operation, conditions);
  let { doubt } = parts;
  if (whole && doubt !== undefined) return doubt;
  for (const part of parts.queries) {
    // A service may ignore a parameter without an error.
    const checked = [...conditions, ...Object.entries(part)].filter(([name]) => hasField(operation, name));
    const list = openList({ ...Object.fromEntries(parameters), ...part, after, limit: size });
    const pages = pagesOf(list, operation, size);
    let page = await pages.next();
    for (; !page.done; page = await pages.next()) {
      const matching = page.value.filter((record) => meetsConditions(record, checked));
      left -= matching.length;
      yield matching;
      if (left <= 0) return undefined;
    }
    doubt ??= page.value;
  }
  return doubt;
}

const largestPage = 1000;

/**
 * The page size to ask for: a part of the limit, else the largest. Undefined if the service has none, or may answer with
 * all records if none is asked for.
 */
function pageSize(operation: Operation, limit: number | undefined): number | undefined {
  const size = operation.parameters.find(({ name }) => name === 'limit');
  if (!size) return undefined;
  const isStated = size.bounds?.maximum !== undefined || size.required;
  const largest = Math.min(largestPage, statedMaximum(operation) ?? largestPage);
  if (limit !== undefined)
    return Math.max(Math.ceil(limit / Math.ceil(limit / largest)), Number(size.bounds?.minimum ?? 1));
  // Without links, a default size would cut the list.
  const { paging } = operation;
  const hasNoPages = paging?.kind === 'unknown' && paging.by === undefined;
  return isStated || (size.serviceDefault !== undefined && hasNoPages) ? largest : undefined;
}

/** Whether the records of a list have a field. */
function hasField({ records }: Operation, name: string): boolean {
  return Object.hasOwn(records.names, name);
}

/**
 * Checks that each filter can be applied, by the service or here.
 *
 * @param needs fields that a further condition reads.
 * @throws UsageError for the first that cannot be.
 */
export function checkFilters(operation: Operation, filters: Filters, needs: readonly string[] = []): void {
  const names = Object.keys(filters).filter((name) => filters[name] !== undefined);
  const lacking = [
    ...names.filter((name) => !hasField(operation, name) && !takesParameter(operation, name)),
    ...needs.filter((name) => !hasField(operation, name)),
  ];
  const [name] = lacking;
  if (name === undefined) return;
  throw new UsageError(
    `the service cannot filter by ${name}, and its records have no field ${name} (${operation.id})`,
    'see `petstore api operations`',
  );
}

/** The value with which the service can be asked for just these records; undefined if there is none. */
function parameterOf(operation: Operation, name: string, filter: unknown): unknown {
  if (Array.isArray(filter) || !takesParameter(operation, name)) return undefined;
  return isJsonObject(filter as JsonValue) ? (filter as JsonObject).id : filter;
}

/**
 * The queries whose lists together hold all records. There is one for each value of a filter that would hide records
 * otherwise: the service requires it, has a default for it, or applies it to a field that its records do not show. The
 * doubt names a default if the other values of its filter are unknown.
 */
function queriesOf(
  operation: Operation,
  conditions: readonly (readonly [string, unknown])[],
): { readonly queries: readonly Filters[]; readonly doubt: string | undefined } {
  const values = new Map(conditions);
  const isPaging = (name: string) => name === 'limit' || name === 'after';
  const narrowing = operation.parameters.filter(({ name, serviceDefault, required, in: place, constant }) => {
    if (place !== 'query' || isPaging(name) || constant !== undefined) return false;
    if (values.has(name) && !Array.isArray(values.get(name))) return false;
    return required || serviceDefault !== undefined || (values.has(name) && !hasField(operation, name));
  });
  let queries: readonly Filters[] = [{}];
  let doubt: string | undefined;
  for (const { name, bounds, serviceDefault } of narrowing) {
    const choices = values.get(name) ?? bounds?.enum ?? filterValues[name];
    if (Array.isArray(choices) && choices.length > 0)
      queries = queries.flatMap((query) => choices.map((value) => ({ ...query, [name]: value })));
    else if (serviceDefault !== undefined)
      doubt ??= `it has only those with ${name} ${serviceDefault}, unless it is asked for others`;
  }
  return { queries, doubt };
}

/** The values of the filters that have few, used if the description does not list them. */
const filterValues: Filters = { status: petStatuses, complete: [true, false] };

function meetsConditions(record: JsonObject, conditions: readonly (readonly [string, unknown])[]): boolean {
  return conditions.every(([name, expected]) =>
    Array.isArray(expected)
      ? expected.some((each) => isValue(record, name, each))
      : isValue(record, name, expected),
  );
}

function isValue(record: JsonObject, name: string, expected: unknown): boolean {
  if (name !== 'categoryId') return (record[name] ?? absent[name]) === expected;
  const category = comparedValues(name, expected as JsonValue, record);
  return caseless(String(category.expected)) === caseless(String(category.actual));
}

/** The value of a field that a record leaves out. */
const absent: JsonObject = { status: 'available', complete: false };

/** The records of a list, read to its end, or until there are `enough`. */
export async function collectRecords<Entity>(
  pages: AsyncIterable<readonly Entity[]>,
  enough = Number.POSITIVE_INFINITY,
): Promise<Entity[]> {
  const records: Entity[] = [];
  for await (const page of pages) {
    // Not `push(...page)`: a page of 120,000 would overflow the stack.
    for (const record of page) records.push(record);
    if (records.length >= enough) break;
  }
  return records;
}
