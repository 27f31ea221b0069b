import { type NounName, type OperationId, operationIds, operations } from '../api/operations.ts';
import { type DocumentOperation, formatRoute, pathPattern } from './document.ts';
import { obstacleTo } from './fit.ts';
import { type Collections, isParameter, type PathReading, readPath, splitPath, takesId } from './path.ts';
import { recordsIn, type TableOperation } from './record-format.ts';
import type { Shape } from './schema.ts';
import { likelyNoun, nounOf, schemaNames, wordsOf } from './words.ts';

// How an operation of the table is found in a document. A wrong binding is worse than a missing one, because it decides
// what `delete` deletes.
//
// 1. Only an operation at a path of the right form counts: a list or a create without a parameter in its path, an
//    operation on one record with the record's own id as the last segment and no other parameter, beside the list or the
//    create of its noun.
// 2. Of these, one whose schema has a name of the service's specification comes first, then one whose path has the noun.
// 3. If several are left, these come first, in this order: one at the noun alone (`/pets`), one at the path of a bound
//    collection, PUT before PATCH, one with our operationId. If several are left still, none is bound.
// 4. If there is none, the nearest is reported with the reason, and with the --map line if that would be right.

/** The result for one operation of the table; `why` is a clause. */
export type Match =
  | { readonly state: 'bound'; readonly operation: DocumentOperation; readonly why: string }
  | { readonly state: 'ambiguous'; readonly among: readonly DocumentOperation[]; readonly why: string }
  /** A near miss. */
  | { readonly state: 'unbindable'; readonly operation: DocumentOperation; readonly why: string }
  | { readonly state: 'missing'; readonly why: string };

export type Matches = ReadonlyMap<OperationId, Match>;

/** What the user says about a description. */
export interface Choices {
  readonly operations: ReadonlyMap<OperationId, DocumentOperation>;
  readonly fields: ReadonlyMap<NounName, ReadonlyMap<string, string>>;
}

interface Candidate {
  readonly operation: DocumentOperation;
  readonly by: 'schema' | 'path';
  readonly why: string;
  /** Why the operation is not bound, a clause. */
  readonly obstacle: string | undefined;
}

/** An operation of the table with the names that the user gives to its fields. */
export function toTableOperation(id: OperationId, { fields }: Pick<Choices, 'fields'>): TableOperation {
  const operation = operations[id];
  return { ...operation, fieldMap: fields.get(operation.noun) ?? new Map() };
}

/** Finds each operation of the table among those of a document. No rule overrides a choice of the user. */
export function matchOperations(all: readonly DocumentOperation[], choices: Choices): Matches {
  const matches = new Map<OperationId, Match>();
  for (const [id, operation] of choices.operations)
    matches.set(id, { state: 'bound', operation, why: 'set by --map' });
  // The list and the create of a noun come first: their paths decide which operations on one record belong to the same
  // collection.
  for (const id of operationIds) {
    if (matches.has(id)) continue;
    const tableOperation = toTableOperation(id, choices);
    const collections = collectionsOf(tableOperation, matches);
    const candidates = all.flatMap((operation) => toCandidate(tableOperation, operation, collections) ?? []);
    matches.set(id, choose(tableOperation, candidates, collections));
  }
  return new Map(operationIds.map((id) => [id, matches.get(id) as Match]));
}

function collectionsOf({ noun }: TableOperation, matches: Matches): Collections {
  const ofNoun = [...matches].filter(([id]) => operations[id].noun === noun);
  const patternsOf = (ofRecord: boolean) =>
    ofNoun.flatMap(([id, match]) =>
      match.state === 'bound' && takesId(id) === ofRecord ? pathPattern(match.operation.path) : [],
    );
  const isTied = ofNoun.some(([id, { state }]) => state === 'ambiguous' && !takesId(id));
  return { whole: new Set(patternsOf(false)), single: new Set(patternsOf(true)), isTied };
}

function toCandidate(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  collections: Collections,
): Candidate | undefined {
  const { method } = operation;
  if (method !== tableOperation.method && !(tableOperation.method === 'PUT' && method === 'PATCH'))
    return undefined;
  const reading = readPath(tableOperation, operation, collections);
  const evidence =
    reading &&
    (schemaEvidence(tableOperation, operation) ?? pathEvidence(tableOperation, operation, reading));
  if (!evidence) return undefined;
  const { obstacle = evidence.doubt } = reading;
  const unfit = obstacleTo(tableOperation, operation);
  // An operation with two obstacles is not even a near miss.
  if (unfit !== undefined && obstacle !== undefined) return undefined;
  return { ...evidence, operation, obstacle: unfit ?? obstacle ?? changeOfCount(tableOperation, operation) };
}

/** Why an operation does not set a count, a clause. */
function changeOfCount(
  { id }: TableOperation,
  { operationId = '', source }: DocumentOperation,
): string | undefined {
  if (id !== 'updateInventory') return undefined;
  const summary = typeof source.summary === 'string' ? source.summary : '';
  const word = [...wordsOf(operationId), ...wordsOf(summary)].find((each) =>
    /^(add|adjust|increment|decrement|increas|decreas)(e|ed|ing|ment)?$/.test(each),
  );
  return word && `it says ${word}, and so may not set the count`;
}

