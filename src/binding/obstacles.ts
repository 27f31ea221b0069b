import { type Field, type Noun, type NounName, nouns } from '../api/nouns.ts';
import type { Method } from '../api/operations.ts';
import { fieldValues } from '../api/schemas.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { joinFirst, withArticle } from '../process/text.ts';
import { type DocumentOperation, mapFlag, type Obstacle } from './document.ts';
import { toParameters } from './parameters.ts';
import { singularWords } from './path-words.ts';
import {
  fieldNamesOf,
  isCategoryObject,
  isRecord,
  keyFieldsOf,
  recordsIn,
  shownRecord,
  type TableOperation,
} from './record-form.ts';
import type { Shape } from './schema.ts';

// Says why the program could not call an operation as one of the table, by its parameters, its body and its answer. These rules
// hold for a route of --map too.

/** Words for adding to a count or subtracting from it. Their endings vary: `added`, `adding`. */
const addingStems = 'add|delta|differen|adjust|increment|decrement|increas|decreas|deduct|subtract';
/** Verbs for goods that come or go. In a name they mean a change of a count, but a description may say `what is left to sell`. */
const movingStems = 'restock|replenish|receiv|reserv|consum|releas|sell|remov|transfer';
const [addingWord, changingWord] = [addingStems, `${addingStems}|${movingStems}`].map(
  (stems) => new RegExp(`^(${stems})(e|s|d|ed|es|er|ing|ce|ment|ition|itional|ion|ation)?$`),
) as [RegExp, RegExp];

/** Finds a word such as `add` or `restock` in a name: the named value may be a change of a count, and not the count. */
function changingWordIn(name: string, pattern = changingWord): string | undefined {
  return singularWords(name).find((word) => pattern.test(word));
}

/** Finds out why an operation cannot be called as one of the table, whatever its path is. */
export function obstacleTo(
  tableOperation: TableOperation,
  operation: DocumentOperation,
): Obstacle | undefined {
  return callObstacle(tableOperation, operation) ?? recordObstacle(tableOperation, operation);
}

/** The methods that may do what one of ours does. */
const methodsFor: Readonly<Record<Method, readonly Method[]>> = {
  GET: ['GET'],
  POST: ['POST', 'PUT'],
  PUT: ['PUT', 'PATCH', 'POST'],
  PATCH: ['PATCH'],
  DELETE: ['DELETE', 'POST'],
};

function callObstacle(tableOperation: TableOperation, operation: DocumentOperation): Obstacle | undefined {
  const { body, bodyTypes } = operation;
  const methods = methodsFor[tableOperation.method];
  if (!methods.includes(operation.method))
    return { why: `${tableOperation.id} needs ${methods.join(' or ')}` };
  const [unknown] = toParameters(operation, tableOperation).unknownParameters;
  if (unknown)
    return { why: `it needs the ${unknown.in} parameter ${unknown.name}, which petstore has no value for` };
  if (!tableOperation.body) return undefined;
  if (!body && bodyTypes.length > 0)
    return { why: `it takes ${bodyTypes.slice(0, 3).join(', ')}, not application/json` };
  return body && bodyObstacle(tableOperation, body.shape);
}

function bodyObstacle(tableOperation: TableOperation, shape: Shape): Obstacle | undefined {
  const label = shape.names[0] ?? 'body';
  const isDescribed = shape.kind !== 'unknown' && !(shape.kind === 'object' && shape.fields.size === 0);
  if (!isDescribed) return undefined;
  // An update of an entry has the id of its pet in the path or in the body.
  const { keyFields, update }: Noun = nouns[tableOperation.noun];
  const isCreate = tableOperation.method === 'POST';
  const needed = isCreate ? keyFields.filter((field) => field !== 'id') : (update?.fields ?? []);
  const obstacle = shapeObstacle(tableOperation, shape, label, needed);
  if (obstacle) return obstacle;
  const names = fieldNamesOf(tableOperation, shape);
  if (names.size === 0) return { why: `its ${label} has none of the fields that petstore knows` };
  if (shape.required.has('category') && !names.has('categoryId'))
    return { why: `its ${label} needs the name of a category in place of its id` };
  return undefined;
}

