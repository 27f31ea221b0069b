import type { Contract } from '../api/contract.ts';
import { type NounName, nouns, type OperationId } from '../api/nouns.ts';
import { type Operation, operations } from '../api/operations.ts';
import { InputError, UsageError } from '../process/errors.ts';
import { withDefaultSignals } from '../process/io.ts';
import { compactName, joinFirst } from '../process/text.ts';
import { definitionsOf, toOperation } from './bound-operation.ts';
import type { Description } from './description.ts';
import { type DocumentOperation, obstacleText, operationsIn, type Route, routeText } from './document.ts';
import { boundIn, type Matches, matchOperations, readingOperation } from './match.ts';
import { isParameter, readPath } from './path-words.ts';
import { shownRecord, type TableOperation } from './record-form.ts';

/** The values of `--map`. */
export interface Maps {
  /** The routes that the user chose, by operation. A path may have values in place of its parameters. */
  readonly operations: ReadonlyMap<OperationId, Route>;
  /** The service's names of fields, by noun and our name. */
  readonly fields: ReadonlyMap<NounName, ReadonlyMap<string, string>>;
}

/** The contract of a description, the search results from which it was made, and the routes of all operations there. */
interface Binding {
  readonly contract: Contract;
  readonly matches: Matches;
  readonly routes: readonly Route[];
}

/**
 * Finds the operations of the table in a description, and makes a contract of them.
 *
 * @throws UsageError if the description lacks a route of `--map`, if a route cannot be called as its operation, or if no bound operation
 *   has a field of `--map`.
 * @throws InputError if the description cannot be followed.
 */
export function bind(description: Description, maps: Maps): Binding {
  try {
    return withDefaultSignals(() => toBinding(description, maps));
  } catch (error) {
    // Schemas may refer to each other in a chain that is too long to follow.
    if (error instanceof RangeError)
      throw new InputError(`description ${description.label}: its schemas are nested too deeply`);
    throw error;
  }
}

function toBinding(description: Description, maps: Maps): Binding {
  const { documentOperations, tokenHeader } = operationsIn(description);
  const tableOperationOf = (id: OperationId): TableOperation => {
    const operation = operations[id];
    return { ...operation, fieldMap: maps.fields.get(operation.noun) ?? new Map() };
  };
  const mapped = new Map<OperationId, DocumentOperation>();
  for (const [id, route] of maps.operations) mapped.set(id, requireMapped(documentOperations, id, route));
  const matches = matchOperations({ tableOperationOf, documentOperations, mapped });
  const bound = new Map<OperationId, Operation>();
  const missing = new Map<OperationId, string>();
  for (const [id, match] of matches) {
    const { state, operation } = match;
    if (state === 'bound') {
      const read = readingOperation(matches, operations[id].noun);
      const record = shownRecord(tableOperationOf(read), boundIn(matches, read)?.answer);
      bound.set(id, toOperation(tableOperationOf(id), operation, match.why, description, record));
    } else {
      const isNear = operation && state === 'unbound';
      const why = isNear ? `${routeText(operation)} does not fit: ${obstacleText(match)}` : match.why;
      if (mapped.has(id)) throw new UsageError(`--map ${id}: ${why}`, match.hint);
      missing.set(id, why);
    }
  }
  for (const [noun, fields] of maps.fields)
    for (const [field, name] of fields) requireMappedField(bound, missing, noun, field, name);
  const definitions = definitionsOf([...bound.values()], description);
  const contract = { operations: bound, missing, tokenHeader, basePath: '', definitions };
  return { matches, contract, routes: documentOperations };
}

/** Takes the prefix out of the paths of the operations. */
export function withoutPrefix(contract: Contract, prefix: string): Contract {
  const bound = [...contract.operations.values()].map((operation) => ({
    ...operation,
    path: operation.path.slice(prefix.length),
  }));
  return { ...contract, operations: new Map(bound.map((operation) => [operation.id, operation])) };
}

/** @throws UsageError if no operation has the field that `--map` names. */
function requireMappedField(
  bound: Contract['operations'],
  missing: Contract['missing'],
  noun: NounName,
  field: string,
  name: string,
): void {
  const hasField = (operation: Operation) =>
    operation.noun === noun &&
    [operation.recordForm.names[field], operation.body?.fields[field]?.wireName].includes(name);
  const isOwn = (name: string) => compactName(name) === compactName(field);
  const own = [...bound.values()].flatMap((operation) =>
    operation.noun === noun ? operation.recordForm.furtherFields.filter(isOwn) : [],
  );
  if (/Id$/.test(field) && own[0] !== undefined)
    throw new UsageError(`--map ${noun}.${field}=${name}: its records have a field ${own[0]} of their own`);
  if ([...bound.values()].some(hasField)) return;
  const { list } = nouns[noun].operations;
  const why = missing.get(list);
  throw new UsageError(
    `--map ${noun}.${field}=${name}: no bound operation of ${noun} has a field ${name}`,
    why && `${list} is not bound: ${why}`,
  );
}

/**
 * Returns the operation at a route that the user chose with `--map`. Values in the path take the place of its parameters, and
 * `?name=value` after the path fixes a query parameter.
 *
 * @throws UsageError if the description has no such route or parameter.
 */
function requireMapped(
  documentOperations: readonly DocumentOperation[],
  id: OperationId,
  route: Route,
): DocumentOperation {
  const [path = '', query = ''] = route.path.split('?');
  const [template] = documentOperations
    .filter((candidate) => candidate.method === route.method && isTemplateOf(candidate.path, path))
    .sort((a, b) => Number(b.path === path) - Number(a.path === path));
  if (!template) {
    const hint = `it has ${joinFirst(documentOperations.map(routeText), 8)}`;
    throw new UsageError(`--map ${id}: the description has no ${routeText({ ...route, path })}`, hint);
  }
  return withFixedQuery(withFixedPath(template, path), id, query);
}

/** Returns true if a path is a template with values, or other names, in place of some of its parameters. */
function isTemplateOf(template: string, path: string): boolean {
  const values = path.split('/');
  const segments = template.split('/');
  const isSame = segments.every((segment, index) => isParameter(segment) || segment === values[index]);
  return values.length === segments.length && isSame;
}

/** Puts the values of a path in place of the parameters of an operation. */
function withFixedPath(operation: DocumentOperation, path: string): DocumentOperation {
  const values = path.split('/');
  const segments = operation.path
    .split('/')
    .map((segment, index) => (isParameter(values[index]) ? segment : values[index]));
  const isInPath = (name: string) => segments.includes(`{${name}}`);
  const parameters = operation.parameters.filter(
    (parameter) => parameter.in !== 'path' || isInPath(parameter.name),
  );
  const fixed = segments.join('/');
  return { ...operation, path: fixed, form: readPath(fixed), parameters };
}

/** Gives query parameters constant values. @throws UsageError if the operation has no such parameter. */
function withFixedQuery(operation: DocumentOperation, id: string, query: string): DocumentOperation {
  const values = new Map(new URLSearchParams(query));
  const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query');
  const unknownName = [...values.keys()].find(
    (name) => !inQuery.some((parameter) => parameter.name === name),
  );
  if (unknownName !== undefined)
    throw new UsageError(`--map ${id}: ${routeText(operation)} has no query parameter ${unknownName}`);
  const parameters = operation.parameters.map((parameter) => {
    const fixedValue = inQuery.includes(parameter) ? values.get(parameter.name) : undefined;
    return fixedValue === undefined ? parameter : { ...parameter, required: true, fixedValue };
  });
  return { ...operation, parameters };
}
