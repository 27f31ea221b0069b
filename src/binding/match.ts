import { type NounName, type OperationId, operations, takesId } from '../api/operations.ts';
import { type DocumentOperation, formatRoute } from './document.ts';
import { obstacleTo } from './fit.ts';
import {
  type Collections,
  collectionOf,
  isParameter,
  mapFlag,
  type PathAnalysis,
  readPath,
  splitPath,
} from './path.ts';
import { recordsIn, type TableOperation } from './record-format.ts';
import { nounOf, nounOfSchema, singularWords } from './words.ts';

// The rules by which an operation of the table is found in a document. A wrong binding is worse than a missing one, because
// it decides what `delete` deletes.
//
// 1. Only an operation at a path of the right form counts: a list or a create without a parameter in its path, an
//    operation on one record with the record's own id as the last segment and no other parameter, beside the list or the
//    create of its noun.
// 2. Of these, one whose schema has a name of the service's specification comes first, then one whose path has the noun.
// 3. If several are left, these come first, in this order: one at the noun alone (`/pets`), one at the path of a bound
//    collection, PUT before PATCH, one with our operationId. If several are left still, none is bound.
// 4. If there is none, the nearest is reported with the reason and, if it is probably meant, with the --map line that
//    binds it.

/** The result for one operation of the table. */
export interface Match {
  readonly state: 'bound' | 'ambiguous' | 'unbindable' | 'missing';
  /** The one that is bound, those that fit equally well, or the near miss. */
  readonly operations: readonly DocumentOperation[];
  /** The reason, a clause. */
  readonly why: string;
}

export type Matches = ReadonlyMap<OperationId, Match>;

interface Candidate {
  readonly operation: DocumentOperation;
  readonly why: string;
  /** Whether its schema has a name of the service's specification. */
  readonly hasSchemaName: boolean;
  /** Why the operation is not bound, a clause. */
  readonly obstacle?: string | undefined;
}

/**
 * Finds each operation of the table among those of a document.
 *
 * @param chosen the operations that the user chose. No rule overrides them.
 */
export function matchOperations(
  table: readonly TableOperation[],
  all: readonly DocumentOperation[],
  chosen: ReadonlyMap<OperationId, DocumentOperation>,
): Matches {
  const matches = new Map<OperationId, Match>(
    table.map(({ id }) => {
      const operation = chosen.get(id);
      return [id, operation ? { state: 'bound', operations: [operation], why: 'set by --map' } : missing];
    }),
  );
  // The list and the create of a noun come first: their paths decide which operations on one record belong to the same
  // collection.
  for (const tableOperation of table) {
    if (chosen.has(tableOperation.id)) continue;
    const collections = collectionsOf(tableOperation, matches);
    const candidates = all.flatMap((operation) => toCandidate(tableOperation, operation, collections) ?? []);
    matches.set(tableOperation.id, choose(tableOperation, candidates, collections));
  }
  return matches;
}

const missing: Match = { state: 'missing', operations: [], why: 'its description has none' };

function collectionsOf({ noun }: TableOperation, matches: Matches): Collections {
  const ofNoun = [...matches].filter(([id]) => operations[id].noun === noun);
  const pathsOf = (isOfRecord: boolean) =>
    ofNoun.flatMap(([id, { state, operations: matching }]) =>
      state === 'bound' && takesId(id) === isOfRecord ? matching.map(collectionOf) : [],
    );
  const lists = pathsOf(false);
  const isTied = ofNoun.some(([id, { state }]) => state === 'ambiguous' && !takesId(id));
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
  const reading = readPath(tableOperation, operation, collections);
  const evidence = reading && evidenceOf(tableOperation, operation, reading);
  if (!evidence) return undefined;
  const misplaced = reading.obstacle ?? evidence.obstacle;
  const unfit = obstacleTo(tableOperation, operation);
  // An operation with two obstacles is not even a near miss.
  if (unfit !== undefined && misplaced !== undefined) return undefined;
  const obstacle = unfit ?? misplaced ?? changeOfCount(tableOperation, operation);
  return { ...evidence, operation, obstacle };
}

/** Other words that services have for the nouns: they bind nothing, but show which operations may be meant. */
const synonyms: Readonly<Record<string, NounName>> = { animal: 'pets', stock: 'inventory' };

/** Tells why an operation is taken for that of the table: by the name of its schema, else by its path. */
function evidenceOf(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  { segment, isOfNoun }: PathAnalysis,
): Omit<Candidate, 'operation'> | undefined {
  const { body, answer } = operation;
  const { noun, method, isList } = tableOperation;
  // A search or another action.
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
  const map = mapFlag(tableOperation, operation);
  return { ...evidence, obstacle: `${segment} may be something else: if it is ${noun}, add ${map}` };
}

/** Says why an operation does not set a count, a clause; undefined if nothing speaks against it. */
function changeOfCount(
  { id }: TableOperation,
  { operationId = '', operationObject }: DocumentOperation,
): string | undefined {
  if (id !== 'updateInventory') return undefined;
  const summary = typeof operationObject.summary === 'string' ? operationObject.summary : '';
  const verb = /^(add|adjust|increment|decrement|increas|decreas)(e|ed|ing|ment)?$/;
  const word = [...singularWords(operationId), ...singularWords(summary)].find((text) => verb.test(text));
  return word && `it says ${word}, and so may not set the count`;
}

function choose(
  tableOperation: TableOperation,
  candidates: readonly Candidate[],
  collections: Collections,
): Match {
  const { id, noun, method } = tableOperation;
  const callable = candidates.filter(({ obstacle }) => obstacle === undefined);
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
  const routes = fitting.slice(0, maxShown).map(formatRoute).join(', ');
  const more = fitting.length > maxShown ? ` and ${fitting.length - maxShown} more` : '';
  const why = `${fitting.length} operations fit: ${routes}${more}`;
  return { state: 'ambiguous', operations: fitting, why };
}

const maxShown = 8;

/** Whether a path is the noun alone, or the noun and an id. */
function isNounAlone(noun: NounName, path: string): boolean {
  const [first, ...rest] = splitPath(path);
  return nounOf(first) === noun && rest.every(isParameter);
}

/** Puts the words of an operationId in order: case, word order and plurals do not matter. */
function sortedWords(operationId: string): string {
  return singularWords(operationId).sort().join(' ');
}

/** Explains why nothing was bound, by the nearest operation. */
function nearMiss(candidates: readonly Candidate[]): Match {
  const nearest = candidates.find(({ hasSchemaName }) => hasSchemaName) ?? candidates[0];
  if (!nearest?.obstacle) return missing;
  return { state: 'unbindable', operations: [nearest.operation], why: nearest.obstacle };
}
