import { nouns } from '../api/nouns.ts';
import type { NounName, OperationId } from '../api/operations.ts';
import { joinFirst } from '../process/text.ts';
import { type DocumentOperation, formatRoute, mapFlag, type Obstacle } from './document.ts';
import { obstacleTo } from './fit.ts';
import { idFieldsOf } from './id-fields.ts';
import { type PathForm, readPath, splitPath } from './path.ts';
import { type NounFacts, placeOf } from './place.ts';
import { recordsIn, type TableOperation } from './record-format.ts';
import { addingWordIn, consistsOf, nounOfSchema, settingWords, singularWords, synonyms } from './words.ts';

// The rules that find an operation of the table in a document. A wrong binding is worse than a missing
// binding, because the binding decides what `delete` deletes. Everything that is bound is on a list:
//
// 1. Evidence: the schema has a name of the service's specification, or the path has the noun.
// 2. Place: a list and a create are at a collection. Behind the noun there may be a word that selects nothing
//    (`/pets/all`). An operation on one record is beside the list or the create, and its path ends with the
//    record's own id.
// 3. The records are ours: if the list or the get is refused because of its records, so are the writes.
// 4. A count is set: by PUT, or by a PATCH whose words say so.
// 5. If several operations fit, the operationId decides, or else none is bound.
//
// If no operation fits, the nearest one is reported with its obstacle and, if typing it binds the operation,
// with the --map flag.

/** The search result for one operation of the table. */
export interface Match {
  readonly state: 'bound' | 'ambiguous' | 'unbindable' | 'missing';
  /** The bound operation, several operations that fit equally well, or the near miss. */
  readonly operations: readonly DocumentOperation[];
  /** The reason for the state, a clause. */
  readonly why: string;
  /** How `--map` can bind the near miss, a clause. */
  readonly remedy?: string;
  /** Whether the near miss shows that the records of the noun are not ours. */
  readonly isForeign?: boolean;
}

export type Matches = ReadonlyMap<OperationId, Match>;

interface Candidate {
  readonly operation: DocumentOperation;
  /** The reason why the operation may be the one of the table, a clause. */
  readonly why: string;
  /** Whether the schema of the operation has a name of the service's specification. */
  readonly hasSchemaName: boolean;
  /** Whether a word follows the noun in the path, as in `/pets/findByStatus`. */
  readonly isSearch: boolean;
  readonly obstacle?: Obstacle | undefined;
}

const missing: Match = { state: 'missing', operations: [], why: 'its description has none' };

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
  const matches = new Map<OperationId, Match>(table.map(({ id }) => [id, missing]));
  for (const [id, operation] of chosen)
    matches.set(id, { state: 'bound', operations: [operation], why: 'set by --map' });
  for (const noun of Object.keys(nouns) as NounName[]) {
    const tableOperations = table.filter((operation) => operation.noun === noun);
    const { list, create, get, update, delete: remove } = nouns[noun].operations;
    const idFields = idFieldsOf(tableOperations, documentOperations);
    const find = (id: OperationId) => {
      const tableOperation = tableOperations.find((operation) => operation.id === id);
      if (!tableOperation || chosen.has(id)) return;
      const facts = { idFields, ...collectionsOf([list, create], matches) };
      const candidates = documentOperations.flatMap(
        (operation) => toCandidate(tableOperation, operation, facts) ?? [],
      );
      matches.set(id, choose(tableOperation, candidates));
    };
    for (const id of [list, create, get, update, remove]) find(id);
    const refusal = [list, get].map((id) => matches.get(id)).find((match) => match?.isForeign);
    if (!refusal) continue;
    for (const id of [create, update, remove]) {
      const [write] = matches.get(id)?.operations ?? [];
      if (write && !chosen.has(id)) matches.set(id, refuseWrite(write, refusal));
    }
  }
  return matches;
}

/** A write of records that are not ours stays unbound. */
function refuseWrite(write: DocumentOperation, { operations: [read], why }: Match): Match {
  const route = read ? formatRoute(read) : '';
  return {
    state: 'unbindable',
    operations: [write],
    why: `its records are not ours (${route}: ${why})`,
  };
}

function collectionsOf(ids: readonly OperationId[], matches: Matches): Omit<NounFacts, 'idFields'> {
  const all = ids.map((id) => matches.get(id) ?? missing);
  const bound = all.flatMap(({ state, operations: [operation] }) =>
    state === 'bound' && operation ? [readPath(operation.path).collection] : [],
  );
  return { collections: bound, isTied: all.some(({ state }) => state === 'ambiguous') };
}

function toCandidate(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  facts: NounFacts,
): Candidate | undefined {
  const { method } = tableOperation;
  const isPatch = method === 'PUT' && operation.method === 'PATCH';
  if (operation.method !== method && !isPatch) return undefined;
  const form = readPath(operation.path);
  const evidence = evidenceOf(tableOperation, operation, form, facts);
  if (!evidence) return undefined;
  const place = placeOf({ tableOperation, operation, form, facts, hasSchemaName: evidence.hasSchemaName });
  if (!place) return undefined;
  const placeObstacle = evidence.obstacle ?? place.obstacle;
  const callObstacle = obstacleTo(tableOperation, operation);
  // An operation with two obstacles is not even a near miss.
  if (callObstacle && placeObstacle) return undefined;
  const obstacle = callObstacle ?? placeObstacle ?? countObstacle(tableOperation, operation);
  return { ...evidence, operation, isSearch: form.tail !== undefined, obstacle };
}

