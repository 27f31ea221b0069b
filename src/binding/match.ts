import { type NounName, type OperationId, operationIds, operations } from '../api/operations.ts';
import { type DocumentOperation, placeOf } from './document.ts';
import { obstacleTo } from './fit.ts';
import { isIdName, isNameWithin, nounLike, nounOf, schemaNames, wordsOf } from './nouns.ts';
import { isFilterName } from './parameters.ts';
import { isRecord, recordsIn, type Wanted } from './record-format.ts';
import { type Shape, shapeOf } from './schema.ts';

// How an operation of the table is found in a document. A wrong binding is worse than a missing one, because it decides
// what `delete` deletes.
//
// 1. Only an operation at a path of the right form counts: a list or a create without a parameter in its path, an
//    operation on one record with the record's own id as the last segment and no other parameter, beside the list or the
//    create of its noun.
// 2. Of these, one whose schema has a name of the service document comes first, then one whose path has the noun.
// 3. Of several, one at the noun alone (`/pets`) or at the path of a bound collection is taken, then PUT before PATCH,
//    then the one with our operationId. What is still tied stays unbound.
// 4. If there is none, the nearest is reported with the reason, and with the --map line if that would be right.

/** The result for one operation of the table; `why` is a clause. */
export type Match =
  | { readonly state: 'bound'; readonly operation: DocumentOperation; readonly why: string }
  | { readonly state: 'ambiguous'; readonly among: readonly DocumentOperation[]; readonly why: string }
  /** A near miss. */
  | { readonly state: 'unbindable'; readonly operation: DocumentOperation; readonly why: string }
  | { readonly state: 'missing'; readonly why: string };

export type Matches = ReadonlyMap<OperationId, Match>;

/** What the user says about a description. */
export interface Choices {
  readonly operations: ReadonlyMap<OperationId, DocumentOperation>;
  readonly fields: ReadonlyMap<NounName, ReadonlyMap<string, string>>;
}

interface Candidate {
  readonly operation: DocumentOperation;
  readonly by: 'schema' | 'path';
  readonly why: string;
  /** Why it is not taken, a clause. */
  readonly obstacle: string | undefined;
}

/** An operation of the table with the names that the user gives to its fields. */
export function wantedOf(id: OperationId, { fields }: Pick<Choices, 'fields'>): Wanted {
  const operation = operations[id];
  return { ...operation, fieldMap: fields.get(operation.noun) ?? new Map() };
}

