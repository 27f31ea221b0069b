import { UsageError } from '../../errors.ts';
import type { Contract } from '../contract.ts';
import { type OperationId, operationIds } from '../operations.ts';
import { createSchemaWriter } from './answers.ts';
import type { Description } from './description.ts';
import { type DocumentOperation, operationsOf, placeOf } from './document-operation.ts';
import { judge, refusePart } from './judge.ts';
import { type Match, type Matches, matchOperations, show } from './match.ts';
import { credentialPlaces } from './security.ts';
import { elsewhere } from './servers.ts';
import { toOperation } from './to-operation.ts';

/** An operation of the document that the user names for one of the table. */
export interface Target {
  readonly method: string;
  readonly path: string;
}

export interface Binding {
  readonly contract: Contract;
  readonly matches: Matches;
}

/**
 * What a description offers of the table.
 *
 * @throws UsageError where a target is not in the description, or cannot be that operation.
 */
export function bindContract(description: Description, targets: ReadonlyMap<OperationId, Target>): Binding {
  const { document, names } = description;
  const all = operationsOf(document).filter((operation) => !elsewhere(operation, description));
  const settled = new Map([...targets].map(([id, target]) => [id, find(all, { id, target }, description)]));
  const matches = matchOperations(all, names, settled);
  const source = { ...description, schemas: createSchemaWriter(names) };
  const operations: Contract['operations'] = new Map(
    operationIds.flatMap((id) => {
      const match = matches.get(id);
      return match?.state === 'bound' ? [[id, toOperation(id, match.operation, source)] as const] : [];
    }),
  );
  const missing = new Map([...matches].flatMap(([id, match]) => reasonOf(id, match)));
  return { contract: { operations, missing, credentialPlaces: credentialPlaces(document) }, matches };
}

function reasonOf(id: OperationId, match: Match): [OperationId, string][] {
  if (match.state === 'bound') return [];
  const near = match.state === 'unbindable' ? `${show(match.operation)} does not fit: ` : '';
  return [[id, near + match.why]];
}

function find(
  all: readonly DocumentOperation[],
  { id, target }: { readonly id: OperationId; readonly target: Target },
  { names }: Description,
): DocumentOperation {
  const ofMethod = all.filter(({ method }) => method === target.method);
  const operation =
    ofMethod.find(({ path }) => path === target.path) ??
    ofMethod.find(({ path }) => placeOf(path) === placeOf(target.path));
  if (!operation) {
    const near = all.filter(({ path }) => placeOf(path) === placeOf(target.path));
    const offered = (near.length > 0 ? near : all).slice(0, 8).map(show);
    throw new UsageError(
      `--map ${id}: the description has no ${show(target)}`,
      `it has ${offered.join(', ')}`,
    );
  }
  const judgement = judge(operation, id, names);
  const reason = refusePart(operation, id) ?? (judgement.fit === 'no' ? judgement.reason : undefined);
  if (reason !== undefined) throw new UsageError(`--map ${id}: ${show(operation)} does not fit: ${reason}`);
  return operation;
}
