import { nouns } from '../api/nouns.ts';
import { type OperationId, takesId } from '../api/operations.ts';
import { type DocumentOperation, formatRoute, type Obstacle, pathPattern, type Route } from './document.ts';
import { isFilterName } from './parameters.ts';
import { isRecord, type TableOperation } from './record-format.ts';
import { shapeOf } from './schema.ts';
import { isIdName, isNameWithin, nounOf, singularWords } from './words.ts';

// The path of an operation shows whether the operation can be a list, a create or an operation on one record.
// It also shows whether the operation belongs to the list or the create that is bound for its noun.

/** The paths of the operations of a noun that are already bound. */
export interface Collections {
  /**
   * The paths of its list and its create as patterns, such as `/v1/pets`. If neither is bound: the paths of
   * its other operations, without the id.
   */
  readonly paths: ReadonlySet<string>;
  /** Whether several operations fit its list or its create. The path of the collection is then uncertain. */
  readonly isTied: boolean;
}

/** What the path of an operation shows. */
export interface PathAnalysis {
  /** The segment that names the collection, such as `pets`. */
  readonly segment: string;
  /** Whether the path is that of a bound operation of the noun, or of a search in the noun. */
  readonly isOfNoun: boolean;
  /** The reason why the operation is not bound. */
  readonly obstacle?: Obstacle | undefined;
}

/** Returns the path of the collection that an operation is about, as a pattern: `/pets/{}` is in `/pets`. */
export function collectionOf({ path }: DocumentOperation): string {
  return pathPattern(path).replace(/\/\{\}$/, '');
}

/** Returns the flag that binds an operation, whatever the rules say: `--map listPets='GET /animals'`. */
export function mapFlag(id: OperationId, route: Route): string {
  return `--map ${id}='${formatRoute(route)}'`;
}

/**
 * Reads the path of an operation. Returns undefined if the path cannot be that of the operation of the table.
 */
export function analyzePath(
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
  const analysis = { segment, isOfNoun, obstacle: parameterObstacle(id, operation, segments) };
  if (!takesId(id)) return parameter === undefined ? readCollection(id, analysis) : undefined;
  if (parameter === undefined) return readWithoutId(tableOperation, operation, segments, isOfNoun);
  // An entry with an id of its own is not found by the id of its pet.
  const isEntryId = noun === 'inventory' && parameter.toLowerCase() === 'id' && hasIdField(operation);
  if (isEntryId) return undefined;
  if (analysis.obstacle) return analysis;
  return readRecord(tableOperation, operation, collections, parameter, analysis);
}

/**
 * Reads the path of a list or a create. `findByStatus` is a list with a filter of ours; `findByTag` is
 * another search.
 */
function readCollection(id: OperationId, analysis: PathAnalysis): PathAnalysis | undefined {
  const [, filterName] = /(?:^|[a-z_-])by[_-]?(\w+)$/i.exec(analysis.segment) ?? [];
  if (filterName === undefined) return analysis;
  return isFilterName(filterName, id) ? { ...analysis, isOfNoun: true } : undefined;
}

/**
 * Reads the path of an operation on one record. The last segment must be the id of the record. The rest must
 * be the path of the list or the create of the noun, or be beside it: `/v1/pet/{id}` is beside `/v1/pets`,
 * and `/archive/pets/{id}` is not in `/pets`. If neither is bound, the path must be a single segment and the
 * id.
 *
 * @param parameter the name of the last segment.
 */
function readRecord(
  tableOperation: TableOperation,
  operation: DocumentOperation,
  { paths, isTied }: Collections,
  parameter: string,
  analysis: PathAnalysis,
): PathAnalysis | undefined {
  const { id, noun } = tableOperation;
  const { segment, isOfNoun } = analysis;
  const map = `add ${mapFlag(id, operation)}`;
  const pathParameter = operation.parameters.find(
    ({ in: place, name }) => place === 'path' && name === parameter,
  );
  const isInteger = shapeOf(pathParameter?.schema).kind === 'integer';
  const isNoun = nounOf(segment) === noun;
  const isIdOfNoun = isIdName(parameter, noun) && (isOfNoun || isNoun || singularWords(parameter).length > 1);
  if (!isIdOfNoun && !(isOfNoun && isInteger && isNameWithin(parameter, segment))) {
    const record = nouns[noun].idName.replace(/Id$/, '');
    const why = `its ${parameter} may be the id of something else`;
    const remedy = `if it is that of the ${record}, ${map}`;
    return isInteger ? { ...analysis, obstacle: { why, remedy } } : undefined;
  }
  const collection = collectionOf(operation);
  const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
  const isBeside = [...paths].some(
    (path) => parentOf(path) === collection || (isNoun && parentOf(path) === parentOf(collection)),
  );
  const isAlone = paths.size === 0 && !isTied && splitPath(collection).length === 1;
  if (isOfNoun || isBeside || isAlone) return analysis;
  const obstacle = isTied
    ? { why: 'several paths may be that of its list' }
    : {
        why: 'its path is not that of the bound list or create',
        remedy: `if this is intended, ${map}`,
      };
  return { ...analysis, obstacle };
}

/**
 * Reads a path that does not end with an id: of an update that has the id in its body, or of the entry of a
 * pet, such as `/pets/{petId}/inventory`.
 */
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
  const obstacle = {
    why: 'its path does not end with the id of a record',
    remedy: `if this is intended, add ${mapFlag(tableOperation.id, operation)}`,
  };
  return { segment, isOfNoun: false, obstacle };
}

/**
 * Finds a parameter before the collection. `--map` can give its value, unless it is the id of a record of our
 * nouns.
 */
function parameterObstacle(
  id: OperationId,
  operation: DocumentOperation,
  segments: readonly string[],
): Obstacle | undefined {
  const index = segments.findIndex(isParameter);
  const parameter = segments[index];
  if (parameter === undefined) return undefined;
  const why = `its path needs a value for ${parameter.slice(1, -1)}`;
  if (nounOf(segments[index - 1]) !== undefined) return { why };
  const route = { method: operation.method, path: operation.path.replace(parameter, '7') };
  return { why, remedy: `fix it with ${mapFlag(id, route)}` };
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
