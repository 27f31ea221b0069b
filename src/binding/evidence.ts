import { idName, type Noun, type Operation, type OperationId } from '../api/operations.ts';
import { type BodyName, fieldTypes, type ResultName } from '../api/schemas.ts';
import { withArticle } from '../process/text.ts';
import type { DocumentOperation } from './document.ts';
import { hasCategory, idFieldOf, isRecord, nounOf, nouns, subjectOf, wordsOf } from './nouns.ts';
import { identify, unmetParameter } from './parameters.ts';
import { objectOf, type Shape, shapeOf } from './schema.ts';

/** An operation of the document that may be one of the table. */
export interface Pair {
  readonly operation: DocumentOperation;
  /** The one of the table. */
  readonly own: Operation;
  /** An operation of the same noun that is bound at the same path, if there is one. */
  readonly neighbour?: OperationId | undefined;
}

/** The evidence in a pair. */
export interface Evidence {
  readonly by: keyof typeof strengths;
  /** The evidence in words, or why there is none. */
  readonly why: string;
  /** How many of our columns and flags the operation serves. */
  readonly offers?: number;
  /** Why it cannot be called as the one of the table, a clause. */
  readonly obstacle?: string | undefined;
}

/** The kinds of evidence that an operation is one of the table, and how sure a match is by each. */
export const strengths = {
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

export function isEvidence(by: Evidence['by']): boolean {
  return strengths[by].rank > 0;
}

const open: Evidence = { by: 'open', why: '' };
const nothing = (why: string): Evidence => ({ by: 'nothing', why });

/** The evidence in the schema of the body, or of the answer; a delete has neither, and is known by its path. */
export function evidenceOf(pair: Pair): Evidence {
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

type Verb = 'takes' | 'answers' | 'answers an array of';

/** The evidence in the schema of a record that an operation takes or answers. */
function recordEvidence(pair: Pair, shape: Shape, verb: Verb, expected: BodyName | ResultName): Evidence {
  const by = kindOfEvidence(pair, shape, verb, expected);
  if (by === 'nothing') return nothing(`it ${verb} something other than ${expected}`);
  const isBody = verb === 'takes';
  const name =
    shape.names.find((each) => each === expected) ??
    shape.names.find((each) => nounOf(each) === pair.own.noun);
  const known = fieldTypes(expected);
  const offered = [...known.keys()].filter(
    (field) => shape.fields.has(field) || (field === 'categoryId' && hasCategory(shape)),
  );
  const offers = offered.length;
  const isPartly = name === undefined && isBody && by === 'path';
  const label = isPartly ? `some fields of ${expected}` : (name ?? expected);
  const why = `${verb} ${label}${by === 'fields' ? ' by its fields' : ''}`;
  // Some generators describe every update as an object without fields.
  const isOpen = isBody && shape.kind === 'object' && shape.fields.size === 0 && !shape.isClosed;
  if (shape.kind === 'unknown' || isOpen) return { by, why, offers };
  const obstacle =
    wrongType(shape, isPartly ? 'body' : label, known) ?? lackOf(pair.own, shape, offered, isBody);
  // Without a name or typical fields, a schema that lacks our fields is a different one.
  if (obstacle !== undefined && by === 'path') return nothing(obstacle);
  const absent = isBody ? [] : [...known.keys()].filter((field) => !offered.includes(field));
  return { by, why: why + (absent.length > 0 ? ` (no ${absent.join(', ')})` : ''), offers, obstacle };
}

/** How the schema of a record shows that it is one of the noun. */
function kindOfEvidence(
  { operation, own: { noun }, neighbour }: Pair,
  { kind, names, fields }: Shape,
  verb: Verb,
  expected: BodyName | ResultName,
): Evidence['by'] {
  if (names.includes(expected)) return 'name';
  if (names.some((each) => nounOf(each) === noun)) return 'likeness';
  if (names.some((each) => nounOf(each) !== undefined)) return 'nothing';
  if (kind === 'unknown') return 'open';
  if (nouns[noun].isMarked((field) => fields.has(field))) return 'fields';
  const known = fieldTypes(expected);
  const isPart = verb === 'takes' && [...fields.keys()].every((field) => known.has(field));
  return (neighbour && isPart) || mentions(operation, noun) ? 'path' : 'nothing';
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

/** Why it cannot be called, by the ids and parameters that it requires. */
export function callObstacle(pair: Pair): string | undefined {
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
