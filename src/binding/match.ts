import { whyNotDescribed } from '../api/contract.ts';
import { type NounName, nouns, type OperationId } from '../api/nouns.ts';
import { operationIds, operations, takesId } from '../api/operations.ts';
import { compactName, joinFirst } from '../process/text.ts';
import { type DocumentOperation, mapFlag, type Obstacle, obstacleText, routeText } from './document.ts';
import { countObstacle, isNumberKind, lossObstacle, mapFlagFor, obstacleTo } from './obstacles.ts';
import { idParameterOf, isParameter, nounOfSchema, type PathForm } from './path-words.ts';
import { fieldNamesOf, isRecord, recordsIn, type TableOperation } from './record-form.ts';
import type { Shape } from './schema.ts';

// Finds the operations of the table in a document. A wrong binding is worse than a missing one, because the binding decides
// what `delete` deletes.
//
// - An operationId that is exactly ours is taken first. Else the path of a collection ends with the noun, the path of a
//   record adds the noun's id to the path of its collection, and the method says what the operation does.
// - An operation that cannot be called, that has other records, or that may add to a count is refused (obstacles.ts).
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

interface Candidate {
  readonly operation: DocumentOperation;
  readonly obstacle: Obstacle | undefined;
}

/** The signs by which one of several operations is preferred, the strongest first. */
const preferences: readonly ((candidate: Candidate, tableOperation: TableOperation) => boolean)[] = [
  ({ operation }, { id }) => operation.operationId === id,
  ({ operation: { form } }, { noun }) => isNounAlone(noun, form),
  ({ operation }, { method }) => operation.method === method,
];

/** What the document says about a noun. */
interface NounFacts {
  /** The fields of its records and bodies, as compact names. */
  readonly fields: ReadonlySet<string>;
  /** True if a schema says that its id is an integer. */
  readonly hasIntegerId: boolean;
  /** The collections of its list and its create. Empty if neither is bound. */
  readonly collections: readonly string[];
}

const missing: Match = { state: 'unbound', why: whyNotDescribed };

/**
 * Finds the operations of the table in a document.
 *
 * @param documentOperations all operations of the document.
 * @param mapped the operations that the user chose with `--map`. `judgeMapped` judges them, and so does the rule about an update that
 *   replaces the record.
 */
export function matchOperations(
  tableOperationOf: (id: OperationId) => TableOperation,
  documentOperations: readonly DocumentOperation[],
  mapped: ReadonlyMap<OperationId, DocumentOperation>,
): Matches {
  const matches = new Map<OperationId, Match>(operationIds.map((id) => [id, missing]));
  for (const noun of Object.values(nouns)) {
    const { list, create, get, update, delete: remove } = noun.operations;
    const boundCollections = () =>
      [list, create]
        .flatMap((id) => mapped.get(id) ?? boundIn(matches, id) ?? [])
        .map(({ form }) => form.collection);
    const facts = nounFactsOf(
      tableOperationOf(list),
      tableOperationOf(get),
      documentOperations,
      boundCollections(),
    );
    for (const id of [list, create, get, update, remove]) {
      const tableOperation = tableOperationOf(id);
      const collections = boundCollections();
      const toCandidates = (operation: DocumentOperation) =>
        toCandidate(tableOperation, operation, { ...facts, collections }) ?? [];
      const chosen = mapped.get(id);
      matches.set(
        id,
        chosen
          ? judgeMapped(tableOperation, chosen, facts)
          : choose(tableOperation, documentOperations.flatMap(toCandidates)),
      );
    }
    const foreign = [list, get].flatMap((id) => matches.get(id) ?? []).find((each) => each.hasOtherRecords);
    for (const id of foreign ? [create, update, remove] : []) {
      const write = matches.get(id)?.operation;
      if (!write || !foreign?.operation || mapped.has(id)) continue;
      const why = `its records are of another kind (${routeText(foreign.operation)}: ${obstacleText(foreign)})`;
      matches.set(id, { state: 'unbound', operation: write, why });
    }
    const updating = boundIn(matches, update);
    const read = readingOperation(matches, noun.name);
    const loss = updating && lossObstacle(tableOperationOf(read), updating, boundIn(matches, read));
    if (loss) matches.set(update, { state: 'unbound', operation: updating, ...loss });
  }
  return matches;
}

/** Judges an operation that the user chose. */
function judgeMapped(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  facts: Pick<NounFacts, 'fields'>,
): Match {
  const obstacle =
    operation.obstacle ??
    idsObstacle(tableOperation, operation) ??
    obstacleTo(tableOperation, operation) ??
    otherFieldObstacle(tableOperation, operation, facts);
  if (obstacle) return { state: 'unbound', operation, ...obstacle };
  const doubt = countObstacle(tableOperation, operation);
  return { state: 'bound', operation, why: `set by --map${doubt ? `, though ${doubt.why}` : ''}` };
}

/**
 * Finds out whether a path lacks the parameter for the id of the record, or has others. A value in its place would name the same record
 * for every id.
 */
