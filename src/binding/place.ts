import { nouns } from '../api/nouns.ts';
import { type OperationId, operations } from '../api/operations.ts';
import { type DocumentOperation, mapFlag, type Obstacle } from './document.ts';
import { type IdFields, idObstacle } from './id-fields.ts';
import { isBeside, type PathForm, splitPath, withOuterValues } from './path.ts';
import { isRecord, type TableOperation } from './record-format.ts';
import { shapeOf } from './schema.ts';
import { consistsOf, createWords, listWords, singularWords } from './words.ts';

// The places that the operations of a noun may have. An operation at any other path is not even a near miss.

/** The facts about a noun that decide its operations on one record. */
export interface NounFacts {
  /** The collections of its list and its create, as patterns: `/v1/pets`. Empty if neither is bound. */
  readonly collections: readonly string[];
  /** Whether several operations fit its list or its create. Their collection is then uncertain. */
  readonly isTied: boolean;
  readonly idFields: IdFields;
}

/** An operation at a place that it may have, or the reason why it is not bound there. */
export interface Place {
  readonly obstacle?: Obstacle | undefined;
}

interface PlaceQuery {
  readonly tableOperation: TableOperation;
  readonly operation: DocumentOperation;
  readonly form: PathForm;
  readonly facts: NounFacts;
  readonly hasSchemaName: boolean;
}

/** Finds out whether an operation is at a place of the operation of the table. Undefined if it is not. */
export function placeOf(query: PlaceQuery): Place | undefined {
  const { id, noun } = query.tableOperation;
  const { list, create } = nouns[noun].operations;
  const find = id === list ? placeOfList : id === create ? placeOfCreate : placeOfRecord;
  const place = find(query);
  return place && { obstacle: place.obstacle ?? outerObstacle(query) };
}

/** A list is at a collection. A word behind the noun must select nothing, or by a filter of ours. */
function placeOfList({ tableOperation, operation, form, hasSchemaName }: PlaceQuery): Place | undefined {
  const { id, noun } = tableOperation;
  if (form.idName !== undefined) return undefined;
  if (form.tail === undefined) return {};
  if (!hasSchemaName) return undefined;
  const filters = operations[id].parameters.flatMap(({ name }) => singularWords(name));
  if (consistsOf(form.tail, noun, [...listWords, ...filters])) return {};
  const why = `${form.tail} may have only some of the records`;
  return { obstacle: { why, remedy: `if it has all, add ${mapFlag(id, operation)}` } };
}

/** A create is at the collection of the bound list or, if no list is bound, at the noun. */
function placeOfCreate({ tableOperation, operation, form, facts }: PlaceQuery): Place | undefined {
  const { id, noun } = tableOperation;
  if (form.idName !== undefined) return undefined;
  if (form.tail !== undefined && !consistsOf(form.tail, noun, createWords)) return undefined;
  const { operationId = '' } = operation;
  const isSaid = operationId !== '' && consistsOf(operationId, noun, createWords);
  if (facts.collections.some((collection) => isBeside(form, collection))) return {};
  if (facts.collections.length === 0 && (form.noun === noun || isSaid)) return {};
  if (form.outerNames.length > 0) return {};
  return { obstacle: besideObstacle(id, operation) };
}

/**
 * An operation on one record is beside the bound list or create: `/v1/pet/{id}` is beside `/v1/pets`, and `/archive/pets/{id}`
 * is not. If neither is bound, the path is a single word and the id.
 */
function placeOfRecord(query: PlaceQuery): Place | undefined {
  const { tableOperation, operation, form, facts, hasSchemaName } = query;
  const { id, noun } = tableOperation;
  if (form.tail !== undefined) return undefined;
  if (form.idName === undefined) return placeWithoutId(query);
  const parameter = operation.parameters.find(
    ({ in: place, name }) => place === 'path' && name === form.idName,
  );
  const obstacle = idObstacle(noun, form.idName, shapeOf(parameter?.schema).kind, facts.idFields);
  if (obstacle) {
    const record = nouns[noun].idName.replace(/Id$/, '');
    const remedy = `if it is that of the ${record}, add ${mapFlag(id, operation)}`;
    return { obstacle: obstacle.isDoubtful ? { why: obstacle.why, remedy } : obstacle };
  }
  const { collections, isTied } = facts;
  if (collections.some((collection) => isBeside(form, collection))) return {};
  if (isTied) return { obstacle: { why: 'several paths may be that of its list' } };
  const isAlone = splitPath(form.collection).length === 1 && (form.noun === noun || hasSchemaName);
  if ((collections.length === 0 && isAlone) || form.outerNames.length > 0) return {};
  return { obstacle: besideObstacle(id, operation) };
}

/**
 * A path that does not end with an id: of an update that has the id in its body, or of the entry of a pet, such as
 * `/pets/{petId}/inventory`.
 */
function placeWithoutId({ tableOperation, operation, form, facts }: PlaceQuery): Place | undefined {
  const { id, noun } = tableOperation;
  // A PATCH of a collection may change all its records.
  const isReplaced = operation.method === 'PUT' && operation.body !== undefined;
  const hasId = isReplaced && isRecord(tableOperation, operation.body.shape);
  const isOfCollection = facts.collections.includes(form.collection);
  if (hasId && isOfCollection && form.outerNames.length === 0)
    return facts.idFields.isSingle ? {} : undefined;
  if (noun !== 'inventory' || form.outerNoun !== 'pets' || form.outerNames.length > 1) return undefined;
  const remedy = `if this is intended, add ${mapFlag(id, operation)}`;
  return { obstacle: { why: 'its path does not end with the id of a record', remedy } };
}

function besideObstacle(id: OperationId, operation: DocumentOperation): Obstacle {
  const remedy = `if this is intended, add ${mapFlag(id, operation)}`;
  return { why: 'its path is not that of the bound list or create', remedy };
}

/** `--map` can give the value of a parameter before the collection, unless it is the id of a record of our nouns. */
function outerObstacle({ tableOperation, operation, form }: PlaceQuery): Obstacle | undefined {
  const { id } = tableOperation;
  if (form.outerNames.length === 0) return undefined;
  const why = `its path needs a value for ${form.outerNames.join(' and ')}`;
  if (form.outerNoun !== undefined) return { why };
  return { why, remedy: `fix it with ${mapFlag(id, withOuterValues(operation, form))}` };
}
