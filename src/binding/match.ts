import { notDescribed } from '../api/contract.ts';
import { type NounName, nouns, type OperationId } from '../api/nouns.ts';
import { operations, takesId } from '../api/operations.ts';
import { compactName, joinFirst } from '../process/text.ts';
import { type DocumentOperation, mapFlag, type Obstacle, obstacleText, routeText } from './document.ts';
import { countObstacle, isNumberKind, obstacleTo, remedyFor } from './obstacles.ts';
import { withStatedValues } from './parameters.ts';
import { mentions, nounOfSchema, type PathForm, readPath } from './path-words.ts';
import type { Shape } from './schema.ts';
import { fieldNamesOf, isRecord, recordsIn, type TableOperation } from './wire-form.ts';

// Finds the operations of the table in a document. A wrong binding is worse than a missing one, because the binding decides
// what `delete` deletes.
//
// - An operationId that is exactly ours is taken first. Else the path of a collection ends with the noun, the path of a
//   record is that of the collection and the noun's id, and the method says what the operation does.
// - An operation that cannot be called, that has other records, or that may add to a count is refused (obstacles.ts).
// - If the list or the get is refused because of its records, so are the writes.
// - If several operations fit equally, none is bound.
//
// If no operation fits, the nearest one is reported with its obstacle, and with the --map flag if that would bind it.

/** The search result for one operation of the table, with the reason for its state. */
export interface Match extends Obstacle {
  readonly state: 'bound' | 'ambiguous' | 'unbindable' | 'missing';
  /** The bound operation, several operations that fit equally well, or the near miss. */
  readonly operations: readonly DocumentOperation[];
}

export type Matches = ReadonlyMap<OperationId, Match>;

interface Candidate {
  readonly operation: DocumentOperation;
  /**
   * How well the operation fits. The one of the highest rank without an obstacle is bound; one of rank -1 is never bound, but it may
   * be reported. The three signs of a fit, the strongest first: our operationId counts 4, a path that is the noun alone 2, and
   * our method 1. So one sign outweighs all weaker signs together.
   */
  readonly rank: number;
  readonly obstacle?: Obstacle | undefined;
}

/** What the document says about a noun. */
interface NounFacts {
  /** The collections of its list and its create. Empty if neither is bound. */
  readonly collections: readonly string[];
  /** The fields of its records and bodies, as compact names. */
  readonly fields: ReadonlySet<string>;
  /** True if a schema says that its id is an integer. */
  readonly hasIntegerId: boolean;
}

const missing: Match = { state: 'missing', operations: [], why: notDescribed };

/**
 * Finds the operations of the table in a document.
 *
 * @param documentOperations all operations of the document.
 * @param mapped the operations that the user chose with `--map`. No rule overrides them.
 */
export function matchOperations(
  table: readonly TableOperation[],
  documentOperations: readonly DocumentOperation[],
  mapped: ReadonlyMap<OperationId, DocumentOperation>,
): Matches {
  const matches = new Map<OperationId, Match>(table.map(({ id }) => [id, missing]));
  for (const [id, operation] of mapped)
    matches.set(id, { state: 'bound', operations: [operation], why: 'set by --map' });
  for (const noun of Object.keys(nouns) as NounName[]) {
    const { list, create, get, update, delete: remove } = nouns[noun].operations;
    const tableOperations = table.filter((operation) => operation.noun === noun);
    const fields = schemaFactsOf(tableOperations, documentOperations);
    for (const id of [list, create, get, update, remove]) {
      const tableOperation = tableOperations.find((operation) => operation.id === id);
      if (!tableOperation || mapped.has(id)) continue;
      const facts = { ...fields, collections: collectionsOf([list, create], matches) };
      const candidates = documentOperations.flatMap(
        (operation) => toCandidate(tableOperation, operation, facts) ?? [],
      );
      matches.set(id, choose(tableOperation, candidates));
    }
    const refusal = [list, get].map((id) => matches.get(id)).find((match) => match?.isForeign);
    if (!refusal) continue;
    for (const id of [create, update, remove]) {
      const write = matches.get(id) ?? missing;
      if (write !== missing && !mapped.has(id)) matches.set(id, refuseWrite(write, refusal));
    }
  }
  return matches;
}

/** Refuses a write because its read was refused: the records are of another kind. Only the refusal of the read names a --map flag. */
function refuseWrite({ operations: [write] }: Match, { operations: [read], ...refusal }: Match): Match {
  const why = `its records are of another kind (${read && routeText(read)}: ${obstacleText(refusal)})`;
  return { state: 'unbindable', operations: write ? [write] : [], why };
}

