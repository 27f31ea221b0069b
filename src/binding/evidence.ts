import { idName, type Method, type Noun, type OperationId, operations } from '../api/operations.ts';
import { fieldTypes } from '../api/schemas.ts';
import type { DocumentOperation } from './document.ts';
import { identify, needsFilter, queryName, unmetParameter } from './parameters.ts';
import { type Shape, shapeOf } from './schema.ts';

export type Role = 'list' | 'get' | 'create' | 'update' | 'delete';

/** How well an operation of a document matches one of the table. */
export interface Evidence {
  /** Why it cannot be that operation, a clause; absent if it can. */
  readonly obstacle?: string | undefined;
  /** The evidence that it is that operation; `open` if the document does not define its body or its answer. */
  readonly by: 'name' | 'likeness' | 'fields' | 'path' | 'open' | 'nothing';
  /** How many of our columns and flags it serves. */
  readonly offers: number;
  readonly why: string;
}

const roleMethods: Readonly<Record<Role, readonly Method[]>> = {
  list: ['GET'],
  get: ['GET'],
  create: ['POST'],
  update: ['PUT', 'PATCH', 'POST'],
  delete: ['DELETE'],
};

export function roleOf(id: OperationId): Role {
  const row = operations[id];
  if (row.many) return 'list';
  return ({ GET: 'get', POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' } as const)[
    row.method
  ];
}

export function canBe({ method }: DocumentOperation, id: OperationId): boolean {
  return roleMethods[roleOf(id)].includes(method);
}

/** How the records of a noun are known: what each of them must have, and what no other noun has. */
const nouns: Readonly<
  Record<
    Noun,
    {
      readonly key: readonly string[];
      readonly words: RegExp;
      isMarked(has: (field: string) => boolean): boolean;
    }
  >
> = {
  pets: {
    key: ['id', 'name'],
    words: /^pet$/,
    isMarked: (has) => has('name') && has('categoryId'),
  },
  categories: {
    key: ['id', 'name'],
    words: /^category$/,
    isMarked: () => false,
  },
  orders: {
    key: [],
    words: /^order$/,
    isMarked: (has) => has('petId') && has('quantity') && (has('shipDate') || has('complete')),
  },
  inventory: {
    key: ['petId', 'quantity'],
    words: /^(inventory( item| entry)?|stock)( update)?$/,
    isMarked: (has) =>
      has('petId') && has('quantity') && has('status') && !has('shipDate') && !has('complete'),
  },
};

/** Whether a schema has the category as an object in place of its id. */
export function hasCategoryObject(shape: Shape): boolean {
  const category = shapeOf(shape.fields.get('category'));
  return !shape.fields.has('categoryId') && (category.fields.has('id') || category.fields.has('name'));
}

/**
 * Compares an operation of a document with one of the table.
 *
 * @param neighbour an operation of the same noun that is bound at the same path, if there is one.
 */
export function evidenceFor(
  operation: DocumentOperation,
  id: OperationId,
  neighbour: OperationId | undefined,
): Evidence {
  const { body: bodyName } = operations[id];
  const found =
    roleOf(id) === 'delete'
      ? byPlace(neighbour)
      : bodyName === undefined
        ? answerEvidence(operation, id)
        : bodyEvidence(operation, id, neighbour);
  const obstacle = callObstacle(operation, id) ?? found.obstacle;
  return { ...found, obstacle };
}

/** Why an operation cannot be called as one of the table, by the ids and parameters that it wants; a clause. */
function callObstacle(operation: DocumentOperation, id: OperationId): string | undefined {
  const ids = identify(operation, id).length;
  const wanted = idName(id) === undefined ? 0 : 1;
  if (ids !== wanted && !(ids === 0 && carriesId(operation, id)))
    return `${id} takes ${wanted === 0 ? 'no id' : 'one id'}, and its path has ${['none', 'one'][ids] ?? ids}`;
  const unmet = unmetParameter(operation, id);
  return unmet && `it needs the ${unmet.in} parameter ${unmet.name}, which petstore has no value for`;
}

/** Whether the body of an update can carry the id that its path lacks. */
function carriesId({ body, method }: DocumentOperation, id: OperationId): boolean {
  if (roleOf(id) !== 'update' || method === 'POST' || typeof body === 'string') return false;
  return body.shape.fields.has(idFieldOf(id));
}

/** The field that holds the id of a noun's records. */
export function idFieldOf(id: OperationId): 'id' | 'petId' {
  return operations[id].noun === 'inventory' ? 'petId' : 'id';
}

function byPlace(neighbour: OperationId | undefined): Evidence {
  if (neighbour === undefined) return { by: 'open', offers: 0, why: '' };
  return { by: 'name', offers: 0, why: `at the path of ${neighbour}` };
}

function answerEvidence(operation: DocumentOperation, id: OperationId): Evidence {
  const { many } = operations[id];
  const { answer } = operation;
  if (answer === 'unknown') return { by: 'open', offers: 0, why: '' };
  if (typeof answer === 'string') return { by: 'nothing', offers: 0, why: 'it answers no JSON' };
  if (!many) return read(answer.shape, { operation, id, verb: 'answers' });
  const { shape } = answer;
  if (shape.kind === 'unknown') return { by: 'open', offers: 0, why: '' };
  if (shape.kind === 'object') return wrappedEvidence(operation, id, shape);
  if (shape.kind !== 'array') return { by: 'nothing', offers: 0, why: 'it does not answer a list' };
  const found = read(shapeOf(shape.items, operation.names), { operation, id, verb: 'answers an array of' });
  const own = [...shape.names].find(
    (name) => nounOf(name) === operations[id].noun && name !== operations[id].result,
  );
  return own === undefined
    ? found
    : { ...found, why: found.why.replace(/^answers an array of \w+/, `answers ${own}`) };
}

/** A list within an object is not one that the client can read. */
function wrappedEvidence(operation: DocumentOperation, id: OperationId, shape: Shape): Evidence {
  for (const [field, schema] of shape.fields) {
    const inner = shapeOf(schema, operation.names);
    if (inner.kind !== 'array') continue;
    const found = read(shapeOf(inner.items, operation.names), { operation, id, verb: 'answers' });
    if (found.by === 'nothing' || found.by === 'open' || found.by === 'path') continue;
    const obstacle = `it answers an object that holds the list in its field ${field}, not an array`;
    return { ...found, obstacle };
  }
  return { by: 'nothing', offers: 0, why: 'it does not answer a list' };
}

function bodyEvidence(
  operation: DocumentOperation,
  id: OperationId,
  neighbour: OperationId | undefined,
): Evidence {
  const { body, method, path } = operation;
  if (body === 'none') return { by: 'open', offers: 0, why: '' };
  if (body === 'other') return { by: 'nothing', offers: 0, why: 'it takes no JSON' };
  // A POST below a record is an action on it; only a new count says by itself what it does.
  if (
    method === 'POST' &&
    roleOf(id) === 'update' &&
    operations[id].body?.name !== 'InventoryUpdate' &&
    !/\}\/?$/.test(path)
  )
    return { by: 'nothing', offers: 0, why: 'it is an action on a record' };
  return read(body.shape, { operation, id, neighbour, verb: 'takes' });
}

