import type { Contract } from '../api/contract.ts';
import type { NounName, OperationId } from '../api/nouns.ts';
import { type Operation, operationIds, operations } from '../api/operations.ts';
import { UsageError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { whileKillable } from '../process/io.ts';
import { toOperation } from './bound-operation.ts';
import type { Description } from './description.ts';
import { obstacleText, operationsIn, type Route, routeText } from './document.ts';
import { findOperationAt } from './mapped-route.ts';
import { type Match, type Matches, matchOperations } from './match.ts';
import type { TableOperation } from './wire-form.ts';

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
 *   operation, or if no operation has a field of `--map`.
 */
export function bind(description: Description, maps: Maps): BindResult {
  return whileKillable(() => {
    const { documentOperations, tokenHeader } = operationsIn(description);
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
    const definitions: JsonObject = {};
    const bound = new Map<OperationId, Operation>();
    const missing = new Map<OperationId, string>();
    for (const tableOperation of table) {
      const { id } = tableOperation;
      const match = matches.get(id);
      const [operation] = match?.operations ?? [];
      if (operation && match?.state === 'bound')
        bound.set(id, toOperation(tableOperation, operation, match.why, description, definitions));
      else if (match) missing.set(id, whyUnbound(match));
    }
    for (const [noun, fields] of maps.fields)
      for (const [field, name] of fields) requireMappedField([...bound.values()], noun, field, name);
    return {
      matches,
      contract: {
        operations: bound,
        missing,
        tokenHeader,
        basePath: '',
        definitions,
      },
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

/** Returns the reason why nothing is bound, with the nearest operation. */
function whyUnbound(match: Match): string {
  const [nearest] = match.state === 'ambiguous' ? [] : match.operations;
  return nearest ? `${routeText(nearest)} does not fit: ${obstacleText(match)}` : match.why;
}