/** Finds the reason why an operation may be that of the table: the name of its schema, or else its path. */
function evidenceOf(
  tableOperation: TableOperation,
  { body, answer, ...operation }: DocumentOperation,
  { word, noun: nounOfPath, collection, isBelowNoun }: PathForm,
  { collections }: NounFacts,
): Pick<Candidate, 'why' | 'hasSchemaName' | 'obstacle'> | undefined {
  const { noun, method, isList } = tableOperation;
  if ((nounOfPath ?? noun) !== noun) return undefined;
  // A POST that answers a list is a search or another action.
  if (method === 'POST' && answer?.shape.kind === 'array') return undefined;
  const record = answer && method === 'GET' ? recordsIn(tableOperation, answer.shape)?.shape : undefined;
  const { names = [] } = (tableOperation.body ? body?.shape : record) ?? {};
  const name = names.find((schemaName) => nounOfSchema(schemaName) === noun);
  const verb = tableOperation.body ? 'takes' : isList ? 'answers an array of' : 'answers';
  if (name !== undefined) return { why: `${verb} ${name}`, hasSchemaName: true };
  const allNames = [body, answer].flatMap((content) => content?.shape.names ?? []);
  if (allNames.some((schemaName) => (nounOfSchema(schemaName) ?? noun) !== noun)) return undefined;
  if (isBelowNoun) return undefined;
  const evidence = { why: `its path is about ${noun}`, hasSchemaName: false };
  if (nounOfPath === noun || collections.includes(collection)) return evidence;
  if (synonyms[singularWords(word).join(' ')] !== noun) return undefined;
  const remedy = `if it is ${noun}, add ${mapFlag(tableOperation.id, operation)}`;
  return { ...evidence, obstacle: { why: `${word} may be something else`, remedy } };
}

/** Finds out why a count may not be set: an operation may add to it, or take from it. */
function countObstacle(
  { id, noun }: TableOperation,
  { method, operationId = '', operationObject, body, path }: DocumentOperation,
): Obstacle | undefined {
  if (noun !== 'inventory' || !body) return undefined;
  const isCreate = id === 'createInventory';
  const { summary } = operationObject;
  const { description } = { description: undefined, ...(body.shape.fields.get('quantity') as object) };
  const texts = isCreate ? [operationId.replace(/^add/i, '')] : [operationId, path, String(summary ?? '')];
  const word = [...texts, String(description ?? '')].map(addingWordIn).find((text) => text !== undefined);
  const remedy = `if it sets the count, add ${mapFlag(id, { method, path })}`;
  if (word !== undefined) return { why: `it says ${word}, and so may not set the count` };
  if (isCreate || method === 'PUT') return undefined;
  const isSaid =
    operationId === ''
      ? body.shape.names.includes('InventoryUpdate')
      : consistsOf(operationId, noun, settingWords);
  return isSaid ? undefined : { why: 'it does not say that it sets the count', remedy };
}

function choose(tableOperation: TableOperation, candidates: readonly Candidate[]): Match {
  const { id, noun, method } = tableOperation;
  const plain = candidates.filter(({ isSearch }) => !isSearch);
  const fitting = plain.filter(({ obstacle }) => !obstacle);
  const isForeign = plain.some(({ obstacle }) => obstacle?.isForeign);
  const callable = fitting.length > 0 || isForeign ? fitting : candidates.filter(({ obstacle }) => !obstacle);
  const preferences: ((candidate: Candidate) => boolean)[] = [
    ({ hasSchemaName }) => hasSchemaName,
    ({ operation }) => isNounAlone(noun, operation.path),
    ({ operation }) => operation.method === method,
    ({ operation }) => sortedWords(operation.operationId) === sortedWords(id),
  ];
  let remaining = callable;
  for (const isPreferred of preferences) {
    const preferred = remaining.filter(isPreferred);
    if (preferred.length > 0) remaining = preferred;
  }
  const [first] = remaining;
  if (!first) return nearMiss(candidates);
  const matching = remaining.map(({ operation }) => operation);
  if (matching.length === 1) return { state: 'bound', operations: matching, why: first.why };
  const why = `${matching.length} operations fit: ${joinFirst(matching.map(formatRoute), maxRoutes)}`;
  return { state: 'ambiguous', operations: matching, why };
}

/** The largest number of routes in a message. */
const maxRoutes = 8;

/** Whether a collection is the noun alone. */
function isNounAlone(noun: NounName, path: string): boolean {
  const form = readPath(path);
  return form.noun === noun && splitPath(form.collection).length === 1;
}

/** Sorts the words of an operationId, to compare two without regard to case, word order and plurals. */
function sortedWords(operationId = ''): string {
  return singularWords(operationId).sort().join(' ');
}

/** Reports the nearest of several operations that are not bound. */
function nearMiss(candidates: readonly Candidate[]): Match {
  const plain = candidates.filter(({ isSearch }) => !isSearch);
  const nearest =
    plain.find(({ obstacle }) => obstacle?.isForeign) ??
    candidates.find(({ hasSchemaName }) => hasSchemaName) ??
    candidates[0];
  if (!nearest?.obstacle) return missing;
  return { state: 'unbindable', operations: [nearest.operation], ...nearest.obstacle };
}
