import { whyNotDescribed } from '../api/contract.ts';
import { type Noun, type NounName, nouns, type OperationId } from '../api/nouns.ts';
import { operations } from '../api/operations.ts';
import { joinFirst } from '../process/text.ts';
import { type DocumentOperation, mapFlag, type Obstacle, obstacleText, routeText } from './document.ts';
import { type Candidate, hasItsId, obstacleOn } from './matching-rules.ts';
import { countObstacle, lossObstacle } from './obstacles.ts';
import { nounOfSchema } from './path-words.ts';
import type { TableOperation } from './record-form.ts';
import { idMeaningOf, idPlaceOf, type RecordFacts, recordFactsOf } from './record-id.ts';

// Finds the operations of the table in a document. A wrong binding is worse than a missing one, because the binding decides
// what `delete` deletes.
//
// - An operationId that is exactly ours is taken first. Else the path of a collection ends with the noun, the path of a
//   record adds the noun's id to the path of its collection, and the method says what the operation does.
// - An operation that takes something else than our id (record-id.ts), that cannot be called, that has other records, or that may
//   add to a count is refused (matching-rules.ts).
// - If the list or the get is refused because of its records, so are the writes.
// - An update that replaces the record is bound only if the get, or without a get the list, shows each field that it takes.
// - If several operations fit equally, none is bound.
//
// An operation with our operationId or at our path that does not fit is reported with its obstacle, and with the --map flag if
// that would bind it.

/** The search result for one operation of the table, with the reason for its state. */
type Match = Obstacle &
  (
    | {
        readonly state: 'bound' | 'ambiguous';
        /** The bound operation, or the first of several that fit equally. */
        readonly operation: DocumentOperation;
      }
    | {
        readonly state: 'unbound';
        /** The nearest operation, which does not fit. */
        readonly operation?: DocumentOperation;
      }
  );

export type Matches = ReadonlyMap<OperationId, Match>;

const missing: Match = { state: 'unbound', why: whyNotDescribed };

/** What is searched, and for what. */
interface Search {
  tableOperationOf(id: OperationId): TableOperation;
  /** All operations of the document. */
  readonly documentOperations: readonly DocumentOperation[];
  /** The operations that the user chose with `--map`. */
  readonly mapped: ReadonlyMap<OperationId, DocumentOperation>;
}

/** Finds the operations of the table in a document. */
export function matchOperations(search: Search): Matches {
  return new Map(Object.values(nouns).flatMap((noun) => matchNoun(noun, search)));
}

function matchNoun(noun: Noun, search: Search): (readonly [OperationId, Match])[] {
  const { tableOperationOf, documentOperations, mapped } = search;
  const { list, create, get, update, delete: remove } = noun.operations;
  const ids = [list, create, get, update, remove];
  const found = new Map<OperationId, Match>();
  const collectionsFound = () =>
    [list, create]
      .flatMap((id) => mapped.get(id) ?? boundIn(found, id) ?? [])
      .map(({ form }) => form.collection);
  const facts = recordFactsOf(
    tableOperationOf(list),
    tableOperationOf(get),
    documentOperations,
    collectionsFound(),
  );
  for (const id of ids) found.set(id, matchFor(id, search, facts, collectionsFound()));
  return ids.map((id) => [id, refusedByReading(id, found, search) ?? found.get(id) ?? missing]);
}

/**
 * @param facts what the document says about the records of the noun.
 * @param collections the collections of its list and its create, as far as they are bound.
 */
function matchFor(
  id: OperationId,
  { tableOperationOf, documentOperations, mapped }: Search,
  facts: RecordFacts,
  collections: readonly string[],
): Match {
  const tableOperation = tableOperationOf(id);
  const toCandidate = (operation: DocumentOperation): Candidate => {
    const idPlace = idPlaceOf(tableOperation, operation);
    const idMeaning = idMeaningOf(tableOperation, idPlace, facts);
    return { tableOperation, operation, idPlace, idMeaning, facts, collections };
  };
  const chosen = mapped.get(id);
  if (chosen) return judgeMapped(toCandidate(chosen));
  const near = documentOperations.filter((operation) => isNear(tableOperation, operation, collections));
  const candidates = near.map(toCandidate).filter(hasItsId);
  const judged = candidates.map((candidate) => ({
    operation: candidate.operation,
    obstacle: obstacleOn(candidate, false),
  }));
  return choose(tableOperation, judged);
}

