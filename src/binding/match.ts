import {
  type NounName,
  type Operation,
  type OperationId,
  operationIds,
  operations,
} from '../api/operations.ts';
import { type DocumentOperation, placeOf } from './document.ts';
import { obstacleTo } from './fit.ts';
import { isIdName, isNameWithin, nounOf, schemaNames, wordsOf } from './nouns.ts';
import { filterOf } from './parameters.ts';
import { isRecord, recordsIn } from './record-format.ts';
import { type Shape, shapeOf } from './schema.ts';

// How an operation of the table is found in a document. A wrong binding is worse than a missing one, because it decides
// what `delete` deletes.
//
// 1. Only an operation at a path of the right form counts: a list or a create without a parameter in its path, an
//    operation on one record with the record's own id as the last segment and no other parameter.
// 2. Of these, one whose schema has a name of the service document comes first, then one whose path has the noun.
// 3. Of several, one at the noun alone (`/pets`) or at the path of a bound collection is taken, then PUT before PATCH,
//    then the one with our operationId. What is still tied stays unbound.
// 4. If none can be called, the first is reported with the reason.

/** The result for one operation of the table; `why` is a clause. */
export type Match =
  | { readonly state: 'bound'; readonly operation: DocumentOperation; readonly why: string }
  | { readonly state: 'ambiguous'; readonly among: readonly DocumentOperation[]; readonly why: string }
  /** One that would fit if it could be called. */
  | { readonly state: 'unbindable'; readonly operation: DocumentOperation; readonly why: string }
  | { readonly state: 'missing'; readonly why: string };

export type Matches = ReadonlyMap<OperationId, Match>;

interface Candidate {
  readonly operation: DocumentOperation;
  readonly by: 'schema' | 'path';
  readonly why: string;
  /** Why it cannot be called as the one of the table, a clause. */
  readonly obstacle: string | undefined;
}

/**
 * Finds each operation of the table among those of a document.
 *
 * @param settled what the user chose; no rule overrides it.
 */
export function matchOperations(
  all: readonly DocumentOperation[],
  settled: ReadonlyMap<OperationId, DocumentOperation>,
): Matches {
  const matches = new Map<OperationId, Match>();
  for (const [id, operation] of settled) matches.set(id, { state: 'bound', operation, why: 'set by --map' });
  // Of each noun the list and the create come first: where they lie decides which operations on one record are of the same
  // collection.
  for (const own of Object.values(operations)) {
    if (matches.has(own.id)) continue;
    const collections = collectionsOf(own, matches);
    const candidates = all.flatMap((operation) => toCandidate(own, operation, collections) ?? []);
    matches.set(own.id, choose(own, candidates, collections));
  }
  return new Map(operationIds.map((id) => [id, matches.get(id) as Match]));
}

/** The paths of a noun that are known so far. */
interface Collections {
  /** Of its list and its create. */
  readonly whole: ReadonlySet<string>;
  /** Of its get and its update, their last segment the id. */
  readonly single: ReadonlySet<string>;
  /** Whether several operations fit its list or its create, so that where the collection lies is open. */
  readonly isTied: boolean;
}

function collectionsOf({ noun }: Operation, matches: Matches): Collections {
  const placesOf = (ofRecord: boolean) => {
    const places = [...matches].flatMap(([id, match]) => {
      const other = operations[id];
      return match.state === 'bound' && other.noun === noun && takesId(other) === ofRecord
        ? placeOf(match.operation.path)
        : [];
    });
    return new Set(places);
  };
  const isTied = [...matches].some(
    ([id, { state }]) => state === 'ambiguous' && operations[id].noun === noun && !takesId(operations[id]),
  );
  return { whole: placesOf(false), single: placesOf(true), isTied };
}

function toCandidate(
  own: Operation,
  operation: DocumentOperation,
  known: Collections,
): Candidate | undefined {
  const { method } = operation;
  if (method !== own.method && !(own.method === 'PUT' && method === 'PATCH')) return undefined;
  const place = takesId(own) ? recordPlace(own, operation, known) : wholePlace(own, operation, known);
  if (place === undefined) return undefined;
  const found = schemaEvidence(own, operation) ?? pathEvidence(own, operation, place.isNoun);
  return found && { ...found, operation, obstacle: place.obstacle ?? obstacleTo(own, operation) };
}

function takesId({ many, method }: Operation): boolean {
  return !many && method !== 'POST';
}

