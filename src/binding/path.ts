import { nouns } from '../api/nouns.ts';
import { type OperationId, takesId } from '../api/operations.ts';
import { type DocumentOperation, formatRoute, pathPattern } from './document.ts';
import { isFilterName } from './parameters.ts';
import { isRecord, type TableOperation } from './record-format.ts';
import { shapeOf } from './schema.ts';
import { isIdName, isNameWithin, nounOf, singularWords } from './words.ts';

// The path of an operation tells whether it can be a list, a create or an operation on one record, and whether it lies at
// the list or the create of its noun.

/** The paths of a noun's operations that are bound already. */
export interface Collections {
  /** The patterns of those of its list and its create; if neither is bound, of the others without the id: `/v1/pets`. */
  readonly paths: ReadonlySet<string>;
  /** Whether several operations fit its list or its create, so that the path of the collection is not certain. */
  readonly isTied: boolean;
}

/** The result of reading the path of an operation. */
export interface PathAnalysis {
  /** The segment that names the collection. */
  readonly segment: string;
  /** Whether it lies at the path of a bound operation of the noun, or is a search of it. */
  readonly isOfNoun: boolean;
  /** The reason for not binding an operation there, a clause. */
  readonly obstacle?: string | undefined;
}

/** Returns the path of the collection that an operation is about, as a pattern: `/pets/{}` is in `/pets`. */
export function collectionOf({ path }: DocumentOperation): string {
  return pathPattern(path).replace(/\/\{\}$/, '');
}

/** Returns the flag that binds an operation as that of the table, whatever the rules say. */
export function mapFlag({ id }: TableOperation, operation: DocumentOperation): string {
  return `--map ${id}='${formatRoute(operation)}'`;
}

/** Reads the path of an operation; undefined if the operation cannot be that of the table. */
export function readPath(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  collections: Collections,
): PathAnalysis | undefined {
  const { id, noun } = tableOperation;
  const segments = splitPath(operation.path);
  const last = segments.at(-1) ?? '';
  const parameter = isParameter(last) ? last.slice(1, -1) : undefined;
  if (parameter !== undefined) segments.pop();
  const segment = segments.at(-1) ?? '';
  if ((nounOf(segment) ?? noun) !== noun) return undefined;
  const isOfNoun = collections.paths.has(collectionOf(operation));
  const reading = { segment, isOfNoun, obstacle: furtherParameter(tableOperation, operation, segments) };
  if (!takesId(id)) return parameter === undefined ? readCollection(id, reading) : undefined;
  if (parameter === undefined) return readWithoutId(tableOperation, operation, segments, isOfNoun);
  // An entry with an id of its own is not found by the id of its pet.
  const isEntryId = noun === 'inventory' && parameter.toLowerCase() === 'id' && hasIdField(operation);
  if (isEntryId) return undefined;
  return reading.obstacle ? reading : readRecord(tableOperation, operation, collections, parameter, reading);
}

/** Reads the path of a list or a create. `findByTag` is a search; `findByStatus` is a list with a filter of ours. */
function readCollection(id: OperationId, reading: PathAnalysis): PathAnalysis | undefined {
  const [, filterName] = /(?:^|[a-z_-])by[_-]?(\w+)$/i.exec(reading.segment) ?? [];
  if (filterName === undefined) return reading;
  return isFilterName(filterName, id) ? { ...reading, isOfNoun: true } : undefined;
}

/**
 * Reads the path of an operation on one record. Its last segment must be the id of that record, and it must lie beside the list
 * or the create of its noun: `/v1/pet/{id}` is beside `/v1/pets`, and `/archive/pets/{id}` is not in `/pets`. If neither is
 * bound, the path must be a single segment and the id.
 *
 * @param parameter the name of the last segment.
 */
function readRecord(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  { paths, isTied }: Collections,
  parameter: string,
  reading: PathAnalysis,
): PathAnalysis | undefined {
  const { noun } = tableOperation;
  const { segment, isOfNoun } = reading;
  const map = `add ${mapFlag(tableOperation, operation)}`;
  const stated = operation.parameters.find(({ in: place, name }) => place === 'path' && name === parameter);
  const isInteger = shapeOf(stated?.schema).kind === 'integer';
  const isNoun = nounOf(segment) === noun;
  const isIdOfNoun = isIdName(parameter, noun) && (isOfNoun || isNoun || singularWords(parameter).length > 1);
  if (!isIdOfNoun && !(isOfNoun && isInteger && isNameWithin(parameter, segment))) {
    const record = nouns[noun].idName.replace(/Id$/, '');
    const obstacle = `its ${parameter} may be the id of something else: if it is that of the ${record}, ${map}`;
    return isInteger ? { ...reading, obstacle } : undefined;
  }
  const collection = collectionOf(operation);
  const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
  const isBeside = [...paths].some(
    (path) => parentOf(path) === collection || (isNoun && parentOf(path) === parentOf(collection)),
  );
  const isAlone = paths.size === 0 && !isTied && splitPath(collection).length === 1;
  if (isOfNoun || isBeside || isAlone) return reading;
  const obstacle = isTied
    ? 'several paths may be that of its list'
    : `its path is not that of the bound list or create: if this is intended, ${map}`;
  return { ...reading, obstacle };
}

/** Reads the path of an update that has the id in its body, or that of the entry of a pet: `/pets/{petId}/inventory`. */
function readWithoutId(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  segments: readonly string[],
  isOfNoun: boolean,
): PathAnalysis | undefined {
  const { body } = operation;
  const segment = segments.at(-1) ?? '';
  const hasId = tableOperation.body && body && isRecord(tableOperation, body.shape);
  const parameters = segments.filter(isParameter);
  if (hasId && isOfNoun && parameters.length === 0) return { segment, isOfNoun };
  const isOfPet = nounOf(segments.at(-3)) === 'pets' && isParameter(segments.at(-2) ?? '');
  if (tableOperation.noun !== 'inventory' || !isOfPet || parameters.length > 1) return undefined;
  const map = `add ${mapFlag(tableOperation, operation)}`;
  const obstacle = `its path does not end with the id of a record: if this is intended, ${map}`;
  return { segment, isOfNoun: false, obstacle };
}

/** Says why an operation below other records is not bound. `--map` can give their id, unless they are of a noun of ours. */
function furtherParameter(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  segments: readonly string[],
): string | undefined {
  const at = segments.findIndex(isParameter);
  const parameter = segments[at];
  if (parameter === undefined) return undefined;
  const needed = `its path needs a value for ${parameter.slice(1, -1)}`;
  const isOurs = nounOf(segments[at - 1]) !== undefined;
  const fixed = { ...operation, path: operation.path.replace(parameter, '7') };
  return isOurs ? needed : `${needed}: fix it with ${mapFlag(tableOperation, fixed)}`;
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