function collectionsOf(ids: readonly OperationId[], matches: Matches): string[] {
  const bound = ids.flatMap((id) => matches.get(id) ?? []).filter(({ state }) => state === 'bound');
  return bound.flatMap(({ operations }) => operations.map(({ path }) => readPath(path).collection));
}

/** Collects the fields of a noun from the bodies and the answers of the operations whose path or schema is about it. */
function schemaFactsOf(
  tableOperations: readonly TableOperation[],
  documentOperations: readonly DocumentOperation[],
): Pick<NounFacts, 'fields' | 'hasIntegerId'> {
  const [first] = tableOperations;
  if (!first) return { fields: new Set(), hasIntegerId: false };
  const shapes = documentOperations.flatMap(({ method, path, body, answer }): Shape[] => {
    // An array within a record, such as the visits of a pet, is not a list of records.
    const mayList = method === 'GET' && readPath(path).idName === undefined;
    const answering = tableOperations.filter(({ isList }) => mayList || !isList);
    const contents = answering.flatMap((each) => (answer && recordsIn(each, answer.shape)?.shape) ?? []);
    const isAbout = ({ names }: Shape) => names.some((name) => nounOfSchema(name) === first.noun);
    return [...contents, ...(body ? [body.shape] : [])].filter(
      (shape) => shape.kind === 'object' && (isAbout(shape) || readPath(path).noun === first.noun),
    );
  });
  const idField = nouns[first.noun].idField;
  return {
    fields: new Set(shapes.flatMap((shape) => [...shape.fields.keys()].map(compactName))),
    hasIntegerId: shapes.some((shape) =>
      isNumberKind(shape.fields.get(fieldNamesOf(first, shape).get(idField) ?? '')?.kind),
    ),
  };
}

/** Makes a candidate of an operation that has our operationId or our path. If it only mentions the noun, only `--map` can bind it. */
function toCandidate(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  facts: NounFacts,
): Candidate | undefined {
  const { id, noun, method } = tableOperation;
  const isSimilar = operation.method === method || (method === 'PUT' && operation.method === 'PATCH');
  if (!isSimilar || isOfAnotherNoun(tableOperation, operation)) return undefined;
  const form = readPath(operation.path);
  const isNamed = operation.operationId === id;
  const isNear = isNamed || form.noun === noun || facts.collections.includes(form.collection);
  const isPlaced = isNear && !form.isBelowNoun && (form.noun ?? noun) === noun;
  if (!isPlaced && !isAbout(noun, operation)) return undefined;
  const place = placeOf(tableOperation, operation, form, facts, isPlaced);
  if (!place) return undefined;
  const rank = isPlaced
    ? (isNamed ? 4 : 0) + (isNounAlone(noun, form) ? 2 : 0) + (operation.method === method ? 1 : 0)
    : -1;
  const refusalOf = (each: DocumentOperation) =>
    obstacleTo(tableOperation, each) ?? countObstacle(tableOperation, each);
  if (place === 'here') return { operation, rank, obstacle: refusalOf(operation) };
  // An operation with two obstacles is not even a near miss.
  const isCallable = !refusalOf(withStatedValues(operation, id));
  return isCallable ? { operation, rank, obstacle: place } : undefined;
}

/** Returns true if the path, the operationId or a schema of an operation mentions a noun. */
function isAbout(noun: NounName, operation: DocumentOperation): boolean {
  const { path, operationId = '' } = operation;
  return (
    mentions(`${path.replace(/\{[^}]*\}/g, '')} ${operationId}`, noun) ||
    schemaNamesOf(operation).some((name) => nounOfSchema(name) === noun)
  );
}

/** Returns true if a schema has the name of another noun's, or a POST answers a list, as a search does. */
function isOfAnotherNoun({ noun, method }: TableOperation, operation: DocumentOperation): boolean {
  const isSearch = method === 'POST' && operation.answer?.shape.kind === 'array';
  return isSearch || schemaNamesOf(operation).some((name) => (nounOfSchema(name) ?? noun) !== noun);
}

function schemaNamesOf({ body, answer }: DocumentOperation): readonly string[] {
  return [body, answer].flatMap((content) => content?.shape.names ?? []);
}

/**
 * Finds out whether an operation has the path of its kind. Returns an obstacle if only `--map` can bind it, and undefined if the
 * path has another number of ids.
 *
 * @param isPlaced false if its path does not end with the noun.
 */