/** What the path of an operation says. */
interface Place {
  /** Whether it is about the noun. */
  readonly isNoun: boolean;
  readonly obstacle?: string | undefined;
}

/** The path of a list or a create, which ends with the collection. */
function wholePlace(
  { id, noun, many }: Operation,
  operation: DocumentOperation,
  known: Collections,
): Place | undefined {
  const { path, method } = operation;
  const segments = segmentsOf(path);
  const last = segments.at(-1) ?? '';
  if (isParameter(last) || isOfOther(last, noun)) return undefined;
  // `findByTag` is a search; `findByStatus` is a list with a filter of ours.
  const [, sought] = /(?:^|[a-z_-])by[_-]?(\w+)$/i.exec(last) ?? [];
  if (many && sought !== undefined && !filterOf(sought, id)) return undefined;
  const isNoun = nounOf(last) === noun || sought !== undefined || known.whole.has(placeOf(path));
  const [further] = segments.filter(isParameter);
  return { isNoun, obstacle: further && furtherParameter(id, method, path, further) };
}

/** The path of an operation on one record, which ends with its id; or of an update that has the id in its body. */
function recordPlace(own: Operation, operation: DocumentOperation, known: Collections): Place | undefined {
  const { id, noun } = own;
  const { path, method } = operation;
  const segments = segmentsOf(path);
  const last = segments.at(-1) ?? '';
  const others = segments.slice(0, -1);
  if (!isParameter(last)) {
    const hasId = own.body && isWholeRecord(own, operation) && segments.every((each) => !isParameter(each));
    return hasId && known.whole.has(placeOf(path)) ? { isNoun: true } : undefined;
  }
  const collection = others.at(-1) ?? '';
  if (isOfOther(collection, noun)) return undefined;
  const isKnown = known.whole.has(placeOf(`/${others.join('/')}`));
  const isNoun = nounOf(collection) === noun || isKnown || known.single.has(placeOf(path));
  const name = last.slice(1, -1);
  const isNamed = isIdName(name, noun) && (isNoun || wordsOf(name).length > 1);
  const { kind } = shapeOf(
    operation.parameters.find((each) => each.in === 'path' && each.name === name)?.schema,
  );
  const isOwn = isNamed || (isKnown && kind === 'integer' && isNameWithin(name, collection));
  // An entry with an id of its own is not found by the id of its pet.
  const isEntryId = noun === 'inventory' && wordsOf(name).join(' ') === 'id' && hasOwnId(operation);
  if (!isOwn || isEntryId) return undefined;
  const further = others.find(isParameter);
  if (further) return { isNoun, obstacle: furtherParameter(id, method, path, further) };
  const isForeign = !isBesideCollection(own, operation, known);
  return { isNoun, obstacle: isForeign ? otherCollection(id, method, path) : undefined };
}

/**
 * Whether the path of an operation on one record lies beside the bound list or create of its noun: `/v1/pet/{id}` beside
 * `/v1/pets`. `/archive/pets/{id}` beside `/pets` is of another collection.
 */
function isBesideCollection(
  own: Operation,
  operation: DocumentOperation,
  { whole, isTied }: Collections,
): boolean {
  if (isNounAlone(own, operation)) return true;
  if (whole.size === 0) return !isTied;
  const place = placeOf(operation.path).replace(/\/\{\}$/, '');
  const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
  return [...whole].some(
    (each) => each === place || parentOf(each) === parentOf(place) || parentOf(each) === place,
  );
}

function otherCollection(id: OperationId, method: string, path: string): string {
  return `its path is not that of the bound list or create: if this is intended, add --map ${id}='${method} ${path}'`;
}

/** Whether a segment of a path is another noun of ours. */
function isOfOther(segment: string, noun: NounName): boolean {
  return (nounOf(segment) ?? noun) !== noun;
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{') && segment.endsWith('}');
}

function furtherParameter(id: OperationId, method: string, path: string, parameter: string): string {
  const fixed = path.replace(parameter, '7');
  return `its path needs a value for ${parameter.slice(1, -1)}: fix it with --map ${id}='${method} ${fixed}'`;
}

function isWholeRecord({ noun }: Operation, { body }: DocumentOperation): boolean {
  return typeof body === 'object' && isRecord(noun, body.shape);
}

function hasOwnId({ answer, body }: DocumentOperation): boolean {
  return [answer, body].some((each) => typeof each === 'object' && each.shape.fields.has('id'));
}