interface Reading {
  readonly operation: DocumentOperation;
  readonly id: OperationId;
  readonly neighbour?: OperationId | undefined;
  readonly verb: string;
}

/** The records of an operation by their schema: the noun that they belong to, and their fields. */
function read(shape: Shape, { operation, id, neighbour, verb }: Reading): Evidence {
  const row = operations[id];
  const expected = verb === 'takes' ? row.body?.name : row.result;
  if (expected === undefined) return { by: 'open', offers: 0, why: '' };
  const noun = nouns[row.noun];
  const names = [...shape.names];
  const name = names.find((each) => each === expected) ?? names.find((each) => nounOf(each) === row.noun);
  const known = fieldTypes(expected);
  const has = (field: string) => shape.fields.has(field);
  const offered = [...known.keys()].filter(
    (field) => has(field) || (field === 'categoryId' && hasCategoryObject(shape)),
  );
  const by = (): Evidence['by'] => {
    if (name === expected) return 'name';
    if (name !== undefined) return 'likeness';
    if (names.some((each) => nounOf(each) !== undefined)) return 'nothing';
    if (shape.kind === 'unknown') return 'open';
    if (noun.isMarked(has)) return 'fields';
    if (neighbour !== undefined && [...shape.fields.keys()].every((field) => known.has(field))) return 'path';
    return isCalled(operation, row.noun) ? 'path' : 'nothing';
  };
  const evidence = by();
  if (evidence === 'nothing')
    return { by: 'nothing', offers: 0, why: `it ${verb} something other than ${expected}` };
  const label = name ?? (verb === 'takes' && evidence === 'path' ? `some fields of ${expected}` : expected);
  const lacks = lackOf(shape, id, offered, verb);
  const obstacle = shape.kind === 'unknown' ? undefined : (wrongShape(shape, label, known) ?? lacks.obstacle);
  const how = evidence === 'fields' ? ' by its fields' : '';
  // A schema that nothing calls ours, and that lacks what ours has, is simply another.
  if (obstacle !== undefined && evidence === 'path') return { by: 'nothing', offers: 0, why: obstacle };
  return { by: evidence, offers: offered.length, why: `${verb} ${label}${how}${lacks.note}`, obstacle };
}

