import { type NounName, type OperationId, operations, takesId } from '../api/operations.ts';
import { joinFirst } from '../process/text.ts';
import { type DocumentOperation, formatRoute, type Obstacle } from './document.ts';
import { obstacleTo } from './fit.ts';
import {
  analyzePath,
  type Collections,
  collectionOf,
  isParameter,
  mapFlag,
  type PathAnalysis,
  splitPath,
} from './path.ts';
import { recordsIn, type TableOperation } from './record-format.ts';
import { nounOf, nounOfSchema, singularWords } from './words.ts';

// The rules that find an operation of the table in a document. A wrong binding is worse than a missing
// binding, because the binding decides what `delete` deletes.
//
// 1. The path must have the right form. A list or a create has no parameter in its path. The path of an
//    operation on one record ends with the id of the record, has no other parameter, and is beside the list
//    or the create of its noun.
// 2. An operation whose schema has a name of the service's specification comes first. An operation whose path
//    has the noun comes second.
// 3. If several operations remain, the preferences are, in this order: the path is the noun alone (`/pets`),
//    the path is that of a bound collection, PUT before PATCH, our operationId. If several operations still
//    remain, none is bound.
// 4. If no operation fits, the nearest one is reported with its obstacle and, if the user probably means it,
//    with the --map flag that binds it.

/** The search result for one operation of the table. */
export interface Match {
  readonly state: 'bound' | 'ambiguous' | 'unbindable' | 'missing';
  /** The bound operation, several operations that fit equally well, or the near miss. */
  readonly operations: readonly DocumentOperation[];
  /** The reason for the state, a clause. */
  readonly why: string;
  /** How `--map` can bind the near miss, a clause. */
  readonly remedy?: string;
}

export type Matches = ReadonlyMap<OperationId, Match>;

interface Candidate {
  readonly operation: DocumentOperation;
  /** The reason why the operation may be the one of the table, a clause. */
  readonly why: string;
  /** Whether the schema of the operation has a name of the service's specification. */
  readonly hasSchemaName: boolean;
  readonly obstacle?: Obstacle | undefined;
}

/**
 * Finds the operations of the table in a document.
 *
 * @param documentOperations all operations of the document.
 * @param chosen the operations that the user chose with `--map`. No rule overrides them.
 */
export function matchOperations(
  table: readonly TableOperation[],
  documentOperations: readonly DocumentOperation[],
  chosen: ReadonlyMap<OperationId, DocumentOperation>,
): Matches {
  const matches = new Map<OperationId, Match>(
    table.map(({ id }) => {
      const operation = chosen.get(id);
      return [id, operation ? { state: 'bound', operations: [operation], why: 'set by --map' } : missing];
    }),
  );
  // The list and the create of a noun come first: their paths decide which operations on one record belong to
  // the same collection.
  for (const tableOperation of table) {
    if (chosen.has(tableOperation.id)) continue;
    const collections = collectionsOf(tableOperation, matches);
    const candidates = documentOperations.flatMap(
      (operation) => toCandidate(tableOperation, operation, collections) ?? [],
    );
    matches.set(tableOperation.id, choose(tableOperation, candidates, collections));
  }
  return matches;
}

const missing: Match = { state: 'missing', operations: [], why: 'its description has none' };

function collectionsOf({ noun }: TableOperation, matches: Matches): Collections {
  const nounMatches = [...matches].filter(([id]) => operations[id].noun === noun);
  const pathsOf = (isOfRecord: boolean) =>
    nounMatches.flatMap(([id, { state, operations: matching }]) =>
      state === 'bound' && takesId(id) === isOfRecord ? matching.map(collectionOf) : [],
    );
  const lists = pathsOf(false);
  const isTied = nounMatches.some(([id, { state }]) => state === 'ambiguous' && !takesId(id));
  return { paths: new Set(lists.length > 0 ? lists : pathsOf(true)), isTied };
}

function toCandidate(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  collections: Collections,
): Candidate | undefined {
  const { method } = tableOperation;
  const isPatch = method === 'PUT' && operation.method === 'PATCH';
  if (operation.method !== method && !isPatch) return undefined;
  const analysis = analyzePath(tableOperation, operation, collections);
  const evidence = analysis && evidenceOf(tableOperation, operation, analysis);
  if (!evidence) return undefined;
  const pathObstacle = analysis.obstacle ?? evidence.obstacle;
  const callObstacle = obstacleTo(tableOperation, operation);
  // An operation with two obstacles is not even a near miss.
  if (callObstacle && pathObstacle) return undefined;
  const obstacle = callObstacle ?? pathObstacle ?? incrementObstacle(tableOperation, operation);
  return { ...evidence, operation, obstacle };
}

