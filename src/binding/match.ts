import {
  idName,
  type Method,
  type Noun,
  type Operation,
  type OperationId,
  operationIds,
  operations,
} from '../api/operations.ts';
import { type BodyName, fieldTypes, type ResultName } from '../api/schemas.ts';
import { withArticle } from '../text.ts';
import { type DocumentOperation, placeOf } from './document.ts';
import { hasCategory, idFieldOf, isRecord, nounOf, nouns, subjectOf, wordsOf } from './nouns.ts';
import { identify, needsFilter, queryName, unmetParameter } from './parameters.ts';
import { objectOf, type Shape, shapeOf } from './schema.ts';

// How an operation of the table is found in a document, from top to bottom:
//
// 1. Each operation of the document with a fitting method becomes a candidate. Its evidence says why it is the one of
//    the table: the name or the fields of its schema, or its path. Its obstacle says why it cannot be called as that.
// 2. Of the candidates with evidence and without an obstacle, the one of the highest rank is bound. If several have
//    that rank, the operationId decides; if it does not, the match is ambiguous.
// 3. If there are none, an operation without schemas is bound by its operationId, or by the method and path that the
//    service document states.
// 4. Otherwise the nearest candidate is reported as unbindable, with the reason.

/**
 * How sure a match is: `high` by the name of a schema or the user's choice, `medium` by fields, a path, or a tie that the
 * operationId decided, `low` by the stated method and path alone.
 */
export type Confidence = 'high' | 'medium' | 'low';

/** The result for one operation of the table. */
export type Match =
  | {
      readonly state: 'bound';
      readonly operation: DocumentOperation;
      readonly confidence: Confidence;
      readonly why: string;
    }
  | { readonly state: 'ambiguous'; readonly among: readonly DocumentOperation[]; readonly why: string }
  /** The operation that came nearest, and why it cannot be bound. */
  | { readonly state: 'unbindable'; readonly operation: DocumentOperation; readonly why: string }
  | { readonly state: 'missing'; readonly why: string };

export type Matches = ReadonlyMap<OperationId, Match>;

/** An operation of the document that may be one of the table. */
interface Pair {
  readonly operation: DocumentOperation;
  /** The one of the table. */
  readonly own: Operation;
  /** An operation of the same noun that is bound at the same path, if there is one. */
  readonly neighbour?: OperationId | undefined;
}

/** The evidence in a pair. */
interface Evidence {
  readonly by: keyof typeof strengths;
  /** The evidence in words, or why there is none. */
  readonly why: string;
  /** How many of our columns and flags the operation serves. */
  readonly offers?: number;
  /** Why it cannot be called as the one of the table, a clause. */
  readonly obstacle?: string | undefined;
}

interface Candidate extends Evidence {
  readonly operation: DocumentOperation;
  /** A greater one beats a smaller one. */
  readonly rank: number;
}

/** The kinds of evidence that an operation is one of the table, and how sure a match is by each. */
const strengths = {
  /** Its schema has the name that the service document gives to it. */
  name: { rank: 40, confidence: 'high' },
  /** The name of its schema contains the noun: `PetDto`. */
  likeness: { rank: 30, confidence: 'high' },
  /** Its schema has fields that no other noun has. */
  fields: { rank: 20, confidence: 'medium' },
  /** Its path or its operationId is about the noun, or it is at the path of a neighbour. */
  path: { rank: 10, confidence: 'medium' },
  /** The document does not define its body or its answer. */
  open: { rank: 0, confidence: 'low' },
  /** It is something else. */
  nothing: { rank: 0, confidence: 'low' },
} as const;

/**
 * The methods that may stand for one of the table. The order counts: an update may be known by the path of its get, a
 * delete by either.
 */
const methods: readonly (readonly [own: Method, allowed: readonly Method[]])[] = [
  ['GET', ['GET']],
  ['POST', ['POST']],
  ['PUT', ['PUT', 'PATCH', 'POST']],
  ['DELETE', ['DELETE']],
];

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
  for (const [usual, allowed] of methods)
    for (const own of Object.values(operations).filter(({ method }) => method === usual)) {
      const { id } = own;
      const chosen = settled.get(id);
      const neighbours = neighboursOf(own, matches);
      const candidates = all
        .filter(({ method }) => allowed.includes(method))
        .map((operation) =>
          toCandidate({ operation, own, neighbour: neighbours.get(placeOf(operation.path)) }),
        );
      matches.set(id, chosen ? bound(chosen, 'high', 'you said so') : choose(candidates, id));
    }
  return new Map(operationIds.map((id) => [id, matches.get(id) as Match]));
}

