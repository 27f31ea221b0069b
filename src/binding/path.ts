import { nouns } from '../api/nouns.ts';
import { type OperationId, operations } from '../api/operations.ts';
import { type DocumentOperation, pathPattern } from './document.ts';
import { isFilterName } from './parameters.ts';
import { isRecord, type TableOperation } from './record-format.ts';
import { shapeOf } from './schema.ts';
import { isIdName, isNameWithin, nounOf, wordsOf } from './words.ts';

// What the path of an operation says: whether it is of the right form for a list, a create or an operation on one record,
// and whether it lies at the list or the create of its noun.

/** The paths of a noun's operations that are bound already. */
export interface Collections {
  /** The patterns of their paths, without the id of a record: `/v1/pets`. */
  readonly paths: ReadonlySet<string>;
  /** Whether several operations fit its list or its create, so that the path of the collection is not certain. */
  readonly isTied: boolean;
}

/** What the path of an operation says. */
export interface PathReading {
  /** The segment that says what it is about. */
  readonly segment: string;
  /** Whether it lies at the path of a bound operation of the noun, or is a search of it. */
  readonly isOfNoun: boolean;
  /** Why an operation there is not taken, a clause. */
  readonly obstacle?: string | undefined;
  /** Why an operation there may be another one, and the condition for adding it with --map. */
  readonly doubt?: string | undefined;
}

/** Whether an operation of the table is about one record. */
export function takesId(id: OperationId): boolean {
  const { many, method } = operations[id];
  return !many && method !== 'POST';
}

/** The path of the collection that an operation is about, as a pattern: `/pets/{}` is in `/pets`. */
export function collectionOf({ path }: DocumentOperation): string {
  return pathPattern(path).replace(/\/\{\}$/, '');
}

/** What the path of an operation says; undefined if the operation cannot be that of the table. */
export function readPath(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  collections: Collections,
): PathReading | undefined {
  const { id, noun } = tableOperation;
  const segments = splitPath(operation.path);
  const parameter = isParameter(segments.at(-1) ?? '') ? (segments.pop() ?? '').slice(1, -1) : undefined;
  const segment = segments.at(-1) ?? '';
  if ((nounOf(segment) ?? noun) !== noun) return undefined;
  const isOfNoun = collections.paths.has(collectionOf(operation));
  if (takesId(id) && parameter === undefined)
    return readPathWithoutId(tableOperation, operation, segments, isOfNoun);
  const obstacle = furtherParameter(tableOperation, operation, segments);
  if (takesId(id)) {
    // An entry with an id of its own is not found by the id of its pet.
    const isEntryId = noun === 'inventory' && parameter?.toLowerCase() === 'id' && hasIdField(operation);
    if (isEntryId || parameter === undefined) return undefined;
    const reading = { segment, isOfNoun, obstacle };
    return obstacle ? reading : withDoubt(tableOperation, operation, collections, reading, parameter);
  }
  if (parameter !== undefined) return undefined;
  // `findByTag` is a search; `findByStatus` is a list with a filter of ours.
  const [, filterName] = /(?:^|[a-z_-])by[_-]?(\w+)$/i.exec(segment) ?? [];
  if (filterName !== undefined && !isFilterName(filterName, id)) return undefined;
  return { segment, isOfNoun: isOfNoun || filterName !== undefined, obstacle };
}

/**
 * Doubts an operation on one record if its id may be that of something else, or if it does not lie beside the list or the
 * create of its noun: `/v1/pet/{id}` is beside `/v1/pets`, and `/archive/pets/{id}` is not in `/pets`. If neither is bound,
 * the path must be a single segment and the id. Undefined if the last segment is no id.
 */
function withDoubt(
  { noun }: TableOperation,
  operation: DocumentOperation,
  { paths, isTied }: Collections,
  reading: PathReading,
  parameter: string,
): PathReading | undefined {
  const { segment, isOfNoun } = reading;
  const stated = operation.parameters.find(({ in: place, name }) => place === 'path' && name === parameter);
  const isInteger = shapeOf(stated?.schema).kind === 'integer';
  const isOurs = isOfNoun || nounOf(segment) === noun;
  const record = nouns[noun].idName.replace(/Id$/, '');
  const isNamed = isIdName(parameter, noun) && (isOurs || wordsOf(parameter).length > 1);
  if (!isNamed && !(isOfNoun && isInteger && isNameWithin(parameter, segment)))
    return isInteger
      ? {
          ...reading,
          doubt: `its ${parameter} may be the id of something else: if it is that of the ${record}`,
        }
      : undefined;
  const collection = collectionOf(operation);
  const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
  const isBeside = [...paths].some(
    (path) =>
      parentOf(path) === collection || (nounOf(segment) === noun && parentOf(path) === parentOf(collection)),
  );
  const isAlone = paths.size === 0 && !isTied && splitPath(collection).length === 1;
  if (isOfNoun || isBeside || isAlone) return reading;
  if (isTied) return { ...reading, obstacle: 'several paths may be that of its list' };
  return { ...reading, doubt: 'its path is not that of the bound list or create: if this is intended' };
}

/** The path of an update that has the id in its body; or as a near miss, of the entry of a pet: `/pets/{petId}/inventory`. */
function readPathWithoutId(
  tableOperation: TableOperation,
  { body }: DocumentOperation,
  segments: readonly string[],
  isOfNoun: boolean,
): PathReading | undefined {
  const segment = segments.at(-1) ?? '';
  const hasId = tableOperation.body && body && isRecord(tableOperation, body.shape);
  const parameters = segments.filter(isParameter);
  if (hasId && isOfNoun && parameters.length === 0) return { segment, isOfNoun };
  const isOfPet = nounOf(segments.at(-3)) === 'pets' && isParameter(segments.at(-2) ?? '');
  if (tableOperation.noun !== 'inventory' || !isOfPet || parameters.length > 1) return undefined;
  return {
    segment,
    isOfNoun: false,
    doubt: 'its path does not end with the id of a record: if this is intended',
  };
}

/** Why an operation below other records is not taken, a clause. --map can give their id, unless the noun is one of ours. */
function furtherParameter(
  { id }: TableOperation,
  { method, path }: DocumentOperation,
  segments: readonly string[],
): string | undefined {
  const at = segments.findIndex(isParameter);
  const parameter = segments[at];
  if (parameter === undefined) return undefined;
  const needed = `its path needs a value for ${parameter.slice(1, -1)}`;
  const isOurs = nounOf(segments[at - 1]) !== undefined;
  return isOurs ? needed : `${needed}: fix it with --map ${id}='${method} ${path.replace(parameter, '7')}'`;
}

export function splitPath(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

export function isParameter(segment: string): boolean {
  return segment.startsWith('{') && segment.endsWith('}');
}

function hasIdField({ answer, body }: DocumentOperation): boolean {
  return [answer, body].some((content) => content?.shape.fields.has('id'));
}
