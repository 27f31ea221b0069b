import { type NounName, type OperationId, operations } from '../api/operations.ts';
import { type DocumentOperation, formatRoute, pathPattern } from './document.ts';
import { isFilterName } from './parameters.ts';
import { isRecord, type TableOperation } from './record-format.ts';
import { shapeOf } from './schema.ts';
import { isIdName, isNameWithin, nounOf, wordsOf } from './words.ts';

// What the path of an operation says: whether it is of the right form for a list, a create or an operation on one record,
// and whether that lies beside the list or the create of its noun.

/** The paths of a noun's operations that are bound already. */
export interface Collections {
  /** The paths of its list and its create. */
  readonly whole: ReadonlySet<string>;
  /** The paths of its get and its update, whose last segment is the id. */
  readonly single: ReadonlySet<string>;
  /** Whether several operations fit its list or its create, so that the path of the collection is not certain. */
  readonly isTied: boolean;
}

/** What the path of an operation says; undefined if the operation cannot be that of the table. */
export function readPath(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  collections: Collections,
): PathReading | undefined {
  return takesId(tableOperation.id)
    ? readRecordPath(tableOperation, operation, collections)
    : readWholePath(tableOperation, operation, collections);
}

/** Whether an operation of the table is about one record. */
export function takesId(id: OperationId): boolean {
  const { many, method } = operations[id];
  return !many && method !== 'POST';
}

/** What the path of an operation says. */
export interface PathReading {
  /** The segment that says what it is about. */
  readonly segment: string;
  /** Whether it lies at the path of a bound operation of the noun, or is a search of it. */
  readonly isOfNoun: boolean;
  /** Why an operation there is not taken, a clause. */
  readonly obstacle?: string | undefined;
}

/** The path of a list or a create, which ends with the collection. */
function readWholePath(
  { id, noun, many }: TableOperation,
  { path, method }: DocumentOperation,
  { whole }: Collections,
): PathReading | undefined {
  const segments = splitPath(path);
  const last = segments.at(-1) ?? '';
  if (isParameter(last) || isOtherNoun(last, noun)) return undefined;
  // `findByTag` is a search; `findByStatus` is a list with a filter of ours.
  const [, filterName] = /(?:^|[a-z_-])by[_-]?(\w+)$/i.exec(last) ?? [];
  if (many && filterName !== undefined && !isFilterName(filterName, id)) return undefined;
  const isOfNoun = filterName !== undefined || whole.has(pathPattern(path));
  return { segment: last, isOfNoun, obstacle: furtherParameter(id, method, path, segments) };
}

/** The path of an operation on one record, which ends with its id. */
function readRecordPath(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  collections: Collections,
): PathReading | undefined {
  const { id, noun } = tableOperation;
  const { path, method } = operation;
  const map = `add --map ${id}='${formatRoute(operation)}'`;
  const segments = splitPath(path);
  const parameter = segments.pop() ?? '';
  if (!isParameter(parameter)) return readPathWithoutId(tableOperation, operation, collections);
  const segment = segments.at(-1) ?? '';
  const name = parameter.slice(1, -1);
  // An entry with an id of its own is not found by the id of its pet.
  const isEntryId = noun === 'inventory' && wordsOf(name).join(' ') === 'id' && hasIdField(operation);
  if (isOtherNoun(segment, noun) || isEntryId) return undefined;
  const isListed = collections.whole.has(pathPattern(`/${segments.join('/')}`));
  const isOfNoun = isListed || collections.single.has(pathPattern(path));
  const reading = { segment, isOfNoun };
  const further = furtherParameter(id, method, path, segments);
  if (further !== undefined) return { ...reading, obstacle: further };
  const { schema } = operation.parameters.find((each) => each.in === 'path' && each.name === name) ?? {};
  const isInteger = shapeOf(schema).kind === 'integer';
  const isNamed = isIdName(name, noun) && (isOfNoun || nounOf(segment) === noun || wordsOf(name).length > 1);
  if (!isNamed && !(isListed && isInteger && isNameWithin(name, segment))) {
    const record = noun === 'inventory' ? 'pet' : wordsOf(noun).join('');
    const obstacle = `its ${name} may be the id of something else: if it is that of the ${record}, ${map}`;
    return isInteger ? { ...reading, obstacle } : undefined;
  }
  if (isBesideCollection(tableOperation, operation, collections)) return reading;
  const obstacle = collections.isTied
    ? 'several paths may be that of its list'
    : `its path is not that of the bound list or create: if this is intended, ${map}`;
  return { ...reading, obstacle };
}

/** The path of an update that has the id in its body; or as a near miss, of the entry of a pet: `/pets/{petId}/inventory`. */
function readPathWithoutId(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  { whole }: Collections,
): PathReading | undefined {
  const { path, body } = operation;
  const segments = splitPath(path);
  const segment = segments.at(-1) ?? '';
  const hasId = tableOperation.body && typeof body === 'object' && isRecord(tableOperation, body.shape);
  const parameters = segments.filter(isParameter);
  if (hasId && whole.has(pathPattern(path)) && parameters.length === 0) return { segment, isOfNoun: true };
  const isOfPet = nounOf(segments.at(-3)) === 'pets' && isParameter(segments.at(-2) ?? '');
  if (tableOperation.noun !== 'inventory' || !isOfPet || parameters.length > 1) return undefined;
  const map = `add --map ${tableOperation.id}='${formatRoute(operation)}'`;
  const obstacle = `its path does not end with the id of a record: if this is intended, ${map}`;
  return { segment, isOfNoun: false, obstacle };
}

/**
 * Whether the path of an operation on one record lies beside the bound list or create of its noun: `/v1/pet/{id}` beside
 * `/v1/pets`. `/archive/pets/{id}` belongs to another collection than `/pets`. If neither is bound, the path must be a
 * single segment and the id.
 */
function isBesideCollection(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  { whole, isTied }: Collections,
): boolean {
  const collection = pathPattern(operation.path).replace(/\/\{\}$/, '');
  if (whole.size === 0) return !isTied && splitPath(collection).length === 1;
  const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
  const isNoun = nounOf(splitPath(collection).at(-1)) === tableOperation.noun;
  return [...whole].some(
    (path) =>
      path === collection ||
      parentOf(path) === collection ||
      (isNoun && parentOf(path) === parentOf(collection)),
  );
}

/** Whether a segment of a path is another noun of ours. */
function isOtherNoun(segment: string, noun: NounName): boolean {
  return (nounOf(segment) ?? noun) !== noun;
}

export function splitPath(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

export function isParameter(segment: string): boolean {
  return segment.startsWith('{') && segment.endsWith('}');
}

/** Why an operation below other records is not taken, a clause. --map can give their id, unless the noun is one of ours. */
function furtherParameter(
  id: OperationId,
  method: string,
  path: string,
  segments: readonly string[],
): string | undefined {
  const at = segments.findIndex(isParameter);
  const parameter = segments[at];
  if (parameter === undefined) return undefined;
  const needed = `its path needs a value for ${parameter.slice(1, -1)}`;
  const isOurs = nounOf(segments[at - 1]) !== undefined;
  return isOurs ? needed : `${needed}: fix it with --map ${id}='${method} ${path.replace(parameter, '7')}'`;
}

function hasIdField({ answer, body }: DocumentOperation): boolean {
  return [answer, body].some((each) => typeof each === 'object' && each.shape.fields.has('id'));
}