/** The bound operations of a noun by their paths: its list, get and update. */
function neighboursOf(own: Operation, matches: Matches): Map<string, OperationId> {
  const places = new Map<string, OperationId>();
  for (const [other, match] of matches) {
    const { noun, method, many } = operations[other];
    if (match.state !== 'bound' || noun !== own.noun || method === 'POST') continue;
    if (many && own.method === 'DELETE') continue;
    const place = placeOf(match.operation.path);
    if (!places.has(place)) places.set(place, other);
  }
  return places;
}

function toCandidate(pair: Pair): Candidate {
  const evidence = evidenceOf(pair);
  const { by, offers = 0 } = evidence;
  return {
    ...evidence,
    operation: pair.operation,
    rank: strengths[by].rank + 15 * filterRank(pair) + offers / 10,
    obstacle: callObstacle(pair) ?? evidence.obstacle,
  };
}

/** Prefers a list with our `status` filter. One that requires a filter comes last, because it cannot list everything. */
function filterRank({ operation, own }: Pair): number {
  if (!own.many) return 0;
  if (needsFilter(operation, own.id)) return -1;
  return operation.parameters.some((parameter) => queryName(parameter, own.id) === 'status') ? 1 : 0;
}

function choose(candidates: readonly Candidate[], id: OperationId): Match {
  const fitting = candidates.filter(({ by, obstacle }) => isEvidence(by) && obstacle === undefined);
  const best = Math.max(...fitting.map(({ rank }) => rank));
  const tied = fitting.filter(({ rank }) => rank === best);
  const [first] = tied;
  if (!first) return chooseOpen(candidates, id) ?? refuse(candidates, id);
  if (tied.length === 1) return bound(first.operation, strengths[first.by].confidence, first.why);
  const [named, ...others] = tied.filter(({ operation }) => hasOurName(operation, id));
  if (!named || others.length > 0) return ambiguous(tied);
  return bound(named.operation, 'medium', `${named.why}; of ${tied.length} such its operationId decides`);
}

/** Chooses among the operations whose body or answer the document does not define. */
function chooseOpen(candidates: readonly Candidate[], id: OperationId): Match | undefined {
  const open = candidates.filter(({ by, obstacle }) => by === 'open' && obstacle === undefined);
  const named = open.filter(({ operation }) => hasOurName(operation, id));
  const [first] = named;
  if (named.length > 1) return ambiguous(named);
  if (first) return bound(first.operation, 'medium', `its operationId is ${first.operation.operationId}`);
  const { source, method, path } = operations[id];
  const stated = open.find(
    ({ operation }) =>
      source === 'stated' && operation.method === method && placeOf(operation.path) === placeOf(path),
  );
  return stated && bound(stated.operation, 'low', 'the service document states its method and path');
}

/** Explains why nothing was bound, by the candidate that came nearest. */
function refuse(candidates: readonly Candidate[], id: OperationId): Match {
  const named = candidates.filter(({ operation }) => hasOurName(operation, id));
  const nearest =
    named.find(({ by }) => by !== 'nothing') ??
    candidates
      .filter(({ by, obstacle }) => isEvidence(by) && obstacle !== undefined)
      .sort((one, other) => other.rank - one.rank)[0] ??
    named[0];
  if (!nearest) return { state: 'missing', why: 'not in the description' };
  const { operation, by, why, obstacle = why } = nearest;
  return { state: 'unbindable', operation, why: by === 'nothing' ? why : obstacle };
}

function bound(operation: DocumentOperation, confidence: Confidence, why: string): Match {
  return { state: 'bound', operation, confidence, why };
}

const mostShown = 8;

function ambiguous(tied: readonly Candidate[]): Match {
  const among = tied.map(({ operation }) => operation);
  const shown = among.slice(0, mostShown).map(show).join(', ');
  const more = among.length > mostShown ? ` and ${among.length - mostShown} more` : '';
  return { state: 'ambiguous', among, why: `${among.length} operations fit: ${shown}${more}` };
}

function isEvidence(by: Evidence['by']): boolean {
  return strengths[by].rank > 0;
}

/** Whether its operationId is that of the table; case, word order and plurals do not matter. */
function hasOurName({ operationId }: DocumentOperation, id: OperationId): boolean {
  const words = (name: string) => wordsOf(name).sort().join(' ');
  return operationId !== undefined && words(operationId) === words(id);
}

