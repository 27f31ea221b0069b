import { defaultOf, UnboundError } from '../../api/contract.ts';
import type { Operation } from '../../api/operations.ts';
import type { ServiceRecord } from '../../api/record-values.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { foldCase } from '../../process/text.ts';
import type { CutEnd } from './next-page.ts';

// Divides the conditions for a list between the service and the program.

/** The wanted values of fields. A record matches any value of an array. */
export type Filters = Readonly<Record<string, unknown>>;

/**
 * Divides filters into those that the service applies and those that are applied here.
 *
 * @returns the parameters of the service, whether they are all the filters, and what decides whether a record meets the filters.
 * @throws UnboundError for a filter that cannot be applied.
 */
export function divideFilters(operation: Operation, filters: Filters) {
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
export function narrowedEnd({ parameters }: Operation, query: Filters): CutEnd | undefined {
  const narrowing = parameters.find(
    ({ name, in: place, serviceDefault }) =>
      place === 'query' && name !== 'limit' && serviceDefault !== undefined && query[name] === undefined,
  );
  if (!narrowing) return undefined;
  const { wireName, serviceDefault } = narrowing;
  return { kind: 'cut', why: `it has only the records with ${wireName} ${serviceDefault}` };
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
  const unsent = Object.keys(filters).filter(
    (each) =>
      filters[each] !== undefined && parameterOf(operation, each, [filters[each]].flat()) === undefined,
  );
  const name = [...unsent, ...needs].find((each) => !hasField(operation, each));
  if (name === undefined) return;
  const [value, ...others] = [filters[name]].flat();
  const what = others.length > 0 ? `several values of ${name}` : `${name} ${value ?? ''}`.trim();
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
