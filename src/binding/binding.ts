import type { Contract } from '../api/contract.ts';
import {
  type NounName,
  type Operation,
  type OperationId,
  operationIds,
  operations,
  takesId,
} from '../api/operations.ts';
import { UsageError } from '../process/errors.ts';
import { toOperation } from './bound-operation.ts';
import { credentialPlaces } from './credential-places.ts';
import { type Description, readWithin } from './description.ts';
import { type DocumentOperation, formatRoute, operationsIn, pathPattern, type Route } from './document.ts';
import { obstacleTo } from './fit.ts';
import { type Match, type Matches, matchOperations } from './match.ts';
import { isParameter } from './path.ts';
import type { TableOperation } from './record-format.ts';
import { createResponseReader } from './responses.ts';

// The folder turns the description of a service into a contract. description.ts reads the description, and document.ts
// lists its operations. match.ts finds ours among them by their paths (path.ts) and schemas; fit.ts tells which of them
// cannot be called. bound-operation.ts writes each down with the service's own parameters and pages (parameters.ts), names
// (record-format.ts) and answers (responses.ts). All of that happens once, in `api bind`. src/client/wire.ts translates at every call.

/** The values of `--map`. */
export interface Maps {
  /** The routes that the user chose, by operation; a path may have values in place of its parameters. */
  readonly operations: ReadonlyMap<OperationId, Route>;
  /** The service's names of fields, by noun and our name. */
  readonly fields: ReadonlyMap<NounName, ReadonlyMap<string, string>>;
}

/** What `api bind` finds in a description. */
interface BindResult {
  readonly matches: Matches;
  readonly contract: Contract;
}

/**
 * Finds the operations of the table in a description, and writes down the contract that they make.
 *
 * @throws UsageError if a route of --map is not in the description, or cannot be called as that operation; for a field
 *   that no operation has, or a credential in a place that cannot have it; also if it takes too long.
 */
export function bind(description: Description, maps: Maps): BindResult {
  return readWithin(description.label, () => {
    const { document } = description;
    const all = operationsIn(description);
    const table = operationIds.map((id): TableOperation => {
      const operation = operations[id];
      return { ...operation, fieldMap: maps.fields.get(operation.noun) ?? new Map() };
    });
    const chosen = table.flatMap((tableOperation) => {
      const route = maps.operations.get(tableOperation.id);
      return route ? [[tableOperation.id, findOperationAt(all, tableOperation, route)] as const] : [];
    });
    const matches = matchOperations(table, all, new Map(chosen));
    const responseReader = createResponseReader();
    const bound = new Map<OperationId, Operation>();
    const missing = new Map<OperationId, string>();
    for (const tableOperation of table) {
      const { id } = tableOperation;
      const match = matches.get(id);
      const [operation] = match?.operations ?? [];
      if (operation && match?.state === 'bound')
        bound.set(id, toOperation(tableOperation, operation, match.why, document, responseReader));
      else if (match) missing.set(id, whyMissing(id, match));
    }
    for (const [noun, fields] of maps.fields)
      for (const [field, name] of fields) checkMapped([...bound.values()], noun, field, name);
    const places = credentialPlaces(document, [...bound.values()], all);
    const { definitions } = responseReader;
    return {
      matches,
      contract: { operations: bound, missing, credentialPlaces: places, basePath: '', definitions },
    };
  });
}

/** @throws UsageError if no operation has a field of the user's name. */
function checkMapped(bound: readonly Operation[], noun: NounName, field: string, name: string): void {
  const isUsed = ({ noun: other, records, body }: Operation) =>
    other === noun && [records.names[field], body?.fields[field]?.wireName].includes(name);
  if (field === name || bound.some(isUsed)) return;
  throw new UsageError(`--map ${noun}.${field}=${name}: no bound operation of ${noun} has a field ${name}`);
}

/** Says why an operation is not bound and, if there is a remedy, what to do: a clause. */
function whyMissing(id: OperationId, { state, operations: [nearest], why }: Match): string {
  if (!nearest) return why;
  if (state === 'unbindable') return `${formatRoute(nearest)} does not fit: ${why}`;
  return `${why}; choose with --map ${id}='${formatRoute(nearest)}'`;
}

/** Finds the operation that the user chose, of any method, and puts the values of the route into its path. */
function findOperationAt(
  all: readonly DocumentOperation[],
  tableOperation: TableOperation,
  route: Route,
): DocumentOperation {
  const { id, method } = tableOperation;
  const operation = all
    .filter((candidate) => candidate.method === route.method)
    .flatMap((candidate) => withFixedPath(candidate, route.path) ?? [])
    .sort((a, b) => Number(b.path === route.path) - Number(a.path === route.path))[0];
  if (!operation) {
    const near = all.filter(({ path }) => pathPattern(path) === pathPattern(route.path));
    const offered = (near.length > 0 ? near : all).slice(0, 8).map(formatRoute);
    throw new UsageError(
      `--map ${id}: the description has no ${formatRoute(route)}`,
      `it has ${offered.join(', ')}`,
    );
  }
  const ids = operation.parameters.filter((parameter) => parameter.in === 'path').length;
  const isInBody = method === 'PUT' && ids === 0;
  const expected = takesId(id) && !isInBody ? 1 : 0;
  const obstacle =
    ids === expected
      ? obstacleTo(tableOperation, operation)
      : `${id} takes ${expected === 0 ? 'no id' : 'one id'}, and its path has ${['none', 'one'][ids] ?? ids}`;
  if (obstacle !== undefined)
    throw new UsageError(`--map ${id}: ${formatRoute(operation)} does not fit: ${obstacle}`);
  return operation;
}

/** Puts the values of a path in place of the parameters; undefined if the operation has another path. */
function withFixedPath(operation: DocumentOperation, path: string): DocumentOperation | undefined {
  const segmentsOf = (text: string) => text.replace(/(?<=.)\/$/, '').split('/');
  const values = segmentsOf(path);
  const template = segmentsOf(operation.path);
  const isSame = template.every((segment, at) => isParameter(segment) || segment === values[at]);
  if (values.length !== template.length || !isSame) return undefined;
  const segments = template.map((segment, at) => (isParameter(values[at] ?? '') ? segment : values[at]));
  const isLeft = (name: string) => segments.includes(`{${name}}`);
  const parameters = operation.parameters.filter(({ in: place, name }) => place !== 'path' || isLeft(name));
  return { ...operation, path: segments.join('/'), parameters };
}