function idsObstacle(
  tableOperation: TableOperation,
  { method, path, template, body }: DocumentOperation,
): Obstacle | undefined {
  const { id, noun, method: ourMethod } = tableOperation;
  const parameters = path.split('/').filter(isParameter);
  const idParameter = idParameterOf(template, nouns[noun].idName);
  const hasIdInBody = body && fieldNamesOf(tableOperation, body.shape).has(nouns[noun].idField);
  // A PATCH of a collection may change all records.
  const isInBody = ourMethod === 'PUT' && method !== 'PATCH' && idParameter === undefined && hasIdInBody;
  const expected = takesId(id) && !(isInBody && parameters.length === 0) ? 1 : 0;
  const isWithoutId = expected === 1 && !parameters.some((parameter) => parameter === idParameter);
  const ids = isWithoutId ? 0 : parameters.length;
  if (ids === expected) return undefined;
  const taken = expected === 0 ? 'no id' : 'one id';
  return { why: `${id} takes ${taken}, and its path has ${['none', 'one'][ids] ?? ids}` };
}

function otherFieldObstacle(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  facts: Pick<NounFacts, 'fields'>,
): Obstacle | undefined {
  const field = otherFieldOf(tableOperation, operation, facts);
  if (field === undefined) return undefined;
  return {
    why: `its ${field} may be another field of the records than ${nouns[tableOperation.noun].idField}`,
  };
}