/** Synonyms of our nouns. They never bind an operation. They only make it a near miss, which is reported. */
const synonyms: Readonly<Record<string, NounName>> = { animal: 'pets', stock: 'inventory' };

/** Finds the reason why an operation may be that of the table: the name of its schema, or else its path. */
function evidenceOf(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  { segment, isOfNoun }: PathAnalysis,
): Omit<Candidate, 'operation'> | undefined {
  const { body, answer } = operation;
  const { noun, method, isList } = tableOperation;
  // A POST that answers a list is a search or another action.
  if (method === 'POST' && answer?.shape.kind === 'array') return undefined;
  const record = answer && method === 'GET' ? recordsIn(tableOperation, answer.shape)?.shape : undefined;
  const { names = [] } = (tableOperation.body ? body?.shape : record) ?? {};
  const name = names.find((schemaName) => nounOfSchema(schemaName) === noun);
  const verb = tableOperation.body ? 'takes' : isList ? 'answers an array of' : 'answers';
  if (name !== undefined) return { why: `${verb} ${name}`, hasSchemaName: true };
  const allNames = [body, answer].flatMap((content) => content?.shape.names ?? []);
  if (allNames.some((schemaName) => (nounOfSchema(schemaName) ?? noun) !== noun)) return undefined;
  const evidence = { why: `its path is about ${noun}`, hasSchemaName: false };
  if (isOfNoun || nounOf(segment) === noun) return evidence;
  if (synonyms[singularWords(segment).join(' ')] !== noun) return undefined;
  const remedy = `if it is ${noun}, add ${mapFlag(tableOperation.id, operation)}`;
  return { ...evidence, obstacle: { why: `${segment} may be something else`, remedy } };
}

/** Finds a word that shows that an operation adds to a count. Such an operation does not set the count. */
function incrementObstacle(
  { id }: TableOperation,
  { operationId = '', operationObject }: DocumentOperation,
): Obstacle | undefined {
  if (id !== 'updateInventory') return undefined;
  const summary = typeof operationObject.summary === 'string' ? operationObject.summary : '';
  const verb = /^(add|adjust|increment|decrement|increas|decreas)(e|ed|ing|ment)?$/;
  const word = [...singularWords(operationId), ...singularWords(summary)].find((text) => verb.test(text));
  return word === undefined ? undefined : { why: `it says ${word}, and so may not set the count` };
}

function choose(
  tableOperation: TableOperation,
  candidates: readonly Candidate[],
  collections: Collections,
): Match {
  const { id, noun, method } = tableOperation;
  const callable = candidates.filter(({ obstacle }) => !obstacle);
  const preferences: ((operation: DocumentOperation) => boolean)[] = [
    ({ path }) => isNounAlone(noun, path),
    (operation) => collections.paths.has(collectionOf(operation)),
    (operation) => operation.method === method,
    ({ operationId = '' }) => sortedWords(operationId) === sortedWords(id),
  ];
  const named = callable.filter(({ hasSchemaName }) => hasSchemaName);
  let remaining = named.length > 0 ? named : callable;
  for (const isPreferred of preferences) {
    const preferred = remaining.filter(({ operation }) => isPreferred(operation));
    if (preferred.length > 0) remaining = preferred;
  }
  const [first] = remaining;
  if (!first) return nearMiss(candidates);
  const fitting = remaining.map(({ operation }) => operation);
  if (fitting.length === 1) return { state: 'bound', operations: fitting, why: first.why };
  const why = `${fitting.length} operations fit: ${joinFirst(fitting.map(formatRoute), maxRoutes)}`;
  return { state: 'ambiguous', operations: fitting, why };
}

/** The largest number of routes in a message. */
const maxRoutes = 8;

/** Whether a path is the noun alone or the noun and an id. */
function isNounAlone(noun: NounName, path: string): boolean {
  const [first, ...rest] = splitPath(path);
  return nounOf(first) === noun && rest.every(isParameter);
}

/** Sorts the words of an operationId, to compare two without regard to case, word order and plurals. */
function sortedWords(operationId: string): string {
  return singularWords(operationId).sort().join(' ');
}

/** Reports the nearest of several operations that are not bound. */
function nearMiss(candidates: readonly Candidate[]): Match {
  const nearest = candidates.find(({ hasSchemaName }) => hasSchemaName) ?? candidates[0];
  if (!nearest?.obstacle) return missing;
  return { state: 'unbindable', operations: [nearest.operation], ...nearest.obstacle };
}