/** Finds out why the records in an answer cannot be read. Then the service means other records by the noun. */
function recordObstacle(
  tableOperation: TableOperation,
  { path, answer }: DocumentOperation,
): Obstacle | undefined {
  const isRead = tableOperation.method === 'GET';
  if (!answer) return isRead ? { why: 'it answers no JSON' } : undefined;
  if (answer.shape.kind === 'unknown') return undefined;
  const content = recordsIn(tableOperation, answer.shape);
  if (!content) return { why: 'its answer has no list of records, or several', hasOtherRecords: true };
  const { shape } = content;
  if (isRead && !tableOperation.isList && shape.kind === 'array') return { why: 'it answers a list' };
  // The answer to a write may have any form, except a record whose fields have other types.
  const keyFields = keyFieldsOf(tableOperation, path);
  if (!isRead && !isRecord(tableOperation, shape, keyFields)) return undefined;
  const obstacle = shapeObstacle(tableOperation, shape, shape.names[0] ?? 'record', keyFields);
  return obstacle && { ...obstacle, hasOtherRecords: true };
}

/** Returns the JSON type of a field of ours. */
function typeOf(noun: NounName, field: string): string {
  const fields: readonly Field[] = nouns[noun].fields;
  const { kind = 'reference' } = fields.find(({ name }) => name === field) ?? {};
  const { type = 'string' }: JsonObject = fieldValues[kind].schema;
  return String(type);
}

export function isNumberKind(kind: Shape['kind']): boolean {
  return kind === 'integer' || kind === 'number';
}

/** Finds out why a schema does not describe an object that has our fields with our types, and these fields at least. */
function shapeObstacle(
  tableOperation: TableOperation,
  shape: Shape,
  label: string,
  needed: readonly string[],
): Obstacle | undefined {
  if (shape.kind === 'unknown') return undefined;
  if (shape.kind !== 'object') return { why: `its ${label} is ${withArticle(shape.kind)}` };
  const names = fieldNamesOf(tableOperation, shape);
  for (const [field, name] of names) {
    const { kind } = shape.field(name);
    if (field === 'categoryId' && isCategoryObject(shape.field(name))) continue;
    const type = typeOf(tableOperation.noun, field);
    const isSame = type === 'integer' ? isNumberKind(kind) : kind === type;
    if (kind !== 'unknown' && !isSame)
      return { why: `its ${label} has the field ${name} as ${withArticle(kind)}` };
  }
  const lacking = needed.filter((field) => !names.has(field));
  if (lacking.length === 0) return undefined;
  const why = `its ${label} has no field ${lacking.join(', ')}`;
  if (shape.fields.size === 0) return { why };
  const meant = lacking.flatMap(
    (field) => fieldMeant(shape, field, typeOf(tableOperation.noun, field)) ?? [],
  );
  const flagsWith = (nameOf: (index: number) => string | undefined) =>
    lacking.map((field, index) => `--map ${tableOperation.noun}.${field}=${nameOf(index)}`).join(' ');
  if (meant.length < lacking.length) {
    const hint = `its ${label} has ${joinFirst([...shape.fields.keys()], 12)}: name the field that is meant with ${flagsWith(() => '<field>')}`;
    return { why, hint };
  }
  const flags = flagsWith((index) => meant[index]);
  return { why: `${why}; ${meant.join(', ')} may be meant`, flags };
}

/** Finds the only field of the same type that has a word of ours in its name, such as `pet` for `petId`. */
function fieldMeant(shape: Shape, field: string, type: string): string | undefined {
  const words = singularWords(field).filter((word) => word !== 'id');
  const [name, ...others] = [...shape.fields].flatMap(([name, { kind }]) => {
    const isSameType = type === 'integer' ? isNumberKind(kind) : kind === 'string';
    return isSameType && singularWords(name).some((word) => words.includes(word)) ? [name] : [];
  });
  return others.length === 0 ? name : undefined;
}