/** Judges an operation that the user chose. */
function judgeMapped(candidate: Candidate): Match {
  const { tableOperation, operation } = candidate;
  const obstacle = obstacleOn(candidate, true);
  if (obstacle) return { state: 'unbound', operation, ...obstacle };
  const doubt = countObstacle(tableOperation, operation);
  return { state: 'bound', operation, why: `set by --map${doubt ? `, though ${doubt.why}` : ''}` };
}

/** Returns true if an operation has our operationId, the noun in its path, or the path of a collection, and if it may do what ours does. */
function isNear(
  { id, noun, method }: TableOperation,
  operation: DocumentOperation,
  collections: readonly string[],
): boolean {
  const { operationId, form, body, answer } = operation;
  const isNamed = operationId === id || form.noun === noun || collections.includes(form.collection);
  if (!isNamed || (form.noun ?? noun) !== noun) return false;
  const isOurMethod = operation.method === method || (method === 'PUT' && operation.method === 'PATCH');
  // A POST that answers a list is a search.
  const isSearch = method === 'POST' && answer?.shape.kind === 'array';
  const shapes = [body, answer].flatMap((content) => (content ? [content.shape, content.shape.items] : []));
  const schemaNouns = shapes.flatMap(({ names }) => names.flatMap((name) => nounOfSchema(name) ?? []));
  return isOurMethod && !isSearch && schemaNouns.every((each) => each === noun);
}

/** Refuses a write because of what the list and the get show. */
function refusedByReading(id: OperationId, found: Matches, search: Search): Match | undefined {
  const { noun } = operations[id];
  const { list, get, update } = nouns[noun].operations;
  const { state, operation } = found.get(id) ?? missing;
  if (!operation || id === list || id === get) return undefined;
  const foreign = [list, get].map((each) => found.get(each)).find((match) => match?.hasOtherRecords);
  if (foreign?.operation && !search.mapped.has(id)) {
    const why = `its records are of another kind (${routeText(foreign.operation)}: ${obstacleText(foreign)})`;
    return { state: 'unbound', operation, why };
  }
  if (id !== update || state !== 'bound') return undefined;
  const read = readingOperation(found, noun);
  const loss = lossObstacle(search.tableOperationOf(read), operation, boundIn(found, read));
  return loss && { state: 'unbound', operation, ...loss };
}

/** Returns the operation that shows the records of a noun: the get, or without a bound get the list. */
export function readingOperation(matches: Matches, noun: NounName): OperationId {
  const { get, list } = nouns[noun].operations;
  return boundIn(matches, get) ? get : list;
}

/** Returns the operation of the document that is bound. */
export function boundIn(matches: Matches, id: OperationId): DocumentOperation | undefined {
  const match = matches.get(id);
  return match?.state === 'bound' ? match.operation : undefined;
}

/** An operation that may be one of the table, with the obstacle to binding it. */
interface JudgedOperation {
  readonly operation: DocumentOperation;
  readonly obstacle: Obstacle | undefined;
}

function choose(tableOperation: TableOperation, judged: readonly JudgedOperation[]): Match {
  const { id, noun } = tableOperation;
  const fitting = judged.filter(({ obstacle }) => !obstacle);
  const best = preferred(tableOperation, fitting).map(({ operation }) => operation);
  const [first, ...others] = best;
  if (!first) {
    const foreign = judged.find(({ obstacle }) => obstacle?.hasOtherRecords);
    const [nearest] = foreign ? [foreign] : preferred(tableOperation, judged);
    return nearest?.obstacle
      ? { state: 'unbound', operation: nearest.operation, ...nearest.obstacle }
      : missing;
  }
  const isAbout = first.form.noun === noun;
  const whyPath = isAbout ? `its path is about ${noun}` : 'its path is that of the bound list or create';
  const why = first.operationId === id ? 'its operationId is the same' : whyPath;
  if (others.length === 0) return { state: 'bound', operation: first, why };
  const flags = best.map((operation) => mapFlag(id, operation));
  const whyNone = `${best.length} operations fit equally: ${joinFirst(flags, 8)}`;
  return { state: 'ambiguous', operation: first, why: whyNone };
}

/** The signs by which one of several operations is preferred, the strongest first. */
const preferences: readonly ((operation: DocumentOperation, tableOperation: TableOperation) => boolean)[] = [
  ({ operationId }, { id }) => operationId === id,
  ({ form }) => form.isAtRoot,
  (operation, { method }) => operation.method === method,
];

/** Leaves the operations that have the strongest signs. */
function preferred(
  tableOperation: TableOperation,
  judged: readonly JudgedOperation[],
): readonly JudgedOperation[] {
  return preferences.reduce((left, isPreferred) => {
    const better = left.filter(({ operation }) => isPreferred(operation, tableOperation));
    return better.length > 0 ? better : left;
  }, judged);
}