/** Why an operation cannot be called as one of the table, whatever its evidence; a clause. */
export function obstacleTo(operation: DocumentOperation, id: OperationId): string | undefined {
  return toCandidate({ operation, own: operations[id] }).obstacle;
}

/** Why it cannot be called, by the ids and parameters that it requires. */
function callObstacle(pair: Pair): string | undefined {
  const { operation, own } = pair;
  const { id } = own;
  const ids = identify(operation, id);
  const wanted = idName(id) === undefined ? 0 : 1;
  if (ids.length !== wanted && !(ids.length === 0 && carriesId(pair)))
    return `${id} takes ${wanted === 0 ? 'no id' : 'one id'}, and its path has ${['none', 'one'][ids.length] ?? ids.length}`;
  const uuid = ids.find(({ schema }) => objectOf(schema).format === 'uuid');
  if (uuid) return `its ${uuid.name} is a UUID, not an integer`;
  const unmet = unmetParameter(operation, id);
  return unmet && `it needs the ${unmet.in} parameter ${unmet.name}, which petstore has no value for`;
}

/** Whether the body of an update can carry the id that its path lacks. */
function carriesId({ operation: { body, method }, own }: Pair): boolean {
  if (own.method !== 'PUT' || method === 'POST' || typeof body === 'string') return false;
  return body.shape.fields.has(idFieldOf(own.id));
}

const open: Evidence = { by: 'open', why: '' };
const nothing = (why: string): Evidence => ({ by: 'nothing', why });

/** The evidence in the schema of the body, or of the answer; a delete has neither, and is known by its path. */
function evidenceOf(pair: Pair): Evidence {
  const { body, result } = pair.own;
  if (body) return bodyEvidence(pair, body.name);
  if (result) return answerEvidence(pair, result);
  return pair.neighbour ? { by: 'name', why: `at the path of ${pair.neighbour}` } : open;
}

function bodyEvidence(pair: Pair, expected: BodyName): Evidence {
  const { body, method, path } = pair.operation;
  if (body === 'none') return open;
  if (body === 'other') return nothing('it takes no JSON');
  // A POST below a record is an action on it. Only a new count can be recognised by its body alone.
  const isAction = method === 'POST' && pair.own.method === 'PUT' && !/\}\/?$/.test(path);
  if (isAction && expected !== 'InventoryUpdate') return nothing('it is an action on a record');
  const { answer } = pair.operation;
  if (pair.own.method === 'POST' && typeof answer === 'object' && answer.shape.kind === 'array')
    return nothing('it answers a list');
  const evidence = recordEvidence(pair, body.shape, 'takes', expected);
  return { ...evidence, obstacle: evidence.obstacle ?? unreadableAnswer(pair) };
}

/** Why the record that answers a write cannot be read, a clause. */
function unreadableAnswer({ operation: { answer }, own: { noun, result } }: Pair): string | undefined {
  if (typeof answer === 'string' || result === undefined) return undefined;
  if (answer.shape.kind !== 'object' || !isRecord(noun, answer.shape)) return undefined;
  return wrongType(answer.shape, answer.shape.names[0] ?? result, fieldTypes(result));
}

function answerEvidence(pair: Pair, expected: ResultName): Evidence {
  const { answer, names } = pair.operation;
  if (answer === 'unknown') return open;
  if (typeof answer === 'string') return nothing('it answers no JSON');
  const { shape } = answer;
  if (!pair.own.many) {
    const isList = shape.kind === 'array' && identify(pair.operation, pair.own.id).length === 0;
    return isList ? nothing('it answers a list') : recordEvidence(pair, shape, 'answers', expected);
  }
  if (shape.kind === 'unknown') return open;
  if (shape.kind === 'object') return wrappedEvidence(pair, shape, expected);
  if (shape.kind !== 'array') return nothing('it does not answer a list');
  const found = recordEvidence(pair, shapeOf(shape.items, names), 'answers an array of', expected);
  const listName = shape.names.find((name) => nounOf(name) === pair.own.noun && name !== expected);
  if (listName === undefined) return found;
  return { ...found, why: found.why.replace(/^answers an array of \w+/, `answers ${listName}`) };
}