/** Finds each operation of the table among those of a document. No rule overrides a choice of the user. */
export function matchOperations(all: readonly DocumentOperation[], choices: Choices): Matches {
  const matches = new Map<OperationId, Match>();
  for (const [id, operation] of choices.operations)
    matches.set(id, { state: 'bound', operation, why: 'set by --map' });
  // Of each noun the list and the create come first: where they lie decides which operations on one record are of the same
  // collection.
  for (const id of operationIds) {
    if (matches.has(id)) continue;
    const wanted = wantedOf(id, choices);
    const collections = collectionsOf(wanted, matches);
    const candidates = all.flatMap((operation) => toCandidate(wanted, operation, collections) ?? []);
    matches.set(id, choose(wanted, candidates, collections));
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

function collectionsOf({ noun }: Wanted, matches: Matches): Collections {
  const ofNoun = [...matches].filter(([id]) => operations[id].noun === noun);
  const placesOf = (ofRecord: boolean) =>
    ofNoun.flatMap(([id, match]) =>
      match.state === 'bound' && takesId(id) === ofRecord ? placeOf(match.operation.path) : [],
    );
  const isTied = ofNoun.some(([id, { state }]) => state === 'ambiguous' && !takesId(id));
  return { whole: new Set(placesOf(false)), single: new Set(placesOf(true)), isTied };
}

function takesId(id: OperationId): boolean {
  const { many, method } = operations[id];
  return !many && method !== 'POST';
}

function toCandidate(
  wanted: Wanted,
  operation: DocumentOperation,
  collections: Collections,
): Candidate | undefined {
  const { method } = operation;
  if (method !== wanted.method && !(wanted.method === 'PUT' && method === 'PATCH')) return undefined;
  const place = takesId(wanted.id)
    ? recordPlace(wanted, operation, collections)
    : wholePlace(wanted, operation, collections);
  const evidence = place && (schemaEvidence(wanted, operation) ?? pathEvidence(wanted, operation, place));
  if (!evidence) return undefined;
  const { obstacle = evidence.doubt } = place;
  const unfit = obstacleTo(wanted, operation);
  // Two reasons at once: it is something else.
  if (unfit !== undefined && obstacle !== undefined) return undefined;
  return { ...evidence, operation, obstacle: unfit ?? obstacle ?? changeOfCount(wanted, operation) };
}

/** What the path of an operation says. */
interface Place {
  /** The segment that says what it is about. */
  readonly segment: string;
  /** Whether it lies at the path of a bound operation of the noun, or is a search of it. */
  readonly isOfNoun: boolean;
  /** Why an operation there is not taken, a clause. */
  readonly obstacle?: string | undefined;
}

/** The path of a list or a create, which ends with the collection. */
function wholePlace(
  { id, noun, many }: Wanted,
  { path, method }: DocumentOperation,
  { whole }: Collections,
): Place | undefined {
  const segments = segmentsOf(path);
  const last = segments.at(-1) ?? '';
  if (isParameter(last) || isOfOther(last, noun)) return undefined;
  // `findByTag` is a search; `findByStatus` is a list with a filter of ours.
  const [, sought] = /(?:^|[a-z_-])by[_-]?(\w+)$/i.exec(last) ?? [];
  if (many && sought !== undefined && !isFilterName(sought, id)) return undefined;
  const isOfNoun = sought !== undefined || whole.has(placeOf(path));
  return { segment: last, isOfNoun, obstacle: furtherParameter(id, method, path, segments) };
}

/** The path of an operation on one record, which ends with its id. */
function recordPlace(
  wanted: Wanted,
  operation: DocumentOperation,
  collections: Collections,
): Place | undefined {
  const { id, noun } = wanted;
  const { path, method } = operation;
  const map = `add --map ${id}='${show(operation)}'`;
  const segments = segmentsOf(path);
  const parameter = segments.pop() ?? '';
  if (!isParameter(parameter)) return placeWithoutId(wanted, operation, collections);
  const segment = segments.at(-1) ?? '';
  const name = parameter.slice(1, -1);
  // An entry with an id of its own is not found by the id of its pet.
  const isEntryId = noun === 'inventory' && wordsOf(name).join(' ') === 'id' && hasOwnId(operation);
  if (isOfOther(segment, noun) || isEntryId) return undefined;
  const isListed = collections.whole.has(placeOf(`/${segments.join('/')}`));
  const isOfNoun = isListed || collections.single.has(placeOf(path));
  const place = { segment, isOfNoun };
  const further = furtherParameter(id, method, path, segments);
  if (further !== undefined) return { ...place, obstacle: further };
  const { schema } = operation.parameters.find((each) => each.in === 'path' && each.name === name) ?? {};
  const isInteger = shapeOf(schema).kind === 'integer';
  const isNamed = isIdName(name, noun) && (isOfNoun || nounOf(segment) === noun || wordsOf(name).length > 1);
  if (!isNamed && !(isListed && isInteger && isNameWithin(name, segment))) {
    const record = noun === 'inventory' ? 'pet' : wordsOf(noun).join('');
    const obstacle = `its ${name} may be the id of something else: if it is that of the ${record}, ${map}`;
    return isInteger ? { ...place, obstacle } : undefined;
  }
  if (isBesideCollection(wanted, operation, collections)) return place;
  const obstacle = collections.isTied
    ? 'where its list lies is open'
    : `its path is not that of the bound list or create: if this is intended, ${map}`;
  return { ...place, obstacle };
}

/** The path of an update that has the id in its body; or as a near miss, of the entry of a pet: `/pets/{petId}/inventory`. */
function placeWithoutId(
  wanted: Wanted,
  operation: DocumentOperation,
  { whole }: Collections,
): Place | undefined {
  const { path, body } = operation;
  const segments = segmentsOf(path);
  const segment = segments.at(-1) ?? '';
  const hasId = wanted.body && typeof body === 'object' && isRecord(wanted, body.shape);
  const parameters = segments.filter(isParameter);
  if (hasId && whole.has(placeOf(path)) && parameters.length === 0) return { segment, isOfNoun: true };
  const isOfPet = nounOf(segments.at(-3)) === 'pets' && isParameter(segments.at(-2) ?? '');
  if (wanted.noun !== 'inventory' || !isOfPet || parameters.length > 1) return undefined;
  const map = `add --map ${wanted.id}='${show(operation)}'`;
  const obstacle = `its path does not end with the id of a record: if this is intended, ${map}`;
  return { segment, isOfNoun: false, obstacle };
}

/**
 * Whether the path of an operation on one record lies beside the bound list or create of its noun: `/v1/pet/{id}` beside
 * `/v1/pets`. `/archive/pets/{id}` beside `/pets` is of another collection. If nothing is bound, it must be one segment
 * alone and the id: the noun, or one whose schemas tell what it is.
 */
function isBesideCollection(
  wanted: Wanted,
  operation: DocumentOperation,
  { whole, isTied }: Collections,
): boolean {
  const place = placeOf(operation.path).replace(/\/\{\}$/, '');
  if (whole.size === 0) return !isTied && segmentsOf(place).length === 1;
  const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
  const isNoun = nounOf(segmentsOf(place).at(-1)) === wanted.noun;
  return [...whole].some(
    (path) => path === place || parentOf(path) === place || (isNoun && parentOf(path) === parentOf(place)),
  );
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

/** Why an operation below other records is not taken, a clause; it can have a value for them unless they are of ours. */
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

/** Why an operation does not set a count, a clause. */
function changeOfCount({ id }: Wanted, { operationId = '', source }: DocumentOperation): string | undefined {
  if (id !== 'updateInventory') return undefined;
  const summary = typeof source.summary === 'string' ? source.summary : '';
  const word = [...wordsOf(operationId), ...wordsOf(summary)].find((each) =>
    /^(add|adjust|increment|decrement|increase|decrease)(ed|ing|ment)?$/.test(each),
  );
  return word && `it says ${word}, and so may not set the count`;
}

function hasOwnId({ answer, body }: DocumentOperation): boolean {
  return [answer, body].some((each) => typeof each === 'object' && each.shape.fields.has('id'));
}

interface Evidence extends Pick<Candidate, 'by' | 'why'> {
  /** Why it does not suffice, a clause. */
  readonly doubt?: string;
}

/** Evidence in the name of a schema. */
function schemaEvidence(wanted: Wanted, { body, answer }: DocumentOperation): Evidence | undefined {
  const ours = schemaNames(wanted);
  const nameIn = (shape: Shape | undefined) => shape?.names.find((name) => ours.includes(name));
  if (wanted.body) {
    const name = typeof body === 'object' ? nameIn(body.shape) : undefined;
    const answersList =
      wanted.method === 'POST' && typeof answer === 'object' && answer.shape.kind === 'array';
    return name === undefined || answersList ? undefined : { by: 'schema', why: `takes ${name}` };
  }
  if (typeof answer === 'string' || wanted.method !== 'GET') return undefined;
  const name = nameIn(recordsIn(wanted, answer.shape)?.shape);
  const why = `answers ${wanted.many ? 'an array of ' : ''}${name}`;
  return name === undefined ? undefined : { by: 'schema', why };
}

/** Evidence in the path, unless the schemas say that it is about something else. */
function pathEvidence(
  { id, noun, method }: Wanted,
  operation: DocumentOperation,
  { segment, isOfNoun }: Place,
): Evidence | undefined {
  if (!isOfNoun && nounLike(segment) !== noun) return undefined;
  const { answer, body } = operation;
  const isAction = method === 'POST' && typeof answer === 'object' && answer.shape.kind === 'array';
  const names = [answer, body].flatMap((each) => (typeof each === 'object' ? each.shape.names : []));
  if (isAction || names.some((name) => isNameOfOther(name, noun))) return undefined;
  const evidence = { by: 'path', why: `its path is about ${noun}` } as const;
  if (isOfNoun || nounOf(segment) === noun) return evidence;
  const doubt = `${segment} may be something else: if it is ${noun}, add --map ${id}='${show(operation)}'`;
  return { ...evidence, doubt };
}

/** Whether the service document gives a name to the schema of another noun. */
function isNameOfOther(name: string, noun: NounName): boolean {
  return Object.values(operations).some((other) => other.noun !== noun && schemaNames(other).includes(name));
}

function choose(wanted: Wanted, candidates: readonly Candidate[], collections: Collections): Match {
  const callable = candidates.filter(({ obstacle }) => obstacle === undefined);
  const bySchema = callable.filter(({ by }) => by === 'schema');
  const preferences: ((candidate: Candidate) => boolean)[] = [
    ({ operation }) => isNounAlone(wanted, operation),
    ({ operation }) => isAtCollection(wanted, operation, collections),
    ({ operation }) => operation.method === wanted.method,
    ({ operation }) => hasOurName(wanted, operation),
  ];
  let tied = bySchema.length > 0 ? bySchema : callable;
  for (const isPreferred of preferences) {
    const preferred = tied.filter(isPreferred);
    if (preferred.length > 0) tied = preferred;
  }
  const [only, ...others] = tied;
  if (!only) return nearMiss(candidates);
  if (others.length === 0) return { state: 'bound', operation: only.operation, why: only.why };
  const among = tied.map(({ operation }) => operation);
  const first = among.slice(0, maxShown).map(show).join(', ');
  const more = among.length > maxShown ? ` and ${among.length - maxShown} more` : '';
  return { state: 'ambiguous', among, why: `${among.length} operations fit: ${first}${more}` };
}

const maxShown = 8;

/** Whether a path is the noun alone, or the noun and an id. */
function isNounAlone({ noun }: Wanted, { path }: DocumentOperation): boolean {
  const [first, ...rest] = segmentsOf(path);
  return nounOf(first) === noun && rest.every(isParameter);
}

function isAtCollection(
  { id }: Wanted,
  { path }: DocumentOperation,
  { whole, single }: Collections,
): boolean {
  const place = placeOf(path);
  return whole.has(place) || (takesId(id) && (single.has(place) || whole.has(place.replace(/\/\{\}$/, ''))));
}

/** Whether its operationId is that of the table; case, word order and plurals do not matter. */
function hasOurName({ id }: Wanted, { operationId }: DocumentOperation): boolean {
  const words = (name: string) => wordsOf(name).sort().join(' ');
  return operationId !== undefined && words(operationId) === words(id);
}

/** Explains why nothing was bound, by the nearest operation. */
function nearMiss(candidates: readonly Candidate[]): Match {
  const nearest = candidates.find(({ by }) => by === 'schema') ?? candidates[0];
  if (nearest?.obstacle === undefined) return { state: 'missing', why: 'its description has none' };
  return { state: 'unbindable', operation: nearest.operation, why: nearest.obstacle };
}

export function show({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