/** Finds out whether an operation may change a count by a quantity, instead of setting it. */
export function countObstacle(
  tableOperation: TableOperation,
  operation: DocumentOperation,
): Obstacle | undefined {
  const { noun } = tableOperation;
  const { method, operationId = '', operationObject, body } = operation;
  if (!nouns[noun].isCount || !body) return undefined;
  const { quantity = 'quantity' } = Object.fromEntries(fieldNamesOf(tableOperation, body.shape));
  const description = String(body.shape.field(quantity).keyword('description') ?? '');
  const isCreate = tableOperation.method === 'POST';
  const titles = isCreate ? [] : [operationId, `${operationObject.summary ?? ''}`];
  const by = /\bchang\w* by\b/i.exec(description)?.[0];
  const word =
    changingWordIn([...titles, quantity].join(' ')) ?? changingWordIn(description, addingWord) ?? by;
  if (word !== undefined) return { why: `it says ${word}, so it may change the count instead of setting it` };
  if (method !== 'PATCH' || body.shape.names.includes('InventoryUpdate')) return undefined;
  return { why: 'a PATCH may add to the count', flags: mapFlag(tableOperation.id, operation) };
}

/**
 * Finds out whether an update that replaces the record would drop fields, because the reading before it lacks fields that the update
 * takes. A get whose description names no field is trusted to show them.
 *
 * @param tableRead the get, or without a bound get the list.
 * @param read the bound get or list, if there is one.
 */
export function lossObstacle(
  tableRead: TableOperation,
  { method, body }: DocumentOperation,
  read: DocumentOperation | undefined,
): Obstacle | undefined {
  if (method === 'PATCH') return undefined;
  const { idField, update, isCount, operations }: Noun = nouns[tableRead.noun];
  // Without a reading the body would have only the changes.
  if (!read && !isCount)
    return { why: `it replaces the record, and neither ${operations.get} nor ${operations.list} is bound` };
  if (!body) return undefined;
  const record = shownRecord(tableRead, read?.answer);
  const shown = record ? [...fieldNamesOf(tableRead, record).keys(), ...record.fields.keys()] : [];
  if (!tableRead.isList && shown.length === 0) return undefined;
  const kept = new Set([idField, ...(update?.fields ?? []), ...shown]);
  const names = new Map([...fieldNamesOf(tableRead, body.shape)].map(([name, wireName]) => [wireName, name]));
  const lost = [...body.shape.fields].flatMap(([wireName, field]) => {
    const isOneWay = ['readOnly', 'writeOnly'].some((keyword) => field.keyword(keyword) === true);
    const name = names.get(wireName) ?? wireName;
    // A category is converted.
    const hasForm = !record || name === 'categoryId' || isSameForm(record.field(wireName), field);
    return isOneWay || (kept.has(name) && hasForm) ? [] : [wireName];
  });
  if (lost.length === 0) return undefined;
  return {
    why: `it replaces the record, and ${tableRead.id} does not show these fields in the same form: ${joinFirst(lost, 5)}`,
  };
}

/** Returns false if two schemas certainly describe other values: of other types, or of enumerations without a common word. */
function isSameForm(shown: Shape, taken: Shape): boolean {
  const [kind, other] = [shown, taken].map((shape) => (isNumberKind(shape.kind) ? 'number' : shape.kind));
  if (kind === 'unknown' || other === 'unknown') return true;
  if (kind !== other) return false;
  if (kind === 'array') return isSameForm(shown.items, taken.items);
  const [words, otherWords] = [shown.bounds.enum, taken.bounds.enum];
  return !words || !otherWords || words.some((word) => otherWords.includes(word));
}