/** A list that is a field of an object: reported as unbindable, because the client cannot read it. */
function wrappedEvidence(pair: Pair, shape: Shape, expected: ResultName): Evidence {
  const { names } = pair.operation;
  for (const [field, schema] of shape.fields) {
    const inner = shapeOf(schema, names);
    if (inner.kind !== 'array') continue;
    const found = recordEvidence(pair, shapeOf(inner.items, names), 'answers', expected);
    if (!isEvidence(found.by) || found.by === 'path') continue;
    const obstacle = `it answers an object that holds the list in its field ${field}, not an array`;
    return { ...found, obstacle };
  }
  return nothing('it does not answer a list');
}

/** The evidence in the schema of a record that an operation takes or answers. */
function recordEvidence(
  pair: Pair,
  shape: Shape,
  verb: 'takes' | 'answers' | 'answers an array of',
  expected: BodyName | ResultName,
): Evidence {
  const { noun } = pair.own;
  const { names } = shape;
  const name = names.find((each) => each === expected) ?? names.find((each) => nounOf(each) === noun);
  const known = fieldTypes(expected);
  const has = (field: string) => shape.fields.has(field);
  const find = (): Evidence['by'] => {
    if (name === expected) return 'name';
    if (name !== undefined) return 'likeness';
    if (names.some((each) => nounOf(each) !== undefined)) return 'nothing';
    if (shape.kind === 'unknown') return 'open';
    if (nouns[noun].isMarked(has)) return 'fields';
    const isPart = verb === 'takes' && [...shape.fields.keys()].every((field) => known.has(field));
    return (pair.neighbour && isPart) || mentions(pair.operation, noun) ? 'path' : 'nothing';
  };
  const by = find();
  if (by === 'nothing') return nothing(`it ${verb} something other than ${expected}`);
  const offered = [...known.keys()].filter(
    (field) => has(field) || (field === 'categoryId' && hasCategory(shape)),
  );
  const offers = offered.length;
  const isPartly = name === undefined && verb === 'takes' && by === 'path';
  const label = isPartly ? `some fields of ${expected}` : (name ?? expected);
  const why = `${verb} ${label}${by === 'fields' ? ' by its fields' : ''}`;
  // Some generators describe every update as an object without fields.
  const isOpen = verb === 'takes' && shape.kind === 'object' && shape.fields.size === 0 && !shape.isClosed;
  if (shape.kind === 'unknown' || isOpen) return { by, why, offers };
  const obstacle =
    wrongType(shape, isPartly ? 'body' : label, known) ?? lackOf(pair.own, shape, offered, verb === 'takes');
  // Without a name or typical fields, a schema that lacks our fields is a different one.
  if (obstacle !== undefined && by === 'path') return nothing(obstacle);
  const absent = verb === 'takes' ? [] : [...known.keys()].filter((field) => !offered.includes(field));
  return { by, why: why + (absent.length > 0 ? ` (no ${absent.join(', ')})` : ''), offers, obstacle };
}

/** The fault of a schema, or of the type of a field that the service document defines. */
function wrongType(shape: Shape, label: string, known: ReadonlyMap<string, string>): string | undefined {
  if (shape.kind !== 'object') return `its ${label} is ${withArticle(shape.kind)}`;
  for (const [field, type] of known) {
    const { kind } = shapeOf(shape.fields.get(field));
    const fits = kind === 'unknown' || kind === type || (type === 'integer' && kind === 'number');
    if (!fits) return `its ${label} has the field ${field} as ${withArticle(kind)}, not ${withArticle(type)}`;
  }
  return undefined;
}

/** What a schema lacks to be a record of the noun: a field of its key, or all fields that the program knows. */
function lackOf(
  { id, method, noun }: Operation,
  shape: Shape,
  offered: readonly string[],
  isBody: boolean,
): string | undefined {
  const isCreate = method === 'POST';
  const { key } = nouns[noun];
  const needed = !isBody ? key : isCreate ? key.filter((field) => field !== 'id') : [];
  const lacking = needed.filter((field) => !shape.fields.has(field));
  const label = shape.names[0] ?? 'schema';
  if (lacking.length > 0) return `its ${label} has no field ${lacking.join(', ')}`;
  const isUseful = offered.some((field) => field !== idFieldOf(id) || isCreate);
  return isUseful ? undefined : `its ${label} has none of the fields that petstore knows`;
}

/** Whether an operation is about the noun by the end of its path, or by its operationId. */
function mentions({ path, operationId }: DocumentOperation, noun: Noun): boolean {
  const { words } = nouns[noun];
  const segments = path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{'));
  const last = wordsOf(segments.at(-1) ?? '').join(' ');
  return words.test(last) || (operationId !== undefined && subjectOf(operationId) === noun);
}

export function show({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