/** Returns true if an operation may do what one of the table does, by its method and by the names of its schemas. */
function isOfKind({ noun, method }: TableOperation, operation: DocumentOperation): boolean {
  const { body, answer } = operation;
  // A POST that answers a list is a search.
  if (method === 'POST' && answer?.shape.kind === 'array') return false;
  const shapes = [body, answer].flatMap((content) => (content ? [content.shape, content.shape.items] : []));
  const schemaNouns = shapes.flatMap(({ names }) => names.flatMap((name) => nounOfSchema(name) ?? []));
  const isOurMethod = operation.method === method || (method === 'PUT' && operation.method === 'PATCH');
  return isOurMethod && schemaNouns.every((each) => each === noun);
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

/** Collects the fields of a noun from the bodies and answers of operations whose path is about it, or in these collections. */
function nounFactsOf(
  list: TableOperation,
  get: TableOperation,
  documentOperations: readonly DocumentOperation[],
  collections: readonly string[],
): Omit<NounFacts, 'collections'> {
  const shapes = documentOperations.flatMap(({ method, form, body, answer }) => {
    if (form.noun !== get.noun && !collections.includes(form.collection)) return [];
    // An array within a record, such as the visits of a pet, is not a list of records.
    const read = method === 'GET' && form.idName === undefined ? list : get;
    const answered = answer && recordsIn(read, answer.shape)?.shape;
    return [answered, body?.shape].filter((shape) => shape?.kind === 'object') as Shape[];
  });
  return {
    fields: new Set(shapes.flatMap((shape) => [...shape.fields.keys()].map(compactName))),
    hasIntegerId: shapes.some((shape) =>
      isNumberKind(shape.field(fieldNamesOf(get, shape).get(nouns[get.noun].idField) ?? '').kind),
    ),
  };
}

/** Makes a candidate of an operation that has our operationId or our path. */
function toCandidate(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  facts: NounFacts,
): Candidate | undefined {
  const { id, noun } = tableOperation;
  const { form } = operation;
  const isNear =
    operation.operationId === id || form.noun === noun || facts.collections.includes(form.collection);
  if (!isNear || (form.noun ?? noun) !== noun) return undefined;
  if (form.isBelowNoun) return toNestedCandidate(tableOperation, operation);
  if (!isOfKind(tableOperation, operation) || !hasItsIds(tableOperation, operation)) return undefined;
  if (takesId(id) && form.idName === undefined && hasTwoIds(noun, facts)) return undefined;
  const obstacle =
    operation.obstacle ??
    placeObstacle(tableOperation, operation, facts) ??
    obstacleTo(tableOperation, operation) ??
    countObstacle(tableOperation, operation);
  return { operation, obstacle };
}

/** Makes a candidate of an operation on the count of a pet below the path of the pet, `/pets/{id}/inventory`, which only a person binds. */
function toNestedCandidate(
  tableOperation: TableOperation,
  operation: DocumentOperation,
): Candidate | undefined {
  const { id, noun } = tableOperation;
  const { idName, parentIds } = operation.form;
  const hasOneId = idName === undefined && parentIds.length === 1;
  if (!nouns[noun].isCount || !takesId(id) || !hasOneId || !isOfKind(tableOperation, operation))
    return undefined;
  const byHand = { why: 'its path is below that of a pet', flags: mapFlag(id, operation) };
  return { operation, obstacle: operation.obstacle ?? obstacleTo(tableOperation, operation) ?? byHand };
}

/** Returns true if the path of an operation, or the body of a PUT, has the ids of its kind. */
function hasItsIds(
  tableOperation: TableOperation,
  { method, path, form: { idName }, body }: DocumentOperation,
): boolean {
  const needsId = takesId(tableOperation.id);
  if (needsId === (idName !== undefined)) return true;
  // A PATCH of a collection may change all records, and so may a PUT whose body has no id.
  const isInBody = method === 'PUT' && body !== undefined && isRecord(tableOperation, body.shape);
  return needsId && isInBody && idParameterOf(path, nouns[tableOperation.noun].idName) === undefined;
}

/** Finds out why an operation does not have the path of its kind, and whether `--map` can bind it. */
function placeObstacle(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  facts: NounFacts,
): Obstacle | undefined {
  const { id, noun } = tableOperation;
  const { method, operationId, form } = operation;
  const { tail, idName, parentIds, collection } = form;
  // The count may be a field of the pet itself.
  if (nouns[noun].isCount && form.noun !== noun && operationId !== id && /POST|DELETE/.test(method))
    return { why: `it may ${method === 'POST' ? 'create' : 'delete'} the pet itself` };
  const byHand = (why: string) => ({ why, flags: mapFlagFor(tableOperation, operation) });
  if (tail !== undefined) return byHand(`${tail} may have only some of the records`);
  if (parentIds.length > 0)
    return byHand(`its path needs a value for ${parentIds.join(' and ')}, of which 7 is an example`);
  const obstacle = idName === undefined ? undefined : idObstacle(tableOperation, operation, idName, facts);
  if (obstacle) return obstacle;
  if (id === nouns[noun].operations.list || facts.collections.includes(collection)) return undefined;
  const isOurs = operation.operationId === id || operation.path === operations[id].path;
  const isClear = isOurs || !takesId(id) || isNounAlone(noun, form);
  const isAlone = isClear && facts.collections.length === 0;
  return isAlone ? undefined : byHand('no bound list or create has its path');
}

/** Finds out why the parameter at the end of a path is not, or may not be, the id of the record. */
function idObstacle(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  idName: string,
  facts: NounFacts,
): Obstacle | undefined {
  const { noun, fieldMap } = tableOperation;
  const compact = compactName(idName);
  const { idField, idName: ourIdName } = nouns[noun];
  const ours = [idField, ourIdName, fieldMap.get(idField) ?? idField].map(compactName);
  const isOtherField = otherFieldOf(tableOperation, operation, facts) !== undefined;
  const isUnclear = !fieldMap.has(idField) && idField === 'id' && hasTwoIds(noun, facts);
  if (isOtherField || isUnclear || !ours.includes(compact)) {
    const why = `its ${idName} may be the id of something else`;
    return { why, flags: isOtherField ? undefined : mapFlagFor(tableOperation, operation) };
  }
  const parameter = operation.parameters.find(({ in: place, name }) => place === 'path' && name === idName);
  const kind = parameter?.shape.kind ?? 'unknown';
  if (facts.hasIntegerId || !/^(string|boolean)$/.test(kind)) return undefined;
  return { why: `its ${idName} is a ${kind}, not an integer`, hasOtherRecords: true };
}

/**
 * Returns the parameter at the end of a path if it is, or may be, another field of the records: `{id}` may be the id of an entry, which
 * has the id of its pet too.
 */
function otherFieldOf(
  { id, noun, fieldMap }: TableOperation,
  { form: { idName } }: DocumentOperation,
  { fields }: Pick<NounFacts, 'fields'>,
): string | undefined {
  if (!takesId(id) || idName === undefined) return undefined;
  const compact = compactName(idName);
  const { idField, idName: ourIdName } = nouns[noun];
  const mapped = fieldMap.get(idField);
  const ours = [idField, ourIdName].map(compactName);
  if (mapped !== undefined && compactName(mapped) === compact) return undefined;
  // Entries with an `id` of their own may be found by it, whatever the parameter is called.
  const isOwnId = idField !== 'id' && fields.has('id') && !ours.includes(compact);
  const isField = fields.has(compact) && (mapped !== undefined || !ours.includes(compact));
  return isOwnId || isField ? idName : undefined;
}

/** Returns true if records have both an `id` and a `petId`, so that a path may mean either. */
function hasTwoIds(noun: NounName, { fields }: NounFacts): boolean {
  return fields.has('id') && fields.has(compactName(nouns[noun].idName));
}

function isNounAlone(noun: NounName, { collection }: PathForm): boolean {
  return collection === `/${noun}`;
}

function choose(tableOperation: TableOperation, candidates: readonly Candidate[]): Match {
  const { id, noun } = tableOperation;
  const fitting = candidates.filter(({ obstacle }) => !obstacle);
  const best = preferred(tableOperation, fitting).map(({ operation }) => operation);
  const [first, ...others] = best;
  if (!first) {
    const foreign = candidates.find(({ obstacle }) => obstacle?.hasOtherRecords);
    const [nearest] = foreign ? [foreign] : preferred(tableOperation, candidates);
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

/** Leaves the candidates that have the strongest signs. */
function preferred(tableOperation: TableOperation, candidates: readonly Candidate[]): readonly Candidate[] {
  return preferences.reduce((left, isPreferred) => {
    const better = left.filter((candidate) => isPreferred(candidate, tableOperation));
    return better.length > 0 ? better : left;
  }, candidates);
}