interface Evidence extends Pick<Candidate, 'by' | 'why'> {
  /** Why the evidence does not suffice, a clause. */
  readonly doubt?: string;
}

/** The name of a schema as evidence. */
function schemaEvidence(
  tableOperation: TableOperation,
  { body, answer }: DocumentOperation,
): Evidence | undefined {
  const ours = schemaNames(tableOperation);
  const nameIn = (shape: Shape | undefined) => shape?.names.find((name) => ours.includes(name));
  if (tableOperation.body) {
    const name = typeof body === 'object' ? nameIn(body.shape) : undefined;
    const answersList =
      tableOperation.method === 'POST' && typeof answer === 'object' && answer.shape.kind === 'array';
    return name === undefined || answersList ? undefined : { by: 'schema', why: `takes ${name}` };
  }
  if (typeof answer === 'string' || tableOperation.method !== 'GET') return undefined;
  const name = nameIn(recordsIn(tableOperation, answer.shape)?.shape);
  const why = `answers ${tableOperation.many ? 'an array of ' : ''}${name}`;
  return name === undefined ? undefined : { by: 'schema', why };
}

/** The path as evidence, unless the schemas say that it is about something else. */
function pathEvidence(
  { id, noun, method }: TableOperation,
  operation: DocumentOperation,
  { segment, isOfNoun }: PathReading,
): Evidence | undefined {
  if (!isOfNoun && likelyNoun(segment) !== noun) return undefined;
  const { answer, body } = operation;
  const isAction = method === 'POST' && typeof answer === 'object' && answer.shape.kind === 'array';
  const names = [answer, body].flatMap((each) => (typeof each === 'object' ? each.shape.names : []));
  if (isAction || names.some((name) => isNameOfOtherNoun(name, noun))) return undefined;
  const evidence = { by: 'path', why: `its path is about ${noun}` } as const;
  if (isOfNoun || nounOf(segment) === noun) return evidence;
  const doubt = `${segment} may be something else: if it is ${noun}, add --map ${id}='${formatRoute(operation)}'`;
  return { ...evidence, doubt };
}

/** Whether the service's specification gives a name to the schema of another noun. */
function isNameOfOtherNoun(name: string, noun: NounName): boolean {
  return Object.values(operations).some((other) => other.noun !== noun && schemaNames(other).includes(name));
}

function choose(
  tableOperation: TableOperation,
  candidates: readonly Candidate[],
  collections: Collections,
): Match {
  const callable = candidates.filter(({ obstacle }) => obstacle === undefined);
  const bySchema = callable.filter(({ by }) => by === 'schema');
  const preferences: ((candidate: Candidate) => boolean)[] = [
    ({ operation }) => isNounAlone(tableOperation, operation),
    ({ operation }) => isAtCollection(tableOperation, operation, collections),
    ({ operation }) => operation.method === tableOperation.method,
    ({ operation }) => hasOurName(tableOperation, operation),
  ];
  let remaining = bySchema.length > 0 ? bySchema : callable;
  for (const isPreferred of preferences) {
    const preferred = remaining.filter(isPreferred);
    if (preferred.length > 0) remaining = preferred;
  }
  const [only, ...others] = remaining;
  if (!only) return nearMiss(candidates);
  if (others.length === 0) return { state: 'bound', operation: only.operation, why: only.why };
  const among = remaining.map(({ operation }) => operation);
  const first = among.slice(0, maxShown).map(formatRoute).join(', ');
  const more = among.length > maxShown ? ` and ${among.length - maxShown} more` : '';
  return { state: 'ambiguous', among, why: `${among.length} operations fit: ${first}${more}` };
}

const maxShown = 8;

/** Whether a path is the noun alone, or the noun and an id. */
function isNounAlone({ noun }: TableOperation, { path }: DocumentOperation): boolean {
  const [first, ...rest] = splitPath(path);
  return nounOf(first) === noun && rest.every(isParameter);
}

function isAtCollection(
  { id }: TableOperation,
  { path }: DocumentOperation,
  { whole, single }: Collections,
): boolean {
  const place = pathPattern(path);
  return whole.has(place) || (takesId(id) && (single.has(place) || whole.has(place.replace(/\/\{\}$/, ''))));
}

/** Whether its operationId is that of the table; case, word order and plurals do not matter. */
function hasOurName({ id }: TableOperation, { operationId }: DocumentOperation): boolean {
  const words = (name: string) => wordsOf(name).sort().join(' ');
  return operationId !== undefined && words(operationId) === words(id);
}

/** Explains why nothing was bound, by the nearest operation. */
function nearMiss(candidates: readonly Candidate[]): Match {
  const nearest = candidates.find(({ by }) => by === 'schema') ?? candidates[0];
  if (nearest?.obstacle === undefined) return { state: 'missing', why: 'its description has none' };
  return { state: 'unbindable', operation: nearest.operation, why: nearest.obstacle };
}