type Evidence = Pick<Candidate, 'by' | 'why'>;

/** Evidence in the name of a schema. */
function schemaEvidence(own: Operation, operation: DocumentOperation): Evidence | undefined {
  const { body, answer } = operation;
  const known = schemaNames(own);
  const nameIn = (shape: Shape | undefined) => shape?.names.find((name) => known.includes(name));
  if (own.body) {
    const name = typeof body === 'object' ? nameIn(body.shape) : undefined;
    const answersList = own.method === 'POST' && typeof answer === 'object' && answer.shape.kind === 'array';
    return name === undefined || answersList ? undefined : { by: 'schema', why: `takes ${name}` };
  }
  if (typeof answer === 'string' || own.method !== 'GET') return undefined;
  const name = nameIn(recordsIn(own, answer.shape)?.shape);
  const why = `answers ${own.many ? 'an array of ' : ''}${name}`;
  return name === undefined ? undefined : { by: 'schema', why };
}

/** Evidence in the path, unless the schemas say that it is about something else. */
function pathEvidence(own: Operation, operation: DocumentOperation, isNoun: boolean): Evidence | undefined {
  const { answer, body } = operation;
  if (!isNoun) return undefined;
  const isAction = own.method === 'POST' && typeof answer === 'object' && answer.shape.kind === 'array';
  const others = [answer, body].flatMap((each) => (typeof each === 'object' ? each.shape.names : []));
  const isOther = others.some((name) => isNameOfOther(name, own));
  return isAction || isOther ? undefined : { by: 'path', why: `its path is about ${own.noun}` };
}

/** Whether the service document gives a name to the schema of another noun. */
function isNameOfOther(name: string, own: Operation): boolean {
  return Object.values(operations).some(
    (other) => other.noun !== own.noun && schemaNames(other).includes(name),
  );
}

function choose(own: Operation, candidates: readonly Candidate[], known: Collections): Match {
  const callable = candidates.filter(({ obstacle }) => obstacle === undefined);
  const bySchema = callable.filter(({ by }) => by === 'schema');
  const fitting = bySchema.length > 0 ? bySchema : callable;
  const [first] = fitting;
  if (!first) return explain(candidates);
  const preferences: ((candidate: Candidate) => boolean)[] = [
    ({ operation }) => isNounAlone(own, operation),
    ({ operation }) => isAtCollection(own, operation, known),
    ({ operation }) => operation.method === own.method,
    ({ operation }) => hasOurName(own, operation),
  ];
  let tied = fitting;
  for (const isPreferred of preferences) {
    const preferred = tied.filter(isPreferred);
    if (preferred.length > 0) tied = preferred;
    const [only, ...others] = tied;
    if (only && others.length === 0) return { state: 'bound', operation: only.operation, why: only.why };
  }
  return tie(tied);
}

/** Whether a path is the noun alone, or the noun and an id. */
function isNounAlone({ noun }: Operation, { path }: DocumentOperation): boolean {
  const [first, ...rest] = segmentsOf(path);
  return nounOf(first) === noun && rest.every(isParameter);
}

function isAtCollection(
  own: Operation,
  { path }: DocumentOperation,
  { whole, single }: Collections,
): boolean {
  const place = placeOf(path);
  return whole.has(place) || (takesId(own) && (single.has(place) || whole.has(place.replace(/\/\{\}$/, ''))));
}

/** Whether its operationId is that of the table; case, word order and plurals do not matter. */
function hasOurName({ id }: Operation, { operationId }: DocumentOperation): boolean {
  const words = (name: string) => wordsOf(name).sort().join(' ');
  return operationId !== undefined && words(operationId) === words(id);
}

const maxShown = 8;

function tie(tied: readonly Candidate[]): Match {
  const among = tied.map(({ operation }) => operation);
  const shown = among.slice(0, maxShown).map(show).join(', ');
  const more = among.length > maxShown ? ` and ${among.length - maxShown} more` : '';
  return { state: 'ambiguous', among, why: `${among.length} operations fit: ${shown}${more}` };
}

/** Explains why nothing was bound, by the first that would fit if it could be called. */
function explain(candidates: readonly Candidate[]): Match {
  const nearest = candidates.find(({ by }) => by === 'schema') ?? candidates[0];
  if (nearest?.obstacle === undefined) return { state: 'missing', why: 'its description has none' };
  return { state: 'unbindable', operation: nearest.operation, why: nearest.obstacle };
}

export function show({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