/** The required fields that a noun's records, or the body of an operation, lack. */
function lackOf(
  shape: Shape,
  id: OperationId,
  offered: readonly string[],
  verb: string,
): { readonly obstacle?: string; readonly note: string } {
  const row = operations[id];
  const role = roleOf(id);
  const { key } = nouns[row.noun];
  const needed = verb !== 'takes' ? key : role === 'create' ? key.filter((field) => field !== 'id') : [];
  const label = [...shape.names][0] ?? 'schema';
  const lacking = needed.filter((field) => !shape.fields.has(field));
  if (lacking.length > 0) return { obstacle: `its ${label} has no field ${lacking.join(', ')}`, note: '' };
  const own = offered.filter((field) => field !== idFieldOf(id) || role === 'create');
  if (shape.kind !== 'unknown' && own.length === 0)
    return { obstacle: `its ${label} has none of the fields that petstore knows`, note: '' };
  if (verb === 'takes' || shape.kind === 'unknown') return { note: '' };
  const expected = row.result === undefined ? [] : [...fieldTypes(row.result).keys()];
  const missing = expected.filter((field) => !offered.includes(field));
  return { note: missing.length === 0 ? '' : ` (no ${missing.join(', ')})` };
}

/** The fault of a schema, or of the type of a field that the service document defines. */
function wrongShape(shape: Shape, label: string, known: ReadonlyMap<string, string>): string | undefined {
  if (shape.kind !== 'object') return `its ${label} is ${article(shape.kind)}`;
  for (const [field, type] of known) {
    const { kind } = shapeOf(shape.fields.get(field));
    const fits = kind === 'unknown' || kind === type || (type === 'integer' && kind === 'number');
    if (!fits) return `its ${label} has the field ${field} as ${article(kind)}, not ${article(type)}`;
  }
  return undefined;
}

/** Words around the name of a resource that do not change what it is. */
const affixes =
  /^(new|create|created|add|update|updated|edit|patch|put|replace|save|input|output|request|response|payload|dto|body|in|out|read|write|list|model|entity|data|schema|base|full|resource|api)$/;

/** The noun that a schema's name speaks of: pets of `Pet`, `Pets`, `NewPet`, `PetDto` and `create_pet_request`. */
function nounOf(name: string): Noun | undefined {
  const words = wordsOf(name).filter((word) => !affixes.test(word));
  const rest = words.join(' ');
  return (Object.keys(nouns) as Noun[]).find((noun) => nouns[noun].words.test(rest));
}

/** Whether the path of an operation, or its operationId, speaks of a noun. */
function isCalled({ path, operationId }: DocumentOperation, noun: Noun): boolean {
  const segments = path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{'));
  const last = wordsOf(segments.at(-1) ?? '').join(' ');
  return (
    nouns[noun].words.test(last) || wordsOf(operationId ?? '').some((word) => nouns[noun].words.test(word))
  );
}

/** The words of a name in lower case, each in the singular. */
export function wordsOf(name: string): string[] {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.filter((word) => word !== '').map((word) => word.replace(/ies$/, 'y').replace(/(?<!s)s$/, ''));
}

/** How much the filters of a list speak for it: one that offers our `status` is meant to list, one that needs it lists less. */
export function filterRank(operation: DocumentOperation, id: OperationId): number {
  if (roleOf(id) !== 'list') return 0;
  if (needsFilter(operation, id)) return -1;
  return operation.parameters.some((parameter) => queryName(parameter, id) === 'status') ? 1 : 0;
}

function article(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}