function placeOf(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  form: PathForm,
  facts: NounFacts,
  isPlaced: boolean,
): Obstacle | 'here' | undefined {
  const { id, noun } = tableOperation;
  const { tail, idName, outerNames, collection } = form;
  const byHand = (why: string) => ({ why, remedy: remedyFor(tableOperation, operation) });
  if (!hasItsIds(tableOperation, operation, form, isPlaced)) return undefined;
  if (!isPlaced) return byHand('it may be something else');
  if (tail !== undefined) return byHand(`${tail} may have only some of the records`);
  if (outerNames.length > 0) return byHand(`its path needs a value for ${outerNames.join(' and ')}`);
  if (takesId(id) && idName === undefined && hasTwoIds(noun, facts)) return undefined;
  const obstacle = idName === undefined ? undefined : idObstacle(tableOperation, operation, idName, facts);
  if (obstacle) return obstacle;
  if (id === nouns[noun].operations.list) return 'here';
  if (facts.collections.includes(collection)) return 'here';
  if (facts.collections.length > 0) return byHand('its path is not that of the bound list or create');
  const isAlone = !takesId(id) || isNounAlone(noun, form) || operation.path === operations[id].path;
  return operation.operationId === id || isAlone ? 'here' : byHand('no list or create is beside it');
}

/** Returns true if the path of an operation, or the body of a PUT, has the ids of its kind. */
function hasItsIds(
  tableOperation: TableOperation,
  { method, body }: DocumentOperation,
  { idName, outerNames, isBelowNoun, noun }: PathForm,
  isPlaced: boolean,
): boolean {
  const needsId = takesId(tableOperation.id);
  if (needsId === (idName !== undefined)) return outerNames.length === 0 || !isBelowNoun;
  if (!needsId) return false;
  // `/pets/{petId}/inventory` has the id of an entry before its noun.
  if (outerNames.length === 1) return noun === tableOperation.noun;
  // A PATCH of a collection may change all records, and so may a PUT whose body has no id.
  return isPlaced && method === 'PUT' && body !== undefined && isRecord(tableOperation, body.shape);
}

/** Finds out why the parameter at the end of a path is not, or may not be, the id of the record. */
function idObstacle(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  idName: string,
  facts: NounFacts,
): Obstacle | undefined {
  const { noun } = tableOperation;
  const compact = compactName(idName);
  // An entry has the id of its pet, so `{id}` may be another id.
  const { idField, idName: ourIdName } = nouns[noun];
  const names = [idField, ourIdName].map(compactName);
  if (!names.includes(compact) || (idField === 'id' && hasTwoIds(noun, facts))) {
    const why = `its ${idName} may be the id of something else`;
    return facts.fields.has(compact) && !names.includes(compact)
      ? { why: `its ${idName} is another field of the record, and not its id` }
      : { why, remedy: remedyFor(tableOperation, operation) };
  }
  const parameter = operation.parameters.find(({ in: place, name }) => place === 'path' && name === idName);
  const kind = parameter?.shape.kind ?? 'unknown';
  if (facts.hasIntegerId || !/^(string|boolean)$/.test(kind)) return undefined;
  return { why: `its ${idName} is a ${kind}, not an integer`, isForeign: true };
}

/** Returns true if records have both an `id` and a `petId`, so that a path may mean either. */
function hasTwoIds(noun: NounName, { fields }: NounFacts): boolean {
  return fields.has('id') && fields.has(compactName(nouns[noun].idName));
}

function choose({ id, noun }: TableOperation, candidates: readonly Candidate[]): Match {
  const callable = candidates.filter(({ obstacle }) => !obstacle);
  const highestRank = Math.max(...callable.map(({ rank }) => rank));
  const best = callable.filter(({ rank }) => rank === highestRank).map(({ operation }) => operation);
  const [first] = best;
  if (!first) return nearMiss(candidates);
  const why = first.operationId === id ? 'its operationId is the same' : `its path is about ${noun}`;
  if (best.length === 1) return { state: 'bound', operations: best, why };
  const flags = best.map((operation) => mapFlag(id, operation));
  return {
    state: 'ambiguous',
    operations: best,
    why: `${best.length} operations fit equally: ${joinFirst(flags, 8)}`,
  };
}

/** Returns true if a collection is the noun alone. */
function isNounAlone(noun: NounName, { collection }: PathForm): boolean {
  return collection === `/${noun}`;
}

/** Reports the nearest of several operations that are not bound. */
function nearMiss(candidates: readonly Candidate[]): Match {
  const nearest =
    candidates.find(({ obstacle }) => obstacle?.isForeign) ??
    [...candidates].sort((a, b) => b.rank - a.rank)[0];
  if (!nearest?.obstacle) return missing;
  return { state: 'unbindable', operations: [nearest.operation], ...nearest.obstacle };
}
