import type { Contract, MissingReason } from '../api/contract.ts';
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
import {
  type DocumentOperation,
  formatRoute,
  obstacleText,
  operationsIn,
  pathPattern,
  type Route,
} from './document.ts';
import { obstacleTo } from './fit.ts';
import { type Match, type Matches, matchOperations } from './match.ts';
import { isParameter, mapFlag } from './path.ts';
import type { TableOperation } from './record-format.ts';
import { createResponseReader } from './responses.ts';

// This folder turns the description of a service into a contract, once, in `api bind`. The steps:
//
// 1. description.ts reads the description, and document.ts lists its operations.
// 2. match.ts finds our operations among them by their paths (path.ts) and schemas. fit.ts rejects an
//    operation that the program cannot call.
// 3. bound-operation.ts writes down each operation with the service's own parameters and pages
//    (parameters.ts), field names (record-format.ts) and responses (responses.ts).

/** The values of `--map`. */
export interface Maps {
  /** The routes that the user chose, by operation. A path may have values in place of its parameters. */
  readonly operations: ReadonlyMap<OperationId, Route>;
  /** The service's names of fields, by noun and our name. */
  readonly fields: ReadonlyMap<NounName, ReadonlyMap<string, string>>;
}

/** The contract of a description, and the matches that it was made from. */
interface BindResult {
  readonly matches: Matches;
  readonly contract: Contract;
}

/**
 * Finds the operations of the table in a description, and makes a contract from them.
 *
 * @throws UsageError if the description lacks a route of `--map`, if a route cannot be called as its
 *   operation, if no operation has a field of `--map`, if a credential has an impossible place, or if the
 *   work takes too long.
 */
export function bind(description: Description, maps: Maps): BindResult {
  return readWithin(description.label, () => {
    const { document } = description;
    const documentOperations = operationsIn(description);
    const table = operationIds.map((id): TableOperation => {
      const operation = operations[id];
      return { ...operation, fieldMap: maps.fields.get(operation.noun) ?? new Map() };
    });
    const chosen = table.flatMap((tableOperation) => {
      const route = maps.operations.get(tableOperation.id);
      return route
        ? [[tableOperation.id, findOperationAt(documentOperations, tableOperation, route)] as const]
        : [];
    });
    const matches = matchOperations(table, documentOperations, new Map(chosen));
    const responseReader = createResponseReader();
    const bound = new Map<OperationId, Operation>();
    const missing = new Map<OperationId, MissingReason>();
    for (const tableOperation of table) {
      const { id } = tableOperation;
      const match = matches.get(id);
      const [operation] = match?.operations ?? [];
      if (operation && match?.state === 'bound')
        bound.set(id, toOperation(tableOperation, operation, match.why, document, responseReader));
      else if (match) missing.set(id, toMissingReason(id, match));
    }
    for (const [noun, fields] of maps.fields)
      for (const [field, name] of fields) requireMappedField([...bound.values()], noun, field, name);
    const places = credentialPlaces(document, [...bound.values()], documentOperations);
    const { definitions } = responseReader;
    return {
      matches,
      contract: { operations: bound, missing, credentialPlaces: places, basePath: '', definitions },
    };
  });
}

/** @throws UsageError if no operation has the field that `--map` names. */
function requireMappedField(bound: readonly Operation[], noun: NounName, field: string, name: string): void {
  const hasField = (operation: Operation) =>
    operation.noun === noun &&
    [operation.records.names[field], operation.body?.fields[field]?.wireName].includes(name);
  if (field === name || bound.some(hasField)) return;
  throw new UsageError(`--map ${noun}.${field}=${name}: no bound operation of ${noun} has a field ${name}`);
}

function toMissingReason(id: OperationId, match: Match): MissingReason {
  const {
    state,
    operations: [nearest],
    why,
    remedy,
  } = match;
  if (!nearest) return { why, isMappable: false };
  if (state === 'ambiguous') return { why: `${why}; choose with ${mapFlag(id, nearest)}`, isMappable: true };
  const clause = `${formatRoute(nearest)} does not fit: ${obstacleText(match)}`;
  return { why: clause, isMappable: remedy !== undefined };
}

/** Finds the operation at a route that the user chose, and puts the values of the route into its path. */
function findOperationAt(
  documentOperations: readonly DocumentOperation[],
  tableOperation: TableOperation,
  route: Route,
): DocumentOperation {
  const { id, method } = tableOperation;
  const operation = documentOperations
    .filter((candidate) => candidate.method === route.method)
    .flatMap((candidate) => withFixedPath(candidate, route.path) ?? [])
    .sort((a, b) => Number(b.path === route.path) - Number(a.path === route.path))[0];
  if (!operation) {
    const near = documentOperations.filter(({ path }) => pathPattern(path) === pathPattern(route.path));
    const offered = (near.length > 0 ? near : documentOperations).slice(0, 8).map(formatRoute);
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
      : {
          why: `${id} takes ${expected === 0 ? 'no id' : 'one id'}, and its path has ${['none', 'one'][ids] ?? ids}`,
        };
  if (obstacle)
    throw new UsageError(`--map ${id}: ${formatRoute(operation)} does not fit: ${obstacleText(obstacle)}`);
  return operation;
}

/**
 * Puts the values of a path in place of the parameters. Returns undefined if the operation has another path.
 */
function withFixedPath(operation: DocumentOperation, path: string): DocumentOperation | undefined {
  const segmentsOf = (text: string) => text.replace(/(?<=.)\/$/, '').split('/');
  const values = segmentsOf(path);
  const template = segmentsOf(operation.path);
  const isSame = template.every((segment, index) => isParameter(segment) || segment === values[index]);
  if (values.length !== template.length || !isSame) return undefined;
  const segments = template.map((segment, index) =>
    isParameter(values[index] ?? '') ? segment : values[index],
  );
  const isInPath = (name: string) => segments.includes(`{${name}}`);
  const parameters = operation.parameters.filter(
    (parameter) => parameter.in !== 'path' || isInPath(parameter.name),
  );
  return { ...operation, path: segments.join('/'), parameters };
}
